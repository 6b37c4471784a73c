"""The rules that a private server needs: what is free, what is paid, and that it is paid once."""

from __future__ import annotations

import math
import struct
import threading
from fractions import Fraction

import pytest
from parlour import Parlour, Wire, errors_in, fields_of, rows_in

from adomnia.curator import spend as spending
from adomnia.engines.interrupts import interruptible

GROUPED = "SELECT sex, count(*) AS n FROM people GROUP BY sex"


def notices(messages):
    """The texts of the notices."""
    return [fields_of(body)["M"] for kind, body in messages if kind == b"N"]


def kinds(messages):
    """The kinds of the messages, in order."""
    return b"".join(kind for kind, _ in messages)


@pytest.fixture
def spent(parlour: Parlour):
    """What Alice spends in the block."""
    before = parlour.spent()
    return lambda: parlour.spent() - before


def test_an_answer_says_what_it_cost_what_is_left_and_its_margin(wire, spent):
    got = wire.query("SELECT count(*) AS everybody FROM people")
    assert abs(int(rows_in(got)[0][0]) - 1000) < 100
    said = notices(got)
    assert said[0].startswith("this answer cost epsilon 0.5; epsilon ")
    assert said[0].endswith("is left")
    assert said[1] == "with 95 % confidence: everybody ± 6"
    assert spent() == Fraction(1, 2)


def test_parse_and_describe_are_free(wire, spent):
    wire.parse("SELECT sex, sum(income) AS total, avg(age) AS mean FROM people GROUP BY sex", "s")
    wire.send(b"D", b"Ss\0")
    wire.bind("p", "s")
    wire.send(b"D", b"Pp\0")
    wire.send(b"S")
    got = wire.until()
    assert kinds(got) == b"1tT2TZ"
    described = got[2][1]
    oids = [struct.unpack_from("!I", described, described.index(name) + len(name) + 6)[0]
            for name in (b"sex\0", b"total\0", b"mean\0")]  # fmt: skip
    assert oids[0] == 25
    assert oids[1] in (20, 1700)
    assert oids[2] == 701
    assert spent() == 0


def test_a_portal_is_paid_once_and_continues_from_the_stored_answer(wire, spent):
    wire.query("BEGIN")
    wire.parse("SELECT age, count(*) AS n FROM people GROUP BY age")
    wire.bind("p")
    whole = []
    for most in (50, 50, 0):
        wire.execute("p", most)
        wire.send(b"H")
        got = wire.until(b"sCE")
        whole += rows_in(got)
        assert (b"N" in kinds(got)) == (len(whole) == 50)
    assert kinds(got)[-1:] == b"C"
    wire.send(b"S")
    wire.until()
    assert [int(row[0]) for row in whole if row[0] is not None] == list(range(121))
    assert spent() == Fraction(1, 2)
    wire.query("ROLLBACK")
    assert spent() == Fraction(1, 2)


def test_the_same_question_is_the_same_answer_at_no_cost(parlour, wire, spent):
    first = wire.query(GROUPED)
    again = wire.query(GROUPED)
    assert rows_in(first) == rows_in(again)
    assert spent() == Fraction(1, 2)
    assert any("cost nothing" in text for text in notices(again))
    carol = Wire(parlour.port)
    carol.log_in("carol", options="-c adomnia.epsilon=0.5")
    assert any("cost epsilon 0.5" in text for text in notices(carol.query(GROUPED)))
    carol.close()


def test_a_rollback_gives_nothing_back_and_says_so(wire, spent):
    wire.query("BEGIN")
    wire.query("SELECT count(*) FROM people WHERE age < 20")
    got = wire.query("ROLLBACK")
    assert notices(got) == ["what was paid in this transaction stays spent"]
    assert got[-1] == (b"Z", b"I")
    assert spent() == Fraction(1, 2)


def test_a_failed_transaction_takes_nothing_but_its_end(wire, spent):
    assert wire.query("BEGIN")[-1] == (b"Z", b"T")
    assert wire.query("SELECT nothing FROM people")[-1] == (b"Z", b"E")
    got = wire.query("SELECT count(*) FROM people WHERE age = 21")
    assert errors_in(got)[0]["C"] == "25P02"
    assert got[-1] == (b"Z", b"E")
    got = wire.query("COMMIT")
    assert got[0] == (b"C", b"ROLLBACK\0")
    assert got[-1] == (b"Z", b"I")
    assert spent() == 0


