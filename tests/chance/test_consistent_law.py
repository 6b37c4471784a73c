"""Tables drawn among the consistent ones follow the law; small fibres by brute force for others."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy import stats
from seeded import SeededBits

from adomnia.mechanisms.tables.consistent import choose_table, distances, unit
from adomnia.schema.sealed import Sealed


def margins(rows, columns):
    """The matrix of row and column sums, and their values."""
    cells = list(product(range(len(rows)), range(len(columns))))
    matrix = [[int(i == row) for i, _ in cells] for row in range(len(rows))]
    matrix += [[int(j == column) for _, j in cells] for column in range(len(columns))]
    return np.array(matrix), np.array([*rows, *columns])


def fibre(matrix, values):
    """All tables with these sums, cell by cell; every cell lies in some sum."""
    found = [((), tuple(values))]
    for cell in range(matrix.shape[1]):
        column = matrix[:, cell]
        found = [
            ((*table, count), tuple(np.array(left) - count * column))
            for table, left in found
            for count in range(min(np.array(left)[column > 0] // column[column > 0]) + 1)
        ]
        later = matrix[:, cell + 1 :].any(axis=1)
        found = [(table, left) for table, left in found if not np.array(left)[~later].any()]
    return np.array([table for table, _ in found], np.int64)


def neighbors(tables):
    """Induced neighbours by definition: no third table lies between the two in every cell."""
    joined = np.zeros((len(tables), len(tables)), bool)
    for one, other in product(range(len(tables)), repeat=2):
        low = np.minimum(tables[one], tables[other])
        high = np.maximum(tables[one], tables[other])
        between = ((tables >= low) & (tables <= high)).all(axis=1)
        joined[one, other] = one != other and between.sum() == 2
    return joined


def differences(tables):
    """The differences of induced neighbours, up to sign: the moves that are possible here."""
    one, other = np.nonzero(np.triu(neighbors(tables)))
    found = tables[other] - tables[one]
    first = found[np.arange(len(found)), (found != 0).argmax(axis=1)]
    return np.unique(found * np.sign(first)[:, None], axis=0)


def law(start, tables, moves, epsilon):
    """The probabilities that `consistent.md` claims."""
    weights = np.exp(-float(epsilon) / 2 * distances(start, tables, moves) / unit(moves))
    return weights / weights.sum()


TABLES = fibre(*margins((3, 2, 2), (3, 2, 2)))
STARTS = {"corner": TABLES[0], "middle": TABLES[len(TABLES) // 2], "elsewhere": np.arange(9)}


@pytest.mark.parametrize("name", STARTS)
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(2)], ids=str)
def test_drawn_tables_follow_the_law(name, epsilon):
    bits, start, moves = SeededBits(1), STARTS[name], differences(TABLES)
    drawn = [choose_table(Sealed(start), TABLES, moves, epsilon, bits) for _ in range(1500)]
    places = {tuple(table): place for place, table in enumerate(TABLES.tolist())}
    counts = np.bincount([places[tuple(table)] for table in drawn], minlength=len(TABLES))
    expected = law(start, TABLES, moves, epsilon) * len(drawn)
    common = expected > 5
    observed = np.append(counts[common], counts[~common].sum())
    claimed = np.append(expected[common], expected[~common].sum())
    keep = claimed > 0
    assert stats.chisquare(observed[keep], claimed[keep]).pvalue > 1e-4
