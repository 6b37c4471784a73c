"""What a client is told beside an answer: what it cost, what is left, how far off it may be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from adomnia.curator.answers.answer import Answer
from adomnia.privacy.loss import written
from adomnia.server.postgres.results import Notice

__all__ = ["amounts", "margin_text", "notices_of"]


def notices_of(answer: Answer) -> tuple[Notice, ...]:
    """The notices of one answer."""
    left = {name: value for name, value in answer.remaining.items() if name != "delta" or value}
    spent = amounts(answer.spent)
    what = f"this answer cost {spent}; {amounts(left)} is left"
    found = [Notice(what, f"receipt {answer.receipt}")]
    found += [Notice(text) for text in _margins(answer)]
    return (*found, *(Notice(note) for note in answer.notes))


def amounts(values: Mapping[str, Fraction]) -> str:
    """Amounts with their names; nothing at all is `nothing`."""
    some = [f"{name} {written(value)}" for name, value in values.items() if value]
    return ", ".join(some) or "nothing"


def _margins(answer: Answer) -> list[str]:
    """How far each noisy column may be off, in one line."""
    spans = {name: _span(values) for name, values in answer.margins.items()}
    units = {name: " rows" if unit == "rows" else "" for name, unit in answer.margin_units.items()}
    told = [f"{name} ± {span}{units.get(name, '')}" for name, span in spans.items() if span]
    if not told:
        return []
    return [f"with {answer.confidence * 100:g} % confidence: {', '.join(told)}"]


def _span(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    if not known or not any(known):
        return ""
    low, high = margin_text(min(known)), margin_text(max(known))
    return low if low == high else f"{low} to {high}"


def margin_text(value: float) -> str:
    """A margin as a person reads it."""
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"
