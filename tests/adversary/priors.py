"""Beside exact releases: neighbours are the tables that agree with them and lie next to each other.

Two tables that agree with all that is public are induced neighbours if no other such table lies
between them: no part of what was changed could have been changed alone. On small domains all
tables are listed, and this is tried on each.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import adomnia
from tests.adversary import sources
from tests.adversary.pairs import Bench, Stretch, Tally

SHAPES = ((2, 2), (2, 3), (3, 2), (2, 2, 2), (3, 3), (2, 4))
NAMES = ("a", "b", "c")
USES = 14
MOST_TABLES = 4000
Table = tuple[int, ...]


@dataclass(frozen=True)
class Public:
    """A shape, and which sums of the table are public: subsets of its axes."""

    shape: tuple[int, ...]
    released: tuple[tuple[int, ...], ...]
    relation: str

    @property
    def cells(self) -> list[tuple[int, ...]]:
        """The cells in their order."""
        return list(itertools.product(*map(range, self.shape)))

    def sums(self, table: Table) -> tuple[int, ...]:
        """All public numbers of a table."""
        found = []
        for axes in self.released:
            for key in itertools.product(*(range(self.shape[a]) for a in axes)):
                found.append(sum(
                    count for cell, count in zip(self.cells, table, strict=True)
                    if tuple(cell[a] for a in axes) == key
                ))  # fmt: skip
        return tuple(found)

    def agreeing(self, table: Table) -> list[Table]:
        """Every table with the same public numbers, found by trying."""
        wanted = self.sums(table)
        masks = [
            [i for i, cell in enumerate(self.cells) if tuple(cell[a] for a in axes) == key]
            for axes in self.released
            for key in itertools.product(*(range(self.shape[a]) for a in axes))
        ]
        found: list[Table] = []

        def fill(prefix: tuple[int, ...], left: list[int]) -> None:
            if len(found) > MOST_TABLES:
                return
            place = len(prefix)
            if place == len(self.cells):
                if not any(left):
                    found.append(prefix)
                return
            mine = [i for i, mask in enumerate(masks) if place in mask]
            for count in range(min(left[i] for i in mine) + 1):
                rest = list(left)
                for i in mine:
                    rest[i] -= count
                fill((*prefix, count), rest)

        fill((), list(wanted))
        return found


def induced(table: Table, tables: Sequence[Table]) -> list[Table]:
    """Those of the tables that no other one lies between."""
    moves = [tuple(b - a for a, b in zip(table, other, strict=True)) for other in tables]
    moves = [move for move in moves if any(move)]

    def within(small: tuple[int, ...], large: tuple[int, ...]) -> bool:
        return all(x * y >= 0 and abs(x) <= abs(y) for x, y in zip(small, large, strict=True))

    kept = [m for m in moves if not any(o != m and within(o, m) for o in moves)]
    return [tuple(a + d for a, d in zip(table, move, strict=True)) for move in kept]


def run(stretch: Stretch) -> None:
    """Uses beside exact releases on small domains."""
    for chance in stretch.worlds():
        _world(stretch.tally, chance)


def _world(tally: Tally, chance: random.Random) -> None:
    shape = chance.choice(SHAPES)
    axes = range(len(shape))
    subsets = [(a,) for a in axes]
    if len(shape) == 3:
        subsets += list(itertools.combinations(axes, 2))
    released = tuple(chance.sample(subsets, min(chance.choice([1, 1, 2, 3]), len(subsets))))
    if chance.random() < 0.2:
        released = (*released, ())
    public = Public(shape, released, chance.choice(["bounded", "unbounded"]))
    most = chance.choice([2, 3, 4])
    table = tuple(chance.randrange(most) for _ in public.cells)
    tables = public.agreeing(table)
    if len(tables) > MOST_TABLES:
        return
    near = induced(table, tables)
    if not near:
        return
    others = chance.sample(near, min(3, len(near)))
    longest = max(near, key=lambda t: sum(abs(a - b) for a, b in zip(t, table, strict=True)))
    rows = [*((t, ()) for t in (table, longest, *others)), *_apart(public, table, chance)]
    currency = chance.choice(["epsilon", "epsilon", "rho"])
    with ExitStack() as stack:
        folder = Path(stack.enter_context(sources.room()))
        files = [
            _write(folder / str(i), public, counts, more, currency)
            for i, (counts, more) in enumerate(rows)
        ]
        databases = [stack.enter_context(adomnia.open(file)) for file in files]
        bench = Bench(tally, "priors", f"induced {public.relation}", databases)
        registered = [_statement(public, axes) for axes in public.released]
        if chance.random() < 0.3:
            what, asked = _use(public, chance, currency, 0)
            bench.compare(_then(asked, registered), f"{what}, then {public}")
            return
        known = chance.random() < 0.5
        for sql, numbers in registered:
            values = numbers(table) if known else None
            bench.compare(_registering(sql, folder, values), f"add_prior {sql}")
        for place in range(USES):
            what, asked = _use(public, chance, currency, place)
            bench.compare(asked, what)


def _apart(
    public: Public, table: Table, chance: random.Random
) -> list[tuple[Table, tuple[Any, ...]]]:
    """The same table and a row that no public number counts: it has no listed value there."""
    if public.relation != "unbounded" or any(not axes for axes in public.released):
        return []
    hit: set[int] = set()
    for axes in public.released:
        if not hit & set(axes):
            hit.add(chance.choice(axes))
    gap = chance.choice([None, "unlisted"])
    values = [f"v{chance.randrange(size)}" for size in public.shape]
    return [(table, (tuple(gap if a in hit else v for a, v in enumerate(values)),))]


def _then(asked: Any, registered: Any) -> Any:
    """A use, and after it the exact releases: the total must cover what they make of it."""

    def use(database: Any) -> Any:
        asked(database)
        made = [database.add_prior(sql, accept=True) for sql, _ in registered]
        return made[-1]

    return use


def _registering(sql: str, folder: Path, numbers: str | None) -> Any:
    file = folder / f"values{abs(hash(sql))}.csv"
    if numbers is not None:
        file.write_text(numbers)
    return lambda database: database.add_prior(sql, values=file if numbers is not None else None)


def _statement(public: Public, axes: tuple[int, ...]) -> tuple[str, Any]:
    names = [NAMES[a] for a in axes]
    sql = f"SELECT {', '.join([*names, 'COUNT(*) AS n'])} FROM people"
    sql += f" GROUP BY {', '.join(names)}" if names else ""

    def numbers(table: Table) -> str:
        lines = [",".join([*names, "n"])]
        for key in itertools.product(*(range(public.shape[a]) for a in axes)):
            count = sum(
                n for cell, n in zip(public.cells, table, strict=True)
                if tuple(cell[a] for a in axes) == key
            )  # fmt: skip
            lines.append(",".join([*(f"v{v}" for v in key), str(count)]))
        return "\n".join(lines) + "\n"

    return sql, numbers


def _use(public: Public, chance: random.Random, currency: str, place: int) -> tuple[str, Any]:
    names = [NAMES[a] for a in range(len(public.shape))]
    amount = f"{chance.choice([1, 3])}.{place:03d}1"
    roll = chance.random()
    if roll < 0.1 and currency == "epsilon" and len(names) == 2:
        return f"independence at {amount}", lambda database: database.session().independence(
            "a", "b", amount
        )
    if roll < 0.25:
        method = chance.choice(["consistent", "consistent", "microdata", "fourier", "marginals-lp"])
        terms: dict[str, Any] = {currency: amount, "method": method, "marginals": [names]}
        return f"release {terms}", lambda database: database.release(database.plan_release(**terms))
    sql = _sql(public, names, chance)
    terms = {currency if chance.random() < 0.9 else "epsilon": amount}
    return f"{sql} -- {terms} beside {public}", lambda database: database.session().ask(
        sql, **terms
    )


def _sql(public: Public, names: list[str], chance: random.Random) -> str:
    def test() -> str:
        a = chance.randrange(len(names))
        value = chance.randrange(public.shape[a] + 1)
        one = f"{names[a]} {chance.choice(['=', '=', '<>'])} 'v{value}'"
        return one if chance.random() < 0.6 else f"{one} {chance.choice(['AND', 'OR'])} {test()}"

    keys = chance.sample(names, chance.randrange(len(names) + 1))
    items = [
        chance.choice([
            "COUNT(*)", "COUNT(*)", f"COUNT(*) FILTER (WHERE {test()})",
            f"SUM(CASE WHEN {test()} THEN 3 ELSE 1 END)", f"SUM(7) FILTER (WHERE {test()})",
            f"COUNT_IF({test()})", f"COUNT(COALESCE({names[0]}, 'v0'))", f"MODE({names[-1]})",
            f"COUNT(DISTINCT {names[0]})", f"AVG(CASE WHEN {test()} THEN 1 ELSE 0 END)",
            f"MEDIAN(LENGTH({names[0]}))",
        ])
        for _ in range(chance.choice([1, 1, 2]))
    ]  # fmt: skip
    shown = ", ".join([*keys, *(f"{item} AS n{i}" for i, item in enumerate(items))])
    sql = f"SELECT {shown} FROM people"
    if chance.random() < 0.3:
        sql += f" WHERE {test()}"
    return sql + (f" GROUP BY {', '.join(keys)}" if keys else "")


def _write(
    folder: Path, public: Public, table: Table, more: tuple[Any, ...], currency: str
) -> Path:
    folder.mkdir()
    cells = [cell for cell, n in zip(public.cells, table, strict=True) for _ in range(n)]
    rows = [*(tuple(f"v{v}" for v in cell) for cell in cells), *more]
    columns = {
        NAMES[a]: pa.array([row[a] for row in rows], pa.string()) for a in range(len(public.shape))
    }
    pq.write_table(pa.table(columns), folder / "people.parquet")
    lists = "".join(
        f"[attributes.{NAMES[a]}]\nvalues = {[f'v{v}' for v in range(size)]}\n"
        for a, size in enumerate(public.shape)
    )
    policy = folder / "adomnia.toml"
    policy.write_text(
        '[data]\nsource = "people.parquet"\ntable = "people"\nversion = "1"\n'
        f'[privacy]\nconfirmed = true\nneighbors = "{public.relation}"\n'
        f"{currency} = 1000000000000\n{lists}"
    )
    return policy
