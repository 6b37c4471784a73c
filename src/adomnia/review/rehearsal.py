"""Rehearsals: a database that an attacker may really ask, beside the one that is real.

The copy has the same data and the same promise, and a ledger of its own that begins where the
real one is. What the attacker spends there, nobody has spent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.curator.database import Database, open_database
from adomnia.curator.ledger_view import copy_ledger
from adomnia.curator.session import Session
from adomnia.engines.sql.sql_literals import literal, quoted
from adomnia.errors import BudgetError
from adomnia.policy.policy import Policy, read_policy
from adomnia.privacy.loss import Amount
from adomnia.schema.domain import Categories, Grid
from adomnia.schema.table import Attribute

__all__ = ["TARGET", "counting", "made_up", "rehearsal", "subset_counting"]

TARGET = "secret = 'yes'"
_ROOM = "adomnia-audit-"


@contextmanager
def rehearsal(policy: str | Path, spend: bool = False) -> Iterator[Database]:
    """The policy's database on a copy of its ledger; the real one where it may be spent.

    A draft that is not confirmed can be rehearsed, too: nobody outside sees the answers.
    """
    if spend:
        with open_database(policy) as real:
            yield real
        return
    told = read_policy(policy)
    with TemporaryDirectory(prefix=_ROOM, ignore_cleanup_errors=True) as room:
        copied = Path(room) / "adomnia.ledger"
        copy_ledger(told, copied)
        with Database(replace(told, ledger=str(copied))) as copy:
            yield copy


@contextmanager
def made_up(policy: Policy, bits: Sequence[int]) -> Iterator[Database]:
    """A table of made-up people, each with a number and a secret, under the policy's promise.

    The budget is whole, as if nothing had been spent. Nothing is known of these people, so exact
    releases and units of the real data do not carry over.
    """
    with TemporaryDirectory(prefix=_ROOM, ignore_cleanup_errors=True) as room:
        source = Path(room) / "people.csv"
        lines = (f"{number},{'yes' if bit else 'no'}" for number, bit in enumerate(bits))
        source.write_text("\n".join(["person,secret", *lines, ""]), "utf-8")
        numbers = Grid(Fraction(0), Fraction(max(len(bits) - 1, 1)), Fraction(1))
        attributes = {
            "person": Attribute("person", numbers),
            "secret": Attribute("secret", Categories(("no", "yes"))),
        }
        told = replace(
            policy,
            source=str(source),
            table="people",
            neighbors=replace(policy.neighbors, rows=None),
            attributes=attributes,
            unit=None,
            analysts={},
            public={},
            ledger=str(Path(room) / "adomnia.ledger"),
            priors=(),
            universe=None,
        )
        with Database(told) as database:
            yield database


def counting(
    session: Session, epsilon: Amount, rewrite: Callable[[str], str] | None = None
) -> Callable[[str], float]:
    """How an attacker asks this session how many fulfil a condition.

    Who rewrites conditions wants noise that is new each time: an answer that costs nothing is one
    that was given before, and ends it like the end of a budget.
    """
    table = quoted(session.desk.policy.table)

    def ask(condition: str) -> float:
        asked = condition if rewrite is None else rewrite(condition)
        answer = session.ask(f"SELECT COUNT(*) AS n FROM {table} WHERE {asked}", epsilon)  # noqa: S608
        if rewrite is not None and not any(answer.spent.values()):
            raise BudgetError("this was answered before", "in these or in other words")
        return float(answer.rows[0][0])

    return ask


def subset_counting(
    session: Session, epsilon: Amount, column: str, people: Sequence[Any], target: str
) -> Callable[[NDArray[Any]], float]:
    """How an attacker asks how many of some people fulfil the target."""
    ask = counting(session, epsilon)
    names = [literal(value) for value in people]

    def count(chosen: NDArray[Any]) -> float:
        listed = ", ".join(names[place] for place in np.flatnonzero(chosen))
        return ask(f"({target}) AND {quoted(column)} IN ({listed})") if listed else 0.0

    return count
