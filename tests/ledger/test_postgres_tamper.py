"""Whatever is changed in a ledger in PostgreSQL behind its back is found and named."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import psycopg
import pytest

from adomnia.errors import LedgerError
from adomnia.ledger.entry import Record, canonical, chained
from adomnia.ledger.reserve import Budgets, Reservation, answered, reserve
from adomnia.ledger.stores.postgres_address import LedgerAddress
from adomnia.ledger.stores.postgres_journal import PostgresJournal
from adomnia.privacy.composition import Budget
from adomnia.privacy.events import Laplace
from tests.postgres_server import shared

BUDGETS = Budgets(Budget(Fraction(1000)))
COLUMNS = ["at", "kind", "head", "body_digest", "digest", "body"]
TEXTS = ["kind", "head", "body"]
LAST = 8
OTHER = "does not match its content and|not the one this process saw"


class Knife:
    """Statements about one ledger, `$` standing for its name."""

    def __init__(self, connection: psycopg.Connection[Any], ledger: str) -> None:
        self._connection, self._ledger = connection, ledger

    def __call__(self, statement: str, *given: object) -> psycopg.Cursor[Any]:
        return self._connection.execute(statement.replace("$", f"'{self._ledger}'"), given)

    def cut_back(self, number: int) -> None:
        """Set the ledger back, head and all, as an old backup would."""
        self("DELETE FROM adomnia_journal WHERE ledger = $ AND number > %s", number)
        self(
            "UPDATE adomnia_head SET (number, digest) = (SELECT number, digest FROM adomnia_journal"
            " WHERE ledger = $ AND number = %s) WHERE ledger = $",
            number,
        )


def address_of(ledger: str) -> str:
    return f"{shared().url()}?adomnia_unsafe=1&ledger={ledger}"


@pytest.fixture
def ledger() -> str:
    return uuid.uuid4().hex


@pytest.fixture
def url(ledger: str) -> str:
    return address_of(ledger)


@pytest.fixture
def knife(ledger: str) -> Iterator[Knife]:
    with psycopg.connect(shared().url(), autocommit=True) as connection:
        yield Knife(connection, ledger)


@pytest.fixture
def journal(url: str) -> Iterator[PostgresJournal]:
    """One that was filled by another and has read nothing yet."""
    with PostgresJournal(url) as other:
        fill(other)
    with PostgresJournal(url, create=False) as opened:
        yield opened


def fill(journal: PostgresJournal) -> None:
    """Seven entries after the opening: three reservations, each answered, and another."""
    for step in range(3):
        event = Laplace(Fraction(1, 10 + step), Fraction(1))
        asked = Reservation("alice", "s1", f"k{step}", f"SELECT {step}", event)
        answered(journal, reserve(journal, asked, BUDGETS).receipt, {"rows": [[step]]})
    pay(journal)


def pay(journal: PostgresJournal) -> None:
    event = Laplace(Fraction(1, 2), Fraction(1))
    reserve(journal, Reservation("bob", None, None, "SELECT 'ß'", event), BUDGETS)


def problems(journal: PostgresJournal) -> str:
    verification = journal.verify()
    assert verification.ok == (not verification.problems)
    return "\n".join(verification.problems)


@pytest.mark.parametrize("column", COLUMNS)
def test_flipped_characters_are_found_and_named(
    journal: PostgresJournal, knife: Knife, column: str
) -> None:
    assert problems(journal) == ""
    update = f"UPDATE adomnia_journal SET {column} = %s WHERE ledger = $ AND number = %s"
    kept = knife(f"SELECT number, {column} FROM adomnia_journal WHERE ledger = $").fetchall()
    assert len(kept) == LAST
    said = "body does" if column == "body" else "digest does"
    for number, value in kept:
        for other in () if value is None else flipped(value):
            knife(update, other, number)
            assert f"entry {number}: its {said} not match its" in problems(journal)
        knife(update, value, number)
    assert problems(journal) == ""


def flipped(value: int | str | bytes) -> Iterator[int | str | bytes]:
    """The value with some of its characters, bytes or bits changed, one at a time."""
    if isinstance(value, int):
        yield from (value ^ (1 << bit) for bit in (0, 17, 40))
        return
    for place in {0, len(value) // 3, len(value) // 2, len(value) - 1}:
        if isinstance(value, bytes):
            yield value[:place] + bytes([value[place] ^ 1]) + value[place + 1 :]
        else:
            yield value[:place] + chr(ord(value[place]) ^ 1) + value[place + 1 :]


@pytest.mark.parametrize("column", TEXTS)
@pytest.mark.parametrize("value", ["", " {}", "ÿ"])
def test_other_texts_are_named_and_nothing_is_written(
    journal: PostgresJournal, knife: Knife, column: str, value: str
) -> None:
    knife(f"UPDATE adomnia_journal SET {column} = %s WHERE ledger = $ AND number = 3", value)
    assert "entry 3: " in problems(journal)
    with pytest.raises(LedgerError, match="entry 3"):
        list(journal.entries())
    if column == "body":  # which nobody needs to know what was spent
        return
    with pytest.raises(LedgerError, match="entry 3"):
        journal.account()
    with pytest.raises(LedgerError, match="entry 3"):
        pay(journal)


@pytest.mark.parametrize("other", [0, -1, 20, 2**62])
@pytest.mark.parametrize("number", [1, 4, LAST])
def test_a_changed_number_is_found(
    journal: PostgresJournal, knife: Knife, number: int, other: int
) -> None:
    knife("UPDATE adomnia_journal SET number = %s WHERE ledger = $ AND number = %s", other, number)
    assert f"entry {other}: " in problems(journal)


@pytest.mark.parametrize("number", range(1, LAST))
def test_a_removed_entry_is_named(journal: PostgresJournal, knife: Knife, number: int) -> None:
    knife("DELETE FROM adomnia_journal WHERE ledger = $ AND number = %s", number)
    assert f"entry {number} is missing" in problems(journal)
    with pytest.raises(LedgerError, match=f"entry {number} is missing"):
        pay(journal)


def test_a_removed_end_is_named(journal: PostgresJournal, knife: Knife) -> None:
    knife("DELETE FROM adomnia_journal WHERE ledger = $ AND number = %s", LAST)
    assert f"the journal ends at {LAST - 1} but its head says {LAST}" in problems(journal)
    with pytest.raises(LedgerError, match="ends at"):
        pay(journal)


def test_everything_removed_is_named(journal: PostgresJournal, knife: Knife) -> None:
    knife("DELETE FROM adomnia_journal WHERE ledger = $")
    assert f"the journal ends at 0 but its head says {LAST}" in problems(journal)
    with pytest.raises(LedgerError, match="ends at 0"):
        pay(journal)


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM adomnia_head WHERE ledger = $",
        "UPDATE adomnia_head SET number = NULL WHERE ledger = $",
        "UPDATE adomnia_head SET digest = NULL WHERE ledger = $",
        "UPDATE adomnia_head SET number = 3 WHERE ledger = $",
        "UPDATE adomnia_head SET digest = decode(repeat('0', 64), 'hex') WHERE ledger = $",
    ],
)
def test_a_changed_head_is_named_and_nothing_is_made_anew(
    url: str, journal: PostgresJournal, knife: Knife, change: str
) -> None:
    knife(change)
    assert "head" in problems(journal)
    for opened in (journal, PostgresJournal(url)):
        with pytest.raises(LedgerError, match="head"):
            pay(opened)
        opened.close()


def test_an_entry_rewritten_with_a_fitting_digest_breaks_the_chain(
    journal: PostgresJournal, knife: Knife
) -> None:
    old = list(journal.entries())[1]
    cheap = Record("reserved", {**old.head, "loss": {"epsilon": "1/1000"}}, old.body)
    new = chained(cheap, old.number, old.previous)
    knife(
        "UPDATE adomnia_journal SET at = %s, head = %s, digest = %s"
        " WHERE ledger = $ AND number = %s",
        *(new.moment, canonical(new.head), new.digest, new.number),
    )
    assert problems(journal).startswith("entry 3: its digest does not match")


def test_rows_of_another_ledger_do_not_fit(journal: PostgresJournal, knife: Knife) -> None:
    with PostgresJournal(address_of(uuid.uuid4().hex)) as other:
        fill(other)
        swap = "UPDATE adomnia_journal SET ledger = %s WHERE ledger = %s AND number = 4"
        mine, theirs = journal._store.address.ledger, other._store.address.ledger
        for new, old in (("-", mine), (mine, theirs), (theirs, "-")):
            knife(swap, new, old)
        for ledger in (journal, other):
            assert "entry 4: its digest does not match its content and" in problems(ledger)


# An old backup put back


def test_a_process_that_runs_notices_an_old_backup(journal: PostgresJournal, knife: Knife) -> None:
    assert journal.account().number == LAST
    knife.cut_back(LAST - 2)
    assert f"ends at {LAST - 2} but the memory of this process says {LAST}" in problems(journal)
    for _ in range(2):
        with pytest.raises(LedgerError, match=f"this process saw entry {LAST}"):
            pay(journal)
        with pytest.raises(LedgerError, match=f"this process saw entry {LAST}"):
            journal.account()


def test_another_history_of_the_same_length_is_noticed(
    url: str, journal: PostgresJournal, knife: Knife
) -> None:
    pay(journal)
    knife.cut_back(LAST - 2)
    with PostgresJournal(url) as other:
        for _ in range(5):
            pay(other)
    assert f"the memory of this process does not match entry {LAST + 1}" in problems(journal)
    for _ in range(2):  # with what it remembers, and with all of it read anew
        with pytest.raises(LedgerError, match=OTHER):
            pay(journal)
        with pytest.raises(LedgerError, match=OTHER):
            journal.account()


@pytest.mark.parametrize("more", [0, 5])
def test_an_anchor_notices_it_after_a_restart_as_well(
    tmp_path: Path, url: str, knife: Knife, more: int
) -> None:
    anchored = f"{url}&anchor={tmp_path / 'anchor'}"
    with PostgresJournal(anchored) as journal:
        fill(journal)
    knife.cut_back(LAST - 2)
    with PostgresJournal(url) as careless:
        for _ in range(more):
            pay(careless)
    with PostgresJournal(anchored) as journal:
        assert "the anchor" in problems(journal)
        with pytest.raises(LedgerError, match="the anchor"):
            pay(journal)


def test_a_ledger_that_disappeared_is_not_begun_anew(
    tmp_path: Path, url: str, knife: Knife
) -> None:
    anchor = tmp_path / "anchor"
    with PostgresJournal(f"{url}&anchor={anchor}") as journal:
        fill(journal)
    knife("DELETE FROM adomnia_journal WHERE ledger = $")
    knife("DELETE FROM adomnia_head WHERE ledger = $")
    address = LedgerAddress.of(f"{url}&anchor={anchor}")
    with pytest.raises(LedgerError, match="is gone"):
        PostgresJournal(address)
    with pytest.raises(LedgerError, match="is gone"):
        PostgresJournal.found(address)
    anchor.unlink()
    with PostgresJournal(address) as journal:
        assert journal.account().number == 1


def test_writers_that_share_an_anchor_do_not_set_it_back(tmp_path: Path, url: str) -> None:
    anchored = f"{url}&anchor={tmp_path / 'anchor'}"
    with PostgresJournal(anchored) as one, PostgresJournal(anchored) as two:
        for journal in (one, two, one, two, two):
            pay(journal)
        assert one._store.anchor() == two._store.anchor()
        assert one._store.anchor() == two._seen
        assert problems(one) == ""
