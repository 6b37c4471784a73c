"""The manners of every model: the laws of `adomnia.testing.models`, and what is ours beyond."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

import adomnia
from adomnia.mining import (
    PCA,
    CategoricalNB,
    Classifier,
    DecisionTree,
    Estimator,
    FrequentItemSets,
    GaussianNB,
    KMeans,
    LogisticRegression,
    Perceptron,
    RandomForest,
)
from adomnia.mining.parts.fitting import shares
from adomnia.mining.registry import OWN
from adomnia.testing import models as laws
from adomnia.testing.worlds import CLASS, CLOUDS, clouds

MODELS = [
    partial(KMeans, 2),
    partial(PCA, 2),
    partial(FrequentItemSets, 0.2, 2),
    GaussianNB,
    CategoricalNB,
    DecisionTree,
    partial(RandomForest, 2),
    LogisticRegression,
    Perceptron,
]
FEATURES = list(CLOUDS)
ROWS = [[1, -4], [8, 3]]


def kind(make):
    """The class of what is made."""
    return make.func if isinstance(make, partial) else make


def columns(make):
    """The columns of a fit: a classifier has a target too."""
    return (FEATURES, CLASS) if issubclass(kind(make), Classifier) else (FEATURES,)


@pytest.fixture
def database(tmp_path):
    with clouds().open(tmp_path) as opened:
        yield opened


def test_every_model_of_ours_is_held_against_the_laws():
    assert {kind(make).__name__ for make in MODELS} == set(OWN)


@pytest.mark.parametrize("make", MODELS, ids=lambda make: kind(make).__name__)
class TestEveryModel:
    def test_parameters_come_and_go_and_unfitted_models_say_so(self, make):
        laws.shows_its_parameters(make)
        assert make().set_params(split=None).split is None
        with pytest.raises(adomnia.QuestionError, match="no parameter"):
            make().set_params(nonsense=1)
        with pytest.raises(adomnia.QuestionError, match="not fitted") as told:
            make().columns([[1, 2]])
        assert "fit it first" in told.value.hint

    def test_a_fit_spends_what_it_was_given_and_predicts(self, make, database):
        model = laws.spends_what_it_says(make, database.session(), *columns(make))
        assert model.spent_ == Fraction(database.budget()["data"]["spent"])
        assert model.spent_ > 2  # a step that asks what was asked before is free
        laws.takes_rows_in_any_form(model, ROWS)
        assert list(model.columns(ROWS)) == FEATURES

    def test_a_refused_step_leaves_it_unfitted_and_says_what_was_spent(self, make, database):
        model = make().fit(database.session(), *columns(make), epsilon=5)
        poor = database.session(epsilon=Fraction(1, 40))
        laws.unfitted_after_a_refusal(model, poor, *columns(make))
        with pytest.raises(adomnia.QuestionError, match="not fitted"):
            model.columns([[1, 2]])

    def test_wrong_rows_are_refused(self, make, database):
        model = make().fit(database.session(), *columns(make), epsilon=5)
        laws.refuses_wrong_rows(model)
        for wrong in ([[1]], [1, 2], {"a b": [1]}):
            with pytest.raises(adomnia.QuestionError):
                model.columns(wrong)

    def test_wrong_columns_and_terms_are_refused_before_anything_is_spent(self, make, database):
        laws.refuses_wrong_columns(make, database.session(), *columns(make))
        laws.refuses_wrong_terms(make, database.session(), *columns(make))
        assert Fraction(database.budget()["data"]["spent"]) == 0

    @pytest.mark.parametrize("odd", laws.AWKWARD)
    @pytest.mark.parametrize("epsilon", ["0.01", 50])
    def test_bad_rows_have_a_defined_answer(self, make, odd, epsilon, tmp_path):
        with clouds(columns=laws.AWKWARD[odd]).open(tmp_path) as database:
            session = database.session()
            model = laws.says_something_of_any_data(make, session, *columns(make), epsilon=epsilon)
        assert model.spent_ <= Fraction(epsilon)

    def test_the_smallest_epsilon_still_gives_a_model(self, make, tmp_path):
        with clouds(30).open(tmp_path) as database:
            session = database.session()
            model = laws.says_something_of_any_data(make, session, *columns(make), epsilon="1e-6")
        assert model.spent_ <= Fraction("1e-6")

    def test_it_learns_through_the_session_alone(self, make, database):
        laws.asks_the_session_alone(make, database.session(), *columns(make))
        assert Fraction(database.budget()["data"]["spent"]) <= 5

    def test_the_same_answers_make_the_same_model(self, make, database):
        laws.learns_the_same_from_the_same_answers(make, database.session(), *columns(make))
        assert Fraction(database.budget()["data"]["spent"]) <= 5

    def test_scikit_learn_takes_it(self, make, database):
        base = pytest.importorskip("sklearn.base")
        model = make().fit(database.session(), *columns(make), epsilon=5)
        laws.pleases_scikit_learn(model, [[1, -2], [4, 1]])
        assert base.clone(model).get_params() == model.get_params()


def test_models_do_not_need_scikit_learn():
    program = (
        "import sys, adomnia.mining as room; [getattr(room, name) for name in dir(room)]; "
        "print({'sklearn', 'rich', 'pandas'} & set(sys.modules))"
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
    with clouds().open(tmp_path) as database:
        made = GaussianNB().fit(database.session(), FEATURES, "y", epsilon=1, progress=True)
    assert made.spent_ == 1


def test_more_clusters_than_rows_are_arbitrary_and_defined(tmp_path):
    """How many rows there are is private, so it cannot be refused."""
    with clouds(2).open(tmp_path) as database:
        made = KMeans(7).fit(database.session(), FEATURES, epsilon=50)
    assert made.cluster_centers_.shape == (7, 2)
    assert np.isfinite(made.cluster_centers_).all()
    assert any("clusters" in note for note in made.notes_)


@pytest.mark.parametrize("model", [DecisionTree(max_depth=5), RandomForest(max_depth=5)], ids=repr)
def test_an_epsilon_too_small_for_the_depth_is_noted(model, tmp_path):
    with clouds(20).open(tmp_path) as database:
        made = model.fit(database.session(), FEATURES, "y", epsilon="0.001")
    assert made.notes_


def test_an_estimator_of_ones_own():
    class Own(Estimator):
        def __init__(self, depth=2):
            self.depth = depth

    assert Own(3).get_params() == {"depth": 3}
    assert Own().set_params(depth=7).depth == 7
