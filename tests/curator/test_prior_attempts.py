"""Attempts to pay less than an answer tells after exact releases, and to get data for nothing.

The truth is computed here: the rows of the domain, what each adds to the releases (by plain
DuckDB, row by row), the Graver basis, and the noise that a plan really draws. Attempts that
succeed are marked; each says what is wrong.
"""

from __future__ import annotations

import csv
import itertools
import random
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

import adomnia
from adomnia.curator import spend as spending
from adomnia.curator.planning.plan import LossRequest, Plan
from adomnia.curator.planning.strategy import Derived
from adomnia.errors import AdomniaError, MachineryError, QuestionError
from adomnia.mechanisms.measurement_mechanisms import Measuring
from adomnia.mechanisms.tables.consistent import distances, unit
from adomnia.priors.solver.effort import Effort
from adomnia.priors.solver.induced_sensitivity import solve
from adomnia.priors.solver.lattice import graver
from adomnia.priors.solver.system import System
from adomnia.privacy.events import loss
from adomnia.queries.grouping import axes
from adomnia.queries.measurement import Counts, Measurement, Sum
from adomnia.queries.operations import evaluate

ONE = Fraction(1)


class Place:
    """A folder with one table, its policy, and its databases."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.opened: list[adomnia.Database] = []

    def write(self, name: str, rows: list[tuple[Any, ...]]) -> str:
        with open(self.folder / name, "w", newline="") as file:
            csv.writer(file).writerows(rows)
        return str(self.folder / name)

    def table(self, names: str, rows: list[tuple[Any, ...]]) -> None:
        self.write("t.csv", [tuple(names.split()), *rows])

    def open(self, attributes: dict[str, str], privacy: str = "epsilon = 100000"):
        parts = "\n".join(f"[attributes.{name}]\n{text}" for name, text in attributes.items())
        (self.folder / "adomnia.toml").write_text(
            '[data]\nsource = "t.csv"\ntable = "t"\n'
            f"[privacy]\nconfirmed = true\ndelta = 1e-6\n{privacy}\n{parts}\n"
        )
        self.opened.append(adomnia.open(self.folder / "adomnia.toml"))
        return self.opened[-1]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path)
    yield made
    for database in made.opened:
        database.close()


def count_by(*keys: str, where: str = "") -> str:
    shown = ", ".join([*keys, "COUNT(*) AS n"])
    return f"SELECT {shown} FROM t{where}" + (f" GROUP BY {', '.join(keys)}" if keys else "")


def digits(count: int) -> str:
    return f"values = {list(range(count))}"


def plan(database: adomnia.Database, sql: str, **offer: Fraction) -> Plan:
    return database.session()._plan(sql, LossRequest(**(offer or {"epsilon": ONE})))


def spent(database: adomnia.Database) -> Fraction:
    return database._backend.journal.account().total.epsilon


# The truth


def effects(measurement: Measurement, plan: Plan | None, rows: list[dict[str, Any]]) -> np.ndarray:
    """What each row of the domain adds to the components of counts or of a sum."""
    keys = () if plan is None else plan.question.keys
    where = None if plan is None else plan.question.where
    grid = list(itertools.product(*axes(keys)))
    parts = measurement.conditions if isinstance(measurement, Counts) else (measurement.argument,)
    found = np.zeros((len(grid) * len(parts), len(rows)), object)
    for column, row in enumerate(rows):
        if where is not None and evaluate(where, row) is not True:
            continue
        cell = grid.index(tuple(evaluate(key, row) for key in keys))
        for place, part in enumerate(parts):
            value = 1 if part is None else evaluate(part, row)
            found[cell * len(parts) + place, column] = int(value or 0)
    return found


def derived_of(step: Measuring) -> Derived | None:
    return getattr(step, "derived", None)


def losses(
    step: Measuring, plan: Plan, rows: list[dict[str, Any]], moves: np.ndarray
) -> list[Fraction]:
    """What the noise that this step draws tells between tables that differ by each move."""
    derived, noise = derived_of(step), step.noise
    assert noise is not None
    if derived is not None and derived.counts is not None:
        measured = effects(derived.counts, None, rows)
    else:
        measured = effects(step.measurement, plan, rows)
        measured = measured if derived is None else measured[list(derived.places or ())]
    groups = [(range(len(measured)), noise.parameter)]
    if derived is not None and derived.measured.basis is not None:
        share = noise.parameter / derived.bound
        groups += [(group, part * share) for group, part in derived.groups]
    found = []
    for move in moves.astype(object):
        apart = [abs(int(x)) for x in measured @ move]
        if noise.kind == "gaussian":
            found.append(sum(x * x for x in apart) / (2 * noise.parameter))
        else:
            found.append(max(Fraction(sum(apart[i] for i in g)) / s for g, s in groups))
    return found


def released(sql: str, keys: int, names: list[str], rows: list[tuple[Any, ...]]) -> np.ndarray:
    """The rows of the released matrix: the statement asked of tables with one row, by DuckDB."""
    columns = []
    with duckdb.connect() as engine:
        for row in rows:
            values = ", ".join("CAST(NULL AS INT)" if v is None else str(v) for v in row)
            engine.execute(f"CREATE OR REPLACE TABLE t AS SELECT * FROM (VALUES ({values})) "
                           f"v({', '.join(names)})")  # fmt: skip
            lines = engine.execute(sql).fetchall()
            columns.append(
                {(line[:keys], i): v for line in lines for i, v in enumerate(line[keys:])}
            )
    numbers = sorted({key for column in columns for key in column}, key=str)
    return np.array([[int(column.get(n) or 0) for column in columns] for n in numbers], int)


CONDITIONS = ("a = 0", "a > 0", "b = 1", "a + b = 2", "b IS NULL", "a * b > 0", "a % 2 = 0")
KEYS = ("a", "b", "a > 0", "CASE WHEN a = b THEN 1 ELSE 2 END", "a + b")
AMOUNTS = ("COUNT(*)", "COUNT(b)", "SUM(a)", "SUM(b)", "SUM(a - b)", "SUM(a * b)")


def statement(chance: random.Random) -> tuple[str, int]:
    keys = chance.sample(KEYS, chance.choice([0, 1, 1, 2]))
    amount = chance.choice(AMOUNTS)
    if chance.random() < 0.3:
        amount += f" FILTER (WHERE {chance.choice(CONDITIONS)})"
    where = f" WHERE {chance.choice(CONDITIONS)}" if chance.random() < 0.3 else ""
    shown = ", ".join([f"{key} AS k{i}" for i, key in enumerate(keys)] + [f"{amount} AS n"])
    grouped = f" GROUP BY {', '.join(keys)}" if keys else ""
    return f"SELECT {shown} FROM t{where}{grouped}", len(keys)


@pytest.mark.parametrize(
    "seed", [*range(8), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(8, 80))]
)
def test_no_random_question_costs_less_than_it_tells(place: Place, seed: int) -> None:
    chance = random.Random(seed)
    top = chance.choice([2, 3])
    domain = list(itertools.product(range(top), (-1, 1, *([None] if seed % 2 else []))))
    place.table("a b", chance.choices(domain, k=chance.choice([2, 6])))
    relation = chance.choice(["", 'neighbors = "bounded"'])
    nullable = "\nnullable = true" * (seed % 2)
    database = place.open(
        {"a": digits(top), "b": f"values = [-1, 1]{nullable}"}, f"epsilon = 100000\n{relation}"
    )
    rows = [dict(zip("ab", row, strict=True)) for row in domain]
    matrix = [np.ones((1, len(domain)), int)] if relation else []
    asked: list[tuple[str, Plan]] = []
    for turn in range(4):
        sql, keys = statement(chance)
        if turn in (1, 2):
            database.add_prior(sql, accept=True)
            matrix.append(released(sql, keys, ["a", "b"], domain).reshape(-1, len(domain)))
        sql, _ = statement(chance)
        offer = chance.choice([{"epsilon": ONE}, {"rho": ONE}])
        try:
            made = plan(database, sql, **offer)
            answer = database.session().ask(sql, **offer)
        except (AdomniaError, ValueError):
            continue  # already public, or hopeless, or no row can be in it
        if database._backend.journal.account().use(answer.receipt):  # else it was free
            asked.append((answer.receipt, made))
    moves = graver.basis(np.vstack(matrix), 20_000)
    account = database._backend.journal.account()
    for receipt, made in asked:
        steps = [s for s in made.steps if isinstance(s.measurement, Counts | Sum)]
        noisy = [step for step in steps if step.noise and step.noise.parameter]
        each = [losses(step, made, rows, moves) for step in noisy]
        paid = account.price(receipt)
        slack = 1 + Fraction(1, 10**30)  # a root was rounded to forty digits
        assert all(
            sum(parts) <= (paid.epsilon or paid.rho) * slack for parts in zip(*each, strict=True)
        )


def test_a_kept_plan_is_not_paid_after_a_new_release(place: Place) -> None:
    place.table("a b", [(i % 2, i % 3) for i in range(60)])
    database, other = (place.open({"a": digits(2), "b": digits(3)}) for _ in range(2))
    kept = database.plan_release(marginals=["a,b"], epsilon=1)
    other.add_prior(count_by("b"))
    with pytest.raises(MachineryError, match="more was released"):
        database.release(kept)
    assert spent(database) == 0
    assert plan(database, count_by("a", "b")).steps[0].sensitivity.l1 == 2  # and asks anew


def test_a_crash_before_the_answer_is_priced_too(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.table("a", [(i % 4,) for i in range(40)])
    database = place.open({"a": digits(4)})

    def fail(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(spending, "_released", fail)
    with pytest.raises(MachineryError):
        database.session().ask(count_by("a"), epsilon=1)
    database.add_prior("SELECT COUNT(*) AS n FROM t")
    assert spent(database) == 2


def test_what_the_policy_forgets_the_ledger_keeps(place: Place) -> None:
    place.table("a b", [(i % 2, i % 3) for i in range(60)])
    declared = f"{digits(3)}\n[[prior]]\nsql = {count_by('b')!r}"
    place.open({"a": digits(2), "b": declared}).close()
    database = place.open({"a": digits(2), "b": digits(3)})
    assert plan(database, count_by("a", "b")).steps[0].sensitivity.l1 == 2


def test_wrong_numbers_answer_from_themselves(place: Place) -> None:
    """One table agrees with the registered sum, and it is not the real one."""
    place.table("x", [(1,)] * 10 + [(2,)] * 35)
    database = place.open({"x": "values = [1, 2]"})
    database.add_prior("SELECT SUM(x) AS s FROM t", values=place.write("s.csv", [("s",), (1,)]))
    answer = database.session().ask(count_by("x"), epsilon=1)
    assert answer.rows == [(1, 1), (2, 0)]


@pytest.mark.parametrize("group", [1, 2])
def test_a_table_drawn_among_all_tells_no_more_than_it_costs(place: Place, group: int) -> None:
    place.table("a b", [(i % 2, i % 3) for i in range(4)])
    database = place.open({"a": digits(2), "b": digits(3)}, f"epsilon = 100\ngroup = {group}")
    database.add_prior("SELECT COUNT(*) AS n FROM t", values=place.write("n.csv", [("n",), (4,)]))
    planned = database.plan_release(marginals=["a,b"], epsilon=1, method="consistent")
    among = planned.among
    tables, moves = among.tables, among.moves
    apart = np.array([distances(table, tables, moves) for table in tables])
    law = np.exp(-apart / group / (2 * unit(moves)))
    law /= law.sum(axis=1, keepdims=True)

    def told(steps: np.ndarray) -> float:
        place = {tuple(table): i for i, table in enumerate(tables.tolist())}
        pairs = [(i, place.get(tuple(table + step))) for i, table in enumerate(tables)
                 for step in steps]  # fmt: skip
        return max(float(np.abs(np.log(law[i] / law[j])).max()) for i, j in pairs if j is not None)

    assert group * told(moves) <= 1
    database.release(planned)
    for name in "ab":
        database.add_prior(count_by(name), accept=True)
    places = np.array(among._places)
    margins = [places // 4 == i for i in range(2)] + [places % 4 == i for i in range(3)]
    assert group * told(graver.basis(np.array(margins, int), 100)) <= spent(database)


def test_a_hurried_solver_does_not_undercut() -> None:
    chance = np.random.default_rng(4)
    for _ in range(40):
        rows = chance.choice([0, 1, 1, -1, 2, 7], size=(2, 4))
        asked = chance.choice([0, 1, -1, 1 << 30], size=(2, 4))
        moves = graver.basis(rows, 20_000).astype(object)
        for norm in (1, 2):
            truth = max((int((abs(asked @ g) ** norm).sum()) for g in moves), default=0)
            assert solve(System.of(rows), asked, norm, effort=Effort(200_000)).upper >= truth


def test_rounded_numbers_need_not_be_given(place: Place) -> None:
    place.table("x", [(1,)])
    database = place.open({"x": "values = [1, 2]"})
    database.add_prior(count_by("x"), rounded=10)
    assert plan(database, count_by("x")).steps[0].sensitivity.l1 >= 1


# Attempts that succeed


def test_noise_with_groups_is_priced_anew_by_its_groups(place: Place) -> None:
    """Rows and columns of the table move by 2 at first and by 4 of 8 afterwards: twice 2, not 10/8.

    `measured` must keep the groups; the price is the greatest ratio of new to old bounds.
    """
    place.table("a b", [(i % 4, i % 5 % 4) for i in range(100)])
    database = place.open({"a": digits(4), "b": digits(4)})
    cells = [{"a": a, "b": b} for a in range(4) for b in range(4)]
    matrix = [[cell[name] == i for cell in cells] for name in "ab" for i in range(4)]
    for name in "ab":
        database.add_prior(count_by(name))
    made = plan(database, count_by("a", "b"))
    database.session().ask(count_by("a", "b"), epsilon=1)
    for b in range(4):
        other = (b + 1) % 4
        tied = f" WHERE (a = 0 AND b = {b}) OR (a = 1 AND b = {other})"
        database.add_prior(count_by(where=tied), accept=True)
        matrix.append([c in ({"a": 0, "b": b}, {"a": 1, "b": other}) for c in cells])
    moves = graver.basis(np.array(matrix, int), 20_000)
    assert max(losses(made.steps[0], made, cells, moves)) <= spent(database)


def test_wrong_numbers_do_not_open_the_data(place: Place) -> None:
    """The sum fixes all counts of x; the other release came without numbers; so x is read as is."""
    place.table("x y", [(1, 0)] * 10 + [(2, 1)] * 35)
    database = place.open({"x": "values = [1, 2]", "y": digits(2)})
    database.add_prior("SELECT SUM(x) AS s FROM t", values=place.write("s.csv", [("s",), (1,)]))
    database.add_prior(count_by(where=" WHERE y = 0"))
    step = plan(database, count_by("x")).steps[0]
    assert step.noise is not None
    assert step.noise.parameter > 0
    assert database.session().ask(count_by("x"), epsilon=1).spent == {"epsilon": 1}


def test_sums_in_open_groups_are_priced_anew(place: Place) -> None:
    """With a total public two rows move, so a sum of 0..100 changes by 200, not by 100."""
    place.table("name x sex", [("abc"[i % 3], i, i % 2) for i in range(60)])
    database = place.open({"name": 'kind = "text"', "x": "low = 0\nhigh = 100", "sex": digits(2)})
    sql = "SELECT name, SUM(x) AS s, COUNT(*) AS n FROM t GROUP BY name"
    database.session().ask(sql, epsilon=1, delta=1e-8)
    database.add_prior(count_by("sex"), accept=True)
    assert spent(database) >= 2


def test_a_large_constant_keeps_its_size(place: Place) -> None:
    place.table("sex x", [(i % 2, 5_000_000) for i in range(12)])
    database = place.open({"sex": digits(2), "x": "values = [5000000]"})
    database.add_prior(count_by())
    made = plan(database, "SELECT SUM(x) AS s FROM t WHERE sex = 0")
    assert made.steps[0].sensitivity.l1 >= 5_000_000


def test_a_sum_that_was_left_out_can_be_anything(place: Place) -> None:
    """Groups under five were left out; a sum of -6..6 there is no number from 0 to 4."""
    place.table("sex x", [(0, -6), (0, 5)] + [(1, 2)] * 5)
    database = place.open({"sex": digits(2), "x": "low = -6\nhigh = 6"})
    numbers = place.write("s.csv", [("sex", "n", "s"), (1, 5, 10)])
    sql = "SELECT sex, COUNT(*) AS n, SUM(x) AS s FROM t GROUP BY sex"
    database.add_prior(sql, values=numbers, below=5)
    made = plan(database, "SELECT SUM(x) AS s FROM t WHERE sex = 0")
    assert made.steps[0].sensitivity.l1 >= 6


def test_a_line_that_rounds_to_nothing_may_be_left_out(place: Place) -> None:
    place.table("a b", [(i % 2, i % 3) for i in range(60)])
    database = place.open({"a": digits(2), "b": digits(3)})
    numbers = place.write("b.csv", [("b", "n"), (0, 0), (1, 0)])
    database.add_prior(count_by("b"), values=numbers, rounded=50)
    assert plan(database, count_by("a", where=" WHERE b = 2")).steps[0].sensitivity.l1 >= 1


@pytest.mark.parametrize(
    "sql", ["SELECT SUM(x) / COUNT(*) AS m FROM t", "SELECT COUNT(*) AS n FROM t GROUP BY x"]
)
def test_only_what_was_shown_is_registered(place: Place, sql: str) -> None:
    """With the average alone public two rows (0, 10), (2, 10) may come: the sum of z moves by 20.

    With sum and count public it moves by 18. Counts without their keys say less, too.
    """
    place.table("x z", [(i % 3, i % 10 + 1) for i in range(30)])
    database = place.open({"x": digits(3), "z": "low = 1\nhigh = 10"})
    with pytest.raises(QuestionError):
        database.add_prior(sql)


def test_the_groups_of_an_answer_are_public_too(place: Place) -> None:
    """Whether a group has rows is public, so in a town of two groups nobody can leave one."""
    place.table("c s z", [(0, 0, 0), (1, 1, 0)])
    database = place.open({"c": digits(2), "s": digits(2), "z": digits(2)})
    database.add_prior(count_by(), values=place.write("n.csv", [("n",), (2,)]))
    numbers = place.write("z.csv", [("c", "n"), (0, 0), (1, 0)])
    sql = "SELECT c, COUNT(*) FILTER (WHERE z = 1) AS n FROM t GROUP BY c"
    database.add_prior(sql, values=numbers)
    known = database._backend.public()[1]
    assert any(row[-1] == (1, 1 << 57) for p in known.published for row in p.values or ())
    assert plan(database, count_by("c", "s")).steps[0].sensitivity.l1 >= 2


def test_a_grown_domain_does_not_move_what_was_measured(place: Place) -> None:
    """The row a = 0 was measured; with a new first value its numbers are those of a = 2."""
    place.table("a b", [(i % 2, i % 3) for i in range(60)])
    database = place.open({"a": digits(2), "b": digits(3)})
    numbers = place.write("b.csv", [("b", "n"), (0, 20), (1, 20), (2, 20)])
    database.add_prior(count_by("b"), values=numbers)
    database.session().ask(count_by("a", "b"), epsilon=1)
    database = place.open({"a": "values = [2, 0, 1]", "b": digits(3)})
    empty = place.write("a.csv", [("n",), (0,)])
    database.add_prior(count_by(where=" WHERE a = 2"), values=empty, accept=True)
    for pair in ("(0, 1)", "(1, 2)"):  # now the three cells of a = 0 move at once
        database.add_prior(count_by(where=f" WHERE a = 0 AND b IN {pair}"), accept=True)
    assert spent(database) >= 3


def test_a_stronger_promise_costs_more(place: Place) -> None:
    """Answers for groups of one person cost more once the policy promises more than that."""
    place.table("a b c", [(i % 3, i % 2, i % 2) for i in range(60)])
    attributes = {"a": digits(3), "b": digits(2), "c": digits(2)}
    database = place.open(attributes, "epsilon = 100\nmax_group = 1")
    for name in "abc":
        database.add_prior(count_by(name))
    database.session().ask(count_by("a", "b", "c"), epsilon=1)
    assert spent(place.open(attributes, "epsilon = 100")) >= 4


def test_attributes_that_need_no_protection_are_public(place: Place) -> None:
    """`release` shows the histogram of a exactly; with that of b public a cell moves 4, not 2."""
    place.table("a b", [(i % 2, i % 3) for i in range(60)])
    null = "\nother = 1\nnullable = true"
    attributes = {"a": f"{digits(2)}{null}\nsensitive = false", "b": digits(3) + null}
    database = place.open(attributes, 'epsilon = 100\nneighbors = "bounded"')
    try:
        planned = database.plan_release(marginals=["a", "a,b"], epsilon=1, method="fourier")
        assert database.release(planned).tables[0,].tolist() == [30, 30, 0]
        database.add_prior(count_by("b"))
    except AdomniaError:
        return  # to refuse is right as well
    assert plan(database, count_by("a", "b")).steps[0].sensitivity.l1 >= 4


def test_a_column_that_nobody_declared_may_be_null(place: Place) -> None:
    """A row without a name in b = 1 becomes one with a name in b = 0: both counts change."""
    place.table("name b", [("x" if i % 3 else "", i % 2) for i in range(30)])
    database = place.open({"b": digits(2)}, "epsilon = 100\nmax_group = 5")
    database.add_prior(count_by())
    nameless, ones = (f"COUNT(*) FILTER (WHERE {test})" for test in ("name IS NULL", "b = 1"))
    made = plan(database, f"SELECT {nameless} AS m, {ones} AS n FROM t")
    assert derived_of(made.steps[0]) is None
    assert made.steps[0].sensitivity.l1 >= 2


def test_an_answer_costs_what_was_offered(place: Place) -> None:
    place.table("x y", [(1, 0)])
    database = place.open({"x": "values = [1, 2]", "y": digits(2)})
    database.add_prior("SELECT SUM(x) AS s FROM t", values=place.write("s.csv", [("s",), (1,)]))
    database.add_prior(count_by(where=" WHERE y = 0"))
    made = plan(database, "SELECT AVG(x) AS a, AVG(x * x) AS b FROM t")
    assert loss(made.event).epsilon <= 1


# Refusals that are crashes


def test_a_determined_quantile_is_refused(place: Place) -> None:
    place.table("x", [(1,)])
    database = place.open({"x": "values = [1, 2]"})
    database.add_prior(count_by(), values=place.write("n.csv", [("n",), (0,)]))
    with pytest.raises(QuestionError):
        plan(database, "SELECT MEDIAN(x) AS m FROM t")


def test_a_question_that_no_row_can_meet_is_refused(place: Place) -> None:
    place.table("x", [(1,)])
    database = place.open({"x": "values = [1, 2]"})
    database.add_prior(count_by("x"))
    with pytest.raises(QuestionError, match="already public"):
        plan(database, count_by(where=" WHERE x IS NULL"))


def test_a_determined_table_is_refused(place: Place) -> None:
    place.table("x", [(1,)])
    database = place.open({"x": "values = [1, 2]"})
    database.add_prior(count_by("x"), values=place.write("x.csv", [("x", "n"), (1, 1)]))
    with pytest.raises(QuestionError):
        database.plan_release(marginals=["x"], epsilon=1)
