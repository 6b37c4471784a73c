"""The catalogue: what a client asks about the server itself, answered without any data."""

from __future__ import annotations

import threading
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from weakref import WeakKeyDictionary

import duckdb
from sqlglot import exp
from sqlglot.errors import SqlglotError

from adomnia.curator.database import Database
from adomnia.errors import AdomniaError
from adomnia.wire.catalogue.builder import Built, build
from adomnia.wire.catalogue.defaults import DEFAULTS
from adomnia.wire.catalogue.errors import CatalogueError, translated
from adomnia.wire.catalogue.relations import PUBLIC
from adomnia.wire.catalogue.rewriting.column_names import visible_queries
from adomnia.wire.catalogue.rewriting.column_types import Columns
from adomnia.wire.catalogue.rewriting.literals import bind, blanks, count_parameters, value_of
from adomnia.wire.catalogue.rewriting.parameter_types import parameter_types
from adomnia.wire.catalogue.rewriting.parser import check, read
from adomnia.wire.catalogue.rewriting.rewriter import Setter, prepare, rewrite
from adomnia.wire.catalogue.types import REGISTRIES, TYPES, element, shown_as

__all__ = ["Catalogue", "Column", "Result"]

MOST_ROWS, MOST_BYTES = 100_000, 16 << 20
MOST_SECONDS = 5.0
_LENGTHS = {each.oid: each.length for each in TYPES.values()}
STARTED = datetime.now(UTC).replace(tzinfo=None, microsecond=0)
_shared: WeakKeyDictionary[Database, Built] = WeakKeyDictionary()
_sharing = threading.Lock()


@dataclass(frozen=True)
class Column:
    """A column of an answer, as a RowDescription tells it."""

    name: str
    oid: int
    size: int = -1
    typmod: int = -1


@dataclass(frozen=True)
class Result:
    """What a statement gave."""

    columns: list[Column]
    rows: list[tuple[Any, ...]]


