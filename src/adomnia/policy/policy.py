"""The policy: what the data is, what is promised, and who may spend what (`adomnia.toml`)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from adomnia.errors import PolicyError
from adomnia.policy.audit_section import Audit, audit_section
from adomnia.policy.blocks_section import blocks_of
from adomnia.policy.check_section import CheckLimits, check_limits, origins_of
from adomnia.policy.domains import attributes_of
from adomnia.policy.graph_section import GraphSource, graph_source
from adomnia.policy.impossible_section import Impossible, impossible_rows
from adomnia.policy.sections import (
    AccountsSection,
    AnalystSection,
    DataSection,
    LedgerSection,
    Losses,
    PriorSection,
    PrivacySection,
    PublicSection,
    QualitySection,
)
from adomnia.policy.tables_section import DeclaredTables, declared_tables
from adomnia.policy.toml_reader import Reader, check_sections, parse
from adomnia.privacy.composition import Budget
from adomnia.privacy.loss import exact
from adomnia.privacy.neighbors import RELATIONS, Neighbors
from adomnia.queries.blocks import Blocks
from adomnia.schema.table import Attribute
from adomnia.schema.tables import Tables
from adomnia.storage.file_address import file_name, is_file_address

__all__ = [
    "Audit",
    "Policy",
    "PriorSource",
    "PublicSource",
    "line_of",
    "read_policy",
    "refuse_free_lunch",
]


@dataclass(frozen=True)
class PublicSource:
    """Where a public table is, and its unique key."""

    source: str
    key: str


@dataclass(frozen=True)
class PriorSource:
    """A statement that was released exactly, and where its numbers are."""

    sql: str
    values: str | None = None
    rounded: int | None = None
    below: int | None = None


@dataclass(frozen=True)
class Policy:
    """What a curator declared.

    >>> from adomnia.testing import town
    >>> with town(rows=50, privacy="epsilon = 2").open() as database:
    ...     policy = database.policy
    >>> policy.table, policy.budget.epsilon, policy.neighbors.relation
    ('people', Fraction(2, 1), 'unbounded')
    """

    file: Path
    source: str = field(repr=False)  # an address may hold a password
    table: str
    neighbors: Neighbors
    budget: Budget
    attributes: Mapping[str, Attribute]
    relation: str = ""
    """The table's name where it lives, with its schema if need be; statements say `table`."""
    unit: str | None = None
    analysts: Mapping[str, Budget] = field(default_factory=dict)
    public: Mapping[str, PublicSource] = field(default_factory=dict)
    ledger: str = field(default="adomnia.ledger", repr=False)
    accounts: str = field(default="adomnia.accounts", repr=False)
    priors: tuple[PriorSource, ...] = ()
    impossible: tuple[Impossible, ...] = ()
    """Rows that cannot be: they are in no released table."""
    graph: GraphSource | None = None
    universe: tuple[str, ...] | None = None
    max_group: int | None = None
    mechanisms: tuple[str, ...] = ()
    """Mechanisms of other packages that may be used; the promise rests on each of them."""
    confirmed: bool = False
    digest: str = ""
    audit: Audit = field(default_factory=Audit)
    check: CheckLimits = field(default_factory=CheckLimits)
    origins: Mapping[str, str] = field(default_factory=dict)
    """Whence the domains of attributes are, as far as that is said; no promise rests on it."""
    rows: int | None = None
    """About how many rows there are, as far as that is public; no promise rests on it."""
    version: str | None = None
    """Which data this is, by the curator's word; without it the source is looked at."""
    memory: int | None = None
    """How many megabytes the embedded engine may use, about."""
    editions: str | None = None
    """The folder of editions; None is beside the ledger."""
    keep: int = 2
    """So many of the last editions are kept."""
    in_place: bool = False
    """Whether the source is read as it is at each question, without an edition."""
    quality: Fraction | None = None
    """What counting what is left out of each edition may cost; None counts nothing."""
    description: str = ""
    """What the table is, in the curator's words: public, and shown wherever it is asked."""
    several: DeclaredTables | None = None
    """Several private tables in the place of one."""
    below: Tables | None = None
    """The private tables that a view is over; None of what is no view."""
    owners: int = 1
    """To how many units a row belongs."""
    automatic: bool = False
    """Whether the bound of a unit is found in the data."""
    searched: frozenset[str] = frozenset()
    """Columns that add up rows whose bound is found in the data."""
    blocks: Blocks | None = None
    """How rows are dealt out to blocks, each with the budget of the data."""
    rows_stay: bool = True
    """Whether no row's content changes how many rows the source is read as; its kind says so."""

    def beside(self, name: str) -> str:
        """A file named in the policy, found from where the policy is; an address stays one."""
        if "://" in name or Path(name).is_absolute():
            return name
        return str(self.file.parent / name)


