"""Principal components: the eigenvectors of noisy covariances (`components.md`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from adomnia.errors import QuestionError
from adomnia.mining.parts.arrays import Floats
from adomnia.mining.parts.covariance import (
    Covariance,
    CovarianceMethod,
    by_grids,
    by_moments,
    by_products,
    covariance_methods,
)
from adomnia.mining.parts.estimator import Unsupervised
from adomnia.mining.parts.fitting import Fitting
from adomnia.mining.parts.moments import ask_rows, shrunk
from adomnia.mining.parts.statements import Bounds, bounds_of

__all__ = ["PCA"]

SPLIT = {"rows": 1, "moments": 6, "pairs": 13}
Method = Literal["grids", "sides", "products", "moments"]
METHODS: tuple[Method, ...] = get_args(Method)
LEAST = 1e-9


class PCA(Unsupervised):
    """Principal components of features, measured by their positions between their bounds.

    `split` gives weights to `rows`, `moments` and `pairs`; grids take the last two together, and so
    do products where there is little noise, evenly for each of them.
    `method` is `grids`, `sides`, `products` or `moments`; without it the one with the least error
    to be expected is taken. With `centered=False` the second moments around the low bounds are
    taken in the place of covariances: the singular value decomposition. With `scaled=False`
    features keep their own units. After `fit`, `components_` has a row for each component,
    `explained_variance_` what it explains, and `method_` how it was asked.

    >>> from adomnia.testing.worlds import town
    >>> with town().open() as database:
    ...     model = PCA(1).fit(database.session(), ["age", "income"], epsilon=5)
    >>> model.components_.shape, model.transform([[30, 700]]).shape, model.method_ in METHODS
    ((1, 2), (1, 1), True)
    """

    _estimator_type = "transformer"

    components_: Floats
    explained_variance_: Floats
    explained_variance_ratio_: Floats
    mean_: Floats
    widths_: Floats
    method_: str

    def __init__(
        self,
        n_components: int = 2,
        centered: bool = True,
        scaled: bool = True,
        method: Method | None = None,
        split: Mapping[str, Any] | None = None,
    ) -> None:
        self.n_components = n_components
        self.centered = centered
        self.scaled = scaled
        self.method = method
        self.split = split

    def check_parameters(self) -> None:
        """Refuse, by a QuestionError, a method that is not known."""
        if self.method is not None and self.method not in METHODS:
            raise QuestionError("this method is not known", "known are: " + ", ".join(METHODS))

    def parts(self, fit: Fitting) -> Mapping[str, Any]:
        """How many rows there are, moments of columns, and what is asked of pairs."""
        return SPLIT

    def questions(self, features: Sequence[str]) -> int:
        """The rows, the moments, and the pairs."""
        return 3

    def learn(self, fit: Fitting) -> None:
        """Ask for covariances, and keep their leading eigenvectors.

        Raises a QuestionError where there are fewer features than components, or the split leaves
        nothing for them.
        """
        bounds = bounds_of(fit.session, fit.features)
        if not isinstance(self.n_components, int) or not 1 <= self.n_components <= len(bounds):
            raise QuestionError(
                f"n_components must be a whole number from 1 to the number of features, "
                f"{len(bounds)}"
            )
        if self.split_["moments"] + self.split_["pairs"] == 0:
            raise QuestionError("split leaves nothing for moments and pairs")
        found = self._ask(fit, bounds)
        if _off(found) > 1:
            fit.note("the noise is wider than the covariances: use a larger epsilon")
        self._keep(found, bounds)

    def transform(self, rows: Any) -> Floats:
        """Public rows in the coordinates of the components."""
        values = (self.numbers(rows) - self.mean_) / self.widths_
        out: Floats = values @ self.components_.T
        return out

    def inverse_transform(self, rows: Any) -> Floats:
        """Rows with these coordinates, in the features' own units."""
        self.check_fitted()
        out: Floats = self.mean_ + np.asarray(rows) @ self.components_ * self.widths_
        return out

    def _ask(self, fit: Fitting, bounds: Sequence[Bounds]) -> Covariance:
        rows = ask_rows(fit, self.split_["rows"])
        moments, pairs = self.split_["moments"], self.split_["pairs"]
        way = self._way(bounds, rows, float(moments + pairs), float(moments / (moments + pairs)))
        self.method_ = way.name
        if way.name == "grids":
            self.split_ = {**self.split_, "moments": Fraction(0), "pairs": moments + pairs}
            return by_grids(fit, bounds, way, moments + pairs, rows)
        if way.at_once(len(bounds)):
            share = Fraction(2, len(bounds) + 1) * (moments + pairs)
            self.split_ = {**self.split_, "moments": share, "pairs": moments + pairs - share}
            return by_products(fit, bounds, moments + pairs)
        if way.name == "moments":
            self.split_ = {**self.split_, "moments": moments + pairs, "pairs": Fraction(0)}
        return by_moments(fit, bounds, way, self.split_["moments"], self.split_["pairs"])

    def _way(
        self, bounds: Sequence[Bounds], rows: float, epsilon: float, split: float
    ) -> CovarianceMethod:
        found = covariance_methods(bounds, rows, epsilon, split)
        asked = [way for way in found if self.method in (None, way.name)]
        return asked[0] if asked else found[0]  # one column has no pairs

    def _keep(self, found: Covariance, bounds: Sequence[Bounds]) -> None:
        low = np.array([float(bound.low) for bound in bounds])
        width = np.array([float(bound.width) for bound in bounds])
        matrix, mean = believed_matrix(found), np.clip(found.mean, 0.0, 1.0)
        if not self.centered:
            matrix, mean = matrix + np.outer(mean, mean), np.zeros(len(bounds))
        self.mean_ = low + width * mean
        self.widths_ = np.where(width > 0, width, 1.0) if self.scaled else np.ones(len(bounds))
        unit = np.ones(len(bounds)) if self.scaled else width
        values, vectors = np.linalg.eigh(matrix * np.outer(unit, unit))
        values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1].T
        signs = np.sign(vectors[np.arange(len(vectors)), np.abs(vectors).argmax(axis=1)])
        self.components_ = (vectors * signs[:, None])[: self.n_components]
        self.explained_variance_ = values[: self.n_components]
        self.explained_variance_ratio_ = self.explained_variance_ / max(values.sum(), LEAST)


