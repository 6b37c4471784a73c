"""What holders and askers refuse: replays, wrong keys, budgets, strangers and nonsense."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from holding import ASKER, NAMES, people, spent, start_all, write_town
from rounds import Steps

from adomnia.errors import (
    BudgetError,
    MachineryError,
    NotAllowedError,
    PolicyError,
    QuestionError,
)
from adomnia.federation import holder as holder_module
from adomnia.federation.holder import HolderRules
from adomnia.federation.joint_session import open_holders
from adomnia.federation.masks import Party, Peer, make_secret, public_key

SQL = "SELECT COUNT(*) AS n FROM people"


# Replays and steps out of order


def test_a_round_is_answered_once(village):
    start_all(village)
    steps = Steps(village, SQL)
    steps.all()
    with pytest.raises(NotAllowedError, match="not open"):
        steps.give("north")
    with pytest.raises(NotAllowedError, match="not open"):
        steps.pay("north")
    with pytest.raises(NotAllowedError, match="paid before"):
        steps.say("north", **steps.proposal)


def test_a_round_that_was_paid_is_refused_after_a_restart(village):
    start_all(village)
    steps = Steps(village, SQL)
    steps.propose()
    steps.pay()
    file = village.folder / "north" / "adomnia.toml"
    village.servers["north"].shutdown()
    village.servers["north"].server_close()
    village.holders["north"].database.close()
    village.start("north", file)
    with pytest.raises(NotAllowedError, match="not open"):
        steps.give("north")
    with pytest.raises(NotAllowedError, match="paid before"):
        steps.say("north", **steps.proposal)


def test_nothing_is_given_before_it_is_paid_and_a_round_is_paid_once(village):
    start_all(village)
    steps = Steps(village, SQL)
    steps.propose()
    with pytest.raises(NotAllowedError, match="begun"):
        steps.say("north", **steps.proposal)
    with pytest.raises(NotAllowedError, match="not paid"):
        steps.give("north")
    steps.pay("north")
    with pytest.raises(NotAllowedError, match="not the round"):
        steps.pay("north")
    assert spent(village) == {"north": 1, "south": 0, "west": 0}


def test_a_nonce_of_another_time_is_refused(village):
    start_all(village)
    steps = Steps(village, SQL)
    steps.propose()
    stale = {**steps.agreed.nonces, "north": "0" * 32}
    with pytest.raises(NotAllowedError, match="not the round"):
        steps.say("north", step="pay", nonces=stale)
    assert spent(village)["north"] == 0


def test_an_asker_that_tells_holders_different_things_gets_noise(village):
    """Masks cancel only where all agree: here south was told another nonce of west."""
    start_all(village)
    steps = Steps(village, SQL)
    steps.propose()
    steps.pay("north", "west")
    steps.say("south", step="pay", nonces={**steps.agreed.nonces, "west": "f" * 32})
    total = sum(steps.give(name) for name in NAMES).view(np.int64)
    assert abs(int(total[0])) > 10**9


# Keys


def test_different_keys_are_found_before_anybody_pays(village):
    start_all(village)
    wrong = Peer("south", public_key(make_secret()))
    village.holders["north"].peers["south"] = wrong
    group = village.ask_all(village.folder / "north" / "adomnia.toml")
    with pytest.raises(MachineryError, match="same public keys") as caught:
        group.ask(SQL, 1)
    assert "nobody spent" in caught.value.hint
    assert set(spent(village).values()) == {0}


def test_masks_that_do_not_cancel_are_reported_and_never_an_answer(village, monkeypatch):
    group = start_all(village)
    village.holders["north"].peers["south"] = Peer("south", public_key(make_secret()))
    monkeypatch.setattr(holder_module, "ring_of", lambda me, others: "the same")
    with pytest.raises(MachineryError, match="did not cancel") as caught:
        group.ask(SQL, 1)
    assert "north 1, south 1, west 1" in caught.value.hint


def test_an_unusable_public_key_is_refused(village):
    start_all(village)
    village.holders["north"].peers["south"] = Peer("south", bytes(32))
    steps = Steps(village, SQL)
    steps.propose()
    with pytest.raises(PolicyError, match="not a usable one"):
        steps.pay()  # masks are made before anything is paid
    with pytest.raises(PolicyError, match="32 bytes"):
        Peer("south", b"short")
    with pytest.raises(PolicyError, match="32 bytes"):
        Party("south", b"short")


def test_a_stranger_may_not_ask(village):
    start_all(village)
    known = [village.peer(name) for name in NAMES]
    file = village.folder / "north" / "adomnia.toml"
    for me in (Party("mallory", make_secret()), Party(ASKER, make_secret())):
        with pytest.raises(NotAllowedError, match="known key"):
            open_holders(known, me, file).ask(SQL, 1)
    assert set(spent(village).values()) == {0}


def test_an_impostor_at_a_holders_address_is_not_believed(village):
    start_all(village)
    village.holders["north"].me = Party("north", make_secret())
    with pytest.raises(NotAllowedError, match=r"signed|known key"):
        village.ask_all(village.folder / "north" / "adomnia.toml").ask(SQL, 1)


def test_a_secret_is_not_printed():
    assert "secret" not in repr(Party("north", make_secret()))


# Budgets and company


def test_a_budget_refused_at_one_holder_costs_nobody(village):
    group = start_all(village, {"south": "0.5"})
    with pytest.raises(BudgetError) as caught:
        group.ask(SQL, 1)
    assert "'south'" in caught.value.message
    assert "nobody spent anything" in caught.value.hint
    assert set(spent(village).values()) == {0}


def test_a_budget_that_goes_while_others_pay_is_said(village, monkeypatch):
    """South's budget is there when it is looked at, and gone when it is to pay."""
    group = start_all(village, {"south": "1"})
    real = holder_module.holder_share.check_budget

    def spend_after(session, plan):
        real(session, plan)
        if session._backend is village.holders["south"].database._backend:
            village.holders["south"].database.session(ASKER).ask(SQL, Fraction(1, 2))

    monkeypatch.setattr(holder_module.holder_share, "check_budget", spend_after)
    given = []
    for name in ("north", "west"):
        holder = village.holders[name]
        monkeypatch.setattr(holder, "_give", lambda *a: given.append(a))
    with pytest.raises(BudgetError) as caught:
        group.ask(SQL, 1)
    assert "'south'" in caught.value.message
    assert "north 1" in caught.value.hint
    assert "west" not in caught.value.hint
    assert given == []
    assert spent(village) == {"north": 1, "south": Fraction(1, 2), "west": 0}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"holders": ["north"]}, "among 2 or more"),
        ({"holders": ["north", "east"]}, "not known"),
        ({"holders": ["south", "west"]}, "each of its holders once"),
        ({"holders": ["north", "south", "south"]}, "each of its holders once"),
        ({"holders": "north"}, "names its holders"),
        ({"holders": [["north"], 3]}, "names its holders"),
        ({"colluding": 0}, "in league"),
        ({"colluding": 3}, "in league"),
        ({"colluding": "1"}, "in league"),
        ({"colluding": None}, "in league"),
        ({"digest": "0" * 64}, "something else"),
        ({"epsilon": "-1"}, "epsilon"),
        ({"epsilon": 1}, "must be a text"),
        ({"sql": None}, "must be a text"),
        ({"sql": "SELECT 1"}, "FROM"),
        ({"round": "../x"}, "not a step"),
        ({"step": "take"}, "not a step"),
        ({"step": ["pay"]}, "not a step"),
    ],
)
def test_a_wrong_proposal_is_refused(settled, change, said):
    proposal = {**Steps(settled, SQL).proposal, **change}
    before = spent(settled)
    with pytest.raises((NotAllowedError, QuestionError), match=said):
        settled.holders["north"].answer(ASKER, proposal)
    assert spent(settled) == before


