"""Where a ledger in PostgreSQL is: one place, whoever asks, and never silently another."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from fractions import Fraction

import psycopg
import pytest

from adomnia.errors import LedgerError
from adomnia.ledger.reserve import Budgets, Reservation, reserve
from adomnia.ledger.stores.postgres_address import LedgerAddress
from adomnia.ledger.stores.postgres_journal import PostgresJournal
from adomnia.privacy.composition import Budget
from adomnia.privacy.events import Laplace
from adomnia.server.account_store import open_store
from adomnia.server.accounts import Accounts
from tests.postgres_server import shared

BUDGETS = Budgets(Budget(Fraction(1000)))
ASKED = Reservation("alice", None, None, "SELECT 1", Laplace(Fraction(1, 10), Fraction(1)))
SECRET = "sesame"


class Books:
    """A database of the test's own, and a role that may make tables in it."""

    def __init__(self) -> None:
        name = uuid.uuid4().hex
        self.database, self.role = f"books_{name}", f"role_{name}"

    def url(self, more: str = "", role: str = "postgres") -> str:
        """Where a role finds the ledger."""
        return f"{shared().url(self.database, role)}?adomnia_unsafe=1&ledger=people{more}"

    def run(self, sql: str) -> None:
        """Statements of the database's owner."""
        shared().execute(sql, self.database)

    def one(self, sql: str) -> object:
        """The one value that a statement of the owner selects."""
        with psycopg.connect(shared().url(self.database)) as connection:
            found = connection.execute(sql).fetchone()
            assert found is not None
            return found[0]


@pytest.fixture
def books() -> Iterator[Books]:
    made = Books()
    shared().execute(f"CREATE ROLE {made.role} LOGIN")
    shared().execute(f"CREATE DATABASE {made.database}")
    made.run(f"GRANT CREATE ON SCHEMA public TO {made.role}")
    yield made
    shared().execute(f"DROP DATABASE {made.database} WITH (FORCE); DROP ROLE {made.role}")


def pay(url: str, times: int = 1) -> int:
    """How many entries a ledger has after it was opened and paid."""
    with PostgresJournal(url) as journal:
        for _ in range(times):
            reserve(journal, ASKED, BUDGETS)
        assert journal.verify().problems == ()
        return journal.account().number


# One place


@pytest.mark.parametrize("path", ["mine", "mine,public", "nowhere", "", "pg_temp,mine"])
def test_the_search_path_changes_nothing(books: Books, path: str) -> None:
    books.run(f"CREATE SCHEMA mine AUTHORIZATION {books.role}")
    assert pay(books.url(role=books.role)) == 2
    books.run(f"ALTER ROLE {books.role} SET search_path = {path or repr('')}")
    assert pay(books.url(role=books.role)) == 3
    assert books.one("SELECT number FROM public.adomnia_head") == 3


def test_temporary_tables_and_types_shadow_nothing(books: Books) -> None:
    assert pay(books.url()) == 2
    with PostgresJournal(books.url()) as journal:
        line = journal._store.connection
        for name in ("adomnia_journal", "adomnia_head"):
            line.execute(f"CREATE TEMP TABLE {name} AS TABLE public.{name} WITH NO DATA")
        line.execute("CREATE DOMAIN pg_temp.text AS varchar CHECK (length(VALUE) < 2)")
        line.execute("CREATE TEMP VIEW pg_class AS SELECT 1 AS oid")
        assert reserve(journal, ASKED, BUDGETS).number == 3
        assert [entry.number for entry in journal.entries()] == [1, 2, 3]
        assert journal.account().number == 3
    assert pay(books.url()) == 4


def test_what_is_made_elsewhere_later_changes_nothing(books: Books) -> None:
    assert pay(books.url(role=books.role)) == 2
    books.run(
        f"CREATE SCHEMA AUTHORIZATION {books.role}; "
        f"CREATE TABLE {books.role}.adomnia_journal (LIKE public.adomnia_journal INCLUDING ALL); "
        f"CREATE TABLE {books.role}.adomnia_head (LIKE public.adomnia_head INCLUDING ALL); "
        f"GRANT ALL ON ALL TABLES IN SCHEMA {books.role} TO {books.role}"
    )
    assert pay(books.url(role=books.role)) == 3


def test_the_session_is_left_as_it_was(books: Books) -> None:
    with PostgresJournal(books.url()) as journal:
        reserve(journal, ASKED, BUDGETS)
        journal.account()
        line = journal._store.connection
        assert line.execute("SHOW search_path").fetchone() == ('"$user", public',)
        assert line.execute("SELECT count(*) FROM pg_prepared_statements").fetchone() == (0,)


# Another place, named


def test_a_ledger_may_be_in_a_schema_of_its_own(books: Books) -> None:
    with pytest.raises(LedgerError, match="does not exist") as refused:
        PostgresJournal(books.url("&schema=Own"))
    assert "docs/ledger.md" in str(refused.value)
    books.run('CREATE SCHEMA "Own"')
    assert pay(books.url("&schema=Own")) == 2
    assert books.one('SELECT number FROM "Own".adomnia_head') == 2
    assert str(LedgerAddress.of(books.url("&schema=Own"))).endswith("?ledger=people&schema=Own")


@pytest.mark.parametrize("schema", ["", "pg_temp", "pg_catalog", "a.b", 'a"b', "a%22b", "x" * 61])
def test_what_is_no_schema_is_refused(schema: str) -> None:
    with pytest.raises(ValueError, match="schema"):
        LedgerAddress.of(f"postgresql://h/d?schema={schema}")


