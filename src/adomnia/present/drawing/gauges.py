"""Gauges: what is spent of a budget, and a share with its interval beside somebody else's."""

from __future__ import annotations

from html import escape

from adomnia.present.drawing.svg import element, svg, text

__all__ = ["meter", "share_gauge"]


def meter(spent: float, total: float, name: str, words: str) -> str:
    """A gauge of a budget: what is spent of it, read aloud as it is written beside it."""
    share = min(max(spent / total, 0.0), 1.0) if total else 1.0
    mood = "gone" if share > 0.999 else "low" if share > 0.8 else "calm"
    track = element("rect", class_="back", x=0, y=0, width="100%", height=12, rx=6)
    bar = element("rect", class_="bar", x=0, y=0, width=f"{100 * share:.2f}%", height=12, rx=6)
    drawn = element("svg", track, bar, class_="drawing", aria_hidden="true", width="100%",
                    height=12)  # fmt: skip
    return (
        f'<div class="meter {mood}" role="meter" aria-label="{escape(name)}" aria-valuemin="0" '
        f'aria-valuemax="{total:.9g}" aria-valuenow="{min(spent, total):.9g}" '
        f'aria-valuetext="{escape(words)}">{drawn}</div>'
    )


def share_gauge(
    value: float, ends: tuple[float, float], baseline: float, baseline_name: str
) -> str:
    """A share between 0 and 1 with its interval, and a tick at the baseline with its name."""
    title = f"{value:.0%}; {baseline_name}: {baseline:.0%}"
    left_half = baseline < 0.5
    x, (low, high) = _percent(baseline), map(_percent, ends)
    inside = [
        element("rect", class_="back", x=0, y=8, width="100%", height=14, rx=3),
        element("rect", class_="bar", x=0, y=8, width=_percent(value), height=14, rx=3),
        *(
            element("line", class_=kind, x1=low, x2=high, y1=15, y2=15)
            for kind in ("halo", "error")
        ),
        element("line", class_="tick", x1=x, x2=x, y1=3, y2=30),
        text(baseline_name, x, 42, dx=6 if left_half else -6, class_="soft",
             text_anchor="start" if left_half else "end"),
    ]  # fmt: skip
    track = element("svg", *inside, x=0, y=0, width="86%", height=50, overflow="visible")
    figure = text(f"{value:.0%}", "88%", 20, class_="figure")
    return svg(title, "100%", 50, track, figure, class_="chart")


def _percent(share: float) -> str:
    return f"{100 * min(max(share, 0.0), 1.0):.2f}%"
