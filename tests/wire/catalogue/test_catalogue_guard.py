"""Nothing but questions about the catalogue reaches DuckDB, and those cannot run for ever."""

from __future__ import annotations

import time

import duckdb
import pytest
from declared import statement

from adomnia.wire.catalogue import Catalogue, CatalogueError, SharedCatalogue

HOSTILE = [
    "SELECT * FROM read_csv('{file}')",
    "SELECT * FROM read_csv_auto('{file}')",
    "SELECT * FROM read_text('{file}')",
    "SELECT * FROM read_blob('{file}')",
    "SELECT * FROM read_parquet('{file}')",
    "SELECT * FROM parquet_scan('{file}')",
    "SELECT * FROM parquet_metadata('{file}')",
    "SELECT * FROM read_json('{file}')",
    "SELECT * FROM sniff_csv('{file}')",
    "SELECT * FROM glob('/*')",
    "SELECT * FROM '{file}'",
    'SELECT * FROM "{file}"',
    'SELECT * FROM public."{file}"',
    'WITH x AS (SELECT * FROM "{file}") SELECT * FROM x',
    'WITH "{file}" AS (SELECT * FROM "{file}") SELECT * FROM "{file}"',
    "WITH duckdb_settings AS (SELECT * FROM duckdb_settings) SELECT * FROM duckdb_settings",
    "SELECT * FROM duckdb_settings()",
    "SELECT * FROM duckdb_tables",
    "SELECT * FROM duckdb_secrets()",
    "SELECT * FROM sqlite_master",
    "SELECT * FROM main.duckdb_columns",
    "SELECT * FROM system.main.duckdb_columns",
    "SELECT * FROM pragma_database_list()",
    "SELECT * FROM pragma_table_info('cat.pg_class')",
    "SELECT * FROM cat.pg_class",
    "SELECT * FROM fn.aclexplode()",
    "SELECT fn.version()",
    "SELECT getvariable('person')",
    "SELECT getenv('HOME')",
    "SELECT current_setting('memory_limit') FROM duckdb_settings()",
    "SELECT query('SELECT 1')",
    "SELECT * FROM query('SELECT 1')",
    "SELECT * FROM query_table('cat.pg_class')",
    "SELECT pg_read_file('{file}')",
    "SELECT pg_ls_dir('/')",
    "SELECT lo_import('{file}')",
    "SELECT dblink('x', 'y')",
    "SELECT pg_sleep(100)",
    "SELECT nextval('x')",
    "SELECT (SELECT content FROM read_text('{file}'))",
    "SELECT ARRAY(SELECT content FROM read_text('{file}'))",
    "SELECT 1 ORDER BY (SELECT content FROM read_text('{file}'))",
    "SELECT * FROM pg_class, LATERAL read_text('{file}')",
    "SELECT load_extension('x')",
    "SELECT 1 INTO x",
    "WITH x AS (DELETE FROM pg_class RETURNING 1) SELECT * FROM x",
    "SELECT * FROM pg_class FOR UPDATE",
    "SELECT * FROM pg_class TABLESAMPLE SYSTEM (1)",
    "SELECT COLUMNS('.*') FROM pg_class",
    "SELECT x::\"struct(a int)\" FROM pg_class",
    "SELECT '{file}'::read_text",
]  # fmt: skip

OTHER = [
    "ATTACH '{file}' AS x",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET memory_limit = '1TB'",
    "PRAGMA database_list",
    "COPY pg_class TO '{file}'",
    "COPY (SELECT 1) TO '{file}'",
    "EXPORT DATABASE '{file}'",
    "IMPORT DATABASE '{file}'",
    "CREATE TABLE x AS SELECT 1",
    "CREATE MACRO x() AS 1",
    "CREATE SECRET x (TYPE s3)",
    "DROP TABLE pg_class",
    "DELETE FROM pg_class",
    "INSERT INTO pg_class SELECT * FROM pg_class",
    "UPDATE pg_class SET relname = 'x'",
    "CALL pragma_version()",
    "SELECT 1; SELECT 2",
    "SELECT 1; ATTACH '{file}'",
    "CHECKPOINT",
    "DESCRIBE pg_class",
    "SUMMARIZE pg_class",
    "",
    "nonsense (",
]


