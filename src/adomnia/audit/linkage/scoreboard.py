"""Narayanan and Shmatikov's scoreboard: naming people in sparse ratings (`scoreboard.md`).

A few ratings that somebody is known to have given, some of them wrong, the dates a few days off,
are compared with every record. Rare items weigh more. The best record is claimed only if it stands
out from the second.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from adomnia.audit.finding import Finding, wilson
from adomnia.errors import QuestionError

__all__ = ["Hunt", "KnownItems", "Ratings", "Scoring", "scoreboard", "scoreboard_curve", "scores"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

PAPER = (
    "Narayanan and Shmatikov, Robust de-anonymization of large sparse datasets, IEEE S&P 2008; "
    "Dwork, An ad omnia approach, 2007, section 1.1"
)
REMEDY = "publish no record of a person: noisy counts of items and of pairs of items"
SHOWN = 1000


@dataclass(frozen=True, eq=False)
class Ratings:
    """Who rated what, how and when, sorted by item; item j has the entries start[j]:start[j+1].

    `own` lists the entries of each person, sorted; person i has own[first[i]:first[i+1]].

    >>> Ratings.of([0, 0, 1], [0, 1, 1], [5.0, 4.0, 3.0]).item.tolist()
    [0, 1, 1]
    """

    start: Ints
    person: Ints
    item: Ints
    value: Floats
    day: Floats | None
    own: Ints
    first: Ints

    @classmethod
    def of(
        cls,
        person: ArrayLike,
        item: ArrayLike,
        value: ArrayLike,
        day: ArrayLike | None = None,
        shape: tuple[int, int] | None = None,
    ) -> Ratings:
        """From one entry a rating, people and items numbered from 0; the first of two is kept.

        Raises a QuestionError where the entries are not of one length, or lie outside the `shape`.
        """
        who, what = np.asarray(person, np.int64), np.asarray(item, np.int64)
        rated = np.asarray(value, np.float64)
        when = None if day is None else np.asarray(day, np.float64)
        if not who.shape == what.shape == rated.shape == (rated if when is None else when).shape:
            raise QuestionError("a rating has a person, an item, a value", "give all of one length")
        if who.size and min(who.min(), what.min()) < 0:
            raise QuestionError("people and items are numbered from 0 on", "number them anew")
        people, items = shape or (int(who.max(initial=-1)) + 1, int(what.max(initial=-1)) + 1)
        if who.max(initial=-1) >= people or what.max(initial=-1) >= items:
            raise QuestionError("a rating lies outside the shape", "give a larger one")
        kept = _sorted_once(what * max(people, 1) + who)
        who, what = who[kept], what[kept]
        start = np.searchsorted(what, np.arange(items + 1))
        turned = sparse.csc_array((np.arange(who.size), who, start), (people, items)).tocsr()
        return cls(
            start=start,
            person=who,
            item=what,
            value=rated[kept],
            day=None if when is None else when[kept],
            own=turned.data,
            first=turned.indptr,
        )

    @classmethod
    def from_sparse(cls, values: sparse.sparray, days: sparse.sparray | None = None) -> Ratings:
        """From matrices of people by items, with the same stored entries (zeros may be stored).

        Raises a QuestionError where the entries differ.
        """
        parts = [sparse.csr_array(one) for one in (values, days) if one is not None]
        for part in parts:
            part.sum_duplicates()
        same = all(
            np.array_equal(parts[0].indptr, part.indptr)
            and np.array_equal(parts[0].indices, part.indices)
            for part in parts
        )
        if not same:
            raise QuestionError("each rating has a day, and no other entry", "store the same")
        who, what = parts[0].tocoo().coords
        day = parts[1].data if days is not None else None
        return cls.of(who, what, parts[0].data, day, parts[0].shape)

    @property
    def people(self) -> int:
        """How many records there are."""
        return self.first.size - 1

    def support(self) -> Ints:
        """How many people rated each item."""
        return np.diff(self.start)


@dataclass(frozen=True, eq=False)
class KnownItems:
    """What is known of one person: items, how they were rated, and when, if that is known."""

    item: Ints
    value: Floats
    day: Floats | None = None


@dataclass(frozen=True)
class Hunt:
    """For whom the attacker looks, and what he knows of each.

    `facts` ratings, `wrong` of which are of items that the person never rated; values off by up to
    `value_error` and, if they are `dated`, days off by up to `day_error`. With `names` the rows
    that were claimed are listed.

    >>> Hunt(facts=4, wrong=0).dated
    True
    """

    facts: int = 8
    wrong: int = 2
    dated: bool = True
    day_error: int = 3
    value_error: int = 0
    targets: int = 200
    names: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.wrong < self.facts or self.targets < 1:
            raise QuestionError("a hunt needs a true fact and a target", "give more of them")


@dataclass(frozen=True)
class Scoring:
    """The paper's parameters; `lineup` is how many records a human would look through."""

    rho0: float = 1.5
    d0: float = 30.0
    eccentricity: float = 1.5
    lineup: int = 8


