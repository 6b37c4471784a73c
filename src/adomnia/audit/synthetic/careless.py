"""A careless generator, for comparison: everybody's record, with one column shuffled.

It looks made up, no record is anybody's, and it is what many a quick script does. It is made where
the data is, attacked as the release is, and thrown away.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["careless_records", "dealt_column"]

Ints = NDArray[np.int64]


def careless_records(rows: Ints, chance: np.random.Generator) -> Ints:
    """A record for each row; the values of the column that has fewest are dealt anew.

    >>> import numpy as np
    >>> made = careless_records(np.array([[0, 5], [1, 6], [1, 7]]), np.random.default_rng(1))
    >>> sorted(made[:, 0].tolist()), made[:, 1].tolist()
    ([0, 1, 1], [5, 6, 7])
    """
    made = rows.copy()
    column, order = dealt_column(rows, chance)
    made[:, column] = rows[order, column]
    return made


def dealt_column(rows: Ints, chance: np.random.Generator) -> tuple[int, Ints]:
    """The column that is dealt anew, and from which row each of its values comes."""
    values = [np.unique(column).size for column in rows.T]
    least = min((many for many in values if many > 1), default=values[0])
    return values.index(least), chance.permutation(len(rows))
