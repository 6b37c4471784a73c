"""A session: one analyst's questions, from SQL to answer, each paid for before it is computed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from adomnia.curator import selections
from adomnia.curator.access import confidence_of
from adomnia.curator.answers.answer import Answer, AnswerTable, tabulate
from adomnia.curator.answers.answer_shape import Described, describe, without_data
from adomnia.curator.answers.reuse import Reused, agreeing, reuse
from adomnia.curator.independence import Independence, examine
from adomnia.curator.planning.plan import LossRequest, Plan, make_plan
from adomnia.curator.planning.quantile_choice import error_of
from adomnia.curator.query_plan import QueryPlan, cost_of, forecast, forecast_free, search
from adomnia.curator.selections import Above, Chosen
from adomnia.curator.spend import Payer, Use, spend
from adomnia.curator.table_backend import TableBackend
from adomnia.curator.watch import Watch
from adomnia.errors import QuestionError
from adomnia.ledger.reserve import Budgets, Granted, least, left, repeated
from adomnia.mechanisms.noisy_values import Measured
from adomnia.policy.policy import Policy
from adomnia.privacy.composition import Budget
from adomnia.privacy.events import Event, Free
from adomnia.privacy.loss import Amount, exact
from adomnia.privacy.premises import check_premises
from adomnia.queries.question import Question
from adomnia.schema.table import Table as DeclaredTable

if TYPE_CHECKING:
    from adomnia.curator.outside_mechanisms import MechanismAnswer

__all__ = ["Session"]

REUSED = "this was known from earlier answers and cost nothing"
NOTHING = "this is the same whatever the data, so it cost nothing"
REPEATED = "this request was paid and answered before; it is the same answer"


@dataclass(frozen=True)
class Session:
    """One analyst who asks a database.

    Ask with an epsilon (Laplace noise, pure) or a rho (Gaussian noise, zCDP). `budget` limits
    this session beside the analyst's and the data's own budgets.
    """

    _backend: TableBackend
    analyst: str
    name: str | None = None
    limit: Budget | None = None

    @property
    def policy(self) -> Policy:
        """What the curator has declared and promises."""
        return self._backend.policy

    @property
    def table(self) -> DeclaredTable:
        """The private table as the policy declares it, with the public tables beside it."""
        return self._backend.table

    def ask(  # noqa: PLR0913 (a door: what may be said is said by name)
        self,
        sql: str,
        epsilon: Amount | None = None,
        *,
        rho: Amount | None = None,
        delta: Amount | None = None,
        confidence: float = 0.95,
        key: str | None = None,
        watch: Watch | None = None,
        error: str = "rank",
    ) -> Answer:
        """A private answer to the statement, paid from the ledger.

        What is the same for all data needs no epsilon. A request that is repeated with the same
        `key` gets the same answer and is paid once. A `watch` is told how far it is, and can end
        it. `error` says what shall be small of a quantile: the error of its rank, or of its value.
        """
        confidence = confidence_of(confidence)
        question = self.bind(sql)
        if question.public:
            return self._free(question, confidence)
        asked = _asked(epsilon, rho, delta, error)
        watch = watch or Watch()
        plan = self._plan(sql, asked)
        watch.stage("planned")
        version = self._backend.version()  # of before the data is read
        known = reuse(plan, self._backend.memory(self.analyst, version))
        if known is not None and not self._is_answered(key):
            watch.stage("paid")
            answer = self._reused(plan, known, confidence)
            watch.tell("answered")
            return answer
        request = json.dumps([*asked.told, confidence])
        paid = spend(self._backend, self.payer(key), self._use(sql, plan, version, request), watch)
        notes = (REPEATED,) if paid.repeated else ()
        return self._answer(plan, plan.measured(paid.released), confidence, paid.granted, notes)

    def _is_answered(self, key: str | None) -> bool:
        """Whether this key has an answer already, which it then gets again."""
        account = self._backend.journal.account()
        paid = account.find(self.analyst, key)
        return paid is not None and account.is_answered(paid.receipt)

    def _use(self, sql: str, plan: Plan, version: str, request: str) -> Use:
        return Use(
            statement=sql,
            mechanisms=plan.mechanisms,
            promise=self._backend.knowledge.promise,
            version=version,
            of=plan.of,
            request=request,
            priors=plan.priors,
            findable=plan.findable(version),
        )

    def payer(self, key: str | None = None) -> Payer:
        """Who pays for what is asked here."""
        return Payer(self.analyst, self.budgets, self.name, key)

    def _reused(self, plan: Plan, known: Reused, confidence: float) -> Answer:
        """An answer from what this analyst was told before; the ledger says from which."""
        granted = repeated(
            self._backend.journal, self.analyst, self.name, known.receipts, self.budgets
        )
        return self._answer(plan, agreeing(plan, known.measured), confidence, granted, (REUSED,))

    def bind(self, sql: str) -> Question:
        """The question that a statement asks; reads no data and spends nothing."""
        return self._backend.bind(sql, self.analyst)

    def describe(self, sql: str) -> tuple[Described, ...]:
        """The names and types of an answer's columns; reads no data and spends nothing."""
        return describe(self._backend.interpret(sql, self.analyst))

    def independence(self, first: str, second: str, epsilon: Amount) -> Independence:
        """Test whether two attributes are independent; their histograms must be public."""
        return examine(self._backend, self.payer(), (first, second), exact(epsilon))

    def noisy_max(
        self, conditions: Sequence[str], epsilon: Amount, *, confidence: float = 0.95
    ) -> Chosen:
        """The SQL condition that (nearly) the most rows meet; its count stays private."""
        return selections.noisy_max(self._backend, self.payer(), conditions, epsilon, confidence)

    def above(
        self,
        threshold: int,
        conditions: Sequence[str],
        epsilon: Amount,
        *,
        cutoff: int = 1,
        confidence: float = 0.95,
    ) -> Above:
        """Which SQL conditions more rows meet than a threshold, until `cutoff` are found."""
        return selections.above(
            self._backend, self.payer(), threshold, conditions, epsilon, cutoff, confidence
        )

    def auction(
        self, column: str, prices: Sequence[Amount], epsilon: Amount, *, confidence: float = 0.95
    ) -> Chosen:
        """One of the prices, nearly the one that brings most from bids in the column."""
        return selections.auction(self._backend, self.payer(), column, prices, epsilon, confidence)

    def use(
        self,
        mechanism: str,
        epsilon: Amount | None = None,
        *,
        rho: Amount | None = None,
        delta: Amount | None = None,
        key: str | None = None,
        **options: Any,
    ) -> MechanismAnswer:
        """What a mechanism of another package releases, with options by name.

        The policy must name it, and the answer says whose it is: that it is private is that
        package's word. A `key` means what it does for `ask`.
        """
        from adomnia.curator.outside_mechanisms import use_mechanism  # noqa: PLC0415 (seldom used)

        asked = _asked(epsilon, rho, delta)
        return use_mechanism(self._backend, self.payer(key), mechanism, asked, options)

    def plan(  # noqa: PLR0913 (as above)
        self,
        sql: str,
        epsilon: Amount | None = None,
        *,
        rho: Amount | None = None,
        delta: Amount | None = None,
        margin: float | None = None,
        confidence: float = 0.95,
        error: str = "rank",
    ) -> QueryPlan:
        """The error an answer would have, or the epsilon that a margin needs; spends nothing."""
        confidence = confidence_of(confidence)
        if self.bind(sql).public:
            return forecast_free(self.bind(sql), confidence)
        if margin is None:
            planned = self._plan(sql, _asked(epsilon, rho, delta, error))
            facts = self._backend.facts()
            for mechanism in planned.mechanisms:
                check_premises(mechanism.premises, facts)
            return forecast(planned, confidence)
        if epsilon is not None or rho is not None:
            raise QuestionError("either a loss or a margin", "leave one of them out")
        extra = None if delta is None else exact(delta, "delta")
        told = error_of(error)
        return search(
            lambda e: self._plan(sql, LossRequest(e, None, extra, told)), margin, confidence
        )

    def remaining(self) -> Mapping[str, Fraction]:
        """What this analyst can still spend."""
        account = self._backend.journal.account()
        return least(left(account, self.budgets, self.analyst, self.name))

    @property
    def budgets(self) -> Budgets:
        """Every budget that binds this session."""
        return replace(self._backend.budgets(self.analyst), session=self.limit)

    def _free(self, question: Question, confidence: float) -> Answer:
        """An answer that no data is needed for; it is in the ledger all the same."""
        table = without_data(question, self._backend.table.attributes)
        granted = repeated(self._backend.journal, self.analyst, self.name, (), self.budgets)
        return _told(table, confidence, Free(), granted, (NOTHING,))

    def _plan(self, sql: str, asked: LossRequest) -> Plan:
        count, known = self._backend.public()
        plan = make_plan(self.bind(sql), self._backend.policy, asked, known)
        return replace(plan, priors=count)

    def _answer(
        self,
        plan: Plan,
        found: Measured,
        confidence: float,
        granted: Granted,
        notes: tuple[str, ...],
    ) -> Answer:
        table: AnswerTable = tabulate(plan, found, confidence, self._backend.table.attributes)
        cost = Free() if granted.repeated or REUSED in notes else plan.event
        return _told(table, confidence, cost, granted, notes)


def _told(
    table: AnswerTable, confidence: float, cost: Event, granted: Granted, notes: tuple[str, ...]
) -> Answer:
    return Answer(
        table.columns,
        table.rows,
        table.margins,
        confidence,
        cost_of(cost),
        least(granted.remaining),
        granted.receipt,
        (*table.notes, *notes),
        table.margin_units,
        table.noise,
    )


def _asked(
    epsilon: Amount | None, rho: Amount | None, delta: Amount | None, error: str = "rank"
) -> LossRequest:
    if (epsilon is None) == (rho is None):
        raise QuestionError("an answer costs an epsilon or a rho", "for example epsilon = 0.1")
    small = None if delta is None else exact(delta, "delta")
    if small is not None and small >= 1:
        raise QuestionError("delta must be below one", "for example delta = 1e-9")
    if epsilon is not None:
        return LossRequest(exact(epsilon), None, small, error_of(error))
    assert rho is not None
    return LossRequest(None, exact(rho, "rho"), small, error_of(error))
