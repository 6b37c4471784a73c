"""Editions: the source as it was read once answers as it does itself, and no row tells of another.

The claims are those of `edition.md`.
"""

from __future__ import annotations

import random
import sys
import traceback
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "laws"))
sys.path.insert(0, str(Path(__file__).parents[1] / "fuzz"))

from hostile import HOSTILE
from sources import DOMAINS, TYPES
from statements import KEYS, Writer
from test_engine import ATTRIBUTES, NASTY, asked

import adomnia
from adomnia.engines.duckdb.edition import DuckDBEdition, write_edition
from adomnia.engines.duckdb.edition_store import EditionFolder
from adomnia.engines.duckdb.engine import DuckDB
from adomnia.engines.duckdb.source_rows import Parts
from adomnia.engines.edition_store import EditionName, Means
from adomnia.errors import MachineryError
from adomnia.mechanisms.unseal import unseal
from adomnia.schema.domain import Grid, Open
from adomnia.schema.table import Attribute, Table
from tests.enforced import ranked

UNITS = ["ann", "bob", "cy", "", "é", None]
WORDS = ["a", "b", "a\nb", "", "😀", "A", None]
HELD = TYPES | {"who": "VARCHAR", "word": "VARCHAR"}
OPEN = {name: Attribute(name, Open()) for name in ("who", "word")}
FREE = Table("people", ATTRIBUTES | OPEN)
OWNED = replace(FREE, unit="who", max_rows=3)
BOUND = replace(OWNED, max_rows=6, max_groups=2, max_rows_per_group=2)
TABLES = {"nobody's": FREE, "units": OWNED, "units in groups": BOUND}
SECRET = "Xq7SECRETz"


def drawn(seed, size):
    """Rows of which each value is one of the worst, independently of all others."""
    pick = random.Random(seed)
    return [
        {name: pick.choice([row[name] for row in NASTY]) for name in TYPES}
        | {"who": pick.choice(UNITS), "word": pick.choice(WORDS)}
        for _ in range(size)
    ]


def stored(folder, rows, types=HELD):
    """A database with these rows in a table."""
    path = folder / f"{len([*folder.iterdir()])}.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        listed = ", ".join(f"{name} {kind}" for name, kind in types.items())
        connection.execute(f"CREATE TABLE people ({listed})")
        marks = ", ".join(f"CAST(? AS {kind})" for kind in types.values())
        for row in rows:
            connection.execute(f"INSERT INTO people VALUES ({marks})", [row[n] for n in types])
    return path


@pytest.fixture
def edition(tmp_path):
    """Writes editions and opens them; all are closed after the test."""
    opened = []

    def made(source, table, memory=None):
        folder = tmp_path / "editions"
        folder.mkdir(exist_ok=True)
        path = folder / f"{len(opened)}.duckdb"
        facts = write_edition(path, source, "people", table, Means(memory))
        opened.append(DuckDBEdition(path, facts, table, "edition 1", memory))
        return opened[-1]

    yield made
    for engine in opened:
        engine.close()


@pytest.fixture
def in_place():
    """Opens sources that are coded as they are read."""
    opened = []

    def made(source, domains=DOMAINS):
        opened.append(DuckDB(source, "people", domains))
        return opened[-1]

    yield made
    for engine in opened:
        engine.close()


def answers(engine, sql, table):
    """All numbers that an engine hands out for a statement; None where it is refused."""
    found = asked(sql, table)
    if found is None:
        return None
    request, additive, quantiles = found
    parts = [unseal(part).tolist() for part in engine.measure(request)] if additive else []
    for quantile in quantiles:
        cells = unseal(engine.histogram(request, ranked(quantile)))
        parts.append([(c, v.tolist(), n.tolist()) for c, (v, n) in sorted(cells.items())])
    return parts


def keyed(engine, sql, table):
    """The same where keys are not public, by key."""
    keys, values = unseal(engine.keyed(asked(sql, table)[0]))
    return {key: row.tolist() for key, row in zip(keys, values, strict=True)}


BY_WORD = (
    "SELECT word, COUNT(*), SUM(age) FROM people GROUP BY word",
    "SELECT word, sex, COUNT(*) FROM people WHERE name <> 'b' GROUP BY word, sex",
)
PLAIN = [
    *(f"SELECT COUNT(*), SUM(age), AVG(far) FROM people GROUP BY {key}" for key in KEYS),
    "SELECT COUNT(*), SUM(big), SUM(price) FROM people WHERE word LIKE 'a%' OR day > moment",
]
"""Sums over rows: one row more adds to each what it has alone."""


