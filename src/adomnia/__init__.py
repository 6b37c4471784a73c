"""A statistical database for sensitive data: SQL in, private answers out, paid from a ledger.

**Open** what a policy file describes: `open` a table, `open_graph` a graph, `open_holders` what
several holders have together.

**Ask** through a `Session` of the `Database`: `ask` gives an `Answer` with its margins, `plan` a
`QueryPlan` that costs nothing. `noisy_max`, `above` and `auction` choose and tell nothing else,
`independence` tests two attributes.

**Release** tables that agree with each other: `Database.plan_release` makes a `ReleasePlan`,
`Database.release` pays for it and makes a `Release`. What was published exactly before,
`Database.add_prior` makes part of the promise.

**Account** for what was spent: `Database.budget`, `account`, `ledger`, `reservation`, `verify`.

**Review** it with every attack at hand, for the curator's own eyes: `Database.audit`, `attack`,
`check_release`, `disclosures`, `rehearsal`.

The other rooms that have something for everybody:

    adomnia.mining       models that learn through a session: KMeans, DecisionTree, PCA, …
    adomnia.audit        attacks on what was published: reconstruct, uniqueness, refute, …
    adomnia.marginals    releases of marginals without a database: plan_marginals, …
    adomnia.federation   holders who answer together: Holder, serve, make_secret, …
    adomnia.review       drafts of policies, audits and their reports, the gate of a release
    adomnia.testing      made-up databases, and the laws of models, for tests of one's own
    adomnia.errors       the tree of errors, of which `AdomniaError` is the root

>>> from adomnia.testing import town
>>> with town(rows=50).open() as database:
...     answer = database.session().ask("SELECT COUNT(*) AS n FROM people", epsilon=1)
>>> answer.columns, len(answer.rows), answer.spent["epsilon"]
(('n',), 1, Fraction(1, 1))
"""

from __future__ import annotations

from importlib import import_module
from os import PathLike
from typing import TYPE_CHECKING, Any, overload

from adomnia.exports import Exports

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from adomnia.curator.access import Watch
    from adomnia.curator.answers.answer import Answer
    from adomnia.curator.answers.answer_shape import Described
    from adomnia.curator.answers.omissions import Omission
    from adomnia.curator.data.editions import Edition
    from adomnia.curator.determined_cells import DeterminedCells
    from adomnia.curator.independence import Independence
    from adomnia.curator.ledger_view import (
        Account,
        BlockTotals,
        Entry,
        PaidUse,
        Registered,
        Verification,
    )
    from adomnia.curator.networks.network import GraphSession, Network, open_graph
    from adomnia.curator.outside_mechanisms import MechanismAnswer
    from adomnia.curator.quality.column_bounds import ProposedBounds
    from adomnia.curator.query_plan import QueryPlan
    from adomnia.curator.releases.cumulative import CountRange
    from adomnia.curator.releases.release import Release
    from adomnia.curator.releases.release_plan import ReleasePlan
    from adomnia.curator.selections import Above, Chosen
    from adomnia.curator.session import Session
    from adomnia.errors import (
        AdomniaError,
        BudgetError,
        CancelledError,
        CheckError,
        LedgerError,
        MachineryError,
        NotAllowedError,
        PolicyError,
        QuestionError,
        ReusedKeyError,
    )
    from adomnia.federation.joint_session import JointSession, open_holders
    from adomnia.federation.masks import Party, Peer
    from adomnia.policy.policy import Policy
    from adomnia.privacy.loss import Loss
    from adomnia.queries.question import Question
    from adomnia.review.database import Database
    from adomnia.schema.table import Table
    from adomnia.schema.tables import PrivateTable, PrivateView

