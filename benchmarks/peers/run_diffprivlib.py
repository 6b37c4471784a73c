"""diffprivlib over NumPy arrays: it has no groups and no units, so groups are cut by hand."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.metadata import version
from itertools import pairwise

import numpy as np
import pyarrow.parquet as pq
from diffprivlib import tools
from serve import Found, Prepare, cells, serve

BOUNDS = (0, 200_000)
REGIONS = range(1, 51)

ASSUMES = {
    "c1": "cuts the noisy sum at group size times bound",
    "c2": "takes the size of every group as public",
    "d": "answers with a real number between the ages",
}


def main() -> None:
    table = pq.read_table(sys.argv[1])
    male = (table["sex"].to_numpy() == "M").astype(np.int64)
    education, region, age, income = (
        table[name].to_numpy() for name in ("education", "region", "age", "income")
    )

    def by_region(measure: Callable[..., float]) -> list[float]:
        order = np.argsort(region, kind="stable")
        ends = np.searchsorted(region[order], range(1, 52))
        ordered = income[order]
        return [measure(ordered[a:b], epsilon=1.0, bounds=BOUNDS) for a, b in pairwise(ends)]

    def crossed() -> np.ndarray:
        code = male * 16 + education - 1
        return tools.histogram(code, epsilon=1.0, bins=32, range=(-0.5, 31.5))[0]

    # count_nonzero would cap the count at the array's length; a histogram of one bin does not
    def count() -> np.ndarray:
        return tools.histogram(male, epsilon=1.0, bins=1, range=(0, 1))[0]

    def named(found: list[float]) -> Found:
        return cells(zip(REGIONS, found, strict=True))

    def crossed_cells(found: np.ndarray) -> Found:
        return cells(("FM"[i // 16], i % 16 + 1, value) for i, value in enumerate(found))

    questions: dict[str, Prepare] = {
        "a": lambda: (count, lambda found: cells([found])),
        "b": lambda: (crossed, crossed_cells),
        "c1": lambda: (lambda: by_region(tools.sum), named),
        "c2": lambda: (lambda: by_region(tools.mean), named),
        "d": lambda: (
            lambda: tools.median(age, epsilon=1.0, bounds=(17, 90)),
            lambda found: cells([[found]]),
        ),
    }
    serve(f"diffprivlib {version('diffprivlib')}", questions, ASSUMES)


if __name__ == "__main__":
    main()