# An edition is the source


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("size", [0, 1, 60])
def test_an_edition_answers_as_the_source_does(kind, size, tmp_path, edition, in_place):
    table, writer, asked_for = TABLES[kind], Writer(size), 0
    path = stored(tmp_path, drawn(size, size))
    loaded, source = edition(path, table), in_place(path)
    statements = [writer.statement() for _ in range(40)] + PLAIN
    statements += ["SELECT COUNT(DISTINCT word), COUNT(DISTINCT who), MEDIAN(age) FROM people"]
    for sql in statements:
        found = answers(loaded, sql, table)
        assert found == answers(source, sql, table), sql
        asked_for += found is not None
    for sql in BY_WORD:
        assert keyed(loaded, sql, table) == keyed(source, sql, table), sql
    assert asked_for > len(PLAIN) + 10
    assert loaded.columns() == source.columns()


def test_values_that_are_none_of_their_type_are_loaded(tmp_path, edition, in_place):
    """Each as a word, and some as the name of a unit."""
    columns = {f"c{place}": column for place, column in enumerate(HOSTILE.values())}
    pq.write_table(pa.table(columns), tmp_path / "people.parquet")
    table = Table("people", {name: Attribute(name, Open()) for name in columns})
    loaded = edition(tmp_path / "people.parquet", table)
    source = in_place(tmp_path / "people.parquet", dict.fromkeys(columns, Open()))
    for name in columns:
        sql = f"SELECT {name}, COUNT(*) FROM people GROUP BY {name}"
        found = keyed(loaded, sql, table)
        assert found == keyed(source, sql, table), name
        assert sum(row[0] for row in found.values()) == 4
    for name, column in [*columns.items()][::9]:
        pq.write_table(pa.table({name: column}), tmp_path / "one.parquet")
        owned = Table("people", {name: Attribute(name, Open())}, name)
        sql = f"SELECT COUNT(*), COUNT(DISTINCT {name}) FROM people"
        found = answers(edition(tmp_path / "one.parquet", owned), sql, owned)
        assert found == answers(in_place(tmp_path / "one.parquet", {}), sql, owned), name
        assert found[0] == found[1]  # one row of each


# A row is a row


@pytest.mark.parametrize("seed", range(4))
def test_a_row_more_is_a_row_more(seed, tmp_path, edition):
    """Whatever it holds: what it adds beside others is what it is alone."""
    rows, (one,) = drawn(seed, 25), drawn(100 + seed, 1)
    parts = (rows, [one], [*rows[:9], one, *rows[9:]])
    some, alone, both = (edition(stored(tmp_path, part), FREE) for part in parts)
    for sql in PLAIN:
        first, second, sums = (answers(engine, sql, FREE) for engine in (some, alone, both))
        for a, b, c in zip(first, second, sums, strict=True):
            assert (np.array(a, object) + np.array(b, object) == np.array(c, object)).all(), sql
    for sql in BY_WORD:
        first, second, sums = (keyed(engine, sql, FREE) for engine in (some, alone, both))
        for key, found in sums.items():
            blank = [0] * len(found)
            pairs = zip(first.get(key, blank), second.get(key, blank), strict=True)
            assert [sum(pair) for pair in pairs] == found, sql
        assert {*first} | {*second} == {*sums}


# Units

ROWS_OF = {"who": "VARCHAR", "id": "BIGINT", "kind": "VARCHAR"}
IDS = {"id": Attribute("id", Grid(Fraction(0), Fraction(999))), "who": Attribute("who", Open()),
       "kind": Attribute("kind", Open())}  # fmt: skip
PUBLIC_KIND = IDS | {"kind": Attribute("kind", Open(), sensitive=False)}


def crowd(seed, sizes):
    """Rows that each have a number of their own, so many of each unit."""
    pick, ids = random.Random(seed), iter(range(999))
    return [
        {"who": who, "id": next(ids), "kind": pick.choice("xyz")}
        for who, size in sizes.items()
        for _ in range(size)
    ]


def kept(engine, table):
    """The numbers of the rows that are kept of each unit, whole and in groups."""
    found = {}
    for sql in ("SELECT who, id, COUNT(*) FROM people GROUP BY who, id",
                "SELECT who, kind, id, COUNT(*) FROM people WHERE id % 3 > 0 "
                "GROUP BY who, kind, id"):  # fmt: skip
        for who, *rest in keyed(engine, sql, table):
            found.setdefault(who, set()).add(tuple(rest))
    return found


