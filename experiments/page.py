"""The report: every claim with the paper's number, ours, the verdict and the drawings."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from adomnia.report.page import page
from experiments.claim import AGREES, Claim, Found, Table
from experiments.measured import Measured

__all__ = ["PAPERS", "report"]

PAPERS = {
    "001": "Dwork, Differential privacy (2006)",
    "004": "Dwork, An ad omnia approach to defining and achieving private data analysis (2007)",
    "003": "Dwork, McSherry, Talwar, Differentially private marginals release (2007)",
    "000": "Kifer, Machanavajjhala, No free lunch in data privacy (2011)",
    "002": "Han, Wang, Sensitive disclosures under differential privacy guarantees",
}

STYLE = """<style>
.verdict { display: inline-block; padding: 0 .6em; border-radius: 1em; font-weight: 600; }
.agrees { background: #d7f0dc; color: #14532d; } .differs { background: #fde3d2; color: #7c2d12; }
.pair { display: grid; grid-template-columns: 1fr 1fr; gap: 0 2rem; } dt { font-weight: 600; }
dd { margin: 0 0 .6rem; } @media (max-width: 40rem) { .pair { grid-template-columns: 1fr; } }
</style>"""


def report(results: Sequence[tuple[Claim, Found]], quick: bool) -> str:
    """The whole page."""
    mode = "the quick mode: fewer runs, wider errors" if quick else "the full mode"
    differ = sum(found.verdict != AGREES for _, found in results)
    body = [
        STYLE,
        "<h1>The papers, run</h1>",
        f"<p>{len(results)} claims of five papers, computed when this page was made, in {mode}. "
        f"{len(results) - differ} agree and {differ} differ; where one differs, or the text can "
        "be read in several ways, it says why. ± is one standard error. A verdict leaves room "
        "for what chance does in one comparison of a thousand million: by Student's t, wide where "
        "the error itself is of few runs, and for shares by the exact binomial distribution.</p>",
        _contents(results),
    ]
    for paper, title in PAPERS.items():
        listed = [(claim, found) for claim, found in results if claim.paper == paper]
        if listed:
            body.append(f'<h2 id="{paper}">{paper}: {escape(title)}</h2>')
            body += [_section(claim, found) for claim, found in listed]
    return page("The papers, run", body)


def _contents(results: Sequence[tuple[Claim, Found]]) -> str:
    head = ("paper", "claim", "it says", "here", "verdict")
    lines = "".join(
        f'<tr><td>{claim.paper}</td><td><a href="#{claim.name}">{escape(claim.place)}</a></td>'
        f"<td>{escape(claim.number)}</td><td>{escape(found.ours)}</td>"
        f"<td>{_mark(found)}</td></tr>"
        for claim, found in results
    )
    top = "".join(f'<th scope="col">{name}</th>' for name in head)
    inside = f"<thead><tr>{top}</tr></thead><tbody>{lines}</tbody>"
    return f'<div class="wide"><table>{inside}</table></div>'


def _section(claim: Claim, found: Found) -> str:
    parts = [
        f'<section><h3 id="{claim.name}">{escape(claim.place)} {_mark(found)}</h3>',
        f"<p>{escape(claim.says)}</p>",
        f'<dl class="pair"><div><dt>The paper</dt><dd>{escape(claim.number)}</dd></div>',
        f"<div><dt>Here</dt><dd>{escape(found.ours)}</dd></div></dl>",
        f"<p>{escape(found.why)}</p>",
        f'<p class="soft">{escape(found.parameters)}</p>' if found.parameters else "",
        *(_table(one) for one in found.tables),
        *found.plots,
        "</section>",
    ]
    return "\n".join(part for part in parts if part)


def _mark(found: Found) -> str:
    return f'<span class="verdict {found.verdict}">{found.verdict}</span>'


def _table(one: Table) -> str:
    caption = f"<caption>{escape(one.caption)}</caption>" if one.caption else ""
    top = "".join(f'<th scope="col">{escape(str(name))}</th>' for name in one.head)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(_shown(cell))}</td>" for cell in row) + "</tr>"
        for row in one.rows
    )
    inside = f"{caption}<thead><tr>{top}</tr></thead><tbody>{rows}</tbody>"
    return f'<div class="wide"><table>{inside}</table></div>'


def _shown(cell: object) -> str:
    if isinstance(cell, Measured | str) or cell is None:
        return "" if cell is None else str(cell)
    return f"{cell:,.4g}" if isinstance(cell, float) else str(cell)