FOUND = Hunt()
STANDARD = Scoring()
HUNTS = tuple(
    Hunt(facts, wrong, dated)
    for facts, wrong in ((2, 0), (4, 0), (8, 2))
    for dated in (False, True)
)


def scores(ratings: Ratings, facts: KnownItems, scoring: Scoring = STANDARD) -> Floats:
    """The score of every record: over the facts, weight times closeness of value and of day."""
    total = np.zeros(ratings.people)
    for at, item in enumerate(facts.item.tolist()):
        span = slice(ratings.start[item], ratings.start[item + 1])
        close = np.exp(-np.abs(ratings.value[span] - facts.value[at]) / scoring.rho0)
        if facts.day is not None and ratings.day is not None:
            close += np.exp(-np.abs(ratings.day[span] - facts.day[at]) / scoring.d0)
        # an item of one person would weigh infinitely much: it weighs like one of two
        total[ratings.person[span]] += close / np.log(max(span.stop - span.start, 2))
    return total


def scoreboard(
    published: Ratings,
    hunt: Hunt = FOUND,
    scoring: Scoring = STANDARD,
    truth: Ratings | None = None,
    seed: int = 0,
    time_limit: float = 60.0,
) -> Finding:
    """Look for random people of whom some facts are known; count who is named, and falsely.

    Facts are drawn from `truth`, whose people have the same rows; the published file itself unless
    told. Each person is also looked for in the file without his record: `false_positive` is how
    often somebody else is then claimed. The success is the share claimed rightly.

    Raises a QuestionError where nobody gave that many ratings.

    >>> ratings = Ratings.of([0, 0, 1, 1, 2, 2], [0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 5])
    >>> scoreboard(ratings, Hunt(facts=2, wrong=0, dated=False, targets=3)).attack
    'scoreboard'
    """
    end = time.monotonic() + time_limit
    source = published if truth is None else truth
    _check(published, source, hunt)
    chance = np.random.default_rng(seed)
    enough = np.flatnonzero(np.diff(source.first) >= hunt.facts - hunt.wrong)
    if not enough.size:
        raise QuestionError("nobody gave that many ratings", "know fewer facts of each person")
    targets = chance.permutation(enough)[: hunt.targets]
    rows: list[dict[str, Any]] = []
    for person in targets.tolist():
        if time.monotonic() > end:
            break
        total = scores(published, _draw(source, person, hunt, chance), scoring)
        rows.append(_judged(total, person, scoring))
    return _finding(published, hunt, rows, len(rows) == targets.size)


def scoreboard_curve(
    published: Ratings,
    hunts: Sequence[Hunt] = HUNTS,
    scoring: Scoring = STANDARD,
    truth: Ratings | None = None,
    seed: int = 0,
    time_limit: float = 60.0,
) -> Finding:
    """Several hunts: 2 facts, 4, and 8 with 2 wrong, each without and with dates, unless told.

    `details["curve"]` has a row for each; the finding is that of the most successful one. Hunts
    with dates are left out where the file has none.

    Raises a QuestionError where no hunt is possible.

    >>> ratings = Ratings.of([0, 0, 1, 1, 2, 2], [0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 5])
    >>> hunts = [Hunt(facts=many, wrong=0, dated=False, targets=3) for many in (1, 2)]
    >>> len(scoreboard_curve(ratings, hunts).details["curve"])
    2
    """
    end = time.monotonic() + time_limit
    source = published if truth is None else truth
    dated = published.day is not None and source.day is not None
    wanted = [hunt for hunt in hunts if dated or not hunt.dated]
    found = []
    for hunt in wanted:
        left = end - time.monotonic()
        if left > 0:
            found.append(scoreboard(published, hunt, scoring, truth, seed, left))
    if not found:
        raise QuestionError("nothing to attack", "give hunts that the file allows, and time")
    best = max(found, key=lambda one: one.success.value)
    complete = len(found) == len(wanted) and all(one.complete for one in found)
    curve = [one.details for one in found]
    return replace(best, details={**best.details, "curve": curve}, complete=complete)


