"""Bands of numbers: always as many as are asked for, paid for once, found again for nothing."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adomnia.curator.database import PrivateDatabase
from adomnia.curator.releases import release as releasing
from adomnia.curator.releases.band_search import BandSearch, levels_of
from adomnia.curator.releases.bands import Segment
from adomnia.errors import BudgetError, QuestionError
from adomnia.privacy import events
from adomnia.privacy.loss import Loss
from adomnia.schema.domain import Grid
from adomnia.testing import World, listed, number

ROWS = 4000


def world(values, privacy: str = "epsilon = 100", more: str = "", domain: str = "") -> World:
    sex = np.array(["F", "M"])[np.arange(len(values)) % 2]
    attributes = {"sex": listed("F", "M"), "income": domain or number(0, 100_000)}
    return World({"sex": sex, "income": values}, attributes, privacy, more)


def spread(seed: int = 1) -> np.ndarray:
    """Incomes that are all different, and dense below."""
    chance = np.random.default_rng(seed)
    return np.unique(chance.lognormal(9, 0.7, 3 * ROWS).astype(int).clip(0, 99_000))[:ROWS]


def began(low: int, high: int, many: int) -> BandSearch:
    levels = levels_of(many)
    grid = Grid(Fraction(low), Fraction(high))
    return BandSearch("x", grid, many, (Segment(low, high, Fraction(2**levels)),), levels)


@given(st.integers(-50, 50), st.integers(1, 300), st.integers(2, 12), st.data())
def test_whatever_the_answers_there_are_so_many_bands_that_part_the_domain(low, width, many, data):
    many = min(many, width + 1)
    search = began(low, low + width, many)
    while search.left:
        answers = st.lists(
            st.integers(low - 5, low + width + 5),
            min_size=len(search.segments), max_size=len(search.segments),
        )  # fmt: skip
        search = search.halved(list(enumerate(data.draw(answers))))
    parts = search.bands.parts
    assert len(parts) == many
    segments = [one for part in parts for one in part]
    assert all(part for part in parts)
    assert segments[0].low == low
    assert segments[-1].high == low + width
    assert all(one.high + 1 == after.low for one, after in pairwise(segments))
    assert all(one.weight > 0 for one in segments)


def test_edges_are_near_their_quantiles_where_no_value_is_shared():
    values = spread()
    with world(values).open() as database:
        plan = database.plan_release(marginals=["income,sex"], epsilon=50, bins={"income": 4})
        made = database.release(plan)
    (bands,) = made.plan.bands
    below = [int((values < int(start)).sum()) for start in bands.starts]
    assert bands.found
    assert plan.missed["income"].about < plan.missed["income"].most < ROWS / 20
    wanted = [len(values) * i / 4 for i in (1, 2, 3)]
    assert np.abs(np.array(below) - wanted).max() <= plan.missed["income"].most


def test_on_even_rows_ranks_are_off_by_about_what_is_said():
    values, off = np.arange(20_000), []
    even = world(values, "epsilon = 10000", domain=number(0, 19_999))
    with even.open() as database:
        for number_ in range(30):  # a hair more each time, so that nothing is known before
            epsilon = Fraction(2) + Fraction(number_, 10**6)
            plan = database.plan_release(marginals=["income"], epsilon=epsilon, bins={"income": 8})
            bands = database.release(plan).plan.bands[0]
            off += [int(start) - 2500 * (i + 1) for i, start in enumerate(bands.starts)]
    about = plan.missed["income"].about
    deviation = float(np.sqrt(np.mean(np.square(off))))
    assert about / 3 < deviation < 1.5 * about


def test_a_value_that_most_rows_share_is_a_band_and_the_others_are_finer():
    values = np.concatenate([np.zeros(3000, int), spread()[:1000]])
    with world(values).open() as database:
        plan = database.plan_release(marginals=["income"], epsilon=100, bins={"income": 5})
        (bands,) = database.release(plan).plan.bands
    assert bands.labels[0] == "0"
    assert len(bands.labels) == 5


def test_bands_and_tables_cost_what_was_asked_for_and_the_ledger_has_every_level():
    with world(spread()).open() as database:
        plan = database.plan_release(marginals=["income,sex"], epsilon=2, bins={"income": 4})
        assert database.budget()["data"]["spent"] == "0"
        database.release(plan)
        assert database.budget()["data"]["spent"] == "2"
        losses = [use.loss.epsilon for _, use in database.account().uses()]
    assert losses == [Fraction(1, 25)] * levels_of(4) + [Fraction(9, 5)]


def test_a_rho_pays_for_both():
    with world(spread(), "rho = 1").open() as database:
        plan = database.plan_release(marginals=["income,sex"], rho=1, bins={"income": 4})
        made = database.release(plan)
        spent = Fraction(database.budget()["data"]["spent"])
    assert made.plan.spent == Loss.concentrated(Fraction(1))
    assert Fraction(999, 1000) < spent <= 1


def test_what_both_cost_is_refused_before_either_is_paid():
    with world(spread(), "epsilon = 1").open() as database:
        plan = database.plan_release(marginals=["income"], epsilon="1.01", bins={"income": 4})
        with pytest.raises(BudgetError, match="does not allow"):
            database.release(plan)
        assert database.budget()["data"]["spent"] == "0"


def test_a_release_that_ends_early_goes_on_for_what_is_left(monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    with world(spread(), "epsilon = 1").open() as database:
        plan = database.plan_release(marginals=["income,sex"], epsilon=1, bins={"income": 4})
        with monkeypatch.context() as broken:
            broken.setattr(releasing, "spend", stop)
            with pytest.raises(KeyboardInterrupt):
                database.release(plan)
        assert database.budget()["data"]["spent"] == "1/10"
        made = database.release(plan)  # all of the budget, and no more
        assert database.budget()["data"]["spent"] == "1"
        with pytest.raises(BudgetError):
            database.release(plan)
    assert made.plan.bands[0].found


def test_a_search_that_ends_early_goes_on_where_it_ended(monkeypatch):
    asked = []

    with world(spread(), "epsilon = 1").open() as database:
        plan = database.plan_release(marginals=["income"], epsilon=1, bins={"income": 4})
        halved = BandSearch.halved

        def third(self, rows):
            asked.append(self.left)
            if len(asked) == 3:
                raise KeyboardInterrupt
            return halved(self, rows)

        with monkeypatch.context() as broken:
            broken.setattr(BandSearch, "halved", third)
            with pytest.raises(KeyboardInterrupt):
                database.release(plan)
        database.release(plan)
        assert database.budget()["data"]["spent"] == "1"


def test_how_many_questions_there_are_rests_on_no_row():
    shapes = []
    for values in (np.zeros(50, int), spread(), np.full(50, 100_000)):
        with world(values).open() as database:
            plan = database.plan_release(ways=2, epsilon=1, bins={"income": 3})
            made = database.release(plan)
            uses = [use.loss for _, use in database.account().uses()]
            shapes.append((uses, plan.to_json(), [table.shape for table in made.tables.values()]))
    assert shapes[0] == shapes[1] == shapes[2]


def test_an_analyst_pays_and_finds_their_own():
    more = "[analysts.alice]\nepsilon = 1\n[analysts.bob]\nepsilon = 1\n"
    with world(spread(), more=more).open() as database:
        plan = database.plan_release(marginals=["income"], epsilon=1, bins={"income": 2})
        database.release(plan, analyst="alice")
        budget = database.budget()["analysts"]
        assert (budget["alice"]["spent"], budget["bob"]["spent"]) == ("1", "0")
        database.release(plan, analyst="bob")
        assert database.budget()["analysts"]["bob"]["spent"] == "1"


def test_tables_count_rows_between_the_edges():
    values = spread()
    with world(values).open() as database:
        plan = database.plan_release(marginals=["income"], epsilon=100, bins={"income": 6})
        made = database.release(plan)
    starts = [0, *map(int, made.plan.bands[0].starts), 100_001]
    true = np.histogram(values, starts)[0]
    assert np.abs(made.tables[0,] - true).max() <= made.margins[0,].max()


def test_beside_exact_releases_edges_must_be_said():
    with world(np.arange(100), domain=number(0, 100)).open() as database:
        database.add_prior("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex")
        with pytest.raises(QuestionError, match="exact releases are public"):
            database.plan_release(marginals=["income"], epsilon=1, bins={"income": 4})
        database.plan_release(marginals=["income"], epsilon=1, bins={"income": [50]})


@pytest.mark.parametrize(
    "privacy", ['neighbors = "bounded"\nepsilon = 9', 'neighbors = "attribute"\nepsilon = 9']
)
def test_other_neighbours_are_priced_as_questions_are(privacy):
    with world(spread(), privacy).open() as database:
        assert isinstance(database, PrivateDatabase)
        plan = database.plan_release(ways=2, epsilon=5, bins={"income": 3})
        database.release(plan)
        assert database.budget()["data"]["spent"] == "5"


@pytest.mark.parametrize("method", ["microdata", "fourier", "fourier-lp"])
@pytest.mark.parametrize("kind", ["epsilon", "rho"])
def test_the_noise_of_the_tables_is_that_of_what_they_cost(method, kind):
    """What finding bands takes of the loss, no table's noise may rest on."""
    with world(spread(), f"{kind} = 2").open() as database:
        plan = database.plan_release(
            marginals=["income,sex"], bins={"income": 4}, method=method, **{kind: 1}
        )
        made = releasing.release_mechanism(database._backend, plan, None)
    paid = events.loss(made.event)
    ours = method == "microdata"
    promised = made.plan.strategy.budget if ours else getattr(made.promise.loss, kind)
    assert getattr(paid, kind) == promised == Fraction(9, 10)


@pytest.mark.parametrize("most", ["", "\nmax_groups = 1\nmax_rows_per_group = 4"])
def test_rows_of_a_unit_are_priced_together(most):
    values, people = spread(), 'unit = "person"\nmax_rows = 4'
    own = World(
        {"income": values, "person": np.arange(len(values)) // 4},
        {"income": number(0, 100_000)},
        f"epsilon = 100\n{people}{most}",
    )
    with own.open() as database, world(values).open() as alone:
        bins = {"income": 4}
        plan = database.plan_release(marginals=["income"], epsilon=50, bins=bins)
        single = alone.plan_release(marginals=["income"], epsilon=50, bins=bins)
        made = database.release(plan)
        assert database.budget()["data"]["spent"] == "50"
    assert plan.missed["income"].about > 3 * single.missed["income"].about
    assert made.plan.bands[0].found
