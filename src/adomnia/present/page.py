"""Pages: one HTML file with its style inside, readable without a network or a script."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

__all__ = ["page", "table"]

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #59636e; --line: #d1d9e0;
  --paper: #fff; --bar: #2f6f8f; --error: #b3471d; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9198a1; --line: #3d444d;
  --paper: #0d1117; --bar: #5aa9cf; --error: #f0883e; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { line-height: 1.2; } h2 { margin-top: 2.5rem; }
.soft { color: var(--soft); }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .8rem .2rem 0; border-bottom: 1px solid var(--line); text-align: left; }
td.number { text-align: right; } .wide { overflow-x: auto; }
svg { max-width: 100%; height: auto; }
svg text { fill: var(--ink); font: 12px system-ui, sans-serif; }
svg .bar { fill: var(--bar); } svg .error { stroke: var(--error); stroke-width: 1.5; }
svg .axis { stroke: var(--line); } details { margin: .5rem 0 1.5rem; }
"""


def page(title: str, body: Iterable[str]) -> str:
    """A whole HTML page."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(body)
        + "\n</body>\n</html>\n"
    )


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """An HTML table; numbers are set to the right."""
    top = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    lines = "".join(f"<tr>{''.join(_cell(value) for value in row)}</tr>" for row in rows)
    inside = f"<thead><tr>{top}</tr></thead><tbody>{lines}</tbody>"
    return f'<div class="wide"><table>{inside}</table></div>'


def _cell(value: object) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        text = f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"
        return f'<td class="number">{text}</td>'
    return f"<td>{escape('NULL' if value is None else str(value))}</td>"
