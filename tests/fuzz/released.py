"""Random small systems of released rows, and questions about their cells."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np
from literal import Public
from shaped import margins

KINDS = ("unknown", "known", "partly", "rounded")
SHAPES = [
    ((2, 3), [(0,), (1,)]),
    ((3, 3), [(0,), (1,)]),
    ((2, 4), [(0,), (1,)]),
    ((2, 2, 2), [(0, 1), (1, 2)]),
    ((2, 2, 2), [(0,), (1,), (2,)]),
    ((2, 2, 2), [(0, 1), (2,)]),
    ((2, 2, 2), [(0, 1), (1, 2), (0, 2)]),
    ((2, 2, 3), [(0, 1), (1, 2), (0, 2)]),
]


@dataclass(frozen=True, eq=False)
class Case:
    """What is public, what is asked, and in which norm."""

    seed: int
    public: Public
    asked: np.ndarray
    norm: int

    def __str__(self) -> str:
        return (
            f"seed {self.seed}, norm {self.norm}, rows {self.public.rows.tolist()}, "
            f"values {list(self.public.values)}, forbidden {sorted(self.public.forbidden)}, "
            f"asked {self.asked.tolist()}"
        )


def case(seed: int) -> Case:
    """The system of a seed; kinds take turns."""
    chance = random.Random(seed)
    kind = KINDS[seed % len(KINDS)]
    rows = some_rows(chance, kind)
    table = np.array([chance.choice((0, 0, 1, 1, 2, 3)) for _ in rows[0]])
    if kind == "rounded":
        table = table.clip(0, 2)
    empty = [c for c, count in enumerate(table) if not count]
    zeros = [c for c in empty if chance.random() < 0.4] if chance.random() < 0.4 else []
    public = Public.of(rows, some_values(chance, kind, rows @ table), zeros)
    return Case(seed, public, some_question(chance, rows.shape[1]), chance.choice((1, 2)))


def mixed_case(seed: int) -> Case:
    """Rounded rows, exact ones, and some whose values are not given; every cell stays bounded."""
    base = case(len(KINDS) * seed + KINDS.index("rounded"))
    chance = random.Random(seed)
    values = list(base.public.values)
    for row in range(len(values)):
        rest = [r for r, value in enumerate(values) if value is not None and r != row]
        covered = bool(rest) and base.public.rows[rest].max(axis=0).all()
        if covered and chance.random() < 0.4:
            values[row] = None
    public = Public.of(base.public.rows, values, base.public.forbidden)
    return Case(seed, public, base.asked, base.norm)


def some_rows(chance: random.Random, kind: str) -> np.ndarray:
    """Rows with all the oddities that a release can have; rounded ones leave no cell out."""
    rows = base_rows(chance, kind)
    for _ in range(chance.choice((0, 0, 1, 2))):
        rows = np.vstack([rows, odd_row(chance, rows)])
    if kind == "rounded":
        rest = (rows.max(axis=0) == 0).astype(np.int64)
        rows = np.vstack([rows, rest]) if rest.any() else rows
    order = list(range(rows.shape[1]))
    chance.shuffle(order)
    return rows[:, order]


def base_rows(chance: random.Random, kind: str) -> np.ndarray:
    style = chance.choice(("bits", "bits", "numbers", "signs", "shape", "windows"))
    if style == "shape" and kind != "rounded":
        return margins(*chance.choice(SHAPES))
    large = {"bits": 9, "numbers": 6, "signs": 6}.get(style, 8)
    cells = chance.randint(2, 5 if kind == "rounded" else large)
    count = chance.randint(1, 4)
    if style == "windows":
        width = chance.randint(2, 3)
        return np.array([[int(0 <= c - r < width) for c in range(cells)] for r in range(cells - 1)])
    low, high = {"numbers": (0, 3), "signs": (-1, 2)}.get(style, (0, 1))
    # Listing tables needs rows without negative coefficients.
    low = low if kind == "unknown" else 0
    return np.array([[chance.randint(low, high) for _ in range(cells)] for _ in range(count)])


def odd_row(chance: random.Random, rows: np.ndarray) -> np.ndarray:
    """A row that says nothing, says it twice, or follows from others."""
    one, other = (rows[chance.randrange(len(rows))] for _ in range(2))
    single = np.eye(rows.shape[1], dtype=np.int64)[chance.randrange(rows.shape[1])]
    return chance.choice((one, one + other, 2 * one, 0 * one, np.ones_like(one), single))


def some_values(chance: random.Random, kind: str, true: np.ndarray) -> list:
    """What is said of the true values."""
    exact = [int(value) for value in true]
    if kind == "unknown":
        return [None] * len(exact)
    if kind == "known":
        return exact
    if kind == "partly":
        return [value if chance.random() < 0.5 else None for value in exact]
    return [(max(0, value - chance.randint(0, 2)), value + chance.randint(0, 1)) for value in exact]


def some_question(chance: random.Random, cells: int) -> np.ndarray:
    """All cells, some of them, counts over several, weighted sums, or the same twice."""
    every = np.eye(cells, dtype=np.int64)
    style = chance.choice(("all", "some", "counts", "sums", "twice"))
    if style == "all":
        return every
    if style == "some":
        return every[sorted(chance.sample(range(cells), chance.randint(1, cells)))]
    if style == "twice":
        return np.vstack([every, every[:1], np.ones((1, cells), dtype=np.int64)])
    low, high = (0, 1) if style == "counts" else (-2, 3)
    count = chance.randint(1, 3)
    return np.array([[chance.randint(low, high) for _ in range(cells)] for _ in range(count)])


# Larger ones, whose steps only a program lists

LARGE = [
    ((4, 4), [(0,), (1,)]),
    ((3, 5), [(0,), (1,)]),
    ((4, 5), [(0,), (1,)]),
    ((2, 3, 3), [(0, 1), (1, 2), (0, 2)]),
    ((3, 3, 2), [(0, 1), (1, 2)]),
    ((2, 2, 4), [(0,), (1, 2)]),
    ((2, 2, 3), [(0,), (1,), (2,)]),
    ((2, 2, 2, 2), [(0, 1), (1, 2), (2, 3)]),
    ((2, 2, 2, 2), [(0, 1), (2, 3), (0, 2)]),
]


def large_case(seed: int) -> Case:
    """A system of ten cells or more without values; some of its cells may be forbidden."""
    chance = random.Random(-seed - 1)
    style = chance.choice(("shape", "shape", "windows", "families", "graph"))
    if style == "shape":
        rows = margins(*chance.choice(LARGE))
    elif style == "windows":
        count, width = chance.randint(10, 14), chance.randint(2, 5)
        rows = np.array([[int(0 <= c - r < width) for c in range(count)] for r in range(count)])
    elif style == "families":
        rows = np.vstack([family(chance, 12) for _ in range(2)])
    else:
        rows = degrees(chance.randint(4, 5))
    share = chance.choice((0, 0, 0.2, 0.4))
    zeros = [c for c in range(rows.shape[1]) if chance.random() < share]
    asked = some_question(chance, rows.shape[1])
    return Case(seed, Public.of(rows, None, zeros), asked, chance.choice((1, 2)))


def family(chance: random.Random, cells: int) -> np.ndarray:
    """Groups, and groups of groups: any two are apart or one inside the other."""
    groups = [chance.randrange(5) for _ in range(cells)]
    above = [chance.randrange(2) for _ in range(5)]
    inner = [[int(g == group) for g in groups] for group in range(5)]
    outer = [[int(above[g] == half) for g in groups] for half in range(2)]
    return np.array(inner + outer)


def degrees(people: int) -> np.ndarray:
    """How many friends each has; the cells are the pairs."""
    pairs = [(a, b) for a in range(people) for b in range(a)]
    return np.array([[int(person in pair) for pair in pairs] for person in range(people)])
