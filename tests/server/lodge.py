"""A small service for the doors: made-up people, a policy, accounts, and servers on free ports."""

from __future__ import annotations

import asyncio
import io
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import httpx
import numpy as np
import pytest

from adomnia.cli.main import main
from adomnia.curator.database import PrivateDatabase, open_database
from adomnia.server.accounts import Accounts, open_accounts
from adomnia.server.login_limits import LoginLimits
from adomnia.server.serve import Addresses, Where, opened
from adomnia.server.service import Service
from adomnia.testing.worlds import World, analysts, listed, number

COUNT = "SELECT COUNT(*) AS n FROM people"
SECRETS = {"alice": "the secret of alice", "bob": "the secret of bob", "carol": "carol is curator"}

PROGRAM = "from adomnia.cli.main import main; main()"
"""The command."""


def write_people(folder: Path, rows: int = 1000, epsilon: str = "1000") -> Path:
    """Data and policy; the policy's path."""
    chance = np.random.default_rng(5)
    columns = {
        "sex": np.array(["F", "M"])[chance.integers(0, 2, rows)],
        "age": chance.integers(17, 91, rows),
        "city": np.array(["linz", "rome", "Zzsecret"])[chance.integers(0, 3, rows)],
    }
    attributes = {
        "sex": listed("F", "M"),
        "age": number(0, 120),
        "city": listed("linz", "rome", other="elsewhere"),
    }
    world = World(columns, attributes, f"epsilon = {epsilon}", analysts(alice=epsilon, bob=1))
    return world.write(folder)


@dataclass
class Lodge:
    """A database with three accounts: alice and bob ask, carol is the curator."""

    policy: Path
    database: PrivateDatabase
    accounts: Accounts

    def service(self, limits: LoginLimits | None = None) -> Service:
        """A service for its doors."""
        return Service(self.database, self.accounts, limits)


@contextmanager
def lodging(folder: Path, epsilon: str = "1000") -> Iterator[Lodge]:
    """A lodge while the block runs."""
    policy = write_people(folder, epsilon=epsilon)
    with open_database(policy) as database, open_accounts(database.policy) as accounts:
        with patch("adomnia.server.accounts.SCRYPT", (2**10, 8, 1)):
            for name, secret in SECRETS.items():
                accounts.add(name, "curator" if name == "carol" else "analyst", secret)
        yield Lodge(policy, database, accounts)


@contextmanager
def served(service: Service, where: Where | None = None) -> Iterator[Addresses]:
    """The doors of a service, open on free ports while the block runs, in a thread."""
    where = where or Where(http=0, pg=None)
    ready: Any = threading.Event()
    found: dict[str, Any] = {}

    async def serve() -> None:
        found["loop"], found["stop"] = asyncio.get_running_loop(), asyncio.Event()
        async with opened(service, where) as addresses:
            found["at"] = addresses
            ready.set()
            await found["stop"].wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    assert ready.wait(60)
    try:
        yield found["at"]
    finally:
        found["loop"].call_soon_threadsafe(found["stop"].set)
        thread.join(30)


def client(at: Addresses, name: str | None = "alice", **more: Any) -> httpx.Client:
    """An HTTP client that comes in by name and secret."""
    login = None if name is None else (name, SECRETS[name])
    return httpx.Client(base_url=at.url or "", auth=login, timeout=60, **more)


@dataclass(frozen=True)
class Ran:
    """How a run of the command ended."""

    returncode: int
    stdout: str
    stderr: str


def command(*words: str, folder: Path, stdin: str = "") -> Ran:
    """Run `adomnia` to its end, in this process, with the policy of a folder."""
    out, err, before = io.StringIO(), io.StringIO(), sys.stdin
    sys.stdin = io.StringIO(stdin)
    try:
        with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as left:
            main([*words, "--policy", str(folder / "adomnia.toml")])
    finally:
        sys.stdin = before
    return Ran(int(left.value.code or 0), out.getvalue(), err.getvalue())


@contextmanager
def process(folder: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    """`adomnia serve` in a process of its own, and the addresses that it printed."""
    with started(folder, "--format", "json", *words) as running:
        assert running.stdout is not None
        yield running, json.loads(running.stdout.readline())


@contextmanager
def started(folder: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    """`adomnia serve` in a process of its own; it is killed in the end if it still runs."""
    line = [sys.executable, "-c", PROGRAM, "serve", *words]
    with subprocess.Popen(line, cwd=folder, stdout=subprocess.PIPE, text=True) as running:
        try:
            yield running
        finally:
            if running.poll() is None:
                os.kill(running.pid, signal.SIGKILL)
