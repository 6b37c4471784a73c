"""The manners of every model: parameters, state, budget, public rows, and scikit-learn's doors."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from small_table import listed, number, opened

import adomnia
from adomnia.mining.components import PCA
from adomnia.mining.decision_tree import DecisionTree
from adomnia.mining.item_sets import FrequentItemSets
from adomnia.mining.k_means import KMeans
from adomnia.mining.logistic_regression import LogisticRegression
from adomnia.mining.naive_bayes import CategoricalNB, GaussianNB
from adomnia.mining.parts.estimator import Estimator, shares
from adomnia.mining.perceptron import Perceptron
from adomnia.mining.random_forest import RandomForest

TARGET = {"target": "y"}
MODELS = [
    (KMeans(2), {}),
    (PCA(2), {}),
    (FrequentItemSets(0.2, 2), {}),
    (GaussianNB(), TARGET),
    (CategoricalNB(), TARGET),
    (DecisionTree(), TARGET),
    (RandomForest(2), TARGET),
    (LogisticRegression(), TARGET),
    (Perceptron(), TARGET),
]
DOMAINS = {"a b": number(0, 10), 'c"d': number(-5, 5), "y": listed("no", "yes")}
FEATURES = ["a b", 'c"d']


def rows(count=400):
    """Two clouds, one for each class, in columns whose names must be quoted."""
    draw = np.random.default_rng(3)
    y = draw.integers(0, 2, count)
    a = np.clip(np.round(2 + 6 * y + draw.standard_normal(count)), 0, 10).astype(int)
    b = np.clip(np.round(-3 + 6 * y + draw.standard_normal(count)), -5, 5).astype(int)
    return {"a b": a, 'c"d': b, "y": np.array(["no", "yes"])[y]}


def fresh(model):
    """A model with the same parameters that was never fitted."""
    return type(model)(**model.get_params())


def use(made, rows):
    """What a fitted model says of public rows; item sets say nothing of them."""
    if isinstance(made, FrequentItemSets):
        return np.array([len(made.sets_)] * len(made.columns(rows)["a b"]))
    return made.transform(rows) if isinstance(made, PCA) else made.predict(rows)


@pytest.mark.parametrize(("model", "more"), MODELS, ids=lambda each: type(each).__name__)
class TestEveryModel:
    def test_parameters_come_and_go(self, model, more):
        made = fresh(model)
        given = made.get_params()
        assert given == made.get_params(deep=False)
        assert made.set_params(split=None) is made
        assert type(model).__name__ in repr(made)
        with pytest.raises(adomnia.QuestionError, match="no parameter"):
            made.set_params(nonsense=1)
        assert made.get_params() == given

    def test_a_fit_spends_what_it_was_given_and_predicts(self, model, more, tmp_path):
        seen = []
        with opened(tmp_path, rows(), DOMAINS) as database:
            made = fresh(model).fit(
                database.session(), FEATURES, **more, epsilon=5,
                progress=lambda *told: seen.append(told),
            )  # fmt: skip
            spent = Fraction(database.budget()["data"]["spent"])
        assert made.spent_ == spent
        assert 2 < spent <= 5  # a step that asks what was asked before is free
        assert sum(made.split_.values()) == 5
        assert seen
        assert [told[1] for told in seen] == list(range(1, len(seen) + 1))
        assert list(made.feature_names_in_) == FEATURES
        assert made.n_features_in_ == 2
        table = [[1, -4], [8, 3]]
        frame = {'c"d': [-4, 3], "a b": [1, 8], "other": [0, 0]}
        assert np.array_equal(use(made, table), use(made, np.array(table)))
        assert np.array_equal(use(made, table), use(made, frame))

    def test_unfitted_models_say_so(self, model, more):
        with pytest.raises(adomnia.QuestionError, match="not fitted") as told:
            fresh(model).columns([[1, 2]])
        assert "fit it first" in told.value.hint

    def test_a_refused_step_leaves_it_unfitted_and_says_what_was_spent(self, model, more, tmp_path):
        with opened(tmp_path, rows(), DOMAINS) as database:
            made = fresh(model).fit(database.session(), FEATURES, **more, epsilon=5)
            session = database.session(epsilon=Fraction(1, 40))
            with pytest.raises(adomnia.BudgetError, match="spent by this fit before") as told:
                made.fit(session, FEATURES, **more, epsilon=6)  # 5 is known already
            assert str(Fraction(1, 40) - session.remaining()["epsilon"]) in told.value.message
        assert not any(name.endswith("_") for name in vars(made))
        with pytest.raises(adomnia.QuestionError, match="not fitted"):
            made.columns([[1, 2]])

    def test_wrong_rows_are_refused(self, model, more, tmp_path):
        with opened(tmp_path, rows(), DOMAINS) as database:
            made = fresh(model).fit(database.session(), FEATURES, **more, epsilon=5)
        for wrong in ([[1]], [1, 2], {"a b": [1]}):
            with pytest.raises(adomnia.QuestionError):
                made.columns(wrong)

    def test_wrong_columns_are_refused_before_anything_is_spent(self, model, more, tmp_path):
        with opened(tmp_path, rows(), {**DOMAINS, "y": listed("no", "yes")}) as database:
            for wrong in (["nowhere"], [], "a b", ["a b", "nowhere"]):
                with pytest.raises(adomnia.QuestionError):
                    fresh(model).fit(database.session(), wrong, **more, epsilon=1)
            with pytest.raises(adomnia.QuestionError):
                fresh(model).set_params(split={"nothing": 1}).fit(
                    database.session(), FEATURES, **more, epsilon=1
                )
            assert Fraction(database.budget()["data"]["spent"]) == 0

    def test_an_empty_table_has_a_defined_answer(self, model, more, tmp_path):
        empty = {name: column[:0] for name, column in rows().items()}
        with opened(tmp_path, empty, DOMAINS) as database:
            made = fresh(model).fit(database.session(), FEATURES, **more, epsilon=1)
        assert len(use(made, [[1, -4], [8, 3]])) == 2

    def test_the_smallest_epsilon_still_gives_a_model(self, model, more, tmp_path):
        with opened(tmp_path, rows(30), DOMAINS) as database:
            made = fresh(model).fit(database.session(), FEATURES, **more, epsilon="1e-6")
        assert np.isfinite(np.asarray(use(made, [[1, -4], [8, 3]]) == "yes", float)).all()

    @pytest.mark.parametrize("epsilon", [0, -1, "nan", "inf", "x", None])
    def test_no_epsilon_is_refused_before_anything_is_spent(self, model, more, epsilon, tmp_path):
        with opened(tmp_path, rows(30), DOMAINS) as database:
            with pytest.raises(adomnia.AdomniaError):
                fresh(model).fit(database.session(), FEATURES, **more, epsilon=epsilon)
            assert Fraction(database.budget()["data"]["spent"]) == 0

    @pytest.mark.parametrize(
        "columns",
        [
            {"a b": [5], 'c"d': [0], "y": ["yes"]},
            {"a b": [5] * 9, 'c"d': [0] * 9, "y": ["yes"] * 9},
            {"a b": [10**6, -5, 3], 'c"d': [77, -77, 0], "y": ["else", "no", "yes"]},
            {"a b": [float("nan"), 5.0, None], 'c"d': [0, None, 1], "y": [None, "no", "yes"]},
        ],
        ids=["one row", "one value", "outside", "missing"],
    )
    @pytest.mark.parametrize("epsilon", ["0.01", 50])
    def test_bad_rows_have_a_defined_answer(self, model, more, columns, epsilon, tmp_path):
        with opened(tmp_path, columns, DOMAINS) as database:
            made = fresh(model).fit(database.session(), FEATURES, **more, epsilon=epsilon)
        found = use(made, [[1, -4], [8, 3]])
        assert len(found) == 2
        assert np.isfinite(found).all() if found.dtype.kind in "if" else set(found) <= {"no", "yes"}
        assert made.spent_ <= Fraction(epsilon)

    def test_scikit_learn_takes_it(self, model, more, tmp_path):
        base = pytest.importorskip("sklearn.base")
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import FunctionTransformer

        with opened(tmp_path, rows(), DOMAINS) as database:
            made = fresh(model).fit(database.session(), FEATURES, **more, epsilon=5)
        assert base.clone(made).get_params() == made.get_params()
        assert base.is_classifier(made) == ("target" in more)
        if isinstance(made, FrequentItemSets):
            return  # it has nothing to say of single rows
        doubled = make_pipeline(FunctionTransformer(lambda x: np.asarray(x) * 2), made)
        name = "transform" if isinstance(made, PCA) else "predict"
        assert np.array_equal(
            getattr(doubled, name)([[1, -2], [4, 1]]), getattr(made, name)([[2, -4], [8, 2]])
        )


def test_models_do_not_need_scikit_learn():
    program = (
        "import sys; import adomnia.mining.k_means, adomnia.mining.components, "
        "adomnia.mining.naive_bayes, adomnia.mining.random_forest, adomnia.mining.decision_tree, "
        "adomnia.mining.item_sets, adomnia.mining.logistic_regression, "
        "adomnia.mining.perceptron; print({'sklearn', 'rich', 'pandas'} & set(sys.modules))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == "set()"


def test_shares_of_a_budget():
    assert shares(1, None, {"a": 1, "b": 3}) == {"a": Fraction(1, 4), "b": Fraction(3, 4)}
    assert shares("1/2", {"b": 0.5}, {"a": 1, "b": 3}) == {"a": 0, "b": Fraction(1, 2)}
    for wrong in ({"c": 1}, {"a": -1, "b": 2}, {"a": 0}, [1, 2]):
        with pytest.raises(adomnia.QuestionError):
            shares(1, wrong, {"a": 1, "b": 3})


def test_a_bar_is_shown_where_it_is_asked_for(tmp_path):
    with opened(tmp_path, rows(), DOMAINS) as database:
        made = GaussianNB().fit(database.session(), FEATURES, "y", epsilon=1, progress=True)
    assert made.spent_ == 1


def test_more_clusters_than_rows_are_arbitrary_and_defined(tmp_path):
    """How many rows there are is private, so it cannot be refused."""
    with opened(tmp_path, rows(2), DOMAINS) as database:
        made = KMeans(7).fit(database.session(), FEATURES, epsilon=50)
    assert made.cluster_centers_.shape == (7, 2)
    assert np.isfinite(made.cluster_centers_).all()
    assert any("clusters" in note for note in made.notes_)


@pytest.mark.parametrize("model", [DecisionTree(max_depth=5), RandomForest(max_depth=5)], ids=repr)
def test_an_epsilon_too_small_for_the_depth_is_noted(model, tmp_path):
    with opened(tmp_path, rows(20), DOMAINS) as database:
        made = model.fit(database.session(), FEATURES, "y", epsilon="0.001")
    assert made.notes_


def test_an_estimator_of_ones_own():
    class Own(Estimator):
        def __init__(self, depth=2):
            self.depth = depth

    assert Own(3).get_params() == {"depth": 3}
    assert Own().set_params(depth=7).depth == 7
