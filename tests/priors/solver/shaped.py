"""Released rows of well-known shapes, and the question for every cell."""

from __future__ import annotations

import itertools

import numpy as np


def cells(count: int) -> np.ndarray:
    """The question for every cell."""
    return np.eye(count, dtype=np.int64)


def margins(sizes, sets) -> np.ndarray:
    """One row for each value of each set of attributes; the last attribute varies fastest."""
    places = list(itertools.product(*map(range, sizes)))
    return np.array(
        [
            [
                int(all(place[a] == v for a, v in zip(attributes, values, strict=True)))
                for place in places
            ]
            for attributes in sets
            for values in itertools.product(*(range(sizes[a]) for a in attributes))
        ]
    )


def chain(count: int) -> np.ndarray:
    """Each two that follow each other, counted together (section 4.1 of the paper)."""
    return np.array([[int(c in (r, r + 1)) for c in range(count)] for r in range(count - 1)])


def sides(rows: int, columns: int) -> np.ndarray:
    """The row and column sums of a table."""
    return margins((rows, columns), [(0,), (1,)])
