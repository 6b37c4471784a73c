"""k-means: right without noise, sensible with much, and clear about what cannot be."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from small_table import number, opened

import adomnia
from adomnia.mining.k_means import KMeans, cluster

CENTERS = np.array([[10, 20], [80, 30], [50, 90]])
DOMAINS = {"x": number(0, 100), "y": number(0, 100)}


def clouds(count=3000, seed=0):
    """Three clouds."""
    draw = np.random.default_rng(seed)
    points = CENTERS[draw.integers(0, 3, count)] + 4 * draw.standard_normal((count, 2))
    points = np.clip(np.round(points), 0, 100).astype(int)
    return {"x": points[:, 0], "y": points[:, 1]}


def far(found):
    """How far the true centers are from the nearest found."""
    return np.sqrt(((CENTERS[:, None] - found) ** 2).sum(axis=2)).min(axis=1).max()


@pytest.mark.parametrize(("epsilon", "within"), [(1000, 0.5), (1, 3)])
def test_clouds_are_found(tmp_path, epsilon, within):
    with opened(tmp_path, clouds(), DOMAINS) as database:
        made = KMeans(3).fit(database.session(), ["x", "y"], epsilon=epsilon)
    assert far(made.cluster_centers_) < within
    assert len(set(made.predict(CENTERS))) == 3
    assert made.transform(CENTERS).min(axis=1).max() < within / 100 * 1.5
    assert made.score(CENTERS) > -0.01


def test_a_step_in_sql_is_lloyds(tmp_path):
    """Almost without noise, a step moves centers to the means of the rows nearest to them."""
    columns = clouds(500)
    points = np.column_stack([columns["x"], columns["y"]]) / 100
    start = np.random.default_rng(0).random((3, 2))
    nearest = ((points[:, None] - start) ** 2).sum(axis=2).argmin(axis=1)
    means = np.array([points[nearest == j].mean(axis=0) for j in range(3)])
    with opened(tmp_path, columns, DOMAINS, "epsilon = 1e12") as database:
        made = KMeans(3, steps=1, split={"steps": 1}).fit(
            database.session(), ["x", "y"], epsilon=10**9
        )
    assert np.allclose(made.cluster_centers_ / 100, means, atol=1e-3)
    assert made.n_iter_ == 1
    assert made.spent_ == 10**9


def test_steps_that_noise_would_drown_are_not_taken(tmp_path):
    with opened(tmp_path, clouds(50), DOMAINS) as database:
        split = {"rows": 10, "start": 5, "steps": 5}
        made = KMeans(3, split=split).fit(database.session(), ["x", "y"], epsilon=Fraction(1, 100))
    assert made.n_iter_ == 0
    assert made.split_["steps"] == 0
    assert made.spent_ == Fraction(1, 100)


def test_many_columns_start_from_the_widest(tmp_path):
    draw = np.random.default_rng(5)
    side = draw.integers(0, 2, 600)
    columns = {f"c{i}": np.full(600, 5) for i in range(12)}
    columns |= {"c3": 9 * side, "c7": 9 * (1 - side)}
    domains = {name: number(0, 9) for name in columns}
    with opened(tmp_path, columns, domains) as database:
        made = KMeans(2).fit(database.session(), list(columns), epsilon=50)
    ends = made.cluster_centers_[:, [3, 7]]
    assert np.abs(ends[0] - ends[1]).min() > 7


def test_more_clusters_than_rows_can_differ_are_refused(tmp_path):
    with opened(tmp_path, {"x": [0, 1]}, {"x": number(0, 1)}) as database:
        with pytest.raises(adomnia.QuestionError, match="fewer than 3 different rows"):
            KMeans(3).fit(database.session(), ["x"], epsilon=1)
        for wrong in ({"n_clusters": 0}, {"n_clusters": 1.5}, {"n_clusters": 2, "steps": -1}):
            with pytest.raises(adomnia.QuestionError):
                KMeans(**wrong).fit(database.session(), ["x"], epsilon=1)
        assert database.budget()["data"]["spent"] == "0"


def test_one_value_and_few_rows_have_an_answer(tmp_path):
    with opened(
        tmp_path, {"x": [3, 3, 3], "z": [1, 1, 1]}, {"x": number(3, 3), "z": number(0, 4)}
    ) as db:
        made = KMeans(3).fit(db.session(), ["x", "z"], epsilon=1)
    assert (made.cluster_centers_[:, 0] == 3).all()
    assert np.isfinite(made.cluster_centers_).all()


def test_rows_without_a_value_are_left_out(tmp_path):
    columns = {"x": [None] * 300 + [10] * 300, "y": [90] * 600}
    with opened(tmp_path, columns, DOMAINS) as database:
        made = KMeans(1).fit(database.session(), ["x", "y"], epsilon=1000)
    assert np.allclose(made.cluster_centers_, [[10, 90]], atol=6)


def test_weighted_points_are_clustered_like_repeated_ones():
    draw = np.random.default_rng(2)
    points = np.concatenate([draw.normal(c, 0.05, (40, 2)) for c in (0, 1, 3)])
    weights = draw.integers(1, 5, 120).astype(float)
    one = cluster(points, weights, 3, np.random.default_rng(0))
    many = np.repeat(points, weights.astype(int), axis=0)
    other = cluster(many, np.ones(len(many)), 3, np.random.default_rng(0))
    assert np.allclose(one[one[:, 0].argsort()], other[other[:, 0].argsort()], atol=1e-6)


def test_without_a_share_for_rows_a_number_is_assumed(tmp_path):
    with opened(tmp_path, clouds(1000), DOMAINS) as database:
        made = KMeans(3, split={"start": 1}).fit(database.session(), ["x", "y"], epsilon=10)
    assert far(made.cluster_centers_) < 12
    assert made.split_ == {"rows": 0, "start": 10, "steps": 0}
    assert made.n_iter_ == 0
