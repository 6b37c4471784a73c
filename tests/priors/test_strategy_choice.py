"""Asking less: known figures, derivations that hold for every table, and what is refused."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from adomnia.priors.solver.bound import Bound
from adomnia.priors.solver.lattice.kernel import kernel
from adomnia.priors.solver.shapes import chain, margins
from adomnia.priors.solver.system import System
from adomnia.priors.strategy.choice import candidates, choose, expected_error

ONE = Fraction(1)


def cells(count):
    return sparse.eye_array(count, dtype=np.int64, format="csc")


def known(rows, seed=1, low=3, high=20):
    """A system with the values of a made-up table, and the table."""
    table = np.random.default_rng(seed).integers(low, high, rows.shape[1])
    return System.of(rows, [int(value) for value in rows @ table]), table


def named(found, name, measured):
    """The strategy of this name that measures so many rows."""
    return next(m for m in found if m.name == name and m.rows.shape[0] == measured)


def test_two_by_ten_is_asked_once():
    system, _ = known(margins((2, 10), [(0,), (1,)]))
    found = candidates(system, cells(20), "laplace")
    assert named(found, "the question itself", 20).least_squares == pytest.approx(288)
    reduced = named(found, "the question, reduced", 10)
    assert reduced.bound.upper == 2
    assert reduced.least_squares == pytest.approx(144)
    assert reduced.error == pytest.approx(160)
    best = choose(system, cells(20), "laplace")
    assert best.name == "inside the kernel"
    assert best.rows.shape[0] == 10
    assert best.error == pytest.approx(124.364, abs=0.01)


def test_a_chain_is_one_number():
    system, _ = known(chain(200))
    found = candidates(system, cells(200), "laplace")
    assert named(found, "the question itself", 200).least_squares == pytest.approx(80_000)
    best = choose(system, cells(200), "laplace")
    assert (best.name, best.rows.shape[0]) == ("the question, reduced", 1)
    assert best.error == best.least_squares == pytest.approx(400)
    assert best.basis is None


def test_counties_by_sex_are_asked_for_one_sex():
    system, _ = known(margins((10, 20, 2), [(0,), (0, 1)]))
    found = candidates(system, cells(400), "laplace")
    assert named(found, "the question itself", 400).least_squares == pytest.approx(1600)
    assert found[0].rows.shape[0] == 200
    assert found[0].error == pytest.approx(800)


def test_a_coarse_question_is_asked_itself():
    system, _ = known(margins((4, 5, 6), [(0,), (1,)]))
    found = candidates(system, margins((4, 5, 6), [(0, 2)]), "laplace")
    assert named(found, "the question itself", 24).least_squares == pytest.approx(2560)
    assert named(found, "all cells", 120).least_squares == pytest.approx(12_800)
    assert found[0].rows.shape[0] == 24
    assert found[0].error < 1600
    assert len(found[0].groups) == 4


def test_five_by_five():
    system, _ = known(margins((5, 5), [(0,), (1,)]))
    found = candidates(system, cells(25), "laplace")
    assert named(found, "the question itself", 25).least_squares == pytest.approx(3200)
    assert found[0].name == "inside the kernel"
    assert found[0].error == pytest.approx(940, rel=0.05)
    assert [len(group) for group, _ in found[0].groups] == [5] * 10
    assert all(bound.upper == 2 for _, bound in found[0].groups)


def test_fifty_by_fifty_is_quick():
    system, _ = known(margins((50, 50), [(0,), (1,)]))
    best = choose(system, cells(2500), "gaussian", lambda *_, **__: Bound(ONE, ONE, "made up"))
    assert best.name == "the question itself"
    assert best.least_squares == pytest.approx(2401)


def test_gaussian_noise_is_weighed_by_squares():
    system, _ = known(margins((2, 10), [(0,), (1,)]))
    found = candidates(system, cells(20), "gaussian")
    assert all(measured.basis is None for measured in found)
    assert found[0].rows.shape[0] == 10
    assert found[0].error == pytest.approx(float(found[0].bound.upper) * 20)


def holds(measured, asked, table):
    """Whether the outputs follow from the exact measurements of the table."""
    made = measured.recover @ (measured.rows @ table) + measured.offset
    return (made == asked @ table).all()


SHAPES = {
    "three by four": margins((3, 4), [(0,), (1,)]),
    "two by two by three, pairs": margins((2, 2, 3), [(0, 1), (1, 2), (0, 2)]),
    "chain": chain(9),
    "single sums": margins((2, 2, 2), [(0,), (1,), (2,)]),
    "weighted": sparse.csc_array(np.array([[1, 2, 3, 4, 5], [1, 1, 1, 1, 1]])),
    "no unit": sparse.csc_array(np.array([[2, 3, 4, 0], [0, 2, 2, 6]])),
    "nothing": sparse.csc_array((0, 6), dtype=np.int64),
}


def trivial(system, rows, norm, *, effort):
    return Bound(ONE, ONE, "made up")


@pytest.mark.parametrize("name", SHAPES)
def test_derivations_hold_for_every_table(name):
    rows = SHAPES[name]
    generator = np.random.default_rng(5)
    for seed in range(6):
        system, table = known(rows, seed, 0, 4)
        asked = sparse.csc_array(generator.integers(-1, 3, (6, rows.shape[1])))
        moves = kernel(rows)
        others = [table + generator.integers(-3, 4, len(moves)) @ moves for _ in range(4)]
        others = [t for t in others if (t >= 0).all()]
        for measured in candidates(system, asked, "laplace", trivial):
            assert measured.recover.dtype == np.int64
            assert holds(measured, asked, table)
            assert all(holds(measured, asked, other) for other in others)


@pytest.mark.parametrize("name", SHAPES)
def test_the_lattice_holds_every_possible_change(name):
    """The kernel comes from other code; what it does to the measured rows is in the lattice."""
    rows = SHAPES[name]
    generator = np.random.default_rng(6)
    moves = kernel(rows)
    offered = 0
    for _ in range(6):
        asked = sparse.csc_array(generator.integers(-1, 3, (7, rows.shape[1])))
        for question in (asked, cells(rows.shape[1])):
            for measured in candidates(System.of(rows), question, "laplace", trivial):
                if measured.basis is None:
                    continue
                offered += 1
                span = measured.basis.toarray()
                for change in moves @ measured.rows.toarray().T:
                    assert (coordinates(span, change) @ span == change).all()
    assert offered or name in ("no unit", "nothing")


def test_without_values_nothing_is_derived_that_needs_them():
    rows = margins((2, 5), [(0,), (1,)])
    found = candidates(System.of(rows), cells(10), "laplace")
    assert {measured.name for measured in found} == {"the question itself", "inside the kernel"}
    assert all(not measured.offset.any() for measured in found)
    sums = sparse.csc_array(sparse.vstack([cells(4), np.ones((1, 4), np.int64)]))
    free = choose(System.of(np.zeros((0, 4), np.int64)), sums, "laplace")
    assert (free.name, free.rows.shape[0]) == ("the question, reduced", 4)


def test_a_value_that_follows_from_others_need_not_be_given():
    rows = margins((2, 4), [(0,), (1,)])
    table = np.arange(8) + 1
    values = [int(value) for value in rows @ table]
    system = System.of(rows, [None, *values[1:]])
    found = candidates(system, cells(8), "laplace")
    reduced = named(found, "the question, reduced", 4)
    assert holds(reduced, cells(8), table)
    fewer = System.of(rows, [*values[:2], None, *values[3:5], None])
    assert all(m.rows.shape[0] > 4 for m in candidates(fewer, cells(8), "laplace"))


def test_determined_outputs_come_from_what_is_public():
    rows = margins((2, 3), [(0,), (1,)])
    asked = sparse.csc_array(sparse.vstack([cells(6), rows[:1]]))
    system, table = known(rows)
    best = choose(system, asked, "laplace")
    assert best.determined == (6,)
    assert best.offset[6] == (asked @ table)[6]
    assert not best.recover.toarray()[6].any()
    unknown = choose(System.of(rows), asked, "laplace")
    assert unknown.determined == (6,)
    assert unknown.missing == (6,)
    assert best.missing == ()


def test_sums_of_nought_and_forbidden_cells_are_not_measured():
    rows = margins((3, 3), [(0,), (1,)])
    system = System.of(rows, [4, 0, 5, 3, 3, 3], forbidden=[0])
    best = choose(system, cells(9), "laplace")
    assert set(best.determined) >= {0, 3, 4, 5}
    assert not best.offset[[0, 3, 4, 5]].any()
    assert best.offset[6] == 3


def test_an_answer_that_all_tables_share_is_read_off_one_of_them():
    rows = sparse.csc_array(np.array([[2, 3, 0], [0, 1, 1]]))
    system = System.of(rows, [5, 1])  # (1, 1, 0) is the only table
    best = choose(system, cells(3), "laplace", lambda *_, **__: Bound(0 * ONE, 0 * ONE, "fixed"))
    assert best.rows.shape[0] == 0
    assert best.offset.tolist() == [1, 1, 0]
    assert best.determined == (0, 1, 2)


def test_rounded_values_bind_nothing():
    rows = np.ones((1, 3), np.int64)
    found = candidates(System.of(rows, [(10, 19)]), cells(3), "laplace", trivial)
    assert [m.name for m in found] == ["the question itself"]
    assert found[0].basis is None


def test_contradictions_are_refused():
    rows = np.array([[1, 1, 0], [1, 1, 0]])
    with pytest.raises(ValueError, match="contradict"):
        choose(System.of(rows, [3, 4]), cells(3), "laplace", trivial)


def test_the_choice_is_the_same_every_time():
    system, _ = known(margins((3, 4), [(0,), (1,)]))
    first, second = (choose(system, cells(12), "laplace") for _ in range(2))
    assert first.name == second.name
    assert first.error == second.error
    assert (first.rows != second.rows).nnz == 0


def test_errors_inside_the_kernel_by_brute_force():
    """Wide noise on three cells with a public sum, against a sum over the lattice."""
    scale, reach = 12.0, range(-120, 121)
    basis = np.array([[1, 0, -1], [0, 1, -1]])
    outputs = np.array([[1, 0, 0], [1, -1, 0]])
    factors = np.array(list(itertools.product(reach, repeat=2)))
    noise = factors @ basis
    weights = np.exp(-np.abs(noise).sum(axis=1) / scale)
    squares = ((noise @ outputs.T) ** 2).sum(axis=1)
    exact = float(weights @ squares / weights.sum())
    assert expected_error(basis, outputs, scale) == pytest.approx(exact, rel=5e-3)
    assert expected_error(np.array([[1, 1], [1, -1]]), np.eye(2, dtype=int), 1.0) == float("inf")


def fibre(system, top):
    """Every table with counts below `top` that agrees with the system, one by one."""
    matrix = system.matrix.toarray()
    for table in itertools.product(range(top), repeat=system.cells):
        made = matrix @ np.array(table)
        given = zip(system.values, made, strict=True)
        if not any(table[cell] for cell in system.forbidden) and all(
            value is None or value[0] <= x <= value[1] for value, x in given
        ):
            yield np.array(table)


def made_up(generator):
    """A small system with given, rounded and missing values, forbidden cells, and its table."""
    rows = generator.integers(
        -1 if generator.random() < 0.3 else 0, 3, (generator.integers(1, 4), 5)
    )
    forbidden = [0] if generator.random() < 0.3 else []
    table = generator.integers(0, 3, 5)
    table[forbidden] = 0
    values = []
    for value in (rows @ table).tolist():
        kind = generator.random()
        values.append(None if kind < 0.2 else (value - 1, value + 1) if kind < 0.35 else value)
    return System.of(rows, values, forbidden=forbidden), table


def coordinates(span, change):
    """The factors of a change over the rows of a basis, each by a column of the row's own."""
    own = (span != 0).sum(axis=0) == 1
    pivots = [int(np.flatnonzero(own & (row != 0))[0]) for row in span]
    factors = [Fraction(int(change[c]), int(row[c])) for c, row in zip(pivots, span, strict=True)]
    assert all(factor.denominator == 1 for factor in factors)
    return np.array([int(factor) for factor in factors], np.int64)


@pytest.mark.parametrize("seed", range(15))
def test_made_up_systems_table_by_table(seed):
    """Outputs follow for every table of the fibre, and no two tables leave the lattice."""
    generator = np.random.default_rng(seed)
    system, table = made_up(generator)
    asked = sparse.csc_array(generator.integers(-1, 3, (4, 5)))
    missing = [place for place, value in enumerate(system.values) if value is None]
    same = [t for t in fibre(system, 4) if not (system.matrix @ (t - table))[missing].any()]
    for question in (asked, cells(5)):
        for measured in candidates(system, question, "laplace", trivial):
            assert set(measured.missing) <= set(measured.determined)
            rest = np.setdiff1d(np.arange(question.shape[0]), measured.missing)
            for other in same:
                derived = measured.recover @ (measured.rows @ other) + measured.offset
                assert (derived[rest] == (question @ other)[rest]).all()
                if measured.basis is not None:
                    span = measured.basis.toarray()
                    change = measured.rows @ (other - table)
                    assert (coordinates(span, change) @ span == change).all()
