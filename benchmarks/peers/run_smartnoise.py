"""SmartNoise SQL over its pandas reader, which keeps the rows in SQLite in memory."""

from __future__ import annotations

import sys
from functools import partial
from importlib.metadata import version
from typing import Any

import pandas as pd
from serve import Ask, Found, Prepare, cells, serve
from snsql import Privacy, from_df
from snsql.sql.private_reader import PrivateReader

COLUMNS: dict[str, dict[str, Any]] = {
    "sex": {"type": "string"},
    "education": {"type": "int"},
    "region": {"type": "int"},
    "job": {"type": "string"},
    "age": {"type": "int", "lower": 17, "upper": 90},
    "income": {"type": "int", "lower": 0, "upper": 200_000},
}

QUESTIONS = {
    "a": "SELECT COUNT(*) AS n FROM T.people",
    "b": "SELECT sex, education, COUNT(*) AS n FROM T.people GROUP BY sex, education",
    "c1": "SELECT region, SUM(income) AS s FROM T.people GROUP BY region",
    "c2": "SELECT region, AVG(income) AS a FROM T.people GROUP BY region",
    "e1": "SELECT job, COUNT(*) AS n FROM T.people GROUP BY job",
    "f1": "SELECT COUNT(*) AS n FROM T.people",
    "f2": "SELECT sex, COUNT(DISTINCT person_id) AS n FROM T.people GROUP BY sex",
}

PUBLIC_KEYS = "shows the keys that occur, as if their presence were public"
ASSUMES = dict.fromkeys(("b", "c1", "c2", "f2"), PUBLIC_KEYS)


def metadata(*, rows: int, select: bool, person: bool) -> dict[str, Any]:
    """How the table is declared: by row, or by person with five rows at most."""
    table = {
        "rows": rows,
        "row_privacy": not person,
        "max_ids": 5 if person else 1,
        "sample_max_ids": True,
        "censor_dims": select,
        "clamp_counts": False,
        "clamp_columns": True,
        "person_id": {"type": "int", "private_id": person},
        **COLUMNS,
    }
    return {"": {"T": {"people": table}}}


def main() -> None:
    frame = pd.read_parquet(sys.argv[1])
    size = len(frame)
    row = metadata(rows=size, select=False, person=False)
    loaded = from_df(frame, privacy=Privacy(epsilon=1.0), metadata=row).reader

    def prepare(name: str) -> tuple[Ask, Any]:
        declared = metadata(rows=size, select=name == "e1", person=name.startswith("f"))
        epsilon = 0.5 if name == "c2" else 1.0  # its epsilon is for each of SUM and COUNT
        privacy = Privacy(epsilon=epsilon, delta=1e-7)
        reader = PrivateReader(loaded, declared, privacy=privacy)
        return lambda: reader.execute(QUESTIONS[name]), read

    def read(rows: list[Any]) -> Found:
        return cells(rows[1:])

    questions: dict[str, Prepare] = {name: partial(prepare, name) for name in QUESTIONS}
    serve(f"SmartNoise SQL {version('smartnoise-sql')}", questions, ASSUMES)


if __name__ == "__main__":
    main()