def read_policy(file: str | Path) -> Policy:
    """The policy in a file; anything wrong with it is an error that names the line."""
    path = Path(file)
    reader = parse(path)
    check_sections(reader)
    privacy = reader.section(PrivacySection, ("privacy",), _needed(reader, "privacy"))
    several = declared_tables(reader, privacy)
    graph = graph_source(reader) if "graph" in reader.tree else None
    data = _data(reader, needed=graph is None and several is None, several=several)
    source = data.source or ""
    table = _stem(source) if data.table is None else data.table
    attributes = attributes_of(reader)
    return Policy(
        file=path,
        source=source,
        table=table.rpartition(".")[2] if "://" in source else table,
        relation=table,
        neighbors=_neighbors(reader, privacy, several),
        budget=_budget(reader, privacy, ("privacy",)),
        attributes=attributes,
        impossible=impossible_rows(reader, attributes),
        unit=_unit(privacy, several),
        several=several,
        analysts={
            name: _budget(reader, part, ("analysts", name))
            for name, part in reader.sections(AnalystSection, "analysts").items()
        },
        public=_public(reader, privacy, several),
        ledger=reader.section(LedgerSection, ("ledger",)).url or f"{path.stem}.ledger",
        accounts=reader.section(AccountsSection, ("accounts",)).url,
        priors=_priors(reader),
        graph=graph,
        universe=_universe(reader, privacy),
        max_group=privacy.max_group,
        mechanisms=_mechanisms(reader, privacy),
        confirmed=privacy.confirmed,
        digest=hashlib.sha256(reader.text.encode()).hexdigest(),
        audit=audit_section(reader) if "audit" in reader.tree else Audit(),
        check=check_limits(reader),
        origins=origins_of(reader),
        rows=data.rows,
        version=data.version,
        memory=data.memory,
        editions=data.editions,
        keep=data.keep,
        quality=_quality(reader),
        description=data.description or "",
        in_place=data.in_place,
        blocks=blocks_of(reader, attributes) if "blocks" in reader.tree else None,
    )


def _needed(reader: Reader, name: str) -> Any:
    if name not in reader.tree:
        reader.fail(
            f"the section [{name}] is missing", "see the design of the policy in docs/policy.md"
        )
    return reader.tree[name]


def _data(reader: Reader, needed: bool, several: DeclaredTables | None) -> DataSection:
    """Where the rows are; a graph can be without, and several tables say it themselves."""
    if not needed and "data" not in reader.tree:
        return DataSection()
    data = reader.section(DataSection, ("data",), _needed(reader, "data"))
    if not data.source and several is None:
        hint = 'for example source = "people.parquet"'
        reader.fail("source must be a text", hint, ("data", "source"))
    sources = (
        [data.source or ""] if several is None else [s.source for s in several.sources.values()]
    )
    if data.memory is not None and any("://" in s and not is_file_address(s) for s in sources):
        hint = "a server is told in its own settings, or in its address (docs/sources.md)"
        reader.fail("memory is for files, which are read here", hint, ("data", "memory"))
    return data


def _stem(source: str) -> str:
    if is_file_address(source):
        source = file_name(source)
    if "://" in source:
        return "data"  # an address does not name a table, and may hold a password
    return re.sub(r"\W+", "_", Path(source).name.split(".")[0]) or "data"


def _unit(privacy: PrivacySection, several: DeclaredTables | None) -> str | None:
    """The column that names a unit; with several tables, the tables of units."""
    if several is None:
        return None if privacy.unit is None else str(privacy.unit)
    return ", ".join(several.tables.units)


def _public(
    reader: Reader, privacy: PrivacySection, several: DeclaredTables | None
) -> dict[str, PublicSource]:
    """The public tables; one that tells of single units is none."""
    found = reader.sections(PublicSection, "public")
    for name, part in found.items():
        if several is None and part.key == privacy.unit:
            said = f"the key of the public table {name!r} is the unit: it tells of single units"
            hint = "what everybody may know of a person is an attribute with sensitive = false"
            reader.fail(said, hint, ("public", name, "key"))
        if several is not None and name.lower() in map(str.lower, several.names):
            reader.fail(f"{name!r} is a private table or a view already", "", ("public", name))
    return {name: PublicSource(part.source, part.key) for name, part in found.items()}


def _neighbors(
    reader: Reader, privacy: PrivacySection, several: DeclaredTables | None
) -> Neighbors:
    relation = privacy.neighbors
    if relation not in RELATIONS:
        reader.fail(
            "neighbors must be one of " + ", ".join(RELATIONS), "", ("privacy", "neighbors")
        )
    if relation == "free-lunch":
        return _free_lunch(reader, privacy)
    if privacy.most is not None:
        hint = 'it goes with neighbors = "free-lunch"'
        reader.fail("most is for free-lunch privacy", hint, ("privacy", "most"))
    bounds, group = _bounds(reader, privacy, several), privacy.group or 1
    found: Neighbors = reader.guard(
        ("privacy", "neighbors"), lambda: Neighbors(relation, group=group, **bounds)
    )
    return found


_BOUNDS = {"max_rows": "rows", "max_groups": "groups", "max_rows_per_group": "each"}


