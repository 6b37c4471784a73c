"""What stands behind a database: a policy, its engine and its ledger, opened and read together."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, TypeVar

from adomnia.curator.access import CURATOR
from adomnia.curator.answers.memory import Memory, recorded
from adomnia.curator.data.editions import Editions, in_force
from adomnia.curator.data.several_tables import several_of
from adomnia.curator.data.sources import open_engine, telling
from adomnia.curator.exact_releases.prior_registry import PriorRegistry
from adomnia.curator.ledger_view import open_journal
from adomnia.curator.planning.pricing import check_prices
from adomnia.curator.policy_lines import located, refuse_unknown_columns
from adomnia.engines.engine import Engine, Request
from adomnia.ledger.journal import Journal
from adomnia.ledger.reserve import Budgets
from adomnia.mechanisms.counts.row_limit import limit_histogram, limit_rows
from adomnia.mechanisms.joins.measured_at_bound import SummedRows
from adomnia.mechanisms.mechanism import Mechanism, Releasing
from adomnia.policy.policy import Policy
from adomnia.priors.prior_knowledge import PriorKnowledge
from adomnia.privacy.contribution import ROWS
from adomnia.privacy.premises import Facts
from adomnia.privacy.reads import (
    CellTotals,
    CellValues,
    KeyTotals,
    MarginalTables,
    Reads,
    UnitPeaks,
    UnitRows,
)
from adomnia.privacy.unit_reads import PairSums, UnitSums
from adomnia.queries.block_reach import within_blocks
from adomnia.queries.blocks import Block, Touched
from adomnia.queries.expression import Expr
from adomnia.queries.operations import call
from adomnia.queries.question import Question
from adomnia.queries.rows import OWNER
from adomnia.queries.rows_record import rows_json
from adomnia.queries.sql.bind import interpret, refused
from adomnia.schema.sealed import Sealed
from adomnia.schema.table import PublicTable, Table
from adomnia.schema.tables import Tables

__all__ = [
    "TableBackend",
    "check_columns",
    "in_place",
    "prepare_sealed",
    "read_sealed",
    "table_of",
]

T = TypeVar("T")

RECORDS = 1024
"""So many records of earlier uses are kept read; the rest are read when they are needed."""


OPEN = 2
"""So many editions are open, the last: a question that is under way may read the one before."""


class TableBackend:
    """Where a question meets data and budget; sessions sit at it."""

    def __init__(self, policy: Policy, accept: bool = False, source: Any = None) -> None:
        _check_mechanisms(policy)
        self.table, self.source = table_of(policy), source
        self.salt, self.base = policy.digest, self
        self.view: str | None = None
        self.shown: tuple[str, ...] | None = None  # of a view, its columns
        self._stored: Table | Tables = self.table
        if policy.several is not None:
            self._stored = policy.several.tables
        self._asked: dict[str, Engine] = {}
        self.editions = _editions(policy, source)
        if self.editions is None:
            self.current, self.engine = None, in_place(policy, self.table, source)
            self.journal = open_journal(policy)
        else:
            with located(policy, ("data", "source")):
                check = partial(check_columns, policy)
                self.journal, opened = in_force(self.editions, self._stored, check, telling())
            self.current, self.engine = opened.edition, opened.engine
        self._opened: list[Engine] = [self.engine]
        self.policy = policy = replace(policy, rows_stay=self.engine.row_count_is_stable)
        self._binders = lru_cache(maxsize=64)(lambda _: lru_cache(maxsize=512)(self._bound))
        self._recall = lru_cache(maxsize=RECORDS)(partial(recorded, self.journal))
        self._read: dict[str, Any] = {}
        self._public = (-1, PriorKnowledge())
        columns = () if policy.several is not None else tuple(self.engine.columns())
        self.knowledge = PriorRegistry(policy, self.journal, self.bind, columns, self.edition)
        try:
            self.knowledge.add_declared(accept)
            self.knowledge.check_promise(accept)
        except BaseException:
            self.close()
            raise

    def public(self) -> tuple[int, PriorKnowledge]:
        """How many exact releases there are, and what they say together."""
        priors = self.journal.account().priors
        if self._public[0] != len(priors):
            self._public = (len(priors), self.knowledge.known(priors))
        return self._public

    def bind(self, sql: str, analyst: str = CURATOR) -> Question:
        """The question that a statement asks of this data.

        It is remembered for this analyst alone: how long it takes tells of nobody else.
        """
        question = self.interpret(sql, analyst)
        if question.refusal is not None:
            raise refused(sql, question.refusal)
        return question

    def interpret(self, sql: str, analyst: str = CURATOR) -> Question:
        """The same, also where a comparison is never true: values may be examples still."""
        return self._binders(analyst)(sql)

    def version(self) -> str:
        """A digest that changes when the data does; salted, so that it says nothing else.

        Every use names it before it is paid, so here the engine is opened anew where it has died,
        or where the curator has loaded a new edition. Where data that is read in place has a
        declared version, it is what the curator says it is.
        """
        self.take_last()
        (engine := self.engine).ready()
        named = self._digest(self.salt, engine)
        self._asked[named] = engine
        return named

    def edition(self) -> str:
        """A digest of which state of the data is read, whatever else the policy says."""
        return self._digest(self.policy.relation, self.engine)

    def _digest(self, salt: str, engine: Engine) -> str:
        """Thirty-two characters for the data as they are now, or as the curator says they are;
        those of an edition begin with its number."""
        declared = self.policy.version if self.editions is None else None
        seen = engine.version() if declared is None else f"declared {declared}"
        mixed = hashlib.sha256(f"{salt}:{seen}".encode()).hexdigest()[:32]
        return mixed if self.editions is None else f"{seen}, {mixed}"

    def take_last(self) -> None:
        """Ask the last edition from now on; a question that is under way ends with the old one.

        Where rows may come and go by their content since, all is priced so for good: what was
        planned before would be priced by both.
        """
        if self.base is not self:
            self.base.take_last()
            self.engine, self.current = self.base.engine, self.base.current
            return
        if self.editions is None or self.current is None:
            return
        last = self.editions.later(self.current, self.journal, self._stored)
        if last is None:
            return
        if not last.engine.row_count_is_stable:
            self.policy = replace(self.policy, rows_stay=False)
            self.knowledge = replace(self.knowledge, policy=self.policy)
        self.engine, self.current = last.engine, last.edition
        self._opened.append(last.engine)
        while len(self._opened) > OPEN:
            self._opened.pop(0).close()

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns that questions may read."""
        return tuple(self.engine.columns()) if self.shown is None else self.shown

    @property
    def unit_names(self) -> tuple[str | None, tuple[str, ...]]:
        """The column that names a unit, or the tables whose rows are units; whatever rows are asked
        about, they are called as the policy does."""
        declared = self.base.policy
        if declared.several is None:
            return declared.unit, ()
        return None, declared.several.tables.units

    def kept(self, receipt: str, read: Callable[[Journal, str], T]) -> T:
        """What a function reads of an answered use, which never changes; read once."""
        if receipt not in self._read:
            self._read[receipt] = read(self.journal, receipt)
        found: T = self._read[receipt]
        return found

    def memory(self, analyst: str, version: str) -> Memory:
        """What this analyst has been told of this version of the data, and what everybody was."""
        return Memory(self.journal, self.policy, analyst, version, self._recall)

    def budgets(self, analyst: str) -> Budgets:
        """The budgets of the data and of an analyst, as the policy says."""
        return Budgets(self.policy.budget, self.policy.analysts.get(analyst))

    def check(self, mechanisms: Sequence[Mechanism[Any]]) -> None:
        """Refuse what is priced below its cost; tables and exact releases have their own prices."""
        if not self.public()[1]:
            answers = [m for m in mechanisms if not isinstance(m, Releasing)]
            check_prices(answers, self.table, self.policy.neighbors, self.policy.rows_stay)

    def ready(self, wanted: Sequence[Reads]) -> None:
        """Refuse what the engine cannot compute safely."""
        prepare_sealed(self.engine, self.table, wanted, self.public()[1].only_listed(self.table))

    def facts(self, version: str) -> Facts:
        """What is the same on all neighbours: which state of the data, which kind of source."""
        engine = self._asked.get(version, self.engine)
        edition = self._digest(self.policy.relation, engine)
        stay = engine.row_count_is_stable and self.base is self
        return Facts(edition, self.knowledge.confirmed(), stay)

    @property
    def derived(self) -> Mapping[str, Any]:
        """The rows that are asked, where a question or a view derives them."""
        rows = getattr(self.table, "rows", None)
        return {} if rows is None else {"rows": rows_json(rows)}

    def touched(self, wanted: Sequence[Reads]) -> Touched | None:
        """The blocks that these reads can see a row of, by the conditions in them."""
        blocks = self.policy.blocks
        if blocks is None:
            return None
        found: set[Block] = set()
        for reads in wanted:
            found |= blocks.touched(getattr(reads, "where", None))
        if not wanted or found >= blocks.names.keys():
            return None
        return Touched(tuple(name for name in blocks.names if name in found), blocks.dealt)

    def read(self, wanted: Sequence[Reads], version: str) -> list[Sealed[Any]]:
        """The exact values, sealed, all of one moment; of an edition that was named before it was
        paid, whichever is the last by now."""
        if not wanted:
            return []
        only = self.public()[1].only_listed(self.table)
        with self._asked.get(version, self.engine).snapshot() as engine:
            return read_sealed(engine, self.table, wanted, only)

    def close(self) -> None:
        """Let go of the data and the ledger."""
        for engine in self._opened:
            engine.close()
        self.journal.close()

    def _bound(self, sql: str) -> Question:
        several = several_of(self.policy, self.engine)
        found = interpret(sql, self.table, self.columns, several)
        blocks = self.policy.blocks
        return found if blocks is None else within_blocks(found, blocks)


