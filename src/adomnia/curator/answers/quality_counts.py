"""Quality counts as values: what was counted of an edition, read from the ledger."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from adomnia.ledger.journal import Journal
from adomnia.mechanisms.choices.scan_mechanisms import ExcessRows, FoundBound
from adomnia.mechanisms.margins.margin import Noise

__all__ = ["Quality", "read_quality", "read_tables_quality"]


@dataclass(frozen=True)
class Quality:
    """What an edition leaves out, as far as it was paid for: noisy counts and their noise.

    `values` has for each declared column how many kept rows hold a value that cleaning changed or
    left out; `rows` which bound was found, and how many rows lie between `max_rows` and it;
    `epsilon` what was paid for all of it.
    """

    receipt: str
    values: Mapping[str, int]
    noise: Noise
    rows: FoundBound | None = None
    scan: ExcessRows | None = None
    epsilon: Fraction = Fraction(0)


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
    paid = sum((Fraction(part["event"]["epsilon"]) for part in use["parts"]), Fraction(0))
    return Quality(receipt, values, noise, rows, scan, paid)


def read_tables_quality(journal: Journal, receipt: str) -> Mapping[str, Quality]:
    """The counts of a receipt by the table that each is of, with their noise, from the ledger
    alone."""
    entry, answer = journal.reservation(receipt), journal.answer(receipt)
    assert entry is not None
    assert answer is not None
    use, found = entry.body["use"], dict[str, Quality]()
    paid = sum((Fraction(part["event"]["epsilon"]) for part in use["parts"]), Fraction(0))
    nothing = Quality(receipt, {}, Noise("laplace", Fraction(0)), epsilon=paid)
    parts = zip(use["quality"]["tables"], use["parts"], answer["released"], strict=True)
    for of, part, body in parts:
        known = found.get(of["table"], nothing)
        if "scan" in part:
            scan = _scan(part)
            found[of["table"]] = replace(known, rows=scan.recalled(body), scan=scan)
        else:
            noise = Noise("laplace", Fraction(part["mechanism"]["parameter"]))
            counts = (int(count) for count in body["values"][0])
            values = dict(zip(of["columns"], counts, strict=True))
            found[of["table"]] = replace(known, values=values, noise=noise)
    return found


def _scan(part: Mapping[str, Any]) -> ExcessRows:
    said, event = part["mechanism"], part["event"]
    epsilon, units = Fraction(event["epsilon"]), int(Fraction(event["sensitivity"]))
    return ExcessRows(int(said["beyond"]), int(said["last"]), epsilon, units)
