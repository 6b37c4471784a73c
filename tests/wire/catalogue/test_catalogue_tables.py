"""The tables and texts that the catalogue is built of agree with each other, and are packed."""

from __future__ import annotations

import tomllib
from pathlib import Path

from declared import CONTENT

from adomnia.wire.catalogue import SharedCatalogue, tables
from adomnia.wire.catalogue.builder import BuiltCatalogue
from adomnia.wire.catalogue.content import CatalogueContent
from adomnia.wire.catalogue.macros import EMULATED, TABLE_MACROS
from adomnia.wire.catalogue.relations import own_relations
from adomnia.wire.catalogue.tables import read_rows
from adomnia.wire.catalogue.types import TYPES

TOP = Path(__file__).parents[3]


def test_the_files_travel_with_the_package() -> None:
    project = tomllib.loads((TOP / "pyproject.toml").read_text("utf-8"))
    packed = project["tool"]["setuptools"]["package-data"]["adomnia"]
    files = list(Path(tables.__file__).with_name("data").iterdir())
    assert files
    assert {f"**/*{file.suffix}" for file in files} <= set(packed)


def test_every_column_is_of_a_relation_and_a_type() -> None:
    relations = own_relations()
    assert len({each.oid for each in relations}) == len(relations) == 123
    assert sum(len(each.columns) for each in relations) == len(read_rows("columns.csv")) == 1283
    assert {kind for each in relations for kind in each.columns.values()} <= TYPES.keys()
    assert len({each.oid for each in TYPES.values()}) == len(TYPES)


def test_every_view_gives_what_its_relation_says(shared: SharedCatalogue) -> None:
    built = shared.built()
    for each in own_relations():
        where = f'{built.schemas[each.schema]}."{each.name}"'
        described = built.connection.execute(f"DESCRIBE {where}").fetchall()
        assert [row[0] for row in described] == list(each.columns), each.name


def test_every_function_is_there(shared: SharedCatalogue) -> None:
    made = shared.built().connection.execute(
        "SELECT DISTINCT function_name FROM duckdb_functions() WHERE schema_name = 'fn'"
    )
    names = {name for (name,) in made.fetchall()}
    assert {name for name in names if not name.endswith("_outs")} == EMULATED | TABLE_MACROS
    assert {"aclexplode", "pg_get_keywords"} <= TABLE_MACROS


def test_a_server_may_declare_nothing() -> None:
    built = BuiltCatalogue(CatalogueContent("empty", ()), "")
    count = "SELECT COUNT(*) FROM cat.pg_class"
    assert built.connection.execute(count).fetchall() == [(123,)]


def test_declared_relations_are_numbered_apart() -> None:
    oids = [each.oid for each in CONTENT.relations()]
    assert oids == [16400, 16410, 16420]