def test_savepoints_end_a_failure(wire):
    wire.query("BEGIN; SAVEPOINT a; SET adomnia.margins = on")
    wire.query("nonsense")
    assert wire.query("ROLLBACK TO SAVEPOINT a")[-1] == (b"Z", b"T")
    assert rows_in(wire.query("SHOW adomnia.margins")) == [["off"]]
    assert wire.query("RELEASE a")[-1] == (b"Z", b"T")
    assert errors_in(wire.query("ROLLBACK TO a"))[0]["C"] == "3B001"
    wire.query("ROLLBACK")


def test_a_budget_that_is_gone_is_53400_with_what_is_left_and_what_fits(parlour):
    bob = Wire(parlour.port)
    bob.log_in("bob", options="-c adomnia.epsilon=0.75")
    bob.query(GROUPED)
    before = parlour.spent("bob")
    (error,) = errors_in(bob.query("SELECT count(*) FROM people WHERE age > 50"))
    assert error["C"] == "53400"
    assert error["D"] == "left: epsilon 0.25, delta 0.0005" or error["D"] == "left: epsilon 0.25"
    assert "1/4 (0.25)" in error["H"]
    assert "would fit" in error["H"]
    assert parlour.spent("bob") == before
    bob.close()


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT * FROM people LIMIT 0", []),
        ("SELECT * FROM people WHERE 1<>1", []),
        ("SELECT sex, age FROM people WHERE false", []),
        ("SELECT DISTINCT sex FROM people", [["F"], ["M"]]),
    ],
)
@pytest.mark.parametrize("epsilon", ["", "0.5"])
def test_what_is_public_is_free(wire, spent, sql, rows, epsilon):
    wire.query(f"SET adomnia.epsilon = '{epsilon}'")
    got = wire.query(sql)
    assert not errors_in(got)
    assert [row for row in rows_in(got) if row != [None]] == rows
    assert spent() == 0


@pytest.mark.parametrize(
    "sql", ["SELECT * FROM people", "SELECT * FROM people LIMIT 10", "TABLE people",
            "COPY people TO STDOUT", "SELECT age FROM people ORDER BY age"]
)  # fmt: skip
def test_rows_are_refused_with_a_hint_at_no_cost(wire, spent, sql):
    (error,) = errors_in(wire.query(sql))
    assert error["C"] in ("42601", "42501")
    assert error["H"]
    assert spent() == 0


def test_without_an_epsilon_a_question_is_refused_and_told_how(wire, spent):
    wire.query("RESET adomnia.epsilon; SET adomnia.epsilon = ''")
    (error,) = errors_in(wire.query("SELECT count(*) FROM people WHERE age = 44"))
    assert error["C"] == "55000"
    assert "SET adomnia.epsilon = 0.1" in error["H"]
    assert spent() == 0


def test_an_error_points_at_the_character(wire):
    sql = "SELECT 1; SELECT count(*) FROM people WHERE salary > 3"
    (error,) = errors_in(wire.query(sql))
    assert int(error["P"]) == sql.index("salary") + 1
    sql = "EXPLAIN SELECT count(*) FROM people WHERE salary > 3"
    assert int(errors_in(wire.query(sql))[0]["P"]) == sql.index("salary") + 1
    wire.parse(sql)
    wire.send(b"S")
    assert int(errors_in(wire.until())[0]["P"]) == sql.index("salary") + 1


def test_explain_is_a_plan_and_free(wire, spent):
    got = wire.query("EXPLAIN SELECT sex, count(*) AS n FROM people GROUP BY sex")
    lines = [row[0] for row in rows_in(got)]
    assert lines[0].startswith("it would cost epsilon 0.5 (laplace noise")
    assert any("n: margin ± 6" in line for line in lines)
    assert lines[-1] == "nothing was spent"
    assert b"QUERY PLAN" in got[0][1]
    got = wire.query("EXPLAIN (FORMAT JSON) SELECT count(*) AS n FROM people")
    assert '"mechanism": "laplace"' in rows_in(got)[0][0]
    assert errors_in(wire.query("EXPLAIN ANALYZE SELECT count(*) FROM people"))[0]["C"] == "0A000"
    wire.query("SET adomnia.epsilon = ''")
    error = errors_in(wire.query("EXPLAIN SELECT count(*) FROM people"))[0]
    assert "SET adomnia.epsilon" in error["H"]
    assert spent() == 0


