"""How a microdata file hides people in crowds: uniques, k, l, t and m (`uniqueness.md`).

Rows that agree on all quasi-identifiers are a class. A row alone in its class is a *sample
unique*: alone in the file, which does not say that the person is alone in the population.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.audit.finding import Finding, Rate
from adomnia.audit.linkage.equivalence_classes import (
    Columns,
    PublishedFile,
    cells,
    classes,
    codes,
    meet,
    rows,
)

__all__ = ["Anonymity", "Invariance", "anonymity", "m_invariance", "uniqueness"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

PAPER = (
    "Sweeney, k-anonymity, 2002; Machanavajjhala et al., l-diversity, TKDD 2007; Li et al., "
    "t-closeness, ICDE 2007; Xiao and Tao, m-invariance, SIGMOD 2007"
)
REMEDY = "publish fewer or coarser columns; better, tables or made-up records with noise"
SHOWN = 1000


@dataclass(frozen=True)
class Anonymity:
    """The measures of one file; None where there is no row or no sensitive column.

    `k`: the smallest class. `distinct_l`: the fewest sensitive values in a class. `entropy_l`:
    e to the least entropy of them. `t_equal`, `t_ordered`: the largest earth mover's distance from
    a class to the file, all values equally far apart, or ranks divided by their number less one.

    >>> Anonymity(rows=3, classes=2, uniques=1, k=1).distinct_l is None
    True
    """

    rows: int
    classes: int
    uniques: int
    k: int | None = None
    distinct_l: int | None = None
    entropy_l: float | None = None
    t_equal: float | None = None
    t_ordered: float | None = None


@dataclass(frozen=True)
class Invariance:
    """m-invariance of two releases: `m` is 0 where it does not hold for any m above 1.

    `unique`: the largest m for which each release is m-unique (m or more records in each class,
    all with different sensitive values). `changed` of the `shared` people have another signature,
    the set of sensitive values in their class, in the second release.
    """

    m: int
    unique: tuple[int, int]
    shared: int
    changed: int


def uniqueness(
    data: Columns,
    quasi: Sequence[str],
    sensitive: str | None = None,
    names: bool = False,
    time_limit: float = 60.0,
) -> Finding:
    """How many rows are sample uniques on the columns `quasi`, and the measures of the file.

    `details["columns"]` tells for each column how many uniques are left without it;
    `details["attribute"]` how often the commonest sensitive value of the class is the right one.
    The rows that are alone are listed only with `names`.

    Returns the share of the rows that are alone. Raises a QuestionError where a column is not
    there.

    >>> uniqueness({"sex": ["F", "F", "M"], "age": [30, 41, 41]}, ["sex", "age"]).success.value
    1.0
    """
    end = time.monotonic() + time_limit
    parts = {name: codes(data, name) for name in dict.fromkeys(quasi)}
    group = classes(list(parts.values()), rows(data))
    found = anonymity(data, quasi, sensitive)
    details: dict[str, Any] = {**vars(found)}
    if sensitive is not None:
        details["attribute"] = _attribute(group, codes(data, sensitive)[0])
    details["chance_to_pick"] = _share(found.classes, found.rows)
    details["columns"] = _without(parts, found.rows, end)
    if names:
        details["unique_rows"] = np.flatnonzero(np.bincount(group)[group] == 1)[:SHOWN].tolist()
    share = _share(found.uniques, found.rows)
    return Finding(
        attack="uniqueness",
        claim=f"{found.uniques} of {found.rows} rows ({share:.1%}) are sample uniques on "
        f"{len(parts)} quasi-identifiers; the smallest class has {found.k} rows.",
        affected=f"{found.uniques} people who are alone in the file with what is known of them",
        success=Rate(share, share, share),
        baseline=float(found.rows == 1),
        covered=False,
        source=PAPER,
        remedy=REMEDY,
        details=details,
        complete=len(details["columns"]) == len(parts),
    )


def anonymity(data: Columns, quasi: Sequence[str], sensitive: str | None = None) -> Anonymity:
    """k-anonymity, l-diversity and t-closeness of a file.

    Raises a QuestionError where the file has no such column.

    >>> file = {"sex": ["F", "F", "M"], "ill": ["yes", "no", "no"]}
    >>> measures = anonymity(file, ["sex"], "ill")
    >>> measures.k, measures.uniques, measures.distinct_l
    (1, 1, 1)
    """
    group = classes([codes(data, name) for name in dict.fromkeys(quasi)], rows(data))
    sizes = np.bincount(group)
    if not sizes.size:
        return Anonymity(0, 0, 0)
    k, uniques = int(sizes.min()), int((sizes == 1).sum())
    if sensitive is None:
        return Anonymity(group.size, sizes.size, uniques, k)
    value, domain = codes(data, sensitive)
    where, held, counts = cells(group, value)
    share = counts / sizes[where]
    entropy = -np.bincount(where, share * np.log(share))
    whole = np.bincount(value, minlength=domain) / value.size
    equal = np.bincount(where, np.maximum(share - whole[held], 0.0))
    return Anonymity(
        rows=group.size,
        classes=sizes.size,
        uniques=uniques,
        k=k,
        distinct_l=int(np.bincount(where).min()),
        entropy_l=float(np.exp(max(entropy.min(), 0.0))),
        t_equal=float(equal.max()),
        t_ordered=float(_ordered(where, held, counts, whole).max()),
    )


def m_invariance(first: PublishedFile, second: PublishedFile) -> Invariance:
    """The largest m for which two releases are m-invariant (Xiao and Tao's definition)."""
    groups, values, places = meet([first, second])
    files = list(zip(groups, values, strict=True))
    unique = (_m_unique(*files[0]), _m_unique(*files[1]))
    signs = [_signatures(*file) for file in files]
    at = [group[place].tolist() for group, place in zip(groups, places, strict=True)]
    changed = sum(signs[0][here] != signs[1][there] for here, there in zip(*at, strict=True))
    m = 0 if changed else min(unique)
    return Invariance(m if m > 1 else 0, unique, len(at[0]), changed)


def _ordered(where: Ints, held: Ints, counts: Ints, whole: Floats) -> Floats:
    """For each class the sum over ranks of |F_class - F|, divided by their number less one.

    F_class is constant between the values of the class, and F rises: so each stretch splits once,
    where F passes the constant, and prefix sums of F give both parts.
    """
    if whole.size < 2:
        return np.zeros(where[-1] + 1)
    total = np.cumsum(whole)
    prefix = np.concatenate([[0.0], np.cumsum(total)])
    first = np.flatnonzero(np.diff(where, prepend=-1))
    so_far = np.cumsum(counts)
    sizes = np.diff(so_far[np.append(first[1:], where.size) - 1], prepend=0)
    level = (so_far - (np.cumsum(sizes) - sizes)[where]) / sizes[where]
    ends = np.append(held[1:], whole.size)
    ends[first[1:] - 1] = whole.size
    ahead = prefix[held[first]]  # F_class is 0 before the first value
    return np.asarray(
        (np.bincount(where, _area(level, held, ends, total, prefix)) + ahead) / (whole.size - 1)
    )


def _area(level: Floats, low: Ints, high: Ints, total: Floats, prefix: Floats) -> Floats:
    """The sum of |level - F| over the ranks from low to below high."""
    split = np.clip(np.searchsorted(total, level), low, high)
    under = level * (split - low) - (prefix[split] - prefix[low])
    return np.asarray(under + (prefix[high] - prefix[split]) - level * (high - split))


def _attribute(group: Ints, value: Ints) -> dict[str, float]:
    """How often the commonest value is right: that of the class, and that of the file."""
    where, _, counts = cells(group, value)
    most = np.zeros(int(where.max(initial=-1)) + 1, np.int64)
    np.maximum.at(most, where, counts)
    return {
        "guessed": _share(int(most.sum()), group.size),
        "baseline": _share(int(np.bincount(value).max(initial=0)), group.size),
    }


def _without(parts: dict[str, tuple[Ints, int]], many: int, end: float) -> list[dict[str, Any]]:
    """For each column its number of values, and the uniques that the others leave."""
    told = []
    for name, (_, domain) in parts.items():
        if time.monotonic() > end:
            break
        sizes = np.bincount(classes([part for own, part in parts.items() if own != name], many))
        left = int((sizes == 1).sum())
        told.append({"column": name, "values": domain, "uniques_without": left})
    return told


def _m_unique(group: Ints, value: Ints) -> int:
    """The size of the smallest class if no value occurs twice in any; 1 otherwise, 0 if empty."""
    counts = cells(group, value)[2]
    if not counts.size:
        return 0
    return int(np.bincount(group).min()) if counts.max() == 1 else 1


def _signatures(group: Ints, value: Ints) -> list[bytes]:
    where, held, _ = cells(group, value)
    parts = np.split(held, np.flatnonzero(np.diff(where)) + 1)
    return [part.tobytes() for part in parts]


def _share(some: int, many: int) -> float:
    return some / many if many else 0.0