@pytest.mark.parametrize("attributes", [IDS, PUBLIC_KIND], ids=["secret", "public"])
@pytest.mark.parametrize("bounds", [(4, None, None), (9, 2, None), (9, 3, 1)])
def test_which_rows_are_kept_rests_on_the_units_own_rows(attributes, bounds, tmp_path, edition):
    table = Table("people", attributes, "who", bounds[0], {}, *bounds[1:])
    rows = crowd(1, {"a": 12, "b": 1, "c": 30, None: 3})
    whole = kept(edition(stored(tmp_path, rows, ROWS_OF), table), table)
    assert {*whole} == {"a", "b", "c"}
    for who, ids in whole.items():
        own = [row for row in rows if row["who"] == who]
        others = [row | {"who": "d", "kind": f"new {row['id']}"} for row in rows]
        random.Random(2).shuffle(own)
        for beside in ([], others):
            engine = edition(stored(tmp_path, [*beside, *own], ROWS_OF), table)
            assert kept(engine, table)[who] == ids


@pytest.mark.parametrize("kind", TABLES)
def test_numbers_of_words_and_units_decide_nothing(kind, tmp_path, edition):
    """All are given other numbers in the file; nobody who asks can tell."""
    table = TABLES[kind]
    path = stored(tmp_path, drawn(5, 60))
    engine, other = edition(path, table), edition(path, table)
    other.close()
    with duckdb.connect(str(other._path)) as connection:
        words = dict(enumerate(other.facts.words))
        for place, name in words.items():
            most = connection.execute(f"SELECT MAX(code) FROM adomnia_words{place}").fetchone()[0]
            connection.execute(f"UPDATE adomnia_words{place} SET code = 7 * ({most} - code)")
            connection.execute(f'UPDATE adomnia_rows SET "{name}" = 7 * ({most} - "{name}")')
        if table.unit is not None:
            connection.execute('UPDATE adomnia_rows SET "adomnia unit" = -3 * "adomnia unit"')
    again = DuckDBEdition(other._path, other.facts, table, "edition 1")
    assert {*words.values()} == {"name", "who", "word"}
    for sql in [*PLAIN, "SELECT COUNT(DISTINCT word), COUNT(DISTINCT who) FROM people"]:
        assert answers(again, sql, table) == answers(engine, sql, table), sql
    for sql in BY_WORD:
        assert keyed(again, sql, table) == keyed(engine, sql, table), sql
    again.close()


# The file


def silent(error):
    """Whether nothing of the data is in an error, or in what caused it."""
    said = "".join(traceback.format_exception(error)) + repr(error) + str(vars(error))
    return error.__cause__ is None and error.__context__ is None and SECRET not in said


