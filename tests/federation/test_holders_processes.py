"""Three holders in processes of their own, on loopback: right sums, and what a loss costs."""

from __future__ import annotations

from fractions import Fraction

import pytest
from holding import NAMES, people, write_town

import adomnia

SQL = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
TOWNS = {"north": (300, 100), "south": (50, 450), "west": (1000, 20)}


def holds(answer, truth):
    """Whether every count is near the truth, and margins are those of noise.

    Twice the margin of a millionth: once in a trillion times the noise is larger.
    """
    rows = zip(answer.rows, answer.margins["n"], strict=True)
    return all(abs(count - truth[sex]) <= 2 * margin < 80 for (sex, count), margin in rows)


def spent_at(file):
    with adomnia.open(file) as database:
        return Fraction(database.budget()["data"]["spent"])


def test_three_processes_answer_together_until_one_is_killed_in_the_middle(village):
    """South dies in the third round, when the others have paid and may have given already."""
    files = {name: write_town(village.folder / name, people(*TOWNS[name])) for name in NAMES}
    for name, file in files.items():
        village.spawn(name, file, dies=3 if name == "south" else 0)
    village.wait()
    group = village.ask_all(files["north"])

    whole = group.ask(SQL, epsilon=2, confidence=0.999999)
    assert whole.columns == ("sex", "n")
    assert holds(whole, {"F": 1350, "M": 570})
    assert whole.spent == {"epsilon": 2}
    assert whole.remaining == {"epsilon": 998}
    assert "3 holders: north, south, west" in whole.notes[-1]

    average = group.ask("SELECT AVG(age) AS a FROM people", epsilon=20, confidence=0.999999)
    ages = [age for women, men in TOWNS.values() for _, age in people(women, men)]
    truth = sum(ages) / len(ages)
    assert average.rows[0][0] == pytest.approx(truth, abs=2 * average.margins["a"][0])
    assert average.margins["a"][0] < 2

    rest = group.ask(SQL, epsilon=2, confidence=0.999999)
    assert holds(rest, {"F": 1300, "M": 120})
    assert "2 holders: north, west" in rest.notes[-2]
    assert "did not answer: south" in rest.notes[-1]
    assert rest.spent == {"epsilon": 4}
    village.close()
    assert {name: spent_at(file) for name, file in files.items()} == {
        "north": 26,
        "south": 24,
        "west": 26,
    }


@pytest.mark.parametrize(("step", "paid"), [("propose", (2, 2)), ("pay", (4, 2)), ("give", (4, 4))])
def test_a_holder_lost_at_any_step_costs_a_retry_and_never_a_wrong_sum(
    village, monkeypatch, step, paid
):
    for name in NAMES:
        village.start(name, write_town(village.folder / name, people(*TOWNS[name])))
    hang_up(village.holders["south"], monkeypatch, step)
    group = village.ask_all(village.folder / "north" / "adomnia.toml")
    answer = group.ask(SQL, epsilon=2, confidence=0.999999)
    assert holds(answer, {"F": 1300, "M": 120})
    assert answer.spent == {"epsilon": max(paid)}
    ledgers = [village.holders[name].database.budget()["data"]["spent"] for name in NAMES]
    assert (Fraction(ledgers[0]), Fraction(ledgers[2])) == paid


def test_too_few_holders_is_an_error_that_says_what_was_spent(village, monkeypatch):
    for name in NAMES:
        village.start(name, write_town(village.folder / name, people(*TOWNS[name])))
    hang_up(village.holders["south"], monkeypatch, "give")
    hang_up(village.holders["west"], monkeypatch, "propose")
    with pytest.raises(adomnia.MachineryError) as caught:
        village.ask_all(village.folder / "north" / "adomnia.toml").ask(SQL, epsilon=2)
    assert "too few holders" in caught.value.message
    assert "north 2, south 2" in caught.value.hint


def hang_up(holder, monkeypatch, step):
    """The holder closes the line without a word when it is asked for this step."""

    def closes(frame, real=holder.reply):
        if f'"{step}"' in frame["body"]:
            raise ConnectionError
        return real(frame)

    monkeypatch.setattr(holder, "reply", closes)