def test_margins_come_as_columns_on_request(wire):
    wire.query("SET adomnia.margins = on; SET adomnia.confidence = 0.99")
    got = wire.query(GROUPED)
    assert b"n_margin" in got[0][1]
    assert rows_in(got)[0][2] == rows_in(got)[1][2]
    assert float(rows_in(got)[0][2]) > 6
    wire.query("RESET ALL")
    assert b"n_margin" not in wire.query(GROUPED)[0][1]


def test_margins_in_rows_are_called_so_and_averages_have_no_digits_of_noise(wire):
    wire.query("SET adomnia.margins = on")
    got = wire.query("SELECT median(age) AS m, avg(age) AS a, count(*) AS n FROM people")
    assert not errors_in(got)
    for name in (b"m_margin_rows\0", b"a_margin\0", b"n_margin\0"):
        assert name in got[0][1]
    ((_, mean, _, _, off, _),) = rows_in(got)
    assert len(mean.partition(".")[2]) <= max(1, 1 - math.floor(math.log10(float(off))))
    wire.query("RESET ALL")


def test_intervals_of_quantiles_come_as_columns_behind_the_margins(wire):
    medians = "SELECT sex, median(age) AS m, count(*) AS n FROM people GROUP BY sex"
    wire.query("SET adomnia.margins = on; SET adomnia.error = interval")
    got = wire.query(medians)
    assert not errors_in(got)
    assert got[0][1].index(b"n_margin") < got[0][1].index(b"m_low") < got[0][1].index(b"m_high")
    assert b"n_low" not in got[0][1]
    for row in rows_in(got):
        assert float(row[5]) <= float(row[1]) <= float(row[6])
    wire.query("SET adomnia.error = rank")
    assert b"m_low" not in wire.query(medians)[0][1]
    wire.query(f"BEGIN; SET adomnia.error = interval; DECLARE c CURSOR FOR {medians}")
    wire.query("SET adomnia.error = rank")
    assert rows_in(wire.query("FETCH 1 FROM c"))[0][5:] == [None, None]  # nothing fails once paid
    wire.query("ROLLBACK")


def test_a_described_statement_does_not_change_its_columns(wire):
    wire.parse(GROUPED, "s")
    wire.send(b"D", b"Ss\0")
    wire.send(b"S")
    wire.until()
    wire.query("SET adomnia.margins = on")
    wire.bind("", "s")
    wire.send(b"S")
    assert errors_in(wire.until())[0]["C"] == "0A000"
    wire.query("SET adomnia.margins = off")
    wire.bind("", "s")
    wire.execute()
    wire.send(b"S")
    assert not errors_in(wire.until())


def test_a_cursor_keeps_the_columns_it_was_declared_with(wire, spent):
    wire.query(f"BEGIN; DECLARE c CURSOR FOR {GROUPED}; SET adomnia.margins = on")
    got = wire.query("FETCH 1 FROM c")
    assert not errors_in(got)
    assert len(rows_in(got)[0]) == 2
    got = wire.query(f"COPY ({GROUPED}) TO STDOUT")
    assert next(body for kind, body in got if kind == b"d").count(b"\t") == 2
    wire.query("ROLLBACK")


def test_settings_of_a_transaction_end_with_it(wire):
    epsilon = lambda: rows_in(wire.query("SHOW adomnia.epsilon"))[0][0]  # noqa: E731
    wire.query("BEGIN")
    wire.query("SET LOCAL adomnia.epsilon = 0.25")
    assert epsilon() == "0.25"
    wire.query("COMMIT")
    assert epsilon() == "0.5"
    wire.query("BEGIN")
    wire.query("SET adomnia.epsilon = 0.25")
    wire.query("ROLLBACK")
    assert epsilon() == "0.5"
    got = wire.query("SET LOCAL adomnia.epsilon = 7")
    assert fields_of(got[0][1])["S"] == "WARNING"
    assert epsilon() == "0.5"
    wire.query("SELECT set_config('adomnia.epsilon', '0.125', false)")
    assert epsilon() == "0.125"
    assert rows_in(wire.query("SELECT current_setting('adomnia.epsilon')")) == [["0.125"]]


