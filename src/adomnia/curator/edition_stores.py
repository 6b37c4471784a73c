"""Where the editions of a policy are kept: with its source, or in a folder beside the ledger."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from adomnia.curator.sources import scheme_of
from adomnia.engines.edition_store import EditionStore
from adomnia.policy.policy import Policy

__all__ = ["store_of"]


def _in_folder(policy: Policy) -> EditionStore:
    from adomnia.engines.duckdb.edition_store import EditionFolder  # noqa: PLC0415 (slow to import)

    folder = Path(policy.beside(policy.editions)) if policy.editions else _beside_ledger(policy)
    source, shared = policy.beside(policy.source), policy.editions is not None
    return EditionFolder(folder, source, _relation(policy), policy.memory, shared)


def _in_postgres(policy: Policy) -> EditionStore:
    from adomnia.engines.postgres.edition_store import EditionSchema  # noqa: PLC0415 (where named)

    return EditionSchema(policy.source, _relation(policy), policy.editions)


def _in_spark(policy: Policy) -> EditionStore:
    from adomnia.engines.spark.edition_store import EditionFiles  # noqa: PLC0415 (where named)

    named = policy.beside(policy.editions) if policy.editions else None
    return EditionFiles(policy.source, _relation(policy), _beside_ledger(policy), named)


Opener = Callable[[Policy], EditionStore]

STORES: Mapping[str | None, Opener] = {
    "postgresql": _in_postgres,
    "postgres": _in_postgres,
    "spark": _in_spark,
}
"""The stores of sources at an address; those of all others are folders."""


def store_of(policy: Policy) -> EditionStore:
    """The store of a policy's editions; nothing is made or looked at yet."""
    return STORES.get(scheme_of(policy.source), _in_folder)(policy)


def _beside_ledger(policy: Policy) -> Path:
    beside = policy.file if "://" in policy.ledger else Path(policy.beside(policy.ledger))
    if beside.suffix == ".ledger":
        return beside.with_suffix(".editions")
    return beside.with_name(f"{beside.name}.editions")  # others have the same name but for its end


def _relation(policy: Policy) -> str:
    return policy.relation or policy.table
