"""The sections of a policy file, as they may be written: which keys there are, of which kind.

What a key means, and which keys go together, is decided where a section is read; here is what
stands in the file, checked by msgspec.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

from adomnia.limits import MAX_DESCRIPTION

__all__ = [
    "LISTED",
    "NAMED",
    "SECTIONS",
    "AccountsSection",
    "AnalystSection",
    "AttributeSection",
    "AuditSection",
    "CheckSection",
    "DataSection",
    "GraphSection",
    "ImpossibleSection",
    "LedgerSection",
    "Losses",
    "PriorSection",
    "PrivacySection",
    "PublicSection",
    "QualitySection",
    "Section",
    "TableSection",
    "ViewSection",
]

Whole = Annotated[int, msgspec.Meta(ge=1, le=10**9)]
Text = Annotated[str, msgspec.Meta(min_length=1)]
Described = Annotated[
    str,
    msgspec.Meta(min_length=1, max_length=MAX_DESCRIPTION, pattern=r"^[^\x00-\x08\x0b-\x1f\x7f]*$"),
]
Written = Any
"""A number as it is written, which is read exactly later; or what is checked with other keys."""


class Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A section; TOML has no null, so None is a key that is not there."""


class DataSection(Section, frozen=True):
    """`[data]`: where the rows are."""

    source: Text | None = None
    table: str | None = None
    memory: Whole | None = None
    rows: Whole | None = None
    version: Text | None = None
    editions: Text | None = None
    keep: Whole = 2
    in_place: bool = False
    description: Described | None = None


class Losses(Section, frozen=True):
    """A budget, in amounts that are read exactly."""

    epsilon: Written = None
    delta: Written = None
    rho: Written = None


class PrivacySection(Losses, frozen=True):
    """`[privacy]`: what is promised, and how much may be spent."""

    neighbors: Written = "unbounded"
    unit: Written = None
    max_rows: Written = None
    most_rows: Whole | None = None
    max_groups: Whole | None = None
    max_rows_per_group: Whole | None = None
    group: Whole | None = None
    most: Whole | None = None
    confirmed: bool = False
    universe: Written = None
    max_group: Whole | None = None
    mechanisms: Written = None


class AttributeSection(Section, frozen=True):
    """`[attributes.NAME]`: the public domain of a column."""

    kind: Written = None
    values: Written = None
    other: Written = None
    low: Written = None
    high: Written = None
    step: Written = None
    zone: Text | None = None
    nullable: bool = False
    sensitive: bool = True
    origin: Text | None = None
    description: Described | None = None


class TableSection(Section, frozen=True):
    """`[tables.NAME]`: one of several private tables."""

    source: Text
    table: Text | None = None
    key: Text | None = None
    references: Written = None
    attributes: Written = None
    description: Described | None = None


class ViewSection(Section, frozen=True):
    """`[views.NAME]`: a question's rows under a name of their own."""

    sql: Text
    description: Described | None = None


class AnalystSection(Losses, frozen=True):
    """`[analysts.NAME]`: what an analyst may spend."""


class PublicSection(Section, frozen=True):
    """`[public.NAME]`: a public table that may be joined."""

    source: Text
    key: Text


class LedgerSection(Section, frozen=True):
    """`[ledger]`: where it is kept."""

    url: str | None = None


class AccountsSection(Section, frozen=True):
    """`[accounts]`: where they are kept."""

    url: str = "adomnia.accounts"


class PriorSection(Section, frozen=True):
    """`[[prior]]`: a statement that was released exactly."""

    sql: Text
    values: Text | None = None
    rounded: Whole | None = None
    below: Whole | None = None


class ImpossibleSection(Section, frozen=True):
    """`[[impossible]]`: a condition that no row can meet."""

    when: Text


class QualitySection(Section, frozen=True):
    """`[quality]`: what counting that which is left out of an edition may cost."""

    epsilon: Written = None


class BlocksSection(Section, frozen=True):
    """`[blocks]`: by what rows are dealt out to blocks, each with a budget of its own."""

    by: Text


class GraphSection(Section, frozen=True):
    """`[graph]`: edges, nodes, and what is promised about them."""

    edges: Written = None
    nodes: Written = None
    ids: Written = None
    directed: bool = False
    neighbors: Written = "edge"
    degree_bound: Written = None
    public_nodes: bool = False
    source: Written = 0
    target: Written = 1
    key: Written = 0
    attributes: Written = None


class AuditSection(Section, frozen=True):
    """`[audit]`: what an audit looks at, from when on it worries, how the data came about."""

    public: Written = None
    sensitive: Text | None = None
    tau: Written = None
    kj: Written = None
    kcp: Written = None
    disclosures: Written = None
    gate: Text | None = None
    amber: Written = None
    red: Written = None
    independent: bool | None = None
    exact: bool | None = None
    influence: bool | None = None
    several_rows: bool | None = None
    repeated: bool | None = None
    group: Whole | None = None
    rows: Whole | None = None
    releases: Whole | None = None


class CheckSection(Section, frozen=True):
    """`[check]`: from when on a check of the source fails."""

    left_out: Written = None
    cut: Written = None
    nobody: Written = None
    repeated: Written = None
    drift: Written = None
    gone: Written = None


SECTIONS: Mapping[str, type[Section]] = {
    "data": DataSection,
    "privacy": PrivacySection,
    "attributes": AttributeSection,
    "tables": TableSection,
    "views": ViewSection,
    "analysts": AnalystSection,
    "public": PublicSection,
    "ledger": LedgerSection,
    "accounts": AccountsSection,
    "prior": PriorSection,
    "impossible": ImpossibleSection,
    "quality": QualitySection,
    "blocks": BlocksSection,
    "graph": GraphSection,
    "audit": AuditSection,
    "check": CheckSection,
}
NAMED = ("attributes", "tables", "views", "analysts", "public")
"""Sections that are written once for each name."""
LISTED = ("prior", "impossible")
"""Sections that are written with two brackets, as often as need be."""
