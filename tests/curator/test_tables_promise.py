"""What several tables promise, as the ledger keeps it, and what another promise then costs."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from adomnia.curator.database import open_database
from adomnia.errors import BudgetError, QuestionError
from adomnia.policy.policy import read_policy
from adomnia.policy.promise import Promise
from adomnia.testing import World, listed
from tests.clinic import JOINED, PER_PATIENT, PRIVACY, TABLES, write_clinic

CALLS = '[tables.calls]\nsource = "visits.csv"\nreferences = { patient = "patients" }\n'
BOUND = "visits = 4, diagnoses = 8"


def promise(folder: Path, old: str = "", new: str = "", tables: str = TABLES) -> Promise:
    text = (tables + PRIVACY).replace(old, new) if old else tables + PRIVACY
    (file := folder / "adomnia.toml").write_text(text, "utf-8")
    return Promise.of(read_policy(file))


def test_a_promise_comes_back_from_the_ledger_as_it_was(tmp_path):
    told = promise(tmp_path)
    assert told.to_json()["owners"]["tables"]["visits"] == {
        "key": "id",
        "references": {"patient": "patients"},
    }
    again = Promise.from_json(told.to_json())
    assert (again, again.digest) == (told, told.digest)


def test_one_table_has_the_record_that_it_had():
    with World({"a": list("xy")}, {"a": listed("x", "y")}).open() as database:
        record = Promise.of(database.policy).to_json()
    assert record.keys() == {"digest", "neighbors", "unit", "public"}
    assert record["digest"] == "4ab026823f230509a7de3e329ca008f4"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("visits = 4", "visits = 5"),
        ("visits = 4", 'visits = "auto"'),
        ('key = "id"\nreferences', 'key = "no"\nreferences'),
        ('{ patient = "patients" }', '{ person = "patients" }'),
        ('{ visit = "visits" }', '{ patient = "patients" }'),
        ('unit = "patients"', 'unit = "patients"\ngroup = 2'),
        ('high = 99\n', 'high = 99\nnullable = true\n'),
        ('high = 99\n', 'high = 99\nsensitive = false\n'),
    ],
)  # fmt: skip
def test_whatever_decides_it_is_in_the_digest(tmp_path, old, new):
    assert promise(tmp_path).digest != promise(tmp_path, old, new).digest


def test_the_order_of_the_file_is_not(tmp_path):
    first, second, third = TABLES.partition("[tables.diagnoses]")
    assert promise(tmp_path).digest == promise(tmp_path, tables=second + third + first).digest


def test_steps_are_none_where_rows_belong_to_others(tmp_path):
    told = promise(tmp_path)
    another_key = promise(tmp_path, 'key = "id"\nref', 'key = "no"\nref')
    another_way = promise(tmp_path, '{ visit = "visits" }', '{ visit = "patients" }')
    alone = TABLES[TABLES.index("[tables.visits]") :].replace('{ patient = "patients" }', "{}")
    another_unit = promise(tmp_path, 'unit = "patients"', 'unit = "visits"', alone)
    for other in (another_key, another_way, another_unit):
        assert told.steps(other) is None
        assert other.steps(told) is None


def test_steps_are_none_between_one_table_and_several(tmp_path):
    told = promise(tmp_path)
    for unit in (None, "patients"):
        single = Promise(told.neighbors, unit)
        assert (told.steps(single), single.steps(told)) == (None, None)


def test_steps_are_counted_where_rows_belong_to_the_same(tmp_path):
    told = promise(tmp_path)
    wider = promise(tmp_path, BOUND, "visits = 400, diagnoses = 8")
    in_pairs = promise(tmp_path, "epsilon = 1000", "epsilon = 1000\ngroup = 2")
    replaced = promise(tmp_path, "epsilon = 1000", 'epsilon = 1000\nneighbors = "bounded"')
    assert [told.steps(other) for other in (told, wider, in_pairs, replaced)] == [1, 1, 2, 2]


def test_a_further_table_changes_nothing_for_those_before_it(tmp_path):
    told = promise(tmp_path)
    more = promise(tmp_path, BOUND, f"{BOUND}, calls = 3", TABLES + CALLS)
    assert (told.steps(more), more.steps(told)) == (1, None)


def spent(folder: Path, accept: bool = False) -> Fraction:
    with open_database(folder / "adomnia.toml", accept=accept) as database:
        return database.account().total.epsilon


@pytest.mark.parametrize("sql", [JOINED, PER_PATIENT])
def test_a_larger_group_costs_as_many_times_more(tmp_path, sql):
    file = write_clinic(tmp_path)
    with open_database(file) as database:
        database.session().ask(sql, epsilon=1)
    file.write_text(file.read_text().replace("epsilon = 1000", "epsilon = 1000\ngroup = 10"))
    assert spent(tmp_path) == 10


def test_rows_computed_for_a_unit_of_one_table_cost_as_many_times_more(tmp_path):
    world = World(
        {"who": list("aabbc"), "sex": list("FFMMF")},
        {"sex": listed("F", "M")},
        'epsilon = 100\nunit = "who"\nmax_rows = 3',
    )
    file = world.write(tmp_path)
    sql = "SELECT COUNT(*) AS n FROM (SELECT who, COUNT(*) AS k FROM people GROUP BY who) t"
    with open_database(file) as database:
        database.session().ask(sql, epsilon=1)
    file.write_text(file.read_text().replace("epsilon = 100", "epsilon = 100\ngroup = 4"))
    assert spent(tmp_path) == 4


def test_other_bounds_cost_the_same(tmp_path):
    file = write_clinic(tmp_path)
    with open_database(file) as database:
        database.session().ask(JOINED, epsilon=1)
    file.write_text(file.read_text().replace("visits = 4", "visits = 2"))
    assert spent(tmp_path) == 1


def test_other_owners_are_refused_unless_they_are_accepted(tmp_path):
    file = write_clinic(tmp_path)
    with open_database(file) as database:
        database.session().ask(JOINED, epsilon=1)
    text = file.read_text().replace('{ visit = "visits" }', '{ visit = "patients" }')
    file.write_text(text)
    with pytest.raises(BudgetError, match="promises now"):
        open_database(file)
    assert spent(tmp_path, accept=True) > 1000


def test_rows_are_not_derived_beside_exact_releases(tmp_path):
    world = World(
        {"who": list("abcde"), "sex": list("FFMMF")},
        {"sex": listed("F", "M")},
        'epsilon = 100\nunit = "who"\nmax_rows = 1',
    )
    by_sex = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
    derived = "SELECT COUNT(*) AS n FROM people a JOIN people b ON a.who = b.who"
    with open_database(world.write(tmp_path)) as database:
        (values := tmp_path / "released.csv").write_text("sex,n\nF,3\nM,2\n")
        with pytest.raises(QuestionError, match="joined rows"):
            database.add_prior(derived)
        database.add_prior(by_sex, values=values)
        assert database.session().plan(by_sex, epsilon=1).margins == {"n": 0}
        with pytest.raises(QuestionError, match="released exactly"):
            database.session().ask(derived, epsilon=1)
        assert database.budget()["data"]["spent"] == "0"