class Catalogue:
    """One connection's view of the catalogue: it tells a person of themselves and nobody else.

    `settings` are those of the session, which the door may change at any time; `name` is the
    database that the client named when it came in.
    """

    def __init__(
        self,
        database: Database,
        person_name: str,
        role: str,
        *,
        settings: MutableMapping[str, str] | None = None,
        name: str = "adomnia",
        pid: int = 1,
    ) -> None:
        self.database, self.person_name, self.role = database, person_name, role
        self.settings = {} if settings is None else settings
        self.name, self.pid = name, pid
        self._private = database.policy.table.lower()
        self._cursor: duckdb.DuckDBPyConnection | None = None
        self._told: dict[str, Any] = {}
        self._lock = threading.Lock()

    def answers(self, sql: str) -> bool:
        """Whether a statement is one query that does not speak of the private table."""
        try:
            tree = read(sql)
        except CatalogueError:
            return False
        return not any(self._is_private(each) for each in tree.find_all(exp.Table))

    def parameters(self, sql: str, given: list[int]) -> list[int]:
        """The types of a statement's parameters: those given, else what they are compared to."""
        with _bounded():
            tree = self._read(sql)
            found = parameter_types(tree, self._built().relations)
        wanted = max(count_parameters(tree), len(given))
        told = [*given, *([0] * (wanted - len(given)))]
        return [oid or found.get(number) or TYPES["text"].oid for number, oid in enumerate(told, 1)]

    def describe(self, sql: str, parameter_oids: list[int] | None = None) -> list[Column]:
        """The columns that a statement would give; nothing is run."""
        values = blanks(self.parameters(sql, parameter_oids or []))
        text, said = self._rewritten(sql, values, lambda name, value: None)
        with self._asking(text) as cursor:
            told = cursor.execute(f"DESCRIBE {text}").fetchall()
        return _columns([(row[0], row[1]) for row in told], said)

    def run(self, sql: str, parameters: list[Any] | None = None) -> Result:
        """What a statement gives."""
        changed: dict[str, str] = {}
        values = [value_of(each) for each in parameters or []]
        text, said = self._rewritten(sql, values, changed.__setitem__)
        with self._asking(text) as cursor, _timed(cursor):
            cursor.execute(text)
            told = [(each[0], str(each[1])) for each in cursor.description or []]
            rows = _fetched(cursor)
        self.settings.update(changed)
        types = _said(told, said)
        return Result(_columns(told, said), [self._shown(row, types) for row in rows])

    def _rewritten(self, sql: str, values: list[exp.Expr], setter: Setter) -> tuple[str, Columns]:
        """The statement as DuckDB reads it, and its columns in PostgreSQL's words."""
        with _bounded():
            tree = self._read(sql)
            bind(tree, values)
            said = rewrite(tree, self._built(), setter)
            return str(tree.sql(dialect="duckdb", identify=True, comments=False)), said

    def _read(self, sql: str) -> exp.Query:
        tree = read(sql)
        check(tree)
        prepare(tree)
        return tree

    def _is_private(self, table: exp.Table) -> bool:
        named = table.name.lower() == self._private and table.db.lower() in ("", PUBLIC)
        return named and (bool(table.db) or table.name not in visible_queries(table))

    def _built(self) -> Built:
        with _sharing:
            if self.database not in _shared:
                _shared[self.database] = build(self.database)
            return _shared[self.database]

    @contextmanager
    def _asking(self, text: str) -> Iterator[duckdb.DuckDBPyConnection]:
        """This connection's cursor, with its variables set."""
        with self._lock:
            cursor = self._cursor or self._built().connection.cursor()
            self._cursor = cursor
            try:
                self._tell(cursor, "budget" in text)
                yield cursor
            except duckdb.Error as error:
                raise translated(error) from None

    def _tell(self, cursor: duckdb.DuckDBPyConnection, with_budget: bool) -> None:
        """Set those variables of the connection that have changed."""
        variables = {
            "person": self.person_name,
            "database": self.name,
            "pid": self.pid,
            "started": STARTED,
            "settings": DEFAULTS | {key.lower(): value for key, value in self.settings.items()},
        }
        if with_budget:
            variables["budget"] = self._budget()
        for name, value in variables.items():
            if name not in self._told or self._told[name] != value:
                cursor.execute(f"SET VARIABLE {name} = $value", {"value": value})
                self._told[name] = value

    def _budget(self) -> list[dict[str, str]]:
        """What this person has left; a curator sees everybody's."""
        try:
            state = self.database.budget()
        except AdomniaError:
            return []
        rows = list(state["analysts"].items())
        if self.role == "curator":
            rows.insert(0, ("data", state["data"]))
        else:
            rows = [row for row in rows if row[0] == self.person_name]
        keys = ("unit", "spent", "remaining")
        return [{"whose": name} | {key: str(part[key]) for key in keys} for name, part in rows]

    def _shown(self, row: tuple[Any, ...], types: list[str | None]) -> tuple[Any, ...]:
        return tuple(self._value(*pair) for pair in zip(row, types, strict=True))

    def _value(self, value: Any, kind: str | None) -> Any:
        if isinstance(value, list) and element(kind) in REGISTRIES:
            return [self._value(each, element(kind)) for each in value]
        if kind in REGISTRIES and isinstance(value, int):
            names = self._built().names.get(kind, {})
            return names.get(value, "-" if value == 0 else str(value))
        if isinstance(value, datetime) and kind == "timestamptz":
            return value.replace(tzinfo=UTC)
        return value.normalize() if isinstance(value, Decimal) else value


@contextmanager
def _bounded() -> Iterator[None]:
    """What cannot be rewritten, too deep or ambiguous, is refused as PostgreSQL does."""
    try:
        yield
    except SqlglotError:
        raise CatalogueError("a table name is specified more than once", sqlstate="42712") from None
    except RecursionError:
        raise CatalogueError("this statement is too deep", sqlstate="54001") from None


@contextmanager
def _timed(cursor: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """An end to what takes too long."""
    timer = threading.Timer(MOST_SECONDS, cursor.interrupt)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _fetched(cursor: duckdb.DuckDBPyConnection) -> list[tuple[Any, ...]]:
    """All rows; refused as soon as they are too many, or too long together."""
    rows: list[tuple[Any, ...]] = []
    size = 0
    while part := cursor.fetchmany(100):
        rows += part
        size += sum(map(_size, part))
        if len(rows) > MOST_ROWS or size > MOST_BYTES:
            raise CatalogueError("this answer is too large", sqlstate="54000")
    return rows


def _size(value: Any) -> int:
    """About so many bytes."""
    if isinstance(value, str | bytes):
        return len(value)
    return 8 + sum(map(_size, value)) if isinstance(value, tuple | list) else 8


def _said(told: list[tuple[str, str]], said: Columns) -> list[str | None]:
    """The types that were followed through the query, where they were for all of its columns."""
    return [kind for _, kind in said] if len(said) == len(told) else [None] * len(told)


def _columns(told: list[tuple[str, str]], said: Columns) -> list[Column]:
    types = _said(told, said)
    names = [name for name, _ in (said if len(said) == len(told) else told)]
    oids = [shown_as(physical, kind) for (_, physical), kind in zip(told, types, strict=True)]
    return [Column(name, oid, _LENGTHS.get(oid, -1)) for name, oid in zip(names, oids, strict=True)]
