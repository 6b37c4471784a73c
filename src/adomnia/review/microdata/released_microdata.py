"""A file of records that is, or will be, public, beside the data that it was made of.

It may be any CSV or Parquet file, or what `adomnia release --microdata` wrote. What a release says
of itself (`release.json`) is enough to make it again on other rows.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adomnia.audit.files import read_columns
from adomnia.curator.database import PrivateDatabase
from adomnia.errors import AdomniaError, QuestionError
from adomnia.queries.expression import Column, Expr
from adomnia.queries.expression import columns as columns_of
from adomnia.queries.ranges import Day, Moment, Number, Range, Text, from_domain
from adomnia.review.exact_columns import column_names, key_values
from adomnia.review.rehearsal import control_group

if TYPE_CHECKING:
    import pyarrow as pa

    from adomnia.curator.releases.release_plan import ReleasePlan

__all__ = ["AuditedFiles", "ReleasedMicrodata", "audited_files", "plan_again", "read_microdata"]

ALIKE = 100_000
"""So many records of two files are compared."""

FILES = ("microdata.parquet", "microdata.csv")
FACTS = "release.json"


@dataclass(frozen=True, eq=False)
class ReleasedMicrodata:
    """The records, and what the release says of itself if it is one of ours."""

    records: pa.Table
    facts: Mapping[str, Any] | None = None


@dataclass(frozen=True, eq=False)
class AuditedFiles:
    """The same columns of the release, of the data and of the control group, if there is one.

    `left_out` says of other columns why they are not looked at.
    """

    released: pa.Table
    data: pa.Table
    control: pa.Table | None
    left_out: tuple[tuple[str, str], ...] = ()


def read_microdata(place: str | Path) -> ReleasedMicrodata:
    """A file of records, or the folder of a release.

    Raises a QuestionError where there is no such file, or it has no records.
    """
    path = Path(place)
    if path.is_dir():
        inside = [path / name for name in FILES if (path / name).is_file()]
        if not inside:
            raise QuestionError(
                f"the folder {str(path)!r} has no records",
                "release with --microdata, or name a CSV or Parquet file",
            )
        path = inside[0]
        records, *others = map(read_columns, inside)
        _refuse_other(records, others)
    else:
        records = read_columns(path)
    if not records.num_rows:
        raise QuestionError("the microdata file has no rows", "give a file with records")
    facts = path.with_name(FACTS)
    return ReleasedMicrodata(records, _facts(facts) if path.name in FILES else None)


def _refuse_other(records: pa.Table, others: Sequence[pa.Table]) -> None:
    """Files of a folder that are published both must have the same records: the first of them."""
    mine, *theirs = map(_beginning, (records, *others))
    if any(one != mine for one in theirs):
        raise QuestionError(
            f"{' and '.join(FILES)} of this folder do not have the same records",
            "name the one that is meant",
        )


def _beginning(table: pa.Table) -> tuple[int, list[list[str]]]:
    """How many rows a table has, and the first of them as plain texts."""
    columns = table.slice(0, ALIKE).columns
    return table.num_rows, [[_plain(one) for one in column.to_pylist()] for column in columns]


def _facts(file: Path) -> Mapping[str, Any] | None:
    try:
        told = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return told if isinstance(told, dict) and "marginals" in told else None


def plan_again(database: PrivateDatabase, facts: Mapping[str, Any]) -> ReleasePlan:
    """The plan of a release, from what it says of itself.

    Raises a QuestionError where the policy has changed so that it cannot be made any more.
    """
    try:
        keys = {one["name"]: one.get("key", one["name"]) for one in facts["attributes"]}
        tables = [[keys[name] for name in one["attributes"]] for one in facts["marginals"]]
        counts = facts.get("parts", {}).get("counts", facts["spent"])
        spent = {name: counts.get(name) for name in ("epsilon", "rho")}
        how = {name: facts[name] for name in ("method", "unbiased", "confidence")}
        adaptive = bool(facts.get("adaptive", False))
        return database.plan_release(
            marginals=tables, adaptive=adaptive, accept=True, **spent, **how
        )
    except (KeyError, TypeError, AttributeError, AdomniaError):
        raise QuestionError(
            "this release cannot be made again from what it says of itself",
            "audit it with the policy that it was made with",
        ) from None


@dataclass(frozen=True)
class _SharedKey:
    """A column that the release and the data have: what it is of a row, and if NULL is a value."""

    expr: Expr
    null: bool

    @property
    def reads(self) -> set[str]:
        return {column.name for column in columns_of(self.expr)}


_Keys = dict[str, _SharedKey]


def audited_files(
    database: PrivateDatabase,
    released: ReleasedMicrodata,
    planned: ReleasePlan | None,
    control: str | None,
) -> AuditedFiles:
    """What the release, the data and the control group share; the rest is named.

    Raises a QuestionError where they share nothing.
    """
    keys, left_out = _shared_keys(database, released, planned)
    if control is not None:
        there = read_columns(control).column_names
        for name in [name for name, key in keys.items() if not key.reads <= {*there}]:
            keys.pop(name)
            left_out.append((name, "is not in the control group"))
        _refuse_none(keys, there, "the control group")
    records = _table(keys, {name: released.records[name].to_pylist() for name in keys})
    data, others = _rows_of(database, keys), None
    if control is not None:
        columns = {name for key in keys.values() for name in key.reads}
        with control_group(database.policy, control, columns) as group:
            others = _rows_of(group, keys)
    return AuditedFiles(records, data, others, tuple(left_out))


def _shared_keys(
    database: PrivateDatabase, released: ReleasedMicrodata, planned: ReleasePlan | None
) -> tuple[_Keys, list[tuple[str, str]]]:
    """The columns of the release whose values the data has as well, and why others are not."""
    there, attributes = released.records.column_names, database.policy.attributes
    known = {
        name: _SharedKey(Column(name, from_domain(one.domain)), one.nullable)
        for name, one in attributes.items()
    }
    if planned is not None:
        sides = planned.layout.keys
        known |= {key.name: _SharedKey(key.expr, key.null or key.hidden) for key in sides}
    keys = {name: key for name, key in known.items() if name in there}
    said = {*column_names(database)}
    left_out = [(name, "was not released") for name in attributes if name not in there]
    left_out += [
        (name, "is not declared in the policy" if name in said else "is no column of the data")
        for name in there
        if name not in known
    ]
    strange = [name for name, key in keys.items() if _is_strange(released, name, key)]
    left_out += [(name, "has no value of the policy") for name in strange]
    keys = {name: key for name, key in keys.items() if name not in strange}
    _refuse_none(keys, there, "the microdata file")
    return keys, left_out


def _is_strange(released: ReleasedMicrodata, name: str, key: _SharedKey) -> bool:
    """Whether texts of a column are spelt so that none is a value of the policy."""
    spread = key.expr.range
    listed = {_loose(one) for one in (isinstance(spread, Text) and spread.values) or ()}
    values = {_loose(one) for one in released.records[name].unique().to_pylist() if one is not None}
    return bool(listed and values) and not values & listed


def _refuse_none(keys: _Keys, there: Sequence[str], what: str) -> None:
    if not keys:
        hint = "it has: " + ", ".join(there[:30])
        raise QuestionError(f"{what} shares no column with the policy", hint)


def _rows_of(database: PrivateDatabase, keys: _Keys) -> pa.Table:
    return _table(keys, key_values(database, {name: key.expr for name, key in keys.items()}))


# Values written the same way, whatever file they come from


def _table(keys: _Keys, values: Mapping[str, Sequence[Any]]) -> pa.Table:
    """Columns of numbers, days and texts.

    Rows without a value where that is no value are in no release, and are left out.
    """
    import pyarrow as pa  # noqa: PLC0415 (slow to import)

    made = {}
    for name, key in keys.items():
        try:
            made[name] = _column(key.expr.range, values[name])
        except (ValueError, TypeError, pa.ArrowException):
            what = type(key.expr.range).__name__.lower()
            hint = f"the policy declares it as a {what}"
            raise QuestionError(f"a value of {name!r} is no {what}", hint) from None
    table = pa.table(made)
    for name, key in keys.items():
        if not key.null:
            table = table.filter(table[name].is_valid())
    return table


def _column(spread: Range, values: Sequence[Any]) -> pa.Array:
    import pyarrow as pa  # noqa: PLC0415 (slow to import)

    given = (None if value is None or value == "" else value for value in values)
    if isinstance(spread, Number):
        return pa.array([None if one is None else float(one) for one in given], pa.float64())
    if isinstance(spread, Day):
        days = (one if one is None or isinstance(one, date) else _day(one) for one in given)
        return pa.array(list(days), pa.date32())
    if isinstance(spread, Moment):
        moments = (
            one if one is None or isinstance(one, datetime) else _moment(one) for one in given
        )
        return pa.array(list(moments), pa.timestamp("s"))
    listed = spread.values or () if isinstance(spread, Text) else ()
    known = {_loose(one): one for one in listed}
    texts = (
        one if one is None or one in listed else known.get(_loose(one), str(one)) for one in given
    )
    return pa.array(list(texts), pa.string())


def _day(value: Any) -> date:
    return date.fromisoformat(str(value)[:10])


def _moment(value: Any) -> datetime:
    return datetime.fromisoformat(str(value)).replace(tzinfo=None)


def _plain(value: Any) -> str:
    return "" if value is None else str(_loose(value))


def _loose(value: Any) -> Any:
    """A file may have read the text 01 as the number 1."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return str(value)
