"""Rows that are derived of several tables: what is asked is answered, and a unit's rows are its own
(`rows.md`)."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from adomnia.errors import QuestionError
from adomnia.mechanisms.joins.pair_sources import pair_source
from adomnia.mechanisms.joins.water_filling import water_filling
from adomnia.queries.derived_table import derived_table
from adomnia.queries.expression import Column
from adomnia.queries.operations import call, constant
from adomnia.queries.ranges import Number, Text
from adomnia.queries.rows import Filtered, Joined, PerUnit, Scan, Total
from adomnia.queries.sql.bind import bind
from tests.hospital import SHARED, Hospital, admitted, hospital, without

NUMBER = "SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient"
EVERYBODY = (
    "SELECT p.id, COUNT(v.id) AS n FROM patients p LEFT JOIN visits v ON v.patient = p.id "
    "GROUP BY p.id"
)
STATEMENTS = [
    "SELECT COUNT(*) FROM visits",
    "SELECT COUNT(*) FROM visits v JOIN patients p ON v.patient = p.id WHERE p.sex = 'F'",
    "SELECT p.sex, COUNT(*) FROM patients p JOIN visits v ON p.id = v.patient GROUP BY p.sex",
    "SELECT SUM(cost) FROM visits v, patients p WHERE v.patient = p.id AND p.age > 30",
    "SELECT SUM(cost) FROM visits v CROSS JOIN patients p WHERE p.id = v.patient AND ward = 'a'",
    "SELECT d.code, COUNT(*) FROM diagnoses d JOIN visits v ON d.visit = v.id JOIN patients p "
    "ON p.id = v.patient WHERE p.sex = 'M' GROUP BY d.code",
    "SELECT COUNT(*) FROM visits v JOIN diagnoses d ON d.visit = v.id AND v.ward = 'a'",
    "SELECT COUNT(*) FROM patients p JOIN visits v ON v.patient = p.id RIGHT JOIN diagnoses d "
    "ON d.visit = v.id",
    "SELECT COUNT(*) FROM visits a JOIN visits b ON a.patient = b.patient",
    "SELECT COUNT(*) FROM visits a JOIN visits b USING (patient) WHERE a.cost < b.cost",
    "SELECT COUNT(*) FROM visits a JOIN visits b ON a.patient = b.patient AND a.ward = b.ward",
    "SELECT COUNT(*) FROM visits a JOIN visits b ON a.id = b.id",
    "SELECT COUNT(DISTINCT v.patient) FROM visits v",
    "SELECT COUNT(DISTINCT p.id) FROM patients p LEFT JOIN visits v ON v.patient = p.id",
    "SELECT COUNT(DISTINCT v.patient) FROM patients p LEFT JOIN visits v ON v.patient = p.id",
    "SELECT COUNT(*) FROM patients p LEFT JOIN visits v ON v.patient = p.id",
    "SELECT COUNT(*) FROM patients p LEFT JOIN visits v ON v.patient = p.id AND v.cost > 50",
    "SELECT COUNT(*) FROM patients p LEFT JOIN visits v ON v.patient = p.id WHERE v.id IS NULL",
    "SELECT COUNT(*) FROM patients p LEFT JOIN visits v ON v.patient = p.id "
    "WHERE v.patient IS NULL",
    "SELECT COUNT(*) FROM visits v LEFT JOIN diagnoses d ON d.visit = v.id WHERE d.code IS NULL",
    f"SELECT SUM(n) FROM ({NUMBER}) t",
    f"SELECT COUNT(*) FROM ({NUMBER}) t WHERE n > 1",
    f"SELECT SUM(n) FROM ({EVERYBODY}) t",
    f"SELECT n, COUNT(*) FROM ({EVERYBODY}) t GROUP BY n",
    f"SELECT CASE WHEN n > 1 THEN 'often' ELSE 'seldom' END AS k, COUNT(*) FROM ({NUMBER}) t "
    "GROUP BY k",
    "SELECT SUM(m) FROM (SELECT patient, MAX(cost) AS m FROM visits GROUP BY patient) t",
    "SELECT SUM(m) FROM (SELECT patient, MIN(cost) AS m FROM visits GROUP BY 1) t",
    "SELECT SUM(m) FROM (SELECT patient, SUM(cost) + 1 AS m FROM visits GROUP BY patient "
    "HAVING COUNT(*) > 1) t",
    "SELECT SUM(m) FROM (SELECT patient, COUNT(DISTINCT ward) AS m FROM visits GROUP BY patient) t",
    "SELECT SUM(m) FROM (SELECT patient, COUNT(*) FILTER (WHERE cost > 50) AS m FROM visits "
    "GROUP BY patient) t",
    "SELECT SUM(m) FROM (SELECT patient, ARG_MAX(cost, id) AS m FROM visits GROUP BY patient) t",
    "SELECT COUNT(*) FROM (SELECT patient, BOOL_OR(cost > 50) AS m FROM visits GROUP BY patient) t "
    "WHERE m",
    "SELECT COUNT(*) FROM patients p WHERE EXISTS (SELECT 1 FROM visits v WHERE v.patient = p.id "
    "AND v.cost > 50)",
    "SELECT COUNT(*) FROM patients p WHERE NOT EXISTS (SELECT 1 FROM visits v WHERE "
    "v.patient = p.id AND v.cost > 50) AND p.sex = 'F'",
    "SELECT COUNT(*) FROM patients WHERE id IN (SELECT patient FROM visits WHERE ward = 'a') "
    "OR age > 80",
    "SELECT COUNT(*) FROM patients WHERE id NOT IN (SELECT patient FROM visits WHERE ward = 'a')",
    "SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM diagnoses d WHERE d.visit = v.id "
    "AND d.code = 'x')",
    "SELECT COUNT(*) FROM visits v WHERE v.id IN (SELECT visit FROM diagnoses)",
    "SELECT COUNT(*) FROM patients p WHERE (SELECT COUNT(*) FROM visits v "
    "WHERE v.patient = p.id) >= 2",
    "SELECT SUM(n) FROM (SELECT visit, COUNT(*) AS n FROM diagnoses GROUP BY visit) t",
    "SELECT SUM(m) FROM (SELECT patient, MAX(n) AS m FROM (SELECT v.patient, v.id, COUNT(d.visit) "
    "AS n FROM visits v LEFT JOIN diagnoses d ON d.visit = v.id GROUP BY v.patient, v.id) a "
    "GROUP BY patient) b",
    "WITH big AS (SELECT * FROM visits WHERE cost > 20) SELECT COUNT(*) FROM big x JOIN big y "
    "USING (patient)",
    "SELECT COUNT(*) FROM (SELECT patient, ARG_MIN(id, id) AS f FROM visits GROUP BY patient) t "
    "WHERE f LIKE '%1'",
    "SELECT COUNT(*) FROM (SELECT DISTINCT patient, ward FROM visits) t",
    "SELECT COUNT(*) FROM (SELECT p.id, p.sex, COUNT(*) AS n FROM patients p JOIN visits v ON "
    "v.patient = p.id GROUP BY p.id, p.sex) t WHERE sex = 'F'",
    "SELECT COUNT(*) FROM (SELECT id FROM patients EXCEPT SELECT patient FROM visits "
    "WHERE ward = 'a') t",
    "SELECT COUNT(*) FROM (SELECT patient, ward FROM visits UNION SELECT patient, ward FROM visits "
    "WHERE cost > 30) t",
    "SELECT SUM(cost) FROM (SELECT patient, cost FROM visits WHERE ward = 'a' UNION ALL "
    "SELECT id, age FROM patients) t",
    "SELECT ward, COUNT(*) FROM (SELECT patient, ward, cost FROM visits WHERE cost >= 0 EXCEPT "
    "SELECT patient, ward, 30 FROM visits WHERE ward <> 'b') t GROUP BY ward",
    "SELECT COUNT(*) FROM (SELECT patient, ward FROM visits WHERE cost < 60 INTERSECT "
    "SELECT patient, ward FROM visits WHERE cost >= 0) t",
    "SELECT COUNT(*) FROM (SELECT visit, code FROM diagnoses INTERSECT "
    "SELECT d.visit, 'x' FROM diagnoses d) t",
    "SELECT SUM(k) FROM (SELECT id, age AS k FROM patients UNION SELECT patient, cost FROM visits "
    "EXCEPT SELECT id, 30 FROM patients) t",
    "SELECT COUNT(*) FROM patients p JOIN (SELECT patient FROM visits WHERE ward = 'a' INTERSECT "
    "SELECT patient FROM visits WHERE ward = 'b') t ON t.patient = p.id",
    "SELECT COUNT(*) FROM patients WHERE id IN (SELECT patient FROM visits GROUP BY patient "
    "HAVING COUNT(*) > 1)",
    "SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM visits w WHERE "
    "w.patient = v.patient AND w.cost > v.cost)",
    "SELECT SUM((SELECT COUNT(*) FROM visits w WHERE w.patient = v.patient AND w.cost < v.cost)) "
    "FROM visits v",
    "SELECT COUNT(*) FROM patients p JOIN visits v ON v.patient = p.id WHERE NOT EXISTS (SELECT 1 "
    "FROM diagnoses d JOIN visits w ON w.id = d.visit WHERE w.patient = v.patient AND "
    "w.cost + p.age > v.cost)",
    "SELECT COUNT(*) FROM patients p JOIN visits v ON v.patient = p.id JOIN visits w "
    "USING (patient, ward)",
]


def sums(cells):
    return sorted(value for part in cells for row in part for value in row if value)


@pytest.fixture(scope="module")
def tidy(tmp_path_factory):
    found = Hospital(tmp_path_factory.mktemp("h") / "a", hospital(), admitted(random.Random(19)))
    yield found
    found.engine.close()


@pytest.mark.parametrize("sql", STATEMENTS)
def test_what_is_asked_within_the_bounds_is_answered_as_plain_sql_does(tidy, sql):
    assert sums(tidy.exact(sql)) == sorted(row[-1] for row in tidy.plain(sql) if row[-1])


@pytest.fixture(scope="module")
def messy(tmp_path_factory):
    """Narrow bounds, and rows with keys that are no good; without a patient, and with it alone."""
    place, draw = tmp_path_factory.mktemp("m"), random.Random(23)
    rows, tables = admitted(draw, 12, tidy=False), hospital(visits=3, diagnoses=4, patients=2)
    chosen = [draw.choice(rows["patients"])[0] for _ in range(3)]
    made = {"whole": Hospital(place / "whole", tables, rows)}
    for patient in chosen:
        made[patient] = Hospital(place / f"without {patient}", tables, without(rows, patient))
        others = {row[0] for row in rows["patients"]} - {patient}
        alone = rows
        for other in sorted(others):
            alone = without(alone, other)
        made[f"only {patient}"] = Hospital(place / f"only {patient}", tables, alone)
    yield made, chosen
    for one in made.values():
        one.engine.close()


@pytest.mark.parametrize("sql", STATEMENTS)
def test_a_unit_that_goes_takes_what_it_adds_by_itself_and_nothing_else(messy, sql):
    made, chosen = messy
    whole = np.array(made["whole"].exact(sql)[0])
    for patient in chosen:
        rest, alone = (np.array(made[name].exact(sql)[0]) for name in (patient, f"only {patient}"))
        assert (whole == rest + alone).all()


@pytest.mark.parametrize("sql", STATEMENTS)
def test_no_unit_has_more_rows_than_its_bound_nor_two_of_one_rank(messy, sql):
    made, _ = messy
    question = bind(sql, SHARED, (), made["whole"].several)
    most = derived_table(question.rows, made["whole"].tables, SHARED).max_rows
    marks = made["whole"].marks(sql)
    assert marks
    assert max(Counter(marks).values()) == 1
    assert all(1 <= rank <= most for _, rank in marks)


TWO = [
    "SELECT COUNT(*) FROM visits v JOIN patients p ON v.cost = p.age",
    "SELECT MEDIAN(cost) FROM patients p, visits v WHERE v.cost = p.age",
]


@pytest.mark.parametrize("sql", TWO)
def test_rows_of_two_units_are_not_measured_as_if_they_were_of_one(tidy, sql):
    with pytest.raises(QuestionError, match="two units each"):
        tidy.exact(sql)


def test_no_statement_compares_columns_of_two_kinds(tidy):
    sides = Scan("visits", "v"), Scan("patients", "p")
    unit = Column("v.adomnia unit", Text(None))
    pairs = [("v.cost", "p.sex"), ("v.id", "p.age"), ("v.adomnia unit", "p.sex")]
    for left, right in pairs:
        rows = Joined(*sides, ((replace(unit, name=left), replace(unit, name=right)),))
        table = derived_table(rows, tidy.tables, SHARED)
        with pytest.raises(QuestionError, match="two kinds"):
            tidy.engine._coded(table)


def test_what_is_computed_for_each_unit_has_rows_of_one(tidy):
    both = Joined(Scan("visits", "v"), Scan("patients", "p"), apart=True)
    third = Joined(both, Scan("diagnoses", "d"), apart=True)
    outer = Joined(both, Scan("diagnoses", "d"), outer="joined")
    for rows in (PerUnit(both, "grouped"), third, outer, Filtered(third, constant(True))):
        with pytest.raises(QuestionError, match="two units"):
            tidy.engine._coded(derived_table(rows, tidy.tables, SHARED))


def test_units_are_compared_with_nothing_whatever_a_statement_says(tidy):
    unit, cost = Column("v.adomnia unit", Text(None)), Column("v.cost", Number(0, 100))
    scan = Scan("visits", "v")
    tests = (
        call("eq", unit, constant("3")),
        call("lt", unit, unit),
        call("in", unit, params=("1",)),
    )
    derived = [Filtered(scan, test) for test in tests]
    derived += [
        PerUnit(scan, "g", (("k0", unit),)),
        PerUnit(scan, "g", (), (("t0", Total("first", unit)),)),
    ]
    for rows in derived:
        table = derived_table(rows, tidy.tables, SHARED)
        with pytest.raises(QuestionError, match="safely"):
            tidy.engine._coded(table).source(table, ("g.t0",))
    known = Filtered(scan, call("not", call("is_null", unit)))
    table = derived_table(
        PerUnit(known, "g", (), (("t0", Total("sum", cost)),)), tidy.tables, SHARED
    )
    assert tidy.engine._coded(table).source(table, ("g.t0",))


def test_groups_of_a_unit_differ_in_their_codes_however_wrong_a_range_is(tidy):
    narrow = call("add", Column("v.cost", Number(0, 1)), constant(0))
    rows = PerUnit(Scan("visits", "v"), "g", (("k0", narrow),))
    table = derived_table(rows, tidy.tables, SHARED)
    source = tidy.engine._coded(table).source(table, ("g.k0",))
    found = tidy.engine._rows(f'SELECT "adomnia unit", "g.k0" FROM {source}')
    assert found
    assert max(Counter(found).values()) == 1


def test_of_a_column_that_is_not_declared_nothing_is_believed(tidy):
    rows = PerUnit(Scan("visits", "v"), "g", (("k0", Column("v.id", Number(0, 9))),))
    assert "g.k0" not in derived_table(rows, tidy.tables, SHARED).attributes


def test_ranks_that_no_number_can_hold_are_refused_before_anything_is_read(tmp_path):
    wide = Hospital(tmp_path / "wide", hospital(visits=10**6), admitted(random.Random(3)))
    joins = " ".join(f"JOIN visits v{i} ON v{i}.patient = v0.patient" for i in range(1, 5))
    with pytest.raises(QuestionError, match="more than"):
        wide.exact(f"SELECT COUNT(*) FROM visits v0 {joins}")
    wide.engine.close()


REFUSED = [
    ("SELECT ward, COUNT(*) FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) t "
     "GROUP BY ward", "rows of several units"),
    ("SELECT patient, COUNT(*) FROM visits GROUP BY patient", "never shown"),
    ("SELECT COUNT(*) FROM visits WHERE patient = 'p1'", "names a person"),
    ("SELECT COUNT(*) FROM visits WHERE (patient) = '1'", "names a person"),
    ("SELECT COUNT(*) FROM patients WHERE ((id)) IN ('1', '2')", "names a person"),
    ("SELECT COUNT(*) FROM patients p LEFT JOIN visits v ON v.cost = p.age",
     "not joined on the unit"),
    ("SELECT COUNT(*) FROM patients p WHERE EXISTS (SELECT 1 FROM visits v WHERE v.cost = p.age)",
     "rows of other units"),
    ("SELECT COUNT(*) FROM patients p WHERE EXISTS (SELECT 1 FROM visits v)",
     "rows of other units"),
    ("SELECT COUNT(*) FROM patients p JOIN visits v ON v.patient = p.id FULL JOIN diagnoses d "
     "ON d.visit = v.id", "cannot be joined in this way"),
    ("SELECT COUNT(*) FROM nothing", "no private table"),
    ("SELECT COUNT(*) FROM (SELECT patient, STRING_AGG(ward, ',') AS w FROM visits "
     "GROUP BY patient) t", "cannot be computed for each unit"),
    ("SELECT COUNT(*) FROM (SELECT patient, cost, COUNT(*) AS n FROM visits GROUP BY patient) t",
     "neither aggregated nor in GROUP BY"),
    ("SELECT COUNT(*) FROM visits v JOIN patients p ON v.patient = p.id AND v.cost = p.sex",
     "number is needed"),
    ("SELECT COUNT(*) FROM visits v JOIN patients p ON v.patient = p.id AND v.ward = p.id",
     "names a person"),
    ("SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM patients p WHERE "
     "p.id = v.patient AND p.sex = v.cost)", "of the same kind"),
    ("SELECT COUNT(*) FROM visits WHERE cost IN (SELECT sex FROM patients)", "of the same kind"),
    ("SELECT COUNT(*) FROM (SELECT ward FROM visits UNION SELECT code FROM diagnoses) t",
     "UNION compares rows of several patients here: of visits and diagnoses"),
    ("SELECT COUNT(*) FROM (SELECT cost FROM visits EXCEPT SELECT age FROM patients) t",
     "EXCEPT compares rows of several patients here: of visits and patients"),
    ("SELECT COUNT(*) FROM (SELECT patient FROM visits INTERSECT ALL SELECT id FROM patients) t",
     "INTERSECT ALL cannot be answered"),
    ("SELECT COUNT(*) FROM (SELECT patient, cost FROM visits EXCEPT SELECT id, sex FROM patients) "
     "t", "the two sides of EXCEPT have 'cost' of different types"),
    ("SELECT COUNT(*) FROM (SELECT patient FROM visits UNION ALL SELECT sex FROM patients) t",
     "the two sides of UNION have 'patient' of different types"),
    ("SELECT COUNT(*) FROM (SELECT patient, cost FROM visits EXCEPT SELECT id FROM patients) t",
     "one side has 2 columns, the other 1"),
    ("SELECT COUNT(*) FROM patients WHERE id IN (SELECT ward FROM visits EXCEPT SELECT code "
     "FROM diagnoses)", "EXCEPT compares rows of several patients"),
    ("SELECT COUNT(*) FROM patients WHERE EXISTS (SELECT id FROM patients EXCEPT SELECT patient "
     "FROM visits)", "a subquery here has no GROUP BY, HAVING, LIMIT, UNION"),
    ("SELECT COUNT(*) FROM (SELECT a.cost FROM visits a JOIN visits b ON a.ward = b.ward UNION ALL "
     "SELECT cost FROM visits) t", "rows of two units"),
    ("SELECT COUNT(*) FROM (SELECT DISTINCT ON (patient) patient, ward FROM visits) t",
     "DISTINCT ON cannot be answered"),
    ("SELECT COUNT(*) FROM visits a LEFT JOIN visits b ON a.patient = b.patient AND "
     "b.cost > a.cost", "LEFT JOIN of 'b': beside keys"),
    ("SELECT COUNT(*) FROM (SELECT patient FROM visits ORDER BY cost) t",
     "ORDER BY cannot stand in a subquery"),
    ("SELECT COUNT(*) FROM visits WHERE (patient, ward) IN (SELECT patient FROM visits)",
     "IN compares a column with one column"),
    ("SELECT COUNT(*) FROM patients p ANTI JOIN visits v ON v.patient = p.id",
     "cannot be joined in this way"),
    ("SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM visits w WHERE w.cost > v.cost)",
     "this subquery may read rows of other units, of visits"),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "said"), REFUSED)
def test_what_rests_on_several_units_is_refused_with_the_reason(tidy, sql, said):
    with pytest.raises(QuestionError) as refused:
        tidy.exact(sql)
    assert said in refused.value.message
    assert refused.value.position is not None


TWO = [
    "SELECT COUNT(*) FROM visits a JOIN visits b ON a.ward = b.ward",
    "SELECT SUM(a.cost) FROM visits a JOIN visits b ON a.ward = b.ward AND a.cost = b.cost",
    "SELECT COUNT(*) FROM visits v JOIN patients p ON v.cost = p.age",
]


@pytest.mark.parametrize("sql", TWO)
@pytest.mark.parametrize("bound", [1, 2, 3, 5, 40])
def test_a_unit_that_goes_takes_no_more_than_the_bound_of_rows_of_two(messy, sql, bound):
    """Rows are filled in an order in which no other unit has a say (`water_filling.md`)."""
    made, chosen = messy
    whole = water_filling(pair_source(made["whole"].pairs(sql), 10**6), bound)
    for patient in chosen:
        rest = water_filling(pair_source(made[patient].pairs(sql), 10**6), bound)
        assert 0 <= whole - rest <= bound
