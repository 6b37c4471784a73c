"""k-means: a grid of noisy counts to start from, then Lloyd's steps as questions (`k_means.md`)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.errors import QuestionError
from adomnia.mining.parts.arrays import Floats
from adomnia.mining.parts.estimator import Unsupervised
from adomnia.mining.parts.fitting import Fitting
from adomnia.mining.parts.histogram import ask_histogram, cells_of
from adomnia.mining.parts.moments import GroupKey, ask_moments, ask_rows, believed
from adomnia.mining.parts.statements import Bounds, bounds_of, decimal, identifier, present, select

__all__ = ["KMeans"]

SPLIT = {"rows": 1, "start": 10, "steps": 9}
MOST_CELLS, MOST_BINS, MOST_STEPS = 20_000, 12, 2
FINE = 10**5
"""Scores of centers are compared in such parts of one."""
HOPELESS, CLOSE = 1 / 2, 1 / (2 * MOST_BINS)
"""A step whose centers are off by more than the first (of a bound's width) is not taken: no place
in the middle is further off. Further steps are taken while centers are off by no more than the
second, half of the finest cell that the start can have."""
RESTARTS, ROUNDS = 8, 50


class KMeans(Unsupervised):
    """Clusters around k centers. Features are compared by their positions between their bounds.

    `split` gives weights to `rows` (how many there are), `start` (the grid that the first centers
    come from) and `steps` (Lloyd's, shared evenly). `steps` fixes their number, which is else
    chosen from the noise to be expected. `random_state` seeds the search on noisy counts. After
    `fit`, `cluster_centers_` has a row for each center, and `n_iter_` the number of steps.

    >>> from adomnia.testing.worlds import town
    >>> with town().open() as database:
    ...     model = KMeans(2).fit(database.session(), ["age", "income"], epsilon=5)
    >>> model.cluster_centers_.shape, model.predict([[30, 700], [40, 1800]]).shape
    ((2, 2), (2,))
    """

    _estimator_type = "clusterer"

    cluster_centers_: Floats
    widths_: Floats
    n_iter_: int

    def __init__(
        self,
        n_clusters: int = 8,
        steps: int | None = None,
        split: Mapping[str, Any] | None = None,
        random_state: int | None = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.steps = steps
        self.split = split
        self.random_state = random_state

    def check_parameters(self) -> None:
        """Refuse, by a QuestionError, numbers of clusters and steps that are none."""
        if not isinstance(self.n_clusters, int) or self.n_clusters < 1:
            raise QuestionError("n_clusters must be a whole number above zero")
        if self.steps is not None and (not isinstance(self.steps, int) or self.steps < 0):
            raise QuestionError("steps must be a whole number, or None to have it chosen")

    def parts(self, fit: Fitting) -> Mapping[str, Any]:
        """How many rows there are, the start, and Lloyd's steps."""
        return SPLIT

    def questions(self, features: Sequence[str]) -> int:
        """The rows, the start, and the steps."""
        return 2 + (self.steps or 1)

    def learn(self, fit: Fitting) -> None:
        """Find centers among the features' positions; they are kept in the features' own units.

        Raises a QuestionError where there are fewer different rows than clusters.
        """
        bounds = bounds_of(fit.session, fit.features)
        if self.n_clusters > cells_of(bounds, self.n_clusters):
            raise QuestionError(
                f"there are fewer than {self.n_clusters} different rows within these bounds",
                "ask for fewer clusters, or take more features",
            )
        centers = self._centers(fit, bounds)
        low = np.array([float(bound.low) for bound in bounds])
        width = np.array([float(bound.width) for bound in bounds])
        self.widths_ = np.where(width > 0, width, 1.0)
        self.cluster_centers_ = low + width * centers

    def predict(self, rows: Any) -> NDArray[np.int64]:
        """The place of the nearest center of each public row."""
        found: NDArray[np.int64] = self.transform(rows).argmin(axis=1)
        return found

    def transform(self, rows: Any) -> Floats:
        """The distance of each public row to each center, in widths of the bounds."""
        values = self.numbers(rows) / self.widths_
        centers = self.cluster_centers_ / self.widths_
        out: Floats = np.sqrt(((values[:, None, :] - centers) ** 2).sum(axis=2))
        return out

    def score(self, rows: Any, truth: Any = None) -> float:
        """Minus the sum of squared distances of public rows to their centers."""
        return -float((self.transform(rows).min(axis=1) ** 2).sum())

    def _centers(self, fit: Fitting, bounds: Sequence[Bounds]) -> Floats:
        """The centers, as positions."""
        rows = ask_rows(fit, self.split_["rows"])
        if rows < self.n_clusters:
            fit.note("there seem to be fewer rows than clusters: some centers are arbitrary")
        steps = self._steps(rows, len(bounds))
        if not steps:  # what no step can use goes to the start
            self.split_ = {**self.split_, "steps": Fraction(0),
                           "start": self.split_["start"] + self.split_["steps"]}  # fmt: skip
        fit.total = 2 + steps
        centers = self._start(fit, bounds, rows)
        for _ in range(steps):
            centers = _lloyd(fit, bounds, centers, self.split_["steps"] / steps)
        self.n_iter_ = steps
        return centers

    def _steps(self, rows: float, width: int) -> int:
        """How many of Lloyd's steps pay, from what is public: more of them have more noise each."""
        if self.steps is not None or not self.split_["steps"]:
            return (self.steps or 0) if self.split_["steps"] else 0
        off = width * self.n_clusters / (float(self.split_["steps"]) * rows)
        if off > HOPELESS:
            return 0
        return max(1, min(MOST_STEPS, int(CLOSE / off)))

    def _start(self, fit: Fitting, bounds: Sequence[Bounds], rows: float) -> Floats:
        """Centers of a grid's noisy counts; of the widest columns, where all would be too many."""
        share, draw = self.split_["start"], np.random.default_rng(self.random_state)
        if not share:
            return draw.random((self.n_clusters, len(bounds)))
        most = min(MOST_CELLS, max(self.n_clusters, 2, int(rows * float(share) / 2)))
        if cells_of(bounds, 2) <= most:
            columns, centers = list(range(len(bounds))), np.zeros((self.n_clusters, len(bounds)))
        else:
            found = ask_moments(fit, bounds, share / 2)
            columns = _widest(found.variance[0], bounds, most)
            middle = believed(found.mean[0], found.scale / found.rows[0])
            centers = np.tile(middle, (self.n_clusters, 1))
            share /= 2
        some = [bounds[place] for place in columns]
        grid = ask_histogram(fit, some, _bins(some, most), share)
        weights = grid.weights(rows)
        if (weights > 0).sum() < self.n_clusters:
            fit.note("fewer cells than clusters stand out of the noise: some centers are arbitrary")
        centers[:, columns] = cluster(grid.points(), weights, self.n_clusters, draw)
        return centers


def _widest(variance: Floats, bounds: Sequence[Bounds], most: int) -> list[int]:
    """The columns that vary most, as many as a grid of two bins each has room for."""
    kept: list[int] = []
    for place in np.argsort(-variance, kind="stable").tolist():
        if cells_of([bounds[i] for i in [*kept, place]], 2) > most:
            break
        kept.append(place)
    return sorted(kept) or [int(variance.argmax())]


def _bins(bounds: Sequence[Bounds], most: int) -> int:
    """As many bins a column as keep the cells within `most`."""
    return max([2, *(bins for bins in range(2, MOST_BINS + 1) if cells_of(bounds, bins) <= most)])


def _lloyd(fit: Fitting, bounds: Sequence[Bounds], centers: Floats, share: Fraction) -> Floats:
    """One of Lloyd's steps: rows go to the nearest center, in SQL, and centers to their means.

    Means are believed as far as they move beyond their noise; a cluster that may be empty stays.
    """
    source = _assigned(fit, bounds, centers)
    expression = '"nearest"' if len(centers) > 1 else ""
    cells = GroupKey(expression, list(range(len(centers))), source)
    found = ask_moments(fit, bounds, share, cells, degree=1)
    noise = np.broadcast_to((found.scale / found.rows[:, None]) ** 2, centers.shape)
    move = np.clip(found.mean, 0, 1) - centers
    sure = found.rows > 2 * found.scale / len(bounds) ** 0.5
    if not sure.any():
        return centers
    beyond = max(0.0, float((move**2 - noise)[sure].mean()))
    trust = beyond / np.maximum(beyond + noise, 1e-300)
    return np.where(sure[:, None], centers + trust * move, centers)


def _assigned(fit: Fitting, bounds: Sequence[Bounds], centers: Floats) -> str:
    """Rows with the number of their nearest center: of c, the one with the largest c·x - c·c/2.

    The number rides on the score as its last digit in base k, so the greatest score brings its
    own, and a statement has k scores in the place of k² comparisons.
    """
    columns = {bound.name: identifier(bound.name) for bound in bounds}
    count = len(centers)
    if count == 1:
        return select(fit.session, columns, where=present(bounds))
    scores = _scores(bounds, centers)
    tagged = [f"ROUND({score}) * {count} + {place}" for place, score in enumerate(scores)]
    nearest = f"GREATEST({', '.join(tagged)}) % {count}"
    return select(fit.session, {**columns, "nearest": nearest}, where=present(bounds))


def _scores(bounds: Sequence[Bounds], centers: Floats) -> list[str]:
    """The score of each center, in whole parts of `FINE`, none below zero.

    What all centers have in common decides nothing: it is taken off, and a column in which they
    agree drops out.
    """
    apart = centers - centers.mean(axis=0)
    apart[:, np.ptp(centers, axis=0) < 1 / FINE] = 0.0
    constant = -(centers**2).sum(axis=1) / 2
    least = (np.minimum(apart, 0.0).sum(axis=1) + constant).min()
    return [
        _score(bounds, FINE * slopes, FINE * float(rest - least) + 1)
        for slopes, rest in zip(apart, constant, strict=True)
    ]


def _score(bounds: Sequence[Bounds], slopes: Floats, constant: float) -> str:
    """A linear function of positions, in the columns' own units, to about one part in `FINE`."""
    terms = []
    for bound, slope in zip(bounds, slopes.tolist(), strict=True):
        if bound.width == 0 or slope == 0:
            continue
        places = max(0, math.ceil(math.log10(bound.width)))
        own = Fraction(round(slope * 10**places / float(bound.width)), 10**places)
        constant -= float(own * bound.low)
        terms.append(f"{decimal(own)} * {identifier(bound.name)}")
    return " + ".join([*terms, decimal(round(constant))])


def cluster(points: Floats, weights: Floats, count: int, draw: np.random.Generator) -> Floats:
    """Weighted k-means of public points: the best of several starts chosen far apart."""
    kept = weights > 0
    if kept.sum() < count:
        extra = draw.permutation(np.flatnonzero(~kept))[: count - int(kept.sum())]
        kept[extra] = True
        weights = np.where(weights > 0, weights, 1e-9)
    points, weights = points[kept], weights[kept]
    tried = [_descend(points, weights, _apart(points, weights, count, draw))
             for _ in range(RESTARTS)]  # fmt: skip
    return min(tried, key=lambda found: found[1])[0]


def _apart(points: Floats, weights: Floats, count: int, draw: np.random.Generator) -> Floats:
    """Points drawn one after the other, by weight times squared distance to those drawn."""
    chosen = [int(draw.choice(len(points), p=weights / weights.sum()))]
    distance = _squares(points, points[chosen])[:, 0]
    while len(chosen) < count:
        mass = weights * distance
        total = mass.sum()
        chance = mass / total if total > 0 else np.full(len(points), 1 / len(points))
        chosen.append(int(draw.choice(len(points), p=chance)))
        distance = np.minimum(distance, _squares(points, points[chosen[-1:]])[:, 0])
    return points[chosen]


def _descend(points: Floats, weights: Floats, centers: Floats) -> tuple[Floats, float]:
    for _ in range(ROUNDS):
        nearest = _squares(points, centers).argmin(axis=1)
        mass = np.bincount(nearest, weights, len(centers))
        moved = np.stack(
            [np.bincount(nearest, weights * axis, len(centers)) for axis in points.T], axis=1
        )
        fresh = np.where(mass[:, None] > 0, moved / np.maximum(mass, 1e-300)[:, None], centers)
        if np.allclose(fresh, centers):
            break
        centers = fresh
    return centers, float(weights @ _squares(points, centers).min(axis=1))


def _squares(points: Floats, centers: Floats) -> Floats:
    out: Floats = np.maximum(
        (points**2).sum(axis=1)[:, None] - 2 * points @ centers.T + (centers**2).sum(axis=1), 0.0
    )
    return out
