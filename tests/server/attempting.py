"""What attempts on the doors share: questions that nobody asked before, and browsers."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import httpx
from lodge import SECRETS, Lodge, client

from adomnia.curator import spend as spending
from adomnia.server.serve import Addresses

_AGES = iter(range(1, 120))


def ask(who: httpx.Client, sql: str, epsilon: Any, **headers: str) -> httpx.Response:
    return who.post("/v1/ask", json={"sql": sql, "epsilon": epsilon}, headers=headers)


def fresh() -> str:
    """A question that nobody has asked before."""
    return f"SELECT COUNT(*) AS n{time.monotonic_ns()} FROM people WHERE age > {next(_AGES)}"


def signed_in(at: Addresses, name: str, secret: str | None = None) -> httpx.Client:
    """A browser that has signed in."""
    browser = client(at, None)
    form = {"name": name, "secret": secret or SECRETS[name], "token": token(browser, "/sign-in")}
    assert browser.post("/sign-in", data=form).status_code == 303
    return browser


def token(browser: httpx.Client, page: str = "/") -> str:
    return re.findall(r'name="token" value="([0-9a-f]+)"', browser.get(page).text)[0]


def spent(lodge: Lodge, name: str) -> Fraction:
    return Fraction(lodge.database.budget()["analysts"][name]["spent"])


@contextmanager
def slow_questions(count: int) -> Iterator[None]:
    """Questions wait until so many of them have been paid."""
    all_paid, take = threading.Barrier(count), spending._released

    def waiting(backend: Any, use: Any) -> Any:
        with suppress(threading.BrokenBarrierError):
            all_paid.wait(5)
        return take(backend, use)

    with patch.object(spending, "_released", waiting):
        yield
