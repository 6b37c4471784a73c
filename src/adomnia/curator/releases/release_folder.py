"""The folder of a release: tables, metadata and a page, whole or not at all."""

from __future__ import annotations

import csv
import json
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import quote

from adomnia.curator.answers.omissions import Omission, sentences
from adomnia.curator.releases.bands import Bands
from adomnia.curator.releases.figures import Figure, figures
from adomnia.curator.releases.presentation import MARKS, MODEL, Imprint, Presentation
from adomnia.curator.releases.release import Release
from adomnia.curator.releases.release_omissions import left_out_json
from adomnia.curator.releases.release_plan import named
from adomnia.errors import MachineryError, QuestionError
from adomnia.marginals.adaptive import AdaptivePlan
from adomnia.marginals.core.microdata import SyntheticRecords
from adomnia.marginals.workload import Subset

__all__ = ["refuse_folder", "write_folder"]

TABLES, PRINTED = "marginals", "presentation"


def write_folder(
    release: Release,
    folder: str | Path,
    *,
    microdata: bool = False,
    pages: Mapping[str, str] | None = None,
    presentation: Presentation | None = None,
    imprint: Imprint | None = None,
) -> Path:
    """Write everything beside the place, then move it there in one step.

    The place must not exist yet, or be an empty folder. With a `presentation` the tables are there
    a second time, as they are printed. The `imprint` says who publishes it.
    """
    place = Path(folder).resolve()
    room = _room_beside(Path(folder))
    try:
        told = _Publication(release, imprint or Imprint(), presentation)
        _fill(room, told, microdata, pages or {})
        if place.exists():
            place.rmdir()
        room.rename(place)
    except OSError as error:
        reason = error.strerror or "the disk refused"
        raise MachineryError(f"the release could not be written: {reason}") from None
    finally:
        shutil.rmtree(room, ignore_errors=True)
    return place


def refuse_folder(place: Path) -> None:
    """Refuse, before anything is spent, a place that holds something or cannot be written."""
    _room_beside(place).rmdir()


