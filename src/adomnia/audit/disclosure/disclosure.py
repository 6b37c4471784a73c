"""Disclosures by non-independent reasoning: what noisy marginals say of groups (`disclosure.md`).

A value is disclosed in a group if the noisy tables very likely show how common it is there
(closeness, CP >= K_CP), and it is far more common there than among all (J >= K_J).
The counts are exact, so a report is for the curator's eyes; it names groups only when asked to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.audit.disclosure.closeness import closeness_probability
from adomnia.audit.disclosure.disclosure_report import (
    STANDARD,
    Disclosure,
    DisclosureReport,
    DisclosureTerms,
    Level,
)
from adomnia.errors import QuestionError
from adomnia.privacy.loss import Amount, exact

__all__ = ["disclosures", "expected_disclosures", "gate"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
DENSE = 1 << 22  # cells that are counted in one array; more are sorted
LARGEST = 1 << 62
FINITE = Fraction(10**300)


def disclosures(
    codes: Mapping[str, NDArray[Any]],
    domains: Mapping[str, Sequence[Any]],
    public: Sequence[str],
    sensitive: str,
    epsilons: Iterable[Amount],
    terms: DisclosureTerms = STANDARD,
) -> DisclosureReport:
    """What all two-way marginals of the public columns, with and without the sensitive, disclose.

    `codes` holds each column as places in its domain. The noise is Laplace of the scale of
    `disclosure.md`; nothing is drawn, all figures are exact expectations and probabilities.

    Returns the number of disclosures and the error of the tables, by reading and epsilon. Raises a
    QuestionError where columns, roles or epsilons are wrong.

    >>> import numpy as np
    >>> codes = {name: np.array([0, 1] * 20) for name in ("sex", "region", "ill")}
    >>> domains = dict.fromkeys(codes, ("no", "yes"))
    >>> report = disclosures(codes, domains, ("sex", "region"), "ill", [100])
    >>> report.to_json()["readings"]["pair"][0]["disclosures"]
    0
    """
    _check_columns(codes, domains, public, sensitive)
    rows = _Rows(
        {name: _column(codes, domains, name) for name in (*public, sensitive)},
        {name: len(domains[name]) for name in (*public, sensitive)},
    )
    pairs = [_count(rows, (*pair, sensitive)) for pair in combinations(public, 2)]
    wanted = ("pair", "all") if terms.reading == "both" else (terms.reading,)
    groups = {"pair": pairs}
    if "all" in wanted:
        groups["all"] = [_count(rows, (*public, sensitive))]
    noise = _noise(epsilons, 2 * comb(len(public), 2), terms)
    readings = {name: _levels(groups[name], pairs, noise, terms, domains) for name in wanted}
    return DisclosureReport(readings, terms)


def expected_disclosures(
    tables: Mapping[tuple[str, ...], NDArray[Any]],
    epsilons: Iterable[Amount],
    terms: DisclosureTerms = STANDARD,
    sensitivity: Fraction | None = None,
    domains: Mapping[str, Sequence[Any]] | None = None,
) -> DisclosureReport:
    """The same for a planned release, from its exact tables, before any noise is drawn.

    A table's key names its axes, the sensitive attribute last; it is published with and without
    that axis. `sensitivity` is that of all of them together, by default one (bounded: two) for
    each. Without `domains` values are named by their places. The reading is called `planned`.
    """
    if not tables or len({names[-1:] for names in tables}) != 1:
        raise QuestionError("a planned release has tables, all with the sensitive attribute last")
    marginals = [_count(_weighted(names, table), names) for names, table in tables.items()]
    if len({(part.total, part.prior.tobytes()) for part in marginals}) != 1:
        raise QuestionError("the tables do not agree: they were counted from different rows")
    places = {
        name: range(size)
        for names, table in tables.items()
        for name, size in zip(names, np.shape(table), strict=True)
    }
    noise = _noise(epsilons, 2 * len(tables), terms, sensitivity)
    levels = _levels(marginals, marginals, noise, terms, domains or places)
    return DisclosureReport({"planned": levels}, terms)


def gate(report: DisclosureReport, limit: int) -> bool:
    """Whether no level of the report has more disclosures than `limit`."""
    if limit < 0:
        raise QuestionError("a limit of disclosures is not negative")
    return all(level.disclosures <= limit for part in report.readings.values() for level in part)


@dataclass(frozen=True)
class _Rows:
    """Coded columns, the sizes of their domains, and how often each row is there (None: once)."""

    codes: Mapping[str, Ints]
    sizes: Mapping[str, int]
    weights: Ints | None = None


@dataclass(frozen=True)
class _Marginal:
    """A table with its sensitive axis, and without: the cells that are not empty.

    For each such cell: its number, its value, its count theta and its group's count phi.
    """

    rows: _Rows
    names: tuple[str, ...]
    cells: Ints
    value: Ints
    theta: Ints
    phi: Ints
    sizes: Ints

    @property
    def total(self) -> int:
        """The number of rows."""
        return int(self.sizes.sum())

    @property
    def prior(self) -> Ints:
        """How many rows have each sensitive value."""
        return _sums(self.value, self.theta, self.rows.sizes[self.names[-1]])


def _count(rows: _Rows, names: tuple[str, ...]) -> _Marginal:
    """The marginal on these columns, the sensitive one last."""
    numbers, many = _numbers(rows, names)
    if many <= DENSE:
        counts = _sums(numbers, rows.weights, many)
        cells = np.flatnonzero(counts)
        theta = counts[cells]
    else:
        cells, place = np.unique(numbers, return_inverse=True)
        theta = _sums(place, rows.weights, cells.size)
    group, value = np.divmod(cells, rows.sizes[names[-1]])
    found, place = np.unique(group, return_inverse=True)
    sizes = _sums(place, theta, found.size)
    if not sizes.size:
        raise QuestionError("there are no rows, so there is nothing to disclose")
    return _Marginal(rows, names, cells, value, theta, sizes[place], sizes)


def _numbers(rows: _Rows, names: Sequence[str]) -> tuple[Ints, int]:
    """Each row's cell as one number, its last digit the last column; and a bound of them."""
    numbers, many = np.zeros_like(rows.codes[names[0]]), 1
    for name in names:
        if many * rows.sizes[name] > LARGEST:
            found, numbers = np.unique(numbers, return_inverse=True)
            many = found.size
        numbers, many = numbers * rows.sizes[name] + rows.codes[name], many * rows.sizes[name]
    return numbers, many


