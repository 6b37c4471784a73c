"""Attempts on holders: their exact numbers, their masks, their ledgers. They fail."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import holding
import numpy as np
import pytest
from holding import ASKER, NAMES, Village, people, spent, start_all, write_town
from rounds import Steps

from adomnia.errors import (
    AdomniaError,
    MachineryError,
    NotAllowedError,
    PolicyError,
    QuestionError,
)
from adomnia.federation.holders_file import read_holders
from adomnia.federation.joint_session import open_holders
from adomnia.federation.masks import Party, checksum, make_secret, mask, public_key

SQL = "SELECT COUNT(*) AS n FROM people"


def differenced(village: Village, epsilon: str) -> list[float]:
    """Each holder's number of rows, as three sums over two of them at a time tell it."""
    me, policy = Party(ASKER, village.secrets[ASKER]), village.folder / "north" / "adomnia.toml"
    sums = {}
    for out in NAMES:
        listed = [village.peer(name) for name in NAMES if name != out]
        sums[out] = open_holders(listed, me, policy).ask(SQL, epsilon).rows[0][0]
    return [sum(sums.values()) / 2 - sums[name] for name in NAMES]


@pytest.mark.parametrize("relation", ["bounded", "attribute"])
def test_nobody_sees_the_count_of_a_holder(village, monkeypatch, relation: str) -> None:
    text = holding.POLICY.replace("[privacy]", f'[privacy]\nneighbors = "{relation}"')
    monkeypatch.setattr(holding, "POLICY", text)
    for name, women in zip(NAMES, (50, 61, 72), strict=True):
        village.start(name, write_town(village.folder / name, people(women, 50)))
    assert differenced(village, "1/1000") != [100, 111, 122]  # each sum has noise, and is paid
    honest = Steps(village, f"{SQL} WHERE sex = 'F'")
    assert honest.all()


def test_another_company_for_the_same_question_is_paid_by_all_each_time(village) -> None:
    start_all(village)
    found = differenced(village, "1/100000")
    assert spent(village) == dict.fromkeys(NAMES, Fraction(2, 100_000))
    assert max(abs(count - 100) for count in found) > 1  # the noise is of scale 100,000 and more


def test_a_company_in_which_two_names_are_one_party_is_refused(tmp_path: Path) -> None:
    key, other = (public_key(make_secret()).hex() for _ in range(2))
    listed = [("a", key), ("b", key), ("c", other)]
    lines = [f'[holders.{n}]\nkey = "{k}"\naddress = "127.0.0.1:1"\n' for n, k in listed]
    (tmp_path / "company.toml").write_text("".join(lines))
    with pytest.raises(PolicyError, match="same public key"):
        read_holders(tmp_path / "company.toml")


def test_nor_do_holders_or_askers_take_two_names_for_one_party(village: Village) -> None:
    village.secrets["south"] = village.secrets["north"]
    me = Party(ASKER, village.secrets[ASKER])
    with pytest.raises(PolicyError, match="same public key"):
        open_holders([village.peer(name) for name in NAMES], me)
    file = write_town(village.folder / "west", people(5, 5))
    for name in ("west", "north"):
        with pytest.raises(PolicyError, match="same public key"):
            village.start(name, file)


def test_one_asker_leaves_room_for_others(village: Village) -> None:
    """Rounds that are proposed and never paid are few; paying one makes room."""
    start_all(village)
    rounds = [Steps(village, SQL, epsilon="1/100") for _ in range(8)]
    for steps in rounds:
        steps.propose()
    more = Steps(village, SQL)
    with pytest.raises(MachineryError, match="wait for payment"):
        more.propose()
    rounds[0].pay()
    more.propose()


@pytest.mark.parametrize("sql", [SQL, "SELECT COUNT(*) AS n  FROM people"])
def test_a_round_is_not_paid_with_the_key_of_a_cheaper_question(village, sql: str) -> None:
    """The asker is an analyst too: she asks by herself under the round's name, for next to
    nothing, between proposing and paying."""
    start_all(village)
    steps = Steps(village, SQL)
    steps.propose()
    north = village.holders["north"].database
    north.session(ASKER).ask(sql, "1/1000000", key=steps.name)
    with pytest.raises(AdomniaError):
        steps.pay("north")
    with pytest.raises(NotAllowedError):
        steps.give("north")
    assert spent(village)["north"] == Fraction(1, 1000000)


def test_holders_that_are_told_another_number_of_liars_give_noise(village) -> None:
    start_all(village)
    steps = Steps(village, SQL)
    for name in NAMES:
        colluding = 2 if name == "north" else 1
        steps.replies[name] = steps.say(name, **{**steps.proposal, "colluding": colluding})
    steps.pay()
    total = sum(steps.give(name) for name in NAMES).view(np.int64)
    assert abs(int(total[0])) > 10**9


def test_an_ally_that_takes_off_its_own_part_is_left_with_masked_words(village) -> None:
    """South tells the asker its mask; what is left of north alone is as wide as a word."""
    start_all(village)
    seen = []
    for _ in range(6):
        words = Steps(village, SQL, epsilon="1/10").all()
        seen.append(int(words["north"][0]))
    assert len(set(seen)) == 6
    assert max(seen) - min(seen) > 1 << 56


def test_a_checksum_is_masked_too(village) -> None:
    """Else a word's weight, which is public, would give the sum of what a holder sends."""
    start_all(village)
    steps = Steps(village, SQL)
    words = steps.all()
    for sent in words.values():
        assert checksum(sent[:-1], steps.agreed) != sent[-1]
    total = sum(words.values())
    assert checksum(total[:-1], steps.agreed) == total[-1]


def test_the_same_digest_does_not_carry_another_question(village) -> None:
    start_all(village)
    steps = Steps(village, SQL)
    for change in ({"sql": "SELECT COUNT(*) AS n FROM people WHERE age < 30"},
                   {"epsilon": "5"}, {"sql": "SELECT MODE(sex) FROM people"},
                   {"sql": "SELECT MIN(age) FROM people"}):  # fmt: skip
        with pytest.raises(QuestionError):
            steps.say("north", **{**steps.proposal, **change})
    assert spent(village) == dict.fromkeys(NAMES, 0)


def test_an_honest_holder_alone_among_allies_has_the_whole_noise(village) -> None:
    """Two holders, one of them an ally who shows its words and its mask."""
    start_all(village)
    found = []
    for _ in range(150):
        steps = Steps(village, SQL, epsilon="1/4")
        steps.names = ["north", "south"]
        steps.proposal["holders"] = steps.names
        steps.propose()
        steps.pay()
        sent = steps.give("north")
        steps.give("south")
        south = Party("south", village.secrets["south"])
        known = mask(south, [village.peer("north")], steps.agreed, sent.size)
        found.append(int((sent + known).view(np.int64)[0]) - 100)
    assert 2.4 < np.mean(np.abs(found)) < 6.2  # Laplace of scale 4 has a mean size of 4
