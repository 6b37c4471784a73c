"""Sources as they are: broken, mixed, empty or gone. Never a crash, never data in a message.

Each is read in place, and once into an edition.
"""

from __future__ import annotations

import datetime as dt
import gzip
import traceback
from fractions import Fraction

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adomnia.engines.duckdb import delimited, source_rows
from adomnia.engines.duckdb.edition import DuckDBEdition, write_edition
from adomnia.engines.duckdb.engine import DuckDB
from adomnia.engines.duckdb.source_rows import Parts
from adomnia.errors import AdomniaError, MachineryError, PolicyError
from adomnia.mechanisms.unseal import unseal
from adomnia.queries.sql.bind import bind
from adomnia.queries.strategy import plan_measurements
from adomnia.schema.domain import Categories, Dates, Grid, Open
from adomnia.schema.table import Attribute, Table
from tests.enforced import request_of

SECRET = "Xq7SECRETz"
DOMAINS = {
    "id": Grid(Fraction(0), Fraction(10**9)),
    "city": Categories(("Ulm", "Köln"), other="other"),
    "day": Dates(dt.date(2020, 1, 1), dt.date(2020, 12, 31)),
    "name": Open(),
}


def table_of(domains):
    """A table of these columns."""
    return Table("people", {name: Attribute(name, domain) for name, domain in domains.items()})


TABLE = table_of(DOMAINS)


def in_place(path, table, domains, folder):
    """The source as it is read at each question."""
    return DuckDB(path, table, domains)


def as_edition(path, table, domains, folder):
    """The source as it was read once, into a file of this folder."""
    place = folder / "rows.duckdb"
    facts = write_edition(place, path, table, table_of(domains))
    return DuckDBEdition(place, facts, table_of(domains), "edition 1")


WAYS = {"in place": in_place, "edition": as_edition}


@pytest.fixture(params=WAYS)
def opening(request, tmp_path_factory):
    """Opens a source in one of the ways in which it is read."""

    def opened(path, domains=DOMAINS, table="people"):
        return WAYS[request.param](path, table, domains, tmp_path_factory.mktemp("edition"))

    return opened


@pytest.fixture
def opened(opening):
    """Opens sources, and closes them after the test."""
    engines = []

    def kept(*words):
        engines.append(opening(*words))
        return engines[-1]

    yield kept
    for engine in engines:
        engine.close()


def exact(engine, sql, table=TABLE):
    """The sealed values of a statement, opened: one list per measurement."""
    question = bind(sql, table, tuple(engine.columns()))
    found = plan_measurements(question).measurements
    sealed = engine.measure(request_of(table, question.where, question.keys, found))
    return [unseal(part).tolist() for part in sealed]


def count(engine, where="TRUE"):
    return exact(engine, f"SELECT COUNT(*) FROM people WHERE {where}")[0][0][0]


def assert_silent(error: AdomniaError, capfd) -> None:
    """No trace of the data: in the message, in what caused it, or in what was printed."""
    assert error.__cause__ is None
    assert error.__context__ is None
    said = "".join(traceback.format_exception(error)) + repr(error) + "".join(capfd.readouterr())
    assert SECRET not in said
    assert SECRET not in str(vars(error))


def write(path, text, encoding="utf-8"):
    path.write_bytes(text.encode(encoding) if isinstance(text, str) else text)
    return path


# CSV that is broken