def _sums(places: Ints, weights: Ints | None, many: int) -> Ints:
    """The weights summed at each place; floats hold them exactly up to 2^53."""
    return np.bincount(places, weights, many).astype(np.int64)


def _levels(
    groups: Sequence[_Marginal],
    published: Sequence[_Marginal],
    noise: Iterable[tuple[str, float]],
    terms: DisclosureTerms,
    domains: Mapping[str, Sequence[Any]],
) -> tuple[Level, ...]:
    """One level for each scale of the noise; what does not depend on it is computed once."""
    surprising = [_surprising(part, Fraction(str(terms.kj))) for part in groups]
    unit_error = _unit_error(published, terms.sanity)
    levels = []
    for text, scale in noise:
        count, found = 0, []
        for part, chosen in zip(groups, surprising, strict=True):
            close = closeness_probability(part.phi[chosen], part.theta[chosen], terms.tau, scale)
            seen = close >= terms.kcp
            count += int(seen.sum())
            if terms.names:
                found += _named(part, chosen[seen], close[seen], domains)
        levels.append(Level(text, count, unit_error * scale, tuple(found)))
    return tuple(levels)


def _surprising(part: _Marginal, kj: Fraction) -> Ints:
    """The cells with J >= K_J, compared as integers."""
    kind = object if part.total**2 * max(kj.numerator, kj.denominator) > LARGEST else np.int64
    here = part.theta.astype(kind) * part.total * kj.denominator
    all_over = part.phi.astype(kind) * part.prior[part.value] * kj.numerator
    return np.flatnonzero(here >= all_over)


