"""Attribute inference: the nearest released record, and what it says of a person (`inference.md`).

An attacker knows some columns of a person, looks for the most alike released records, and takes
their commonest value of the secret column. How often that is right is compared with people who
were not in the data: what the release says of everybody is no harm to one.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.audit.finding import Finding, Rate
from adomnia.audit.linkage.equivalence_classes import Columns, classes
from adomnia.audit.synthetic.coded_files import CodedFiles, Population, code_files
from adomnia.audit.synthetic.risk import CONFIDENCE, added_risk, rate_json, worst_part
from adomnia.errors import QuestionError

__all__ = ["attribute_inference", "nearest_guess"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

PAPER = (
    "Giomi et al., A unified framework for quantifying privacy risk in synthetic data, PETS 2023; "
    "Houssiau et al., TAPAS, 2022"
)
REMEDY = "release made-up records with noise from a budget, or leave the secret column out"
CLOSE = 20
"""On a line a guess is right where it is off by less than one part in so many of the values."""
SAME = 1e-9
"""Distances that differ by less are the same: sums of floats."""
CONTROL = "people who were not in the data"
BLIND = "the commonest value for everybody"


def attribute_inference(  # noqa: PLR0913, PLR0917
    released: Columns,
    truth: Population | None = None,
    secrets: Sequence[str] = (),
    known: Sequence[str] = (),
    attacks: int = 500,
    seed: int = 0,
    time_limit: float = 60.0,
) -> Finding:
    """How often the nearest released records tell a secret of a person.

    Each of the `secrets` is tried; all columns that are not `known` unless told, and each of them
    where nothing is said at all. Known are all others unless told. The finding is that of the
    secret of which most is learned; the doubt is shared among all.

    >>> people = {"zip": [*range(30)], "ill": ["no", "flu", "cold"] * 10}
    >>> others = {"zip": [*range(30)], "ill": ["flu", "cold", "no"] * 10}
    >>> attribute_inference(people, Population(people, others), ["ill"]).success.value
    1.0
    """
    end, chance = time.monotonic() + time_limit, np.random.default_rng(seed)
    others = [] if truth is None else [truth.data, *([truth.control] * (truth.control is not None))]
    coded = code_files(released, others)
    tried = _roles(coded, secrets, known)
    if truth is None:
        return _unscored(tried)
    groups = [_drawn(part, attacks, chance) for part in coded.files[1:]]
    share = 1 - (1 - CONFIDENCE) / len(tried)
    parts: dict[str, dict[str, Any]] = {}
    for roles in tried:
        if parts and time.monotonic() > end:
            break
        parts[coded.names[roles.secret]] = _judge(coded, roles, groups, share)
    return _finding(parts, coded, truth.control is not None, len(parts) == len(tried))


@dataclass(frozen=True)
class _Sides:
    """A secret column, and those by which people are known."""

    secret: int
    known: tuple[int, ...]


def _roles(coded: CodedFiles, secrets: Sequence[str], known: Sequence[str]) -> list[_Sides]:
    names = coded.names
    secret = [name for name in secrets if name in names]
    given = [name for name in known if name in names]
    if secrets and not secret:
        raise QuestionError(
            f"no file has all of it: {', '.join(secrets)[:60]!r}", "shared are: " + ", ".join(names)
        )
    targets = secret or [name for name in names if name not in given] or list(names)
    found = []
    for name in targets:
        by = [other for other in (given or names) if other != name]
        if by:
            found.append(_Sides(names.index(name), tuple(names.index(one) for one in by)))
    if not found:
        raise QuestionError("nothing is known of anybody", "two columns or more must be shared")
    return found


def _drawn(table: Ints, many: int, chance: np.random.Generator) -> Ints:
    return table if many >= len(table) else table[chance.choice(len(table), many, replace=False)]


def nearest_guess(released: Ints, people: Ints, sides: Any, coded: CodedFiles) -> Ints:
    """For each person the commonest secret among the released records that are most alike.

    Alike is Gower's: a column adds 1 where values differ; on a line, how far they are apart, as a
    share of its length.
    """
    known, secret = list(sides.known), released[:, sides.secret]
    group = classes([(released[:, c], coded.sizes[c]) for c in known], len(released))
    kinds = np.empty((int(group.max()) + 1, len(known)), np.int64)
    kinds[group] = released[:, known]
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(len(kinds) + 1))
    guesses = np.empty(len(people), np.int64)
    for place, person in enumerate(people):
        away = _distance(kinds, person[known], known, coded)
        near = np.flatnonzero(away <= away.min() + SAME)
        alike = np.concatenate([order[starts[kind] : starts[kind + 1]] for kind in near])
        guesses[place] = np.bincount(secret[alike]).argmax()
    return guesses


def _distance(kinds: Ints, person: Ints, known: Sequence[int], coded: CodedFiles) -> Floats:
    away = np.zeros(len(kinds))
    for place, column in enumerate(known):
        if coded.ordered[column]:
            away += np.abs(kinds[:, place] - person[place]) / max(1, coded.sizes[column] - 1)
        else:
            away += kinds[:, place] != person[place]
    return away


def _judge(
    coded: CodedFiles, sides: _Sides, groups: Sequence[Ints], share: float
) -> dict[str, Any]:
    """Success on people of the data, and on those that it is held against."""
    released, secret = coded.files[0], sides.secret
    close = coded.sizes[secret] // CLOSE if coded.ordered[secret] else 0
    common = int(np.bincount(released[:, secret]).argmax())

    def right(guesses: Any, people: Ints) -> int:
        return int((np.abs(people[:, secret] - guesses) <= close).sum())

    hits = [right(nearest_guess(released, part, sides, coded), part) for part in groups]
    tries = [len(part) for part in groups]
    blind = right(common, groups[0])
    told: dict[str, Any] = {"known": [coded.names[column] for column in sides.known]}
    told |= {"people": rate_json(hits[0], tries[0]), "blind": rate_json(blind, tries[0])}
    against = (blind, tries[0])
    if len(groups) > 1:
        against = (hits[1], tries[1])
        told["control"] = rate_json(*against)
    return {**told, "risk": vars(added_risk((hits[0], tries[0]), against, share))}


def _unscored(tried: Sequence[_Sides]) -> Finding:
    return Finding(
        attack="inference",
        claim=f"A secret of anybody can be guessed by the nearest released record, for "
        f"{len(tried)} columns; whether it is right was not scored: the data was not given.",
        affected="whoever is known by the other columns",
        success=Rate(0.0, 0.0, 1.0, CONFIDENCE),
        baseline=0.0,
        covered=False,
        source=PAPER,
        remedy=REMEDY,
        details={"scored": False},
    )


def _finding(
    parts: dict[str, dict[str, Any]], coded: CodedFiles, controlled: bool, complete: bool
) -> Finding:
    worst, success = worst_part(parts)
    part = parts[worst]
    against = CONTROL if controlled else BLIND
    others = len(part["known"]) == len(coded.names) - 1
    by = "the other columns" if others else ", ".join(part["known"])
    hit, base = part["people"], part["control" if controlled else "blind"]
    return Finding(
        attack="inference",
        claim=f"The nearest released record tells {worst!r} rightly of {hit['value']:.0%} of "
        f"{hit['tries']:,} people of the data, known by {by}; against {against} it is "
        f"{base['value']:.0%}.",
        affected="people of the data of whom somebody knows this much",
        success=success,
        baseline=0.0,
        covered=False,
        source=PAPER,
        remedy=REMEDY if success.low > 0 else "none needed for this attack",
        details={
            "secret": worst,
            "secrets": parts,
            "columns": list(coded.names),
            "control": controlled,
            "against": against,
        },
        complete=complete,
    )