HEAD = "id,city,day,name\n"
CSV = {
    "plain": (HEAD + "1,Ulm,2020-05-05,a\n2,Köln,2020-05-06,b\n", 2, 2),
    "quotes and line breaks": (HEAD + '1,Ulm,2020-05-05,"a\nb, ""c"""\n2,Ulm,,"x\r\ny"\n', 2, 2),
    "short and long rows": (HEAD + "1\n2,Ulm\n3,Ulm,2020-01-01,a,b,c\n4,Ulm,2020-01-01,a\n", 4, 4),
    "mixed types": (HEAD + f"x,1,99999-01-01,5\n1e400,{SECRET},2020-02-30,\n-7,,infinity,\n", 3, 2),
    "no rows": (HEAD, 0, 0),
    "no rows, no line break": (HEAD.strip(), 0, 0),
    "bytes of order": ("\ufeff" + HEAD + "1,Ulm,2020-05-05,a\n", 1, 1),
    "carriage returns": ((HEAD + "1,Ulm,2020-05-05,a\n2,Ulm,,b\n").replace("\n", "\r\n"), 2, 2),
    "semicolons": ((HEAD + "1,Ulm,2020-05-05,a\n2,Ulm,,b\n").replace(",", ";"), 2, 2),
    "a nul": (HEAD + "1,Ulm,2020-05-05,a\0b\n2,U\0lm,,b\n", 2, 2),
    "an open quote": (HEAD + f'1,Ulm,2020-05-05,a\n2,Ulm,,"{SECRET}\n3,Ulm,,c\n', None, None),
    "stray quotes": (HEAD + '1,Ulm,2020-05-05,a"b"c\n2,"Ulm"x,,d\n3,Ulm,,e\n', 3, 3),
    "an endless line": (HEAD + "1,Ulm,," + "y" * 3_000_000 + "\n2,Ulm,,b\n", None, None),
}  # fmt: skip


@pytest.mark.parametrize("case", CSV)
def test_broken_csv_is_read(case, tmp_path, opened):
    text, rows, numbers = CSV[case]
    engine = opened(write(tmp_path / "people.csv", text))
    assert tuple(engine.columns()) == ("id", "city", "day", "name")
    found = count(engine)
    assert found == rows or rows is None
    assert count(engine, "id IS NOT NULL") == numbers or numbers is None
    assert exact(engine, "SELECT COUNT(*), SUM(id) FROM people GROUP BY city, day")


def test_a_row_may_break_anywhere_in_a_long_file(tmp_path, opened):
    rows = [f'{i},Ulm,2020-05-05,"a\nb {i}"' if i % 50 else f"{i},Ulm" for i in range(100_000)]
    engine = opened(write(tmp_path / "people.csv", HEAD + "\n".join(rows)))
    assert count(engine) == 100_000
    assert exact(engine, "SELECT SUM(id) FROM people") == [[[sum(range(100_000))]]]
    assert count(engine, "name IS NULL") == 2000


def test_a_long_file_without_quotes_is_read_like_one_with_quotes(tmp_path, opened, monkeypatch):
    """Lines without quotes are read by another, faster way: the rows are the same."""
    monkeypatch.setattr(delimited, "CHUNK", 1 << 16)
    rows = [f"{i * 7 % 1000003},Ulm,,{i}" if i % 900 else f"{i}" for i in range(100_000)]
    lines = HEAD + "\n".join(rows) + "\n,,,\n\n1,2,3,4,5\n"
    quoted = lines.replace("Ulm", '"Ulm"', 1)
    found = []
    for name, text in (("plain", lines), ("quoted", quoted), ("crlf", lines.replace("\n", "\r\n"))):
        engine = opened(write(tmp_path / f"{name}.csv", text))
        sql = "SELECT COUNT(*), SUM(id), COUNT(name) FROM people GROUP BY city"
        found.append(exact(engine, sql))
    assert found[0] == found[1] == found[2]
    assert count(engine) == 100_002


