"""How laws are told: what must hold, what must be refused, and what must cost nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.curator.session import Session
from adomnia.errors import AdomniaError
from adomnia.mining.parts.estimator import Estimator

__all__ = ["EPSILON", "BrokenLawError", "fit_model", "hold", "refused", "said_of", "unpaid", "verb"]

EPSILON = 5
"""What a fit costs here."""


class BrokenLawError(AssertionError):
    """Something does not keep a law; the message says which.

    >>> issubclass(BrokenLawError, AssertionError)
    True
    """


def hold(kept: bool, otherwise: str) -> None:
    """Raise a BrokenLawError where a law is not kept.

    >>> hold(1 < 2, "numbers are out of order")
    """
    if not kept:
        raise BrokenLawError(otherwise)


@contextmanager
def refused(kind: type[AdomniaError], what: str) -> Iterator[list[AdomniaError]]:
    """The block must be refused by such an error, which the list has afterwards."""
    found: list[AdomniaError] = []
    try:
        yield found
    except kind as error:
        found.append(error)
    except BrokenLawError:
        raise
    except Exception as error:
        raise BrokenLawError(f"{what}: refused by a {type(error).__name__}") from error
    hold(bool(found), f"{what}: not refused")


@contextmanager
def unpaid(session: Session) -> Iterator[None]:
    """The block must spend nothing, however it ends."""
    before = session.remaining()
    try:
        yield
    finally:
        hold(session.remaining() == before, "something was spent before it was refused")


def fit_model(
    model: Any,
    session: Any,
    features: Any,
    target: str | None,
    epsilon: Any = EPSILON,
    **more: Any,
) -> Any:
    """The model, fitted; it must return itself."""
    columns = (features,) if target is None else (features, target)
    fitted = model.fit(session, *columns, epsilon=epsilon, **more)
    hold(fitted is model, "fit does not return the model")
    return fitted


def verb(model: Estimator) -> str | None:
    """What a model does with single rows, if anything."""
    return next((name for name in ("predict", "transform") if hasattr(model, name)), None)


def said_of(model: Any, rows: Any) -> NDArray[Any]:
    """What a model says of rows; zeros where it says nothing of single ones."""
    name = verb(model)
    if name is None:  # it has nothing to say of single rows
        return np.zeros(len(next(iter(model.columns(rows).values()))))
    return np.asarray(getattr(model, name)(rows))
