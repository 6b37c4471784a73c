"""OpenDP's context API over a Polars frame in memory, where a person owns many rows."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from typing import Any

import opendp.prelude as dp
import polars as pl
from serve import Ask, Found, Prepare, cells, serve

MOST = dp.polars.Margin(by=[], max_length=10_000_000)
REGIONS = pl.DataFrame({"region": list(range(1, 51))})


def in_rows(query: Any) -> Any:
    """Five rows of a person, always the same ones: the answers then differ by the noise alone."""
    return query.truncate_per_group(5, keep="first")


def in_groups(query: Any) -> Any:
    """One row of a person in each region, and three of these rows, so three regions.

    `truncate_num_groups(3)` would keep two regions, as dense ranks begin at 1, and pay for three.
    """
    single = query.truncate_per_group(1, by=["region"], keep="first")
    return single.truncate_per_group(3, keep="first")


def by_region(value: Any, query: Any) -> Any:
    return query.group_by("region").agg(value).with_keys(REGIONS)


def questions() -> dict[str, Callable[[Any], Any]]:
    """The queries by the names they have in `benchmarks/units.py`."""
    count, total = dp.len(signed=True), pl.col.income.fill_null(0).dp.sum((0, 200_000))
    people = pl.col.person_id.dp.n_unique(signed=True)
    return {
        "a": lambda q: by_region(count, in_rows(q)),
        "b": lambda q: by_region(total, in_rows(q)),
        "c": lambda q: by_region(count, in_groups(q)),
        "d": lambda q: by_region(total, in_groups(q)),
        "e": lambda q: by_region(people, in_groups(q)),
    }


def main() -> None:
    dp.enable_features("contrib")
    warnings.filterwarnings("ignore")
    frame = pl.read_parquet(sys.argv[1]).lazy()

    def prepare(make: Callable[[Any], Any]) -> tuple[Ask, Any]:
        context = dp.Context.compositor(
            data=frame,
            privacy_unit=dp.unit_of(contributions=1, identifier="person_id"),
            privacy_loss=dp.loss_of(epsilon=1.0),
            split_evenly_over=1,
            margins=[MOST],
        )

        def ask() -> tuple[pl.DataFrame, float]:
            measurement = make(context.query()).resolve()  # a search for the scale of the noise
            begun = time.perf_counter()
            found = context(measurement).collect()
            return found, time.perf_counter() - begun

        def read(got: tuple[pl.DataFrame, float]) -> Found:
            found, prepared = got
            value = next(column for column in found.columns if column != "region")
            return {**cells(found.select("region", value).rows()), "prepared": prepared}

        return ask, read

    asked: dict[str, Prepare] = {name: partial(prepare, make) for name, make in questions().items()}
    serve(f"OpenDP {version('opendp')} (Polars {version('polars')})", asked, {})


if __name__ == "__main__":
    main()