@pytest.fixture
def secret(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A file that nobody may read."""
    file = tmp_path_factory.mktemp("secret") / "secret.csv"
    file.write_text("a,b\nZzsecret,1\n")
    return str(file)


@pytest.mark.parametrize("attempt", HOSTILE)
def test_reads_nothing_else(attempt: str, secret: str, catalogue: Catalogue) -> None:
    sql = attempt.replace("{file}", secret)
    with pytest.raises(CatalogueError) as refusal:
        catalogue.run(sql)
    assert refusal.value.sqlstate in ("42P01", "42883", "0A000", "42704", "42601", "42703")
    assert "Zzsecret" not in str(refusal.value)
    with pytest.raises(CatalogueError):
        catalogue.describe(sql)


@pytest.mark.parametrize("attempt", OTHER)
def test_is_not_for_the_catalogue(attempt: str, secret: str, catalogue: Catalogue) -> None:
    sql = attempt.replace("{file}", secret)
    assert not catalogue.answers(statement(sql))
    with pytest.raises(CatalogueError):
        catalogue.run(sql)


def test_every_attempt_would_be_stopped_behind_it(secret: str, shared: SharedCatalogue) -> None:
    """Were the list of what is allowed wrong, DuckDB itself reads no file and keeps its rules."""
    cursor = shared.built().connection.cursor()
    for sql in (
        f"SELECT * FROM read_text('{secret}')",
        f"SELECT * FROM '{secret}'",
        f"ATTACH '{secret}.db'",
        f"COPY (SELECT 1) TO '{secret}.out'",
        "INSTALL httpfs",
        "SET enable_external_access = true",
        "SET memory_limit = '1TB'",
    ):
        with pytest.raises(duckdb.Error):
            cursor.execute(sql).fetchall()


@pytest.mark.parametrize("sql", [
    "SELECT * FROM people",
    "SELECT COUNT(*) FROM public.people",
    "SELECT COUNT(*) FROM PEOPLE",
    "SELECT * FROM pg_class c JOIN people p ON true",
    "SELECT (SELECT COUNT(*) FROM people)",
    "WITH x AS (SELECT * FROM people) SELECT * FROM x",
    "WITH people AS (SELECT * FROM public.people) SELECT * FROM people",
    "SELECT 1 WHERE EXISTS (SELECT 1 FROM people)",
    "SELECT * FROM regions JOIN people ON region = region_id",
])  # fmt: skip
def test_the_hidden_table_is_not_here(sql: str, catalogue: Catalogue) -> None:
    assert not catalogue.answers(statement(sql))
    with pytest.raises(CatalogueError) as refusal:
        catalogue.run(sql)
    assert refusal.value.sqlstate == "42P01"


@pytest.mark.parametrize("sql", [
    "SELECT count(*) FROM generate_series(1, 100000000000)",
    "SELECT count(*) FROM pg_attribute a, pg_attribute b, pg_attribute c, pg_attribute d "
    "WHERE a.attname || b.attname || c.attname <> d.attname",
    "WITH RECURSIVE x AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM x) SELECT max(n) FROM x",
])  # fmt: skip
def test_takes_no_longer_than_it_may(
    sql: str, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adomnia.wire.catalogue.catalogue.MOST_SECONDS", 0.3)
    begun = time.monotonic()
    with pytest.raises(CatalogueError) as refusal:
        catalogue.run(sql)
    assert refusal.value.sqlstate in ("57014", "53200")
    assert time.monotonic() - begun < 120
    assert catalogue.run("SELECT 1").rows == [(1,)]


def test_an_answer_has_so_many_bytes(catalogue: Catalogue) -> None:
    wide = "SELECT string_agg('0123456789', '') AS t FROM generate_series(1, 150)"
    with pytest.raises(CatalogueError) as refusal:
        catalogue.run(f"SELECT x.t FROM generate_series(1, 99000) AS g, ({wide}) AS x")
    assert refusal.value.sqlstate == "54000"


def test_gives_no_more_rows_than_it_may(catalogue: Catalogue) -> None:
    with pytest.raises(CatalogueError) as refusal:
        catalogue.run("SELECT * FROM generate_series(1, 200000)")
    assert refusal.value.sqlstate == "54000"


@pytest.mark.parametrize("sql", [
    "SELECT " + "(" * 5000 + "1" + ")" * 5000,
    "SELECT " + "NOT " * 5000 + "true",
    "SELECT 1" + "::int" * 5000,
    "SELECT a" + "[1]" * 5000,
    "SELECT " + "- " * 5000 + "1",
    "SELECT " + "CASE WHEN true THEN " * 3000 + "1" + " END" * 3000,
    "SELECT " + "+".join(["1"] * 4900),
    "SELECT '" + "x" * 200_000 + "'",
])  # fmt: skip
def test_deep_and_long_texts_are_refused(sql: str, catalogue: Catalogue) -> None:
    with pytest.raises(CatalogueError) as refusal:
        catalogue.run(sql)
    assert refusal.value.sqlstate in ("54001", "0A000", "42601")


def test_errors_carry_their_sqlstate(catalogue: Catalogue) -> None:
    wrong = {
        "SELECT * FROM nowhere": "42P01",
        "SELECT 'nowhere'::regclass": "42P01",
        "SELECT nothing()": "42883",
        "SELECT nothing FROM pg_class": "42703",
        "SELECT c.nothing FROM pg_class c": "42703",
        "SELECT 'a'::nothing": "42704",
        "SELECT 'a'::int": "22P02",
        "SELECT '{1'::int[]": "22P02",
        "SELECT $1": "42P02",
        "SELECT * FROM pg_class c, pg_type c": "42712",
    }
    for sql, sqlstate in wrong.items():
        with pytest.raises(CatalogueError) as refusal:
            catalogue.run(sql)
        assert refusal.value.sqlstate == sqlstate, sql
        assert "cat." not in refusal.value.message


@pytest.mark.parametrize("sql", [
    "SELECT COUNT(*) FROM people WHERE age > 3",
    "SELECT sex, COUNT(*) FROM public.people AS p GROUP BY sex",
    'SELECT extract(year FROM admitted) FROM "people" GROUP BY 1',
    "SELECT 1 WHERE EXISTS (SELECT 1 FROM People)",
])  # fmt: skip
def test_what_is_plainly_of_the_hidden_table_is_not_parsed(
    sql: str, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adomnia.wire.catalogue.catalogue.read", None)
    assert not catalogue.answers(statement(sql))


@pytest.mark.parametrize("sql", [
    "WITH people AS (SELECT 1 AS a) SELECT a FROM people",
    "SELECT relname AS people FROM pg_class",
    "SELECT 'people' FROM pg_class -- FROM people",
    "SELECT people FROM (SELECT 1 AS people) AS t WHERE people IS DISTINCT FROM people",
    "SELECT extract(year FROM people) FROM (SELECT DATE '2020-01-01' AS people) AS t",
    "SELECT trim(BOTH FROM people) FROM (SELECT 'x' AS people) AS t",
    "SELECT oid FROM pg_catalog.pg_class AS people",
])  # fmt: skip
def test_another_thing_of_that_name_is_of_the_catalogue(sql: str, catalogue: Catalogue) -> None:
    assert catalogue.answers(statement(sql))
