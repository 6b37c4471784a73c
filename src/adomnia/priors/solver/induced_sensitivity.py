"""The greatest change of a question between induced neighbours (`induced_sensitivity.md`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from adomnia.priors.solver.bound import Bound, Norm
from adomnia.priors.solver.bounds.enumeration import enumerated_bound
from adomnia.priors.solver.bounds.fallback_bounds import fallback_bound
from adomnia.priors.solver.effort import Effort
from adomnia.priors.solver.graphs.cycles import longest_cycle
from adomnia.priors.solver.graphs.graph import blocks, orient
from adomnia.priors.solver.reduction.element import Element, value
from adomnia.priors.solver.reduction.kernel_parts import split_by_kernel
from adomnia.priors.solver.reduction.preparation import ConnectedPart, parts
from adomnia.priors.solver.reduction.series_parallel import components, elements, reduce
from adomnia.priors.solver.reduction.unknown_part import unknown_part
from adomnia.priors.solver.system import System, whole
from adomnia.priors.solver.tables.fibre import is_realisable, range_bound
from adomnia.priors.solver.witness import is_minimal_difference

__all__ = ["solve"]

COPIES = 3
WITNESSES = 12
"""So many witnesses are checked, the best first, before the lower end is given up."""
LEAST = 50_000_000
"""Steps that are allowed for a check of a witness, and for the range, whatever was spent."""

DETERMINED = "determined by what is public"

Witness = dict[int, int]


def solve(system: System, asked: Any, norm: Norm = 1, *, effort: Effort | None = None) -> Bound:
    """How far a question can differ between induced neighbours: bounds with their argument.

    `asked` holds the question's outputs as rows of whole numbers over the cells. In norm 2 the
    bounds are squares. The upper end always holds; the lower comes with a witness that was
    checked. Whether the values contradict each other is `contradiction.check`'s to say.
    """
    if norm not in (1, 2):
        raise ValueError("norm 1 sums absolute values, norm 2 squares")
    effort = effort or Effort()
    question = unknown_part(system, whole(asked), system.exact)
    if not question.nnz:
        return Bound(Fraction(0), Fraction(0), DETERMINED)
    known = any(interval is not None for interval in system.values)
    first = effort.part(2 if known else 1)  # the other half is for the values' own bounds
    found = list(_part_bounds(parts(system, question), norm, first))
    top = max(found, key=lambda bound: bound.upper, default=Bound(Fraction(0), Fraction(0), ""))
    bound = Bound(top.upper, Fraction(0), _say(system, top))
    lower = _best_witness(system, question, norm, found, effort)
    if lower is not None:
        reached = Fraction(_value(question, lower, norm))
        if reached > bound.upper:  # cannot be: then a proof is wrong, and nothing may rest on it
            raise ArithmeticError("a minimal difference above what was proven")
        bound = Bound(bound.upper, reached, bound.argument, lower)
    if known and not bound.exact:
        bound = _within_range(system, question, norm, bound, _some(effort))
        if not bound.exact:
            bound = enumerated_bound(system, question, norm, _some(effort)) or bound
    return bound


def _some(effort: Effort) -> Effort:
    """What is left, or the least that is always allowed."""
    return effort if effort.left >= LEAST else Effort(LEAST)


def _say(system: System, top: Bound) -> str:
    if top.upper == 0:
        return DETERMINED
    return top.argument if system.matrix.shape[0] else "nothing known"


def _part_bounds(found: list[ConnectedPart], norm: Norm, effort: Effort) -> Iterator[Bound]:
    """The bounds of all parts, with witnesses in the cells of the system, for some copies each."""
    for number, part in enumerate(found):
        own = effort.part(len(found) - number)
        for bound in _bounds(elements(part.matrix, part.asked, norm), norm, own):
            for cells in part.copies[:COPIES]:
                witness = None
                if bound.witness is not None:
                    witness = {int(cells[place]): x for place, x in bound.witness.items()}
                yield Bound(bound.upper, bound.lower, bound.argument, witness)


def _bounds(members: list[Element], norm: Norm, effort: Effort) -> Iterator[Bound]:
    """Reductions, then each connected part as a graph, or by its kernel, or as it is."""
    left, found = reduce(members, norm)
    yield from found
    for part in components(left):
        arcs = orient(part)
        if arcs is not None:
            for block in blocks(part, arcs):
                yield longest_cycle(block, norm, effort)
            continue
        smaller = split_by_kernel(part, norm)
        if smaller is None:
            yield fallback_bound(part, norm, effort)
        else:
            for one in smaller:
                yield from _bounds(one, norm, effort)


# The lower end


def _best_witness(
    system: System, question: Any, norm: Norm, found: list[Bound], effort: Effort
) -> Witness | None:
    """The witness of greatest value among those that pass every check."""
    plain = system.only(system.exact)
    if len(plain.values) < len(system.values):
        found = found + list(_part_bounds(parts(plain, question), norm, effort))
    proposed = {
        tuple(sorted(cells.items())): cells
        for bound in found
        if bound.witness and (cells := _real_cells(bound.witness, system.cells))
    }
    ranked = sorted(proposed.values(), key=lambda cells: -_value(question, cells, norm))
    for cells in ranked[:WITNESSES]:
        if is_minimal_difference(plain.matrix, cells) and _happens(
            system, cells, _some(effort.part(2))
        ):
            return cells
    return None


def _real_cells(witness: Mapping[int, int], cells: int) -> Witness:
    """The witness without slack cells."""
    return {cell: x for cell, x in witness.items() if cell < cells}


def _happens(system: System, cells: Witness, effort: Effort) -> bool:
    """Whether some table that agrees with all values can change in this way."""
    if all(interval is None for interval in system.values):
        return True
    try:
        return is_realisable(system, cells, effort) is True
    except OverflowError:  # then nobody knows
        return False


def _value(question: Any, cells: Mapping[int, int], norm: Norm) -> int:
    total: dict[int, int] = {}
    for cell, units in cells.items():
        where = slice(question.indptr[cell], question.indptr[cell + 1])
        entries = zip(question.indices[where].tolist(), question.data[where].tolist(), strict=True)
        for output, x in entries:
            total[output] = total.get(output, 0) + units * x
    return value(total, norm)


def _within_range(system: System, question: Any, norm: Norm, bound: Bound, effort: Effort) -> Bound:
    """The bound, not above the question's range among the tables that agree with the values."""
    try:
        most = range_bound(system, question, norm, effort)
    except OverflowError:
        return bound
    if most is None or most >= bound.upper:
        return bound
    say = "the range of the question among tables that agree with the numbers"
    return Bound(most, bound.lower, say, bound.witness)
