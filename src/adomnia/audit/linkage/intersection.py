"""Two releases, each diverse enough, that give people away together (`intersection.md`).

A person in several releases has in each a crowd with several sensitive values. The true one is in
all of them: what is not in every crowd is ruled out.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adomnia.audit.finding import Finding, wilson
from adomnia.audit.linkage.equivalence_classes import PublishedFile, arrow, cells, classes, meet
from adomnia.audit.linkage.uniqueness import anonymity, m_invariance
from adomnia.errors import QuestionError

__all__ = ["intersection"]

Ints = NDArray[np.int64]

PAPER = (
    "Xiao and Tao, m-invariance, SIGMOD 2007; Ganta, Kasiviswanathan and Smith, Composition "
    "attacks and auxiliary information in data privacy, KDD 2008; Dwork, An ad omnia approach, "
    "2007, section 1.2"
)
REMEDY = "pay every release of the same people from one budget; crowds do not compose"
AT_ONCE = 1 << 16
SHOWN = 1000


@dataclass(frozen=True, eq=False)
class _Left:
    """For each person how many values are left, and the likeliest one."""

    many: Ints
    likeliest: Ints

    def told(self, truth: Ints) -> dict[str, Any]:
        """Figures for a table: shares determined and guessed rightly, and the mean left."""
        people = truth.size
        right = self.likeliest == truth
        sure = int(((self.many == 1) & right).sum())
        return {
            "determined": sure,
            "determined_share": vars(wilson(sure / max(people, 1), people)),
            "guessed_share": vars(wilson(float(right.mean()) if people else 0.0, people)),
            "values_left": float(self.many.mean()) if people else 0.0,
            "contradictory": int((self.many == 0).sum()),
        }


def intersection(
    releases: Sequence[PublishedFile], names: bool = False, time_limit: float = 60.0
) -> Finding:
    """How many people's sensitive values all releases determine together, and each one alone.

    It is about the people who are in all releases. The success is the share determined (and
    rightly) by all, the baseline that by the best single one. `details["alone"]` has a row for
    each release; `details["together"]` the same of all; `names` lists the people and values.

    Raises a QuestionError where there are fewer than two releases.

    >>> from adomnia.audit import PublishedFile
    >>> may = {"who": [1, 2], "city": ["Linz", "Linz"], "ill": ["flu", "cold"]}
    >>> june = {"who": [1, 3], "city": ["Linz", "Linz"], "ill": ["flu", "gout"]}
    >>> files = [PublishedFile(file, ["city"], "ill", "who") for file in (may, june)]
    >>> intersection(files).success.value
    1.0
    """
    if len(releases) < 2:
        raise QuestionError("an intersection needs two releases", "give two or more")
    end = time.monotonic() + time_limit
    groups, values, places = meet(releases)
    crowds = [_shares(group, value) for group, value in zip(groups, values, strict=True)]
    own = [group[place] for group, place in zip(groups, places, strict=True)]
    truth = values[0][places[0]]
    alone = [_left([crowd], [at], np.inf)[0] for crowd, at in zip(crowds, own, strict=True)]
    both, done = _left(crowds, own, end)
    details = {
        "people": int(truth.size),
        "looked_at": done,
        "alone": [
            {**_measures(release), **left.told(truth)}
            for release, left in zip(releases, alone, strict=True)
        ],
        "together": both.told(truth[:done]),
        "majority": float(np.bincount(truth).max() / truth.size) if truth.size else 0.0,
    }
    if len(releases) == 2:
        details["invariance"] = vars(m_invariance(*releases))
    if names:
        details["determined_people"] = _people(releases[0], places[0], both)
    return _finding(details, done)


def _shares(group: Ints, value: Ints) -> sparse.csr_array:
    """The distribution of the sensitive value in each class, a class in each row."""
    where, held, counts = cells(group, value)
    share = counts / np.bincount(group)[where] if group.size else counts
    kinds = int(group.max(initial=-1)) + 1
    width = int(value.max(initial=-1)) + 1
    return sparse.csr_array((share, (where, held)), shape=(kinds, max(width, 1)))


def _left(crowds: Sequence[sparse.csr_array], own: Sequence[Ints], end: float) -> tuple[_Left, int]:
    """What is left for each person, in order until the clock, and how many were looked at."""
    width = max(crowd.shape[1] for crowd in crowds)
    wide = [sparse.csr_array((c.data, c.indices, c.indptr), (c.shape[0], width)) for c in crowds]
    many: list[Ints] = [np.zeros(0, np.int64)]
    likeliest: list[Ints] = [np.zeros(0, np.int64)]
    done = 0
    for start in range(0, own[0].size, AT_ONCE):
        if time.monotonic() > end:
            break
        at = [part[start : start + AT_ONCE] for part in own]
        # people with the same classes in all releases have the same values left
        kind = classes([(part, int(part.max()) + 1) for part in at], at[0].size)
        first = np.unique(kind, return_index=True)[1]
        common = wide[0][at[0][first]]
        for crowd, part in zip(wide[1:], at[1:], strict=True):
            common = common.multiply(crowd[part[first]]).tocsr()
        common.eliminate_zeros()
        left = np.diff(common.indptr)
        best = np.asarray(common.argmax(axis=1)).ravel()
        many.append(left[kind].astype(np.int64))
        likeliest.append(np.where(left > 0, best, -1)[kind])
        done += at[0].size
    return _Left(np.concatenate(many), np.concatenate(likeliest)), done


def _measures(release: PublishedFile) -> dict[str, Any]:
    found = anonymity(release.data, release.quasi, release.sensitive)
    return {"rows": found.rows, "k": found.k, "distinct_l": found.distinct_l}


def _people(release: PublishedFile, places: Ints, left: _Left) -> list[list[str]]:
    sure = places[: left.many.size][left.many == 1][:SHOWN]
    columns = [arrow(release.data, name).take(sure) for name in (release.person, release.sensitive)]
    return [[str(part) for part in pair] for pair in zip(*map(list, columns), strict=True)]


def _finding(details: dict[str, Any], done: int) -> Finding:
    together, alone = details["together"], details["alone"]
    best = max(alone, key=lambda one: one["determined"])
    people = details["people"]
    crowds = ", ".join(str(one["distinct_l"]) for one in alone)
    return Finding(
        attack="intersection",
        claim=f"{len(alone)} releases (distinct l: {crowds}) together determine the sensitive "
        f"value of {together['determined']} of the {done} people in all; the best alone of "
        f"{best['determined']}.",
        affected=f"{together['determined']} people who are in all the releases",
        success=wilson(together["determined_share"]["value"], done),
        baseline=best["determined_share"]["value"],
        covered=True,
        source=PAPER,
        remedy=REMEDY,
        details=details,
        complete=done == people,
    )