ODD_LINES = {
    # a line, and how many rows it is
    "a bare carriage return at the end": (b"5,Ulm,,a\r", 1),
    "carriage returns": (b"5\r,Ulm,\r,a", 1),
    "an empty line": (b"", 0),
    "a long line": (b"5,Ulm,," + b"y" * 3_000_000, 1),
    "a byte of Latin-1": (b"5,Ulm,,\xe9", 1),
    "a quote inside": (b'5,Ulm,,a"b', 1),
    "too many fields": (b"5,Ulm,,a,b,c,d", 1),
    "a nul": (b"5,Ulm,,\0", 1),
}


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("case", ODD_LINES)
def test_a_line_changes_no_other(case, end, tmp_path, opened):
    line, rows = ODD_LINES[case]
    lines = [HEAD.strip().encode(), b"1,Ulm,,a", line, b"7,Ulm,,b", b"9,Ulm,,c"]
    engine = opened(write(tmp_path / "people.csv", end.join(lines) + end))
    assert not engine.row_count_is_stable
    assert count(engine) == 3 + rows
    assert count(engine, "id = 1") == count(engine, "id = 7") == count(engine, "id = 9") == 1
    assert count(engine, "id = 5") == rows


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".tsv", ".tsv.gz", ".txt"])
def test_endings(ending, tmp_path, opened):
    text = HEAD + "1,Ulm,2020-05-05,a\n2,Köln,2020-05-06,b\n"
    if ".tsv" in ending:
        text = text.replace(",", "\t")
    data = gzip.compress(text.encode()) if ending.endswith("gz") else text.encode()
    engine = opened(write(tmp_path / f"people{ending}", data))
    assert count(engine, "city = 'Köln' AND id = 2") == 1


@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
def test_text_that_is_not_utf8_is_latin(ending, tmp_path, opened):
    data = (HEAD + "1,Köln,2020-05-05,a\n").encode() + "2,Köln,,ß\n3,Ulm,,c\n".encode("latin-1")
    data = gzip.compress(data) if ending.endswith("gz") else data
    engine = opened(write(tmp_path / f"people{ending}", data))
    assert count(engine) == 3
    assert count(engine, "city = 'Köln'") == 2
    assert count(engine, "name = 'ß'") == 1
    assert not [file for file in tmp_path.iterdir() if file.name != f"people{ending}"]


def test_every_byte_has_a_meaning(tmp_path, opened):
    rows = b"".join(b"%d,Ulm,,a%cb\n" % (i, i) for i in range(256) if i not in b'\n\r",')
    engine = opened(write(tmp_path / "people.csv", HEAD.encode() + rows))
    assert count(engine) == 252
    assert exact(engine, "SELECT COUNT(DISTINCT name) FROM people") == [[[252]]]


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("", "utf-8"),
        ("\n1,Ulm\n", "utf-8"),
        ("id,city,id\n1,Ulm,2\n", "utf-8"),
        ("id,city,ID\n1,Ulm,2\n", "utf-8"),
        (f"1,{SECRET},2020-01-01,x\n", "utf-8"),
        (HEAD + f"1,{SECRET},,\n", "utf-16"),
        ("adomnia 1,id\n1,1\n", "utf-8"),
    ],
    ids=["empty", "blank line", "twice", "twice by case", "no header", "utf-16", "our name"],
)
def test_csv_that_is_refused(text, encoding, tmp_path, opening, capfd):
    path = write(tmp_path / "people.csv", text, encoding)
    with pytest.raises(PolicyError) as caught:
        opening(path)
    assert caught.value.exit_code == 2
    assert_silent(caught.value, capfd)


@pytest.mark.parametrize("head", ["id,city,id", "id,city,ID"])
def test_which_column_is_there_twice_is_said(head, tmp_path, opening):
    with pytest.raises(PolicyError) as caught:
        opening(write(tmp_path / "people.csv", f"{head}\n1,Ulm,2\n"))
    assert caught.value.message == (
        "the file 'people.csv' has two columns of one name: 'id' is column 1 and column 3"
    )


# Several files


