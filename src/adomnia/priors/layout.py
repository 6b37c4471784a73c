"""The layout: what is public and what is asked, as matrices over cells (`prior_knowledge.md`).

A cell is a class of rows that neither the releases nor the question can tell apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from adomnia.errors import QuestionError
from adomnia.priors.effects import effects, is_read
from adomnia.priors.prior_knowledge import PriorKnowledge
from adomnia.priors.reader import ClassReader, Features, Integers, condition, labels
from adomnia.priors.release_rows import counts_rows, released_rows
from adomnia.priors.solver.system import System
from adomnia.queries.classes import Classes, classes
from adomnia.queries.expression import Expr
from adomnia.queries.measurement import Counts, Measurement
from adomnia.queries.patterns import names

__all__ = ["Layout", "lay_out"]


@dataclass(frozen=True, eq=False)
class Layout:
    """The system, the question over its cells, and which output is which component.

    `outputs[i]` is the cell of the keys times their components plus the component, for row i
    of `asked`, which counts in `unit`. `tight`: every cell stands for rows that exist. Where
    each cell is one class, `labels` name them, and `conditions` are met by their rows alone.
    """

    system: System
    asked: Any
    outputs: Integers
    tight: bool
    unit: int = 1
    labels: tuple[str, ...] = ()
    features: tuple[Expr, ...] = ()
    found: Classes | None = None

    def conditions(self, cells: Sequence[int]) -> tuple[Expr, ...]:
        """The conditions that exactly the rows of these cells meet."""
        assert self.found is not None
        return tuple(condition(self.features, self.found, cell) for cell in cells)

    def only(self, outputs: Sequence[int]) -> Layout:
        """The same, where no more than these outputs are measured."""
        places = np.flatnonzero(np.isin(self.outputs, list(outputs)))
        asked = self.asked.tocsr()[places].tocsc()
        return replace(self, asked=asked, outputs=self.outputs[places])


def lay_out(
    known: PriorKnowledge, measurement: Measurement, where: Expr | None, keys: tuple[Expr, ...]
) -> Layout:
    """The releases and the question over the cells that they tell apart."""
    public = known.within_universe()
    asked = _asked_exprs(measurement)
    _check_universe(known, names(where, *keys, *asked, *_arguments(measurement)))
    released = [e for p in public.published for e in (p.where, *p.keys, *p.arguments)]
    others = [*released, where, *keys, *asked]
    told = _arguments(measurement) if is_read(measurement, others) else ()
    features = Features.of([*others, *told])
    found = classes(features.exprs, known.nullable)
    if found is None:
        raise QuestionError(
            "the columns that are public and those that are asked have too many values together",
            "ask with fewer columns, or coarser: CASE or ranges in place of single values",
        )
    reader = ClassReader(features, found)
    rows, values, named = released_rows(public, reader)
    added = effects(measurement, known, reader, where, keys)
    system = System.of(
        _owned(rows, added.owner, bool(known.listed) and counts_rows(public)), values, named
    )
    wanted = np.unique(added.row)
    place = np.searchsorted(wanted, added.row)
    shape = (len(wanted), system.cells)
    question = sparse.csc_array((added.data, (place, added.col)), shape=shape)
    layout = Layout(system, question, wanted, added.tight, added.unit)
    if len(added.owner) != len(found):
        return layout
    return replace(layout, labels=labels(features, found), features=features.exprs, found=found)


def _owned(rows: Any, owner: Integers, outside: bool) -> Any:
    """The rows over the cells; last, where it is needed, the cell of rows that are in no table.

    With as many rows among neighbours, what leaves the tables goes there: it counts in the last
    row alone, the number of rows.
    """
    found = sparse.csc_array(rows)[:, owner]
    if not outside:
        return found
    total = sparse.csc_array(([1], ([found.shape[0] - 1], [0])), shape=(found.shape[0], 1))
    return sparse.csc_array(sparse.hstack([found, total]), dtype=np.int64)


def _check_universe(known: PriorKnowledge, read: frozenset[str]) -> None:
    if known.universe is None or read <= frozenset(known.universe):
        return
    raise QuestionError(
        "this asks about " + ", ".join(sorted(read - frozenset(known.universe)))
        + ", which the promise leaves out",
        "the policy's universe is: " + ", ".join(known.universe),
    )  # fmt: skip


def _asked_exprs(measurement: Measurement) -> tuple[Expr | None, ...]:
    return measurement.conditions if isinstance(measurement, Counts) else ()


def _arguments(measurement: Measurement) -> tuple[Expr, ...]:
    return () if isinstance(measurement, Counts) else (measurement.argument,)
