"""Four offices with several private tables each: files within the declared bounds, and a policy."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

Rows = Sequence[tuple[Any, ...]]


@dataclass(frozen=True)
class LinkedWorld:
    """The rows of each table under its columns, and the policy that declares them."""

    columns: Mapping[str, tuple[str, ...]]
    rows: Mapping[str, Rows]
    policy: str

    def write(self, folder: Path) -> Path:
        """The files and the policy in a folder; the policy's path."""
        for name, columns in self.columns.items():
            parts = [*zip(*self.rows[name], strict=True)]
            table = pa.table(dict(zip(columns, map(list, parts), strict=True)))
            pq.write_table(table, folder / f"{name}.parquet")
        (file := folder / "adomnia.toml").write_text(self.policy, "utf-8")
        return file


def _table(name: str, key: str = "", references: str = "", **attributes: str) -> str:
    head = f'[tables.{name}]\nsource = "{name}.parquet"\n'
    head += f'key = "{key}"\n' * bool(key) + f"references = {{ {references} }}\n" * bool(references)
    parts = (f"[tables.{name}.attributes.{a}]\n{text}\n" for a, text in attributes.items())
    return head + "".join(parts)


def _listed(*values: str) -> str:
    return f"values = {[*values]!r}".replace("'", '"')


def _whole(low: int, high: int) -> str:
    return f"low = {low}\nhigh = {high}"


def _public(name: str, key: str) -> str:
    return f'[public.{name}]\nsource = "{name}.parquet"\nkey = "{key}"\n'


def _privacy(unit: str, bounds: str) -> str:
    promise = "epsilon = 1e15\ndelta = 0.5\nconfirmed = true\n"
    return f"[privacy]\nunit = {unit}\nmax_rows = {{ {bounds} }}\n{promise}"


YEAR = 'kind = "date"\nlow = "2024-01-01"\nhigh = "2024-12-31"'
FIRST_DAY = date(2024, 1, 1)


def hospital() -> LinkedWorld:
    """Patients, their visits, diagnoses and prescriptions, and public wards."""
    draw, visits, diagnoses, prescriptions = random.Random(1), [], [], []
    patients = [(n, draw.choice("FM"), draw.randrange(100)) for n in range(1, 62)]
    for patient, *_ in patients:
        days = [FIRST_DAY + timedelta(n) for n in draw.sample(range(366), 5)]
        for _ in range(draw.choice((0, 1, 2, 3, 5))):
            key, day = len(visits) + 1, days.pop()
            visits.append((key, patient, draw.choice("abc"), draw.randrange(0, 901, 10), day))
            diagnoses += [(key, c) for c in draw.sample(("flu", "cold", "burn"), draw.randrange(3))]
            drugs = draw.sample(("aspirin", "codeine", "insulin"), draw.randrange(3))
            prescriptions += [(key, drug, draw.randrange(1, 10)) for drug in drugs]
    policy = (
        _table("patients", "id", sex=_listed("F", "M"), age=_whole(0, 110))
        + _table("visits", "id", 'patient = "patients"', ward=_listed("a", "b", "c"),
                 cost=_whole(0, 900), day=YEAR)
        + _table("diagnoses", "", 'visit = "visits"', code=_listed("flu", "cold", "burn"))
        + _table("prescriptions", "", 'visit = "visits"',
                 drug=_listed("aspirin", "codeine", "insulin"), dose=_whole(0, 10))
        + _public("wards", "ward")
        + _privacy('"patients"', 'visits = 6, diagnoses = 20, prescriptions = 20')
    )  # fmt: skip
    columns = {
        "patients": ("id", "sex", "age"),
        "visits": ("id", "patient", "ward", "cost", "day"),
        "diagnoses": ("visit", "code"),
        "prescriptions": ("visit", "drug", "dose"),
        "wards": ("ward", "floor", "name"),
    }
    wards = [("a", 1, "surgery"), ("b", 1, "eyes"), ("c", 2, "children")]
    rows = {"patients": patients, "visits": visits, "diagnoses": diagnoses,
            "prescriptions": prescriptions, "wards": wards}  # fmt: skip
    return LinkedWorld(columns, rows, policy)


