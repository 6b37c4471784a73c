"""Principal components: the exact ones without noise, and a choice of the way to ask."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from small_table import number, opened

import adomnia
from adomnia.mining.components import PCA, believed_matrix
from adomnia.mining.parts.covariance import Covariance, covariance_methods
from adomnia.mining.parts.statements import bounds_of

DOMAINS = {name: number(0, 100) for name in "abcd"}


def leaning(count=4000, seed=0):
    """Four columns of which two go together, one against them, and one alone."""
    draw = np.random.default_rng(seed)
    base = draw.standard_normal(count)
    parts = [base, base + 0.3 * draw.standard_normal(count),
             -base + 0.3 * draw.standard_normal(count), draw.standard_normal(count)]  # fmt: skip
    return {
        name: np.clip(np.round(50 + 10 * part), 0, 100).astype(int)
        for name, part in zip("abcd", parts, strict=True)
    }


def exact(columns):
    """Positions' covariances and their eigenvectors, largest first."""
    matrix = np.cov(np.array([columns[name] / 100 for name in "abcd"]), bias=True)
    values, vectors = np.linalg.eigh(matrix)
    return values[::-1], vectors[:, ::-1].T


@pytest.mark.parametrize("method", ["grids", "sides", "products", None])
def test_components_are_found(tmp_path, method):
    columns = leaning()
    values, vectors = exact(columns)
    with opened(tmp_path, columns, DOMAINS) as database:
        made = PCA(2, method=method).fit(database.session(), list("abcd"), epsilon=100)
    assert abs(made.components_[0] @ vectors[0]) > 0.98
    assert made.explained_variance_[0] == pytest.approx(values[0], rel=0.2)
    assert np.allclose(made.components_ @ made.components_.T, np.eye(2), atol=1e-9)
    assert np.allclose(made.mean_, [np.mean(columns[name]) for name in "abcd"], atol=3)
    assert made.method_ == (method or made.method_)


def test_almost_without_noise_the_covariance_is_exact(tmp_path):
    columns = leaning(1000)
    values, vectors = exact(columns)
    with opened(tmp_path, columns, DOMAINS, "epsilon = 1e12") as database:
        made = PCA(4, method="products").fit(database.session(), list("abcd"), epsilon=10**9)
        whole = PCA(4, method="products", scaled=False).fit(
            database.session(), list("abcd"), epsilon=10**9
        )
    assert np.allclose(made.explained_variance_, values, atol=1e-4)
    assert np.allclose(np.abs((made.components_ * vectors).sum(axis=1)), 1, atol=1e-3)
    assert made.explained_variance_ratio_.sum() == pytest.approx(1)
    assert np.allclose(whole.explained_variance_, values * 1e4, rtol=0.01)
    rows = np.array([[20, 30, 40, 50], [80, 70, 60, 50]])
    assert np.allclose(made.inverse_transform(made.transform(rows)), rows)


def test_the_singular_value_decomposition_is_not_centred(tmp_path):
    columns = leaning(1000)
    positions = np.column_stack([columns[name] / 100 for name in "abcd"])
    first = np.linalg.svd(positions, full_matrices=False)[2][0]
    with opened(tmp_path, columns, DOMAINS) as database:
        made = PCA(1, centered=False).fit(database.session(), list("abcd"), epsilon=1000)
    assert abs(made.components_[0] @ first) > 0.99
    assert np.allclose(made.mean_, 0)


def test_the_way_is_chosen_by_what_is_public(tmp_path):
    with opened(tmp_path, leaning(10), DOMAINS) as database:
        bounds = bounds_of(database.session(), list("abcd"))
        one = bounds_of(database.session(), ["a"])
    assert covariance_methods(bounds, 10**7, 10.0, 0.3)[0].name == "products"
    assert covariance_methods(bounds, 1000, 1.0, 0.3)[0].name == "grids"
    assert {way.name for way in covariance_methods(one, 100, 1.0, 0.3)} == {"grids", "moments"}
    errors = [way.error for way in covariance_methods(bounds, 500, 0.5, 0.3)]
    assert errors == sorted(errors)


def test_noise_alone_is_not_believed():
    draw = np.random.default_rng(0)
    noise = np.full((20, 20), 0.05)
    drawn = draw.laplace(0, 0.05 / 2**0.5, (20, 20))
    matrix = np.triu(drawn, 1) + np.triu(drawn, 1).T + np.eye(20) * 0.04
    made = believed_matrix(Covariance(np.full(20, 0.5), matrix, noise))
    apart = ~np.eye(20, dtype=bool)
    assert np.abs(made[apart]).mean() < np.abs(matrix[apart]).mean() / 3
    assert np.linalg.eigvalsh(made).min() > -1e-12


def test_wrong_requests_are_refused_before_anything_is_spent(tmp_path):
    with opened(tmp_path, leaning(20), DOMAINS) as database:
        session = database.session()
        for model in (PCA(5), PCA(0), PCA(2, method="magic"), PCA(2, split={"rows": 1})):
            with pytest.raises(adomnia.QuestionError):
                model.fit(session, list("abcd"), epsilon=1)
    assert PCA(2).get_params()["method"] is None


def test_constant_columns_and_too_little_budget_are_defined(tmp_path):
    domains = {"a": number(7, 7), "b": number(0, 1), "c": number(0, 9)}
    columns = {"a": [7] * 20, "b": [1] * 20, "c": [4] * 20}
    with opened(tmp_path, columns, domains) as database:
        for method in ("grids", "sides", "products", "moments"):
            made = PCA(3, method=method).fit(database.session(), list("abc"), epsilon="0.001")
            assert np.isfinite(made.components_).all()
            assert made.mean_[0] == 7
        sure = PCA(3, method="grids", split={"pairs": 1})  # it assumes 1,000 rows
        made = sure.fit(database.session(), list("abc"), epsilon="0.001")
        assert any("larger epsilon" in note for note in made.notes_)


def test_with_little_noise_moments_and_products_are_one_question(tmp_path):
    columns = leaning()
    matrix = np.cov(np.array([columns[name] / 100 for name in "abcd"]), bias=True)
    asked = []
    with opened(tmp_path, columns, DOMAINS, "epsilon = 1e6") as database:
        session = database.session()
        made = PCA(4, method="products").fit(
            session, list("abcd"), epsilon=1000, progress=lambda name, *_: asked.append(name)
        )
        noisy = PCA(4, method="products").fit(session, list("abcd"), epsilon="0.1")
    assert asked == ["rows", "products"]
    assert made.split_["moments"] == made.split_["rows"] * 19 * 2 / 5  # four of ten measurements
    assert sum(made.split_.values()) == made.spent_ == 1000
    again = made.components_.T @ np.diag(made.explained_variance_) @ made.components_
    assert np.allclose(again, matrix, atol=1e-3)
    assert noisy.split_["pairs"] == Fraction(13, 200)


def test_many_columns_or_much_noise_are_asked_in_turns(tmp_path):
    with opened(tmp_path, leaning(10), DOMAINS) as database:
        bounds = bounds_of(database.session(), list("abcd"))
    sure, unsure = (
        next(way for way in covariance_methods(bounds, rows, 1.0, 0.3) if way.name == "products")
        for rows in (10**6, 10**3)
    )
    assert sure.at_once(13)
    assert not sure.at_once(14)
    assert not unsure.at_once(4)
