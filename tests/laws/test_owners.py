"""The laws of owners: whose rows they are in an edition of several tables (`owners.md`).

They are held against a reference that follows references row by row, on random small databases
whose keys dangle, repeat, are NULL or are written in other types.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from table_stores import SLOW, TABLE_STORES, in_files

from adomnia.engines.edition_store import EditionName, Means
from adomnia.engines.sql.tables.owners import UNIT_2, table_marks
from adomnia.engines.sql.units import FIRST, RANK, UNIT
from adomnia.queries.rows import KEY, pointer
from adomnia.schema.domain import Categories, Grid
from adomnia.schema.table import Attribute
from adomnia.schema.tables import PrivateTable, Tables

LEDGER = "0123456789abcdef"
CODE = {"x": Attribute("x", Grid(Fraction(0), Fraction(3), Fraction(1)))}
OPENLY = {"x": Attribute("x", Grid(Fraction(0), Fraction(3), Fraction(1)), sensitive=False)}
SEX = {"sex": Attribute("sex", Categories(("F", "M")))}


def tables(units, *parts):
    """Several tables, those of units named."""
    return Tables({part.name: part for part in parts}, units)


CHAIN = tables(
    ("people",),
    PrivateTable("notes", CODE, references={"visit": "visits"}),  # before what it refers to
    PrivateTable("people", SEX, key="id"),
    PrivateTable("visits", OPENLY, key="id", references={"person": "people"}),
    PrivateTable("doses", CODE, key="id", references={"note of": "visits"}),
    PrivateTable("effects", CODE, references={"dose": "doses"}),
)
PAIRS = tables(
    ("people", "wards"),
    PrivateTable("people", SEX, key="id"),
    PrivateTable("wards", SEX, key="id"),
    PrivateTable("stays", CODE, key="id", references={"person": "people", "ward": "wards"}),
    PrivateTable("bills", OPENLY, references={"stay": "stays"}),
    PrivateTable("keys", CODE, references={"ward": "wards"}),
)
CONTACTS = tables(
    ("people",),
    PrivateTable("people", SEX, key="id"),
    PrivateTable("phones", CODE, key="id", references={"owner": "people"}),
    PrivateTable("calls", CODE, references={"caller": "phones", "called": "phones"}),
    PrivateTable("contacts", CODE, key="id", references={"a": "people", "b": "people"}),
)
SCHEMAS = {"chain": CHAIN, "pairs": PAIRS, "contacts": CONTACTS}

every_store = pytest.mark.parametrize("make", TABLE_STORES.values(), ids=TABLE_STORES)


def every_case(*seeds):
    """Every store with every schema and each seed; where a load takes long, with one of them."""
    found = {
        f"{store}-{schema}-{seed}": (make, SCHEMAS[schema], seed)
        for store, make in TABLE_STORES.items()
        for schema in SCHEMAS
        for seed in seeds
        if make not in SLOW or (schema, seed) == ("pairs", seeds[0])
    }
    return pytest.mark.parametrize(("make", "schema", "seed"), found.values(), ids=found)


# Rows at random: few keys, so that they repeat and cross owners.

KINDS = {"people": "BIGINT", "wards": "VARCHAR", "visits": "VARCHAR", "doses": "BIGINT"}
REFERRING = {"person": "VARCHAR", "visit": "VARCHAR", "a": "DOUBLE", "ward": "VARCHAR"}


def columns_of(schema):
    """The types of all columns: of keys and references by turns, so that they must be matched."""
    found = {}
    for name, table in schema.tables.items():
        keys = {} if table.key is None else {table.key: KINDS.get(name, "BIGINT")}
        refs = {column: REFERRING.get(column, "INTEGER") for column in table.references}
        own = {"x": "INTEGER", "sex": "VARCHAR"}
        found[name] = {**keys, **refs, **{c: own[c] for c in table.attributes}, "word": "VARCHAR"}
    return found


def drawn(schema, seed, most=24):
    """A database at random: most keys are of one row, some repeat, and some are NULL."""
    pick, found = random.Random(seed), {}
    values = {"x": [0, 1, 9, None], "sex": ["F", "M", "?", None], "word": ["a", "", None]}

    def value(table, column, place):
        if column == table.key and pick.random() < 0.6:
            return place + 1
        return pick.choice([None, *range(1, 6)] if column in table.names else values[column])

    for name, columns in columns_of(schema).items():
        table, rows = schema.tables[name], range(pick.randrange(most // 2, most))
        found[name] = [{c: value(table, c, place) for c in columns} for place in rows]
    return found


# The reference: units that a row reaches, by following its references.


def text(value):
    """A key as it is compared; here all are whole numbers."""
    return None if value is None else str(int(float(value)))


def reached(schema, rows, name, row, path):
    """All units that a row reaches by a way."""
    if not path:
        key = text(row[schema.tables[name].key])
        return set() if key is None else {key}
    other, value = schema.tables[name].references[path[0]], text(row[path[0]])
    key = schema.tables[other].key
    return {
        unit
        for found in rows[other]
        if value is not None and text(found[key]) == value
        for unit in reached(schema, rows, other, found, path[1:])
    }


def owners(schema, rows, name, row):
    """Whose a row is, by each way; None where it is nobody's."""
    found = []
    for path in schema.owners(name):
        units = reached(schema, rows, name, row, path)
        if len(units) != 1:
            return None
        found.append((schema.unit_of(name, path), *units))
    return tuple(found)


