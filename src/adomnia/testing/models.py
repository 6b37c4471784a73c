"""The laws of models: what each must keep that learns through a session.

Each law takes a function that makes an unfitted model, a session, and columns; it raises a
`BrokenLawError` where the model does not keep it. `check_model` holds a model against all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from adomnia.curator.session import Session
from adomnia.errors import AdomniaError, BudgetError, QuestionError
from adomnia.mining.parts.classifier import Classifier
from adomnia.privacy.loss import Amount
from adomnia.testing.sessions import RecordingSession, ReplayingSession, state_of
from adomnia.testing.verdicts import (
    EPSILON,
    BrokenLawError,
    fit_model,
    hold,
    refused,
    said_of,
    unpaid,
    verb,
)
from adomnia.testing.worlds import CLASS, CLOUDS, clouds

__all__ = [
    "AWKWARD",
    "BrokenLawError",
    "asks_the_session_alone",
    "check_model",
    "learns_the_same_from_the_same_answers",
    "pleases_scikit_learn",
    "refuses_wrong_columns",
    "refuses_wrong_rows",
    "refuses_wrong_terms",
    "says_something_of_any_data",
    "shows_its_parameters",
    "spends_what_it_says",
    "takes_rows_in_any_form",
    "unfitted_after_a_refusal",
]

Make = Callable[[], Any]
"""Makes an unfitted model, always with the same parameters."""

AWKWARD: Mapping[str, Mapping[str, Any]] = {
    "no row": {CLOUDS[0]: [], CLOUDS[1]: [], CLASS: []},
    "one row": {CLOUDS[0]: [5], CLOUDS[1]: [0], CLASS: ["yes"]},
    "one value": {CLOUDS[0]: [5] * 9, CLOUDS[1]: [0] * 9, CLASS: ["yes"] * 9},
    "outside": {
        CLOUDS[0]: [10**6, -5, 3],
        CLOUDS[1]: [77, -77, 0],
        CLASS: ["else", "no", "yes"],
    },
    "missing": {
        CLOUDS[0]: [float("nan"), 5.0, None],
        CLOUDS[1]: [0, None, 1],
        CLASS: [None, "no", "yes"],
    },
}
"""Data on which a model must still be defined: columns for `worlds.clouds`, by what is odd."""
WRONG_LOSSES: tuple[Any, ...] = (0, -1, "nan", "inf", "x", None)


def shows_its_parameters(make: Make) -> None:
    """Parameters are what the constructor was given; they can be set by name, and no others.

    Raises a BrokenLawError where they are not.

    >>> from adomnia.mining import KMeans
    >>> shows_its_parameters(lambda: KMeans(2))
    """
    model = make()
    given = model.get_params()
    hold(given == model.get_params(deep=False), "deep changes its parameters")
    hold(model.set_params(**given) is model, "set_params does not return the model")
    hold(type(model).__name__ in repr(model), "repr does not say what it is")
    with refused(QuestionError, "a parameter that it does not have"):
        model.set_params(no_such_parameter=1)
    hold(model.get_params() == given, "a refused parameter changed it")
    hold(type(model)(**given).get_params() == given, "its parameters do not make the same model")
    with refused(QuestionError, "rows before it is fitted"):
        model.columns([[1, 2]])


def spends_what_it_says(
    make: Make, session: Session, features: Sequence[str], target: str | None = None
) -> Any:
    """A fit spends no more than its epsilon, says what it spent, and tells who watches.

    Nothing may have been asked in the session before. Returns the fitted model; raises a
    BrokenLawError where the law is not kept.

    >>> from adomnia.mining import GaussianNB
    >>> with clouds(rows=50).open() as database:
    ...     model = spends_what_it_says(GaussianNB, database.session(), CLOUDS, CLASS)
    >>> model.spent_
    Fraction(5, 1)
    """
    told: list[tuple[str, int, int]] = []
    before = session.remaining()["epsilon"]
    model = fit_model(make(), session, features, target, progress=lambda *step: told.append(step))
    spent = before - session.remaining()["epsilon"]
    hold(model.spent_ == spent, f"it says that it spent {model.spent_}, and spent {spent}")
    hold(0 < spent <= EPSILON, f"it spent {spent} of {EPSILON}")
    hold(sum(model.split_.values()) == EPSILON, "its parts do not sum to its epsilon")
    hold(
        bool(told) and [step[1] for step in told] == list(range(1, len(told) + 1)),
        "who watches is not told each step",
    )
    hold(list(model.feature_names_in_) == list(features), "it forgot the order of its features")
    hold(model.n_features_in_ == len(features), "it does not know how many features it has")
    return model


def takes_rows_in_any_form(model: Any, rows: Sequence[Sequence[Any]]) -> None:
    """A fitted model says the same of public rows as a list, an array, and a frame of columns.

    Raises a BrokenLawError where it does not.

    >>> from adomnia.mining import GaussianNB
    >>> with clouds(rows=50).open() as database:
    ...     model = GaussianNB().fit(database.session(), CLOUDS, CLASS, epsilon=1)
    >>> takes_rows_in_any_form(model, [[1, 1], [4, 4]])
    """
    names = [str(name) for name in model.feature_names_in_]
    frame = {name: [row[i] for row in rows] for i, name in reversed([*enumerate(names)])}
    frame["another column"] = [0] * len(rows)
    for other in (np.array(rows), frame):
        columns = zip(model.columns(rows).values(), model.columns(other).values(), strict=True)
        hold(all(np.array_equal(a, b) for a, b in columns), "rows in another form are others")
        hold(np.array_equal(said_of(model, rows), said_of(model, other)), "it says other things")


def refuses_wrong_rows(model: Any) -> None:
    """A fitted model refuses rows that have not its features; else a BrokenLawError is raised.

    >>> from adomnia.mining import GaussianNB
    >>> with clouds(rows=50).open() as database:
    ...     model = GaussianNB().fit(database.session(), CLOUDS, CLASS, epsilon=1)
    >>> refuses_wrong_rows(model)
    """
    names = [str(name) for name in model.feature_names_in_]
    for wrong in ([[1] * (len(names) + 1)], [1, 2], {"no such column": [1]}):
        with refused(QuestionError, f"the rows {wrong}"):
            model.columns(wrong)


def refuses_wrong_columns(
    make: Make, session: Session, features: Sequence[str], target: str | None = None
) -> None:
    """Columns that are not declared, no list, or named twice are refused, and cost nothing.

    Raises a BrokenLawError where they are not, or cost something.

    >>> from adomnia.mining import GaussianNB
    >>> with clouds(rows=50).open() as database:
    ...     refuses_wrong_columns(GaussianNB, database.session(), CLOUDS, CLASS)
    """
    first = features[0]
    for wrong in (["no such column"], [], first, [*features, "no such column"], [first, first]):
        with refused(QuestionError, f"the features {wrong}"), unpaid(session):
            fit_model(make(), session, wrong, target)
    for wrong_target in () if target is None else ("no such column", first):
        with refused(QuestionError, f"the target {wrong_target!r}"), unpaid(session):
            fit_model(make(), session, features, wrong_target)


def refuses_wrong_terms(
    make: Make, session: Session, features: Sequence[str], target: str | None = None
) -> None:
    """No epsilon, and a split with parts that are none, are refused, and cost nothing.

    Raises a BrokenLawError where they are not, or cost something.

    >>> from adomnia.mining import GaussianNB
    >>> with clouds(rows=50).open() as database:
    ...     refuses_wrong_terms(GaussianNB, database.session(), CLOUDS, CLASS)
    """
    for epsilon in WRONG_LOSSES:
        with refused(AdomniaError, f"epsilon = {epsilon}"), unpaid(session):
            fit_model(make(), session, features, target, epsilon)
    if "split" in make().get_params():
        model = make().set_params(split={"no such part": 1})
        with refused(QuestionError, "a split of other parts"), unpaid(session):
            fit_model(model, session, features, target)


def unfitted_after_a_refusal(
    model: Any, session: Session, features: Sequence[str], target: str | None = None
) -> None:
    """A step that the budget refuses leaves a model unfitted that was fitted before, and the
    refusal says what was spent; the session must have less than the epsilon of a fit left.

    Raises a BrokenLawError where the law is not kept.

    >>> from adomnia.mining import GaussianNB
    >>> with clouds(rows=50).open() as database:
    ...     model = GaussianNB().fit(database.session(), CLOUDS, CLASS, epsilon=1)
    ...     unfitted_after_a_refusal(model, database.session(epsilon=1), CLOUDS, CLASS)
    """
    before = session.remaining()["epsilon"]
    hold(before < EPSILON, "the session can pay all: give it a smaller budget")
    with refused(BudgetError, "more than the budget") as error:
        fit_model(model, session, features, target, EPSILON + 1)
    spent = before - session.remaining()["epsilon"]
    hold(f"epsilon = {spent}" in str(error[0]), "the refusal does not say what was spent")
    hold(not state_of(model), "a refused fit leaves something of itself")
    with refused(QuestionError, "rows after a refused fit"):
        model.columns([[1] * len(features)])


def says_something_of_any_data(
    make: Make,
    session: Session,
    features: Sequence[str],
    target: str | None = None,
    epsilon: Amount = EPSILON,
) -> Any:
    """Whatever the data and the epsilon, it can be fitted, and says something of public rows.

    Numbers are finite and classes those of the target. Returns the fitted model; raises a
    BrokenLawError where the law is not kept.

    >>> from adomnia.mining import GaussianNB
    >>> with clouds(columns=AWKWARD["no row"]).open() as database:
    ...     model = says_something_of_any_data(GaussianNB, database.session(), CLOUDS, CLASS)
    >>> model.classes_.tolist()
    ['no', 'yes']
    """
    model = fit_model(make(), session, features, target, epsilon)
    rows = [[1] * len(features), [4] * len(features)]
    said = said_of(model, rows)
    hold(len(said) == len(rows), "it does not answer once for each row")
    if isinstance(model, Classifier):
        hold(set(said.tolist()) <= set(model.classes_.tolist()), "it predicts what is no class")
    else:
        hold(bool(np.isfinite(said.astype(np.float64)).all()), "it says what is no number")
    hold(model.spent_ <= Fraction(str(epsilon)), "it spends more than its epsilon")
    return model


def asks_the_session_alone(
    make: Make, session: Session, features: Sequence[str], target: str | None = None
) -> None:
    """It learns by `ask` and `plan`, `table` and `policy`, and by nothing else of a session.

    What it says that it spent is what the answers cost. Raises a BrokenLawError where the law is
    not kept.

    >>> from adomnia.mining import GaussianNB
    >>> with clouds(rows=50).open() as database:
    ...     asks_the_session_alone(GaussianNB, database.session(), CLOUDS, CLASS)
    """
    recording = RecordingSession(session)
    try:
        model = fit_model(make(), recording, features, target)
    except AttributeError as error:
        raise BrokenLawError(f"it wants more of a session: {error}") from error
    paid = sum((answer.spent["epsilon"] for _, answer in recording.answers), Fraction(0))
    hold(model.spent_ == paid, "its answers cost something else than it says")


def learns_the_same_from_the_same_answers(
    make: Make, session: Session, features: Sequence[str], target: str | None = None
) -> None:
    """Its state follows from parameters, the policy and the answers alone: given these again,
    without any data, it is the same. Raises a BrokenLawError where it is another.

    >>> from adomnia.mining import GaussianNB
    >>> with clouds(rows=50).open() as database:
    ...     learns_the_same_from_the_same_answers(GaussianNB, database.session(), CLOUDS, CLASS)
    """
    recording = RecordingSession(session)
    first = fit_model(make(), recording, features, target)
    second = fit_model(make(), ReplayingSession(recording), features, target)
    hold(state_of(first) == state_of(second), "the same answers made another model")


def pleases_scikit_learn(model: Any, rows: Sequence[Sequence[Any]]) -> None:
    """scikit-learn can copy a fitted model, knows what it is, and predicts at the end of a
    pipeline. Where scikit-learn is not installed, nothing is held against it. Raises a
    BrokenLawError where the law is not kept.

    >>> from adomnia.mining import GaussianNB
    >>> with clouds(rows=50).open() as database:
    ...     model = GaussianNB().fit(database.session(), CLOUDS, CLASS, epsilon=1)
    >>> pleases_scikit_learn(model, [[1, 1], [4, 4]])
    """
    if find_spec("sklearn") is None:
        return
    base, pipeline = import_module("sklearn.base"), import_module("sklearn.pipeline")
    made_of = import_module("sklearn.preprocessing").FunctionTransformer
    hold(base.clone(model).get_params() == model.get_params(), "a clone is another model")
    hold(base.is_classifier(model) == isinstance(model, Classifier), "it is taken for another")
    name = verb(model)
    if name is not None:
        doubled = pipeline.make_pipeline(made_of(lambda x: np.asarray(x) * 2), model)
        twice = np.asarray(rows) * 2
        same = np.array_equal(getattr(doubled, name)(rows), getattr(model, name)(twice))
        hold(same, "it says something else at the end of a pipeline")


def check_model(make: Make, features: Sequence[str] = CLOUDS) -> None:
    """Hold a model against every law, in made-up worlds; raises a `BrokenLawError`.

    `make` makes an unfitted model, always with the same parameters. It is fitted on whole numbers
    with bounds (the features of `worlds.clouds`, or those of them that are given), and a
    `Classifier` on a target with two values.

    >>> from adomnia.mining import GaussianNB
    >>> check_model(GaussianNB)
    """
    target = CLASS if isinstance(make(), Classifier) else None
    rows = [[1] * len(features), [4] * len(features)]
    shows_its_parameters(make)
    with clouds().open() as database:
        session = database.session()
        refuses_wrong_columns(make, session, features, target)
        refuses_wrong_terms(make, session, features, target)
        model = spends_what_it_says(make, session, features, target)
        takes_rows_in_any_form(model, rows)
        refuses_wrong_rows(model)
        pleases_scikit_learn(model, rows)
        poor = database.session(epsilon=Fraction(1, 40))
        unfitted_after_a_refusal(model, poor, features, target)
    for law in (asks_the_session_alone, learns_the_same_from_the_same_answers):
        with clouds().open() as database:
            law(make, database.session(), features, target)
    for columns in AWKWARD.values():
        for epsilon in ("0.01", 50):
            with clouds(columns=columns).open() as database:
                session = database.session()
                says_something_of_any_data(make, session, features, target, epsilon)
