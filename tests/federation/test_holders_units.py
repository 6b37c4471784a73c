"""A unit with rows at every holder: noise for all of them, and `spent` for the whole unit."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from holding import ASKER, NAMES, Village
from rounds import Steps

from adomnia.errors import NotAllowedError, QuestionError
from adomnia.federation.joint_plan import plan_for
from adomnia.mechanisms.unseal import unseal

POLICY = """
[data]
source = "visits.csv"
table = "visits"
[privacy]
confirmed = true
epsilon = 1000
neighbors = "{neighbors}"
{unit}
[attributes.ward]
low = 0
high = 3
[attributes.cost]
low = 0
high = 50
[analysts.alice]
epsilon = 1000
"""
UNIT = 'unit = "person"\nmax_rows = 5'
ASKED = (
    "SELECT COUNT(*) AS n FROM visits WHERE cost >= 0",
    "SELECT SUM(cost) AS s FROM visits",
    "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward",
    "SELECT COUNT(*) FILTER (WHERE cost > 40) AS n, SUM(cost) AS s FROM visits",
    "SELECT AVG(cost) AS a FROM visits",
)


def write_visits(folder: Path, persons, neighbors: str, unit: str) -> Path:
    """A folder with 7 visits of each person, of which five are used; the policy file."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [f"{person},{turn % 4},50" for person in persons for turn in range(7)]
    (folder / "visits.csv").write_text("\n".join(["person,ward,cost", *rows]) + "\n")
    file = folder / "adomnia.toml"
    file.write_text(POLICY.format(neighbors=neighbors, unit=unit))
    return file


@pytest.fixture
def village(tmp_path):
    started: list[Village] = []

    def start(persons, neighbors="unbounded", unit=UNIT) -> Village:
        made = Village(tmp_path)
        started.append(made)
        for name in NAMES:
            folder = tmp_path / f"{len(started)}" / name
            made.start(name, write_visits(folder, persons, neighbors, unit))
        return made

    yield start
    for made in started:
        made.close()


def exact(village: Village, sql: str, holders: int = 3):
    """The plan of a holder, and the exact joint numbers of each of its measurements."""
    plans, sums = [], None
    for holder in village.holders.values():
        session = holder.database.session(ASKER)
        plan = plan_for(session, sql, Fraction(1), holders)
        plans.append(plan)
        wanted = [step.reads for step in plan.steps]
        backend = session._backend
        parts = [unseal(part).astype(object) for part in backend.read(wanted, backend.version())]
        sums = parts if sums is None else [a + b for a, b in zip(sums, parts, strict=True)]
    return plans[0], sums


def loss(plan, one, other) -> Fraction:
    """What the noise really costs between two joint tables: the moves over the scales."""
    moves = [abs(a - b).sum() for a, b in zip(one, other, strict=True)]
    return sum(
        (move / step.noise.parameter for move, step in zip(moves, plan.steps, strict=True)),
        Fraction(0),
    )


@pytest.mark.parametrize("sql", ASKED)
def test_the_noise_is_for_the_joint_move_of_a_unit(village, sql):
    plan, with_her = exact(village(["ann", "bob"]), sql)
    _, without = exact(village(["bob"]), sql)
    assert loss(plan, with_her, without) <= 1
    if sql == ASKED[0]:
        assert abs(with_her[0] - without[0]).sum() == 15
        assert plan.steps[0].noise.parameter == 15


def test_bounded_likewise(village):
    sql = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    plan, first = exact(village(["ann", "bob"], "bounded"), sql)
    _, second = exact(village(["cyd", "bob"], "bounded"), sql)
    assert loss(plan, first, second) <= 1
    assert plan.steps[0].noise.parameter >= 2 * 15


def test_a_row_is_at_one_holder(village):
    plan, _ = exact(village(["ann"], unit=""), ASKED[0])
    assert plan.steps[0].noise.parameter == 1


def test_the_answer_says_what_a_unit_loses_and_its_margin_is_for_all(village):
    made = village(["ann", "bob"])
    answer = made.ask_all(made.holders["north"].database.policy.file).ask(ASKED[0], "1")
    assert answer.spent["epsilon"] == 1
    assert answer.margins["n"][0] > 40  # of noise of scale 15; for one holder it would be 15
    said = "of each person at most 5 rows are used; how many rows are left out is not known; "
    said += "rows without a person are not counted"
    assert answer.left_out[0].says == said
    assert said in answer.notes


def test_a_holder_that_is_told_of_fewer_is_not_in_the_sum_of_more(village):
    """Two are told of two holders, one of three: the digests differ, and so do the rings."""
    made = village(["ann", "bob"])
    three, two = Steps(made, ASKED[0]), Steps(made, ASKED[0])
    two.names = ["north", "south"]
    two.proposal["holders"] = two.names
    with pytest.raises(QuestionError, match="means something else"):
        two.say("north", **two.proposal)  # the digest of three holders, a list of two
    three.propose()
    nonces = dict(three.agreed.nonces)
    del nonces["west"]
    with pytest.raises(QuestionError, match="nonce of each holder"):
        three.say("north", step="pay", nonces=nonces)
    with pytest.raises(NotAllowedError):
        three.give("north")
