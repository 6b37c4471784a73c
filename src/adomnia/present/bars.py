"""Bars with error bars, drawn as SVG by hand: a millisecond each, and nothing to load."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

__all__ = ["bars"]

_LEFT, _WIDTH, _ROW, _THIN, _TOP = 180, 560, 22, 5, 8
MOST_LABELS = 40


def bars(
    labels: Sequence[str], values: Sequence[float], margins: Sequence[float], title: str
) -> str:
    """One horizontal bar a value, with its margin to both sides; the title is read aloud."""
    most = max((v + m for v, m in zip(values, margins, strict=True)), default=0) or 1
    least = min(0.0, min((v - m for v, m in zip(values, margins, strict=True)), default=0))
    scale = _WIDTH / (most - least)
    step = _ROW if len(labels) <= MOST_LABELS else _THIN
    height = _TOP * 2 + step * len(labels)
    zero = _LEFT - least * scale
    rows = [
        _bar(label if step == _ROW else "", value, margin, (zero, scale, _TOP + step * i, step))
        for i, (label, value, margin) in enumerate(zip(labels, values, margins, strict=True))
    ]
    axis = f'<line class="axis" x1="{zero:.1f}" x2="{zero:.1f}" y1="0" y2="{height}"/>'
    size = f'viewBox="0 0 {_LEFT + _WIDTH + 110} {height}" width="{_LEFT + _WIDTH + 110}"'
    return f'<svg role="img" aria-label="{escape(title)}" {size}>{axis}{"".join(rows)}</svg>'


def _bar(label: str, value: float, margin: float, at: tuple[float, float, float, float]) -> str:
    zero, scale, top, step = at
    end, middle = zero + value * scale, top + step / 2
    low, high = zero + (value - margin) * scale, zero + (value + margin) * scale
    gap = 4 if step == _ROW else 1
    drawn = (
        f'<rect class="bar" x="{min(zero, end):.1f}" y="{top + gap:.1f}" '
        f'width="{abs(end - zero):.1f}" height="{step - 2 * gap}"/>'
        f'<line class="error" x1="{low:.1f}" x2="{high:.1f}" y1="{middle:.1f}" y2="{middle:.1f}"/>'
    )
    if not label:
        return drawn
    short = label if len(label) <= 24 else label[:23] + "…"
    name = f'<text x="{_LEFT - 8}" y="{middle + 4:.1f}" text-anchor="end">{escape(short)}</text>'
    return (
        f'{name}{drawn}<text x="{max(high, end) + 6:.1f}" y="{middle + 4:.1f}">{value:,.0f}</text>'
    )