def test_files_of_a_folder_are_matched_by_name(tmp_path, opened):
    write(tmp_path / "1.csv", HEAD + "1,Ulm,2020-05-05,a\n")
    write(tmp_path / "2.csv", "city;id;day;name\nKöln;2;;b\n")
    write(tmp_path / "notes.md", SECRET)
    (tmp_path / "deep").mkdir()
    write(tmp_path / "deep" / "3.tsv", "name\tid\tcity\tday\tnew\nc\t3\t\t\tx\n")
    for source in (tmp_path, f"{tmp_path}/**/*.[ct]sv"):
        engine = opened(source)
        assert exact(engine, "SELECT SUM(id) FROM people") == [[[6]]]
        assert count(engine) == 3
        assert count(engine, "city IS NULL") == 1
        assert count(engine, "day IS NULL") == 2


def as_text(path, columns):
    """A CSV file of one row."""
    write(path.with_suffix(".csv"), f"{','.join(columns)}\n{','.join('1' for _ in columns)}\n")


def as_parquet(path, columns):
    """A Parquet file of one row."""
    pq.write_table(pa.table({name: ["1"] for name in columns}), path.with_suffix(".parquet"))


LACKING = {
    "name": (["id", "city", "day", "Nname"], "perhaps it is called 'Nname' there: rename it"),
    "city": (["id", "name", "day", "ort"], "perhaps it is called 'ort' there: rename it"),
    "day": (["id", "name", "city"], "add 'day' to it, or take the file out of the source"),
}


@pytest.mark.parametrize("stored", [as_text, as_parquet])
@pytest.mark.parametrize("lacked", LACKING)
def test_a_file_that_lacks_a_declared_column_is_refused_by_name(stored, lacked, tmp_path, opening):
    columns, hint = LACKING[lacked]
    stored(tmp_path / "january", DOMAINS)
    stored(tmp_path / "march", columns)
    with pytest.raises(PolicyError) as caught:
        opening(tmp_path)
    kind = ".csv" if stored is as_text else ".parquet"
    assert caught.value.message == (
        f"the file 'march{kind}' has no column {lacked!r}, which 'january{kind}' has"
    )
    assert caught.value.hint == f"{hint}; nothing of the source was taken"


def test_a_name_with_signs_of_a_pattern(tmp_path, opened):
    write(tmp_path / "a[1]*?.csv", HEAD + "1,Ulm,,\n")
    write(tmp_path / "a1xy.csv", HEAD + "2,Ulm,,\n" * 5)
    assert count(opened(tmp_path / "a[1]*?.csv")) == 1
    pq.write_table(pa.table({"id": [1]}), tmp_path / "b[1]*?.parquet")
    pq.write_table(pa.table({"id": [1] * 5}), tmp_path / "b1xy.parquet")
    assert count(opened(tmp_path / "b[1]*?.parquet")) == 1


MIXED = {
    "int, text": ([1, 2], ["3", SECRET], 3),
    "text, int": (["3", SECRET], [1, 2], 3),
    "int, date": ([1, 2], [dt.date(2020, 1, 1)], 2),
    "int, real": ([1, 2], [0.6, 3.0], 4),
    "small, large": (pa.array([1], pa.int8()), pa.array([2**60], pa.uint64()), 2),
    "list, int": ([[1], [2]], [5], 1),
    "truth, int": ([True, False], [5], 3),
    "decimals": (pa.array(["1.5"]).cast(pa.decimal128(38, 30)),
                 pa.array(["9" * 30]).cast(pa.decimal128(38, 0)), 2),
}  # fmt: skip


@pytest.mark.parametrize("case", MIXED)
def test_parquet_with_a_type_in_each_file(case, tmp_path, opened):
    first, second, numbers = MIXED[case]
    pq.write_table(pa.table({"id": first, "name": ["a"] * len(first)}), tmp_path / "1.parquet")
    pq.write_table(
        pa.table({"id": second, "name": ["b"] * len(second), "more": [1] * len(second)}),
        tmp_path / "2.parquet",
    )
    engine = opened(tmp_path)
    assert count(engine) == len(first) + len(second)
    assert count(engine, "id IS NOT NULL") == numbers
    assert count(engine, "name = 'a'") == len(first)
    assert exact(engine, "SELECT SUM(id) FROM people")


