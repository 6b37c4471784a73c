"""Faults in what is derived of several tables: those inside the kernel, and those outside of it."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib import import_module
from typing import Any

from tests.adversary.planting import Fault, Patch, always, argument, result

UNIT, RANK = '"adomnia unit"', '"adomnia rank"'
COUNT = "SELECT COUNT(*) FROM "
PER_PERSON = "(SELECT person, COUNT(*) AS n FROM visits GROUP BY person) t"
BY_WARD = "(SELECT person, ward, COUNT(*) AS n FROM visits GROUP BY person, ward) t"
BANDS = "(SELECT person, cost / 2 AS band, COUNT(*) AS n FROM visits GROUP BY person, cost / 2)"
TWICE = (
    f"{COUNT}visits a JOIN visits b ON a.person = b.person AND a.ward = b.ward",
    f"{COUNT}visits a JOIN visits b ON a.person = b.person",
)
NOTES = (f"{COUNT}notes n JOIN visits v ON n.visit = v.id", f"{COUNT}notes")
GROUPS = (
    f"SELECT n, COUNT(*) FROM {PER_PERSON} GROUP BY n",
    f"{COUNT}{BY_WARD}",
    f"SELECT SUM(n) FROM {BY_WARD}",
)
LEFT = (
    f"{COUNT}people p LEFT JOIN visits v ON v.person = p.id",
    f"{COUNT}visits v LEFT JOIN calls c ON c.person = v.person",
)
TWO = (
    f"{COUNT}visits v JOIN people p ON v.zip = p.zip",
    "SELECT SUM(v.cost) FROM visits v, people p WHERE v.zip = p.zip",
)
BOUNDS = (
    f"{COUNT}{BANDS} a JOIN {BANDS} b ON a.person = b.person AND a.band = b.band",
    f"SELECT SUM(a.n) FROM {BANDS} a JOIN {BANDS} b ON a.person = b.person AND a.band = b.band",
)
SETS = (
    f"{COUNT}(SELECT id, zip FROM people EXCEPT SELECT person, zip FROM visits) t",
    f"{COUNT}(SELECT person, ward FROM visits UNION ALL SELECT person, ward FROM visits) t",
)
WHO = (
    "SELECT COUNT(*) FILTER (WHERE (person) = '1'), COUNT(*) FILTER (WHERE (person) = '2'), "
    "COUNT(*) FILTER (WHERE (person) = '3'), COUNT(*) FILTER (WHERE (person) = '4') FROM visits",
    "SELECT COUNT(*) FROM people WHERE (id) < '3'",
)
SUMS = (
    "SELECT SUM(m) FROM (SELECT person, SUM(cost) AS m FROM visits GROUP BY person) t",
    "SELECT SUM(m) FROM (SELECT person, MAX(cost) AS m FROM visits GROUP BY person) t",
    "SELECT SUM(m) FROM (SELECT person, AVG(cost) AS m FROM visits GROUP BY person) t",
    "SELECT SUM(m) FROM (SELECT person, ARG_MAX(cost, seen) AS m FROM visits GROUP BY person) t",
)


def _room(name: str) -> Any:
    return import_module(f"adomnia.{name}")


def _inside(name: str, path: str, patch: Patch, statements: tuple[str, ...], **more: Any) -> Fault:
    return Fault(name, "inside", path, patch, statements, part="tables", **more)


def _outside(name: str, path: str, patch: Patch, statements: tuple[str, ...], **more: Any) -> Fault:
    return Fault(name, "outside", path, patch, statements, part="tables", **more)


# Inside


def _without_unit(text: str) -> str:
    """Groups of all units: one of them is said to have each."""
    text = text.replace(f"GROUP BY {UNIT}, ", "GROUP BY ").replace(f" GROUP BY {UNIT}", "")
    return text.replace(f"{UNIT}, ", f"MIN({UNIT}) AS {UNIT}, ", 1)


def _ranked_alike(text: str) -> str:
    """The right side's ranks begin anew."""
    return re.sub(rf"\+ \d+ AS {RANK}", f"+ 0 AS {RANK}", text)


def _all_rows(text: str) -> str:
    return text.rpartition(" WHERE ")[0]


