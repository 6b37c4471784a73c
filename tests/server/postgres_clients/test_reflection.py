"""Real clients look around: psql, SQLAlchemy on three drivers, asyncpg, ADBC and JDBC."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import select
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy

sys.path.insert(0, str(Path(__file__).parents[1] / "catalogue"))

from hamlet import write_hamlet

from adomnia.curator.database import open_database
from adomnia.server.accounts import open_accounts
from adomnia.server.postgres.listener import Listener, serve
from adomnia.server.service import Service

SECRET = "the secret of alice"
DRIVER = Path("/usr/share/java/postgresql.jar")


@dataclass(frozen=True)
class Place:
    """Where the door is."""

    port: int

    @property
    def environment(self) -> dict[str, str]:
        """What psql needs to come in."""
        here = {"PGHOST": "127.0.0.1", "PGPORT": str(self.port), "PGUSER": "alice",
                "PGDATABASE": "adomnia", "PGPASSWORD": SECRET, "PAGER": "cat"}  # fmt: skip
        return {**os.environ, **here}

    def url(self, scheme: str = "postgresql") -> str:
        """What a driver needs."""
        secret = SECRET.replace(" ", "%20")
        return f"{scheme}://alice:{secret}@127.0.0.1:{self.port}/adomnia"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """The hamlet behind an open door."""
    database = open_database(write_hamlet(tmp_path_factory.mktemp("reflected")))
    accounts = open_accounts(database.policy)
    accounts.add("alice", "analyst", SECRET)
    service = Service(database, accounts)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    door = _on(loop, serve(service, "127.0.0.1", 0, None))
    yield Place(int(door.sockets[0].getsockname()[1]))
    _on(loop, _shut(door, service))
    loop.call_soon_threadsafe(loop.stop)
    thread.join(10)


def _on(loop: asyncio.AbstractEventLoop, work: Any) -> Any:
    return asyncio.run_coroutine_threadsafe(work, loop).result(60)


async def _shut(door: Listener, service: Service) -> None:
    door.close()
    await door.wait_closed()
    await service.close()


COMMANDS = {
    r"\d": ["public | people  | table | adomnia", "public | regions | table"],
    r"\d people": ['Table "public.people"', "age       | bigint", "admitted  | date"],
    r"\d+ people": ["one of F, M", "numbers from 0 to 200 in steps of 0.5"],
    r"\d regions": ['"regions_pkey" PRIMARY KEY, btree (region_id)', "not null"],
    r"\d+ adomnia.budget": ['View "adomnia.budget"', "remaining"],
    r"\dt": ["people", "regions"],
    r"\dt+": ["private: each row protected", "0 bytes"],
    r"\l": ["adomnia", "UTF8"],
    r"\dn": ["adomnia", "public"],
    r"\du": ["alice"],
    r"\df": ["(0 rows)"],
    r"\dv adomnia.*": ["budget", "domains"],
    r"\di": ["regions_pkey"],
    r"\z": ["people"],
    r"\dT": ["(0 rows)"],
    r"\dx": ["(0 rows)"],
    r"\conninfo": ['You are connected to database "adomnia" as user "alice"'],
    "SELECT whose, remaining FROM adomnia.budget": ["alice |"],
    "SELECT domain FROM adomnia.domains WHERE attribute = 'age'": ["whole numbers from 0 to 120"],
    "SELECT name FROM regions ORDER BY 1": ["East", "North", "South"],
}


@pytest.mark.skipif(shutil.which("psql") is None, reason="psql is not installed")
def test_psql_looks_around(place: Place) -> None:
    commands = [part for command in COMMANDS for part in ("-c", command)]
    done = subprocess.run(
        ["psql", "-X", "-v", "ON_ERROR_STOP=1", *commands],
        env=place.environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    for command, expected in COMMANDS.items():
        for words in expected:
            assert words in done.stdout, command


@pytest.mark.skipif(shutil.which("psql") is None, reason="psql is not installed")
@pytest.mark.parametrize("command", [r"\sf lower", r"\sf nothing", r"\d nothing"])
def test_psql_is_told_what_is_not_there(command: str, place: Place) -> None:
    done = subprocess.run(
        ["psql", "-X", "-v", "ON_ERROR_STOP=1", "-c", command],
        env=place.environment, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    said = done.stdout + done.stderr
    assert "does not exist" in said or "Did not find" in said
    assert "machinery" not in said


@pytest.mark.skipif(shutil.which("psql") is None, reason="psql is not installed")
def test_psql_completes_names(place: Place) -> None:
    process, terminal = pty.fork()
    if process == 0:
        os.execvpe("psql", ["psql", "-X"], {**place.environment, "TERM": "dumb"})
    try:
        _until(terminal, "=> ")
        os.write(terminal, b"SELECT COUNT(*) FROM peo\t")
        assert "people " in _until(terminal, "people ")
    finally:
        os.write(terminal, b"\x15\\q\n")
        os.close(terminal)
        os.waitpid(process, 0)


def _until(terminal: int, words: str, seconds: float = 20.0) -> str:
    seen, end = "", time.monotonic() + seconds
    while words not in seen and time.monotonic() < end:
        if select.select([terminal], [], [], 0.5)[0]:
            seen += os.read(terminal, 65536).decode(errors="replace")
    return seen


@pytest.mark.parametrize("driver", ["psycopg", "psycopg2", "pg8000"])
def test_sqlalchemy_reflects(driver: str, place: Place) -> None:
    engine = sqlalchemy.create_engine(place.url(f"postgresql+{driver}"))
    try:
        found = sqlalchemy.inspect(engine)
        assert sorted(found.get_table_names()) == ["people", "regions"]
        assert sorted(found.get_view_names(schema="adomnia")) == ["budget", "domains"]
        assert {"public", "adomnia", "information_schema"} <= set(found.get_schema_names())
        assert found.has_table("people")
        assert not found.has_table("nowhere")
        types = {column["name"]: str(column["type"]) for column in found.get_columns("people")}
        assert types == {
            "sex": "TEXT", "age": "BIGINT", "weight": "NUMERIC", "member": "BOOLEAN",
            "admitted": "DATE", "region": "BIGINT", "diagnosis": "TEXT",
        }  # fmt: skip
        assert found.get_columns("people")[0]["comment"] == "one of F, M"
        assert found.get_pk_constraint("regions")["constrained_columns"] == ["region_id"]
        assert found.get_pk_constraint("people")["constrained_columns"] == []
        assert found.get_foreign_keys("people") == []
        assert found.get_indexes("people") == found.get_indexes("regions") == []
        assert found.get_unique_constraints("people") == []
        assert found.get_check_constraints("people") == []
        assert "private" in str(found.get_table_comment("people")["text"])
        known = sqlalchemy.MetaData()
        known.reflect(engine)
        assert set(known.tables) == {"people", "regions"}
        assert known.tables["regions"].c.region_id.primary_key
    finally:
        engine.dispose()


def test_asyncpg_introspects(place: Place) -> None:
    import asyncpg

    async def look() -> tuple[Any, Any]:
        connection = await asyncpg.connect(place.url())
        try:
            found = await connection.fetchrow(
                "SELECT oid, relname, relkind, reloptions FROM pg_class WHERE relname = $1",
                "people",
            )
            kinds = await connection._introspect_types([1002, 3908, 16401], 20)
            return found, kinds
        finally:
            await connection.close()

    found, (types, _) = asyncio.run(look())
    assert tuple(found) == (16400, "people", b"r", None)
    assert {"_char", "tsrange", "people"} <= {each["name"] for each in types}


def test_adbc_knows_the_types(place: Place) -> None:
    import adbc_driver_postgresql.dbapi as adbc

    with adbc.connect(place.url()) as connection:
        schema = connection.adbc_get_table_schema("people")
        objects = connection.adbc_get_objects(depth="db_schemas").read_all().to_pylist()
    assert schema.names[:3] == ["sex", "age", "weight"]
    assert [str(schema.field(name).type) for name in ("sex", "age", "member", "admitted")] == [
        "string", "int64", "bool", "date32[day]",
    ]  # fmt: skip
    schemas = {each["db_schema_name"] for each in objects[0]["catalog_db_schemas"]}
    assert {"public", "adomnia"} <= schemas


JDBC = """
import json, sys
import jpype
jar, url, secret = sys.argv[1:]
jpype.startJVM("-Xmx128m", classpath=[jar])
properties = jpype.JClass("java.util.Properties")()
properties.setProperty("user", "alice")
properties.setProperty("password", secret)
connection = jpype.JClass("org.postgresql.Driver")().connect(url, properties)
facts = connection.getMetaData()
def rows(found, *names):
    told = []
    while found.next():
        told.append([str(found.getString(name)) for name in names])
    return told
