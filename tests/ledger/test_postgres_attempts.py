"""Attempts on a ledger in PostgreSQL: two of them where one was meant, entries that are hidden,
connections that forget, addresses that are badly written."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction

import pytest

from adomnia.errors import BudgetError, LedgerError
from adomnia.ledger.reserve import Budgets, Reservation, reserve
from adomnia.ledger.stores.postgres_address import LedgerAddress
from adomnia.ledger.stores.postgres_journal import PostgresJournal
from adomnia.privacy.composition import Budget
from adomnia.privacy.events import Laplace
from tests.postgres_server import Server, shared

SECRET = "sesame"
ALL = Reservation("alice", None, None, "SELECT 1", Laplace(Fraction(1), Fraction(1)))
ONE, MANY = Budgets(Budget(Fraction(1))), Budgets(Budget(Fraction(1000)))


class Books:
    """A database of the test's own, with two roles that are no owners of it."""

    def __init__(self, server: Server) -> None:
        self.server, name = server, uuid.uuid4().hex
        self.database, self.roles = f"books_{name}", (f"one_{name}", f"two_{name}")

    def url(self, role: str) -> str:
        """Where a role finds the one ledger."""
        return f"{self.server.url(self.database, role)}?adomnia_unsafe=1&ledger=people"

    def run(self, sql: str) -> None:
        """Statements of the database's owner."""
        self.server.execute(sql, self.database)


@pytest.fixture
def books() -> Iterator[Books]:
    made = Books(shared())
    roles = ", ".join(made.roles)
    for role in made.roles:
        made.server.execute(f"CREATE ROLE {role} LOGIN")
    made.server.execute(f"CREATE DATABASE {made.database}")
    yield made
    made.server.execute(f"DROP DATABASE {made.database}; DROP ROLE {roles}")


def test_one_address_is_one_ledger_whoever_asks(books: Books) -> None:
    for role in books.roles:
        books.run(f"CREATE SCHEMA AUTHORIZATION {role}; GRANT CREATE ON SCHEMA public TO {role}")
    with PostgresJournal(books.url(books.roles[0])) as journal:
        reserve(journal, ALL, ONE)
    with (
        pytest.raises((BudgetError, LedgerError)),
        PostgresJournal(books.url(books.roles[1])) as journal,
    ):
        reserve(journal, ALL, ONE)


def test_a_ledger_cannot_be_shadowed(books: Books) -> None:
    role, stranger = books.roles
    books.run(f"GRANT CREATE ON SCHEMA public TO {role}")
    with PostgresJournal(books.url(role)) as journal:
        reserve(journal, ALL, ONE)
    books.run(
        f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {stranger}; "
        f"GRANT CREATE ON DATABASE {books.database} TO {stranger}; SET ROLE {stranger}; "
        f"CREATE SCHEMA {role}; GRANT ALL ON SCHEMA {role} TO {role}; SET search_path = {role}; "
        "CREATE TABLE adomnia_journal (LIKE public.adomnia_journal INCLUDING ALL); "
        "CREATE TABLE adomnia_head (LIKE public.adomnia_head INCLUDING ALL); "
        f"GRANT ALL ON ALL TABLES IN SCHEMA {role} TO {role}"
    )
    with pytest.raises((BudgetError, LedgerError)), PostgresJournal(books.url(role)) as journal:
        reserve(journal, ALL, ONE)


@pytest.mark.parametrize("hidden", ["number > 1", "kind = 'reserved'", "TRUE"])
def test_entries_that_a_role_may_not_see_are_missed(books: Books, hidden: str) -> None:
    role = books.roles[0]
    with PostgresJournal(books.url("postgres")) as journal:
        reserve(journal, ALL, ONE)
    books.run(
        f"GRANT SELECT, INSERT ON adomnia_journal TO {role}; "
        f"GRANT SELECT, UPDATE ON adomnia_head TO {role}; "
        "ALTER TABLE adomnia_journal ENABLE ROW LEVEL SECURITY; "
        f"CREATE POLICY seen ON adomnia_journal TO {role} USING (NOT ({hidden})) WITH CHECK (TRUE)"
    )
    with pytest.raises(LedgerError), PostgresJournal(books.url(role)) as journal:
        reserve(journal, ALL, MANY)


def test_a_connection_that_forgets_is_not_the_end_of_a_question(books: Books) -> None:
    with PostgresJournal(books.url("postgres")) as journal:
        for _ in range(12):
            reserve(journal, ALL, MANY)
        journal._store.connection.pgconn.exec_(b"DISCARD ALL")  # as a pool does, unseen
        granted = reserve(journal, ALL, MANY)
        assert granted.remaining["data"]["epsilon"] == 1000 - 13


def test_a_connection_that_forgets_stores_what_was_granted_and_no_more(books: Books) -> None:
    granted = 0
    with PostgresJournal(books.url("postgres")) as journal:
        for number in range(20):
            if number % 8 == 7:
                journal._store.connection.pgconn.exec_(b"DISCARD ALL")
            with suppress(LedgerError):
                reserve(journal, ALL, MANY)
                granted += 1
    with PostgresJournal(books.url("postgres")) as journal:
        assert journal.account().total.epsilon == granted >= 18
        assert journal.verify().problems == ()


@pytest.mark.parametrize("sign", ["&", ";", "#", " "])
def test_a_wrong_sign_shows_no_password_of_a_ledger(sign: str) -> None:
    assert SECRET not in str(LedgerAddress.of(f"postgresql://me@h/books{sign}password={SECRET}"))
