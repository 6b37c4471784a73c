"""The report: every claim with the paper's number, ours, the verdict and the drawings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from numbers import Real

import numpy as np

from adomnia.formatting import significant
from adomnia.present.templating import render
from experiments.claim import AGREES, Claim, Found, Table
from experiments.measured import Measured

__all__ = ["PAPERS", "report"]

PAPERS = {
    "001": "Dwork, Differential privacy (2006)",
    "004": "Dwork, An ad omnia approach to defining and achieving private data analysis (2007)",
    "003": "Dwork, McSherry, Talwar, Differentially private marginals release with mutual "
    "consistency and error independent of sample size (2007)",
    "000": "Kifer, Machanavajjhala, No free lunch in data privacy (2011)",
    "002": "Han, Wang, Sensitive disclosures under differential privacy guarantees",
}

STYLE = """<style>
.verdict { display: inline-block; padding: 0 .6em; border-radius: 1em; font-weight: 600; }
.agrees { background: #d7f0dc; color: #14532d; } .differs { background: #fde3d2; color: #7c2d12; }
.facts { display: grid; grid-template-columns: 1fr 1fr; gap: 0 2rem; } dt { font-weight: 600; }
dd { margin: 0 0 .6rem; } .across { grid-column: 1 / -1; } caption { text-align: left; }
td { vertical-align: top; } .plot { display: block; margin: 1rem 0; }
td.number, th.number { text-align: right; } td.number { white-space: nowrap; }
h3 { margin-top: 2rem; }
@media (max-width: 40rem) { .facts { grid-template-columns: 1fr; }
  .contents thead { display: none; } .contents td { display: block; border: 0; padding: 0; }
  .contents tr { display: block; border-bottom: 1px solid var(--line); padding: .5rem 0; }
  .contents td[data-head]::before { content: attr(data-head) ": "; color: var(--soft); } }
@media print { :root { --ink: #000; --soft: #444; --line: #ccc; --paper: #fff; }
  body { max-width: none; font-size: 11pt; } .wide { overflow: visible; }
  .plot, tr, dl { break-inside: avoid; } h2, h3 { break-after: avoid; }
  .verdict, .plot { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
</style>"""


def report(results: Sequence[tuple[Claim, Found]], quick: bool) -> str:
    """The whole page."""
    mode = "the quick mode: fewer runs, wider errors" if quick else "the full mode"
    differ = sum(found.verdict != AGREES for _, found in results)
    many = len({claim.paper for claim, _ in results})
    papers = "one paper" if many == 1 else f"{many} papers"
    body = [
        STYLE,
        "<main>\n<h1>The papers, run</h1>",
        f"<p>{len(results)} claims of {papers}, computed when this page was made, in {mode}. "
        f"{len(results) - differ} agree and {differ} differ; where one differs, or the text can "
        "be read in several ways, it says why. ± is one standard error. A verdict leaves room "
        "for what chance does in one comparison of a thousand million: by Student's t, wide where "
        "the error itself is of few runs, and for shares by the exact binomial distribution. In "
        "the drawings shades and bars reach 1.96 standard errors either way, what is printed or "
        "computed and not measured is dashed or hollow, and a line that another one covers is "
        "drawn wide and pale.</p>",
        _contents(results),
    ]
    for paper, title in PAPERS.items():
        listed = [(claim, found) for claim, found in results if claim.paper == paper]
        if listed:
            body.append(f'<h2 id="{paper}">{paper}: {escape(title)}</h2>')
            body += [_section(claim, found) for claim, found in listed]
    return render("page.html", {"title": "The papers, run", "body": "\n".join([*body, "</main>"])})


def _contents(results: Sequence[tuple[Claim, Found]]) -> str:
    head = ("paper", "claim", "it says", "here", "verdict")
    lines = "".join(
        f'<tr><td>{claim.paper}</td><td><a href="#{claim.name}">{escape(claim.place)}</a></td>'
        f'<td data-head="{head[2]}">{_prose(claim.number)}</td>'
        f'<td data-head="{head[3]}">{_prose(found.ours)}</td><td>{_mark(found)}</td></tr>'
        for claim, found in results
    )
    top = "".join(f'<th scope="col">{name}</th>' for name in head)
    inside = f"<thead><tr>{top}</tr></thead><tbody>{lines}</tbody>"
    return _wide("All claims", f'<table class="contents">{inside}</table>')


def _section(claim: Claim, found: Found) -> str:
    facts = (
        ("The paper", claim.number, ""),
        ("Here", found.ours, ""),
        ("Why", found.why, "across"),
        ("Parameters", found.parameters, "across"),
    )
    parts = [
        f'<section><h3 id="{claim.name}">{escape(claim.place)} {_mark(found)}</h3>',
        f'<p>{_prose(claim.says)}</p>\n<dl class="facts">',
        *(
            f'<div class="{kind}"><dt>{name}</dt><dd>{_prose(text)}</dd></div>'
            for name, text, kind in facts
            if text
        ),
        "</dl>",
        *(_table(one) for one in found.tables),
        *found.plots,
        "</section>",
    ]
    return "\n".join(parts)


def _prose(text: str) -> str:
    """Text as HTML; what stands between backticks is code, and numbers keep their signs."""
    kept = re.sub(r"(?<=\d) (?=%)| ± ", lambda found: found[0].replace(" ", "\xa0"), text)
    return re.sub("`([^`]+)`", r"<code>\1</code>", escape(kept))


def _mark(found: Found) -> str:
    return f'<span class="verdict {found.verdict}">{found.verdict}</span>'


def _table(one: Table) -> str:
    caption = f"<caption>{_prose(one.caption)}</caption>" if one.caption else ""
    columns = list(zip(*one.rows, strict=True)) or [()] * len(one.head)
    kinds = [' class="number"' if all(map(_numeric, column)) else "" for column in columns]
    top = "".join(
        f'<th scope="col"{kind}>{_prose(str(name))}</th>'
        for kind, name in zip(kinds, one.head, strict=True)
    )
    rows = "".join(
        "<tr>"
        + "".join(f"<td{kind}>{_shown(cell)}</td>" for kind, cell in zip(kinds, row, strict=True))
        + "</tr>"
        for row in one.rows
    )
    inside = f"{caption}<thead><tr>{top}</tr></thead><tbody>{rows}</tbody>"
    return _wide(
        one.caption or ", ".join(filter(None, map(str, one.head))), f"<table>{inside}</table>"
    )


def _wide(name: str, inside: str) -> str:
    """A part that may be moved sideways where it is too wide, also by keys."""
    return f'<div class="wide" role="group" aria-label="{escape(name)}" tabindex="0">{inside}</div>'


def _numeric(cell: object) -> bool:
    if isinstance(cell, str):
        return re.fullmatch(r"-?[\d,./]+ ?%?", cell) is not None
    return cell is None or (isinstance(cell, Measured | Real) and not isinstance(cell, bool))


def _shown(cell: object) -> str:
    """A cell as HTML: numbers as they are written by hand, and with their errors."""
    if cell is None:
        return ""
    if isinstance(cell, Measured):
        return escape(str(cell) if cell.se else significant(cell.value, 6))
    if isinstance(cell, int | np.integer) and not isinstance(cell, bool):
        return f"{cell:,}"
    return significant(float(cell)) if isinstance(cell, float | np.floating) else _prose(str(cell))
