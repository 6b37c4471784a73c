"""The judge: what was noted on two neighbours, against what the ledger was charged."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.adversary import laws
from tests.adversary.seams import Note

SLACK = 1e-7
"""Rounding of floats in laws; additive noise is judged in fractions."""


@dataclass(frozen=True)
class Loss:
    """What two tables lose by one draw: as a pure epsilon, as a rho, and with what delta."""

    epsilon: float
    rho: float
    delta: float = 0.0


ZERO = Loss(0.0, 0.0)


def pure(epsilon: float) -> Loss:
    """A pure loss; as a rho it is at most its square over two."""
    return Loss(epsilon, epsilon * epsilon / 2)


def ratio(one: list[Note], other: list[Note], charged: Mapping[str, Fraction]) -> float:
    """The loss of the pair over what was charged: at most 1 where the promise is kept."""
    losses = compare(one, other, float(charged.get("epsilon", 0)))
    delta = sum(loss.delta for loss in losses)
    allowed = float(charged.get("delta", 0))
    if delta > allowed * (1 + 1e-6) + 1e-300:
        return math.inf
    if "rho" in charged:
        rho = sum(loss.rho for loss in losses) + 0.0
        epsilon = float(charged.get("epsilon", 0))
        return _over(rho, float(charged["rho"]) + epsilon**2 / 2)
    return _over(sum(loss.epsilon for loss in losses), float(charged.get("epsilon", 0)))


def _over(lost: float, charged: float) -> float:
    if lost <= 0:
        return 0.0
    return lost / charged if charged > 0 else math.inf


def compare(one: list[Note], other: list[Note], epsilon: float = 0.0) -> list[Loss]:
    """The loss of every draw; infinite where the two were not measured alike."""
    if [note.kind for note in one] != [note.kind for note in other]:
        return [Loss(math.inf, math.inf)]
    keys: tuple[list[Any], list[Any]] | None = None
    found = []
    for a, b in zip(one, other, strict=True):
        if a.kind not in ADDITIVE and _is_same(a, b):
            found.append(ZERO)
        elif a.kind == "keys":
            keys = (a.more["keys"], b.more["keys"])
            found.append(_selected(a, b))
        elif keys is not None:
            found.append(_additive(*_matched(a, b, keys)))
        elif a.kind == "smooth":
            found.append(_smooth(a, b, epsilon))
        else:
            found.append(KINDS[a.kind](a, b))
    return found


ADDITIVE = ("laplace", "gaussian", "keys")


def _is_same(a: Note, b: Note) -> bool:
    return a.scale == b.scale and a.values == b.values and a.more == b.more


def _same_law(a: Note, b: Note) -> bool:
    return a.scale == b.scale and len(a.values) == len(b.values)


def _additive(a: Note, b: Note) -> Loss:
    if not _same_law(a, b):
        return Loss(math.inf, math.inf)
    if a.more.get("lost") or b.more.get("lost") or None in a.values or None in b.values:
        raise AssertionError("a draw was not followed: the seams do not fit the package any more")
    hidden = a.more.get("hidden", set()) & b.more.get("hidden", set())
    pairs = enumerate(zip(a.values, b.values, strict=True))
    moved = [abs(x - y) for i, (x, y) in pairs if x != y and i not in hidden]
    if not moved:
        return ZERO
    if a.scale == 0:
        return Loss(math.inf, math.inf)
    if a.kind == "gaussian":
        return Loss(math.inf, float(sum(d * d for d in moved) / (2 * Fraction(a.scale))))
    total = Fraction(sum(moved)) / a.scale
    squares = Fraction(sum(d * d for d in moved)) / (a.scale * a.scale) / 2
    return Loss(float(total), float(squares))


def _matched(a: Note, b: Note, keys: tuple[list[Any], list[Any]]) -> tuple[Note, Note]:
    """Values of the keys that both tables have; of others delta has been paid."""
    values = [
        dict(zip(map(repr, k), n.values, strict=True)) for k, n in zip(keys, (a, b), strict=True)
    ]
    both = sorted(set(values[0]) & set(values[1]))
    return (
        Note(a.kind, a.scale, [values[0][k] for k in both]),
        Note(b.kind, b.scale, [values[1][k] for k in both]),
    )


def _selected(a: Note, b: Note) -> Loss:
    """Keys shown by a noisy count: those of one table alone are shown with the delta at most."""
    if a.scale != b.scale or a.more["bar"] != b.more["bar"]:
        return Loss(math.inf, math.inf)
    counts = [dict(zip(map(repr, n.more["keys"]), n.values, strict=True)) for n in (a, b)]
    both = set(counts[0]) & set(counts[1])
    moved = Fraction(sum(abs(counts[0][k] - counts[1][k]) for k in both)) / a.scale
    deltas = []
    for mine, others in (counts, counts[::-1]):
        hidden = 1.0
        for key in set(mine) - set(others):
            hidden *= 1 - laws.tail(a.scale, a.more["bar"] - mine[key])
        deltas.append(1 - hidden)
    return Loss(float(moved), float(moved) ** 2 / 2, max(deltas))


def _quantile(a: Note, b: Note) -> Loss:
    rates = (float(a.scale), float(b.scale))
    found = laws.exponential((a.values, a.more["many"]), (b.values, b.more["many"]), rates)
    return pure(found)


def _flip(a: Note, b: Note) -> Loss:
    return pure(laws.flips(a.values, b.values, (float(a.scale), float(b.scale))))


def _max(a: Note, b: Note) -> Loss:
    return pure(laws.largest(a.values, b.values, (float(a.scale), float(b.scale))))


def _above(a: Note, b: Note) -> Loss:
    if (a.more["bar"], a.more["cutoff"]) != (b.more["bar"], b.more["cutoff"]):
        return Loss(math.inf, math.inf)
    scales = tuple(tuple(map(float, note.scale)) for note in (a, b))
    found = laws.sparse(a.values, b.values, a.more["bar"], a.more["cutoff"], scales)  # type: ignore[arg-type]
    return pure(found)


def _scan(a: Note, b: Note) -> Loss:
    if a.more["bar"] != b.more["bar"]:
        return Loss(math.inf, math.inf)
    scales = tuple(tuple(map(float, note.scale)) for note in (a, b))
    return pure(laws.scan(a.values, b.values, a.more["bar"], scales))  # type: ignore[arg-type]


def _found(a: Note, b: Note) -> Loss:
    """Where a scan stops, and noisy totals there: the worst of all places, of both together."""
    same = all(a.more[name] == b.more[name] for name in ("bar", "noise", "places"))
    if not same or len(a.values) != len(b.values):
        return Loss(math.inf, math.inf)
    apart = [ZERO] * len(a.values)
    totals = zip(a.more["places"], a.more["noise"], a.more["totals"], b.more["totals"], strict=True)
    for place, noise, x, y in totals:
        apart[place] = _additive(Note(*noise, x), Note(*noise, y))
    stops = [[0.0] * len(a.values)] * 2
    if a.values != b.values or a.scale != b.scale:
        stops = [laws.stops(n.values, n.more["bar"], [*map(float, n.scale)]) for n in (a, b)]
    pairs = zip(*stops, apart, strict=True)
    epsilon = max(laws.worst([x], [y]) + one.epsilon for x, y, one in pairs)
    return Loss(epsilon, laws.found(*stops, [one.rho for one in apart]))


def _conditioned(a: Note, b: Note) -> Loss:
    """Noise in a lattice: the difference must lie in it, and costs its norm."""
    if not _same_law(a, b) or a.more != b.more:
        return Loss(math.inf, math.inf)
    moved = [x - y for x, y in zip(a.values, b.values, strict=True)]
    if not any(moved):
        return ZERO
    if a.scale == 0 or not _inside(moved, a.more["basis"]):
        return Loss(math.inf, math.inf)
    norms = [Fraction(sum(map(abs, moved))) / a.scale]
    for columns, scale in a.more["groups"]:
        norms.append(Fraction(sum(abs(moved[c]) for c in columns)) / scale)
    return pure(float(max(norms)))


def _inside(moved: list[int], basis: list[list[int]]) -> bool:
    """Whether the rows, each with a column of its own, add up to it with whole factors."""
    rest = list(moved)
    for row in basis:
        own = next(c for c, v in enumerate(row) if v and sum(1 for r in basis if r[c]) == 1)
        if rest[own] % row[own]:
            return False
        factor = rest[own] // row[own]
        rest = [x - factor * v for x, v in zip(rest, row, strict=True)]
    return not any(rest)


def _table(a: Note, b: Note) -> Loss:
    return pure(laws.weighted(a.values, b.values, (float(a.scale), float(b.scale))))


def _weights(a: Note, b: Note) -> Loss:
    """One choice by exponential weights: its loss, and its divergence of every order under rho."""
    found = laws.weighted(a.values, b.values, (float(a.scale), float(b.scale)))
    rho = laws.divergence(a.values, b.values, (float(a.scale), float(b.scale)))
    return Loss(pure(found).epsilon, rho)


def _ladder(a: Note, b: Note) -> Loss:
    sides = ((a.more["truth"], a.values), (b.more["truth"], b.values))
    return pure(laws.ladder(*sides, a.more["digits"], (float(a.scale), float(b.scale))))


def _smooth(a: Note, b: Note, epsilon: float) -> Loss:
    if a.more != b.more:
        return Loss(math.inf, math.inf)
    sides = ((a.values[0], a.scale), (b.values[0], b.scale))
    if sides[0] == sides[1]:
        return pure(0.0)  # most cells are the same on both
    if a.more["law"] == "waring":
        pairs = laws.smooth("waring", a.more["grid"], *sides)
        return pure(max(abs(x - y) for x, y in pairs))
    return Loss(0.0, 0.0, laws.smooth_excess(a.more["grid"], *sides, epsilon))


KINDS = {
    "laplace": _additive,
    "gaussian": _additive,
    "quantile": _quantile,
    "flip": _flip,
    "max": _max,
    "above": _above,
    "scan": _scan,
    "found": _found,
    "conditioned": _conditioned,
    "table": _table,
    "weights": _weights,
    "ladder": _ladder,
}