def without(schema, rows, unit):
    """The database without a unit: its rows, and all that refers to it, however indirectly."""
    table, key = unit

    def gone(name, row):
        return any(
            schema.unit_of(name, path) == table
            and key in reached(schema, rows, name, row, path)
            for path in schema.owners(name)
        )  # fmt: skip

    return {name: [r for r in part if not gone(name, r)] for name, part in rows.items()}


# What an edition holds


def load(store, schema, number=1):
    """Write an edition and put it in its place."""
    with store.writing() as writer:
        facts = writer.write(schema, Means())
        writer.publish(EditionName(LEDGER, number))
    return facts


def scanned(store, schema, number=1):
    """Each table's rows with all their columns and marks, as dicts."""
    engine, found = store.open(EditionName(LEDGER, number), schema), {}
    with closing(engine):
        for name in schema.tables:
            rows = engine.rows_of(name)
            needed = [*rows.names]
            names = [*needed, *table_marks(schema, name)]
            listed = ", ".join(engine._dialect.quoted(n) for n in names)
            read = engine._rows(f"SELECT {listed} FROM {engine.scan(name, needed)}")
            found[name] = [dict(zip(names, row, strict=True)) for row in read]
    return found


def without_numbers(schema, found):
    """The same where marks say what they stand for: whose row it is by the unit's own key, whether
    a row bears its key, and which row a pointer meets."""
    unit_key = {
        row[UNIT]: (name, text(row[schema.tables[name].key]))
        for name in schema.units
        for row in found[name]
    }
    bearers = {
        name: {row[KEY]: row for row in rows if row.get(KEY) is not None}
        for name, rows in found.items()
    }

    def said(name, row):
        references = schema.tables[name].references
        columns = {c: v for c, v in row.items() if not c.startswith("adomnia ")}
        units = tuple(unit_key[row[mark]] for mark in (UNIT, UNIT_2) if mark in row)
        met = {c: bearers[other].get(row[pointer(c)]) for c, other in references.items()}
        meets = {c: row and (row[RANK], row[FIRST]) for c, row in met.items()}
        return repr((columns, units, row[RANK], row[FIRST], row.get(KEY) is not None, meets))

    return {name: Counter(said(name, row) for row in rows) for name, rows in found.items()}


def owner_of(said):
    """The owners in such a text."""
    return eval(said)[1]


@every_case(0, 1, 2, 3)
def test_rows_belong_to_whom_they_reach(make, schema, seed):
    rows = drawn(schema, seed)
    with make(columns_of(schema)) as place:
        place.fill(rows)
        facts = load(place.store(), schema)
        found = without_numbers(schema, scanned(place.store(), schema))
    for name, part in rows.items():
        expected = Counter(owners(schema, rows, name, row) for row in part)
        nobody = expected.pop(None, 0)
        stored = Counter(owner_of(said) for said in found[name].elements())
        assert stored == expected
        assert (facts.tables[name].rows, facts.nobody[name]) == (stored.total(), nobody)


@every_case(100, 101, 102, 103)
def test_a_unit_that_goes_leaves_all_else_as_it_was(make, schema, seed):
    rows = drawn(schema, seed)
    with make(columns_of(schema)) as place:
        place.fill(rows)
        load(place.store(), schema)
        before = without_numbers(schema, scanned(place.store(), schema))
        units = {u for part in before.values() for said in part for u in owner_of(said)}
        dangling = {(name, "4") for name in schema.units}  # perhaps nobody's, and removed too
        for unit in sorted(units | dangling)[:2]:
            place.fill(without(schema, rows, unit))
            load(place.store(), schema)
            after = without_numbers(schema, scanned(place.store(), schema))
            for name, part in before.items():
                others = {s: n for s, n in part.items() if unit not in owner_of(s)}
                assert after[name] == others


