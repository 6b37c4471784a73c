"""The census extracts of the paper, or people made up in their place, and what they disclose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyarrow import parquet

from adomnia.audit.disclosure.disclosure import disclosures
from adomnia.audit.disclosure.disclosure_report import DisclosureReport, DisclosureTerms, Level
from adomnia.cli.demo.census import census_rows
from experiments.data import find

__all__ = [
    "EPSILONS",
    "EXTRACTS",
    "Extract",
    "called",
    "cells_of",
    "levels",
    "readings",
    "report_of",
    "rows_of",
    "scale_of",
    "sources",
]

EPSILONS = ("2", "1", "0.5", "0.1", "0.01")
ROWS = 500_000


@dataclass(frozen=True)
class Extract:
    """One of the paper's extracts: its file here, its public columns and its sensitive one."""

    name: str
    file: str
    public: tuple[str, ...]
    sensitive: str
    made_up: tuple[tuple[str, ...], str]


EXTRACTS = (
    Extract("EDU", "census/edu_occ.parquet", ("gender", "occupation", "marital", "race"),
            "education", (("sex", "occupation", "region", "decade"), "education")),
    Extract("OCC", "census/edu_occ.parquet", ("gender", "education", "marital", "race"),
            "occupation", (("sex", "education", "region", "decade"), "occupation")),
    Extract("SALARY", "census/salary.parquet",
            ("gender", "education", "marital", "race", "workclass", "hispanic"), "salary",
            (("sex", "education", "region", "decade", "occupation", "children"), "band")),
)  # fmt: skip


@dataclass(frozen=True)
class Rows:
    """Columns as places in their domains, and where they are from, at length and in a title."""

    codes: dict[str, NDArray[Any]]
    domains: dict[str, Sequence[Any]]
    public: tuple[str, ...]
    sensitive: str
    source: str
    short: str


@lru_cache(maxsize=4)
def rows_of(extract: Extract) -> Rows:
    """The real extract where it is there, else a made-up one, said plainly."""
    path = find(extract.file)
    if path is not None:
        public, sensitive = extract.public, extract.sensitive
        columns = parquet.read_table(path, columns=[*public, sensitive]).to_pydict()
        source = "American Community Survey 2024, in the place of the paper's extract"
        short = "American Community Survey 2024"
    else:
        public, sensitive = extract.made_up
        columns = _made_up()
        source = "A MADE-UP CENSUS: the real extract is not here"
        short = "A MADE-UP CENSUS"
    codes, domains = {}, {}
    for name in (*public, sensitive):
        values, places = np.unique(np.asarray(columns[name]), return_inverse=True)
        codes[name], domains[name] = places, values.tolist()
    return Rows(codes, domains, tuple(public), sensitive, source, short)


@lru_cache(maxsize=1)
def _made_up() -> dict[str, NDArray[Any]]:
    table = census_rows(0, ROWS, np.random.default_rng(2))
    found = {name: table[name].to_numpy(zero_copy_only=False) for name in table.column_names}
    found["decade"] = found["age"] // 10
    found["band"] = np.minimum(found["income"] // 4000, 49)
    children = found.get("children")
    found["children"] = found["age"] % 3 if children is None else children
    return found


@lru_cache(maxsize=8)
def report_of(extract: Extract, epsilons: tuple[str, ...] = EPSILONS) -> DisclosureReport:
    """Disclosures and errors under both readings of *personal group*, with their names."""
    rows = rows_of(extract)
    terms = DisclosureTerms(reading="both", names=True)
    return disclosures(rows.codes, rows.domains, rows.public, rows.sensitive, epsilons, terms)


def levels(extract: Extract, epsilons: tuple[str, ...] = EPSILONS) -> tuple[Level, ...]:
    """What each epsilon gives, for groups by the two published attributes."""
    return report_of(extract, epsilons).readings["pair"]


def sources() -> str:
    """Where the extracts are from."""
    return "; ".join(dict.fromkeys(rows_of(extract).source for extract in EXTRACTS))


def called(title: str, *extracts: Extract) -> str:
    """A drawing's title, which says whose data it shows."""
    short = dict.fromkeys(rows_of(extract).short for extract in extracts or EXTRACTS)
    return f"{title}. Data: {', '.join(short)}"


def scale_of(extract: Extract, epsilon: float) -> float:
    """The scale of the noise: 4 for each pair of public attributes, by epsilon."""
    public = len(rows_of(extract).public)
    return 4 * (public * (public - 1) // 2) / epsilon


def cells_of(extract: Extract) -> tuple[NDArray[np.int64], NDArray[np.int64], float]:
    """The counts of all cells without and with the sensitive attribute, and the sanity bound."""
    rows = rows_of(extract)
    pairs = list(combinations(rows.public, 2))
    flat = np.concatenate([_counts(rows, pair) for pair in pairs])
    deep = np.concatenate([_counts(rows, (*pair, rows.sensitive)) for pair in pairs])
    return flat, deep, 1e-4 * len(rows.codes[rows.sensitive])


def readings(extract: Extract) -> dict[str, float]:
    """The mean relative error at ε = 0.01 over several choices of cells."""
    flat, deep, sanity = cells_of(extract)
    both = np.concatenate([flat, deep])

    def error(cells: NDArray[np.int64], least: float = 0) -> float:
        used = np.maximum(cells[cells >= least], sanity)
        return float(scale_of(extract, 0.01) * np.mean(1 / used))

    return {
        "all cells": error(both),
        "cells that occur": error(both, 1),
        "tables without the sensitive attribute": error(flat),
        "cells above the bound": error(both, sanity),
        "cells above it, tables without it": error(flat, sanity),
    }


def _counts(rows: Rows, names: tuple[str, ...]) -> NDArray[np.int64]:
    shape = [len(rows.domains[name]) for name in names]
    places = np.ravel_multi_index([rows.codes[name] for name in names], shape)
    return np.bincount(places, minlength=int(np.prod(shape)))
