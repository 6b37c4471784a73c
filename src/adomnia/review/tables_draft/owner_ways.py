"""The ways by which the rows of a table lead to the unit, and the references that are needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from adomnia.engines.key_facts import Hop, OwnerHops
from adomnia.limits import MAX_ROW_UNITS
from adomnia.review.tables_draft.references import TableReference
from adomnia.review.tables_draft.surveyed_tables import SurveyedSource

__all__ = ["owner_ways"]


def owner_ways(
    source: SurveyedSource, unit: str, used: list[TableReference], unused: dict[TableReference, str]
) -> tuple[list[TableReference], dict[str, list[OwnerHops]]]:
    """The references that are needed, and the ways of each table to the unit.

    Where two columns never name two units, the one that leaves fewer rows to nobody is enough,
    and of two such the one by the longer chain: it lets tables be joined that belong together.
    """
    ways: dict[str, list[OwnerHops]] = {unit: [()]}
    kept: list[TableReference] = []
    for table in _in_order(unit, used):
        best: list[TableReference] = []
        for one in (one for one in used if one.table == table):
            best = _with(source, one, best, ways, unused)
        while sum(len(ways[one.other]) for one in best) > MAX_ROW_UNITS:
            left = best.pop()
            unused[left] = "a row would belong to more than two: decide which two are protected"
        ways[table] = [way for one in best for way in _ways(one, ways)]
        kept += best
    return kept, ways


def _with(
    source: SurveyedSource,
    one: TableReference,
    best: list[TableReference],
    ways: Mapping[str, list[OwnerHops]],
    unused: dict[TableReference, str],
) -> list[TableReference]:
    """The references of a table with one more, or the better of two that agree."""
    for other in best:
        first, second = _ways(other, ways), _ways(one, ways)
        if len(first) > 1 or len(second) > 1:
            continue
        if source.links.differing(one.table, (first[0], second[0])):
            continue
        better, worse = _better(source, (other, first[0]), (one, second[0]))
        unused[worse] = f"no row has another owner by {better.column}, which is enough"
        return [better if each is other else each for each in best]
    return [*best, one]


def _better(
    source: SurveyedSource,
    one: tuple[TableReference, OwnerHops],
    two: tuple[TableReference, OwnerHops],
) -> tuple[TableReference, TableReference]:
    def loss(pair: tuple[TableReference, OwnerHops]) -> tuple[int, int]:
        return source.links.owned(pair[0].table, [pair[1]]).nobody, -len(pair[1])

    first, second = sorted((one, two), key=loss)
    return first[0], second[0]


def _ways(one: TableReference, ways: Mapping[str, list[OwnerHops]]) -> list[OwnerHops]:
    return [(Hop(one.column, one.other, one.key), *way) for way in ways[one.other]]


def _in_order(unit: str, used: list[TableReference]) -> Iterator[str]:
    """The tables but the unit's, each after those that it refers to."""
    left = dict.fromkeys(one.table for one in used)
    done = {unit}
    while left:
        name = next(n for n in left if all(e.other in done for e in used if e.table == n))
        del left[name]
        done.add(name)
        yield name