_MEMBERS = {
    "curator.access": "Watch",
    "curator.answers.answer": "Answer",
    "curator.answers.answer_shape": "Described",
    "curator.answers.omissions": "Omission",
    "curator.determined_cells": "DeterminedCells",
    "curator.data.editions": "Edition",
    "curator.independence": "Independence",
    "curator.ledger_view": "Account BlockTotals Entry PaidUse Registered Verification",
    "curator.networks.network": "GraphSession Network open_graph",
    "curator.outside_mechanisms": "MechanismAnswer",
    "curator.quality.column_bounds": "ProposedBounds",
    "curator.query_plan": "QueryPlan",
    "curator.releases.cumulative": "CountRange",
    "curator.releases.release": "Release ReleasePlan",
    "curator.selections": "Above Chosen",
    "curator.session": "Session",
    "errors": "AdomniaError BudgetError CancelledError CheckError LedgerError MachineryError "
    "NotAllowedError PolicyError QuestionError ReusedKeyError",
    "federation.joint_session": "open_holders",
    "policy.policy": "Policy",
    "privacy.loss": "Loss",
    "queries.question": "Question",
    "review.database": "Database",
    "schema.table": "Table",
    "schema.tables": "PrivateTable PrivateView",
}
"""What each module gives to everybody."""

_ROOMS = ("audit", "errors", "federation", "marginals", "mining", "review", "testing")
"""The rooms that have something for everybody."""

_EXPORTS = Exports(__name__, _MEMBERS)

__all__ = [
    "Above",
    "Account",
    "AdomniaError",
    "Answer",
    "BlockTotals",
    "BudgetError",
    "CancelledError",
    "CheckError",
    "Chosen",
    "CountRange",
    "Database",
    "Described",
    "DeterminedCells",
    "Edition",
    "Entry",
    "GraphSession",
    "Independence",
    "LedgerError",
    "Loss",
    "MachineryError",
    "MechanismAnswer",
    "Network",
    "NotAllowedError",
    "Omission",
    "PaidUse",
    "Policy",
    "PolicyError",
    "PrivateTable",
    "PrivateView",
    "ProposedBounds",
    "QueryPlan",
    "Question",
    "QuestionError",
    "Registered",
    "Release",
    "ReleasePlan",
    "ReusedKeyError",
    "Session",
    "Table",
    "Verification",
    "Watch",
    "open",
    "open_graph",
    "open_holders",
]
__version__ = "0.1.0"


@overload
def open(policy: str | Path = ..., *, accept: bool = ..., source: Any = ...) -> Database: ...
@overload
def open(
    policy: Iterable[Peer],
    *,
    me: Party,
    domains: str | Path = ...,
    least: int = ...,
    seconds: float = ...,
) -> JointSession: ...
def open(
    policy: Any = "adomnia.toml", *, accept: bool = False, source: Any = None, **joint: Any
) -> Any:
    """The database that a policy file describes; given several holders, all of them as one.

    With `accept`, exact releases that the policy declares are registered even where what was
    answered before then costs more than the budget. A `source` is read in the place of the
    policy's: a path, an address, or what PySpark has open. Of holders, `me` is who asks and
    `domains` the policy file that declares what they hold; the rest is as in `open_holders`.

    Returns a `Database`, or a `JointSession` of holders. Raises a PolicyError where the policy is
    wrong or not confirmed, a BudgetError where what it promises now costs more than it allows, a
    MachineryError where data or ledger cannot be read, and a TypeError for other arguments.

    >>> import adomnia, tempfile
    >>> from adomnia.testing import town
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with adomnia.open(town(rows=50).write(folder)) as database:
    ...         database.budget()["data"]["spent"]
    '0'
    """
    if not isinstance(policy, (str, PathLike)):
        join = import_module("adomnia.federation.joint_session").open_holders
        return join(policy, joint.pop("me"), joint.pop("domains", "adomnia.toml"), **joint)
    if joint:
        raise TypeError(f"open() takes policy, accept and source; {min(joint)!r} is for holders")
    opened = import_module("adomnia.review.database").open_database
    return opened(policy, accept=accept, source=source)


def __getattr__(name: str) -> Any:
    """Public names are loaded when they are first used, so that `adomnia --help` is quick."""
    return import_module(f"adomnia.{name}") if name in _ROOMS else _EXPORTS.load(name)


def __dir__() -> list[str]:
    return sorted([*__all__, *_ROOMS, "__version__"])
