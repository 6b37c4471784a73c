"""Decision trees: what they learn, what they spend, and what they say of bad input."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from small_table import listed, number, opened

import adomnia
from adomnia.mining.decision_tree import DecisionTree
from adomnia.mining.parts.coarsening import ABSENT, Coarsening
from adomnia.mining.parts.contingency import BLIND, NOISE
from adomnia.mining.parts.splits import best_cut, ends_of, full, grow

DOMAINS = {
    "age": number(0, 99),
    "job": listed("a", "b", "c", "it's"),
    "flag": listed(False, True),
    "word": 'kind = "text"',
    "only": listed("one"),
    "y": listed("no", "yes"),
}
FEATURES = ["age", "job", "flag"]


def people(count=4000, seed=1):
    """Whoever is past 60, or has job b and a flag, is a yes, but for one in twenty."""
    draw = np.random.default_rng(seed)
    age, job = draw.integers(0, 100, count), draw.integers(0, 4, count)
    flag = draw.integers(0, 2, count).astype(bool)
    yes = (age >= 60) | ((job == 1) & flag)
    yes ^= draw.random(count) < 0.05
    return {
        "age": age,
        "job": np.array(["a", "b", "c", "it's"])[job],
        "flag": flag,
        "word": ["x"] * count,
        "only": ["one"] * count,
        "y": np.array(["no", "yes"])[yes.astype(int)],
    }


@pytest.fixture
def session(tmp_path):
    with opened(tmp_path, people(), DOMAINS, "epsilon = 100") as database:
        yield database.session()


def test_it_learns_both_rules(session):
    tree = DecisionTree().fit(session, FEATURES, "y", epsilon=4)
    test = people(2000, 2)
    assert tree.score(test, test["y"]) > 0.9
    assert tree.spent_ == 4
    assert sum(tree.split_.values()) == 4
    assert 2 <= tree.tree_.depth <= 5
    assert "age >=" in tree.rules()
    assert tree.predict_proba(test).sum(axis=1) == pytest.approx(1)


def test_depth_costs_nothing_and_zero_is_one_leaf(session):
    leaf = DecisionTree(max_depth=0).fit(session, FEATURES, "y", epsilon=1)
    assert leaf.tree_.depth == 0
    assert set(leaf.predict([[1, "a", True], [99, "b", False]])) == {"no"}
    assert leaf.spent_ == 1


def test_public_cuts_are_used(session):
    tree = DecisionTree(max_depth=1, cuts={"age": [60, 200]}).fit(session, ["age"], "y", epsilon=5)
    assert tree.axes_ == (Coarsening("age", (Fraction(60),)),)
    assert tree.predict([[59], [60]]).tolist() == ["no", "yes"]


@pytest.mark.parametrize("neighbors", ["bounded", "attribute"])
def test_other_neighbours_cost_noise_not_budget(tmp_path, neighbors):
    privacy = f'epsilon = 100\nneighbors = "{neighbors}"'
    with opened(tmp_path, people(), DOMAINS, privacy) as database:
        tree = DecisionTree().fit(database.session(), FEATURES, "y", epsilon=8)
    test = people(500, 2)
    assert tree.spent_ == 8
    assert tree.score(test, test["y"]) > 0.85


def test_missing_and_unlisted_values_stop_on_the_way(session):
    tree = DecisionTree().fit(session, FEATURES, "y", epsilon=8)
    found = tree.predict({"age": [np.nan, 80], "job": ["nobody", None], "flag": [True, False]})
    assert set(found) <= {"no", "yes"}


def test_a_refused_step_leaves_it_unfitted_and_says_what_was_spent(tmp_path):
    with opened(tmp_path, people(), DOMAINS, "epsilon = 1") as database:
        tree = DecisionTree()
        with pytest.raises(adomnia.BudgetError, match="spent by this fit before: epsilon = 9/10"):
            tree.fit(database.session(), FEATURES, "y", epsilon=2)
        assert not tree.__sklearn_is_fitted__()
        assert not hasattr(tree, "axes_")


@pytest.mark.parametrize(
    ("features", "target", "said"),
    [
        (["age", "nothing"], "y", "not a declared attribute"),
        (["age"], "nothing", "not a declared attribute"),
        (["age", "word"], "y", "not a public list"),
        (["age"], "word", "not a public list"),
        (["age"], "only", "nothing to tell apart"),
        (["age", "y"], "y", "both a feature and the target"),
        (["age", "age"], "y", "twice"),
        ([], "y", "list of columns"),
        ("age", "y", "list of columns"),
    ],
)
def test_bad_columns_are_refused_before_anything_is_spent(session, features, target, said):
    tree = DecisionTree()
    with pytest.raises(adomnia.QuestionError, match=said):
        tree.fit(session, features, target, epsilon=1)
    assert session.remaining()["epsilon"] == 100


@pytest.mark.parametrize(
    "params",
    [
        {"max_depth": -1},
        {"max_depth": 1.5},
        {"bins": 1},
        {"cuts": {"job": [1]}},
        {"cuts": {"income": [1]}},
        {"cuts": {"age": ["x"]}},
        {"split": {"depth": 1}},
        {"split": {"classes": 1}},
    ],
)
def test_bad_parameters_are_refused(session, params):
    with pytest.raises(adomnia.QuestionError):
        DecisionTree(**params).fit(session, FEATURES, "y", epsilon=1)


def test_an_empty_table_and_one_class_have_a_defined_answer(tmp_path):
    few = {name: column[:0] for name, column in people(4).items()}
    with opened(tmp_path, few, DOMAINS, "epsilon = 100") as database:
        tree = DecisionTree().fit(database.session(), FEATURES, "y", epsilon=1)
        assert tree.predict([[1, "a", True]])[0] in ("no", "yes")
        assert BLIND in tree.notes_
    one = {**people(500), "y": ["yes"] * 500}
    (tmp_path / "one").mkdir()
    with opened(tmp_path / "one", one, DOMAINS, "epsilon = 100") as database:
        tree = DecisionTree().fit(database.session(), FEATURES, "y", epsilon=20)
        assert set(tree.predict(people(200, 3))) == {"yes"}


def test_an_epsilon_too_small_for_a_search_is_noted(tmp_path):
    with opened(tmp_path, people(100), DOMAINS, "epsilon = 100") as database:
        tree = DecisionTree().fit(database.session(), FEATURES, "y", epsilon="0.0001")
        assert BLIND in tree.notes_ or NOISE in tree.notes_
        assert tree.spent_ == Fraction(1, 10000)


def test_noise_alone_is_rarely_split():
    draw = np.random.default_rng(5)
    tables = draw.laplace(0, 10, (300, 4, 3, 2)) + 50
    split = [grow(table, 200.0, 3).children != () for table in tables]
    assert np.mean(split) < 0.2


def test_a_clear_cut_is_found():
    counts = np.array([[90.0, 10], [80, 20], [10, 95], [5, 80]])
    found = best_cut(counts, 1.0)
    assert found is not None
    assert found[1] == 2
    assert ends_of(grow(counts, 1.0, 2))[0] <= 2
    assert best_cut(counts[:1], 1.0) is None
    assert best_cut(np.full((4, 2), 50.0), 1.0) is None


def test_the_blind_tree_takes_every_cell_apart():
    table = np.arange(24.0).reshape(3, 4, 2)
    tree = full(table, 5)
    assert tree.depth == 2
    assert tree.children[2].children[3].counts.tolist() == [22, 23]
    assert full(table, 1).depth == 1


def test_an_axis_says_the_same_in_sql_and_on_rows(session):
    axis = Coarsening("age", (Fraction(20), Fraction(60)))
    job = Coarsening("job", groups=(("a", "it's"), ("b",), ("c",)))
    assert axis.codes(np.array([0, 20, 59, 60, np.nan])).tolist() == [0, 1, 1, 2, ABSENT]
    assert job.codes(np.array(["it's", "c", "z"])).tolist() == [0, 2, ABSENT]
    for each, columns in ((axis, people()["age"]), (job, people()["job"])):
        sql = f"SELECT {each.expression()} AS g, COUNT(*) AS n FROM small GROUP BY 1"
        counts = dict(session.ask(sql, epsilon=20).rows)
        exact = np.bincount(each.codes(np.asarray(columns)), minlength=3)
        assert [counts[i] for i in range(3)] == pytest.approx(exact.tolist(), abs=5)
