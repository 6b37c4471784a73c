"""Section 5.1, adaptive adversaries: medians, and then a question about the noise in them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from experiments.claim import Claim, Found, Scale, Table
from experiments.front import Front
from experiments.measured import Measured, Share, share

__all__ = ["ADAPTIVE"]

Row = tuple[int, int]
VALUES = (0, 1, 2)
ROWS = list(itertools.product(VALUES, repeat=2))
BOB, OFTEN = 0, 200
PEOPLE = np.array([0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 6, 7])
"""One column of a town; its neighbour has Bob besides, who lies below every median."""


def theorem_five(scale: Scale) -> Found:
    """The example's strategy, on all small tables, and as it can be asked here."""
    sigma, towns, batches = 2, 2000, scale.pick(2, 40)  # statements have 10,000 words at most
    small = [_tables(n, sigma) for n in range(1, 5)]
    right = all(found <= bound + 1e-9 and found > 0.99 * bound for _, _, bound, found in small)
    grows = small[-1][1] > small[0][1]
    played = _played(Fraction(1, 2), towns, batches)
    spent = float(played.spent)
    kept = not any(found.above(spent) for _, _, found in played.ratios)
    most = max((found for _, _, found in played.ratios), key=lambda one: one.value)
    return Found(
        f"largest log-ratio {small[-1][3]:.3f}, bound ΔF/σ = {small[-1][2]:.3f}; through the front "
        f"door up to {most} for {spent:g} spent",
        right and kept and played.spent == 1,
        "The second question is the example's: if the reported median of column 1 exceeds the true "
        "one, then how many are in S, else how many in T. It depends on the noise, and the loss "
        f"{'is' if right else 'is not'} that of the strategy. Its sensitivity "
        f"{'grows with the table' if grows else 'does not grow with the table'}: one row moves the "
        "median past what was reported, and then the number in S stands against that in T. "
        "A statement here cannot speak of the true median, but how many lie below the "
        "reported one tells the sign of its noise: who asks that, choosing the question by the "
        f"answer, is right about the sign in {played.sign} of the towns, pays for both answers, "
        f"and tells the neighbours apart {'no better' if kept else 'better'} than was paid for.",
        f"all tables of up to {small[-1][0]} rows and one row more, two columns of {len(VALUES)} "
        f"values, σ = {sigma}; at the front door {towns * batches:,} towns of {PEOPLE.size} people "
        "and as many with Bob besides, ε = 1/2 for each of two questions; medians are drawn by "
        "the exponential mechanism, not with Laplace noise",
        [Table(("rows", "ΔF", "ΔF/σ", "largest log-ratio"), small, "All small tables"),
         Table(("reported median", "seems to exceed the true one", "log-ratio, drawn"),
               played.ratios, f"Through the front door: events of {OFTEN} towns or more")],
    )  # fmt: skip


# On paper: every table, every neighbour, every report


def _tables(n: int, sigma: int) -> tuple[int, float, float, float]:
    """ΔF over all tables of n rows and one row more, ΔF/σ, and the largest log-ratio there is."""
    delta = worst = 0.0
    tables = itertools.combinations_with_replacement(ROWS, n)
    for rows, more, reported in itertools.product(tables, ROWS, range(-1, 4)):
        one, other = (_strategy(table, reported) for table in (rows, (*rows, more)))
        gaps = [abs(a - b) for a, b in zip(one, other, strict=True)]
        delta = max(delta, sum(gaps))
        # The first report is given; the others are worst where they lie beyond both answers.
        first = abs(abs(reported - one[0]) - abs(reported - other[0]))
        worst = max(worst, (first + sum(gaps[1:])) / sigma)
    return n, delta, delta / sigma, worst


def _strategy(rows: Sequence[Row], reported: int) -> tuple[float, float, int]:
    """The medians of both columns; then, if more was reported than is true, S, else T."""
    medians = [sorted(column)[len(rows) // 2] for column in zip(*rows, strict=True)]
    chosen = 0 if reported > medians[0] else 1
    return medians[0], medians[1], sum(row[chosen] >= 1 for row in rows)


# At the front door


@dataclass(frozen=True)
class Played:
    """What came of the towns: log-ratios of events, how often the sign was right, the price."""

    ratios: list[tuple[int, str, Measured]]
    sign: Share
    spent: Fraction


def _played(epsilon: Fraction, towns: int, batches: int) -> Played:
    told = [_batch(epsilon, towns) for _ in range(batches)]
    medians, above = (np.concatenate([one[part] for one in told]) for part in (0, 1))
    bob = np.tile(np.repeat((False, True), towns), batches)
    truth = np.where(bob, np.median(np.append(PEOPLE, BOB)), np.median(PEOPLE))
    off = medians != truth
    right = (above == (medians > truth))[off]
    events = {
        (int(median), said): (medians == median) & (above == (said == "yes"))
        for median in np.unique(medians)
        for said in ("no", "yes")
    }
    ratios = [
        (*name, _log_ratio(event & bob, event & ~bob))
        for name, event in events.items()
        if event.sum() >= OFTEN
    ]
    return Played(ratios, share(int(right.sum()), right.size), told[0][2])


def _batch(epsilon: Fraction, towns: int) -> tuple[NDArray, NDArray, Fraction]:
    """Medians told of towns without and with Bob, whether they seem too high, and the price."""
    with_bob = np.append(PEOPLE, BOB)
    columns = {
        "town": np.repeat(np.arange(2 * towns), np.repeat((PEOPLE.size, with_bob.size), towns)),
        "a": np.concatenate([np.tile(PEOPLE, towns), np.tile(with_bob, towns)]),
    }
    front = Front(columns, {"town": 2 * towns, "a": 8}, "epsilon = 2")
    with front, front.open() as database:
        session = database.session()
        sql = "SELECT town, MEDIAN(a) AS m FROM people GROUP BY town ORDER BY town"
        medians = np.array([m for _, m in session.ask(sql, epsilon).rows])
        below = " OR ".join(
            f"(town IN ({', '.join(map(str, np.flatnonzero(medians == m)))}) AND a < {m})"
            for m in np.unique(medians).tolist()
        )
        sql = f"SELECT town, COUNT(*) AS n FROM people WHERE {below} GROUP BY town ORDER BY town"
        counts = np.array([n for _, n in session.ask(sql, epsilon).rows])
        return medians, counts > PEOPLE.size / 2, 2 - session.remaining()["epsilon"]


def _log_ratio(one: NDArray, other: NDArray) -> Measured:
    hits = int(one.sum()) + 1, int(other.sum()) + 1
    error = float(np.sqrt(1 / hits[0] + 1 / hits[1]))
    return Measured(abs(float(np.log(hits[0] / hits[1]))), error, min(hits))


ADAPTIVE = (
    Claim("001", "Theorem 5",
          "An adaptive strategy, also one that asks about the noise that was added, loses no more "
          "than ΔF/σ: medians first, and then 'if the reported median exceeds the true one, then "
          "… else …'.",
          "ΔF/σ", theorem_five, seconds=(3, 60)),
)  # fmt: skip
