"""The fibre against brute force: every table listed, every claim about all of them checked."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from adomnia.priors.solver.errors import Contradiction, TooLarge
from adomnia.priors.solver.lattice.region import ENDLESS, Region, region, tighten
from adomnia.priors.solver.system import System
from adomnia.priors.solver.tables import certificate
from adomnia.priors.solver.tables.contradiction import check
from adomnia.priors.solver.tables.fibre import determined, is_realisable, range_bound, tables


def margins(shape, sets):
    cells = list(itertools.product(*map(range, shape)))
    return np.array(
        [
            [all(cell[a] == v for a, v in zip(axes, values, strict=True)) for cell in cells]
            for axes in sets
            for values in itertools.product(*(range(shape[a]) for a in axes))
        ],
        dtype=np.int64,
    )


def random_system(rng):
    """Few cells, a total so that there is an end, some values shifted, some rounded."""
    rows, cells = rng.integers(1, 4), rng.integers(2, 6)
    matrix = rng.integers(rng.choice([0, 0, -1]), rng.choice([2, 3, 4]), (rows, cells))
    matrix = np.vstack([matrix, np.ones(cells, np.int64)])
    values = []
    for total in (matrix @ rng.integers(0, 3, cells)).tolist():
        moved = total + int(rng.choice([0, 0, 0, 1, -1]))
        width = rng.integers(0, 2, 2) if rng.random() < 0.3 else (0, 0)
        values.append((moved - int(width[0]), moved + int(width[1])))
    forbidden = [0] if rng.random() < 0.2 else []
    return System.of(matrix, values, None, forbidden)


def brute(system):
    """Every table, by trying all with the total (the last row)."""
    most = max(system.values[-1][1], 0)
    tried = np.array(
        [t for t in itertools.product(range(most + 1), repeat=system.cells) if sum(t) <= most]
    )
    totals = tried @ system.matrix.toarray().T
    low, high = np.array(system.values).T
    fits = ((low <= totals) & (totals <= high)).all(axis=1)
    fits &= ~tried[:, sorted(system.forbidden)].any(axis=1)
    return tried[fits]


def cases(seed, count):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        system = random_system(rng)
        if system.values[-1][1] <= 9:
            yield rng, system, brute(system)


def as_set(rows):
    return {tuple(row) for row in rows.tolist()}


def test_all_tables_are_listed_once():
    for _, system, every in cases(1, 150):
        found = tables(system)
        assert len(found) == len(every)
        assert as_set(found) == as_set(every)


def contradiction_of(system):
    try:
        check(system)
    except Contradiction as problem:
        return problem
    return None


def test_a_contradiction_is_said_exactly_where_there_is_no_table():
    said = 0
    for _, system, every in cases(2, 150):
        problem = contradiction_of(system)
        assert (problem is None) == (len(every) > 0)
        if problem is not None:
            said += 1
            assert all(system.names[row] in str(problem) for row in problem.rows)
    assert said > 20


def test_the_rows_named_contradict_each_other_on_their_own():
    for _, system, every in cases(3, 100):
        if len(every):
            continue
        with pytest.raises(Contradiction) as caught:
            check(system)
        chosen = list(caught.value.rows)
        part = System.of(
            system.matrix.tocsr()[chosen],
            [system.values[row] for row in chosen],
            None,
            sorted(system.forbidden),
        )
        with pytest.raises(Contradiction) as again:
            check(part)
        assert len(again.value.rows) == len(chosen)


def test_determined_cells_are_those_that_never_change():
    for _, system, every in cases(4, 150):
        if len(every):
            same = np.flatnonzero((every == every[0]).all(axis=0))
            assert determined(system) == {int(c): int(every[0, c]) for c in same}


def test_ranges_are_never_exceeded():
    reached = 0
    for rng, system, every in cases(5, 100):
        question = rng.integers(-1, 3, (2, system.cells))
        if len(every):
            values = every @ question.T
            apart = np.abs(values[:, None] - values[None])
            first, second = range_bound(system, question, 1), range_bound(system, question, 2)
            assert first >= apart.sum(axis=2).max()
            assert second >= (apart**2).sum(axis=2).max()
            reached += first == apart.sum(axis=2).max()
    assert reached > 10


def test_changes_are_realisable_where_some_table_can_make_them():
    decided = 0
    for rng, system, every in cases(6, 150):
        change = rng.integers(-1, 2, system.cells)
        witness = {cell: int(x) for cell, x in enumerate(change) if x}
        truth = bool(as_set(every + change) & as_set(every)) if len(every) else False
        answer = is_realisable(system, witness)
        assert answer is truth
        decided += truth
    assert decided > 5


def test_the_values_of_two_margins():
    """3 x 3 with rows 2 2 0 and columns 1 1 2: the empty row is determined."""
    system = System.of(margins((3, 3), [(0,), (1,)]), [2, 2, 0, 1, 1, 2])
    assert determined(system) == {6: 0, 7: 0, 8: 0}
    assert is_realisable(system, {0: 1, 1: -1, 3: -1, 4: 1}) is True
    assert is_realisable(system, {0: 1, 1: -1, 6: -1, 7: 1}) is False
    assert range_bound(system, np.eye(9, dtype=np.int64), 1) <= 8


def test_values_not_given_determine_without_a_number():
    rows = [[1, 1, 0], [0, 1, 0], [0, 0, 1]]
    assert determined(System.of(rows)) == {0: None, 1: None, 2: None}
    assert determined(System.of(rows, [5, 2, None])) == {0: 3, 1: 2, 2: None}
    assert determined(System.of(rows, [5, (1, 2), None])) == {2: None}


def test_rounded_rows_fix_nothing_but_by_their_ends():
    assert determined(System.of([[1, 1]], [(0, 1)])) == {}
    assert determined(System.of([[1, 1]], [(-3, 0)])) == {0: 0, 1: 0}


def test_unknown_values_bound_nothing():
    system = System.of([[1, 1, 1]])
    assert range_bound(system, np.eye(3, dtype=np.int64), 1) is None
    assert is_realisable(system, {0: 5, 1: -5}) is True
    assert is_realisable(system, {0: 1}) is False
    check(system)
    with pytest.raises(TooLarge, match="no upper bound"):
        tables(system)


def test_more_tables_than_allowed():
    with pytest.raises(TooLarge, match="more than 100 tables"):
        tables(System.of(margins((3, 3), [(0,), (1,)]), [9] * 6), most=100)


@pytest.mark.parametrize(
    ("total", "count"),
    [(3, 55), (10, 2211), (20, 26796)],
)
def test_magic_squares_are_counted(total, count):
    """Three by three with all margins r: the known polynomial, 55 for r = 3."""
    assert len(tables(System.of(margins((3, 3), [(0,), (1,)]), [total] * 6))) == count


def test_solvers_that_lie_are_not_believed(monkeypatch):
    """Whatever the solver claims, a table is checked and an emptiness proven."""
    found = region(System.of([[1, 1]], [3]))
    wrong = np.array([1, 1], dtype=np.int64)
    monkeypatch.setattr(certificate, "_suggested", lambda *given: wrong)
    monkeypatch.setattr(certificate, "_phase_one", lambda *given: np.array([1e3]))
    assert certificate.find_point(found) is None
    assert certificate.empty_by(found) is None
    assert certificate.is_empty(found) is False


def test_a_wrong_multiplier_loosens_a_bound_but_never_breaks_it(monkeypatch):
    found = tighten(region(System.of([[1, 1, 0], [0, 1, 1]], [3, 4])))
    for guess in itertools.product([-1.5, 0.0, 0.3, 7.0], repeat=2):
        monkeypatch.setattr(certificate, "_solved", lambda *given, g=guess: np.array(g))
        assert certificate.largest(found, np.array([1, 1, 1])) >= 7


def test_endless_cells_give_no_bound():
    empty = np.zeros((0, 1), np.int64)
    free = Region(
        region(System.of(empty)).matrix,
        *(np.zeros(0, np.int64), np.zeros(0, np.int64)),
        *(np.zeros(1, np.int64), np.full(1, ENDLESS)),
    )
    assert certificate.largest(free, np.array([1])) is None
    assert certificate.largest(free, np.array([-1])) == 0