def test_old_moments_of_twelve_bytes(tmp_path, opened):
    """INT96 holds days of some five million years, which no 64 bits of microseconds do."""
    plain = dt.datetime(2020, 2, 3, 4, 5, 6, 789)
    pq.write_table(
        pa.table({"id": [1, 2, 3], "day": pa.array([plain, dt.datetime(2020, 7, 8), plain])}),
        tmp_path / "old.parquet", use_deprecated_int96_timestamps=True, compression="none",
        use_dictionary=False, write_statistics=False,
    )  # fmt: skip
    data = (tmp_path / "old.parquet").read_bytes()
    nanos = ((4 * 60 + 5) * 60 + 6) * 10**9 + 789_000
    old = nanos.to_bytes(8, "little") + (2440588 + 18295).to_bytes(4, "little")
    assert data.count(old) == 2
    for bad in (b"\xff" * 12, b"\xff" * 8 + b"\0" * 4, b"\0" * 8 + b"\xff\xff\xff\x7f"):
        write(tmp_path / "people.parquet", data.replace(old, bad, 1))
        engine = opened(tmp_path / "people.parquet")
        assert count(engine) == 3
        assert count(engine, "day = DATE '2020-02-03'") == count(engine, "day > DATE '2020-07-07'")
        undeclared = opened(tmp_path / "people.parquet", {"id": DOMAINS["id"]})
        table = Table("people", {"id": Attribute("id", DOMAINS["id"])})
        sql = "SELECT COUNT(*) FROM people WHERE day = '2020-02-03 04:05:06.000789'"
        assert exact(undeclared, sql, table) == [[[1]]]


def test_bytes_of_a_fixed_length_are_what_the_file_says(tmp_path, opened):
    path, told = tmp_path / "people.parquet", "01234567-89ab-cdef-0123-456789abcdef"
    duckdb.connect().execute(
        f"COPY (SELECT 1 AS id, '{told}'::UUID AS u, INTERVAL '1 month 2 days' AS i, "
        f"'{{}}'::JSON AS j, 'a'::ENUM('a') AS e, '\\xff'::BLOB AS b) TO '{path}'"
    )
    engine = opened(path, {"id": DOMAINS["id"]})
    table = Table("people", {"id": Attribute("id", DOMAINS["id"])})
    wanted = {"u": told, "i": "1 month 2 days", "j": "{}", "e": "a", "b": "\\xFF"}
    for name, text in wanted.items():
        sql = f"SELECT COUNT(*) FROM people WHERE {name} = '{text}'"
        assert exact(engine, sql, table) == [[[1]]], name


def test_every_type_of_column_can_be_declared_as_anything(tmp_path, opened):
    values = ["1::TINYINT", "1::UHUGEINT", "1::HUGEINT", "1.5::FLOAT", "1::DECIMAL(38,37)", "TRUE",
              "'x'", "'a'::BLOB", "DATE '2020-01-01'", "TIME '10:00'", "TIMESTAMP '2020-01-01'",
              "TIMESTAMPTZ '2020-01-01'", "'2020-01-01'::TIMESTAMP_NS", "INTERVAL 1 DAY", "[1]",
              "{'a': 1}", "MAP {1: 2}", "uuid()", "'F'::ENUM('F')", "'101'::BIT", "NULL",
              "[DATE '2020-01-01']", "340282366920938463463374607431768211455::UHUGEINT",
              "170141183460469231731687303715884105727::HUGEINT",
              "'Infinity'::TIMESTAMP"]  # fmt: skip
    columns = ", ".join(f"{value} AS c{i}" for i, value in enumerate(values))
    path = str(tmp_path / "all.duckdb")
    with duckdb.connect(path) as connection:
        connection.execute(f"CREATE TABLE people AS SELECT {columns}")
    kinds = [DOMAINS["day"], DOMAINS["name"], DOMAINS["city"], Categories((1, 2), other=7),
             Categories((True, False)), Grid(Fraction(-5), Fraction(5)),
             Grid(Fraction(-5), Fraction(5), Fraction(1, 3)),
             Grid(Fraction(0), Fraction(9), Fraction(3))]  # fmt: skip
    for domain in kinds:
        attributes = {f"c{i}": Attribute(f"c{i}", domain) for i in range(len(values))}
        table = Table("people", attributes)
        engine = opened(path, dict.fromkeys(attributes, domain))
        for name in attributes:
            found = exact(engine, f"SELECT COUNT({name}) FROM people", table)[0][0][0]
            assert found in (0, 1)
            if not isinstance(domain, Open):
                by = exact(engine, f"SELECT COUNT(*) FROM people GROUP BY {name}", table)
                assert sum(cell for row in by[0] for cell in row) == 1


