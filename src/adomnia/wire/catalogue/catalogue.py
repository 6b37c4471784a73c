"""The catalogue: what a client asks about the server itself, answered without any data."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import duckdb
from sqlglot import exp
from sqlglot.errors import SqlglotError

from adomnia.wire.catalogue.builder import BuiltCatalogue, SharedCatalogue
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
from adomnia.wire.statements.lexer import ClientStatement, Token
from adomnia.wire.values.columns import ResultColumn

__all__ = ["Catalogue", "CatalogueResult"]

MOST_ROWS, MOST_BYTES = 100_000, 16 << 20
MOST_SECONDS = 5.0
_LENGTHS = {each.oid: each.length for each in TYPES.values()}
STARTED = datetime.now(UTC).replace(tzinfo=None, microsecond=0)


@dataclass(frozen=True)
class CatalogueResult:
    """What a statement gave."""

    columns: list[ResultColumn]
    rows: list[tuple[Any, ...]]


class Catalogue:
    """One connection's view of the catalogue: it tells a person of themselves and nobody else.

    `settings` are those of the session, which may change at any time; `database` is what the
    client called it when it came in. A statement in which one of the names of `variables` stands
    is told what that function gives.
    """

    def __init__(
        self,
        shared: SharedCatalogue,
        user: str,
        *,
        database: str,
        pid: int = 1,
        settings: MutableMapping[str, str] | None = None,
        variables: Mapping[str, Callable[[], Any]] | None = None,
    ) -> None:
        self._shared, self._user, self._database, self._pid = shared, user, database, pid
        self.settings = {} if settings is None else settings
        self._variables = variables or {}
        self._hidden = frozenset(name.lower() for name in shared.hidden)
        self._cursor: duckdb.DuckDBPyConnection | None = None
        self._told: dict[str, Any] = {}
        self._lock = threading.Lock()

    def answers(self, statement: ClientStatement) -> bool:
        """Whether a statement is one query that speaks of no hidden table.

        Where its words show already that it does, it is not parsed.
        """
        if _reads_from(statement.tokens, self._hidden):
            return False
        try:
            tree = read(statement.sql)
        except CatalogueError:
            return False
        return not any(self._is_hidden(each) for each in tree.find_all(exp.Table))

    def parameters(self, sql: str, given: list[int]) -> list[int]:
        """The types of a statement's parameters: those given, else what they are compared to."""
        with _bounded():
            tree = self._read(sql)
            meant = parameter_types(tree, self._built().relations)
        wanted = max(count_parameters(tree), len(given))
        oids = [*given, *([0] * (wanted - len(given)))]
        return [oid or meant.get(number) or TYPES["text"].oid for number, oid in enumerate(oids, 1)]

    def describe(self, sql: str, parameter_oids: list[int] | None = None) -> list[ResultColumn]:
        """The columns that a statement would give; nothing is run."""
        values = blanks(self.parameters(sql, parameter_oids or []))
        text, columns = self._rewritten(sql, values, lambda name, value: None)
        with self._asking(text) as cursor:
            described = cursor.execute(f"DESCRIBE {text}").fetchall()
        return _columns([(row[0], row[1]) for row in described], columns)

    def run(self, sql: str, parameters: list[Any] | None = None) -> CatalogueResult:
        """What a statement gives."""
        changed: dict[str, str] = {}
        values = [value_of(each) for each in parameters or []]
        text, columns = self._rewritten(sql, values, changed.__setitem__)
        with self._asking(text) as cursor, _timed(cursor):
            cursor.execute(text)
            described = [(each[0], str(each[1])) for each in cursor.description or []]
            rows = _fetched(cursor)
        self.settings.update(changed)
        types = _followed(described, columns)
        return CatalogueResult(
            _columns(described, columns), [self._shown(row, types) for row in rows]
        )

    def _rewritten(self, sql: str, values: list[exp.Expr], setter: Setter) -> tuple[str, Columns]:
        """The statement as DuckDB reads it, and its columns in PostgreSQL's words."""
        with _bounded():
            tree = self._read(sql)
            bind(tree, values)
            columns = rewrite(tree, self._built(), setter)
            return str(tree.sql(dialect="duckdb", identify=True, comments=False)), columns

    def _read(self, sql: str) -> exp.Query:
        tree = read(sql)
        check(tree)
        prepare(tree)
        return tree

    def _is_hidden(self, table: exp.Table) -> bool:
        named = table.name.lower() in self._hidden and table.db.lower() in ("", PUBLIC)
        return named and (bool(table.db) or table.name not in visible_queries(table))

    def _built(self) -> BuiltCatalogue:
        return self._shared.built()

    @contextmanager
    def _asking(self, text: str) -> Iterator[duckdb.DuckDBPyConnection]:
        """This connection's cursor, with its variables set."""
        with self._lock:
            cursor = self._cursor or self._built().connection.cursor()
            self._cursor = cursor
            try:
                self._tell(cursor, text)
                yield cursor
            except duckdb.Error as error:
                raise translated(error) from None

    def _tell(self, cursor: duckdb.DuckDBPyConnection, text: str) -> None:
        """Set those variables of the connection that have changed."""
        variables = {
            "product": self._built().product,
            "person": self._user,
            "database": self._database,
            "pid": self._pid,
            "started": STARTED,
            "settings": DEFAULTS | {key.lower(): value for key, value in self.settings.items()},
            **{name: tell() for name, tell in self._variables.items() if name in text},
        }
        for name, value in variables.items():
            if name not in self._told or self._told[name] != value:
                cursor.execute(f"SET VARIABLE {name} = $value", {"value": value})
                self._told[name] = value

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


def _reads_from(tokens: Sequence[Token], names: Collection[str]) -> bool:
    """Whether a table of these names certainly stands after the FROM of some SELECT.

    Certainly: where a WITH, or anything else that could give the name another meaning, is near,
    it is not, and only the parser knows.
    """
    if any(token.upper == "WITH" for token in tokens):
        return False
    selects = [False]  # whether a SELECT has begun in each bracket that is open
    for place, token in enumerate(tokens):
        if token.text == "(":
            selects.append(False)
        elif token.text == ")":
            selects = selects[:-1] or [False]
        elif token.upper == "SELECT":
            selects[-1] = True
        elif token.upper == "FROM" and selects[-1] and tokens[place - 1].upper != "DISTINCT":
            after = [_said(each) for each in tokens[place + 1 : place + 5]]
            after = after[2:] if after[:2] == [PUBLIC, "."] else after
            if after and after[0] in names and after[1:2] not in (["."], ["("]):
                return True
    return False


def _said(token: Token) -> str:
    """A name in small letters; of anything but a plain name the text."""
    plain = token.kind == "word" or (token.kind == "quoted" and token.text.startswith('"'))
    return token.value.lower() if plain else token.text


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


def _followed(described: list[tuple[str, str]], columns: Columns) -> list[str | None]:
    """The types that were followed through the query, where they were for all of its columns."""
    return (
        [kind for _, kind in columns] if len(columns) == len(described) else [None] * len(described)
    )


def _columns(described: list[tuple[str, str]], columns: Columns) -> list[ResultColumn]:
    types = _followed(described, columns)
    names = [name for name, _ in (columns if len(columns) == len(described) else described)]
    oids = [shown_as(physical, kind) for (_, physical), kind in zip(described, types, strict=True)]
    return [
        ResultColumn(name, oid, _LENGTHS.get(oid, -1))
        for name, oid in zip(names, oids, strict=True)
    ]