def spread(size, word="w"):
    """A Parquet file's rows: a wide number, a word and a unit each."""
    ids = np.arange(size)
    return pa.table({"id": ids * 10**9, "word": [f"{word} {i % 97}" for i in ids], "who": ids // 3})


WIDE = {"id": Attribute("id", Grid(Fraction(0), Fraction(10**15))), "who": Attribute("who", Open()),
        "word": Attribute("word", Open())}  # fmt: skip
SPREAD = {"free": Table("people", WIDE), "units": Table("people", WIDE, "who", 2)}
TOTAL = "SELECT COUNT(*), SUM(id), COUNT(DISTINCT word) FROM people WHERE word <> 'w 5'"


def test_a_damaged_file_fails_quietly(tmp_path, edition):
    table = SPREAD["units"]
    pq.write_table(spread(50_000, SECRET), tmp_path / "people.parquet")
    engine = edition(tmp_path / "people.parquet", table)
    engine.close()
    path, whole, noise = engine._path, engine._path.read_bytes(), random.Random(4).randbytes
    wrong = {
        "gone": None, "empty": b"", "short": whole[: len(whole) // 2], "text": SECRET.encode() * 99,
        "no head": SECRET.encode() * 2000 + whole[20_000:],
        "no rows": whole[:12_288] + noise(len(whole) - 12_288),
    }  # fmt: skip
    for case, data in wrong.items():
        path.unlink()
        if data is not None:
            path.write_bytes(data)
        with pytest.raises(MachineryError) as caught:
            answers(DuckDBEdition(path, engine.facts, table, "edition 1"), TOTAL, table)
        assert silent(caught.value), case
        path.touch()


def test_facts_that_are_damaged_fail_quietly(tmp_path):
    store, name = EditionFolder(tmp_path, "people.parquet", "people"), EditionName("ab", 1)
    store.path(name).mkdir()
    assert store.open(name, SPREAD["free"]) is None
    for text in ("", "{", f'["{SECRET}"]', f'{{"{SECRET}": 1}}', "\xff"):
        (store.path(name) / "edition.json").write_bytes(text.encode("latin-1"))
        with pytest.raises(MachineryError, match="adomnia load") as caught:
            store.open(name, SPREAD["free"])
        assert silent(caught.value)


@pytest.mark.parametrize("kind", SPREAD)
def test_little_memory_writes_the_same(kind, tmp_path, edition):
    table = SPREAD[kind]
    pq.write_table(spread(400_000), tmp_path / "people.parquet")
    much, little = (edition(tmp_path / "people.parquet", table, memory) for memory in (None, 1))
    assert little.facts == much.facts
    assert answers(little, TOTAL, table) == answers(much, TOTAL, table)
    assert little._rows("SELECT current_setting('memory_limit')") == [("61.0 MiB",)]


def test_a_file_is_its_owners_alone_and_nothing_is_beside_it(tmp_path, monkeypatch):
    pq.write_table(spread(1000), tmp_path / "people.parquet")
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    for kind, table in SPREAD.items():
        folder = tmp_path / kind
        folder.mkdir()
        facts = write_edition(folder / "rows", tmp_path / "people.parquet", "people", table)
        assert [path.name for path in folder.iterdir()] == ["rows"]
        assert (folder / "rows").stat().st_mode & 0o777 == 0o600
        DuckDBEdition(folder / "rows", facts, table, "edition 1").close()
        assert [path.name for path in folder.iterdir()] == ["rows"]
    assert [*(tmp_path / "tmp").iterdir()] == []


@pytest.mark.parametrize("kind", SPREAD)
def test_the_digest_is_of_all_that_is_held_in_any_order(kind, tmp_path, edition):
    rows, path = spread(300), tmp_path / "people.parquet"
    order = random.Random(3).sample(range(300), 300)
    other_word = pa.array([*rows["word"].to_pylist()[:-1], "another"])
    other_id = pa.array([*rows["id"].to_pylist()[:-1], 7])
    files = [rows, rows.take(order), rows.set_column(1, "word", other_word),
             rows.set_column(0, "id", other_id), rows.slice(1)]  # fmt: skip
    digests = []
    for file in files:
        pq.write_table(file, path)
        digests.append(edition(path, SPREAD[kind]).facts.digest)
    assert digests[0] == digests[1]
    assert len({*digests}) == len(files) - 1


def test_an_edition_is_asked_by_its_own_policy_alone(tmp_path, edition):
    pq.write_table(spread(10), tmp_path / "people.parquet")
    free, units = SPREAD.values()
    with pytest.raises(MachineryError, match="another policy"):
        answers(edition(tmp_path / "people.parquet", free), TOTAL, units)
    fewer, count = replace(units, max_rows=1), "SELECT COUNT(*) FROM people"
    loaded = edition(tmp_path / "people.parquet", units)  # with the ranks of all rows
    assert [answers(loaded, count, each) for each in (units, fewer)] == [[[[7]]], [[[4]]]]


def test_a_load_that_fails_leaves_what_was_there(tmp_path, monkeypatch):
    """Interrupted or broken: the last edition stays in force, and nothing is left of the new."""
    path, folder = tmp_path / "people.parquet", tmp_path / "adomnia.editions"
    pq.write_table(spread(10), path)
    (tmp_path / "adomnia.toml").write_text(
        '[data]\nsource = "people.parquet"\ntable = "people"\n[privacy]\nepsilon = 9\n'
        "confirmed = true\n[attributes.id]\nlow = 0\nhigh = 9\n"
    )

    def interrupted(self, connection, tell):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Parts, "select", interrupted)
        with pytest.raises(KeyboardInterrupt):
            adomnia.open(tmp_path / "adomnia.toml")
        assert [file.name for file in folder.iterdir()] == ["lock"]
        assert not (tmp_path / "adomnia.ledger").exists()
    with adomnia.open(tmp_path / "adomnia.toml") as database:
        path.write_bytes(b"no Parquet")
        with pytest.raises(adomnia.PolicyError):
            database.load()
        answer = database.session().ask("SELECT COUNT(*) AS n FROM people", epsilon=1)
    assert answer.edition == 1
    assert sorted(file.name[:6] for file in folder.iterdir()) == ["000001", "lock"]