# What cannot be opened


def _corrupt(folder):
    pq.write_table(pa.table({"id": [1], "name": [SECRET]}), folder / "x.parquet")
    data = (folder / "x.parquet").read_bytes()
    return write(folder / "people.parquet", data[: len(data) // 2] + b"PAR1")


def _foreign(folder):
    return write(folder / "people.db", b"SQLite format 3\0" + SECRET.encode() * 100)


def _bad_gzip(folder):
    return write(folder / "people.csv.gz", gzip.compress((HEAD + SECRET).encode())[:-12])


def _no_table(folder):
    with duckdb.connect(str(folder / "people.duckdb")) as connection:
        connection.execute(f"CREATE TABLE persons AS SELECT '{SECRET}' AS name")
    return folder / "people.duckdb"


def _mixed(folder):
    write(folder / "1.csv", HEAD)
    pq.write_table(pa.table({"id": [1]}), folder / "2.parquet")
    return folder


REFUSED = {
    "missing": lambda folder: folder / "none.csv",
    "no match": lambda folder: folder / "*.csv",
    "empty folder": lambda folder: folder,
    "folder without data": lambda folder: write(folder / "a.md", SECRET).parent,
    "unknown kind": lambda folder: write(folder / "a.json", SECRET),
    "several kinds": _mixed,
    "corrupt Parquet": _corrupt,
    "text as Parquet": lambda folder: write(folder / "a.parquet", SECRET * 100),
    "another database": _foreign,
    "broken gzip": _bad_gzip,
    "no gzip": lambda folder: write(folder / "a.csv.gz", HEAD + SECRET),
    "no such table": _no_table,
    "a nul": lambda folder: "a\0.csv",
    "too long a name": lambda folder: "a" * 5000 + ".csv",
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_opened_is_an_error_of_the_policy(case, tmp_path, opening, capfd):
    path = REFUSED[case](tmp_path)
    with pytest.raises(PolicyError) as caught:
        opening(path)
    assert caught.value.exit_code == 2
    assert_silent(caught.value, capfd)


def test_a_domain_beyond_floating_point_is_an_error_of_the_policy(tmp_path, opening):
    pq.write_table(pa.table({"id": [1.5]}), tmp_path / "people.parquet")
    for step in (Fraction(1, 10**400), Fraction(10**400)):
        with pytest.raises(PolicyError):
            opening(tmp_path, {"id": Grid(Fraction(0), step * 10, step)})


def test_what_was_opened_stays(tmp_path, opened):
    """Whatever becomes of the file: broken, gone, or another one."""
    path = tmp_path / "people.parquet"
    pq.write_table(pa.table({"id": [1], "name": [SECRET]}), path)
    engine = opened(path)
    before = engine.version()
    write(path, (SECRET * 1000).encode())
    assert (count(engine, "id > 0"), engine.version()) == (1, before)
    path.unlink()
    engine.ready()
    assert (count(engine, "id > 0"), engine.version()) == (1, before)
    pq.write_table(pa.table({"id": [1, 2], "name": ["a", "b"]}), path)
    engine.ready()
    assert (count(engine), engine.version()) == (1, before)


def test_a_source_that_changes_while_it_is_read_is_not_opened(tmp_path, opening, monkeypatch):
    path, select = tmp_path / "people.parquet", Parts.select
    pq.write_table(pa.table({"id": [1], "name": ["a"]}), path)

    def changed(self, connection, tell):
        pq.write_table(pa.table({"id": [1, 2], "name": ["a", SECRET]}), path)
        return select(self, connection, tell)

    with monkeypatch.context() as patched:
        patched.setattr(Parts, "select", changed)
        with pytest.raises(MachineryError, match="changed while it was read"):
            opening(path)


def test_an_engine_that_died_is_opened_anew(tmp_path, opened):
    pq.write_table(pa.table({"id": [1], "name": ["a"]}), tmp_path / "people.parquet")
    engine = opened(tmp_path / "people.parquet")
    engine._connection.close()
    with pytest.raises(MachineryError):
        count(engine)
    engine.ready()
    assert count(engine) == 1


def test_a_disk_without_room_is_said_at_once(tmp_path, opening, monkeypatch):
    pq.write_table(pa.table({"id": [1], "name": ["a"]}), tmp_path / "people.parquet")
    monkeypatch.setattr(source_rows, "SPARE", 1 << 60)
    with pytest.raises(MachineryError, match="no room to load the source"):
        opening(tmp_path / "people.parquet")


def test_what_a_database_computes_is_computed_when_it_is_opened(tmp_path, opened, opening):
    path = tmp_path / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE base AS SELECT UNNEST(['1', '2', 'x']) AS id")
        connection.execute("CREATE VIEW fails AS SELECT CAST(id AS BIGINT) AS id FROM base")
        connection.execute("CREATE VIEW works AS SELECT TRY_CAST(id AS BIGINT) AS id FROM base")
    domains = {"id": DOMAINS["id"]}
    found = exact(opened(path, domains, "works"), "SELECT COUNT(*) FROM people", table_of(domains))
    assert found == [[[3]]]
    with pytest.raises(PolicyError, match="cannot be read"):
        opening(path, domains, "fails")


def test_text_is_kept_as_it_was_opened(tmp_path, opened):
    path = write(tmp_path / "people.csv", HEAD + "1,Ulm,,\n")
    engine = opened(path)
    version = engine.version()
    path.unlink()
    assert count(engine) == 1
    assert engine.version() == version


def test_names_that_mean_something_elsewhere(tmp_path, opened):
    names = ["p0", "k0", "select", "a b", 'q"q', "adomnia_data", "rowid", "filename", "Ä", "1"]
    domains = {name: Grid(Fraction(0), Fraction(9)) for name in names}
    table = Table("people", {name: Attribute(name, domain) for name, domain in domains.items()})
    pq.write_table(pa.table({name: [1, 2, 3] for name in names}), tmp_path / "people.parquet")
    engine = opened(tmp_path, domains)
    for name in names:
        column = '"' + name.replace('"', '""') + '"'
        sql = f"SELECT COUNT(*), SUM({column}) FROM people WHERE {column} > 1 GROUP BY {column}"
        assert sum(map(sum, exact(engine, sql, table)[0])) > 0


def test_nothing_is_left_behind(tmp_path, opening, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", None)
    (tmp_path / "tmp").mkdir()
    domains = {"id": DOMAINS["id"], "name": DOMAINS["name"]}
    engine = opening(write(tmp_path / "people.csv", b"id,name\n1,\xff\n"), domains)
    assert exact(engine, "SELECT COUNT(*) FROM people", table_of(domains)) == [[[1]]]
    engine.close()
    assert list((tmp_path / "tmp").iterdir()) == []
