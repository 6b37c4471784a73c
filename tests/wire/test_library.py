"""A server of a few lines that has nothing to do with adomnia: psql and psycopg speak with it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest

from adomnia.wire.errors import WireError
from adomnia.wire.protocol.connection import Connection
from adomnia.wire.protocol.sasl import SaslLogin
from adomnia.wire.protocol.scram import make_verifier
from adomnia.wire.protocol.startup import StartupMessage, greet
from adomnia.wire.statements.connection_state import ConnectionState, SharedSettings
from adomnia.wire.statements.lexer import ClientStatement, TokenStream
from adomnia.wire.statements.results import Command, Outcome
from adomnia.wire.statements.settings import SettingRules, startup_settings

sys.path.insert(0, str(Path(__file__).parent / "catalogue"))

from declared import PRODUCT, share, view

SECRET = "salt water"
VERIFIER = make_verifier(SECRET, b"salt" * 4)
RULES = SettingRules(PRODUCT, {f"{PRODUCT}.tide": "low"}, {})


class Lookup:
    """Who answers from the catalogue alone."""

    def __init__(self, state: ConnectionState, catalogue: Any) -> None:
        self.state, self._catalogue = state, catalogue

    async def query(self, statement: ClientStatement, declared: Sequence[int]) -> Command:
        if not self._catalogue.answers(statement):
            raise WireError("this is hidden", "look elsewhere", "42501", statement.tokens[-1].start)
        oids = tuple(self._catalogue.parameters(statement.sql, list(declared)))
        columns = self._catalogue.describe(statement.sql, list(oids))

        async def run(values: Sequence[Any]) -> Outcome:
            rows = self._catalogue.run(statement.sql, list(values)).rows
            return Outcome("SELECT {}", columns, rows)

        return Command(run, lambda: columns, oids)

    async def explain(self, words: TokenStream, declared: Sequence[int]) -> Command:
        raise ValueError("Zzsecret")

    async def run(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return await asyncio.to_thread(function, *args, **kwargs)


async def harbour() -> asyncio.Server:
    """A server of the catalogue."""
    shared = share()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        start = await greet(reader, writer, None)
        assert isinstance(start, StartupMessage)
        login = SaslLogin(reader, writer, None)
        await login.begin()
        await login.challenge(VERIFIER)
        proof = login.proof()
        if proof is not None:
            await login.finish(proof)
            state = ConnectionState(start.user, startup_settings(start.parameters, RULES))
            catalogue = view(shared, SharedSettings(state), database=start.database)
            with suppress(EOFError):  # who hangs up without a word
                await Connection(reader, writer, Lookup(state, catalogue)).run()
        writer.close()

    return await asyncio.start_server(accept, "127.0.0.1", 0)


@pytest.fixture(scope="module")
def dsn() -> Iterator[str]:
    """How libpq is told to come in."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    server = asyncio.run_coroutine_threadsafe(harbour(), loop).result(30)
    port = server.sockets[0].getsockname()[1]
    yield f"host=127.0.0.1 port={port} user=alice password='{SECRET}' dbname=sea sslmode=disable"
    loop.call_soon_threadsafe(server.close)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(10)


def test_psycopg_reads_binds_and_transacts(dsn: str) -> None:
    with psycopg.connect(dsn) as line:
        named = "SELECT name FROM regions WHERE region_id = %s"
        assert line.execute(named, (2,)).fetchall() == [("South",)]
        line.execute("DECLARE c CURSOR FOR SELECT region_id FROM regions ORDER BY 1")
        assert line.execute("FETCH 2 FROM c").fetchall() == [(1,), (2,)]
        with line.cursor().copy("COPY (SELECT name FROM regions ORDER BY 1) TO STDOUT") as rows:
            assert b"".join(bytes(row) for row in rows) == b"East\nNorth\nSouth\n"
        line.execute(f"SET LOCAL {PRODUCT}.tide = 'high'")
        assert line.execute(f"SHOW {PRODUCT}.tide").fetchone() == ("high",)
        line.rollback()
        assert line.execute(f"SHOW {PRODUCT}.tide").fetchone() == ("low",)
        line.execute("PREPARE p (int) AS SELECT $1 + 1")
        assert line.execute("EXECUTE p (4)").fetchone() == (5,)


def test_errors_have_their_fields_and_foreign_ones_no_text(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as line:
        with pytest.raises(psycopg.errors.InsufficientPrivilege) as caught:
            line.execute("SELECT * FROM people")
        told = caught.value.diag
        assert (told.message_primary, told.message_hint) == ("this is hidden", "look elsewhere")
        assert told.statement_position == "15"
        with pytest.raises(psycopg.errors.InternalError_) as caught:
            line.execute("EXPLAIN SELECT 1")
        assert str(caught.value) == "the machinery failed (ValueError)"


def test_psql_describes_what_is_declared(dsn: str) -> None:
    done = subprocess.run(
        ["psql", "-X", dsn, "-c", r"\d people", "-c", r"\conninfo", "-c", "SELECT version()"],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert 'Table "public.people"' in done.stdout
    assert 'database "sea" as user "alice"' in done.stdout
    assert f"PostgreSQL 15.0 ({PRODUCT})" in done.stdout


def test_a_wrong_secret_stays_out(dsn: str) -> None:
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(dsn.replace(SECRET, "sweet water"))