def test_a_row_that_reaches_several_units_stays_nobodys_whatever_else_has_its_key():
    """Dose 9 is once of a visit that is two people's, and once of one that is the third's: its
    effect goes with any of the three, so it is none of theirs."""
    row = {"x": 1, "word": "a"}
    rows = {
        "people": [{"id": id, "sex": "F", "word": "a"} for id in (1, 2, 3)],
        "visits": [{"id": id, "person": p, **row} for id, p in ((5, 1), (5, 2), (6, 3))],
        "doses": [{"id": 9, "note of": visit, **row} for visit in (5, 6)],
        "effects": [{"dose": 9, **row}],
        "notes": [{"visit": visit, **row} for visit in (5, 6)],
    }
    with in_files(columns_of(CHAIN)) as place:
        place.fill(rows)
        facts = load(place.store(), CHAIN)
    assert facts.nobody == {"people": 0, "visits": 0, "doses": 1, "effects": 1, "notes": 1}
    assert owners(CHAIN, rows, "effects", rows["effects"][0]) is None


@every_case(200, 201)
def test_a_join_on_a_pointer_meets_one_row_of_the_same_owner(make, schema, seed):
    with make(columns_of(schema)) as place:
        place.fill(drawn(schema, seed))
        load(place.store(), schema)
        found = scanned(place.store(), schema)
    for name, table in schema.tables.items():
        for column, other in table.references.items():
            check_pointer(schema, found, (name, column), other)


def check_pointer(schema, found, child, other):
    """Pointers of a column: to the first row of the key that has the same owners by this way."""
    name, column = child
    ways = [i for i, path in enumerate(schema.owners(name)) if path[0] == column]
    marks = [(UNIT, UNIT_2)[way] for way in ways]
    bearers = [row for row in found[other] if row[KEY] is not None]
    assert len({row[KEY] for row in bearers}) == len(bearers)
    for row in found[name]:
        key = schema.tables[other].key
        same = [
            r for r in found[other]
            if text(r[key]) == text(row[column])
            and all(r[(UNIT, UNIT_2)[at]] == row[mark] for at, mark in enumerate(marks))
        ]  # fmt: skip
        met = [r for r in bearers if r[KEY] == row[pointer(column)]]
        least = min((r[RANK] for r in same), default=None)
        assert [r[RANK] for r in met] == ([] if least is None else [least])
        assert all(r in same for r in met)


@every_case(300)
def test_ranks_are_within_the_owner_and_the_table(make, schema, seed):
    with make(columns_of(schema)) as place:
        place.fill(drawn(schema, seed))
        load(place.store(), schema)
        found = scanned(place.store(), schema)
    for rows in found.values():
        ranks: dict = {}
        for row in rows:
            ranks.setdefault((row[UNIT], row.get(UNIT_2)), []).append(row[RANK])
        assert all(sorted(part) == [*range(1, len(part) + 1)] for part in ranks.values())


@every_store
def test_units_of_two_tables_have_numbers_of_one_space(make):
    with make(columns_of(PAIRS)) as place:
        place.fill(drawn(PAIRS, 400))
        load(place.store(), PAIRS)
        found = scanned(place.store(), PAIRS)
    people, wards = ({row[UNIT] for row in found[name]} for name in PAIRS.units)
    assert people
    assert wards
    assert not people & wards
    for name in ("stays", "bills"):
        assert all(row[UNIT] in people and row[UNIT_2] in wards for row in found[name])


@every_store
def test_the_order_of_rows_changes_nothing(make):
    rows = drawn(PAIRS, 500)
    with make(columns_of(PAIRS)) as place:
        place.fill(rows)
        first = load(place.store(), PAIRS)
        before = without_numbers(PAIRS, scanned(place.store(), PAIRS))
        place.fill({name: part[::-1] for name, part in rows.items()})
        assert load(place.store(), PAIRS, 2) == first
        assert without_numbers(PAIRS, scanned(place.store(), PAIRS, 2)) == before
        rows["people"][0]["word"] = "another"
        place.fill(rows)
        assert load(place.store(), PAIRS, 3).digest != first.digest
