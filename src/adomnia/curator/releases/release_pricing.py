"""For which neighbours a release is priced, and what must hold for that."""

from __future__ import annotations

from fractions import Fraction

from adomnia.curator.exact_releases.repricing import moves
from adomnia.curator.releases.release_keys import TableLayout
from adomnia.curator.table_backend import TableBackend
from adomnia.errors import QuestionError
from adomnia.marginals.paper.promise import MarginalPromise
from adomnia.marginals.workload import Subset
from adomnia.priors.prior_knowledge import PriorKnowledge
from adomnia.privacy.loss import Loss
from adomnia.privacy.neighbors import Neighbors
from adomnia.privacy.premises import ExactReleasesHold, Facts, Premise, RowsStay, check_premises

__all__ = ["marginal_promise", "premises_of", "priced_neighbors", "rows_moved"]


def premises_of(priors: int) -> tuple[Premise, ...]:
    """What must hold beside the data: that what was released exactly is true."""
    return (ExactReleasesHold(),) if priors else ()


def rows_moved(backend: TableBackend, layout: TableLayout) -> Fraction:
    """How many rows come and go between the neighbours that it is priced for."""
    neighbors = priced_neighbors(backend, layout)
    rows = (neighbors.rows or 1) * neighbors.group * (2 if neighbors.replaces else 1)
    return Fraction(rows)


def marginal_promise(backend: TableBackend, layout: TableLayout, loss: Loss) -> MarginalPromise:
    """The promise of the papers' methods, which may spare columns that are not sensitive."""
    sensitive = _sensitive(backend, layout)
    if sensitive is not None:
        check_premises((RowsStay(),), Facts("", rows_stay=backend.policy.rows_stay))
    priced = priced_neighbors(backend, layout)
    if sensitive is not None and backend.policy.neighbors.replaces and not priced.replaces:
        raise QuestionError(
            "where only some attributes are sensitive, rows do not come and go; by these keys a "
            "row with another value may leave the tables",
            "take attributes as they are, and leave out what is [[impossible]]",
        )
    return MarginalPromise(loss, priced, sensitive)


def priced_neighbors(backend: TableBackend, layout: TableLayout) -> Neighbors:
    """The neighbours a release is priced for.

    A row that the policy says cannot be is in no table, nor one without a number that is summed,
    and a line of a text file may be read as no row. So a changed row is then priced as one that
    goes and one that comes, and the total is not public. Otherwise every row is in one cell of each
    table, be it one that is not shown. One attribute may change several keys that are expressions.
    With exact releases public, as many rows come and go as induced neighbours differ in.
    """
    neighbors = backend.policy.neighbors
    known = backend.public()[1]
    if known:
        rows = _moves(backend, layout, known)
        if rows == 0:
            raise QuestionError(
                "these tables are already public: they follow from what was released exactly",
                "ask for them, where the released numbers were given",
            )
        return Neighbors("unbounded", None, rows)
    kept = all(key.keeps for key in layout.keys) and not layout.impossible
    alone = layout.plain or neighbors.relation not in ("attribute", "bit")
    stays = kept and alone and backend.policy.rows_stay and not layout.magnitudes
    if stays or not neighbors.replaces:
        return neighbors
    return Neighbors("unbounded", neighbors.rows, 2 * neighbors.group)


def _moves(backend: TableBackend, layout: TableLayout, known: PriorKnowledge) -> int:
    """How many rows come and go at once; a number that is summed is a column among the others."""
    try:
        return moves(backend.policy, layout.columns, known)
    except QuestionError:
        if not layout.magnitudes:
            raise
        named = ", ".join(one.name for one in layout.magnitudes)
        raise QuestionError(
            f"beside what was released exactly, sums of {named[:60]} have too many values to be "
            "priced",
            "declare a coarser step of the column in the policy, or release counts alone",
        ) from None


def _sensitive(backend: TableBackend, layout: TableLayout) -> Subset | None:
    """The keys that need protection, where the policy says that some columns do not."""
    named = backend.policy.attributes.items()
    public = {name for name, attribute in named if not attribute.sensitive}
    places = tuple(i for i, key in enumerate(layout.keys) if not {*key.columns} <= public)
    return None if len(places) == len(layout.keys) else places