def university() -> LinkedWorld:
    """Students, their enrolments with grades, and public courses."""
    draw, enrolments = random.Random(2), []
    students = [(f"s{n}", draw.choice(("law", "arts", "maths")), draw.randrange(2018, 2024))
                for n in range(55)]  # fmt: skip
    courses = [("c1", "law", 6), ("c2", "maths", 9), ("c3", "arts", 6), ("c4", "maths", 3)]
    for student, *_ in students:
        taken = draw.sample([course[0] for course in courses], draw.randrange(4))
        enrolments += [
            (student, c, draw.randrange(1, 11), draw.choice((2023, 2024))) for c in taken
        ]
    policy = (
        _table("students", "student_id", faculty=_listed("law", "arts", "maths"),
               entered=_whole(2018, 2023))
        + _table("enrolments", "", 'student_id = "students"',
                 course=_listed("c1", "c2", "c3", "c4"), grade=_whole(1, 10),
                 year=_whole(2023, 2024))
        + _public("courses", "course")
        + _privacy('"students"', "enrolments = 4")
    )  # fmt: skip
    columns = {
        "students": ("student_id", "faculty", "entered"),
        "enrolments": ("student_id", "course", "grade", "year"),
        "courses": ("course", "school", "credits"),
    }
    rows = {"students": students, "enrolments": enrolments, "courses": courses}
    return LinkedWorld(columns, rows, policy)


def shop() -> LinkedWorld:
    """Customers with orders, suppliers, and lines that belong to one of each."""
    draw, orders, lines = random.Random(3), [], []
    customers = [(n, draw.choice(("north", "south"))) for n in range(40)]
    suppliers = [(n, draw.choice(("north", "south"))) for n in range(12)]
    for customer, _ in customers:
        for _ in range(draw.randrange(4)):
            key = len(orders)
            orders.append((key, customer, draw.choice(("web", "store")), draw.randrange(500)))
            lines += [(key, draw.randrange(12), draw.randrange(1, 6), draw.randrange(1, 100))
                      for _ in range(draw.randrange(1, 4))]  # fmt: skip
    policy = (
        _table("customers", "id", region=_listed("north", "south"))
        + _table("suppliers", "id", region=_listed("north", "south"))
        + _table("orders", "id", 'customer = "customers"', channel=_listed("web", "store"),
                 total=_whole(0, 500))
        + _table("lines", "", '"order" = "orders", supplier = "suppliers"', pieces=_whole(0, 10),
                 price=_whole(0, 100))
        + _privacy('["customers", "suppliers"]', 'orders = 5, lines = "auto"')
    )  # fmt: skip
    columns = {
        "customers": ("id", "region"),
        "suppliers": ("id", "region"),
        "orders": ("id", "customer", "channel", "total"),
        "lines": ("order", "supplier", "pieces", "price"),
    }
    rows = {"customers": customers, "suppliers": suppliers, "orders": orders, "lines": lines}
    return LinkedWorld(columns, rows, policy)


def census() -> LinkedWorld:
    """Households, which are protected whole, and their persons."""
    draw, persons = random.Random(4), []
    households = [(n, draw.choice(("east", "west")), draw.randrange(1, 6)) for n in range(61)]
    for household, *_ in households:
        for place in range(draw.randrange(1, 6)):
            role = "head" if place == 0 else draw.choice(("partner", "child"))
            age, pay = draw.randrange(100), draw.randrange(0, 100_000, 500)
            persons.append((len(persons), household, role, draw.choice("FM"), age, pay))
    policy = (
        _table("households", "id", region=_listed("east", "west"), rooms=_whole(1, 10))
        + _table("persons", "id", 'household = "households"',
                 role=_listed("head", "partner", "child"), sex=_listed("F", "M"),
                 age=_whole(0, 110), income=_whole(0, 100_000))
        + _privacy('"households"', "persons = 6")
    )  # fmt: skip
    columns = {
        "households": ("id", "region", "rooms"),
        "persons": ("id", "household", "role", "sex", "age", "income"),
    }
    return LinkedWorld(columns, {"households": households, "persons": persons}, policy)


WORLDS = {
    "hospital": hospital,
    "university": university,
    "shop": shop,
    "census": census,
}
