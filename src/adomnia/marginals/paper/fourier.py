"""The paper's release of marginals, whole: measure, make non-negative, publish (`fourier.md`).

`fourier`: the noisy parities turned back; consistent, fractional, perhaps negative.
`fourier-shift`: the same with the total raised until nothing should be negative.
`fourier-lp`: the marginals of an integer table from the linear program.
`marginals-lp`: the same, with the noise on the marginals instead of on the parities.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeGuard, get_args

import numpy as np
from numpy.typing import NDArray

from adomnia.errors import QuestionError
from adomnia.limits import MAX_PARITIES
from adomnia.marginals.paper.bits import Encoding, fold, invert, parts
from adomnia.marginals.paper.linear_program import (
    MarginalCells,
    Parities,
    Rows,
    check_size,
    closest,
    theorem_five,
)
from adomnia.marginals.paper.nonnegative import shift
from adomnia.marginals.paper.parities import NoisyParities, Source, measure_counts, measure_parities
from adomnia.marginals.paper.promise import MarginalPromise
from adomnia.marginals.workload import Subset, Workload, downward_closure
from adomnia.mechanisms.randomness import SYSTEM, Bits

__all__ = ["METHODS", "FourierMethod", "FourierRelease", "Options", "is_fourier", "release_fourier"]

FourierMethod = Literal["fourier", "fourier-shift", "fourier-lp", "marginals-lp"]
"""The paper's method, and what it makes of negative numbers."""

Tables = dict[Subset, NDArray[Any]]
Numbers = dict[Subset, float]


def is_fourier(method: str) -> TypeGuard[FourierMethod]:
    """Whether this is the name of one of them."""
    return method in get_args(FourierMethod)


@dataclass(frozen=True)
class Options:
    """How to release. `noise` follows from the loss; named, it must be the one that fits it.

    Bounds hold with probability 1 - `delta`, all at once; the linear program has `seconds`, and
    where they do not suffice a nearby table stands in for its solution.
    """

    method: FourierMethod = "fourier"
    noise: Literal["laplace", "gaussian"] | None = None
    delta: float = 0.05
    seconds: float = 300.0


PLAIN = Options()


@dataclass(frozen=True)
class FourierRelease:
    """What is published: all of it follows from `measured`, which was paid for.

    `bound` holds each marginal's largest L1 error, `theorem` the paper's Theorem 5 for it (for
    the linear programs). `table` has an axis for each attribute of `axes`.
    """

    marginals: Tables
    measured: NoisyParities
    bound: Numbers
    notes: tuple[str, ...]
    table: NDArray[np.int64] | None = None
    axes: Subset = ()
    theorem: Numbers | None = None


@dataclass(frozen=True)
class _Job:
    workload: Workload
    source: Source
    promise: MarginalPromise
    options: Options
    bits: Bits

    @property
    def encoding(self) -> Encoding:
        return Encoding(self.workload.sizes)

    @property
    def axes(self) -> Subset:
        """The attributes that some marginal is about."""
        return tuple(sorted({place for part in self.workload.marginals for place in part}))


def release_fourier(
    workload: Workload,
    source: Source,
    promise: MarginalPromise,
    options: Options = PLAIN,
    bits: Bits = SYSTEM,
) -> FourierRelease:
    """The marginals, released by the method named in `options` at the loss that is promised.

    Whatever would be refused is refused before the source is asked for anything.
    """
    job = _Job(workload, source, promise, options, bits)
    _check(job)
    return METHODS[options.method](job)


def _check(job: _Job) -> None:
    options, loss = job.options, job.promise.loss
    if not is_fourier(options.method):
        raise QuestionError(f"method is one of {', '.join(get_args(FourierMethod))}")
    if not 1e-9 <= options.delta < 1:
        raise QuestionError("delta lies between 1e-9 and 1", hint="for example delta = 0.05")
    if options.noise not in (None, "gaussian" if loss.rho else "laplace"):
        raise QuestionError("laplace noise goes with an epsilon, gaussian noise with a rho")
    encoding = job.encoding
    if not set(job.promise.sensitive or ()) <= set(range(len(encoding.sizes))):
        raise QuestionError("a sensitive attribute is not declared")
    cells = sum(1 << len(encoding.places(marginal)) for marginal in job.workload.marginals)
    if cells > MAX_PARITIES:
        raise QuestionError(
            f"the marginals have {cells} cells in bits",
            hint=f"at most {MAX_PARITIES}: ask for fewer marginals or fewer ways",
        )
    if options.method == "fourier-lp":
        bits = encoding.places(job.axes)
        closure = downward_closure(map(encoding.places, job.workload.marginals))
        check_size(1 << len(bits), len(closure))
    if options.method == "marginals-lp":
        sizes = job.workload.shape(job.axes)
        check_size(math.prod(sizes), MarginalCells(job.workload.sizes, job.workload.marginals).rank)


# The methods


def _plain(job: _Job) -> FourierRelease:
    measured = measure_parities(*_asked(job))
    tables, bound = _inverted(job, measured)
    return FourierRelease(tables, measured, bound, (_said(measured), _negatives(tables)))


