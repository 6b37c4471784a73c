"""The laws of models find each kind of model that breaks one, and let a good one pass."""

from __future__ import annotations

import numpy as np
import pytest

from adomnia.mining import Classifier, Unsupervised, bounds_of, identifier, select
from adomnia.testing import models as laws
from adomnia.testing.sessions import RecordingSession, ReplayingSession, state_of
from adomnia.testing.worlds import CLASS, CLOUDS, clouds

FIRST = CLOUDS[:1]


class Mean(Unsupervised):
    """The mean of a column: a good model."""

    def __init__(self, split=None):
        self.split = split

    def learn(self, fit):
        (bound,) = bounds_of(fit.session, fit.features)
        column = identifier(bound.name)
        sql = select(fit.session, {"m": f"AVG({column})"})
        ((mean,),) = fit.ask(sql, self.split_["all"], "mean").rows
        self.mean_ = np.clip(float(mean or 0), float(bound.low), float(bound.high))

    def transform(self, rows):
        return self.numbers(rows) - self.mean_


class Peeking(Mean):
    def learn(self, fit):
        self.engine_ = fit.session._backend
        super().learn(fit)


class Spending(Mean):
    def learn(self, fit):
        super().learn(fit)
        fit.ask(select(fit.session, {"n": "COUNT(*)"}), 1)


class Silent(Mean):
    def learn(self, fit):
        fit.watch = lambda *_: None
        super().learn(fit)


class Hiding(Mean):
    def learn(self, fit):
        super().learn(fit)
        fit.spent /= 2


class Moody(Mean):
    seen = 0

    def learn(self, fit):
        super().learn(fit)
        type(self).seen += 1
        self.mood_ = self.seen


class Curious(Mean):
    def learn(self, fit):
        fit.ask(select(fit.session, {"n": "COUNT(*)"}), 1)
        super().learn(fit)


class Careless(Mean):
    def learn(self, fit):
        ((low,),) = fit.ask(select(fit.session, {"n": "COUNT(*)"}), self.split_["all"]).rows
        self.mean_ = 1 / max(low - low, 0) if low < 200 else 1.0


class Endless(Mean):
    def learn(self, fit):
        super().learn(fit)
        self.mean_ = np.inf


class Keeping(Mean):
    def _forget(self):
        """It keeps what it had."""


class Rigid(Mean):
    def transform(self, rows):
        return np.asarray(rows, float)[:, 0] - self.mean_


class Elsewhere(Classifier):
    """A classifier that predicts what is no class."""

    def learn(self, fit, classes):
        keys = {"c": identifier(classes.name)}
        fit.ask(select(fit.session, {"n": "COUNT(*)"}, keys=keys), self.split_["all"])

    def predict(self, rows):
        return np.array(["neither"] * len(self.numbers(rows)))


@pytest.fixture
def session():
    with clouds().open() as database:
        yield database.session()


def broken(law, *given):
    with pytest.raises(laws.BrokenLawError) as told:
        law(*given)
    return str(told.value)


def test_a_good_model_keeps_them_all():
    laws.check_model(Mean, FIRST)
    with clouds().open() as database:
        assert state_of(Mean().fit(database.session(), FIRST, epsilon=50))["mean_"] > 0


def test_a_model_that_breaks_one_does_not_pass_them_all():
    assert "other" in broken(laws.check_model, Moody, FIRST)


def test_who_looks_behind_the_session_is_found(session):
    assert "_backend" in broken(laws.asks_the_session_alone, Peeking, session, FIRST)


def test_who_says_less_than_it_spends_is_found(session):
    assert "it says that it spent" in broken(laws.spends_what_it_says, Hiding, session, FIRST)


def test_who_spends_more_than_it_may_is_found(session):
    assert "it spent 6 of 5" in broken(laws.spends_what_it_says, Spending, session, FIRST)


def test_who_tells_nobody_of_its_steps_is_found(session):
    assert "told" in broken(laws.spends_what_it_says, Silent, session, FIRST)


def test_who_learns_from_something_else_than_answers_is_found(session):
    law = laws.learns_the_same_from_the_same_answers
    assert "another model" in broken(law, Moody, session, FIRST)


def test_who_spends_before_it_refuses_is_found(session):
    said = broken(laws.refuses_wrong_columns, Curious, session, FIRST)
    assert "something was spent" in said


def test_who_fails_on_odd_data_is_found():
    empty = clouds(columns=laws.AWKWARD["no row"])
    with empty.open() as database, pytest.raises(ZeroDivisionError):
        laws.says_something_of_any_data(Careless, database.session(), FIRST)
    with clouds(columns=laws.AWKWARD["one row"]).open() as database:
        said = broken(laws.says_something_of_any_data, Endless, database.session(), FIRST)
    assert said == "it says what is no number"


def test_who_predicts_what_is_no_class_is_found(session):
    said = broken(laws.says_something_of_any_data, Elsewhere, session, FIRST, CLASS)
    assert said == "it predicts what is no class"


def test_who_keeps_its_state_after_a_refusal_is_found():
    with clouds().open() as database:
        model = Keeping().fit(database.session(), FIRST, epsilon=5)
        poor = database.session(epsilon="1/40")
        said = broken(laws.unfitted_after_a_refusal, model, poor, FIRST)
    assert said == "a refused fit leaves something of itself"


def test_who_cannot_take_a_frame_is_found(session):
    model = Rigid().fit(session, FIRST, epsilon=5)
    with pytest.raises((laws.BrokenLawError, TypeError)):
        laws.takes_rows_in_any_form(model, [[1], [2]])


def test_who_changes_its_parameters_is_found():
    class Changing(Mean):
        def __init__(self, split=None, depth=1):
            super().__init__(split)
            self.depth = depth + 1

    assert "do not make the same model" in broken(laws.shows_its_parameters, Changing)


def test_a_recorded_session_answers_again_and_nothing_else(session):
    recording = RecordingSession(session)
    answer = recording.ask("SELECT COUNT(*) AS n FROM clouds", epsilon=1)
    plan = recording.plan("SELECT COUNT(*) AS n FROM clouds", epsilon=1)
    again = ReplayingSession(recording)
    assert again.plan("SELECT COUNT(*) AS n FROM clouds", 1) is plan
    assert again.ask("SELECT COUNT(*) AS n FROM clouds", "1") is answer
    with pytest.raises(laws.QuestionError):
        again.ask("SELECT COUNT(*) AS n FROM clouds", 1)
    with pytest.raises(laws.QuestionError):
        again.plan("SELECT COUNT(*) AS n FROM clouds", 2)