def _editions(policy: Policy, source: Any) -> Editions | None:
    """The policy's editions; None where data is read in place, as what is handed in always is."""
    if policy.in_place or source is not None:
        return None
    with located(policy, ("data", "source")):
        return Editions(policy)


def _check_mechanisms(policy: Policy) -> None:
    """Refuse a policy that rests on what is not installed; without data it can still be read."""
    if policy.mechanisms:
        from adomnia.mechanisms.registry import check_registered  # noqa: PLC0415 (slow to import)

        with located(policy, ("privacy", "mechanisms")):
            check_registered(policy.mechanisms)


def in_place(policy: Policy, table: Table, source: Any) -> Engine:
    """The engine of data that is read as it is at each question."""
    with located(policy, ("data", "source")):
        engine = open_engine(policy, source)
    try:
        check_columns(policy, engine.columns())
        with located(policy, ("privacy", "unit")):
            engine.check(table)
    except BaseException:
        engine.close()
        raise
    return engine


def check_columns(policy: Policy, columns: Mapping[str, str]) -> None:
    """Refuse a policy that names what the source does not have."""
    named = {name: ("attributes", name) for name in policy.attributes}
    if policy.unit is not None:
        named.setdefault(policy.unit, ("privacy", "unit"))
    refuse_unknown_columns(policy, named, columns, "the data")