def _shifted(job: _Job) -> FourierRelease:
    measured = measure_parities(*_asked(job))
    bits = len(job.encoding.places(job.axes))
    amount = shift(measured.noise, measured.many, bits, job.options.delta)
    raised = measured.values.copy()
    raised[0] += amount  # the empty set comes first
    moved = NoisyParities(measured.subsets, raised, measured.noisy, measured.noise)
    tables, bound = _inverted(job, moved)
    bound = {marginal: most + amount for marginal, most in bound.items()}
    said = f"the total was raised by {amount}"
    notes = (_said(measured), said, _negatives(tables))
    return FourierRelease(tables, measured, bound, notes)


def _parity_program(job: _Job) -> FourierRelease:
    measured = measure_parities(*_asked(job))
    local = Encoding(job.workload.shape(job.axes))
    names = {bit: place for place, bit in enumerate(job.encoding.places(job.axes))}
    subsets = tuple(tuple(names[bit] for bit in subset) for subset in measured.subsets)
    return _programmed(job, measured, Parities(local, subsets), _inverted(job, measured))


def _cell_program(job: _Job) -> FourierRelease:
    measured = measure_counts(*_asked(job))
    spread = measured.spread(job.options.delta)
    tables, bound, start = {}, {}, 0
    for marginal in job.workload.marginals:
        end = start + job.workload.cells(marginal)
        tables[marginal] = measured.values[start:end].reshape(job.workload.shape(marginal))
        bound[marginal] = spread * int(measured.noisy[start:end].sum())
        start = end
    names = {place: axis for axis, place in enumerate(job.axes)}
    local = tuple(tuple(names[place] for place in part) for part in job.workload.marginals)
    rows = MarginalCells(job.workload.shape(job.axes), local)
    return _programmed(job, measured, rows, (tables, bound))


METHODS: dict[FourierMethod, Callable[[_Job], FourierRelease]] = {
    "fourier": _plain,
    "fourier-shift": _shifted,
    "fourier-lp": _parity_program,
    "marginals-lp": _cell_program,
}


def _programmed(
    job: _Job, measured: NoisyParities, rows: Rows, noisy: tuple[Tables, Numbers]
) -> FourierRelease:
    """The marginals of the rounded table; how far they are from the noisy ones is no secret."""
    vertex = closest(rows, measured.values, measured.noisy, job.options.seconds)
    table = vertex.rounded(job.workload.shape(job.axes))
    tables, bound, theorem = {}, {}, {}
    reach = _printed(measured, job.options.delta)
    for marginal in job.workload.marginals:
        others = tuple(axis for axis, place in enumerate(job.axes) if place not in marginal)
        tables[marginal] = table.sum(axis=others)
        apart = float(np.abs(tables[marginal] - noisy[0][marginal]).sum())
        bound[marginal] = apart + noisy[1][marginal]
        theorem[marginal] = theorem_five(len(job.encoding.places(marginal)), rows.rank, reach)
    said = (
        f"the table's {vertex.cells.size} cells miss what was measured by at most "
        f"{vertex.worst:.6g} before rounding; {vertex.rounds} rounds"
    )
    if not vertex.solved:
        late = "the linear program was not solved: the table is near, Theorem 5 does not hold of it"
        notes = (_said(measured), said, late)
        return FourierRelease(tables, measured, bound, notes, table, job.axes)
    return FourierRelease(
        tables, measured, bound, (_said(measured), said), table, job.axes, theorem
    )


# Shared steps


def _asked(job: _Job) -> tuple[Encoding, tuple[Subset, ...], Source, MarginalPromise, Bits]:
    return job.encoding, job.workload.marginals, job.source, job.promise, job.bits


def _inverted(job: _Job, measured: NoisyParities) -> tuple[Tables, Numbers]:
    """The marginals of the parities, and how far the noise may have carried them (`fourier.md`)."""
    position = {subset: place for place, subset in enumerate(measured.subsets)}
    spread = measured.spread(job.options.delta)
    tables, bound = {}, {}
    for marginal in job.workload.marginals:
        index = [position[part] for part in parts(job.encoding.places(marginal))]
        tables[marginal] = fold(invert(measured.values[index]), job.encoding, marginal)
        bound[marginal] = spread * math.sqrt(int(measured.noisy[index].sum()))
    return tables, bound


def _printed(measured: NoisyParities, delta: float) -> float:
    """The same by the paper's union bound for continuous noise, as Theorem 5 has it."""
    many = max(1, measured.many)
    parameter = float(measured.noise.parameter)
    if measured.noise.kind == "gaussian":
        return math.sqrt(2 * parameter * math.log(2 * many / delta))
    return parameter * math.log(many / delta)


def _said(measured: NoisyParities) -> str:
    noise, exact = measured.noise, measured.noisy.size - measured.many
    what = "scale" if noise.kind == "laplace" else "variance"
    public = f", {exact} public ones as they are" if exact else ""
    size = f"{float(noise.parameter):.6g}"
    return f"{measured.many} numbers with {noise.kind} noise of {what} {size}{public}"


def _negatives(tables: Tables) -> str:
    below = sum(int((table < 0).sum()) for table in tables.values())
    return f"{below} of {sum(table.size for table in tables.values())} cells are negative"