def _bounds(
    reader: Reader, privacy: PrivacySection, several: DeclaredTables | None
) -> dict[str, int]:
    """How much of one unit is used; with several tables, of a row of its own table."""
    written = {name: most for name in _BOUNDS if (most := getattr(privacy, name)) is not None}
    if several is not None:
        return {_BOUNDS[name]: most for name, most in {**written, "max_rows": 1}.items()}
    if not isinstance(privacy.unit, str | None) or privacy.unit == "":
        reader.fail("unit must be a text", 'for example unit = "person_id"', ("privacy", "unit"))
    most = privacy.max_rows
    whole = isinstance(most, int) and not isinstance(most, bool) and 1 <= most <= 10**9
    if most is not None and not whole:
        reader.fail("max_rows must be a whole number of at least 1", "", ("privacy", "max_rows"))
    if privacy.most_rows is not None:
        hint = "it is where the search for max_rows ends, with several tables"
        reader.fail("most_rows goes with [tables]", hint, ("privacy", "most_rows"))
    if privacy.unit is None:
        for name in written:
            hint = "the column that names a person"
            reader.fail(f"{name} needs unit", hint, ("privacy", name))
        return {}
    if privacy.max_rows is None:
        hint = "how many rows of one unit are used at most, for example max_rows = 5"
        reader.fail("unit needs max_rows", hint, ("privacy", "unit"))
    return {_BOUNDS[name]: most for name, most in written.items()}


_ALONE = ("unit", *_BOUNDS, "group", "universe", "max_group", "mechanisms")


def _free_lunch(reader: Reader, privacy: PrivacySection) -> Neighbors:
    """Any two tables; what makes single rows or exact releases special does not go with it."""
    if privacy.most is None:
        reader.fail(
            "free-lunch privacy needs most: the largest number of rows, which is public",
            "for example most = 100000; a table with more rows is answered as an empty one",
            ("privacy", "neighbors"),
        )
    for name in _ALONE:
        if getattr(privacy, name) is not None:
            said = f"{name} does not go with free-lunch neighbors: any two tables are alike already"
            reader.fail(said, f"leave out {name}", ("privacy", name))
    for section in ("prior", "graph"):
        if section in reader.tree:
            said = f"[{section}] does not go with free-lunch neighbors: {LUNCH}"
            reader.fail(said, "use unbounded or bounded neighbors", (section,))
    return Neighbors("free-lunch", most=privacy.most)


def refuse_free_lunch(policy: Policy, what: str) -> None:
    """Refuse what knows how far single rows go, and not how far any two tables are apart."""
    if policy.neighbors.most is not None:
        raise PolicyError(
            f"{what} with free-lunch neighbors: {LUNCH}",
            "use unbounded or bounded neighbors",
            str(policy.file),
            line_of(policy, ("privacy", "neighbors")),
        )


LUNCH = "they answer questions in SQL, nearly uselessly, and nothing else"


def _budget(reader: Reader, part: Losses, path: tuple[str, ...]) -> Budget:
    amounts: dict[str, Fraction] = {}
    for name in ("epsilon", "delta", "rho"):
        amount = getattr(part, name)
        if amount is not None:
            written = str(amount) if isinstance(amount, Decimal) else amount
            amounts[name] = reader.guard((*path, name), partial(exact, written, name))
    if not amounts:
        reader.fail(f"[{'.'.join(path)}] needs epsilon", "for example epsilon = 1.0", path)
    budget: Budget = reader.guard((*path, next(iter(amounts))), lambda: Budget(**amounts))
    return budget


def _priors(reader: Reader) -> tuple[PriorSource, ...]:
    listed = reader.tree.get("prior", [])
    if not isinstance(listed, list):
        reader.fail("exact releases are written [[prior]], with two brackets", "", ("prior",))
    parts = (reader.section(PriorSection, ("prior",), part) for part in listed)
    return tuple(PriorSource(p.sql, p.values, p.rounded, p.below) for p in parts)


def _quality(reader: Reader) -> Fraction | None:
    amount = reader.section(QualitySection, ("quality",)).epsilon
    if amount is None:
        return None
    written = str(amount) if isinstance(amount, Decimal) else amount
    found: Fraction = reader.guard(("quality", "epsilon"), partial(exact, written))
    return found


def _universe(reader: Reader, privacy: PrivacySection) -> tuple[str, ...] | None:
    listed = privacy.universe
    if listed is None:
        return None
    declared = reader.tree.get("attributes", {})
    if not isinstance(listed, list) or not listed or any(n not in declared for n in listed):
        reader.fail(
            "universe must be a list of declared attributes",
            'those that will ever be asked, for example universe = ["sex", "age"]',
            ("privacy", "universe"),
        )
    return tuple(dict.fromkeys(listed))


def _mechanisms(reader: Reader, privacy: PrivacySection) -> tuple[str, ...]:
    listed = [] if privacy.mechanisms is None else privacy.mechanisms
    if not isinstance(listed, list) or any(not isinstance(n, str) or not n for n in listed):
        hint = 'those of other packages, for example mechanisms = ["winsorized_mean"]'
        reader.fail("mechanisms must be a list of names", hint, ("privacy", "mechanisms"))
    return tuple(sorted(set(listed)))


def line_of(policy: Policy, path: tuple[str, ...]) -> int | None:
    """The line where a policy declares something, for example `("privacy", "unit")`."""
    return parse(policy.file).line(path)