kinds = jpype.JArray(jpype.JString)(["TABLE", "VIEW"])
print(json.dumps({
    "tables": rows(facts.getTables(None, None, "%", kinds), "TABLE_SCHEM", "TABLE_NAME"),
    "columns": rows(facts.getColumns(None, "public", "people", "%"), "COLUMN_NAME", "TYPE_NAME",
                    "REMARKS"),
    "keys": rows(facts.getPrimaryKeys(None, "public", "regions"), "COLUMN_NAME", "KEY_SEQ"),
    "schemas": rows(facts.getSchemas(), "TABLE_SCHEM"),
    "types": rows(facts.getTypeInfo(), "TYPE_NAME", "DATA_TYPE"),
    "catalogs": rows(facts.getCatalogs(), "TABLE_CAT"),
    "foreign": rows(facts.getImportedKeys(None, "public", "people"), "FKCOLUMN_NAME"),
    "indexes": rows(facts.getIndexInfo(None, "public", "regions", False, True), "INDEX_NAME"),
    "functions": rows(facts.getFunctions(None, "public", "%"), "FUNCTION_NAME"),
    "product": [str(facts.getDatabaseProductName()), str(facts.getDatabaseProductVersion())],
}))
connection.close()
"""


@pytest.mark.skipif(not DRIVER.exists() or shutil.which("java") is None, reason="no JDBC here")
def test_jdbc_metadata(place: Place) -> None:
    url = f"jdbc:postgresql://127.0.0.1:{place.port}/adomnia"
    done = subprocess.run(
        [sys.executable, "-c", JDBC, str(DRIVER), url, SECRET],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert ["public", "people"] in told["tables"]
    assert ["adomnia", "budget"] in told["tables"]
    assert told["columns"][:2] == [
        ["sex", "text", "one of F, M"],
        ["age", "int8", "whole numbers from 0 to 120"],
    ]
    assert told["keys"] == [["region_id", "1"]]
    assert ["public"] in told["schemas"]
    assert ["int8", "-5"] in told["types"]
    assert told["catalogs"] == [["adomnia"]]
    assert told["foreign"] == told["functions"] == []
    assert told["indexes"] == [["regions_pkey"]]
    assert told["product"][0] == "PostgreSQL"
    assert told["product"][1].startswith("15")
