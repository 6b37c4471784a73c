"""Section 1.2: k-anonymous files, and what the classes in them tell all the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyarrow import parquet

from adomnia.audit.linkage.equivalence_classes import classes, codes
from adomnia.audit.linkage.linkage import link_exactly
from adomnia.audit.linkage.uniqueness import anonymity
from adomnia.cli.demo.census import census_rows
from adomnia.present.drawing.plot import Plot, Series, draw
from experiments.claim import Claim, Found, Scale, Table
from experiments.data import find
from experiments.measured import Measured, share

__all__ = ["CLASSES", "right_without_own"]

KS, WIDTHS = (2, 5, 10, 20), (1, 5, 20)
ALONE = 0.05


@dataclass(frozen=True)
class People:
    """Records, which columns outsiders know, which one is a secret, and where they come from."""

    columns: dict[str, NDArray[Any]]
    quasi: list[str]
    sensitive: str
    source: str


def _people() -> People:
    path = find("adult/adult.parquet")
    if path is not None:
        table = parquet.read_table(path).to_pydict()
        names = {key.replace("-", "_").replace(".", "_"): key for key in table}
        columns = {name: np.asarray(table[key]) for name, key in names.items()}
        quasi = [n for n in ("age", "sex", "race", "education", "marital_status") if n in columns]
        sensitive = next(n for n in ("occupation", "income") if n in columns)
        return People(columns, quasi, sensitive, "UCI Adult")
    made = census_rows(0, 40_000, np.random.default_rng(4))
    columns = {n: made[n].to_numpy(zero_copy_only=False) for n in made.column_names}
    quasi = ["age", "sex", "region", "education"]
    return People(columns, quasi, "occupation", "A MADE-UP CENSUS (the real file is not here)")


def k_anonymity(scale: Scale) -> Found:
    """Files made k-anonymous by coarser ages and by leaving small classes out."""
    people = _people()
    exact = {name: people.columns[name] for name in people.quasi}
    many = len(exact["age"])
    linked = link_exactly(exact, exact, people.quasi, np.arange(many))
    alone = share(round(linked.success.value * many), many)
    files = {(years, k): _published(people, years, k) for years in WIDTHS for k in KS}
    gains = [one.gain for one in files.values()]
    least = min(files.values(), key=lambda one: one.gain.value)
    return Found(
        f"{alone} of all rows are alone and linked; where k-anonymity protects best, the others "
        f"of a class tell the secret of {least.guessed}, against {least.base:.3f} by all rows",
        alone.above(ALONE)
        and all(one.k >= k for (_, k), one in files.items())
        and all(gain.above(0) for gain in gains),
        "Agrees where more than one row in twenty is linked, every file is k-anonymous as asked, "
        "and in every one the others of somebody's class still tell more of the secret than the "
        "whole file does. The own row is left out of the guess. k-anonymity is a condition on the "
        "file: it does not keep a class from sharing its secret.",
        f"columns {', '.join(people.quasi)}; secret: {people.sensitive}; classes below k are left "
        f"out. Data: {people.source}. Errors are over classes, as if drawn from a larger file",
        [Table(("years in a group", "k", "rows left", "guessed from the class",
                "guessed from all left", "secret is certain"),
               [(years, k, f"{one.rows / many:.1%}", one.guessed, f"{one.base:.1%}",
                 f"{one.certain:.1%}") for (years, k), one in files.items()])],
        [draw(_classes_plot(files, people.source))],
    )  # fmt: skip


@dataclass(frozen=True)
class Published:
    """A k-anonymous file: its rows and least class, and how often the secret is guessed.

    `guessed` is from the others of the class, `base` from all rows, `gain` their difference;
    `certain` is the share of rows in classes with one secret for all.
    """

    rows: int
    k: int
    guessed: Measured
    base: float
    gain: Measured
    certain: float


def _published(people: People, years: int, k: int) -> Published:
    coarse = {**people.columns, "age": people.columns["age"] // years}
    group = classes([codes(coarse, name) for name in people.quasi], len(coarse["age"]))
    kept = {name: coarse[name][np.bincount(group)[group] >= k]
            for name in (*people.quasi, people.sensitive)}  # fmt: skip
    rows = len(kept["age"])
    group = classes([codes(kept, name) for name in people.quasi], rows)
    value, domain = codes(kept, people.sensitive)
    counts = np.bincount(group * domain + value).astype(np.int64)
    counts = np.pad(counts, (0, -counts.size % domain)).reshape(-1, domain)
    sizes, hits = counts.sum(axis=1), (counts * right_without_own(counts)).sum(axis=1)
    usual = counts[:, counts.sum(axis=0).argmax()]
    certain = sizes[(counts > 0).sum(axis=1) == 1].sum() / rows
    least = anonymity(kept, people.quasi, people.sensitive).k
    return Published(rows, least, _over(hits, sizes), float(usual.sum() / rows),
                     _over(hits - usual, sizes), float(certain))  # fmt: skip


def right_without_own(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """For each class and value: how often the commonest value of the others is that value.

    `counts` has a row for each class. Of values that are equally common one is taken at random.
    """
    first, place = counts.max(axis=1, keepdims=True), counts.argmax(axis=1)
    rest = counts.copy()
    np.put_along_axis(rest, place[:, None], -1, axis=1)
    best_other = np.where(np.arange(counts.shape[1]) == place[:, None],
                          rest.max(axis=1, keepdims=True), first)  # fmt: skip
    own = counts - 1
    tied = (counts[:, None, :] == own[:, :, None]).sum(axis=2)
    return np.where(own > best_other, 1.0, np.where((own == best_other) & (own > 0),
                                                    1 / (1 + tied), 0.0))  # fmt: skip


def _over(sums: NDArray[Any], sizes: NDArray[np.int64]) -> Measured:
    """A mean over rows, of the sums over classes; the classes are what varies."""
    rows, value = int(sizes.sum()), float(sums.sum() / sizes.sum())
    error = float(np.sqrt(np.square(sums - value * sizes).sum())) / rows
    return Measured(value, error, max(1, sizes.size - 1))


def _classes_plot(files: dict[tuple[int, int], Published], source: str) -> Plot:
    lines = []
    for years in WIDTHS:
        seen = [files[years, k] for k in KS]
        lines.append(Series(f"from the class, {years} years in a group" if years > 1 else
                          "from the class, exact ages", KS, [one.guessed.value for one in seen],
                          [1.96 * one.guessed.se for one in seen]))  # fmt: skip
    for years in (WIDTHS[0], WIDTHS[-1]):
        lines.append(Series(f"from all rows left, {years} years in a group" if years > 1 else
                          "from all rows left, exact ages", KS, [files[years, k].base for k in KS],
                          paper=True))  # fmt: skip
    return Plot(f"k-anonymous files of {source}: the secret guessed all the same", "k",
                "right guesses of the secret", lines, log_across=True)  # fmt: skip


CLASSES = (
    Claim("004", "Section 1.2, k-anonymity",
          "Attributes that are together nearly unique link records to people; k-anonymity is a "
          "syntactic condition and does not give privacy.",
          "no number", k_anonymity, seconds=(3, 3)),
)  # fmt: skip
