"""Sources: which engine holds the data."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

from adomnia.engines.engine import Engine
from adomnia.errors import PolicyError
from adomnia.policy.policy import Policy
from adomnia.schema.domain import Domain
from adomnia.storage.file_address import FILE_SCHEMES, is_file_address

__all__ = ["engine_of", "open_engine", "scheme_of", "telling"]


Opener = Callable[[Any, str, Mapping[str, Domain]], Engine]
"""Opens a source: where it is, the table's name, and the domains of its columns."""


def _postgres(source: Any, table: str, domains: Mapping[str, Domain]) -> Engine:
    from adomnia.engines.postgres.engine import PostgreSQL  # noqa: PLC0415 (where it is named)

    return PostgreSQL(source, table, domains)


def _spark(source: Any, table: str, domains: Mapping[str, Domain]) -> Engine:
    from adomnia.engines.spark.engine import Spark  # noqa: PLC0415 (where it is named)

    return Spark(source, table, domains)


SCHEMES: Mapping[str, Opener] = {"postgresql": _postgres, "postgres": _postgres, "spark": _spark}
"""The engines of addresses; what is no address is a file, and DuckDB reads it."""

HANDED: Mapping[str, Opener] = {"pyspark": _spark}
"""The engines of objects that are handed in from Python, by the package they are from."""


def open_engine(policy: Policy, source: Any = None) -> Engine:
    """The engine for the policy's source, or for one that is handed in instead of it."""
    domains = {name: attribute.domain for name, attribute in policy.attributes.items()}
    if source is None:
        source = policy.beside(policy.source)
    return engine_of(source, policy.relation or policy.table, domains, policy.memory, telling())


def telling() -> Callable[[int], None] | None:
    """Who is told how many rows were read: a person at a terminal, if there is one."""
    return _told if sys.stderr.isatty() else None


def _told(rows: int) -> None:
    sys.stderr.write(f"\rreading the source: {rows:,} rows ")
    sys.stderr.flush()


def engine_of(
    source: Any,
    table: str,
    domains: Mapping[str, Domain],
    memory: int | None = None,
    tell: Callable[[int], None] | None = None,
) -> Engine:
    """The engine for a path, an address, or an object that holds data."""
    place = source if isinstance(source, str) else getattr(source, "__fspath__", lambda: None)()
    if place is None:
        package = type(source).__module__.partition(".")[0]
        if package not in HANDED:
            hint = "a source is a path or an address" + "".join(f", or from {p}" for p in HANDED)
            raise PolicyError(f"a {type(source).__name__} cannot be a source", hint)
        return HANDED[package](source, table, domains)
    scheme = scheme_of(str(place))
    if scheme is None:
        from adomnia.engines.duckdb.engine import DuckDB  # noqa: PLC0415 (slow to import)

        return DuckDB(place, table, domains, memory, tell)
    return SCHEMES[scheme](place, table, domains)


def scheme_of(place: str) -> str | None:
    """What an address begins with; None for a file. One that nothing reads is refused."""
    scheme, found, _ = place.partition("://")
    if not found or is_file_address(place):
        return None
    if scheme not in SCHEMES:
        known = ", ".join(f"{name}://" for name in (*FILE_SCHEMES, *SCHEMES))
        hint = f"use a CSV, Parquet or DuckDB file, or an address that begins with {known}"
        raise PolicyError(f"a source at {scheme[:20]}:// is not supported", hint)
    return scheme