def _unit_error(published: Sequence[_Marginal], sanity: float) -> float:
    """The overall relative error of all cells under noise of scale 1, whose mean size is 1."""
    error, cells = 0.0, 0
    for part in published:
        bound = sanity * part.total
        counts = np.concatenate([part.theta, part.sizes])
        groups = int(np.prod([part.rows.sizes[name] for name in part.names[:-1]], dtype=object))
        many = groups * (part.rows.sizes[part.names[-1]] + 1)
        error += float((1 / np.maximum(counts, bound)).sum()) + (many - counts.size) / bound
        cells += many
    return error / cells


def _named(
    part: _Marginal, chosen: Ints, close: Floats, domains: Mapping[str, Sequence[Any]]
) -> list[Disclosure]:
    """The chosen cells by name, from the first row of each."""
    numbers, _ = _numbers(part.rows, part.names)
    rows = np.flatnonzero(np.isin(numbers, part.cells[chosen]))
    rows = rows[np.unique(numbers[rows], return_index=True)[1]]
    j = part.theta * part.total / (part.phi * part.prior[part.value].astype(np.float64))
    found = []
    for row, cell, closeness in zip(rows, chosen, close, strict=True):
        group = {name: domains[name][int(part.rows.codes[name][row])] for name in part.names}
        value = group.pop(part.names[-1])
        found.append(Disclosure(group, value, float(j[cell]), float(closeness)))
    return found


def _noise(
    epsilons: Iterable[Amount],
    marginals: int,
    terms: DisclosureTerms,
    sensitivity: Fraction | None = None,
) -> list[tuple[str, float]]:
    """Each epsilon as it was written, and the scale of its noise (equation 13)."""
    if sensitivity is None:
        sensitivity = Fraction(marginals * (2 if terms.neighbors == "bounded" else 1))
    given = [epsilons] if isinstance(epsilons, str) else list(epsilons)
    scales = [sensitivity / exact(epsilon) for epsilon in given]
    if not scales or not all(1 / FINITE < scale < FINITE for scale in scales):
        raise QuestionError("at least one epsilon is needed, and a scale of noise that floats hold")
    return [(str(text).strip(), float(scale)) for text, scale in zip(given, scales, strict=True)]


def _check_columns(
    codes: Mapping[str, Any], domains: Mapping[str, Any], public: Sequence[str], sensitive: str
) -> None:
    """Refuse columns that are not there, or in two roles."""
    for name in (*public, sensitive):
        if name not in codes or name not in domains:
            raise QuestionError(
                f"there is no column {name[:80]!r}", "there are: " + ", ".join(codes)
            )
    if sensitive in public:
        raise QuestionError(f"column {sensitive!r} cannot be both public and sensitive")
    if len(set(public)) != len(public) or len(public) < 2:
        raise QuestionError("two-way marginals need at least two different public columns")
    if len({np.shape(codes[name]) for name in (*public, sensitive)}) != 1:
        raise QuestionError("the columns differ in length")


def _column(codes: Mapping[str, NDArray[Any]], domains: Mapping[str, Any], name: str) -> Ints:
    """A column's codes, all of them places in its domain."""
    column, size = np.asarray(codes[name]), len(domains[name])
    if column.ndim != 1 or (column.size and column.dtype.kind not in "iu"):
        raise QuestionError(f"column {name!r} is not a list of codes")
    if column.size and not 0 <= int(column.min()) <= int(column.max()) < size:
        raise QuestionError(f"column {name!r} has a code outside its domain")
    return column.astype(np.int64)


def _weighted(names: tuple[str, ...], table: NDArray[Any]) -> _Rows:
    """A table of counts as rows: one for each cell that is not empty."""
    table = np.asarray(table)
    if not 2 <= len(set(names)) == len(names) == table.ndim or table.dtype.kind not in "iu":
        raise QuestionError("a table has whole counts, and one axis for each of two or more names")
    if table.size and table.min() < 0:
        raise QuestionError("a table of exact counts has no negative one")
    places = np.nonzero(table)
    codes = {name: np.asarray(place, np.int64) for name, place in zip(names, places, strict=True)}
    return _Rows(codes, dict(zip(names, table.shape, strict=True)), table[places].astype(np.int64))
