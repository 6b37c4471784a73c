"""A console in a thread: its folder, its people, and clients that visit it."""

from __future__ import annotations

import asyncio
import atexit
import json
import re
import shutil
import tempfile
import threading
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any, Self

import httpx
import numpy as np
from pyarrow import csv

from adomnia.cli.demo.census import EDUCATION, REGIONS, census_rows
from adomnia.curator import spend as spending
from adomnia.curator.database import open_database
from adomnia.curator.ledger_view import receipt
from adomnia.server.account_store import open_store
from adomnia.server.accounts import Accounts, open_accounts
from adomnia.server.login_limits import LoginLimits
from adomnia.server.serve import Where, opened
from adomnia.server.service import Service

SECRET = "a secret of their own"
BY_SEX = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
BY_EDUCATION = (
    "SELECT education, AVG(income) AS income, COUNT(*) AS people\n"
    "FROM people\nWHERE age BETWEEN 25 AND 66\nGROUP BY education\nORDER BY income DESC"
)
POLICY = f"""
[data]
source = "people.csv"
table = "people"

[privacy]
neighbors = "unbounded"
epsilon = 4.0
confirmed = true

[attributes.sex]
values = ["F", "M"]
[attributes.age]
low = 0
high = 120
[attributes.region]
values = {json.dumps(REGIONS.tolist())}
[attributes.education]
values = {json.dumps(EDUCATION.tolist())}
[attributes.income]
low = 0
high = 200000

[analysts.alice]
epsilon = 1.0
[analysts.bob]
epsilon = 0.5

[ledger]
url = "adomnia.ledger"
"""


def make_folder(folder: Path, more: str = "") -> Path:
    """A policy, its data and its accounts: alice and bob ask, carol watches over it."""
    for made in _made().iterdir():
        shutil.copy(made, folder)
    file = folder / "adomnia.toml"
    file.write_text(POLICY + more)
    return file


@cache
def _made() -> Path:
    """Made-up people and three accounts, whose secrets take their time to hash."""
    folder = Path(tempfile.mkdtemp(prefix="adomnia-console-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    csv.write_csv(census_rows(0, 4000, np.random.default_rng(5)), folder / "people.csv")
    with Accounts(open_store(str(folder / "adomnia.accounts"))) as accounts:
        for name, role in (("alice", "analyst"), ("bob", "analyst"), ("carol", "curator")):
            accounts.add(name, role, SECRET)
    return folder


class Living:
    """A console that is served while the block runs."""

    def __init__(self, policy: Path, limits: LoginLimits | None = None, **where: Any) -> None:
        self.policy, self.limits, self.where = policy, limits, where
        self.service: Service
        self.url = ""
        self._ready, self._stop = threading.Event(), asyncio.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self._loop: asyncio.AbstractEventLoop
        self._clients = ExitStack()

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(120)
        return self

    def __exit__(self, *_: object) -> None:
        self._clients.close()
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(30)

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        database = open_database(self.policy)
        accounts = open_accounts(database.policy)
        self.service = Service(database, accounts, self.limits)
        async with opened(self.service, Where(http=0, pg=None, **self.where)) as addresses:
            self.url = addresses.url or ""
            self._ready.set()
            await self._stop.wait()

    def settle(self) -> None:
        """Let there be answers, a release, exact totals and an audit."""
        database = self.service.database
        database.add_prior("SELECT region, COUNT(*) AS n FROM people GROUP BY region")
        alice = database.session("alice")
        alice.ask("SELECT COUNT(*) AS n FROM people WHERE age >= 65", 0.05, key="k" * 20)
        alice.ask(BY_SEX, 0.1, key="s" * 20)
        alice.ask(BY_EDUCATION, 0.3, key="e" * 20)
        database.session("bob").ask("SELECT MEDIAN(income) AS m FROM people", 0.2, key="b" * 20)
        planned = database.plan_release(marginals=["sex", "sex,education"], epsilon=0.8)
        database.release(planned)
        (self.policy.parent / "audit").mkdir()
        (self.policy.parent / "audit/audit.json").write_text(json.dumps(audit(database.policy)))

    def receipt(self, statement: str) -> str:
        """The receipt of the newest question with this statement."""
        entries = [e for e in self.service.database.ledger() if e.kind == "reserved"]
        return [receipt(e) for e in entries if e.body["statement"] == statement][-1]

    def client(self, name: str | None = None) -> httpx.Client:
        """A browser without a window; signed in where a name is given."""
        made = self._clients.enter_context(httpx.Client(base_url=self.url, timeout=30))
        if name is not None:
            form = {"name": name, "secret": SECRET, "token": token(made.get("/sign-in").text)}
            assert made.post("/sign-in", data=form).status_code == 303
        return made


def token(page: str) -> str:
    """The token in the first form of a page."""
    return re.search(r'name="token" value="(\w+)"', page).group(1)


def filled(page: str, **more: str) -> dict[str, str]:
    """The form of the page to ask on, filled in."""
    key = re.search(r'name="key" value="([\w-]+)"', page).group(1)
    return {"token": token(page), "key": key, "amount": "0.1", "confidence": "0.95", **more}


def hold(monkeypatch: Any) -> threading.Event:
    """Let questions wait, once they are paid, until the event is set."""
    gate, take = threading.Event(), spending._released

    def wait(*given: object) -> object:
        gate.wait(60)
        return take(*given)

    monkeypatch.setattr(spending, "_released", wait)
    return gate


def audit(policy: Any) -> dict[str, Any]:
    """What an audit could have written down, made up; some findings still hold names."""
    rate = {"value": 0.31, "low": 0.28, "high": 0.35, "confidence": 0.95}
    common = {"affected": "everybody in the table", "covered": True, "source": "a paper",
              "remedy": "spend less", "complete": True}  # fmt: skip
    curve = [{"answers": 2**k, "recovered": 0.5 + k / 30} for k in range(4, 11)]
    return {
        "made": "2026-11-14T09:30:00+00:00",
        "policy": policy.digest,
        "verdict": "red",
        "names": True,
        "findings": [
            {"attack": "reconstruct", "claim": "many answers rebuild little of the secret column",
             "success": {**rate, "value": 0.52, "low": 0.49, "high": 0.55}, "baseline": 0.5,
             "colour": "green",
             "details": {"curve": curve, "ceiling": 0.73, "guess": ["EXACT-VALUE"]}, **common},
            {"attack": "uniqueness", "claim": "31 % of the people are alone in the file",
             "success": rate, "baseline": 0.0, "colour": "red",
             "details": {"uniques": 31, "columns": [{"column": "age", "uniques_without": 3}],
                         "unique_rows": ["EXACT-VALUE"]}, **common},
            {"attack": "claim", "claim": "the noise is as strong as claimed",
             "success": {**rate, "value": 0.9, "low": 0.8}, "baseline": 1.0, "colour": "green",
             "details": {"verdict": "not refuted"}, **common},
        ],
        "skipped": [{"what": "linkage", "why": "no second file was given"}],
    }  # fmt: skip
