"""Edges of bands by private quantiles: halves of halves, each a question that is paid for
(`band_search.md`)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate, groupby
from typing import Any

from adomnia.curator.access import CURATOR
from adomnia.curator.planning.mechanism_choice import LossRequest
from adomnia.curator.releases.bands import BandRequest, Bands, Segment, grid_of
from adomnia.curator.session import Session
from adomnia.curator.table_backend import TableBackend
from adomnia.engines.sql.dialect import quoted
from adomnia.errors import QuestionError
from adomnia.policy.policy import Policy
from adomnia.privacy.events import Event, Exponential, composed
from adomnia.privacy.loss import Loss
from adomnia.schema.domain import Grid

__all__ = [
    "INSIDE",
    "BandSearch",
    "RowsMissed",
    "find_bands",
    "levels_of",
    "refuse_search",
    "rehearse_search",
]

INSIDE = 8
"""So many segments are found in a band, at least: the shape of the numbers inside it."""


def levels_of(many: int) -> int:
    """How often all segments are halved, so that each band has its shape."""
    return math.ceil(math.log2(INSIDE * many))


@dataclass(frozen=True)
class BandSearch:
    """What has been found of a column so far: segments, and how often they will still be halved."""

    column: str
    grid: Grid
    many: int
    segments: tuple[Segment, ...]
    left: int

    @classmethod
    def begun(cls, policy: Policy, request: BandRequest) -> BandSearch:
        """Nothing is known: one segment is the whole domain."""
        grid, many = grid_of(policy, request.column), request.many or 0
        levels = levels_of(many)
        whole = Segment(int(grid.low / grid.step), int(grid.high / grid.step), Fraction(2**levels))
        return cls(request.column, grid, many, (whole,), levels)

    def statement(self, table: str) -> str:
        """The median of every segment, as a question."""
        column, rows = quoted(self.column), quoted(table)
        if len(self.segments) == 1:
            return f"SELECT MEDIAN({column}) AS middle FROM {rows}"  # noqa: S608
        bands = Bands(self.column, self.grid, tuple((one,) for one in self.segments))
        key = bands.case(range(len(self.segments)))
        return f"SELECT {key} AS segment, MEDIAN({column}) AS middle FROM {rows} GROUP BY 1"  # noqa: S608

    def halved(self, rows: Sequence[Sequence[Any]]) -> BandSearch:
        """Every segment cut after its median, as an answer says them.

        A median that lies outside of its segment is all noise: it is cut in the middle.
        """
        middles = {row[0] if len(row) > 1 else 0: row[-1] for row in rows}
        return self._cut([self._index(middles[number]) for number in range(len(self.segments))])

    def rehearsed(self) -> BandSearch:
        """The same with all segments cut in the middle: as many, without any data."""
        return self._cut([one.low - 1 for one in self.segments])

    def _cut(self, middles: Sequence[int]) -> BandSearch:
        pairs = zip(self.segments, middles, strict=True)
        found = tuple(part for one, middle in pairs for part in _halves(one, middle))
        return replace(self, segments=found, left=self.left - 1)

    @property
    def bands(self) -> Bands:
        """As many bands as were asked for, with about as many rows in each as can be."""
        groups = _grouped(list(self.segments), self.many)
        while len(groups) < self.many:
            groups = _one_more(groups)
        return Bands(self.column, self.grid, tuple(tuple(group) for group in groups), found=True)

    def _index(self, value: Any) -> int:
        return round(Fraction(value) / self.grid.step)


def _halves(one: Segment, after: int) -> tuple[Segment, ...]:
    """Up to and with a value, and behind it; in the middle where that is no value inside."""
    if one.steps == 1:
        return (one,)
    middle = min(after, one.high - 1) if one.low <= after <= one.high else (one.low + one.high) // 2
    half = one.weight / 2
    return Segment(one.low, middle, half), Segment(middle + 1, one.high, half)


def _grouped(segments: Sequence[Segment], many: int) -> list[list[Segment]]:
    """Neighbouring segments put together at about even weights; fewer where one is heavy."""
    total = sum(one.weight for one in segments)
    ends = accumulate(one.weight for one in segments)
    bands = [
        int((end - one.weight / 2) * many / total) for end, one in zip(ends, segments, strict=True)
    ]
    pairs = zip(bands, segments, strict=True)
    return [[one for _, one in group] for _, group in groupby(pairs, key=lambda pair: pair[0])]


def _one_more(groups: list[list[Segment]]) -> list[list[Segment]]:
    """The band of most segments in two; where each has one, the widest, in the middle."""
    place = max(range(len(groups)), key=lambda i: (len(groups[i]), groups[i][0].steps))
    group = groups[place]
    if len(group) == 1:
        group = [*_halves(group[0], group[0].low - 1)]
    half = len(group) // 2
    return [*groups[:place], group[:half], group[half:], *groups[place + 1 :]]


# Paying for it


def refuse_search(backend: TableBackend) -> None:
    """Refuse to find bands beside exact releases.

    How far neighbours are apart can depend on the edges there, so that a later level might be
    refused when the first ones are paid: none is begun.
    """
    if backend.public()[1]:
        raise QuestionError(
            "bands are not found in data of which exact releases are public",
            "say where they begin: --bins income=1000,5000",
        )


@dataclass(frozen=True)
class RowsMissed:
    """By how many rows the rank of an edge is off: about, on rows that are spread evenly, and at
    most on any rows (`band_search.md`, claim 5)."""

    about: float
    most: float

    @classmethod
    def of(cls, margins: Sequence[float], values: int, confidence: float) -> RowsMissed:
        """What the levels' rank margins, at this confidence, make of it on so many values."""
        one = before = 0.0
        for margin in margins:
            one, before = margin + (one + before) / 2, one
        odds = max(2.0, (values - 1) * confidence / (1 - confidence))
        return cls(2 * max(margins) / math.log(odds), one)


