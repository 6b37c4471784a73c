"""Attempts to be answered under a weak promise and to keep the price under a stronger one."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import cache

import pytest
from town import Town

import adomnia
from adomnia.curator.releases.release import publish
from adomnia.curator.releases.release_plan import ReleaseSpec, plan_release
from adomnia.errors import BudgetError, LedgerError, MachineryError
from adomnia.ledger import reserve as ledger
from adomnia.ledger.entry import Record
from adomnia.policy.promise import Promise
from adomnia.privacy.events import Laplace
from adomnia.privacy.loss import Loss
from adomnia.privacy.neighbors import Neighbors

RICH = "epsilon = 1000000000\ndelta = 0.99"
COUNT = "SELECT COUNT(*) AS n FROM people"
BY_CITY = "SELECT city, COUNT(*), AVG(age) FROM people GROUP BY city"
USES = {
    "count": lambda a: a.ask(COUNT + " WHERE age < 30", 1),
    "rho": lambda a: a.ask("SELECT sex, SUM(age) FROM people GROUP BY sex", rho="1/2"),
    "median": lambda a: a.ask("SELECT MEDIAN(age), QUANTILE(age, 0.9) FROM people", 1),
    "smooth": lambda a: a.ask("SELECT QUANTILE(age, 0.9) FROM people", 1, error="value"),
    "mode": lambda a: a.ask("SELECT sex, MODE(region) FROM people GROUP BY sex", 1),
    "distinct": lambda a: a.ask("SELECT sex, COUNT(DISTINCT person_id) FROM people GROUP BY 1", 1),
    "noisy max": lambda a: a.noisy_max(["age < 30", "age >= 30"], 1),
    "above": lambda a: a.above(5, ["age < 30"], 1),
    "auction": lambda a: a.auction("income", [5, 6], 1),
    "open": lambda a: a.ask(BY_CITY, 1, delta="1e-30"),
    "nothing": lambda a: a.ask("SELECT DISTINCT sex FROM people"),
}
RELATIONS = {
    "unbounded": "",
    "bounded": 'neighbors = "bounded"',
    "attribute": 'neighbors = "attribute"',
    "bit": 'neighbors = "bit"',
    "group": "group = 3",
    "unit": 'unit = "person_id"\nmax_rows = 4\nmax_groups = 2\nmax_rows_per_group = 1',
    "free lunch": 'neighbors = "free-lunch"\nmost = 1000',
}


def use_all(database: adomnia.Database, *but: str) -> None:
    """Every kind of use, as far as the policy has it."""
    analyst = database.session()
    lunch = database.policy.neighbors.most is not None
    for name, use in USES.items():
        if name not in but and not (lunch and name in ("open", "release")):
            use(analyst)


def release(analyst) -> None:
    """A table by two attributes, of at most `max_rows` rows of a unit, whatever its groups."""
    order = ReleaseSpec(Loss.concentrated(Fraction(1, 2)), marginals=(("sex", "region"),))
    publish(analyst._backend, plan_release(analyst._backend, order), analyst._payer())


USES["release"] = release


def total(database: adomnia.Database):
    return database._backend.journal.account().total


def priced_anew(database: adomnia.Database) -> list[dict]:
    return [entry.head for entry in database.ledger() if entry.kind == "prior"]


@pytest.mark.parametrize("privacy", RELATIONS.values(), ids=RELATIONS.keys())
def test_the_same_promise_costs_the_same(town: Town, privacy: str) -> None:
    """Nothing is priced anew where a policy promises what it did, however often it is opened."""
    old = town.open(f"{RICH}\n{privacy}")
    use_all(old)
    before, entries = total(old), len(old.ledger())
    assert all(use.promise is not None for _, use in old._backend.journal.account().uses())
    old.close()
    again = town.open(f"{RICH}\n{privacy}")
    assert priced_anew(again) == []
    assert total(again) == before
    assert (again._backend.public()[0], again.priors().releases) == (0, ())
    assert len(again.ledger()) == entries


@pytest.mark.parametrize("use", sorted(USES.keys() - {"nothing"}))
@pytest.mark.parametrize("privacy", ["", 'neighbors = "bounded"', RELATIONS["unit"]])
def test_a_larger_group_costs_as_many_times_more(town: Town, use: str, privacy: str) -> None:
    database = town.open(f"{RICH}\n{privacy}")
    USES[use](database.session())
    before = total(database)
    database.close()
    after = total(town.open(f"{RICH}\n{privacy}\ngroup = 10"))
    least = 2 if use == "distinct" else 10  # there are no more than two values to lose
    assert after.epsilon >= least * before.epsilon
    assert after.rho >= 100 * before.rho
    assert after.delta >= 10 * before.delta


def test_what_cannot_be_bounded_any_more_is_refused_unless_it_is_accepted(town: Town) -> None:
    """Nobody limited the rows of a person, and the number of rows was told as it is."""
    analyst = town.open("epsilon = 100").session()
    analyst.ask(COUNT + " WHERE age < 30", "1/1000000")
    with pytest.raises(BudgetError, match="promises now"):
        town.open('epsilon = 100\nunit = "person_id"\nmax_rows = 1')
    database = adomnia.open(town.folder / "adomnia.toml", accept=True)
    assert priced_anew(database)[-1]["accepted"]
    assert total(database).epsilon > 100
    database.close()


def test_the_number_of_rows_is_not_free_where_it_was_public_once(town: Town) -> None:
    told = town.open('epsilon = 100\nneighbors = "bounded"').session().ask(COUNT, 1)
    assert (told.rows, told.spent["epsilon"]) == ([(1000,)], 0)
    for weaker in ("attribute", "bit"):
        assert total(town.open(f'epsilon = 100\nneighbors = "{weaker}"')).epsilon == 0
    with pytest.raises(BudgetError):
        town.open("epsilon = 100")


def test_a_release_whose_rows_may_leave_its_tables_tells_no_total(town: Town) -> None:
    """Where a row may be impossible, a changed row goes and comes: the total is noisy as well."""
    more = "[[impossible]]\nwhen = \"sex = 'M' AND region = 1\"\n"
    database = town.open(f'{RICH}\nneighbors = "bounded"', more)
    release(database.session())
    (use,) = (entry.body["use"] for entry in database.ledger() if entry.kind == "reserved")
    assert "as many rows among neighbours" not in use["premises"]
    before = total(database).rho
    assert total(town.open(RICH, more)).rho == before


def test_other_bounds_of_the_same_unit_cost_no_more(town: Town) -> None:
    """What was read was bounded then; a person is still one step."""
    unit = 'unit = "person_id"\nmax_rows = {}'
    database = town.open(f"{RICH}\n{unit.format(4)}")
    use_all(database)
    before = total(database)
    for rows in (1, 9):
        assert total(town.open(f"{RICH}\n{unit.format(rows)}")) == before
    rows = town.open(RICH)  # a row that comes is its unit gone, and come again
    assert total(rows).epsilon >= 2 * before.epsilon


def test_who_still_has_the_old_policy_asks_no_more(town: Town) -> None:
    old = town.open(RICH).session()
    old.ask(COUNT, 1)
    new = town.open(f"{RICH}\ngroup = 2")
    with pytest.raises(MachineryError, match="promises something else"):
        old.ask(COUNT, 5)
    with pytest.raises(MachineryError, match="promises something else"):
        old.noisy_max(["age < 30"], 1)
    assert total(new).epsilon == 2
    new.session().ask(COUNT, 5)


def test_many_open_at_once_and_it_is_priced_once(town: Town) -> None:
    use_all(town.open(RICH))
    file = town.write(f"{RICH}\ngroup = 2")
    with ThreadPoolExecutor(4) as pool:
        opened = list(pool.map(lambda _: adomnia.open(file), range(4)))
    totals = {total(database) for database in opened}
    assert len(totals) == 1
    assert len(priced_anew(opened[0])) == 1
    for database in opened:
        database.close()


def test_a_promise_of_another_version_is_refused(town: Town, monkeypatch) -> None:
    database = town.open(RICH)
    strange = {**database._backend.knowledge.promise, "neighbors": {"relation": "quantum"}}
    event, use = Laplace(Fraction(1), Fraction(1)), {"parts": [], "premises": []}
    booking = ledger.Reservation("x", None, None, COUNT, event, use=use)
    kept = ledger._record
    monkeypatch.setattr(
        ledger,
        "_record",
        lambda *said: Record(
            "reserved",
            {**kept(*said).head, "promise": "another"},
            {**kept(*said).body, "promise": strange},
        ),
    )
    ledger.reserve(database._backend.journal, booking, ledger.Budgets(database.policy.budget))
    with pytest.raises(LedgerError, match="does not know"):
        town.open(f"{RICH}\ngroup = 2")


# Steps of one promise, counted in steps of another

Rows = tuple[tuple[int, int, int], ...]
KINDS = list(itertools.product((1, 2), (0, 1), (0, 1)))
MOST = 2
TABLES: list[Rows] = [
    rows for n in range(MOST + 1) for rows in itertools.combinations_with_replacement(KINDS, n)
]


@cache
def near(rows: Rows, promise: Promise) -> frozenset[Rows]:
    """All tables one single step away."""
    return frozenset(neighbours(rows, promise))


def neighbours(rows: Rows, promise: Promise) -> Iterator[Rows]:
    relation = promise.neighbors.relation
    if relation == "free-lunch":
        yield from TABLES
    elif promise.unit is not None:
        for other, unit in itertools.product(TABLES, (1, 2)):
            rest, own = rest_of(rows, unit), rest_of(other, unit)
            comes_or_goes = rest == rows or own == other
            if rest == own and (relation == "bounded" or comes_or_goes):
                yield other
    elif relation == "unbounded":
        for other in TABLES:
            longer, shorter = max(rows, other, key=len), min(rows, other, key=len)
            if any(longer[:i] + longer[i + 1 :] == shorter for i in range(len(longer))):
                yield other
    else:
        for i, row in itertools.product(range(len(rows)), KINDS):
            changed = sum(a != b for a, b in zip(rows[i], row, strict=True))
            if changed <= (1 if relation == "attribute" else 3):
                yield tuple(sorted((*rows[:i], row, *rows[i + 1 :])))


def rest_of(rows: Rows, unit: int) -> Rows:
    return tuple(row for row in rows if row[0] != unit)


def reached(start: Rows, promise: Promise, steps: int) -> set[Rows]:
    found = {start}
    for _ in range(steps):
        found |= {other for rows in found for other in near(rows, promise)}
    return found


PROMISES = [
    *(Promise(Neighbors(name, group=g)) for name in ("unbounded", "bounded", "attribute")
      for g in (1, 2)),
    *(Promise(Neighbors(name, 2, g), "who") for name in ("unbounded", "bounded") for g in (1, 2)),
    Promise(Neighbors("free-lunch", most=MOST)),
]  # fmt: skip


@pytest.mark.parametrize("then", PROMISES, ids=repr)
def test_so_many_steps_lead_as_far(then: Promise) -> None:
    """All tables of up to two rows: what is near now was within so many steps then."""
    size = 1 if then.neighbors.most else then.neighbors.group
    for now in PROMISES:
        steps = then.steps(now)
        if steps is None:
            continue
        for rows in TABLES:
            group = 1 if now.neighbors.most else now.neighbors.group
            assert reached(rows, now, group) <= reached(rows, then, steps * size), now
    assert then.steps(then) == 1
