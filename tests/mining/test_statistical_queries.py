"""Logistic regression and the perceptron: what statistical queries teach, and bad input."""

from __future__ import annotations

import numpy as np
import pytest
from small_table import listed, number, opened

import adomnia
from adomnia.mining.logistic_regression import LogisticRegression, _likeliest
from adomnia.mining.parts.coarsening import Coarsening
from adomnia.mining.parts.contingency import BLIND, ContingencyTable
from adomnia.mining.perceptron import Perceptron

DOMAINS = {
    "a b": number(0, 100),
    "c": number(-1, 1, "0.01"),
    "kind": listed("x", "y", "z"),
    "word": 'kind = "text"',
    "only": listed("one"),
    "y": listed("no", "yes"),
}
NUMBERS = ["a b", "c"]


def points(count=5000, seed=1):
    """Yes grows likelier with both numbers, and for kind z."""
    draw = np.random.default_rng(seed)
    a, c = draw.integers(0, 101, count), np.round(draw.uniform(-1, 1, count), 2)
    kind = np.array(["x", "y", "z"])[draw.integers(0, 3, count)]
    score = (a - 50) / 10 + 4 * c + 3 * (kind == "z") - 1
    yes = draw.random(count) < 1 / (1 + np.exp(-2 * score))
    return {
        "a b": a,
        "c": c,
        "kind": kind,
        "word": ["q"] * count,
        "only": ["one"] * count,
        "y": np.array(["no", "yes"])[yes.astype(int)],
    }


@pytest.fixture
def session(tmp_path):
    with opened(tmp_path, points(), DOMAINS, "epsilon = 1000") as database:
        yield database.session()


def test_logistic_regression_learns_numbers_and_listed_values(session):
    model = LogisticRegression().fit(session, [*NUMBERS, "kind"], "y", epsilon=2)
    test = points(3000, 2)
    assert model.score(test, test["y"]) > 0.85
    assert model.spent_ == 2
    assert model.coef_.shape == (2, len(model.steps_))
    assert any("a b >=" in step for step in model.steps_)
    assert model.predict_proba(test).sum(axis=1) == pytest.approx(1)
    lost = model.predict({"a b": [np.nan], "c": [0.1], "kind": ["nobody"]})
    assert lost[0] in ("no", "yes")


def test_the_perceptron_learns_a_border(session):
    model = Perceptron().fit(session, NUMBERS, "y", epsilon=2)
    test = points(3000, 2)
    assert model.score(test, test["y"]) > 0.75
    assert model.spent_ == 2
    assert (model.coef_ > 0).all()
    start = Perceptron(steps=0).fit(session, NUMBERS, "y", epsilon=3)
    assert start.split_ == {"start": 3}
    assert start.score(test, test["y"]) > 0.7


def test_many_columns_fit_in_a_statement(tmp_path):
    draw = np.random.default_rng(2)
    names = [f"n{i}" for i in range(40)]
    columns = {name: draw.integers(0, 11, 300) for name in names}
    columns["y"] = (columns["n0"] > 5).astype(int)
    domains = {**{name: number(0, 10) for name in names}, "y": listed(0, 1)}
    with opened(tmp_path, columns, domains) as database:
        model = Perceptron(steps=2).fit(database.session(), names, "y", epsilon=1000)
    assert model.score(columns, columns["y"]) > 0.8


def test_counts_without_noise_give_the_plain_maximum():
    """Against scikit-learn on the same steps; the penalty there is 1 on all but intercepts."""
    from sklearn.linear_model import LogisticRegression as Plain

    counts = np.array([[[30.0, 10], [20, 25]], [[15, 20], [5, 60]], [[2, 30], [1, 40]]])
    axes = (
        Coarsening("a", groups=(("p",), ("q",), ("r",))),
        Coarsening("b", groups=(("s",), ("t",))),
    )
    weights = _likeliest(ContingencyTable(axes, counts, 0.0), 1.0)
    rows = [
        ([i >= 1, i >= 2, j >= 1], k)
        for (i, j, k), n in np.ndenumerate(counts)
        for _ in range(int(n))
    ]
    x, y = np.array([r[0] for r in rows], float), np.array([r[1] for r in rows])
    plain = Plain(C=2.0, max_iter=1000, tol=1e-9).fit(x, y)
    ours = weights[1] - weights[0]
    assert ours[1:] == pytest.approx(plain.coef_[0], abs=0.02)
    assert ours[0] == pytest.approx(plain.intercept_[0], abs=0.02)


