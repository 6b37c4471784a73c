"""Chi-squared where the margins are public: the root's sensitivity, kappa and the p-value.

All of it is computed from public numbers (`chi_squared.md`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, isqrt, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from adomnia.errors import QuestionError
from adomnia.priors.solver.effort import Effort
from adomnia.priors.solver.induced_sensitivity import solve
from adomnia.priors.solver.system import System

__all__ = ["Margins", "Root", "choose_kappa", "p_value", "root", "square", "square_known"]

FINE = 20
"""The noise spans at least 2^FINE steps of the lattice at epsilon 1, so rounding costs nothing."""
LEVEL = 0.05
DAMPINGS = tuple(Fraction(4) ** power for power in range(-2, 4))
EFFECTS = 16
NEAR = 0.005
AT_ONCE = 4_000_000
URN = 10**9
"""More than this is not drawn from without replacement."""
Floats = NDArray[np.float64]
Margins = tuple[Sequence[int], Sequence[int]]
"""The public sums of the rows and of the columns."""


@dataclass(frozen=True)
class Root:
    """The regularised root statistic floor(2^places sqrt(X2_kappa)) of a table with public margins.

    `sensitivity` bounds, in steps of the lattice, how far it differs between induced neighbours.
    """

    margins: Margins
    kappa: Fraction
    places: int
    sensitivity: int

    def scale(self, epsilon: Fraction) -> Fraction:
        """The scale of integer Laplace noise, in steps of the lattice."""
        if epsilon <= 0:
            raise ValueError("epsilon is positive")
        return self.sensitivity / Fraction(epsilon)


def root(margins: Margins, kappa: Fraction, known: Fraction | None = None) -> Root:
    """The statistic and its lattice; `known` is a bound of `square_known` to be used instead."""
    bound = square(margins, kappa) if known is None else known
    if bound <= 0:
        raise QuestionError(
            "what is public determines the table",
            "compute chi-squared from it: there is nothing to protect, and nothing to ask",
        )
    places = max(0, _digits(bound) + 1)
    return Root(margins, kappa, places, _root_above(bound * 4**places))


def _digits(value: Fraction) -> int:
    """The greatest d with value * 4^d below 4^FINE; the value is positive."""
    digits = 0
    while value * Fraction(4) ** digits >= 4**FINE:
        digits -= 1
    while value * Fraction(4) ** (digits + 1) < 4**FINE:
        digits += 1
    return digits


def _root_above(value: Fraction) -> int:
    """The least integer whose square is not below the value, which is positive."""
    return isqrt(ceil(value) - 1) + 1


# Sensitivity


def square(margins: Margins, kappa: Fraction) -> Fraction:
    """A bound of the squared sensitivity of sqrt(X2_kappa), the margins alone being public.

    With two rows or two columns it is the weighted length of the longest move, squared.
    """
    rows, columns = _live(margins)
    if kappa < 0:
        raise ValueError("kappa is not negative")
    total = sum(rows)
    most = min(len(rows), len(columns))
    matched = zip(rows[:most], columns[:most], strict=True)
    return min(
        _two_heaviest(rows, columns, kappa),
        _two_heaviest(columns, rows, kappa),
        sum((Fraction(2 * total, r * c) for r, c in matched), Fraction(0)),
    )


def _two_heaviest(some: list[int], others: list[int], kappa: Fraction) -> Fraction:
    """The sum over as many of the least of `some` as a cycle can use, of their two heaviest cells.

    Both lists ascend; the heaviest cells of a row lie in the columns with the least sums.
    """
    total = sum(some)
    expected = (Fraction(one * other, total) for one in some[: len(others)] for other in others[:2])
    return sum((1 / (one + kappa) for one in expected), Fraction(0))


def square_known(
    system: System,
    margins: Margins,
    kappa: Fraction,
    cells: Any = None,
    *,
    effort: Effort | None = None,
) -> Fraction:
    """The same where more is public: `system` over its own cells, the margins among its rows.

    `cells` maps the system's cells to those of the table (one row for each of these, in C order);
    without it they are the same.
    """
    rows, _ = _live(margins)
    weights = [
        1 / (Fraction(r * c, sum(rows)) + kappa) if r * c else Fraction(0)
        for r in margins[0]
        for c in margins[1]
    ]
    digits = _digits(max(weights))
    roots = [_root_above(w * Fraction(4) ** digits) if w else 0 for w in weights]
    asked = sparse.diags_array(np.array(roots, np.int64), dtype=np.int64)
    if cells is not None:
        asked = asked @ sparse.csc_array(cells, dtype=np.int64)
    bound = solve(system, sparse.csc_array(asked), 2, effort=effort)
    return bound.upper / Fraction(4) ** digits


# Kappa


def choose_kappa(
    margins: Margins, epsilon: Fraction, *, draws: int = 2000, seed: int = 0
) -> Fraction:
    """The least damping that has about the most simulated power, over many associations.

    Zero, or the median expected count times a power of four. It depends on nothing but the public
    margins, epsilon and the seed.
    """
    if epsilon <= 0:
        raise ValueError("epsilon is positive")
    rows, columns = _live(margins)
    expected = sorted(Fraction(r * c, sum(rows)) for r in rows for c in columns)
    median = expected[len(expected) // 2]
    trial = _Trial(rows, columns, float(epsilon), min(draws, 1 + AT_ONCE // len(expected)), seed)
    powers = {
        kappa: trial.power(kappa) for kappa in (Fraction(0), *(median * by for by in DAMPINGS))
    }
    enough = max(powers.values()) - NEAR
    return next(kappa for kappa, power in powers.items() if power >= enough)


class _Trial:
    """Tables without association, directions of association, and noise, the same for all kappa."""

    def __init__(
        self, rows: list[int], columns: list[int], epsilon: float, draws: int, seed: int
    ) -> None:
        chance = np.random.default_rng(seed)
        self._margins, self._epsilon = (rows, columns), epsilon
        self._expected = _expected(rows, columns)
        tables = np.concatenate(list(_tables(rows, columns, draws, chance)))
        self._deviations = tables - self._expected
        self._noise = chance.laplace(size=(2, draws))
        scores = [_scores(side, draws, chance) for side in (rows, columns)]
        associations = scores[0][:, :, None] * scores[1][:, None, :]
        self._directions = self._expected * associations / sqrt(sum(rows))
        most = sqrt(sum(rows) * (min(len(rows), len(columns)) - 1))
        self._effects = np.geomspace(min(1.0, most), most, EFFECTS)

    def power(self, kappa: Fraction) -> float:
        """The mean power over effects of all sizes, at the level .05."""
        weights = 1 / (self._expected + float(kappa))
        noise = self._noise * sqrt(square(self._margins, kappa)) / self._epsilon
        still, mixed, moved = (
            (weights * one * other).sum(axis=(1, 2))
            for one, other in (
                (self._deviations, self._deviations),
                (self._deviations, self._directions),
                (self._directions, self._directions),
            )
        )
        critical = np.quantile(np.sqrt(still) + noise[0], 1 - LEVEL)
        effects = self._effects[:, None]
        squares = still + 2 * effects * mixed + effects**2 * moved
        return float((np.sqrt(np.maximum(squares, 0)) + noise[1] > critical).mean())


def _scores(sums: list[int], draws: int, chance: np.random.Generator) -> Floats:
    """Random scores of the rows or columns: mean 0 and variance 1 under their shares.

    In half of the draws rare ones have scores like the others, in half they have as large a part
    in the variance: associations among the many, and among the few.
    """
    shares = np.array(sums) / sum(sums)
    scores = chance.normal(size=(draws, len(sums)))
    scores[::2] /= np.sqrt(shares)
    scores -= (scores @ shares)[:, None]
    found: Floats = scores / np.sqrt((scores**2) @ shares)[:, None]
    return found


# The p-value


def p_value(
    statistic: int, root: Root, scale: Fraction, *, draws: int = 10_000, seed: int = 0
) -> float:
    """How often a table without association, with the same noise, has such a root or a larger one.

    `statistic` and `scale` are in steps of the lattice. Rounding errors count against a finding.
    """
    if draws < 1:
        raise ValueError("a p-value needs at least one draw")
    rows, columns = _live(root.margins)
    chance = np.random.default_rng(seed)
    expected = _expected(rows, columns)
    weights = 1 / (expected + float(root.kappa))
    bar = statistic - 2 - 1e-9 * abs(statistic)
    larger = 0
    for tables in _tables(rows, columns, draws, chance):
        roots = np.sqrt((weights * (tables - expected) ** 2).sum(axis=(1, 2)))
        steps = np.floor(chance.exponential(float(scale), (2, len(tables))))
        larger += int((np.floor(roots * 2.0**root.places) + steps[0] - steps[1] >= bar).sum())
    return (1 + larger) / (1 + draws)


def _tables(
    rows: list[int], columns: list[int], draws: int, chance: np.random.Generator
) -> Iterator[NDArray[np.int64]]:
    """Tables with these margins and no association, some at a time."""
    if sum(rows) >= URN:
        raise QuestionError("a p-value is simulated for less than a thousand million rows")
    step = 1 + AT_ONCE // (len(rows) * len(columns))
    for start in range(0, draws, step):
        yield _drawn(rows, columns, min(step, draws - start), chance)


def _drawn(
    rows: list[int], columns: list[int], size: int, chance: np.random.Generator
) -> NDArray[np.int64]:
    """Row after row is drawn without replacement from what is left of the columns."""
    left = np.tile(np.array(columns, np.int64), (size, 1))
    tables = np.empty((size, len(rows), len(columns)), np.int64)
    for place, row in enumerate(rows[:-1]):
        missing, rest = np.full(size, row), left.sum(axis=1)
        for column in range(len(columns) - 1):
            rest = rest - left[:, column]
            taken = chance.hypergeometric(left[:, column], rest, missing)
            tables[:, place, column] = taken
            missing = missing - taken
        tables[:, place, -1] = missing
        left -= tables[:, place]
    tables[:, -1] = left
    return tables


def _expected(rows: list[int], columns: list[int]) -> Floats:
    found: Floats = np.multiply.outer(np.array(rows, float), columns) / sum(rows)
    return found


def _live(margins: Margins) -> tuple[list[int], list[int]]:
    """The sums of the rows and of the columns that are not empty, ascending."""
    rows, columns = ([int(part) for part in side] for side in margins)
    if min([0, *rows, *columns]) < 0 or sum(rows) != sum(columns):
        raise QuestionError(
            "these are not the margins of one table",
            "row sums and column sums are counts with the same total",
        )
    live = sorted(part for part in rows if part), sorted(part for part in columns if part)
    if min(map(len, live)) < 2:
        raise QuestionError(
            "the margins determine the table",
            "independence can be tested if two rows and two columns are not empty",
        )
    return live
