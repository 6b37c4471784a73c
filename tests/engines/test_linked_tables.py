"""Which rows refer to which, counted exactly in each engine and compared with plain Python."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack, closing

import duckdb
import numpy as np
import pytest

from adomnia.engines.duckdb.engine import DuckDB
from adomnia.engines.exact import linked_tables
from adomnia.engines.key_facts import Hop
from adomnia.errors import MachineryError
from tests.engines.postgres_place import placed

TABLES = {"people": ("id",), "visits": ("id", "person"), "notes": ("visit", "author")}


def made(seed):
    """Tables whose keys dangle, repeat and are NULL."""
    chance = np.random.default_rng(seed)

    def drawn(values, rows):
        picked = (values[i] for i in chance.integers(0, len(values), rows))
        return [None if chance.random() < 0.1 else value for value in picked]

    people = [*range(1, 21), 3, 4, None, None]
    ids = [*range(100, 140), 105, 106, None]
    visits = list(zip(ids, drawn(range(1, 25), len(ids)), strict=True))
    notes = list(zip(drawn(range(95, 145), 90), drawn(range(1, 25), 90), strict=True))
    return {"people": [(one,) for one in people], "visits": visits, "notes": notes}


def values(rows):
    return ", ".join(f"({', '.join('NULL' if v is None else str(v) for v in row)})" for row in rows)


def typed(columns):
    return ", ".join(f"{name} INTEGER" for name in columns)


def in_duckdb(rows, folder, stack):
    path = folder / "some.duckdb"
    with duckdb.connect(str(path)) as connection:
        for name, columns in TABLES.items():
            connection.execute(f"CREATE TABLE {name} ({typed(columns)})")
            connection.execute(f"INSERT INTO {name} VALUES {values(rows[name])}")
    engines = {name: stack.enter_context(closing(DuckDB(path, name, {}))) for name in TABLES}
    return engines, str(path)


def in_postgres(rows, folder, stack):
    place = stack.enter_context(placed())
    for name, columns in TABLES.items():
        place.run(f"CREATE TABLE {name} ({typed(columns)})")
        place.run(f"INSERT INTO {name} VALUES {values(rows[name])}")
    return {name: place.opened(name, {}) for name in TABLES}, place.server.url(role="reader")


def one(units):
    """The only unit, or None where there is none or are several."""
    return next(iter(units)) if len(units) == 1 else None


@pytest.fixture(params=[in_duckdb, in_postgres], ids=["duckdb", "postgres"])
def linked(request, tmp_path):
    rows = made(7)
    with ExitStack() as stack:
        engines, source = request.param(rows, tmp_path, stack)
        links = stack.enter_context(closing(linked_tables(engines["people"], source)))
        for name, columns in TABLES.items():
            links.add(name, engines[name], columns)
        yield links, rows


def test_other_engines_are_refused():
    with pytest.raises(MachineryError, match="cannot be drafted together"):
        linked_tables(object(), "")


def test_rows_that_match_are_counted_once_each(linked):
    links, rows = linked
    people = {row[0] for row in rows["people"]} - {None}
    named = [row[1] for row in rows["visits"] if row[1] is not None]
    found = links.match("visits", "person", "people", "id")
    assert (found.rows, found.matched) == (len(named), sum(one in people for one in named))
    assert found.matched < found.rows


def owners(rows):
    """Of each note the person by its visit, and the one who wrote it."""
    people = {row[0] for row in rows["people"]} - {None}
    for visit, author in rows["notes"]:
        persons = {p for v, p in rows["visits"] if visit is not None and v == visit} & people
        yield one(persons), one({author} & people)


BY_VISIT = (Hop("visit", "visits", "id"), Hop("person", "people", "id"))
BY_AUTHOR = (Hop("author", "people", "id"),)


def test_rows_of_a_chain_belong_to_whom_it_leads_to_alone(linked):
    links, rows = linked
    firsts = [first for first, _ in owners(rows)]
    found = links.owned("notes", [BY_VISIT])
    many = Counter(Counter(one for one in firsts if one is not None).values())
    assert (dict(found.repeats), found.nobody) == (dict(many), firsts.count(None))


def test_a_row_of_two_units_is_counted_for_both(linked):
    links, rows = linked
    pairs = [*owners(rows)]
    each = Counter(unit for pair in pairs if None not in pair for unit in {*pair})
    found = links.owned("notes", [BY_VISIT, BY_AUTHOR])
    assert dict(found.repeats) == dict(Counter(each.values()))
    assert found.nobody == sum(None in pair for pair in pairs)


def test_rows_with_two_owners_are_counted(linked):
    links, rows = linked
    apart = sum(None not in pair and pair[0] != pair[1] for pair in owners(rows))
    assert links.differing("notes", (BY_VISIT, BY_AUTHOR)) == apart > 0
    assert links.differing("notes", (BY_VISIT, BY_VISIT)) == 0
