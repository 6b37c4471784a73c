"""A watched question: its stages are told, and it can be ended from another thread."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from town import Town

from adomnia.curator.access import Watch
from adomnia.engines.engine import quietly, unanswered
from adomnia.errors import CancelledError, MachineryError

COUNT = "SELECT COUNT(*) FROM people"


def test_stages_are_told(town: Town) -> None:
    seen: list[str] = []
    town.open().session().ask(COUNT, epsilon=1, watch=Watch(seen.append))
    assert seen == ["planned", "paid", "answered"]


def test_before_it_is_paid_nothing_is_spent(town: Town) -> None:
    session, watch = town.open("epsilon = 2").session(), Watch()
    watch.cancel()
    with pytest.raises(CancelledError):
        session.ask(COUNT, epsilon=1, watch=watch)
    assert session.remaining()["epsilon"] == 2


def test_after_it_is_paid_it_stays_spent(town: Town) -> None:
    session = town.open("epsilon = 2").session()

    def tell(stage: str) -> None:
        if stage == "paid":
            watch.cancel()

    watch = Watch(tell)
    with pytest.raises(CancelledError, match="stays spent"):
        session.ask(COUNT, epsilon=1, watch=watch)
    assert session.remaining()["epsilon"] == 1
    assert session.ask(COUNT, epsilon=1).spent["epsilon"] == 1  # it was never answered


def test_a_running_statement_ends_at_once(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine is given a statement that would take days; the words of its failure are gone."""
    database = town.open("epsilon = 100")
    engine, session = database._backend.engine, database.session()

    watch, over = Watch(), threading.Event()

    def cancel() -> None:
        """Again and again: an engine does not hear it before its statement runs."""
        while not over.wait(0.1):
            watch.cancel()

    def days(cursor: Any) -> object:
        threading.Thread(target=cancel).start()
        return cursor.execute("SELECT SUM(i) FROM range(100000000000000) AS t(i)").fetchall()

    with monkeypatch.context() as patched:
        patched.setattr(engine, "_rows", lambda _: quietly(lambda: engine._run(days), unanswered))
        with pytest.raises(CancelledError) as caught:
            session.ask(COUNT, epsilon=1, watch=watch)
    over.set()
    assert isinstance(caught.value.__context__, MachineryError)
    assert caught.value.__context__.__context__ is None
    assert session.ask(COUNT, epsilon=1).spent["epsilon"] == 1
    assert session.remaining()["epsilon"] == 98
