"""Whatever is changed in a ledger behind its back is found and named."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from adomnia.errors import LedgerError
from adomnia.ledger.entry import Entry, Record, canonical, chained, receipt
from adomnia.ledger.reserve import Budgets, Reservation, answered, reserve
from adomnia.ledger.stores.sqlite_journal import SqliteJournal
from adomnia.privacy.composition import Budget
from adomnia.privacy.events import Laplace

BUDGETS = Budgets(Budget(Fraction(1000)))
LAST = 7


def fill(journal: SqliteJournal) -> None:
    """Six entries after the opening: three reservations, each answered."""
    for step in range(3):
        event = Laplace(Fraction(1, 10 + step), Fraction(1))
        asked = Reservation("alice", "s1", f"k{step}", f"SELECT {step}", event)
        answered(journal, reserve(journal, asked, BUDGETS).receipt, {"rows": [[step]]})
    reserve(journal, Reservation("bob", None, None, "SELECT 'ß'", event), BUDGETS)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with SqliteJournal(tmp_path / "ledger") as journal:
        fill(journal)
    return tmp_path / "ledger"


@pytest.fixture
def journal(path: Path) -> Iterator[SqliteJournal]:
    with SqliteJournal(path, create=False) as opened:
        yield opened


@pytest.fixture
def knife(path: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(path, isolation_level=None)
    yield connection
    connection.close()


def problems(journal: SqliteJournal) -> str:
    verification = journal.verify()
    assert verification.ok == (not verification.problems)
    return "\n".join(verification.problems)


COLUMNS = ["at", "kind", "head", "body_digest", "digest", "body"]


def flipped(value: int | str | bytes) -> Iterator[int | str | bytes]:
    """The value with each of its characters, bytes or bits changed, one at a time."""
    if isinstance(value, int):
        yield from (value ^ (1 << bit) for bit in range(50))
    elif isinstance(value, bytes):
        yield from (value[:i] + bytes([byte ^ 1]) + value[i + 1 :] for i, byte in enumerate(value))
    else:
        yield from (value[:i] + chr(ord(c) ^ 1) + value[i + 1 :] for i, c in enumerate(value))


@pytest.mark.parametrize("column", COLUMNS)
def test_every_flipped_character_is_found_and_named(
    journal: SqliteJournal, knife: sqlite3.Connection, column: str
) -> None:
    assert problems(journal) == ""
    update = f"UPDATE journal SET {column} = ? WHERE number = ?"
    kept = knife.execute(f"SELECT number, {column} FROM journal").fetchall()
    assert len(kept) == LAST + 1
    for number, value in kept:
        for other in () if value is None else flipped(value):
            knife.execute(update, (other, number))
            said = "body does" if column == "body" else "digest does"
            assert f"entry {number}: its {said} not match its" in problems(journal)
        knife.execute(update, (value, number))
    assert problems(journal) == ""


@pytest.mark.parametrize("value", [None, b"\xff\xfe", 17, "", " {}", "\udcff"])
@pytest.mark.parametrize("column", COLUMNS)
def test_other_types_and_broken_text_are_named(
    journal: SqliteJournal, knife: sqlite3.Connection, column: str, value: object
) -> None:
    if isinstance(value, str) and value == "\udcff":
        stored = "CAST(x'ff41' AS TEXT)"
        knife.execute(f"UPDATE journal SET {column} = {stored} WHERE number = 3")
    elif value is None:
        knife.execute("PRAGMA writable_schema = ON")
        knife.execute("UPDATE sqlite_master SET sql = replace(sql, 'NOT NULL', '')")
        knife.execute("PRAGMA writable_schema = RESET")
        knife.execute(f"UPDATE journal SET {column} = NULL WHERE number = 3")
    else:
        knife.execute(f"UPDATE journal SET {column} = ? WHERE number = 3", (value,))
    assert "entry 3: " in problems(journal)
    with pytest.raises(LedgerError, match="entry 3"):
        list(journal.entries())
    if column != "body":  # which nobody needs to know what was spent
        with pytest.raises(LedgerError):
            journal.account()


@pytest.mark.parametrize("column", ["head", "body"])
def test_another_spelling_of_the_same_content_is_found(
    journal: SqliteJournal, knife: sqlite3.Connection, column: str
) -> None:
    knife.execute(f"UPDATE journal SET {column} = {column} || ' ' WHERE number = 2")
    assert "entry 2: its " in problems(journal)


def test_a_changed_body_is_refused_when_it_is_read(
    journal: SqliteJournal, knife: sqlite3.Connection
) -> None:
    paid, told = list(journal.entries())[1:3]
    knife.execute("UPDATE journal SET body = replace(body, '0', '1') WHERE number IN (2, 3)")
    with pytest.raises(LedgerError, match="entry 2: its body does not match"):
        journal.reservation(receipt(paid))
    with pytest.raises(LedgerError, match="entry 3: its body does not match"):
        journal.answer(str(told.head["receipt"]))
    knife.execute("UPDATE journal SET body = NULL WHERE number = 3")
    with pytest.raises(LedgerError, match="entry 3: its body is missing"):
        journal.answer(str(told.head["receipt"]))
    assert "entry 3: its body is missing" in problems(journal)


def test_a_body_where_none_was_written_is_found(
    journal: SqliteJournal, knife: sqlite3.Connection
) -> None:
    knife.execute("UPDATE journal SET body = '{}' WHERE number = 1")
    assert "entry 1: its body does not match" in problems(journal)


@pytest.mark.parametrize("other", [0, -1, 20, 2**62])
@pytest.mark.parametrize("number", [1, 4, LAST + 1])
def test_a_changed_number_is_found(
    journal: SqliteJournal, knife: sqlite3.Connection, number: int, other: int
) -> None:
    knife.execute("UPDATE journal SET number = ? WHERE number = ?", (other, number))
    assert f"entry {other}: " in problems(journal)


@pytest.mark.parametrize("number", range(1, LAST + 1))
def test_a_removed_entry_is_named(
    journal: SqliteJournal, knife: sqlite3.Connection, number: int
) -> None:
    knife.execute("DELETE FROM journal WHERE number = ?", (number,))
    assert f"entry {number} is missing" in problems(journal)
    with pytest.raises(LedgerError, match=f"entry {number} is missing"):
        list(journal.entries())


def test_a_removed_end_is_named(journal: SqliteJournal, knife: sqlite3.Connection) -> None:
    knife.execute("DELETE FROM journal WHERE number > ?", (LAST,))
    assert f"the journal ends at {LAST} but its head says {LAST + 1}" in problems(journal)
    with pytest.raises(LedgerError, match="ends at"):
        fill(journal)


def test_a_removed_end_with_its_head_is_named(
    journal: SqliteJournal, knife: sqlite3.Connection
) -> None:
    knife.execute("DELETE FROM journal WHERE number > ?", (LAST,))
    last = knife.execute("SELECT digest FROM journal WHERE number = ?", (LAST,)).fetchone()
    knife.execute("UPDATE head SET number = ?, digest = ?", (LAST, *last))
    assert f"the journal ends at {LAST} but the anchor says {LAST + 1}" in problems(journal)
    with pytest.raises(LedgerError, match="the anchor says"):
        fill(journal)


def test_several_removed_entries_are_named(
    journal: SqliteJournal, knife: sqlite3.Connection
) -> None:
    knife.execute("DELETE FROM journal WHERE number IN (3, 4, 5)")
    assert "entries 3 to 5 are missing" in problems(journal)


def test_everything_removed_is_named(journal: SqliteJournal, knife: sqlite3.Connection) -> None:
    knife.execute("DELETE FROM journal")
    assert f"the journal ends at 0 but its head says {LAST + 1}" in problems(journal)


@pytest.mark.parametrize(("one", "two"), [(2, 3), (1, 2), (3, LAST + 1)])
def test_swapped_entries_are_named(
    journal: SqliteJournal, knife: sqlite3.Connection, one: int, two: int
) -> None:
    for old, new in ((one, 100), (two, one), (100, two)):
        knife.execute("UPDATE journal SET number = ? WHERE number = ?", (new, old))
    found = problems(journal)
    assert f"entry {one}: its digest does not match its content" in found
    assert f"entry {two}: its digest does not match its content" in found


def test_an_entry_rewritten_with_a_fitting_digest_breaks_the_chain(
    journal: SqliteJournal, knife: sqlite3.Connection
) -> None:
    old = list(journal.entries())[1]
    cheap = Record("reserved", {**old.head, "loss": {"epsilon": "1/1000"}}, old.body)
    new = chained(cheap, old.number, old.previous)
    update = "UPDATE journal SET at = ?, head = ?, digest = ? WHERE number = ?"
    knife.execute(update, (new.moment, canonical(new.head), new.digest, new.number))
    assert problems(journal).startswith("entry 3: its digest does not match")


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE head SET number = number + 1",
        "UPDATE head SET number = number - 1",
        "UPDATE head SET number = 'x'",
        "UPDATE head SET digest = zeroblob(32)",
        "UPDATE head SET digest = NULL",
        "DELETE FROM head",
        "DROP TABLE head",
        "DROP TABLE journal",
        "ALTER TABLE journal RENAME COLUMN head TO text",
        "PRAGMA application_id = 7",
        "PRAGMA user_version = 0",
        "PRAGMA user_version = 3",
    ],
)
def test_an_edited_head_or_table_is_named(
    journal: SqliteJournal, knife: sqlite3.Connection, change: str
) -> None:
    knife.execute(change)
    assert problems(journal)
    with pytest.raises(LedgerError), SqliteJournal(journal.path) as fresh:
        fill(fresh)


def test_a_kind_from_the_future_is_refused_by_name(
    journal: SqliteJournal, knife: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    last = list(journal.entries())[-1]
    with monkeypatch.context() as newer:
        newer.setattr("adomnia.ledger.entry.KINDS", frozenset({"refunded"}))
        new = chained(Record("refunded", {}), last.number + 1, last.digest)
    row = (new.number, new.moment, new.kind, "{}", None, new.digest, None)
    knife.execute("INSERT INTO journal VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    knife.execute("UPDATE head SET number = ?, digest = ?", (new.number, new.digest))
    assert "entry 9: this version does not know the kind 'refunded'" in problems(journal)
    with pytest.raises(LedgerError, match="does not know the kind"):
        journal.account()


def flips(size: int, count: int, seed: int) -> list[tuple[int, int]]:
    """Places and bits to flip, the same in every run."""
    chance = random.Random(seed)
    return [(chance.randrange(size), 1 << chance.randrange(8)) for _ in range(count)]


def found(path: Path, before: list[Entry]) -> bool:
    """Whether damage is reported; where it is not, every entry must be as before."""
    try:
        with SqliteJournal(path, create=False) as journal:
            if not journal.verify().ok:
                return True
            assert list(journal.entries()) == before
            return False
    except LedgerError:
        return True


def scratch(path: Path) -> Path:
    """A folder with a copy of the ledger and of what lies beside it."""
    folder = path.parent / "copy"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for file in path.parent.glob("ledger*"):
        shutil.copy(file, folder / file.name)
    return folder / path.name


@pytest.mark.parametrize("suffix", ["", "-wal", ".lock"])
def test_flipped_bytes_in_any_file_are_found_or_harmless(tmp_path: Path, suffix: str) -> None:
    path = unclosed(tmp_path) if suffix == "-wal" else closed(tmp_path)
    with SqliteJournal(scratch(path)) as journal:
        before = list(journal.entries())
    whole = path.with_name(path.name + suffix).read_bytes()
    reported = 0
    for place, bit in flips(len(whole), 300, seed=len(whole)):
        copy = scratch(path)
        damaged = bytearray(whole)
        damaged[place] ^= bit
        copy.with_name(copy.name + suffix).write_bytes(damaged)
        reported += found(copy, before)
    assert reported > (20 if suffix == "" else 100)


def closed(folder: Path) -> Path:
    with SqliteJournal(folder / "ledger") as journal:
        fill(journal)
    return folder / "ledger"


def unclosed(folder: Path) -> Path:
    """A ledger whose process died: all but its opening is in the write-ahead log."""
    child = os.fork()
    if child == 0:
        fill(SqliteJournal(folder / "ledger"))
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    return folder / "ledger"


def test_a_lost_write_ahead_log_is_named_and_nothing_more_is_spent(tmp_path: Path) -> None:
    path = unclosed(tmp_path)
    path.with_name(path.name + "-wal").unlink()
    with SqliteJournal(path) as journal:
        assert "the journal ends at 1 but the anchor says 8" in problems(journal)
        with pytest.raises(LedgerError, match="the anchor says 8"):
            fill(journal)


def test_an_older_copy_put_back_is_named(tmp_path: Path) -> None:
    path = closed(tmp_path)
    old = path.read_bytes()
    with SqliteJournal(path) as journal:
        fill_more(journal)
    path.write_bytes(old)
    with SqliteJournal(path) as journal:
        assert "the anchor says 9" in problems(journal)
        with pytest.raises(LedgerError):
            fill_more(journal)


def fill_more(journal: SqliteJournal) -> None:
    event = Laplace(Fraction(1, 2), Fraction(1))
    reserve(journal, Reservation("bob", None, None, "SELECT 9", event), BUDGETS)


@pytest.mark.parametrize("size", [0, 1, 100, 4096, 8192, 10_000])
def test_a_shortened_file_is_found(path: Path, size: int) -> None:
    whole = path.read_bytes()
    assert size < len(whole)
    path.write_bytes(whole[:size])
    assert found(path, [])