def table_of(policy: Policy) -> Table:
    """The private table, as the policy declares it."""
    bounds = policy.neighbors
    with located(policy, ("public",)):
        public = _public(policy)
    return Table(
        policy.table,
        policy.attributes,
        policy.unit if policy.several is None else OWNER,
        bounds.rows or 1,
        public,
        bounds.groups,
        bounds.each,
        policy.description,
    )


def _public(policy: Policy) -> Mapping[str, PublicTable]:
    if not policy.public:
        return {}
    from adomnia.curator.data.public_sources import read_public  # noqa: PLC0415 (few have any)

    return read_public(policy)


# Sealed reads: what mechanisms need of a table, in as few statements as they allow.


def read_sealed(
    engine: Engine, table: Table, wanted: Sequence[Reads], only: Expr | None = None
) -> list[Sealed[Any]]:
    """The exact values, sealed; totals of the same rows and cells come from one statement.

    With `only`, other rows are in no table: the statements leave them out.
    """
    wanted = [_among(reads, only) for reads in wanted]
    found: dict[int, Sealed[Any]] = {}
    for together in _together(wanted):
        first = wanted[together[0]]
        if isinstance(first, CellTotals):
            parts: Sequence[Any] = _totals(engine, table, [wanted[i] for i in together])
        else:
            parts = [_one(engine, table, first)]
        found.update(zip(together, parts, strict=True))
    return [found[place] for place in range(len(wanted))]


