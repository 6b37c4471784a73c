"""A bound of the package, held against the truth, with its witness checked from outside."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from literal import Public, length, neighbor_differences, sensitivity
from oracles import is_minimal, is_possible, possible_steps

from adomnia.priors.solver.bound import Bound
from adomnia.priors.solver.induced_sensitivity import solve
from adomnia.priors.solver.system import System


def system_of(public: Public) -> System:
    """The same public rows as the package takes them."""
    return System.of(public.rows, public.values, forbidden=sorted(public.forbidden))


def is_rounded(public: Public) -> bool:
    """Whether some row was released as an interval."""
    return any(isinstance(value, tuple) for value in public.values)


def truth(public: Public, asked: np.ndarray, norm: int = 1) -> int:
    """The sensitivity: by all tables where rows are rounded, else by the possible steps."""
    if is_rounded(public):
        return sensitivity(public, asked, norm)
    return max((length(asked, step, norm) for step in possible_steps(public)), default=0)


def complaints(public: Public, asked: np.ndarray, norm: int, bound: Bound, true: int) -> list[str]:
    """What is wrong with a bound; nothing, if all is well."""
    found = []
    if bound.upper < true:
        found.append(f"UNSOUND: upper {bound.upper} below the truth {true}")
    if bound.lower > true:
        found.append(f"lower {bound.lower} above the truth {true}")
    if not (isinstance(bound.upper, Fraction) and isinstance(bound.lower, Fraction)):
        found.append("bounds are not fractions")
    if not bound.argument:
        found.append("no argument is named")
    return found + witness_complaints(public, asked, norm, bound)


def witness_complaints(public: Public, asked, norm: int, bound: Bound) -> list[str]:
    """What is wrong with the witness: it must be reached by two neighbours."""
    if bound.witness is None:
        return [] if bound.lower == 0 else ["a lower bound without a witness"]
    step = np.zeros(public.cells, dtype=np.int64)
    for cell, change in bound.witness.items():
        step[cell] = change
    found = []
    if length(asked, step, norm) != bound.lower:
        found.append(f"the witness has {length(asked, step, norm)}, not {bound.lower}")
    if step[list(public.forbidden)].any():
        found.append("the witness touches a forbidden cell")
    if not _is_difference(public, step):
        found.append(f"the witness is no difference of neighbours: {step.tolist()}")
    return found


def _is_difference(public: Public, step: np.ndarray) -> bool:
    if is_rounded(public):
        return tuple(map(int, step)) in neighbor_differences(public)
    return is_minimal(public.rows, step) and is_possible(public, step)


def examined(public: Public, asked: np.ndarray, norm: int = 1, true: int | None = None) -> Bound:
    """The bound that the package gives, after it was held against the truth."""
    bound = solve(system_of(public), asked, norm)
    true = truth(public, asked, norm) if true is None else true
    assert complaints(public, asked, norm, bound, true) == [], bound
    return bound


def holds(public: Public, asked: np.ndarray, expected: int, norm: int = 1) -> None:
    """The solver says the number, exactly, and with proof."""
    bound = examined(public, asked, norm, expected)
    assert (bound.upper, bound.lower, bound.exact) == (expected, expected, True)
