"""Bands of numbers: a column becomes a key of few bands, and records get a number inside theirs.

Edges are public, or were found by private quantiles (`band_search.md`). Either way they are public
now: a band is an expression over the declared column, and a table counts between known edges.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.engines.sql.dialect import quoted
from adomnia.errors import QuestionError
from adomnia.limits import MAX_BANDS
from adomnia.mechanisms.randomness import SYSTEM, Bits
from adomnia.policy.policy import Policy
from adomnia.schema.domain import Grid

__all__ = [
    "BandRequest",
    "Bands",
    "Segment",
    "band_requests",
    "even_bands",
    "grid_of",
    "public_bands",
]

Bins = Mapping[str, int | Sequence[Any]]
"""For each column how many bands it has, or the edges at which bands begin."""


@dataclass(frozen=True)
class BandRequest:
    """A column whose numbers are put in so many bands, or in bands that begin at these edges."""

    column: str
    many: int | None = None
    edges: tuple[Fraction, ...] = ()

    @property
    def is_private(self) -> bool:
        """Whether the edges are to be found in the data, and paid for."""
        return self.many is not None


@dataclass(frozen=True)
class Segment:
    """Steps of the domain from low to high, and about what part of all rows is there."""

    low: int
    high: int
    weight: Fraction

    @property
    def steps(self) -> int:
        """How many values it has."""
        return self.high - self.low + 1


@dataclass(frozen=True)
class Bands:
    """The bands of one column: segments of its domain in order, some in each band.

    >>> grid = Grid(Fraction(0), Fraction(9))
    >>> halves = (Segment(0, 3, Fraction(1)), Segment(4, 9, Fraction(1)))
    >>> Bands("age", grid, ((halves[0],), (halves[1],))).labels
    ('0 to 3', '4 to 9')
    """

    column: str
    grid: Grid
    parts: tuple[tuple[Segment, ...], ...]
    found: bool = False
    """Whether the edges come from the data, by private quantiles."""

    @property
    def name(self) -> str:
        """What the key is called; the number itself keeps the column's name."""
        return f"{self.column}_band"

    @cached_property
    def starts(self) -> tuple[str, ...]:
        """Where each band but the first begins, as it is written."""
        return tuple(self._written(part[0].low) for part in self.parts[1:])

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The bands as people read them: their first and their last value."""
        ends = [(part[0].low, part[-1].high) for part in self.parts]
        return tuple(
            self._written(low) if low == high else f"{self._written(low)} to {self._written(high)}"
            for low, high in ends
        )

    @property
    def sql(self) -> str:
        """The key as SQL; what is NULL is in no band."""
        return self.case([f"'{label}'" for label in self.labels])

    def case(self, values: Sequence[object]) -> str:
        """A value for each band, as SQL; NULL has none, nor has what lies outside of the domain."""
        column, tests = quoted(self.column), []
        for part in self.parts:
            low, high = self._written(part[0].low), self._written(part[-1].high)
            tests.append(f"{column} BETWEEN {low} AND {high}")
        pairs = zip(tests, values, strict=True)
        return "CASE " + " ".join(f"WHEN {test} THEN {value}" for test, value in pairs) + " END"

    def to_json(self) -> dict[str, Any]:
        """The bands as plain JSON values: their edges, and the shape inside where one is known."""
        inside = [[self._written(one.low) for one in part] for part in self.parts]
        return {
            "column": self.column,
            "key": self.name,
            "found": self.found,
            "begins": list(self.starts),
            **({"inside": inside} if self.found else {}),
        }

    @property
    def sample(self) -> NDArray[Any]:
        """No numbers, of the type that these have."""
        return np.zeros(0, np.int64 if self.grid.step.denominator == 1 else np.float64)

    def drawn(self, codes: NDArray[Any], bits: Bits = SYSTEM) -> np.ma.MaskedArray:
        """A number for each band in `codes`, by the shape inside; past the last one it is NULL.

        A segment of the band is drawn by its weight, and a step of that evenly. This protects
        nobody: bands and shapes are public.
        """
        segments = [one for part in self.parts for one in part]
        ends = np.cumsum([float(one.weight) for one in segments])
        bounds = np.cumsum([0, *(len(part) for part in self.parts)])
        edges = np.concatenate([[0.0], ends])[bounds]
        band = np.minimum(codes.astype(np.int64), len(self.parts) - 1)
        spots = edges[band] + _even(bits, len(band)) * (edges[band + 1] - edges[band])
        # A spot that rounding puts on the edge stays in its band.
        places = np.searchsorted(ends, spots, "right").clip(bounds[band], bounds[band + 1] - 1)
        lows = np.array([one.low for one in segments], np.int64)
        steps = np.array([one.steps for one in segments], np.int64)
        inside = (_even(bits, len(band)) * steps[places]).astype(np.int64)
        index = lows[places] + np.minimum(inside, steps[places] - 1)
        return np.ma.MaskedArray(self._numbers(index), codes >= len(self.parts))

    def _numbers(self, index: NDArray[np.int64]) -> NDArray[Any]:
        if self.grid.step.denominator == 1:
            return index * int(self.grid.step)
        return np.round(index * float(self.grid.step), self._places)

    @property
    def _places(self) -> int:
        return _places(self.grid.step)

    def _written(self, index: int) -> str:
        """A value of the domain, exactly."""
        number = index * self.grid.step
        if self.grid.step.denominator == 1:
            return str(int(number))
        return f"{Decimal(number.numerator) / Decimal(number.denominator):.{self._places}f}"


def _even(bits: Bits, many: int) -> NDArray[np.float64]:
    """Numbers from 0 up to 1, each of 53 bits."""
    return np.asarray(bits.words(many) >> np.uint64(11), np.float64) * 2.0**-53


def _places(step: Fraction) -> int:
    """How many decimals a step has."""
    return next(places for places in range(40) if 10**places % step.denominator == 0)


def band_requests(bins: Bins | Iterable[str]) -> tuple[BandRequest, ...]:
    """What is asked for, as a person writes it: `income=10`, `income=1000,5000`, or a mapping.

    One number says how many bands there are; a list, or a comma, says where they begin.

    >>> band_requests(["income=10"])[0].many, band_requests({"age": [18, 65]})[0].edges
    (10, (Fraction(18, 1), Fraction(65, 1)))
    """
    pairs = bins.items() if isinstance(bins, Mapping) else [_split(text) for text in bins]
    found = tuple(_request(column, said) for column, said in pairs)
    names = [one.column for one in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise QuestionError(f"the bands of {twice[:60]!r} are said twice", "say them once")
    return found


def _split(text: str) -> tuple[str, int | Sequence[str]]:
    column, sign, said = text.rpartition("=")
    if not sign or not column.strip() or not said.strip():
        raise _wrong(text)
    if "," in said:
        return column.strip(), [part for part in said.split(",") if part.strip()]
    try:
        return column.strip(), int(said)
    except ValueError:
        raise _wrong(text) from None


def _request(column: str, said: int | Sequence[Any]) -> BandRequest:
    if isinstance(said, int) and not isinstance(said, bool):
        return BandRequest(column, many=said)
    try:
        edges = tuple(Fraction(str(edge).strip()) for edge in said)  # type: ignore[union-attr]
    except (TypeError, ValueError, ZeroDivisionError):
        raise _wrong(f"{column}={said}") from None
    if not edges:
        raise _wrong(f"{column}={said}")
    return BandRequest(column, edges=edges)


def _wrong(text: str) -> QuestionError:
    return QuestionError(
        f"{text[:60]!r} says no bands",
        "for example income=10 for ten bands, or income=1000,5000 for bands that begin there",
    )


# Bands whose edges need no data


def grid_of(policy: Policy, column: str) -> Grid:
    """The domain of a column of numbers, refused where it is no such column."""
    attribute = policy.attributes.get(column)
    if attribute is None:
        hint = "declared are: " + ", ".join(policy.attributes)
        raise QuestionError(f"{column[:60]!r} is not a declared attribute", hint)
    domain = attribute.domain
    if not isinstance(domain, Grid):
        raise QuestionError(
            f"{column[:60]!r} is no number with a low and a high, so it has no bands",
            "take a key such as CASE or EXTRACT in its place",
        )
    if not any(10**places % domain.step.denominator == 0 for places in range(40)):
        raise QuestionError(
            f"the step of {column[:60]!r} is no decimal", "declare another, such as 0.01"
        )
    return domain


def public_bands(policy: Policy, request: BandRequest) -> Bands:
    """Bands that begin at public edges; inside a band every value is as likely."""
    grid = grid_of(policy, request.column)
    places = [edge / grid.step for edge in request.edges]
    low, high = int(grid.low / grid.step), int(grid.high / grid.step)
    inside = all(low < place <= high for place in places)
    if not inside or any(place.denominator != 1 for place in places):
        raise QuestionError(
            f"an edge of {request.column[:60]!r} is no value above the lowest of its domain",
            f"edges are multiples of {grid.step} above {grid.low} and up to {grid.high}",
        )
    starts = [low, *map(int, places)]
    if starts != sorted(set(starts)):
        raise QuestionError(
            f"the edges of {request.column[:60]!r} do not rise", "say each once, the lowest first"
        )
    _refuse_many(request.column, len(starts), high - low + 1)
    return _plain(request.column, grid, starts)


def even_bands(policy: Policy, request: BandRequest) -> Bands:
    """As many bands as are asked for, of even width: what stands for those that will be found."""
    grid, many = grid_of(policy, request.column), request.many or 0
    low, high = int(grid.low / grid.step), int(grid.high / grid.step)
    if many < 2:
        raise QuestionError(
            f"{many} bands of {request.column[:60]!r} tell nothing apart", "take two or more"
        )
    _refuse_many(request.column, many, high - low + 1)
    return _plain(request.column, grid, [low + (high - low + 1) * i // many for i in range(many)])


def _refuse_many(column: str, many: int, steps: int) -> None:
    most = min(MAX_BANDS, steps)
    if many > most:
        raise QuestionError(
            f"{column[:60]!r} cannot have {many:,} bands",
            f"at most {most:,}: "
            + ("so many values it has" if steps <= MAX_BANDS else "take the column by a key"),
        )


def _plain(column: str, grid: Grid, starts: Sequence[int]) -> Bands:
    ends = [*(start - 1 for start in starts[1:]), int(grid.high / grid.step)]
    parts = tuple(
        (Segment(low, high, Fraction(high - low + 1)),)
        for low, high in zip(starts, ends, strict=True)
    )
    return Bands(column, grid, parts)