def prepare_sealed(
    engine: Engine, table: Table, wanted: Sequence[Reads], only: Expr | None = None
) -> None:
    """Refuse what cannot be computed safely, before anything is paid; no row is looked at."""
    for reads in wanted:
        engine.prepare(_request(table, _among(reads, only)))


def _request(table: Table, reads: Reads) -> Request:
    if isinstance(reads, CellTotals):
        return Request(table, reads.where, reads.keys, (reads.contribution,), reads.grouping)
    if isinstance(reads, CellValues):
        return Request(table, reads.where, reads.keys, (reads.ranked,))
    if isinstance(reads, KeyTotals):
        return Request(table, reads.where, reads.keys, reads.contributions)
    if isinstance(reads, MarginalTables):
        return Request(table, reads.where, reads.keys, reads.contributions, grouping=0)
    if isinstance(reads, UnitSums | PairSums):
        of = reads.of
        if not isinstance(of, SummedRows):
            raise TypeError("units add up rows of tables")
        return Request(table, of.where, of.keys, (of.contribution,))
    if isinstance(reads, UnitRows | UnitPeaks):
        return Request(table, None, (), (ROWS,))  # that it can be read at all
    raise TypeError("a table has no graph")


def _among(reads: Reads, only: Expr | None) -> Reads:
    """The same of no other rows (`prior_knowledge.md`)."""
    if only is None or not isinstance(reads, CellTotals | CellValues | KeyTotals | MarginalTables):
        return reads
    where = only if reads.where is None else call("and", reads.where, only)
    return replace(reads, where=where)


def _together(wanted: Sequence[Reads]) -> list[list[int]]:
    """The places of reads that one statement serves."""
    groups: dict[Any, list[int]] = {}
    for place, reads in enumerate(wanted):
        shared: Any = place
        if isinstance(reads, CellTotals):
            shared = (reads.where, reads.keys, reads.grouping, reads.most)
        groups.setdefault(shared, []).append(place)
    return list(groups.values())


def _totals(engine: Engine, table: Table, group: Sequence[Any]) -> Sequence[Sealed[Any]]:
    first = group[0]
    contributions = tuple(reads.contribution for reads in group)
    request = Request(table, first.where, first.keys, contributions, first.grouping)
    if first.most is None:
        return engine.measure(request)
    # In one statement, so that the rows are counted in the same state of the data.
    *parts, rows = engine.measure(replace(request, contributions=(*contributions, ROWS)))
    return [limit_rows(part, rows, first.most) for part in parts]


def _one(engine: Engine, table: Table, reads: Reads) -> Sealed[Any] | Any:
    if isinstance(reads, UnitRows | UnitPeaks):
        return engine.unit_scores(table, reads)
    request = _request(table, reads)
    if isinstance(reads, UnitSums):
        return engine.unit_sums(request)
    if isinstance(reads, PairSums):
        return engine.pair_sums(request)
    if isinstance(reads, CellValues):
        sealed = engine.histogram(request, reads.ranked)
        return sealed if reads.most is None else limit_histogram(sealed, reads.most)
    if isinstance(reads, MarginalTables):
        return engine.contingency(request, reads.axes)
    return engine.keyed(request)