def rehearse_search(
    backend: TableBackend, requests: Sequence[BandRequest], loss: Loss, confidence: float
) -> dict[str, RowsMissed]:
    """By how many rows the edges of each column miss their ranks; reads no data.

    Every level is planned with segments of even width, so that what could not be found is refused
    before anything is paid.
    """
    session, found = Session(backend, CURATOR), dict[str, RowsMissed]()
    for request in requests:
        search = BandSearch.begun(backend.policy, request)
        sure, values = 1 - (1 - confidence) / search.left, search.segments[0].steps
        margins = []
        while search.left:
            planned = session.plan(
                _asked(session, search), loss.epsilon or None, rho=loss.rho or None, confidence=sure
            )
            margins.append(planned.margins["middle"] or 0.0)
            search = search.rehearsed()
        found[request.column] = RowsMissed.of(margins, values, sure)
    return found


def find_bands(
    session: Session, requests: Sequence[BandRequest], loss: Loss, after: Event
) -> dict[str, Bands]:
    """The bands of every column, each level for this loss; what was found before costs nothing.

    Refused before anything is paid where the budgets do not allow all of it and what comes `after`.
    """
    begun = (BandSearch.begun(session.policy, request) for request in requests)
    known = [_recalled(session, search, loss) for search in begun]
    epsilon = LossRequest(loss.epsilon or None, loss.rho or None).pure
    levels = [Exponential(epsilon, Fraction(1))] * sum(search.left for search in known)
    session.afford(composed([*levels, after]))
    return {search.column: _paid(session, search, loss) for search in known}


def _recalled(session: Session, search: BandSearch, loss: Loss) -> BandSearch:
    """As far as this analyst was told before."""
    epsilon, rho = loss.epsilon or None, loss.rho or None
    while search.left and session.is_known(_asked(session, search), epsilon, rho=rho):
        search = _further(session, search, loss)
    return search


def _paid(session: Session, search: BandSearch, loss: Loss) -> Bands:
    while search.left:
        search = _further(session, search, loss)
    return search.bands


def _asked(session: Session, search: BandSearch) -> str:
    return search.statement(session.policy.table)


def _further(session: Session, search: BandSearch, loss: Loss) -> BandSearch:
    epsilon, rho = loss.epsilon or None, loss.rho or None
    return search.halved(session.ask(_asked(session, search), epsilon, rho=rho).rows)