def test_a_holder_may_ask_for_less_or_more_company(village):
    start_all(village, rules=HolderRules(least=3, colluding=0))
    assert Steps(village, SQL, colluding=0).all()
    steps = Steps(village, SQL, colluding=0)
    steps.proposal["holders"] = ["north", "south"]
    with pytest.raises(NotAllowedError, match="among 3"):
        steps.propose()


def test_open_rounds_are_limited_and_forgotten(village, monkeypatch):
    start_all(village)
    monkeypatch.setattr(holder_module, "MAX_OPEN_ROUNDS", 2)
    for _ in range(2):
        Steps(village, SQL).propose()
    with pytest.raises(MachineryError, match="too many rounds"):
        Steps(village, SQL).propose()
    monkeypatch.setattr(holder_module, "LIFETIME", 0.0)
    Steps(village, SQL).propose()


# Questions


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT MEDIAN(age) FROM people",
        "SELECT MAX(age) FROM people",
        "SELECT COUNT(DISTINCT age) FROM people",
    ],
)
def test_what_is_not_a_sum_is_refused(settled, sql):
    with pytest.raises(QuestionError, match="counts, sums, averages"):
        settled.group.ask(sql, 1)


def test_another_meaning_at_one_holder_is_refused(village):
    group = start_all(village)
    village.servers["west"].shutdown()
    file = write_town(village.folder / "elsewhere", people(1, 1), oldest=99)
    village.start("west", file)
    group = village.ask_all(village.folder / "north" / "adomnia.toml")
    with pytest.raises(QuestionError, match=r"'west'.*something else"):
        group.ask("SELECT AVG(age) FROM people", 1)


@pytest.mark.parametrize(
    "bad",
    [
        {"epsilon": 0},
        {"epsilon": 1, "confidence": 2.0},
        {"epsilon": 1, "colluding": 3},
        {"epsilon": 1, "colluding": -1},
    ],
    ids=str,
)
def test_a_wrong_loss_confidence_or_company_is_refused(settled, bad):
    with pytest.raises(QuestionError):
        settled.group.ask(SQL, **bad)


def test_noise_too_wide_for_a_word_is_refused(settled):
    with pytest.raises(QuestionError, match="too wide"):
        settled.group.ask(SQL, Fraction(1, 1 << 60))


def test_what_no_neighbour_changes_is_summed_with_noise(village):
    for name in NAMES:
        file = write_town(village.folder / name, people(50, 50))
        file.write_text(file.read_text().replace("[privacy]", '[privacy]\nneighbors = "bounded"'))
        village.start(name, file)
    answer = village.ask_all(file).ask(SQL, 1)
    assert answer.spent == {"epsilon": 1}
    assert answer.margins["n"][0] > 0


def test_one_holder_or_the_same_twice_is_no_company(village):
    file = write_town(village.folder / "x", people(1, 1))
    me = Party(ASKER, village.secrets[ASKER])
    for peers in ([village.peer("north")], [village.peer("north")] * 2):
        with pytest.raises(QuestionError, match="two or more"):
            open_holders(peers, me, file)
