"""Statements in SQL, over files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import adomnia
from tests.adversary import sources
from tests.adversary.columns import Chance
from tests.adversary.grammar import Grammar
from tests.adversary.pairs import Bench, Stretch, Tally, Use
from tests.adversary.worlds import Rows, World, plain

NEIGHBOURS = 6


FORMS = ("parquet", "parquet", "parquet", "parquet", "csv", "csv", "parquet in place")
"""Where rows lie: they are loaded into an edition, or read in place."""


class Unloaded(Exception):
    """A table that cannot be loaded: whatever a row holds, it can be."""


@contextmanager
def opened(world: World, tables: list[Rows], form: str) -> Iterator[list[Any]]:
    """Databases on an edition of each of the tables."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(sources.room()))
        files = [sources.write(folder, world, rows, form, str(i)) for i, rows in enumerate(tables)]
        try:
            databases = [stack.enter_context(adomnia.open(file)) for file in files]
        except adomnia.AdomniaError as error:
            raise Unloaded(error.message) from None
        loaded = None if form.endswith("in place") else 1
        assert {database.edition and database.edition.number for database in databases} == {loaded}
        yield databases


@dataclass(frozen=True)
class Aim:
    """What is asked of which worlds, where that is not left to chance: statements, the relation
    by its name and by its bounds, the currency, the form of the source."""

    statements: Sequence[str] = ()
    relation: str | None = None
    setting: Mapping[str, Any] = field(default_factory=dict)
    currency: str | None = None
    form: str | None = None

    def world(self, chance: Chance) -> World:
        """Any world of this kind."""
        world = World.drawn(chance, self.relation)
        kind = replace(world.relation, **self.setting)
        return replace(world, relation=kind, currency=self.currency or world.currency)


ANYWHERE = Aim()


def run(stretch: Stretch, aim: Aim = ANYWHERE) -> None:
    """Statements of the grammar, or those aimed at."""
    statements = aim.statements
    for chance in stretch.worlds():
        world = aim.world(chance)
        form = aim.form or chance.choice(FORMS)
        world = plain(world) if form == "csv" or statements else world
        rows = world.table(chance, chance.choice([0.0, 0.15, 0.4]))
        tables = [rows, *(world.neighbour(rows, chance) for _ in range(NEIGHBOURS))]
        grammar = Grammar(world, chance)
        asked = statements or (grammar.statement() for _ in range(stretch.each))
        try:
            with opened(world, tables, form) as databases:
                ask_all(stretch.tally, f"sql {form}", databases, grammar, asked)
        except Unloaded as error:
            stretch.tally.differs(f"sql {form}", world.relation.label, "not loaded", str(error))


def ask_all(
    tally: Tally, part: str, databases: list[Any], grammar: Any, statements: Iterable[str]
) -> None:
    """Many statements of one world; the price rises, so that no answer serves a later one."""
    world, before, was_keyed = grammar.world, "", False
    for number, sql in enumerate(statements):
        terms = price(world, number, grammar.chance)
        label = world.relation.label + (" rho" if "rho" in terms else "")
        bench = Bench(tally, part, label, databases)
        if grammar.chance.random() < 0.05:
            bench.compare(
                lambda database, sql=sql, terms=terms: SimpleNamespace(
                    plan=database.session().plan(sql, **terms)
                ),
                f"plan {sql} -- {terms}",
            )
        asked = partial(_ask, sql=sql, terms=terms)
        answered = bench.compare(asked, f"{sql} -- {terms}", terms)
        if answered and grammar.chance.random() < 0.03:
            bench.repeat(asked, f"again {sql} -- {terms}")
        keyed = any(note.kind == "keys" for note in bench.last[0].notes)
        pair = before and answered and grammar.chance.random() < 0.05
        if pair and not keyed and not was_keyed:  # keys that are selected are judged alone
            bench.compare(_both(before, sql, terms), f"{before}, then {sql} -- {terms}")
        before, was_keyed = sql if answered else "", keyed
    Bench(tally, part, world.relation.label, databases).alike()


def _ask(database: Any, sql: str, terms: Mapping[str, Any]) -> Any:
    return database.session().ask(sql, **terms)


def _both(first: str, second: str, terms: Mapping[str, Any]) -> Use:
    """Two questions as one use: what both tell together is held against what both cost."""

    def use(database: Any) -> Any:
        session = database.session("both")
        answers = [session.ask(sql, **terms) for sql in (first, second)]
        return SimpleNamespace(first=answers[0], second=answers[1])

    return use


def price(world: World, number: int, chance: Any) -> dict[str, Any]:
    """What is paid for a question."""
    amount = f"{chance.choice(world.prices)}.{number:03d}1"
    kind = chance.random()
    error = {"error": "value"} if kind < 0.15 else {"error": "interval"} if kind < 0.3 else {}
    if world.currency == "rho" and chance.random() < 0.8:
        return {"rho": amount, **(error if error.get("error") == "interval" else {})}
    if world.currency == "epsilon" and world.relation.most is None and chance.random() < 0.2:
        return {"epsilon": amount, "delta": "0.0001", **error}
    return {"epsilon": amount, **error}
