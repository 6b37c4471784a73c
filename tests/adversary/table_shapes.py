"""Shapes of tables: columns, keys and references, with how many rows of a unit are used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tests.adversary import columns as c
from tests.adversary.columns import Chance, Column

UNIT = "people"
KEYS = ("int64", "int64", "double", "text", "text")


@dataclass(frozen=True)
class Shape:
    """One table: its columns, which of them is its key, and which refer to other tables."""

    name: str
    columns: tuple[Column, ...]
    key: str | None = None
    references: Mapping[str, str] = field(default_factory=dict)
    most: int = 1
    auto: bool = False

    def at(self, name: str) -> int:
        """The place of a column."""
        return [column.name for column in self.columns].index(name)

    @property
    def bound(self) -> str:
        """What `max_rows` says of it."""
        return '"auto"' if self.auto else str(self.most)

    @property
    def policy(self) -> str:
        """Its section of the policy, but for the source."""
        lines = [f'key = "{self.key}"'] if self.key else []
        pairs = ", ".join(f'{column} = "{other}"' for column, other in self.references.items())
        lines += [f"references = {{ {pairs} }}"] if pairs else []
        for column in self.columns:
            if column.policy:
                lines.append(f"[tables.{self.name}.attributes.{column.name}]\n{column.policy}")
        return "\n".join(lines) + "\n"


def _key_column(name: str, chance: Chance) -> Column:
    return Column(name, chance.choice(KEYS), "key")


def _shaped(name: str, made: list[Column], chance: Chance, **more: Any) -> Shape:
    chance.shuffle(made)
    plain = tuple(replace(column, broken=False) for column in made)
    return Shape(name, plain, **more)


# One table of units


def _people(chance: Chance) -> Shape:
    made = [
        _key_column("id", chance),
        c.listed("sex", ("F", "M"), chance),
        c.number("age", chance.choice([0, -5, 9]), chance.choice([5, 21, 101]), chance),
        c.codes("zip", (1, 2, 3, 4), chance),
        c.flag("smoker", chance),
        c.day("born", chance),
        c.text("city", declared=chance.random() < 0.5),
    ]
    return _shaped(UNIT, made, chance, key="id", most=chance.choice([1, 1, 1, 2]))


def _visits(chance: Chance) -> Shape:
    made = [
        _key_column("id", chance),
        _key_column("person", chance),
        c.number("cost", chance.choice([-50, 0, 7]), chance.choice([20, 201]), chance),
        c.listed("ward", ("a", "b", "c"), chance),
        c.codes("zip", (1, 2, 3, 4), chance),
        c.flag("paid", chance),
        c.day("seen", chance),
        c.text("city", declared=chance.random() < 0.5),
    ]
    return _shaped("visits", made, chance, key="id", references={"person": UNIT},
                   most=chance.choice([1, 2, 3, 5]))  # fmt: skip


def _notes(chance: Chance) -> Shape:
    made = [
        _key_column("visit", chance),
        c.number("score", chance.choice([-3, 0]), chance.choice([4, 30]), chance),
        c.listed("code", ("x", "y"), chance),
        c.text("city", declared=False),
    ]
    return _shaped("notes", made, chance, references={"visit": "visits"},
                   most=chance.choice([1, 2, 4]))  # fmt: skip


def _calls(chance: Chance) -> Shape:
    made = [
        _key_column("id", chance),
        _key_column("person", chance),
        c.number("length", 0, chance.choice([5, 60]), chance),
        c.listed("ward", ("a", "z"), chance),
        c.flag("night", chance),
    ]
    return _shaped("calls", made, chance, key="id", references={"person": UNIT},
                   most=chance.choice([1, 2, 3]))  # fmt: skip


# Rows of two units: contacts between people, and what is sold to one by another


def _contacts(chance: Chance) -> Shape:
    made = [
        _key_column("id", chance),
        _key_column("person", chance),
        _key_column("other", chance),
        c.number("minutes", 0, chance.choice([4, 12]), chance),
        c.listed("ward", ("a", "b", "c"), chance),
        c.codes("zip", (1, 2, 3, 4), chance),
    ]
    return _shaped("contacts", made, chance, key="id",
                   references={"person": UNIT, "other": UNIT})  # fmt: skip


def _replies(chance: Chance) -> Shape:
    made = [
        _key_column("contact", chance),
        c.number("score", chance.choice([-2, 0, 1]), 5, chance),
        c.listed("code", ("x", "y"), chance),
    ]
    return _shaped("replies", made, chance, references={"contact": "contacts"})


def _customers(chance: Chance) -> Shape:
    made = [
        _key_column("id", chance),
        c.listed("sex", ("F", "M"), chance),
        c.number("age", 0, 21, chance),
        c.codes("zip", (1, 2, 3, 4), chance),
    ]
    return _shaped("customers", made, chance, key="id", most=chance.choice([1, 1, 2]))


def _suppliers(chance: Chance) -> Shape:
    made = [
        _key_column("id", chance),
        c.number("size", 0, 6, chance),
        c.codes("zip", (1, 2, 3, 4), chance),
        c.flag("open", chance),
    ]
    return _shaped("suppliers", made, chance, key="id", most=chance.choice([1, 1, 2]))


def _sales(chance: Chance) -> Shape:
    made = [
        _key_column("id", chance),
        _key_column("customer", chance),
        _key_column("supplier", chance),
        c.number("price", 0, chance.choice([3, 15]), chance),
        c.listed("ward", ("a", "b"), chance),
        c.day("sold", chance),
    ]
    return _shaped("sales", made, chance, key="id",
                   references={"customer": "customers", "supplier": "suppliers"})  # fmt: skip


def _pieces(chance: Chance) -> Shape:
    made = [
        _key_column("sale", chance),
        c.number("weight", 0, 8, chance),
        c.listed("code", ("x", "y"), chance),
    ]
    return _shaped("pieces", made, chance, references={"sale": "sales"})


def _reviews(chance: Chance) -> Shape:
    made = [
        _key_column("id", chance),
        _key_column("customer", chance),
        c.number("stars", 0, 6, chance),
        c.listed("ward", ("a", "b"), chance),
        c.codes("zip", (1, 2, 3, 4), chance),
    ]
    return _shaped("reviews", made, chance, key="id", references={"customer": "customers"},
                   most=chance.choice([1, 2, 3]))  # fmt: skip


MADE: dict[str, Callable[[Chance], Shape]] = {
    UNIT: _people,
    "visits": _visits,
    "notes": _notes,
    "calls": _calls,
    "contacts": _contacts,
    "replies": _replies,
    "customers": _customers,
    "suppliers": _suppliers,
    "sales": _sales,
    "pieces": _pieces,
    "reviews": _reviews,
}
