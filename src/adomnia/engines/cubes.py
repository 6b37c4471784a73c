"""Cubes: each row becomes the number of its cell, and cells are counted as the rows stream by.

Many marginals are one pass this way. Where the cube of all attributes would not fit, several
smaller ones are counted that hold every asked marginal between them; where those do not fit
together either, in as many passes as it takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Counts", "Subset", "Tables", "count", "cubes_for", "passes", "sum_down"]

Subset = tuple[int, ...]
Counts = NDArray[np.int64]
Tables = dict[Subset, Counts]


def cubes_for(subsets: Iterable[Subset], sizes: Sequence[int], most: int) -> list[Subset]:
    """Sets of attributes, with at most `most` cells each, such that each subset lies in one.

    The largest come first, and each is put where it adds the fewest cells. A subset that is too
    large by itself stays by itself: its table is asked for, so it must fit anyway.
    """
    found: list[set[int]] = []
    for subset in sorted(set(subsets), key=lambda part: -prod(sizes[i] for i in part)):
        wanted = {*subset}
        joined = [(prod(sizes[i] for i in cube | wanted), place, cube)
                  for place, cube in enumerate(found)]  # fmt: skip
        fits = [one for one in joined if one[0] <= most]
        if fits:
            found[min(fits)[1]] |= wanted
        elif not any(wanted <= cube for cube in found):
            found.append(wanted)
    return [tuple(sorted(cube)) for cube in found]


def passes(cubes: Sequence[Subset], sizes: Sequence[int], most: int) -> list[list[Subset]]:
    """The cubes in lots that fit together; each lot is one pass over the rows."""
    lots: list[list[Subset]] = []
    room = 0
    for cube in cubes:
        cells = prod(sizes[i] for i in cube)
        if not lots or cells > room:
            lots.append([])
            room = most
        lots[-1].append(cube)
        room -= cells
    return lots


def count(
    batches: Iterable[Sequence[NDArray[Any]]], shapes: Sequence[tuple[int, ...]]
) -> list[Counts]:
    """How many rows have each number, for several columns of numbers at once.

    A row with a value outside the axes has the number past the last cell, and is left out.
    """
    flat = [np.zeros(prod(shape) + 1, np.int64) for shape in shapes]
    for columns in batches:
        for cells, numbers in zip(flat, columns, strict=True):
            np.add.at(cells, numbers, 1)
    return [cells[:-1].reshape(shape) for cells, shape in zip(flat, shapes, strict=True)]


def sum_down(cubes: Mapping[Subset, Counts], subsets: Iterable[Subset]) -> Tables:
    """The table of each subset, from the smallest table that holds it.

    Tables that were summed before serve for smaller ones, so the cube itself is read seldom.
    """
    known: dict[Subset, Counts] = dict(cubes)
    found: Tables = {}
    for subset in sorted(subsets, key=len, reverse=True):
        wanted = {*subset}
        holding = [part for part in known if wanted <= {*part}]
        source = min(holding, key=lambda part: known[part].size)
        others = tuple(axis for axis, place in enumerate(source) if place not in wanted)
        ordered = tuple(place for place in source if place in wanted)
        table = np.asarray(known[source].sum(axis=others)) if others else known[source]
        known[ordered] = table
        found[subset] = np.transpose(table, [ordered.index(place) for place in subset])
    return found
