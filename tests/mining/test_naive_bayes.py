"""Naive Bayes: its moments and counts are the exact ones without noise, and shrink with it."""

from __future__ import annotations

import numpy as np
import pytest
from small_table import listed, number, opened

import adomnia
from adomnia.mining.naive_bayes import CategoricalNB, GaussianNB

DOMAINS = {"x": number(0, 100), "z": number(-10, 10, "0.5"), "kind": listed("u", "v", "w"),
           "y": listed("no", "yes")}  # fmt: skip


def people(count=2000, seed=0):
    """Two classes that differ in every column."""
    draw = np.random.default_rng(seed)
    y = (draw.random(count) < 0.3).astype(int)
    x = np.clip(np.round(30 + 30 * y + 8 * draw.standard_normal(count)), 0, 100)
    z = np.clip(np.round(2 * (-3 + 5 * y + 2 * draw.standard_normal(count))) / 2, -10, 10)
    kind = np.where(draw.random(count) < 0.8, np.where(y == 1, "w", "u"), "v")
    return {"x": x.astype(int), "z": z, "kind": kind, "y": np.array(["no", "yes"])[y]}


def test_moments_are_those_of_the_classes(tmp_path):
    columns = people()
    with opened(tmp_path, columns, DOMAINS) as database:
        made = GaussianNB().fit(database.session(), ["x", "z"], "y", epsilon=10_000)
    for place, label in enumerate(["no", "yes"]):
        own = columns["y"] == label
        assert made.theta_[place] == pytest.approx(
            [columns["x"][own].mean(), columns["z"][own].mean()], abs=0.05
        )
        assert made.var_[place] == pytest.approx(
            [columns["x"][own].var(), columns["z"][own].var()], rel=0.02
        )
        assert made.class_prior_[place] == pytest.approx(own.mean(), abs=0.001)
    rows = {"x": [30, 62], "z": [-3.0, 2.0]}
    assert made.predict(rows).tolist() == ["no", "yes"]
    assert made.score(rows, ["no", "yes"]) == 1
    assert np.allclose(made.predict_proba(rows).sum(axis=1), 1)


def test_it_predicts_as_scikit_learns_where_noise_is_small(tmp_path):
    theirs = pytest.importorskip("sklearn.naive_bayes")
    columns = people()
    table = np.column_stack([columns["x"], columns["z"]])
    exact = theirs.GaussianNB().fit(table, columns["y"]).predict(table)
    with opened(tmp_path, columns, DOMAINS) as database:
        made = GaussianNB().fit(database.session(), ["x", "z"], "y", epsilon=2)
    assert np.mean(made.predict(table) == exact) > 0.97


def test_noise_that_hides_the_classes_is_not_believed(tmp_path):
    notes = []
    with opened(tmp_path, people(40), DOMAINS) as database:
        for turn in range(8):  # the note rests on a noisy number of rows
            epsilon = f"0.001{turn}"
            made = GaussianNB().fit(database.session(), ["x", "z"], "y", epsilon=epsilon)
            assert np.isfinite(made.predict_proba([[30, -3], [60, 2]])).all()
            assert (made.var_ > 0).all()
            notes += made.notes_
    assert any("larger epsilon" in note for note in notes)


def test_counts_are_those_of_the_classes(tmp_path):
    columns = people()
    with opened(tmp_path, columns, DOMAINS) as database:
        made = CategoricalNB(alpha=0.01).fit(database.session(), ["kind"], "y", epsilon=10_000)
    for place, label in enumerate(["no", "yes"]):
        own = columns["kind"][columns["y"] == label]
        share = [np.mean(own == kind) for kind in "uvw"]
        assert np.exp(made.feature_log_prob_["kind"][place]) == pytest.approx(share, abs=0.002)
    assert made.predict([["u"], ["w"]]).tolist() == ["no", "yes"]
    assert made.predict([["never seen"]]).tolist() == ["no"]  # by the classes' shares alone


def test_features_can_have_shares_of_their_own(tmp_path):
    with opened(tmp_path, people(), DOMAINS) as database:
        made = CategoricalNB(split={"kind": 1}).fit(
            database.session(), ["kind", "x"], "y", epsilon=1
        )
    assert made.spent_ == 1
    assert made.split_ == {"kind": 1, "x": 0}
    assert (made.feature_log_prob_["x"] == 0).all()
    assert made.predict([["u", 5], ["w", 5]]).tolist() == ["no", "yes"]


def test_what_cannot_be_a_target_is_refused(tmp_path):
    with opened(tmp_path, people(50), DOMAINS) as database:
        session = database.session()
        for model in (GaussianNB(), CategoricalNB()):
            for target in ("x", "nowhere"):
                with pytest.raises(adomnia.QuestionError):
                    model.fit(session, ["x"], target, epsilon=1)
        with pytest.raises(adomnia.QuestionError, match="no bounds"):
            GaussianNB().fit(session, ["x", "kind"], "y", epsilon=1)
        assert database.budget()["data"]["spent"] == "0"


def test_one_class_and_one_value_are_defined(tmp_path):
    domains = {"x": number(5, 5), "y": listed("only")}
    with opened(tmp_path, {"x": [5] * 9, "y": ["only"] * 9}, domains) as database:
        session = database.session()
        one = GaussianNB().fit(session, ["x"], "y", epsilon=1)
        other = CategoricalNB().fit(session, ["x"], "y", epsilon=1)
    assert one.predict([[5]]).tolist() == other.predict([[5]]).tolist() == ["only"]


def test_rows_with_missing_values_are_refused(tmp_path):
    with opened(tmp_path, people(50), DOMAINS) as database:
        made = GaussianNB().fit(database.session(), ["x"], "y", epsilon=1)
    for wrong in ([[float("nan")]], [["text"]]):
        with pytest.raises(adomnia.QuestionError):
            made.predict(wrong)


def test_missing_values_of_a_feature_do_not_move_its_means(tmp_path):
    columns = people(1000)
    holes = [None if place % 2 else value for place, value in enumerate(columns["z"].tolist())]
    with opened(tmp_path, {**columns, "z": holes}, DOMAINS) as database:
        made = GaussianNB().fit(database.session(), ["x", "z"], "y", epsilon=1000)
    for place, label in enumerate(["no", "yes"]):
        known = columns["z"][::2][columns["y"][::2] == label]
        assert made.theta_[place, 1] == pytest.approx(known.mean(), abs=0.2)
