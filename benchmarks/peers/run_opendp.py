"""OpenDP's context API over a Polars frame in memory."""

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
PERSON = {"f1", "f2"}

Make = Callable[[Any], Any]


def questions() -> dict[str, tuple[list[str], Make]]:
    """The names of the keys, and the query; known keys are given as a frame."""
    sexes = pl.DataFrame({"sex": ["F", "M"]})
    crossed = sexes.join(pl.DataFrame({"education": list(range(1, 17))}), how="cross")
    regions = pl.DataFrame({"region": list(range(1, 51))})
    count, income = dp.len(signed=True), pl.col.income.fill_null(0)
    total, mean = income.dp.sum((0, 200_000)), income.dp.mean((0, 200_000))
    median = pl.col.age.fill_null(17).dp.median(list(range(17, 91)))
    people = pl.col.person_id.dp.n_unique(signed=True)
    return {
        "a": ([], lambda q: q.select(count)),
        "b": (
            ["sex", "education"],
            lambda q: q.group_by("sex", "education").agg(count).with_keys(crossed),
        ),
        "c1": (["region"], lambda q: q.group_by("region").agg(total).with_keys(regions)),
        "c2": (["region"], lambda q: q.group_by("region").agg(mean).with_keys(regions)),
        "d": ([], lambda q: q.select(median)),
        "e1": (["job"], lambda q: q.group_by("job").agg(count)),
        "f1": ([], lambda q: q.truncate_per_group(5).select(count)),
        # a person counts once for each sex: one row for each, of at most two
        "f2": (
            ["sex"],
            lambda q: (
                q.truncate_per_group(1, by=["sex"])
                .truncate_num_groups(3, by=["sex"], keep="first")
                .group_by("sex")
                .agg(people)
                .with_keys(sexes)
            ),
        ),
    }


def main() -> None:
    dp.enable_features("contrib")
    warnings.filterwarnings("ignore")
    frame = pl.read_parquet(sys.argv[1]).lazy()

    def prepare(name: str, keys: list[str], make: Make) -> tuple[Ask, Any]:
        identifier = {"identifier": "person_id"} if name in PERSON else {}
        delta = {"delta": 1e-7} if name == "e1" else {}
        context = dp.Context.compositor(
            data=frame,
            privacy_unit=dp.unit_of(contributions=1, **identifier),
            privacy_loss=dp.loss_of(epsilon=1.0, **delta),
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
            value = next(column for column in found.columns if column not in keys)
            return {**cells(found.select(*keys, value).rows()), "prepared": prepared}

        return ask, read

    asked: dict[str, Prepare] = {
        name: partial(prepare, name, keys, make) for name, (keys, make) in questions().items()
    }
    label = f"OpenDP {version('opendp')} (Polars {version('polars')})"
    serve(label, asked, {})


if __name__ == "__main__":
    main()