def _sorted_once(key: Ints) -> Ints:
    """The places of the keys in rising order, of each key the first place."""
    order = np.argsort(key)
    if (np.diff(key[order]) > 0).all():
        return order
    return np.unique(key, return_index=True)[1]


def _draw(source: Ratings, person: int, hunt: Hunt, chance: np.random.Generator) -> KnownItems:
    """Facts about a person: ratings of his own, and wrong ones that others gave."""
    own = source.own[source.first[person] : source.first[person + 1]]
    true = chance.choice(own, hunt.facts - hunt.wrong, replace=False)
    others = chance.integers(0, source.item.size, 50 * hunt.wrong)
    others = others[~np.isin(source.item[others], source.item[own])][: hunt.wrong]
    entry = np.concatenate([true, others])
    off = chance.integers(-hunt.value_error, hunt.value_error, entry.size, endpoint=True)
    late = chance.integers(-hunt.day_error, hunt.day_error, entry.size, endpoint=True)
    day = source.day[entry] + late if hunt.dated and source.day is not None else None
    return KnownItems(source.item[entry], source.value[entry] + off, day)


def _judged(total: Floats, person: int, scoring: Scoring) -> dict[str, Any]:
    """What the scores say with the person's record in the file, and without it."""
    best, stands_out = _best(total, scoring)
    ahead = int((total >= total[person]).sum())
    without = np.delete(total, person)
    return {
        "person": person,
        "claimed": best if stands_out else None,
        "best": best,
        "in_lineup": bool(total[person] > 0 and ahead <= scoring.lineup),
        "falsely": bool(without.size) and _best(without, scoring)[1],
    }


def _best(total: Floats, scoring: Scoring) -> tuple[int, bool]:
    """The record with the highest score, and whether it is eccentric."""
    best = int(np.argmax(total))
    if total.size == 1:
        return best, bool(total[0] > 0)
    second = max(total[:best].max(initial=0.0), total[best + 1 :].max(initial=0.0))
    spread = float(total.std())
    return best, bool(spread > 0 and total[best] - second >= scoring.eccentricity * spread)


def _check(published: Ratings, source: Ratings, hunt: Hunt) -> None:
    if published.people != source.people or published.start.size != source.start.size:
        raise QuestionError("the truth has other people or items", "give the same shape to both")
    if hunt.dated and (published.day is None or source.day is None):
        raise QuestionError("the ratings have no dates", "hunt with dated=False")


def _finding(published: Ratings, hunt: Hunt, rows: list[dict[str, Any]], complete: bool) -> Finding:
    many, n = len(rows), published.people

    def rate(times: int) -> dict[str, Any]:
        return vars(wilson(times / max(many, 1), many))

    right = sum(row["claimed"] == row["person"] for row in rows)
    claims = sum(row["claimed"] is not None for row in rows)
    known = {key: part for key, part in vars(hunt).items() if key != "names"}
    details: dict[str, Any] = {
        **known,
        "people": n,
        "items": published.start.size - 1,
        "ratings": int(published.item.size),
        "looked_for": many,
        "claimed_rightly": rate(right),
        "claimed_wrongly": rate(claims - right),
        "not_claimed": rate(many - claims),
        "best_is_right": rate(sum(row["best"] == row["person"] for row in rows)),
        "in_lineup": rate(sum(row["in_lineup"] for row in rows)),
        "false_positive": rate(sum(row["falsely"] for row in rows)),
    }
    if hunt.names:
        claimed = [row for row in rows if row["claimed"] is not None][:SHOWN]
        details["claims"] = [[row["person"], row["claimed"]] for row in claimed]
    about = f"{hunt.facts} ratings" + (f", {hunt.wrong} of them wrong" if hunt.wrong else "")
    return Finding(
        attack="scoreboard",
        claim=f"Who knows {about}, {'with' if hunt.dated else 'without'} dates, names "
        f"{right} of {many} people among {n}, and {claims - right} wrongly.",
        affected=f"people with at least {hunt.facts - hunt.wrong} ratings in the file",
        success=wilson(right / max(many, 1), many),
        baseline=1 / n if n else 0.0,
        covered=True,
        source=PAPER,
        remedy=REMEDY,
        details=details,
        complete=complete,
    )
