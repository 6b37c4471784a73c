"""Where the editions of a policy are kept: with its source, or in a folder beside the ledger."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from adomnia.curator.data.sources import scheme_of
from adomnia.engines.edition_store import EditionStore
from adomnia.errors import PolicyError
from adomnia.policy.policy import Policy, line_of

__all__ = ["store_of"]


def _in_folder(policy: Policy) -> EditionStore:
    from adomnia.engines.duckdb.edition_store import EditionFolder  # noqa: PLC0415 (slow to import)

    folder = Path(policy.beside(policy.editions)) if policy.editions else _beside_ledger(policy)
    source, shared = policy.beside(policy.source), policy.editions is not None
    relations = {
        name: (policy.beside(place), relation)
        for name, (place, relation) in _relations(policy).items()
    }
    return EditionFolder(folder, source, _relation(policy), policy.memory, shared, relations)


def _in_postgres(policy: Policy) -> EditionStore:
    from adomnia.engines.postgres.edition_store import EditionSchema  # noqa: PLC0415 (where named)

    relations = _relations(policy)
    source = next((place for place, _ in relations.values()), policy.source)
    return EditionSchema(source, _relation(policy), policy.editions, relations)


def _in_spark(policy: Policy) -> EditionStore:
    from adomnia.engines.spark.edition_store import EditionFiles  # noqa: PLC0415 (where named)

    named = policy.beside(policy.editions) if policy.editions else None
    relations = _relations(policy)
    source = next((place for place, _ in relations.values()), policy.source)
    return EditionFiles(source, _relation(policy), _beside_ledger(policy), named, relations)


Opener = Callable[[Policy], EditionStore]

STORES: Mapping[str | None, Opener] = {
    "postgresql": _in_postgres,
    "postgres": _in_postgres,
    "spark": _in_spark,
}
"""The stores of sources at an address; those of all others are folders."""


def store_of(policy: Policy) -> EditionStore:
    """The store of a policy's editions; nothing is made or looked at yet.

    Several tables are read by one engine, which has all of them at one moment: files of any kind
    together, or tables at one address.
    """
    places = [place for place, _ in _relations(policy).values()] or [policy.source]
    schemes = {scheme_of(place) for place in places}
    servers = {place.partition("?path=")[0] for place in places}  # files of one application
    if len(schemes) > 1 or (schemes != {None} and len(servers) > 1):
        raise PolicyError(
            "the tables lie in several places, which no engine reads at one moment",
            "name files for all of them, or one address with its tables",
            str(policy.file),
            line_of(policy, ("tables",)),
        )
    return STORES.get(schemes.pop(), _in_folder)(policy)


def _beside_ledger(policy: Policy) -> Path:
    beside = policy.file if "://" in policy.ledger else Path(policy.beside(policy.ledger))
    if beside.suffix == ".ledger":
        return beside.with_suffix(".editions")
    return beside.with_name(f"{beside.name}.editions")  # others have the same name but for its end


def _relations(policy: Policy) -> dict[str, tuple[str, str]]:
    """The source of each of several tables, and its name there; empty where there is one."""
    sources = {} if policy.several is None else policy.several.sources
    return {name: (where.source, where.relation) for name, where in sources.items()}


def _relation(policy: Policy) -> str:
    return policy.relation or policy.table