def _off(found: Covariance) -> float:
    """The noise of a variance in multiples of the largest that bounds allow."""
    return float(np.diag(found.noise).mean()) / 0.25


def believed_matrix(found: Covariance) -> Floats:
    """Covariances as far as they stand out of their noise, with no negative eigenvalue.

    Variances are shrunk to their mean (empirical Bayes). Of the others only what stands out of
    the spectrum of noise alone is kept, none beyond what its variances allow. Then the matrix is
    the nearest with eigenvalues of zero or more.
    """
    variance, _ = shrunk(np.diag(found.matrix).copy(), np.diag(found.noise), LEAST)
    variance = np.clip(variance, LEAST, 0.25)
    apart = ~np.eye(len(variance), dtype=bool)
    most = np.sqrt(np.outer(variance, variance))
    shared = np.clip(_standing_out(found, apart), -most, most)
    matrix = np.where(apart, shared, np.diag(variance))
    values, vectors = np.linalg.eigh(matrix)
    out: Floats = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return out


def _standing_out(found: Covariance, apart: NDArray[np.bool_]) -> Floats:
    """The covariances without what noise explains: a symmetric matrix of noise s has eigenvalues
    up to 2 s sqrt(d) (Wigner), and one of the sum, l, comes from sqrt(l² - 4 s² d) in best guess.
    """
    shared = np.where(apart, found.matrix, 0.0)
    if not apart.any():
        return shared
    edge = 4 * float((found.noise[apart] ** 2).mean()) * len(shared)
    values, vectors = np.linalg.eigh(shared)
    kept = np.sign(values) * np.sqrt(np.maximum(values**2 - edge, 0.0))
    out: Floats = (vectors * kept) @ vectors.T
    return out