def _narrow(spread: Any) -> Any:
    if not hasattr(spread, "step") or not hasattr(spread, "low"):
        return spread
    return replace(spread, high=(spread.low + spread.high) // 2)


def _shared_keys(found: Any) -> Any:
    marks, joins = found
    return marks, [join.replace(f" AND r.{RANK} = k.{RANK}", "") for join in joins]


def _one_row(made: Any) -> Any:
    if made.table.max_rows > 1:
        made.policy = replace(made.policy, neighbors=replace(made.policy.neighbors, rows=1))
    return made


RELATIONS = "engines.sql.tables.relations:Relations"
TABLES_INSIDE = (
    _inside("a join of all units", f"{RELATIONS}._same_units", lambda _: lambda self, rows: [],
            TWICE),
    _inside("groups of all units", f"{RELATIONS}._grouped", result(_without_unit), GROUPS[:1]),
    _inside("two sides compared over all units", f"{RELATIONS}._combined", result(_without_unit),
            SETS[:1]),
    _inside("two sides ranked alike", f"{RELATIONS}._part", result(_ranked_alike), SETS[1:],
            more=(("queries.rows:most_combined",
                   lambda _: lambda rows, tables: _room("queries.rows").most_rows(
                       rows.left, tables)),)),
    _inside("all rows of a table joined", f"{RELATIONS}._scanned", result(_all_rows), TWICE[1:]),
    _inside("each row said to meet one", "queries.rows:meets_one", always(True), TWICE),
    _inside("each row said to be met once", "queries.rows:is_met_once", always(True),
            (TWICE[1], LEFT[1])),
    _inside("a unit said to have one group", "queries.rows:is_one_group", always(True), GROUPS[1:]),
    _inside("a joined row ranked by its left", f"{RELATIONS}._rank",
            lambda _: lambda self, rows: f"l.{RANK}", TWICE[1:],
            more=(("queries.rows:most_rows",
                   lambda original: lambda rows, tables: original(rows.left, tables)
                   if type(rows).__name__ == "Joined" else original(rows, tables)),)),
    _inside("an owner of an ambiguous key", "engines.sql.tables.owners:_single",
            lambda _: lambda low, high: low, NOTES[1:]),
    _inside("a reference followed by its value", f"{RELATIONS}._side",
            argument(4, "pointers", lambda found: [None] * len(found)), NOTES[:1]),
    _inside("a key of several rows", "engines.sql.tables.owners:OwnedRows._numbered",
            result(_shared_keys), NOTES[:1]),
    _inside("units compared by their numbers", "engines.sql.coding:Coded.kind",
            result(lambda kind: "text" if kind == "unit" else kind), WHO,
            more=(("queries.sql.binder:_names_only", always(True)),)),
)  # fmt: skip


# Outside


def _claimed(made: Any) -> Any:
    """Fewer rows said in all places than are derived."""
    if made.table.max_rows > 1:
        made.table = replace(made.table, max_rows=1)
    return _one_row(made)


def _as_number(original: Any) -> Any:
    """Open columns said to be small numbers."""
    number = _room("queries.ranges").Number(0, 9)

    def column(self: Any, table: Any, name: str, found: str) -> Any:
        made = original(self, table, name, found)
        is_open = found == "city" and getattr(made.range, "values", ()) is None
        return replace(made, range=number) if is_open else made

    return column


SELECT = "queries.sql.several.selects:_Select"
JOIN = "queries.sql.several.joins:Join"
KEYS = "queries.sql.several.unit_keys:UnitKeys"
TABLES_OUTSIDE = (
    _outside("fewer rows claimed than are derived", "curator.derived_backend:backend_over",
             result(_claimed), (*TWICE, *GROUPS)),
    _outside("what is derived priced as one row", "curator.derived_backend:backend_over",
             result(_one_row), (*TWICE, NOTES[1])),
    _outside("any join said to be on the unit", f"{KEYS}.is_unit", always(True), TWO),
    _outside("any key said to be the unit's", f"{KEYS}.implies_unit",
             always(True),
             ("SELECT SUM(n) FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) t",
              f"{COUNT}(SELECT DISTINCT zip FROM people) t")),
    _outside("no pairs of columns", f"{JOIN}._pairs", result(lambda found: ([], [])), TWICE),
    _outside("pairs that are none", f"{JOIN}._pairs",
             result(lambda found: (found[0][:1], [])), TWICE),
    _outside("a unit computed of rows of two", f"{KEYS}.check_one",
             lambda _: lambda self, node, relation: None,
             ("SELECT SUM(n) FROM (SELECT p.id, COUNT(*) AS n FROM people p JOIN visits v "
              "ON p.zip = v.zip GROUP BY p.id) t",
              f"{COUNT}people p JOIN visits v ON p.zip = v.zip LEFT JOIN calls c "
              "ON c.person = p.id")),
    _outside("rows of three units", f"{JOIN}._may_be_apart", always(True),
             (f"{COUNT}people p JOIN visits v ON p.zip = v.zip JOIN people q ON q.zip = v.zip",)),
    _outside("an outer join of two units", f"{KEYS}.is_unit", always(True),
             (f"{COUNT}people p LEFT JOIN visits v ON p.zip = v.zip",
              f"{COUNT}people p WHERE NOT EXISTS (SELECT 1 FROM visits v WHERE v.zip = p.zip)")),
    _outside("columns of two kinds paired", f"{KEYS}.alike", always(True),
             (f"{COUNT}visits v JOIN people p ON v.person = p.id AND v.ward = p.age",
              f"{COUNT}visits v JOIN people p ON v.person = p.id AND v.ward = p.id",
              f"{COUNT}visits v JOIN people p ON v.person = p.id AND v.city = p.zip")),
    _outside("units that are compared", "queries.sql.binder:_names_only", always(True),
             (*WHO, "SELECT id, COUNT(*) FROM people GROUP BY id",
              "SELECT SUM(m) FROM (SELECT person, ANY_VALUE(person) AS m FROM visits "
              "GROUP BY person) t")),
    _outside("a public table of units", "queries.sql.several.selects:joined_public",
             lambda _: lambda context, left, join: _room("queries.sql.relation").join_public(
                 _room("queries.sql.relation").StatementContext(
                     context.sql, context.shared, (), {}), left, join),
             (f"{COUNT}(SELECT id AS zip FROM people) t JOIN regions USING (zip)",)),
    _outside("groups whose range is too narrow", "queries.ranges:from_domain", result(_narrow),
             BOUNDS),
    _outside("an open column taken as a number", f"{SELECT}._column", _as_number,
             ("SELECT SUM(k) FROM (SELECT person, city AS k, COUNT(*) AS n FROM visits "
              "GROUP BY person, city) t", "SELECT SUM(city) FROM visits v",
              f"{COUNT}visits a JOIN visits b ON a.person = b.person AND a.city = b.cost")),
    _outside("all tables of one name", "queries.sql.several.context:TablesContext.fresh",
             lambda _: lambda self, name, node: "same", (*TWICE, *LEFT, *GROUPS)),
    _outside("totals of another kind", "queries.sql.several.unit_totals:GroupedSelect._total",
             result(lambda total: replace(total, kind="sum") if total.argument else total), SUMS),
    _outside("totals said to be small", "queries.sql.several.unit_totals:total_range",
             result(_narrow), SUMS),
)  # fmt: skip
