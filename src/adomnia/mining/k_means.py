"""k-means: a grid of noisy counts to start from, then Lloyd's steps as questions (`k_means.md`)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from adomnia.errors import QuestionError
from adomnia.mining.estimator import Estimator, Fitting, Watch, shares
from adomnia.mining.questions import Bounds, bounds_of, decimal, identifier, select
from adomnia.mining.synopsis import (
    Cells,
    ask_grid,
    ask_moments,
    ask_rows,
    believed,
    cells_of,
    present,
)
from adomnia.privacy.loss import Amount

if TYPE_CHECKING:
    from adomnia.curator.session import Session

__all__ = ["KMeans"]

Floats = NDArray[np.float64]
SPLIT = {"rows": 1, "start": 10, "steps": 9}
MOST_CELLS, MOST_BINS, MOST_STEPS, MOST_TERMS = 20_000, 12, 2, 1500
HOPELESS, CLOSE = 0.5, 0.03
"""A step whose centers are off by more than the first (of a bound's width) is not taken; the
second is how far off they may be so that another step is worth its price."""
RESTARTS, ROUNDS = 8, 50


class KMeans(Estimator):
    """Clusters around k centers. Features are compared by their positions between their bounds.

    `split` gives weights to `rows` (how many there are), `start` (the grid that the first centers
    come from) and `steps` (Lloyd's, shared evenly). `steps` fixes their number, which is else
    chosen from the noise to be expected. `random_state` seeds the search on noisy counts.
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

    def fit(
        self,
        session: Session,
        features: Sequence[str],
        *,
        epsilon: Amount,
        progress: bool | Watch = False,
    ) -> Self:
        """Find centers; each question is paid by the session."""
        with self.fitting(session, 2 + (self.steps or 1), progress) as fit:
            bounds = bounds_of(session, features)
            self._check(bounds)
            self.split_ = shares(epsilon, self.split, SPLIT)
            self._takes(features)
            centers = self._learn(fit, bounds)
            low = np.array([float(bound.low) for bound in bounds])
            width = np.array([float(bound.width) for bound in bounds])
            self.widths_ = np.where(width > 0, width, 1.0)
            self.cluster_centers_ = low + width * centers
        return self

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

    def _check(self, bounds: Sequence[Bounds]) -> None:
        if not isinstance(self.n_clusters, int) or self.n_clusters < 1:
            raise QuestionError("n_clusters must be a whole number above zero")
        if self.steps is not None and (not isinstance(self.steps, int) or self.steps < 0):
            raise QuestionError("steps must be a whole number, or None to have it chosen")
        if self.n_clusters > cells_of(bounds, self.n_clusters):
            raise QuestionError(
                f"there are fewer than {self.n_clusters} different rows within these bounds",
                "ask for fewer clusters, or take more features",
            )

    def _learn(self, fit: Fitting, bounds: Sequence[Bounds]) -> Floats:
        """The centers, as positions."""
        rows = ask_rows(fit, self.split_["rows"])
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
        many = width * self.n_clusters**2 > MOST_TERMS  # such statements take seconds each
        return max(1, min(1 if many else MOST_STEPS, int(CLOSE / off)))

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
        grid = ask_grid(fit, some, _bins(some, most), share)
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
    cells = Cells(expression, list(range(len(centers))), source)
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
    """Rows with their nearest center: of c, the one with the largest c·x - c·c/2."""
    scores = {f"score{j}": _score(bounds, center) for j, center in enumerate(centers)}
    columns = {bound.name: identifier(bound.name) for bound in bounds}
    scored = select(fit.session, {**columns, **scores}, where=present(bounds))
    last = len(centers) - 1
    tests = [
        f"WHEN {' AND '.join(f'score{j} >= score{i}' for i in range(j + 1, last + 1))} THEN {j}"
        for j in range(last)
    ]
    if not tests:
        return scored
    nearest = f"CASE {' '.join(tests)} ELSE {last} END"
    return select(fit.session, {**columns, "nearest": nearest}, source=scored)


def _score(bounds: Sequence[Bounds], center: Floats) -> str:
    """The score of a center in the columns' own units, to five figures of each width."""
    terms, constant = [], float(center @ center) / 2
    for bound, place in zip(bounds, center.tolist(), strict=True):
        if bound.width == 0:
            continue
        places = 5 + max(0, math.ceil(math.log10(bound.width)))
        slope = round(place / float(bound.width), places)
        constant += slope * float(bound.low)
        if slope:
            terms.append(f"{decimal(slope, places)} * {identifier(bound.name)}")
    return " + ".join([*terms, decimal(-constant, 5)])


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
