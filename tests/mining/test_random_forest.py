"""Random forests: trees that are public, leaves that are paid for, and how many trees there are."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from small_table import listed, number, opened

import adomnia
from adomnia.mining.parts.coarsening import Coarsening
from adomnia.mining.parts.random_tree import KEPT, draw_tree
from adomnia.mining.random_forest import MOST_TREES, RandomForest

DOMAINS = {"x": number(0, 99), "z": number(0, 99), "job": listed("a", "b", "c", "it's"),
           "y": listed("no", "yes")}  # fmt: skip
FEATURES = ["x", "z", "job"]
AXES = (
    Coarsening("x", tuple(Fraction(cut) for cut in range(10, 100, 10))),
    Coarsening("z", tuple(Fraction(cut) for cut in range(10, 100, 10))),
    Coarsening("job", groups=(("a",), ("b",), ("c",), ("it's",))),
)


def people(count=4000, seed=1):
    """Whoever is past both numbers, or has job b, is a yes."""
    draw = np.random.default_rng(seed)
    x, z = draw.integers(0, 100, (2, count))
    job = np.array(["a", "b", "c", "it's"])[draw.integers(0, 4, count)]
    yes = (x + z > 110) | (job == "b")
    return {"x": x, "z": z, "job": job, "y": np.array(["no", "yes"])[yes.astype(int)]}


@pytest.fixture
def session(tmp_path):
    with opened(tmp_path, people(), DOMAINS, "epsilon = 1000") as database:
        yield database.session()


def test_it_learns_and_spends_what_it_was_given(session):
    model = RandomForest().fit(session, FEATURES, "y", epsilon=4)
    test = people(2000, 2)
    assert model.score(test, test["y"]) > 0.75
    assert len(model.trees_) == MOST_TREES
    assert model.spent_ == sum(model.split_.values()) == 4
    assert model.predict_proba(test).sum(axis=1) == pytest.approx(1)


def test_fewer_trees_are_taken_where_noise_is_wide(session):
    few = RandomForest().fit(session, FEATURES, "y", epsilon="0.02")
    assert 1 <= len(few.trees_) < MOST_TREES
    told = RandomForest(n_estimators=3, split={"trees": 1}).fit(session, FEATURES, "y", epsilon=1)
    assert len(told.trees_) == 3
    assert told.split_ == {"rows": 0, "trees": 1}


def test_a_tree_says_the_same_in_sql_and_on_rows(tmp_path):
    """Also of rows without a value, and of values that are not listed."""
    columns = {name: column.tolist() for name, column in people(300).items()}
    columns["x"][:40] = [None] * 40
    columns["job"][30:60] = [None] * 30
    tree = draw_tree(AXES, 5, np.random.default_rng(3))
    places = [np.array(columns[name], dtype=object) for name in FEATURES]
    places[0] = np.array([np.nan if v is None else v for v in columns["x"]])
    exact = np.bincount(tree.leaves(places), minlength=tree.size)
    with opened(tmp_path, columns, DOMAINS) as database:
        sql = f"SELECT {tree.expression()} AS leaf, COUNT(*) AS n FROM small GROUP BY 1"
        told = dict(database.session().ask(sql, epsilon=100).rows)
    assert [told[leaf] for leaf in range(tree.size)] == exact.tolist()


def test_a_tree_ends_where_nothing_can_be_cut():
    axes = (Coarsening("x", (Fraction(5),)), Coarsening("only", groups=(("one",),)))
    tree = draw_tree(axes, 9, np.random.default_rng(0))
    assert tree.size == 2
    assert draw_tree(axes, 0, np.random.default_rng(0)).expression() == "0"


def test_the_share_that_a_cut_by_lot_keeps():
    u = np.random.default_rng(0).random(100_000)
    assert np.mean(u**2 + (1 - u) ** 2) == pytest.approx(KEPT, abs=0.005)


def test_depth_zero_is_the_most_frequent_class(session):
    model = RandomForest(max_depth=0).fit(session, FEATURES, "y", epsilon=10)
    counts = people()["y"].tolist()
    assert set(model.predict([[1, 1, "a"], [99, 99, "b"]])) == {max(set(counts), key=counts.count)}


@pytest.mark.parametrize(
    "params",
    [{"n_estimators": 0}, {"max_depth": -1}, {"max_depth": 13}, {"bins": 1}, {"seed": -1},
     {"split": {"rows": 1}}, {"split": {"leaf": 1}}, {"cuts": {"nothing": [1]}}],
)  # fmt: skip
def test_bad_parameters_are_refused_before_anything_is_spent(session, params):
    with pytest.raises(adomnia.QuestionError):
        RandomForest(**params).fit(session, FEATURES, "y", epsilon=1)
    assert session.remaining()["epsilon"] == 1000
