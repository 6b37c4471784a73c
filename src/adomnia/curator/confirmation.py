"""Confirming: the curator says that what was released exactly holds for the data as they are.

Registered numbers are compared with the data, for the curator alone: where they do not hold,
nothing is confirmed, and what was in force stays.
"""

from __future__ import annotations

from adomnia.curator.exact_releases.prior import Prior, bind_prior
from adomnia.curator.table_backend import TableBackend
from adomnia.engines.engine import Engine, Request
from adomnia.mechanisms.agreement import agrees
from adomnia.priors.prior_knowledge import PriorKnowledge, Published
from adomnia.privacy.contribution import ROWS, Setting
from adomnia.privacy.neighbors import Neighbors
from adomnia.privacy.proposal import contribution_of
from adomnia.queries.expression import Expr
from adomnia.queries.measurement import width_of
from adomnia.queries.operations import call
from adomnia.schema.table import Table

__all__ = ["check_numbers", "confirm"]


def confirm(backend: TableBackend) -> str | None:
    """Record that the releases hold for this version of the data; or say which does not."""
    backend.version()  # the last edition, and one that can be read
    known = backend.public()[1]
    only = known.only_listed(backend.table)
    with backend.engine.snapshot() as engine:
        wrong = _wrong(engine, backend.table, known, only)
    if wrong is None:
        backend.knowledge.confirm()
    return wrong


def check_numbers(backend: TableBackend, prior: Prior) -> str | None:
    """Whether the data have the numbers of a release that is to be registered; or what is wrong."""
    backend.version()  # as above
    published = bind_prior(prior, backend.bind)
    bodies = (*backend.journal.account().priors, {"published": prior.to_json()})
    only = backend.knowledge.known(bodies).only_listed(backend.table)
    with backend.engine.snapshot() as engine:
        if _holds(engine, backend.table, published, only):
            return None
    return "these are not the numbers that the data have"


def _wrong(engine: Engine, table: Table, known: PriorKnowledge, only: Expr | None) -> str | None:
    if only is not None and not _has_rows(engine, table, call("not", only), 0):
        return "a row has no listed value of " + " or ".join(sorted(known.listed))
    for published in known.published:
        if not _holds(engine, table, published, only):
            return f"these are not the numbers of {published.sql}"
    return None


def _has_rows(engine: Engine, table: Table, where: Expr, count: int) -> bool:
    (sealed,) = engine.measure(Request(table, where, (), (ROWS,)))
    return agrees(sealed, [[(count, count)]])


def _holds(engine: Engine, table: Table, published: Published, only: Expr | None) -> bool:
    """Whether the data have the released numbers; nothing to compare where none were given."""
    if published.values is None:
        return True
    where = published.where
    if only is not None:
        where = only if where is None else call("and", where, only)
    setting = Setting(where, published.keys)
    added = tuple(contribution_of(m, setting, Neighbors()) for m in published.measurements)
    request = Request(table, where, published.keys, added)
    start = 0
    for measurement, sealed in zip(published.measurements, engine.measure(request), strict=True):
        end = start + width_of(measurement)
        if not agrees(sealed, [row[start:end] for row in published.values]):
            return False
        start = end
    return True
