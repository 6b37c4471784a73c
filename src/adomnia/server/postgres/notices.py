"""What a client is told beside an answer: what it cost, what is left, how far off it may be."""

from __future__ import annotations

from collections.abc import Sequence

from adomnia.curator.answers.answer import Answer
from adomnia.formatting import amounts, confidence, margin_size
from adomnia.wire.statements.results import Notice

__all__ = ["notices_of"]


def notices_of(answer: Answer) -> tuple[Notice, ...]:
    """The notices of one answer."""
    left = {name: value for name, value in answer.remaining.items() if name != "delta" or value}
    spent = amounts(answer.spent)
    what = f"this answer cost {spent}; {amounts(left)} is left"
    notices = [Notice(what, f"receipt {answer.receipt}")]
    notices += [Notice(text) for text in _margins(answer)]
    return (*notices, *(Notice(note) for note in answer.notes))


def _margins(answer: Answer) -> list[str]:
    """How far each noisy column may be off, in one line."""
    spans = {name: _span(values) for name, values in answer.margins.items()}
    units = {name: " rows" if unit == "rows" else "" for name, unit in answer.margin_units.items()}
    known = [f"{name} ± {span}{units.get(name, '')}" for name, span in spans.items() if span]
    if not known:
        return []
    return [f"with {confidence(answer.confidence)} confidence: {', '.join(known)}"]


def _span(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None]
    if not known or not any(known):
        return ""
    low, high = margin_size(min(known)), margin_size(max(known))
    return low if low == high else f"{low} to {high}"
