"""Quality counts as values: what was counted of an edition, read from the ledger."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from adomnia.ledger.journal import Journal
from adomnia.mechanisms.choices.scan_mechanisms import ExcessRows, FoundBound
from adomnia.mechanisms.margins.margin import Noise

__all__ = ["Quality", "read_quality"]


@dataclass(frozen=True)
class Quality:
    """What an edition leaves out, as far as it was paid for: noisy counts and their noise.

    `values` has for each declared column how many kept rows hold a value that cleaning changed or
    left out; `rows` which bound was found, and how many rows lie between `max_rows` and it.
    """

    receipt: str
    values: Mapping[str, int]
    noise: Noise
    rows: FoundBound | None = None
    scan: ExcessRows | None = None


def read_quality(journal: Journal, receipt: str) -> Quality | None:
    """The counts of a receipt, with their noise, from the ledger alone; None where it was paid for
    something else."""
    entry, answer = journal.reservation(receipt), journal.answer(receipt)
    use = {} if entry is None else entry.body["use"]
    if answer is None or "quality" not in use:
        return None
    values: dict[str, int] = {}
    noise, rows, scan = Noise("laplace", Fraction(0)), None, None
    for part, body in zip(use["parts"], answer["released"], strict=True):
        if "scan" in part:
            scan = _scan(part)
            rows = scan.recalled(body)
        else:
            noise = Noise("laplace", Fraction(part["mechanism"]["parameter"]))
            counts = [int(count) for count in body["values"][0]]
            values = dict(zip(use["quality"]["columns"], counts, strict=True))
    return Quality(receipt, values, noise, rows, scan)


def _scan(part: Mapping[str, Any]) -> ExcessRows:
    said, event = part["mechanism"], part["event"]
    epsilon, units = Fraction(event["epsilon"]), int(Fraction(event["sensitivity"]))
    return ExcessRows(int(said["beyond"]), int(said["last"]), epsilon, units)