@pytest.mark.parametrize("ledger", ["people", "others"])
def test_a_second_place_is_refused(books: Books, ledger: str) -> None:
    books.run("CREATE SCHEMA own")
    assert pay(books.url("&schema=own")) == 2
    url = books.url().replace("people", ledger)
    with pytest.raises(LedgerError, match="the schema own of this database has") as refused:
        PostgresJournal(url)
    assert "schema=own" in refused.value.hint
    assert PostgresJournal.found(LedgerAddress.of(url)) is None
    assert books.one("SELECT to_regclass('public.adomnia_head') IS NULL") is True
    assert pay(books.url("&schema=own")) == 3


def test_what_lies_elsewhere_is_refused_unread(books: Books) -> None:
    books.run(
        "CREATE SCHEMA trap; CREATE TABLE trap.sprung (n INT); "
        "CREATE FUNCTION trap.spring() RETURNS INT LANGUAGE sql AS "
        "'INSERT INTO trap.sprung VALUES (1) RETURNING n'; "
        "CREATE VIEW trap.adomnia_head AS SELECT trap.spring() AS ledger"
    )
    with pytest.raises(LedgerError, match="the schema trap of this database has"):
        PostgresJournal(books.url())
    assert books.one("SELECT count(*) FROM trap.sprung") == 0


def test_a_view_in_the_place_of_a_table_is_refused(books: Books) -> None:
    books.run("CREATE VIEW adomnia_head AS SELECT 'people' AS ledger, 0 AS number, '' AS digest")
    with pytest.raises(LedgerError, match="does not survive a crash"):
        PostgresJournal(books.url())


@pytest.mark.parametrize("gone", ["adomnia_journal", "adomnia_head"])
def test_half_a_ledger_is_damage(books: Books, gone: str) -> None:
    with PostgresJournal(books.url()) as journal:
        reserve(journal, ASKED, BUDGETS)
        books.run(f"DROP TABLE {gone}")
        with pytest.raises(LedgerError, match="does not exist") as refused:
            reserve(journal, ASKED, BUDGETS)
        assert "the tables are gone" in refused.value.hint
        assert not journal.verify().ok
    for create in (True, False):
        with pytest.raises(LedgerError, match="of its two tables only"):
            PostgresJournal(books.url(), create)


def test_tables_that_are_gone_are_missed_by_who_saw_them(books: Books) -> None:
    with PostgresJournal(books.url()) as journal:
        reserve(journal, ASKED, BUDGETS)
        books.run("DROP TABLE adomnia_journal, adomnia_head")
        with pytest.raises(LedgerError, match="does not exist"):
            reserve(journal, ASKED, BUDGETS)
        assert pay(books.url()) == 2  # one who never saw them begins anew
        with pytest.raises(LedgerError, match=r"does not match|not the one this process saw|ends"):
            reserve(journal, ASKED, BUDGETS)


def test_accounts_are_in_one_place_as_well(books: Books) -> None:
    place = shared().url(books.database, books.role)
    with Accounts(open_store(place)) as accounts:
        accounts.add("alice", "analyst", "long enough")
    books.run(
        f"CREATE SCHEMA AUTHORIZATION {books.role}; SET search_path = {books.role}; "
        "CREATE TABLE adomnia_accounts (LIKE public.adomnia_accounts INCLUDING ALL); "
        "INSERT INTO adomnia_accounts "
        "SELECT 'mallory', 'curator', hashed, verifier FROM public.adomnia_accounts; "
        f"GRANT ALL ON ALL TABLES IN SCHEMA {books.role} TO {books.role}; "
        f"REVOKE CREATE ON SCHEMA public FROM {books.role}"
    )
    with Accounts(open_store(place)) as accounts:
        assert accounts.check("mallory", "long enough") is None
        assert accounts.check("alice", "long enough") is not None


# What an address shows


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://me@h/books&password={SECRET}",
        f"postgresql://me@h/books%3Bpassword%3D{SECRET}",
        f"postgresql://me@h;password={SECRET}/books",
        f"postgresql://me@h&password={SECRET}",
        f"postgresql://h password={SECRET}",
        f"postgresql://me@h/books?ledger=people;password={SECRET}",
        f"postgresql://me@h/books?schema=own;password={SECRET}",
    ],
)
def test_a_password_in_an_odd_place_is_not_shown(url: str) -> None:
    try:
        shown = f"{LedgerAddress.of(url)} {LedgerAddress.of(url)!r}"
    except ValueError as refused:
        shown = str(refused)
    assert SECRET not in shown


@pytest.mark.parametrize(
    "odd",
    [
        "postgres@HOST/books&password=sesame",
        "postgres;password=sesame@HOST/postgres",
        "sesame@HOST/postgres",
        "postgres@HOST/sesame",
    ],
)
def test_nor_is_it_when_the_server_refuses_it(odd: str) -> None:
    where = shared().url().rpartition("@")[2].partition("/")[0]
    with pytest.raises(LedgerError, match="does not exist") as refused:
        PostgresJournal(f"postgresql://{odd.replace('HOST', where)}?adomnia_unsafe=1")
    said = str(refused.value).replace(f"{where}/sesame?", "")  # a plain name is shown, by us
    assert SECRET not in said
    assert refused.value.__cause__ is None