def test_after_an_error_everything_is_skipped_until_sync(wire, spent):
    wire.parse("SELECT count(*) FROM people WHERE age = 33")
    wire.bind("", "nothing of this name")
    wire.execute()
    wire.parse("SELECT count(*) FROM people WHERE age = 34")
    wire.bind()
    wire.execute()
    wire.send(b"S")
    assert kinds(wire.until()) == b"1EZ"
    assert spent() == 0
    wire.send(b"F", b"\0\0\0\1\0\0\0\0\0\0")
    assert kinds(wire.until()) == b"EZ"


def test_an_error_comes_before_the_sync(wire):
    wire.parse("SELECT * FROM people")
    wire.send(b"H")
    assert kinds(wire.until(b"E")) == b"E"
    wire.send(b"S")
    assert kinds(wire.until()) == b"Z"


def test_an_analyst_can_only_be_themselves(wire):
    assert errors_in(wire.query("SET ROLE bob"))[0]["C"] == "42501"
    assert errors_in(wire.query("SET SESSION AUTHORIZATION dora"))[0]["C"] == "42501"
    assert not errors_in(wire.query("SET ROLE alice"))
    for sql in ("DELETE FROM people", "CREATE TABLE x (a int)", "DO $$ BEGIN END $$"):
        assert errors_in(wire.query(sql))[0]["C"] == "42501"


def test_a_curator_asks_as_the_curator(parlour):
    dora = Wire(parlour.port)
    dora.log_in("dora", options="-c adomnia.epsilon=0.5")
    got = dora.query("SELECT count(*) AS n FROM people")
    assert any("cost epsilon 0.5" in text for text in notices(got))
    told = [entry.head for entry in parlour.service.database.ledger() if entry.kind == "reserved"]
    assert told[-1]["analyst"] == "curator"
    dora.close()


def test_foreign_errors_never_show_their_text(parlour, wire, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("Zzvienna has 42 people")

    monkeypatch.setattr(parlour.service, "ask", broken)
    (error,) = errors_in(wire.query("SELECT count(*) FROM people WHERE age = 77"))
    assert error["M"] == "the machinery failed (RuntimeError)"
    assert error["C"] == "XX000"
    monkeypatch.undo()
    assert not errors_in(wire.query("SELECT 1"))


@pytest.mark.parametrize("version", [3 << 16, 3 << 16 | 2])
def test_a_cancelled_question_stays_spent(parlour, spent, monkeypatch, version):
    """The engine is made slow; the secret key ends the question, a wrong one does not."""
    alice = Wire(parlour.port)
    begun = alice.log_in(version=version, options="-c adomnia.epsilon=0.5")
    key = next(body for kind, body in begun if kind == b"K")
    assert len(key) == (8 if version == 3 << 16 else 36)
    started, ended = threading.Event(), threading.Event()
    take = spending._released

    def slow(backend, use):
        started.set()
        with interruptible(ended.set):
            ended.wait(60)
        return take(backend, use)

    monkeypatch.setattr(spending, "_released", slow)

    def cancel(secret: bytes) -> None:
        other = Wire(parlour.port)
        other.send(b"", struct.pack("!i", 80877102) + key[:4] + secret)
        assert other.receive() == (b"", b"")
        other.close()

    alice.send(b"Q", f"SELECT count(*) FROM people WHERE age > {version % 7}\0".encode())
    assert started.wait(60)
    cancel(bytes(len(key) - 4))
    assert not ended.is_set()
    cancel(key[4:])
    got = alice.until()
    (error,) = errors_in(got)
    assert error["C"] == "57014"
    assert "stays spent" in error["M"] + error["H"]
    assert spent() == Fraction(1, 2)
    assert not errors_in(alice.query("SELECT 1"))
    alice.close()


def test_counting_an_answer_first_costs_it_once(wire, spent):
    inner = "SELECT age, count(*) AS n FROM people WHERE sex = 'F' GROUP BY age"
    counted = wire.query(f"SELECT COUNT(*) FROM ({inner}) AS counted")
    rows = rows_in(wire.query(inner))
    assert rows_in(counted) == [[str(len(rows))]]
    assert spent() == Fraction(1, 2)
