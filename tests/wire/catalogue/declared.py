"""A catalogue of two tables and a view that no database stands behind, and what clients send."""

from __future__ import annotations

import json
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adomnia.wire.catalogue import (
    Catalogue,
    CatalogueContent,
    DeclaredRelation,
    SharedCatalogue,
)
from adomnia.wire.statements.lexer import ClientStatement, tokens

STATEMENTS = Path(__file__).parent / "statements"
PRODUCT = "harbour"
OIDS = {"{people}": "16400", "{regions}": "16410", "{budget}": "16420"}
BUDGET = """SELECT b.whose, b.remaining FROM (SELECT unnest(
    CAST(getvariable('budget') AS STRUCT(whose VARCHAR, remaining VARCHAR)[])) AS b)"""

CONTENT = CatalogueContent(PRODUCT, (
    DeclaredRelation(
        "public", "people", "r",
        {"sex": "text", "age": "int8", "weight": "numeric", "member": "bool", "admitted": "date",
         "region": "int8", "diagnosis": "text"},
        "rows cannot be read", ("one of F, M", "from 0 to 120"),
    ),
    DeclaredRelation(
        "public", "regions", "r", {"region_id": "int8", "name": "text", "area": "float8"},
        "everybody may read it", key="region_id",
        rows=((1, "North", 1.5), (2, "South", 2.5), (3, "East", None)),
    ),
    DeclaredRelation(
        PRODUCT, "budget", "v", {"whose": "text", "remaining": "text"}, definition=BUDGET
    ),
))  # fmt: skip


def share() -> SharedCatalogue:
    """The catalogue, to be built when it is first asked."""
    return SharedCatalogue(lambda: CONTENT, "people")


def view(
    shared: SharedCatalogue, settings: MutableMapping[str, str] | None = None, **more: Any
) -> Catalogue:
    """What Alice sees."""
    left = {"budget": lambda: [{"whose": "alice", "remaining": "1"}]}
    told = {"database": "harbour", "pid": 77, **more}
    return Catalogue(shared, "alice", settings=settings, variables=left, **told)


@dataclass(frozen=True)
class Sent:
    """A statement of a client, its parameters, and the columns that PostgreSQL 15 gives."""

    client: str
    sql: str
    parameters: list[Any]
    columns: list[tuple[str, int]] | None


def sent(file: Path) -> Iterator[Sent]:
    """The statements of a file, each beneath a line of what is known of it."""
    for part in file.read_text().replace("adomnia", PRODUCT).split("--> ")[1:]:
        head, sql = part.split("\n", 1)
        for name, oid in OIDS.items():
            head, sql = head.replace(name, oid), sql.replace(name, oid)
        facts = json.loads(head)
        columns = facts["columns"] and [tuple(column) for column in facts["columns"]]
        yield Sent(facts["client"], sql.strip(), facts.get("parameters", []), columns)


def statement(sql: str) -> ClientStatement:
    """A text as one statement."""
    return ClientStatement(sql, tuple(tokens(sql)))


def ask(catalogue: Catalogue, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
    """The rows of an answer."""
    assert catalogue.answers(statement(sql))
    return catalogue.run(sql, list(parameters)).rows