def _room_beside(place: Path) -> Path:
    """A new folder where the place will be: what can be written there can be moved to it."""
    told = str(place)[:200]
    try:
        if place.is_symlink() and not place.exists():
            raise QuestionError(f"{told!r} leads nowhere", "name a new folder with --out")
        place = place.resolve()
        if place.exists() and (not place.is_dir() or any(place.iterdir())):
            raise QuestionError(f"{told!r} is not empty", "name a new folder with --out")
        place.parent.mkdir(parents=True, exist_ok=True)
        if not place.exists():
            place.mkdir()  # a name that is too long, say, is found out now
            place.rmdir()
        return Path(tempfile.mkdtemp(prefix=".release-", dir=place.parent))
    except (OSError, ValueError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or "it is no name of a folder"
        raise QuestionError(
            f"no folder can be made at {told!r}: {reason}", "name another with --out"
        ) from None


@dataclass(frozen=True)
class _Publication:
    """A release, who publishes it, and how it is printed if it is."""

    release: Release
    imprint: Imprint
    presentation: Presentation | None

    @property
    def folders(self) -> tuple[str, ...]:
        """Where tables are."""
        return (TABLES,) if self.presentation is None else (TABLES, PRINTED)


def _fill(room: Path, told: _Publication, microdata: bool, pages: Mapping[str, str]) -> None:
    release = told.release
    room.chmod(0o755)
    if told.presentation is not None:
        _write_printed(room / PRINTED, release, told.presentation)
    (room / TABLES).mkdir()
    for subset, stem in _stems(release).items():
        _write_table(room / TABLES, release, subset, stem)
    if microdata and release.microdata is not None:
        _write_microdata(room, release, release.microdata)
    (room / "release.json").write_text(json.dumps(_facts(told), indent=1) + "\n", "utf-8")
    metadata = json.dumps(_metadata(told), indent=1)
    (room / "csv-metadata.json").write_text(metadata + "\n", "utf-8")
    for name, text in pages.items():
        (room / name).write_text(text, "utf-8")


def _stems(release: Release) -> dict[Subset, str]:
    """The name of each table's file: what a file may be called, and no name twice."""
    workload, found = release.plan.workload, dict[Subset, str]()
    taken: set[str] = set()
    for subset in workload.marginals:
        plain = re.sub(r"[^\w.-]+", "_", named(workload, subset)).strip("_.")[:120] or "table"
        tries = (plain, *(f"{plain}_{number}" for number in range(2, len(taken) + 3)))
        found[subset] = next(stem for stem in tries if stem.lower() not in taken)
        taken.add(found[subset].lower())
    return found


def _write_table(room: Path, release: Release, subset: Subset, stem: str) -> None:
    names = [release.plan.workload.names[place] for place in subset]
    shown = figures(release, subset)
    heads = [*names, *(name for figure in shown for name in figure.columns)]
    rows = [
        (*key, *(part for pair in pairs for part in pair))
        for key, *pairs in zip(
            _cells(release, subset), *(figure.pairs() for figure in shown), strict=True
        )
    ]
    _write_csv(room / f"{stem}.csv", heads, rows)
    _write_parquet(room / f"{stem}.parquet", heads, rows)


def _write_printed(room: Path, release: Release, presentation: Presentation) -> None:
    room.mkdir()
    names = release.plan.workload.names
    for subset, stem in _stems(release).items():
        shown = figures(release, subset)
        rows = [
            (*key, *(part for cell in cells for part in cell))
            for key, *cells in zip(
                _cells(release, subset),
                *map(presentation.printed_figure, shown),
                strict=True,
            )
        ]
        heads = [names[place] for place in subset]
        heads += [name for figure in shown for name in (*figure.columns, figure.mark)]
        _write_csv(room / f"{stem}.csv", heads, rows)


def _cells(release: Release, subset: Subset) -> Iterator[tuple[Any, ...]]:
    return product(*(release.values[place] for place in subset))


def _write_csv(file: Path, names: list[str], rows: list[tuple[Any, ...]]) -> None:
    with file.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(rows)


def _write_parquet(file: Path, names: list[str], rows: list[tuple[Any, ...]]) -> None:
    import pyarrow  # noqa: PLC0415 (slow to import)
    from pyarrow import parquet  # noqa: PLC0415

    columns = zip(*rows, strict=True) if rows else [() for _ in names]
    arrays = [pyarrow.array(list(column)) for column in columns]
    parquet.write_table(pyarrow.Table.from_arrays(arrays, names=names), file)


def _write_microdata(room: Path, release: Release, made: SyntheticRecords) -> None:
    """All records, some at a time: there may be more than memory holds written out."""
    import pyarrow  # noqa: PLC0415 (slow to import)
    from pyarrow import parquet  # noqa: PLC0415

    columns = list(_record_columns(release))
    schema = pyarrow.schema([(one.name, one.listed.type) for one in columns])
    with (
        (room / "microdata.csv").open("w", newline="", encoding="utf-8") as out,
        parquet.ParquetWriter(room / "microdata.parquet", schema) as file,
    ):
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(schema.names)
        for piece in made.pieces():
            arrays = [one.filled(piece[:, one.place]) for one in columns]
            writer.writerows(zip(*(array.to_pylist() for array in arrays), strict=True))
            file.write_table(pyarrow.Table.from_arrays(arrays, schema=schema))


@dataclass(frozen=True)
class _RecordColumn:
    """A column of the records: the values of a key, or the numbers inside its bands."""

    name: str
    place: int
    listed: Any
    bands: Bands | None = None

    def filled(self, codes: Any) -> Any:
        """What records have there that have these values of the key."""
        import pyarrow  # noqa: PLC0415 (slow to import)

        if self.bands is None:
            return self.listed.take(pyarrow.array(codes))
        numbers = self.bands.drawn(codes)
        return pyarrow.array(numbers.data, self.listed.type, mask=numbers.mask)


def _record_columns(release: Release) -> Iterator[_RecordColumn]:
    """Keys in their order, and beside that of bands the number itself. What no table shows is an
    empty field."""
    import pyarrow  # noqa: PLC0415 (slow to import)

    bands = {one.name: one for one in release.plan.bands}
    for place, key in enumerate(release.plan.layout.keys):
        listed = pyarrow.array([*release.values[place], *([None] if key.hidden else [])])
        yield _RecordColumn(key.name, place, listed)
        if key.name in bands:
            one = bands[key.name]
            yield _RecordColumn(one.column, place, pyarrow.array(one.sample), one)


def _facts(told: _Publication) -> dict[str, Any]:
    release, plan = told.release, told.release.plan
    presentation = told.presentation
    return {
        **told.imprint.to_json(),
        "table": release.table,
        "version": release.version,
        "edition": release.edition,
        "spent": {name: str(value) for name, value in plan.spent.amounts.items()},
        "remaining": {name: str(value) for name, value in release.remaining.items()},
        "method": plan.spec.method,
        "adaptive": isinstance(plan.marginal_plan, AdaptivePlan),
        "mechanism": plan.mechanism,
        "confidence": plan.spec.confidence,
        "unbiased": plan.spec.unbiased,
        "rows": None if release.microdata is None else len(release.microdata),
        "attributes": [
            {
                "name": key.name,
                **({} if key.written is None else {"key": key.written}),
                "values": [_plain(value) for value in key.values],
            }
            for key in plan.layout.keys
        ],
        "marginals": [_about(release, subset, stem) for subset, stem in _stems(release).items()],
        "left_out": left_out_json(plan.layout, release.left_out),
        "bands": [one.to_json() for one in plan.bands],
        "parts": plan.to_json()["parts"],
        "sums": [one.to_json() for one in plan.layout.magnitudes],
        "presentation": None if presentation is None else presentation.to_json(),
        "policy": release.policy,
        "receipt": release.receipt,
        "notes": list(release.notes),
    }


def _about(release: Release, subset: Subset, stem: str) -> dict[str, Any]:
    workload = release.plan.workload
    count, *_ = found = figures(release, subset)
    return {
        "attributes": [workload.names[place] for place in subset],
        "file": f"marginals/{stem}.csv",
        "cells": workload.cells(subset),
        "measured": not count.is_model,
        "largest_margin": count.largest_margin,
        "deviation": release.plan.deviations.get(subset),
        "misfit": release.misfits.get(subset),
        "figures": {figure.name: figure.largest_margin for figure in found},
        "not_shown": [
            {"attribute": one.column, "rows": one.count, "margin": one.margin}
            for one in release.not_shown(subset)
        ],
    }


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


# CSV on the Web: types beside the files, so that other programs read them right.


def _metadata(told: _Publication) -> dict[str, Any]:
    imprint, release = told.imprint, told.release
    tables = [
        {
            "url": f"{folder}/{stem}.csv",
            "tableSchema": {"columns": _columns(release, subset, folder == PRINTED)},
            **_notes(release.not_shown(subset)),
        }
        for folder in told.folders
        for subset, stem in _stems(release).items()
    ]
    by = {"dc:title": imprint.title, "dc:publisher": imprint.publisher}
    said = {name: text for name, text in by.items() if text is not None}
    issued = {"dc:issued": imprint.published.isoformat()}
    about = {"@context": "http://www.w3.org/ns/csvw", **said, **issued, **_notes(release.left_out)}
    return {**about, "tables": tables}


def _notes(left_out: Sequence[Omission]) -> dict[str, Any]:
    """What is said of rows that are not there."""
    notes = [{"dc:description": note} for note in sentences(left_out)]
    return {"notes": notes} if notes else {}


def _columns(release: Release, subset: Subset, printed: bool) -> list[dict[str, Any]]:
    names = release.plan.workload.names
    keys = release.plan.layout.keys
    columns = [
        _column(names[place], _type(release.values[place]))
        | ({"dc:description": said} if (said := keys[place].description) else {})
        for place in subset
    ]
    for figure in figures(release, subset):
        columns += _figure_columns(figure, release.plan.spec.confidence, printed)
    return columns


def _figure_columns(figure: Figure, confidence: float, printed: bool) -> list[dict[str, Any]]:
    number, off = figure.columns
    whole = figure.whole or (printed and figure.rounds)
    often = f"in {confidence:.0%} of all cases the true {figure.said} is this close"
    if figure.is_model:
        often = MARKS[MODEL]
    margin = {**_column(off, "number"), "dc:description": often}
    said = "; ".join(f"{name}: {meaning}" for name, meaning in MARKS.items())
    mark = {**_column(figure.mark, "string"), "dc:description": said}
    count = _column(number, "integer" if whole else "number")
    return [count, margin, *([mark] if printed else [])]


def _column(title: str, datatype: Datatype) -> dict[str, Any]:
    """A column by its heading; its name may hold no blank or sign there."""
    return {"name": quote(title, safe=""), "titles": title, "datatype": datatype}


Datatype = str | dict[str, str]
"""What the W3C's vocabulary for tables calls the values of a column."""


def _type(values: tuple[Any, ...]) -> Datatype:
    kinds = {type(value) for value in values if value is not None}
    if kinds == {datetime}:
        return {"base": "datetime", "format": "yyyy-MM-dd HH:mm:ss"}
    known = {bool: "boolean", int: "integer", float: "number", str: "string"}
    return known.get(next(iter(kinds), str), "date") if len(kinds) == 1 else "string"
