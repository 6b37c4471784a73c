"""Content: what a server declares to its clients beside what PostgreSQL brings along."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from adomnia.wire.catalogue.relations import CatalogueRelation

__all__ = ["CatalogueContent", "DeclaredRelation"]

FIRST_OID = 16400  # PostgreSQL's own oids end at 16383
STEP = 10  # a relation's row type, index, constraint, rule and references follow it
MOST_REFERENCES = 5


@dataclass(frozen=True)
class DeclaredRelation:
    """A relation with its comments.

    It has `rows`, or the `definition` of a view, written for DuckDB, which may read variables of
    the connection; with neither it is listed, and empty. Its `references` are columns that hold the
    key of another relation of its schema.
    """

    schema: str
    name: str
    kind: str
    columns: Mapping[str, str]
    comment: str | None = None
    comments: tuple[str | None, ...] = ()
    key: str | None = None
    references: Mapping[str, str] = field(default_factory=dict)
    rows: tuple[tuple[Any, ...], ...] | None = None
    definition: str | None = None
    told: str | None = None
    """The text of a view, as a client is told it."""


@dataclass(frozen=True)
class CatalogueContent:
    """All that is declared, and by which product; its schema is called as the product is."""

    product: str
    declared: tuple[DeclaredRelation, ...]

    def relations(self) -> tuple[CatalogueRelation, ...]:
        """What is declared, each with its oid."""
        return tuple(
            CatalogueRelation(each.schema, each.name, FIRST_OID + STEP * place, each.kind,
                              each.columns)
            for place, each in enumerate(self.declared)
        )  # fmt: skip
