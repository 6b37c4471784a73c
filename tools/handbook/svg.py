"""The few shapes that the site's own pictures are made of; colours follow the page's theme."""

from __future__ import annotations

from html import escape

__all__ = ["arrow", "box", "circle", "label", "picture"]

STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#24292f}.small{font-size:11px;fill:#57606a}"
    ".code{font:11.5px ui-monospace,monospace}.room{fill:#eef2ff;stroke:#4051b5}"
    ".line{stroke:#4051b5;fill:none}.faint{stroke:#c4c9d4;fill:none}.dot{fill:#4051b5}"
    ".tip{fill:#4051b5}.band{fill:#f6f7fb}"
)


def picture(width: float, height: float, parts: list[str], title: str) -> str:
    """A whole picture, with what it shows in words."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" role="img"><title>{escape(title)}</title>'
        f"<style>{STYLE}</style>"
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" '
        'markerHeight="6" orient="auto"><path class="tip" d="M0 0L8 4L0 8z"/></marker></defs>'
        f'<rect width="{width:g}" height="{height:g}" fill="#fff"/>{"".join(parts)}</svg>\n'
    )


def box(x: float, y: float, width: float, height: float, kind: str = "room") -> str:
    """A box with round corners."""
    return (
        f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="6"/>'
    )


def label(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    """A line of text that begins, ends or is centred at a point."""
    return f'<text class="{kind}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(text)}</text>'


def circle(x: float, y: float, radius: float, about: str) -> str:
    """A disc that says what it stands for when the pointer is on it."""
    said = f"<title>{escape(about)}</title>"
    return f'<circle class="dot" cx="{x:g}" cy="{y:g}" r="{radius:g}">{said}</circle>'


def arrow(path: str, about: str, width: float = 1.2) -> str:
    """A line with a tip along a path."""
    return (
        f'<path class="line" d="{path}" stroke-width="{width:g}" marker-end="url(#tip)">'
        f"<title>{escape(about)}</title></path>"
    )
