"""Linking a file without names to one with names on the columns they share (`linkage.md`).

So the medical records of a governor were found: birth date, sex and zip code stood in a hospital
file and in the voters' list. Exactly, or with weights where the values of one person may differ.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from adomnia.audit.finding import Finding, wilson
from adomnia.audit.linkage.equivalence_classes import Columns, classes, column_names, rows
from adomnia.audit.linkage.fellegi_sunter import (
    Comparison,
    Shared,
    common_codes,
    estimate_errors,
    posterior,
)
from adomnia.errors import QuestionError

__all__ = ["Shared", "Weighing", "link_exactly", "link_probably"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

PAPER = (
    "Sweeney, k-anonymity, 2002 (the linkage of the GIC file); Fellegi and Sunter, A theory for "
    "record linkage, JASA 1969; Dwork, An ad omnia approach, 2007, section 1.2"
)
REMEDY = "publish no record of a person: noisy tables, or records made up from them"
MOST_COLUMNS = 12
SHOWN = 1000


@dataclass(frozen=True)
class Weighing:
    """When a link is claimed: from this probability on.

    `present` is the share of the known people who are in the published file, estimated if None.
    With `names` the linked rows are listed.
    """

    confidence: float = 0.9
    present: float | None = None
    names: bool = False


STANDARD = Weighing()


def link_exactly(
    published: Columns,
    known: Columns,
    on: Sequence[str] | None = None,
    truth: ArrayLike | None = None,
    names: bool = False,
    time_limit: float = 60.0,
) -> Finding:
    """Link known people to the published row that alone has their values on the columns `on`.

    `on` are all common columns unless told. A person is linked if the values occur once in each
    file. `truth` gives for each known person the published row, -1 for none, and only scores.

    Returns the share of the known people who were linked, and with a truth, rightly. Raises a
    QuestionError where the files have no column in common.

    >>> published = {"age": [30, 41, 41], "ill": ["flu", "cold", "gout"]}
    >>> link_exactly(published, {"name": ["Ann"], "age": [30]}, truth=[0]).success.value
    1.0
    """
    end = time.monotonic() + time_limit
    columns = _shared(published, known, on)
    parts = [common_codes(published, known, columns[0])]
    for name in columns[1:]:
        if time.monotonic() > end:
            break
        parts.append(common_codes(published, known, name))
    linked, candidates = _match(*(np.array(side) for side in zip(*parts, strict=True)))
    some = candidates[candidates > 0]
    details = {
        "columns": [{"column": name} for name in columns[: len(parts)]],
        "candidates": {
            "none": int(candidates.size - some.size),
            "one": int((some == 1).sum()),
            "two to five": int(((some > 1) & (some <= 5)).sum()),
            "more": int((some > 5).sum()),
        },
        "chance_to_pick": float((1 / some).sum() / candidates.size),
    }
    scored = _truth(truth, linked.size, rows(published))
    whole = len(parts) == len(columns)
    found = _finding("linkage", linked, rows(published), scored, details)
    return _named(found, linked, names, whole)


def link_probably(
    published: Columns,
    known: Columns,
    on: Sequence[str | Shared] | None = None,
    truth: ArrayLike | None = None,
    weighing: Weighing = STANDARD,
    time_limit: float = 60.0,
) -> Finding:
    """Link known people to published rows although values may be off, by Fellegi and Sunter.

    A person is linked to the likeliest row if its probability reaches `weighing.confidence`, and
    nobody else is linked to it. `truth` as in `link_exactly`.

    Returns the share of the known people who were linked, and with a truth, rightly. Raises a
    QuestionError where the files have no column in common.

    >>> ages = {"age": list(range(20, 60)), "zip": list(range(40))}
    >>> link_probably(ages, ages, truth=list(range(40))).attack
    'probable linkage'
    """
    end = time.monotonic() + time_limit
    columns = [one if isinstance(one, Shared) else Shared(one) for one in on or ()]
    columns = columns or [Shared(name) for name in _shared(published, known, None)]
    _check(published, known, columns, weighing)
    compare = Comparison.of(published, known, columns)
    errors, present = estimate_errors(compare, columns, weighing.present, end)
    linked = np.full(compare.known.shape[1], -1)
    surest = np.zeros(linked.size)
    done = 0
    for i, agree, counts in compare.each(range(linked.size), end):
        chance = posterior(counts[None, :], errors, present)[0]
        best = int(np.argmax(np.where(counts > 0, chance / np.maximum(counts, 1), -1)))
        if counts[best] == 1 and chance[best] >= weighing.confidence:
            linked[i], surest[i] = compare.row[int(np.argmax(agree == best))], chance[best]
        done += 1
    _one_each(linked)
    details = {
        "columns": _told(columns, errors, compare),
        "present": present,
        "confidence": weighing.confidence,
        "expected_correct": float(surest[linked >= 0].sum()),
        "looked_at": done,
    }
    scored = _truth(truth, linked.size, rows(published))
    found = _finding("probable linkage", linked, rows(published), scored, details)
    return _named(found, linked, weighing.names, done == linked.size)


def _match(published: Ints, known: Ints) -> tuple[Ints, Ints]:
    """For each known person the row that alone has the same codes, or -1; and how many have."""
    many = published.shape[1]
    code = np.concatenate([published, known], axis=1)
    group = classes([(part + 1, int(part.max()) + 2) for part in code], code.shape[1])
    group[(code < 0).any(axis=0)] = -1
    theirs, mine = group[:many], group[many:]
    kinds = int(group.max()) + 1
    holder = np.zeros(kinds + 1, np.int64)  # the last place is for those with a missing value
    holder[theirs] = np.arange(many)
    times = [np.append(np.bincount(side[side >= 0], minlength=kinds), 0) for side in (theirs, mine)]
    candidates = times[0][mine]
    linked = np.where((candidates == 1) & (times[1][mine] == 1), holder[mine], -1)
    return linked, candidates


def _one_each(linked: Ints) -> None:
    """Two people cannot have one row: where two claim it, neither is linked."""
    rows_, times = np.unique(linked, return_counts=True)
    linked[np.isin(linked, rows_[times > 1])] = -1


def _told(columns: Sequence[Shared], errors: Floats, compare: Comparison) -> list[dict[str, Any]]:
    """For each column its error rate, and the mean bits that an agreement is worth."""
    told = []
    for one, error, published in zip(columns, errors.tolist(), compare.published, strict=True):
        values, where = np.unique(published, return_inverse=True)
        share = np.bincount(where, compare.sizes, values.size) / compare.sizes.sum()
        bits = float(-(share * np.log2(share / (1 - error))).sum())
        about = {"column": one.column, "tolerance": one.tolerance, "error": error, "bits": bits}
        told.append({**about, "estimated": one.error is None})
    return told


def _shared(published: Columns, known: Columns, on: Sequence[str] | None) -> list[str]:
    """The columns to link on; an error where there is none, or a file has no row."""
    names = [column_names(file) for file in (published, known)]
    columns = [name for name in names[0] if name in names[1]] if on is None else list(on)
    if not columns:
        raise QuestionError("the files have no common column", "name alike what means the same")
    if not rows(published) or not rows(known):
        raise QuestionError("a file without rows cannot be linked", "give people in both")
    return columns


def _check(
    published: Columns, known: Columns, columns: Sequence[Shared], weighing: Weighing
) -> None:
    _shared(published, known, [one.column for one in columns])
    refusals = {
        f"at most {MOST_COLUMNS} columns are weighed": len(columns) > MOST_COLUMNS,
        "a tolerance is not negative": any(one.tolerance < 0 for one in columns),
        "an error rate lies between 0 and 1": any(
            one.error is not None and not 0 < one.error < 1 for one in columns
        ),
        "a confidence is above 0 and at most 1": not 0 < weighing.confidence <= 1,
        "the share present is above 0 and at most 1": weighing.present is not None
        and not 0 < weighing.present <= 1,
    }
    for message, refused in refusals.items():
        if refused:
            raise QuestionError(message)


def _truth(truth: ArrayLike | None, people: int, many: int) -> Ints | None:
    if truth is None:
        return None
    given = np.asarray(truth, np.int64)
    if given.shape != (people,) or ((given < -1) | (given >= many)).any():
        raise QuestionError("the truth is a published row for each known person", "-1 for none")
    return given


def _finding(
    attack: str, linked: Ints, many: int, truth: Ints | None, details: dict[str, Any]
) -> Finding:
    people, claims = linked.size, int((linked >= 0).sum())
    details |= {"published": many, "known": people, "linked": claims, "scored": truth is not None}
    right, baseline = claims, 1 / many
    if truth is not None:
        right = int(((linked >= 0) & (linked == truth)).sum())
        baseline = float((truth >= 0).mean()) / many
        wrong = claims - right
        details |= {"correct": right, "false": wrong}
        details["false_share"] = vars(wilson(wrong / max(claims, 1), claims))
    scored = "" if truth is None else f", {right} of them rightly"
    return Finding(
        attack=attack,
        claim=f"{claims} of {people} known people were linked to a row of the file{scored}.",
        affected=f"{right} people whose row can be told",
        success=wilson(right / people, people),
        baseline=baseline,
        covered=True,
        source=PAPER,
        remedy=REMEDY,
        details=details,
    )


def _named(found: Finding, linked: Ints, names: bool, whole: bool) -> Finding:
    """The finding, with the linked rows of both files where they are asked for."""
    people = np.flatnonzero(linked >= 0)[:SHOWN]
    links = {"links": np.stack([people, linked[people]], axis=1).tolist()} if names else {}
    return replace(found, details={**found.details, **links}, complete=whole)
