"""The database: sensitive data behind its promise, and who may ask it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from adomnia.curator.access import CURATOR, Closing, analyst_of
from adomnia.curator.data.editions import Edition
from adomnia.curator.declared_tables import private_tables, private_views
from adomnia.curator.derived_backend import view_of
from adomnia.curator.exact_releases.prior import Prior, read_values
from adomnia.curator.ledger_view import released_tables, state_of
from adomnia.curator.policy_lines import refuse_priors, refuse_several
from adomnia.curator.session import Session
from adomnia.curator.spend import Payer
from adomnia.curator.table_backend import TableBackend
from adomnia.errors import CheckError, PolicyError, QuestionError
from adomnia.ledger.account import Account
from adomnia.ledger.entry import Entry, EntryKind
from adomnia.ledger.journal import Verification
from adomnia.ledger.prior import Registered
from adomnia.policy.policy import Policy, line_of, read_policy
from adomnia.privacy.composition import Budget
from adomnia.privacy.loss import Amount, Loss, exact
from adomnia.queries.key_list import split_keys
from adomnia.queries.question import Question
from adomnia.schema.table import Table
from adomnia.schema.tables import PrivateTable, PrivateView

if TYPE_CHECKING:
    from adomnia.curator.answers.omissions import Omission
    from adomnia.curator.determined_cells import DeterminedCells
    from adomnia.curator.quality.column_bounds import ProposedBounds
    from adomnia.curator.releases.release import Progress, Release
    from adomnia.curator.releases.release_plan import ReleaseMethod, ReleasePlan
    from adomnia.priors.solver.system import System

__all__ = ["CURATOR", "PrivateDatabase", "confirmed_policy", "open_database"]


class PrivateDatabase(Closing):
    """Sensitive data behind its promise. Close it, or use it in a `with` statement."""

    def __init__(self, policy: Policy, accept: bool = False, source: Any = None) -> None:
        self._backend = TableBackend(policy, accept, source)

    @property
    def policy(self) -> Policy:
        """What the curator has declared and promises.

        >>> from adomnia.testing import town
        >>> with town(rows=50).open() as database:
        ...     database.policy.table
        'people'
        """
        return self._backend.policy

    def session(self, analyst: str | None = None, *, name: str | None = None,
                epsilon: Amount | None = None) -> Session:  # fmt: skip
        """A session of an analyst, or of the curator where nobody is named.

        With an `epsilon`, it cannot spend more than that; this holds across processes for sessions
        that have the same `name`. Raises a NotAllowedError where the policy names analysts and not
        this one, and a QuestionError where the epsilon is none.

        >>> from adomnia.testing import town
        >>> with town(rows=50).open() as database:
        ...     database.session(epsilon="1/2").remaining()
        {'epsilon': Fraction(1, 2)}
        """
        who = analyst_of(self.policy, analyst)
        if epsilon is None:
            return Session(self._backend, who, name and f"{who}/{name}")
        label = f"{who}/{name or uuid4().hex[:12]}"
        return Session(self._backend, who, label, Budget(epsilon=exact(epsilon)))

    @property
    def table(self) -> Table:
        """The private table as the policy declares it, with the public tables beside it.

        Of several private tables it has the public ones alone; `tables` has the others.

        >>> from adomnia.testing import town
        >>> with town(rows=50).open() as database:
        ...     database.table.name
        'people'
        """
        return self._backend.table

    @property
    def tables(self) -> Mapping[str, PrivateTable]:
        """The private tables by name: their attributes, keys, what they refer to, and how many rows
        of one unit are used.

        >>> from adomnia.testing import town
        >>> with town(rows=50).open() as database:
        ...     tables = database.tables
        >>> list(tables), tables["people"].key, list(tables["people"].attributes)
        (['people'], None, ['sex', 'age', 'income', 'region'])
        """
        return private_tables(self._backend)

    @property
    def views(self) -> Mapping[str, PrivateView]:
        """The views over several tables by name, with what is known of their columns.

        One whose rows rest on several units is not among them: `view` says why.

        >>> from adomnia.testing import town
        >>> with town(rows=50).open() as database:
        ...     dict(database.views)
        {}
        """
        return private_views(self._backend)

    def view(self, name: str) -> PrivateDatabase:
        """A view over several tables as a database of one table, which is released, asked and
        learned from like any other; it is closed with this one.

        Raises a PolicyError where there is no such view, and a QuestionError where its rows rest
        on several units.

        >>> from adomnia.testing import town
        >>> with town(rows=50).open() as database:
        ...     database.view("stays")
        Traceback (most recent call last):
        ...
        adomnia.errors.PolicyError: ...there is no view 'stays'...
        """
        made = copy(self)
        made._backend = view_of(self._backend, name)
        return made

    @property
    def _opened_as(self) -> tuple[Policy, str | None]:
        """The policy that was opened, and the view over its tables that this is, if it is one."""
        return self._backend.base.policy, self._backend.view

    def _refuse_view(self, what: str) -> None:
        """Refuse of a view what is done with the tables below it."""
        view = self._backend.view
        if view is not None:
            hint = "do it with the database itself, which has the tables"
            raise QuestionError(f"the view {view!r} has no source of its own: {what}", hint)

    def bind(self, sql: str) -> Question:
        """The question that a statement asks of this data; reads no data and spends nothing.

        Returns it as a value. Raises a QuestionError where the statement cannot be asked.

        >>> from adomnia.testing import town
        >>> with town(rows=50).open() as database:
        ...     len(database.bind("SELECT sex, region FROM people GROUP BY sex, region").keys)
        2
        """
        return self._backend.bind(sql)

    def plan_release(  # noqa: PLR0913 (a door: what may be said is said by name)
        self,
        *,
        ways: int | None = None,
        marginals: Iterable[str | Sequence[str]] = (),
        epsilon: Amount | None = None,
        rho: Amount | None = None,
        method: ReleaseMethod = "microdata",
        unbiased: bool = False,
        confidence: float = 0.95,
        bins: Mapping[str, int | Sequence[Any]] | Iterable[str] = (),
        sums: Iterable[str] = (),
        cumulative: Iterable[str] = (),
        target: str | None = None,
        adaptive: bool | None = None,
        accept: bool = False,
    ) -> ReleasePlan:
        """The tables a release would hold, their expected errors and its cost; spends nothing.

        Either all marginals of up to `ways` attributes, or the `marginals` that are listed: each a
        list of keys, or a text with commas. A key is an attribute or what GROUP BY takes, with or
        without an alias: `age / 10 AS decade`. The loss is an `epsilon` or a `rho`. With
        `method` "microdata" tables are counted from one file of made-up records, or left
        `unbiased`, which may be negative; "consistent" draws one table among all that agree with
        what is public; the others are those of the paper. `confidence` is how often each margin
        holds. `bins` makes bands of columns of numbers: so many, whose edges are found privately
        for a tenth of the loss, or a list of public edges: `{"income": 10, "age": [18, 65]}`. Such
        a column is a key `income_band`, and made-up records have the number beside it.
        Of `sums`, numbers with public bounds, each table also has the sums and averages;
        counts and each of them cost equal parts of the loss. Along keys that are
        `cumulative` each table also has the counts up to each value, at no further cost.

        With a `target` only tables with this attribute are made beside single ones. An `adaptive`
        release chooses privately which tables are measured; the others follow from the made-up
        records and have no margin. If it is not told, that is done where the policy's number of
        rows shows that measuring all would mostly measure noise. Records of which most would be
        noise must be told to `accept`.

        Returns the plan, which `release` takes. Raises a QuestionError where attributes, loss or
        method are wrong or the tables do not fit, and a PolicyError where the promise does not
        allow it.

        >>> from adomnia.testing import town
        >>> with town(rows=50).open() as database:
        ...     planned = database.plan_release(marginals=["sex,region", ["sex"]], epsilon=1)
        >>> planned.workload.total_cells
        10
        """
        refuse_several(self.policy, "a release is of one table")
        from adomnia.curator.releases.bands import band_requests  # noqa: PLC0415 (slow to import)
        from adomnia.curator.releases.release_plan import (  # noqa: PLC0415
            ReleaseSpec,
            plan_release,
        )

        listed = tuple(_keys(part) for part in marginals)
        loss = _loss(epsilon, rho)
        if not isinstance(confidence, int | float) or not 0 < confidence < 1:
            raise QuestionError(
                "a confidence lies between 0 and 1, got " + repr(confidence)[:40],
                "for example confidence = 0.95",
            )
        return plan_release(
            self._backend,
            ReleaseSpec(
                loss,
                ways,
                listed,
                method,
                unbiased,
                confidence,
                band_requests(bins),
                tuple(sums),
                tuple(cumulative),
                target,
                adaptive,
                accept,
            ),
        )

    def release(
        self, planned: ReleasePlan, *, analyst: str | None = None, progress: Progress | None = None
    ) -> Release:
        """Pay for a planned release, measure once, and make tables that agree with each other.

        `planned` comes from `plan_release`; an `analyst` pays from their own budget too. `progress`
        is called with the name of each step and how much of it is done. Returns the tables with
        their margins and the receipt. Raises a BudgetError where a budget does not allow it, a
        NotAllowedError where there is no such analyst, and a MachineryError where data or ledger
        cannot be read.

        >>> from adomnia.testing import town
        >>> with town(rows=50).open() as database:
        ...     published = database.release(database.plan_release(ways=1, epsilon=1))
        ...     len(published.tables) == len(database.released_tables(published.receipt))
        True
        """
        from adomnia.curator.releases.release import publish  # noqa: PLC0415 (slow to import)

        who = analyst_of(self.policy, analyst)
        return publish(self._backend, planned, Payer(who, self._backend.budgets(who)), progress)

    def add_prior(
        self,
        sql: str,
        *,
        values: str | Path | None = None,
        rounded: int | None = None,
        below: int | None = None,
        accept: bool = False,
        check: bool = False,
    ) -> Registered:
        """Register a statement whose answer was released exactly; see what that re-prices.

        `values` is a CSV file with the released numbers, which may have been `rounded` to multiples
        of a number, or left out where they are `below` one. A budget that the new prices pass
        refuses it, unless the curator accepts: then it is in the ledger that they did. With `check`
        the numbers are compared with the data first, and refused where they differ: what is
        registered stays.

        Returns what everything cost before, and what it costs since. Raises a QuestionError where
        the statement or the file is wrong, a CheckError where the numbers differ from the data, and
        a BudgetError where a budget would be passed.

        >>> from adomnia.testing import town
        >>> with town(rows=50).open() as database:
        ...     registered = database.add_prior("SELECT COUNT(*) AS n FROM people WHERE sex = 'F'")
        >>> registered.repriced
        0
        """
        from adomnia.curator.confirmation import check_numbers  # noqa: PLC0415 (for curators alone)

        refuse_priors(self.policy)
        rows = None if values is None else read_values(values)
        prior = Prior(sql, rows, rounded, below)
        wrong = check_numbers(self._backend, prior) if check else None
        if wrong is not None:
            raise CheckError(
                f"{wrong}: nothing was registered",
                "a group that the file leaves out counts as 0; correct the file, or register it "
                "as it is with --unchecked where other numbers were really released",
            )
        return self._backend.knowledge.add(prior, accept)

    def confirm_priors(self) -> str | None:
        """Say that what was released exactly holds for the data as they are now.

        Registered numbers are compared with the data. What comes back is None, and the ledger has
        it; or what does not hold, which is for the curator alone, and nothing is confirmed. Raises
        a MachineryError where data or ledger cannot be read.

        >>> from adomnia.testing import town
        >>> with town(rows=50).open() as database:
        ...     registered = database.add_prior("SELECT COUNT(*) AS n FROM people")
        ...     database.confirm_priors() is None
        True
        """
        from adomnia.curator.confirmation import confirm  # noqa: PLC0415 (for curators alone)

        return confirm(self._backend)

    def priors(self) -> DeterminedCells:
        """What was released exactly, and which cells that has given away already.

        >>> from adomnia.testing import town
        >>> with town(rows=50).open() as database:
        ...     registered = database.add_prior("SELECT COUNT(*) AS n FROM people")
        ...     [release["sql"] for release in database.priors().releases]
        ['SELECT COUNT(*) AS n FROM people']
        """
        from adomnia.curator.determined_cells import determined_cells  # noqa: PLC0415 (for curators alone)

        return determined_cells(self._backend)

    def public_cells(self) -> tuple[System, Fraction]:
        """The exact releases over the cells that they tell apart, and how far these move at once.

        For those who attack it; it holds public facts only. Raises a QuestionError where nothing
        was registered as released exactly.

        >>> from adomnia.testing import town
        >>> with town(rows=50).open() as database:
        ...     made = database.add_prior("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex")
        ...     system, sensitivity = database.public_cells()
        >>> system.cells
        2
        """
        from adomnia.curator.determined_cells import public_cells  # noqa: PLC0415 (as above)

        return public_cells(self._backend)

    def budget(self) -> dict[str, Any]:
        """What is spent and left: of the data, and of every analyst.

        Returns plain values, amounts as texts that are exact.

        >>> from adomnia.testing import town
        >>> with town(rows=50, privacy="epsilon = 2").open() as database:
        ...     state = database.budget()["data"]
        >>> state["spent"], state["unit"]
        ('0', 'epsilon')
        """
        return state_of(self.policy, self._backend.journal.account())

    def ledger(self, bodies: Collection[EntryKind] | None = None) -> list[Entry]:
        """Every entry of the ledger, in order; with all bodies, or those of these kinds.

        >>> from adomnia.testing import town
        >>> with town(rows=50).open() as database:
        ...     answer = database.session().ask("SELECT COUNT(*) AS n FROM people", epsilon=1)
        ...     [entry.kind for entry in database.ledger()]
        ['opened', 'edition', 'reserved', 'answered']
        """
        return list(self._backend.journal.entries(bodies=bodies))

    def account(self) -> Account:
        """What the ledger says by now: who spent what, which uses there are, what was answered.

        >>> from adomnia.testing import town
        >>> with town(rows=50).open() as database:
        ...     answer = database.session().ask("SELECT COUNT(*) AS n FROM people", epsilon=1)
        ...     database.account().total.epsilon
        Fraction(1, 1)
        """
        return self._backend.journal.account()

    def reservation(self, receipt: str) -> Entry | None:
        """The entry of the ledger that paid under a receipt; None where there is no such receipt.

        >>> from adomnia.testing import town
        >>> with town(rows=50).open() as database:
        ...     answer = database.session().ask("SELECT COUNT(*) AS n FROM people", epsilon=1)
        ...     database.reservation(answer.receipt).kind, database.reservation("0" * 32)
        ('reserved', None)
        """
        return self._backend.journal.reservation(receipt)

    def released_tables(self, receipt: str) -> list[Mapping[str, Any]]:
        """The tables that a release with this receipt has published; none where it is no release's.

        They are public: nothing else that the ledger keeps of an answer is told here.

        >>> from adomnia.testing import town
        >>> with town(rows=50).open() as database:
        ...     published = database.release(database.plan_release(marginals=["sex"], epsilon=1))
        ...     len(database.released_tables(published.receipt))
        1
        """
        return released_tables(self._backend.journal.answer(receipt))

    def verify(self) -> Verification:
        """Whether the ledger's chain holds, and what is wrong where it does not.

        >>> from adomnia.testing import town
        >>> with town(rows=50).open() as database:
        ...     database.verify().ok
        True
        """
        return self._backend.journal.verify()

    @property
    def edition(self) -> Edition | None:
        """The edition of the data that is asked; None where the source is read in place.

        >>> from adomnia.testing import town
        >>> with town(rows=50).open() as database:
        ...     database.edition.number
        1
        """
        return self._backend.current

    def load(self, quality: Amount | None = None, *, checked: str | None = None) -> Edition:
        """Read the source again: a new edition, from which questions are answered from now on.

        With a `quality`, or [quality] in the policy, so much is spent on counting what it leaves
        out (`measure_quality`). Nothing changes where the source cannot be read, nor where it is
        not what was `checked` (the `version` of a check). Raises a PolicyError where the policy
        says that the source is read in place, or where it is not what the policy says, a
        MachineryError where it has changed, and a BudgetError where the budget does not allow the
        counts.

        >>> from adomnia.testing import town
        >>> with town(rows=50).open() as database:
        ...     database.load().number
        2
        """
        from adomnia.curator.loading import load_edition  # noqa: PLC0415 (for curators alone)

        self._refuse_view("nothing is loaded for it")
        epsilon = self.policy.quality if quality is None else quality
        in_place = self._backend.editions is None
        made = load_edition(replace(self.policy, in_place=in_place), checked=checked)
        self._backend.take_last()
        if epsilon is not None:
            self.measure_quality(epsilon)
        return made

    def measure_quality(self, epsilon: Amount) -> tuple[Omission, ...]:
        """Count privately what cleaning and a unit's bound leave out of the edition that is asked.

        It is paid once for each edition, of several tables for all of them together, and told
        beside every answer from then on; of tables with `max_rows = "auto"`, and of rows that
        belong to two units, nothing is counted. Returns what was counted, with margins that hold
        together with 95 % confidence. Raises a BudgetError where the budget does not allow it, a
        PolicyError where the source is read in place, a QuestionError where there is nothing to
        count, and a NotAllowedError where something was released exactly.

        >>> from adomnia.testing import town
        >>> with town(rows=50).open() as database:
        ...     counted = database.measure_quality(epsilon=1)
        >>> [part.column for part in counted]
        ['sex', 'age', 'income', 'region']
        """
        from adomnia.curator.answers.omissions import all_left_out  # noqa: PLC0415 (for curators)
        from adomnia.curator.quality.quality import measure_quality  # noqa: PLC0415 (as above)

        self._refuse_view("what it leaves out is not counted")
        if self.policy.several is not None:
            return self._measure_tables(epsilon)
        found = measure_quality(self._backend, epsilon)
        return all_left_out(self._backend.table, found, 0.95, self._backend.policy.rows)

    def _measure_tables(self, epsilon: Amount) -> tuple[Omission, ...]:
        from adomnia.curator.answers.table_omissions import (  # noqa: PLC0415 (for curators alone)
            TableCounts,
            all_of_tables,
        )
        from adomnia.curator.quality.tables_quality import measure_tables  # noqa: PLC0415 (as above)

        assert self.policy.several is not None
        found = measure_tables(self._backend, epsilon)
        return all_of_tables(TableCounts(self.policy.several.tables, found, 0.95))

    def bounds(
        self,
        column: str,
        epsilon: Amount,
        *,
        step: Amount | None = None,
        confidence: float = 0.95,
    ) -> ProposedBounds:
        """Propose bounds of a column of numbers, found privately in the source as it is now.

        The column need not be declared; `step` is that of its numbers, by default the declared one
        or 1. Returns the bounds with how many people at most have a value beyond them, and the
        lines that declare them. Raises a QuestionError where the column is none of the source, or
        holds days or listed values, or the epsilon is wrong; text that is not declared is taken as
        numbers only with a `step`. Raises a NotAllowedError where something was released exactly,
        and a BudgetError where the budget does not allow it. Nothing is spent then.

        >>> from adomnia.testing import town
        >>> with town(rows=2000).open() as database:
        ...     database.bounds("age", epsilon=50).high
        Fraction(100, 1)
        """
        from adomnia.curator.quality.column_bounds import propose_bounds  # noqa: PLC0415 (seldom)

        self._refuse_view("bounds are sought in a source")
        asked = (epsilon, step, confidence)
        return propose_bounds(self.policy, column, asked, self._backend.source)

    def close(self) -> None:
        """Let go of the data and the ledger; nothing can be asked afterwards.

        >>> from adomnia.testing import town
        >>> with town(rows=50).open() as database:
        ...     database.close()
        """
        self._backend.close()


def open_database(
    policy: str | Path = "adomnia.toml", *, accept: bool = False, source: Any = None
) -> PrivateDatabase:
    """The database that a policy file describes.

    With `accept`, exact releases that the policy declares are registered even where what was
    answered before then costs more than the budget. A `source` that is handed in (a path, an
    address, a session or DataFrame of PySpark) is read in the place of the policy's.
    """
    return PrivateDatabase(confirmed_policy(policy), accept, source)


def confirmed_policy(policy: str | Path) -> Policy:
    """The policy of a file, refused where nobody has confirmed its domains or it has no table."""
    read = read_policy(policy)
    if not read.confirmed:
        raise PolicyError(
            "the domains are not confirmed",
            "read every domain, correct what must not be public, then set confirmed = true",
            str(read.file),
            line_of(read, ("privacy", "confirmed")),
        )
    if not read.source and read.several is None:
        raise PolicyError(
            "this policy has a graph and no table",
            "ask about the graph: adomnia ask --graph, or adomnia.open_graph in Python",
            str(read.file),
        )
    return read


def _keys(marginal: str | Sequence[str]) -> tuple[str, ...]:
    """The keys of one marginal: a list, or a text with commas."""
    parts = split_keys(marginal) if isinstance(marginal, str) else marginal
    return tuple(part.strip() for part in parts)


def _loss(epsilon: Amount | None, rho: Amount | None) -> Loss:
    if (epsilon is None) == (rho is None):
        raise QuestionError("a release costs an epsilon or a rho", "for example epsilon = 1")
    if epsilon is not None:
        return Loss.pure(exact(epsilon))
    assert rho is not None
    return Loss.concentrated(exact(rho, "rho"))
