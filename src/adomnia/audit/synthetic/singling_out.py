"""Singling out: words that fit one record of a release, and perhaps one person (`singling_out.md`).

A predicate that holds for exactly one released record is a guess that it holds for exactly one
person of the data. How often that is right, is compared with people who were not in the data.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.audit.finding import Finding, Rate
from adomnia.audit.linkage.equivalence_classes import Columns
from adomnia.audit.synthetic.coded_files import CodedFiles, Population, code_files
from adomnia.audit.synthetic.risk import CONFIDENCE, added_risk, rate_json, worst_part

__all__ = ["Predicate", "singling_out"]

Ints = NDArray[np.int64]

PAPER = (
    "Cohen and Nissim, Towards formalizing the GDPR's notion of singling out, PNAS 2020; Giomi et "
    "al., A unified framework for quantifying privacy risk in synthetic data, PETS 2023"
)
REMEDY = "release made-up records with noise from a budget, or fewer and coarser columns"
TRIES = 20
"""So many predicates are looked at for each that is wanted."""
ENOUGH = 20
"""A kind with fewer predicates says little: where there is another, that one counts."""
IN_DATA = "people who were not in the data"
BLIND = "words drawn without the release"


@dataclass(frozen=True)
class Predicate:
    """Conditions on some columns, all of which hold: equal (0), at most (-1) or at least (1)."""

    columns: tuple[int, ...]
    signs: tuple[int, ...]
    values: tuple[int, ...]

    def count(self, table: Ints) -> int:
        """How many rows fulfil it."""
        left = table
        for column, sign, value in zip(self.columns, self.signs, self.values, strict=True):
            part = left[:, column]
            left = left[part == value if not sign else sign * part >= sign * value]
        return len(left)


def singling_out(
    released: Columns,
    truth: Population | None = None,
    attacks: int = 500,
    seed: int = 0,
    time_limit: float = 60.0,
) -> Finding:
    """How often words that fit one released record fit one person of the data.

    Half of the `attacks` have one condition, the others several. The finding is that of the kind
    that adds more; the doubt is shared between both. Without a control group the success is held
    against predicates that are drawn without the release.

    >>> people = {"age": [*range(30)], "zip": [7 * n % 30 for n in range(30)]}
    >>> others = {"age": [*range(30, 60)], "zip": [7 * n % 30 for n in range(30)]}
    >>> singling_out(people, Population(people, others), attacks=40).success.value > 0.5
    True
    """
    end, chance = time.monotonic() + time_limit, np.random.default_rng(seed)
    others = [] if truth is None else [truth.data, *([truth.control] * (truth.control is not None))]
    coded = code_files(released, others)
    kinds: dict[str, Callable[..., Iterator[Predicate]]] = {
        "one condition": _single, "several conditions": _several,
    }  # fmt: skip
    made = {}
    for name, propose in kinds.items():
        proposed = propose(coded, coded.files[0], chance, TRIES * attacks)
        made[name] = _isolating(proposed, coded.files[0], max(1, attacks // 2), end)
    if truth is None:
        return _unscored(sum(map(len, made.values())), coded)
    scored = _Scored(coded, truth.control is not None, chance)
    parts = {name: scored.judge(some) for name, some in made.items() if some}
    return _finding(parts, scored, time.monotonic() <= end)


def _single(
    coded: CodedFiles, table: Ints, chance: np.random.Generator, _: int
) -> Iterator[Predicate]:
    """Values that occur once, and both ends of a column whose values lie on a line."""
    found = []
    for column, ordered in enumerate(coded.ordered):
        values, counts = np.unique(table[:, column], return_counts=True)
        if ordered:
            ends = ((-1, values[0]), (1, values[-1]))
            found += [Predicate((column,), (sign,), (int(value),)) for sign, value in ends]
        found += [Predicate((column,), (0,), (int(v),)) for v in values[counts == 1]]
    yield from (found[place] for place in chance.permutation(len(found)))


def _several(
    coded: CodedFiles, table: Ints, chance: np.random.Generator, tries: int
) -> Iterator[Predicate]:
    """What is true of a record: its values in some columns; on a line, its side of the middle."""
    middle = np.median(table, axis=0)
    width = len(coded.names)
    for _ in range(tries if width > 1 else 0):
        record = table[chance.integers(len(table))]
        many = int(chance.integers(2, width + 1))
        columns = sorted(chance.choice(width, many, replace=False).tolist())
        signs = [
            (1 if record[c] > middle[c] else -1) * (coded.ordered[c] and bool(chance.integers(2)))
            for c in columns
        ]
        values = tuple(int(record[c]) for c in columns)
        yield Predicate(tuple(columns), tuple(signs), values)


def _isolating(
    proposed: Iterator[Predicate], table: Ints, wanted: int, end: float
) -> list[Predicate]:
    """Those that hold for exactly one record, none twice."""
    found: dict[Predicate, None] = {}
    for one in proposed:
        if one not in found and one.count(table) == 1:
            found[one] = None
        if len(found) >= wanted or time.monotonic() > end:
            break
    return list(found)


class _Scored:
    """Counts on equally many people of the data and of the control group."""

    def __init__(self, coded: CodedFiles, controlled: bool, chance: np.random.Generator) -> None:
        self.coded, self.controlled, self._chance = coded, controlled, chance
        data = coded.files[1]
        self.people = min(len(part) for part in coded.files[1:])
        self._data = chance.permutation(data)[: self.people]
        if controlled:
            self._control = chance.permutation(coded.files[2])[: self.people]

    def judge(self, made: list[Predicate]) -> dict[str, Any]:
        """Success on the data, and what it is held against."""
        hits = sum(one.count(self._data) == 1 for one in made)
        blind = sum(self._drawn(one).count(self._data) == 1 for one in made)
        told = {"people": rate_json(hits, len(made)), "blind": rate_json(blind, len(made))}
        against = blind
        if self.controlled:
            against = sum(one.count(self._control) == 1 for one in made)
            told["control"] = rate_json(against, len(made))
        share = 1 - (1 - CONFIDENCE) / 2  # two kinds are tried
        return {**told, "risk": vars(added_risk((hits, len(made)), (against, len(made)), share))}

    def _drawn(self, like: Predicate) -> Predicate:
        """The same columns and signs, the values drawn without the release.

        One after the other from the control group, which is public for this; without it, from the
        values that there are.
        """
        values = tuple(
            int(
                self._chance.choice(self._control[:, column])
                if self.controlled
                else self._chance.integers(self.coded.sizes[column])
            )
            for column in like.columns
        )
        return Predicate(like.columns, like.signs, values)


def _unscored(many: int, coded: CodedFiles) -> Finding:
    return Finding(
        attack="singling-out",
        claim=f"{many:,} descriptions fit exactly one released record each; whether they fit one "
        "person was not scored: the data was not given.",
        affected="whoever is described",
        success=Rate(0.0, 0.0, 1.0, CONFIDENCE),
        baseline=0.0,
        covered=False,
        source=PAPER,
        remedy=REMEDY,
        details={"scored": False, "predicates": many, "columns": list(coded.names)},
    )


def _finding(parts: dict[str, dict[str, Any]], scored: _Scored, complete: bool) -> Finding:
    coded, controlled, people = scored.coded, scored.controlled, len(scored.coded.files[1])
    details: dict[str, Any] = {
        "kinds": parts,
        "columns": list(coded.names),
        "records": len(coded.files[0]),
        "people": people,
        "looked_at": scored.people,
        "control": controlled,
        "against": IN_DATA if controlled else BLIND,
    }
    if not parts:
        success = Rate(0.0, 0.0, 0.0, CONFIDENCE)
        claim = "No description fits exactly one released record: nobody is singled out this way."
    else:
        many = {name: part for name, part in parts.items() if part["people"]["tries"] >= ENOUGH}
        worst, success = worst_part(many or parts)
        part = parts[worst]
        hit, base = part["people"], part["control" if controlled else "blind"]
        claim = (
            f"Descriptions by {worst} that fit exactly one released record fit exactly one person "
            f"of the data in {hit['hits']:,} of {hit['tries']:,} tries ({hit['value']:.0%}); "
            f"against {details['against']} it is {base['value']:.0%}."
        )
        if scored.people < people:
            claim += (
                f" Only {scored.people:,} of {people:,} people were looked at, as the control "
                "group has no more: the risk is seen in part."
            )
    return Finding(
        attack="singling-out",
        claim=claim,
        affected="people whose record stands alone",
        success=success,
        baseline=0.0,
        covered=False,
        source=PAPER,
        remedy=REMEDY if success.low > 0 else "none needed for this attack",
        details=details,
        complete=complete,
    )