def test_negative_and_empty_counts_do_no_harm():
    axes = (Coarsening("a", groups=(("p",), ("q",))),)
    for counts in ([[-5.0, -3], [-1, -2]], [[0, 0], [0, 0]], [[-50, 90], [80, -70]]):
        table = ContingencyTable(axes, np.array(counts, float), 100.0)
        assert np.isfinite(_likeliest(table, 1.0)).all()


@pytest.mark.parametrize("model", [LogisticRegression(), Perceptron()], ids=repr)
@pytest.mark.parametrize(
    ("features", "target", "said"),
    [
        (["a b", "nothing"], "y", "not a declared attribute"),
        (["a b"], "nothing", "not a declared attribute"),
        (["a b", "word"], "y", "not a public list|no bounds"),
        (["a b"], "only", "nothing to tell apart"),
        (["a b", "a b"], "y", "twice"),
        ([], "y", "list of columns"),
    ],
)
def test_bad_columns_are_refused_before_anything_is_spent(session, model, features, target, said):
    with pytest.raises(adomnia.QuestionError, match=said):
        model.fit(session, features, target, epsilon=1)
    assert session.remaining()["epsilon"] == 1000


@pytest.mark.parametrize(
    ("model", "target"),
    [
        (Perceptron(steps=-1), "y"),
        (Perceptron(steps="x"), "y"),
        (Perceptron(split={"steps": 1}), "y"),
        (Perceptron(), "kind"),
        (LogisticRegression(bins=0), "y"),
        (LogisticRegression(penalty=-1), "y"),
        (LogisticRegression(penalty=float("nan")), "y"),
        (LogisticRegression(seed="x"), "y"),
        (LogisticRegression(split={"step": 1}), "y"),
    ],
    ids=repr,
)
def test_bad_parameters_are_refused(session, model, target):
    with pytest.raises(adomnia.QuestionError):
        model.fit(session, NUMBERS, target, epsilon=1)


def test_three_classes_are_told_apart(session):
    model = LogisticRegression().fit(session, ["y", *NUMBERS], "kind", epsilon=5)
    assert set(model.classes_) == {"x", "y", "z"}
    assert set(model.predict(points(200, 3))) <= {"x", "y", "z"}


def test_an_empty_table_and_one_class_have_a_defined_answer(tmp_path):
    none = {name: column[:0] for name, column in points(4).items()}
    rows = points(100, 5)
    with opened(tmp_path, none, DOMAINS, "epsilon = 100") as database:
        session = database.session()
        found = LogisticRegression().fit(session, [*NUMBERS, "kind"], "y", epsilon=1)
        assert BLIND in found.notes_
        assert set(found.predict(rows)) <= {"no", "yes"}
        border = Perceptron().fit(session, NUMBERS, "y", epsilon=1)
        assert set(border.predict(rows)) <= {"no", "yes"}
    (tmp_path / "one").mkdir()
    one = {**points(3000), "y": ["yes"] * 3000}
    with opened(tmp_path / "one", one, DOMAINS, "epsilon = 100") as database:
        found = LogisticRegression().fit(database.session(), NUMBERS, "y", epsilon=20)
        assert set(found.predict(rows)) == {"yes"}


@pytest.mark.parametrize("model", [LogisticRegression(), Perceptron()], ids=repr)
def test_a_refused_step_leaves_it_unfitted(tmp_path, model):
    with opened(tmp_path, points(), DOMAINS, "epsilon = 1") as database:
        with pytest.raises(adomnia.BudgetError, match="spent by this fit before"):
            model.fit(database.session(), NUMBERS, "y", epsilon="1.5")
        assert not model.__sklearn_is_fitted__()
        assert not hasattr(model, "coef_")


def test_a_pipeline_of_scikit_learn_predicts_with_a_fitted_model(session):
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import FunctionTransformer

    model = LogisticRegression().fit(session, NUMBERS, "y", epsilon=2)
    pipeline = Pipeline([("same", FunctionTransformer()), ("model", model)])
    assert pipeline.predict([[5, -0.9], [95, 0.9]]).tolist() == ["no", "yes"]
