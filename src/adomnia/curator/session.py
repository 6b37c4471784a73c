"""A session: one analyst's questions, from SQL to answer, each paid for before it is computed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from adomnia.curator.access import CURATOR, Error, Watch, confidence_of, error_of, key_of
from adomnia.curator.answers.answer import Answer, AnswerTable, tabulate
from adomnia.curator.answers.answer_shape import Described, describe, without_data
from adomnia.curator.answers.derived_omissions import cut_off, left_out_of_rows
from adomnia.curator.answers.known_rows import KnownRows, known_rows, table_rows
from adomnia.curator.answers.omissions import (
    ASKED,
    COUNTABLE,
    UNKNOWN,
    Omission,
    left_out_of,
    sentences,
)
from adomnia.curator.answers.reuse import Reused, agreeing, reuse
from adomnia.curator.answers.table_omissions import TableCounts
from adomnia.curator.answers.whole import (
    whole_beside,
    whole_columns,
    whole_intervals,
    whole_notes,
)
from adomnia.curator.data.editions import edition_of, use_edition
from adomnia.curator.derived_backend import backend_over, tables_of
from adomnia.curator.planning.plan import LossRequest, Plan, make_plan
from adomnia.curator.quality.quality import paid_quality
from adomnia.curator.quality.tables_quality import paid_by_table
from adomnia.curator.query_plan import QueryPlan, plan_free_query, plan_query, search
from adomnia.curator.spend import Payer, Use, spend
from adomnia.curator.table_backend import TableBackend
from adomnia.errors import QuestionError
from adomnia.ledger.reserve import Budgets, Granted, least, left, repeated
from adomnia.mechanisms.noisy_values import Measured
from adomnia.policy.policy import Policy
from adomnia.privacy.composition import Budget
from adomnia.privacy.events import Event, Free, cost_of, loss
from adomnia.privacy.loss import Amount, exact
from adomnia.privacy.premises import check_premises
from adomnia.queries.derived_table import DerivedTable
from adomnia.queries.question import Question
from adomnia.schema.table import Table as DeclaredTable

if TYPE_CHECKING:
    from adomnia.curator.independence import Independence
    from adomnia.curator.outside_mechanisms import MechanismAnswer
    from adomnia.curator.selections import Above, Chosen

__all__ = ["Session"]

REUSED = "this was known from earlier answers and cost nothing"
NOTHING = "this is the same whatever the data, so it cost nothing"
REPEATED = "this request was paid and answered before; it is the same answer"


@dataclass(frozen=True)
class Session:
    """One analyst who asks a database.

    Ask with an epsilon (Laplace noise, pure) or a rho (Gaussian noise, zCDP). `budget` limits
    this session beside the analyst's and the data's own budgets.

    >>> from adomnia.testing import town
    >>> with town(rows=50).open() as database:
    ...     session = database.session()
    ...     answer = session.ask("SELECT sex, COUNT(*) AS n FROM people GROUP BY 1", epsilon=1)
    >>> answer.columns, len(answer.rows), answer.margins["n"][0] > 0
    (('sex', 'n'), 2, True)
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

    def table_of(self, sql: str) -> DeclaredTable:
        """The table of the rows that a statement is about, where it joins several or computes
        something for each unit first; else the private table. Reads no data and spends nothing.

        Raises a QuestionError where the statement cannot be asked.

        >>> from adomnia.testing import town
        >>> with town(rows=50).open() as database:
        ...     database.session().table_of("SELECT COUNT(*) FROM people").name
        'people'
        """
        return self._over(sql).table

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
        error: Error = "rank",
    ) -> Answer:
        """A private answer to the statement, paid from the ledger.

        The loss is an `epsilon` or a `rho`, as a number or a text such as "1/10"; groups whose
        names are not declared need a `delta`. What is the same for all data needs no loss.
        `confidence` is how often each margin holds. A request that is repeated with the same `key`
        gets the same answer and is paid once. A `watch` is told how far it is, and can end it.
        `error` says what shall be small of a quantile: the error of its rank, or of its value; with
        "interval" half of its loss goes into an interval of values that holds it.

        Returns rows with their margins, what they cost and what is left. Raises a QuestionError
        where the statement, a loss or the key is wrong, a BudgetError where a budget does not allow
        it, a ReusedKeyError where the key stands for another request, a CancelledError where the
        watch ended it, and a MachineryError where data or ledger cannot be read.

        >>> from adomnia.testing import town
        >>> with town(rows=50).open() as database:
        ...     answer = database.session().ask("SELECT COUNT(*) AS n FROM people", epsilon="1/10")
        >>> answer.columns, answer.spent["epsilon"]
        (('n',), Fraction(1, 10))
        """
        over, confidence = self._over(sql), confidence_of(confidence)
        question = over.bind(sql)
        if question.public:
            return over._free(question, confidence)
        asked = _asked(epsilon, rho, delta, error, confidence)
        return over._paid(sql, asked, (confidence, key), watch or Watch())

    def _paid(
        self, sql: str, asked: LossRequest, said: tuple[float, str | None], watch: Watch
    ) -> Answer:
        """The answer to a statement about these rows, from what is known or from the data."""
        (confidence, key), payer = said, self._payer(said[1])
        version = self._backend.version()  # of before it is priced, and the data read
        plan = self._plan(sql, asked)
        watch.stage("planned")
        known = reuse(plan, self._backend.memory(self.analyst, version))
        if known is not None and not self._is_answered(key):
            watch.stage("paid")
            answer = self._reused(plan, known, confidence, edition_of(version))
            watch.tell("answered")
            return answer
        request = json.dumps([*asked.told, confidence])
        paid = spend(self._backend, payer, self._use(sql, plan, version, request), watch)
        notes = (REPEATED,) if paid.repeated else ()
        edition = self._edition(paid.receipt, version, paid.repeated)
        readings = plan.measured(paid.released)
        return self._answer(plan, readings, (confidence, edition), paid.granted, notes)

    def _over(self, sql: str) -> Session:
        """The session that asks of the rows which a statement is about."""
        rows = self._backend.interpret(sql, self.analyst).rows
        if rows is None:
            return self
        return replace(self, _backend=backend_over(self._backend, rows))

    def _edition(self, receipt: str, version: str, repeated: bool) -> int | None:
        """Which edition an answer is of; one that is given again, of when it was paid."""
        entry = self._backend.journal.reservation(receipt) if repeated else None
        return edition_of(version) if entry is None else use_edition(entry.body)

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

    def _payer(self, key: str | None = None) -> Payer:
        """Who pays for what is asked here."""
        return Payer(self.analyst, self._budgets, self.name, key_of(key))

    def _reused(self, plan: Plan, known: Reused, confidence: float, edition: int | None) -> Answer:
        """An answer from what this analyst was told before; the ledger says from which."""
        granted = repeated(
            self._backend.journal, self.analyst, self.name, known.receipts, self._budgets
        )
        readings = agreeing(plan, known.measured)
        return self._answer(plan, readings, (confidence, edition), granted, (REUSED,))

    def bind(self, sql: str) -> Question:
        """The question that a statement asks; reads no data and spends nothing.

        Returns it as a value: condition, groups, statistics, columns. Raises a QuestionError, which
        points at the character, where the statement cannot be asked.

        >>> from adomnia.testing import town
        >>> with town(rows=50).open() as database:
        ...     question = database.session().bind("SELECT AVG(age) AS mean FROM people")
        >>> [statistic.kind for statistic in question.statistics]
        ['avg']
        """
        return self._backend.bind(sql, self.analyst)

    def describe(self, sql: str) -> tuple[Described, ...]:
        """The names and types of an answer's columns; reads no data and spends nothing.

        Returns one description for each column, in order. Raises a QuestionError where the
        statement cannot be asked.

        >>> from adomnia.testing import town
        >>> with town(rows=50).open() as database:
        ...     columns = database.session().describe("SELECT sex, COUNT(*) FROM people GROUP BY 1")
        >>> [(column.name, column.is_noisy) for column in columns]
        [('sex', False), ('count', True)]
        """
        over = self._over(sql)
        question = over._backend.interpret(sql, self.analyst)
        over._backend.take_last()
        current = over._backend.current
        left_out = over._left_out(question, None if current is None else current.number, 0.95)
        whole = whole_columns(question, left_out)
        return tuple(replace(one, has_whole=one.name in whole) for one in describe(question))

    def independence(self, first: str, second: str, epsilon: Amount) -> Independence:
        """Test whether two attributes are independent; their histograms must be public.

        Returns the noisy statistic and how rare it is by chance. Raises a QuestionError where an
        attribute is not declared or its histogram was not registered as released (`add_prior`), and
        a BudgetError where a budget does not allow it.

        >>> from adomnia.testing import World, listed
        >>> domains = {"a": listed("x", "y"), "b": listed("x", "y")}
        >>> with World({"a": list("xxyy"), "b": list("xyxy")}, domains).open() as database:
        ...     file = database.policy.file.with_name("released.csv")
        ...     for name in domains:
        ...         written = file.write_text(f"{name},n\\nx,2\\ny,2\\n")
        ...         sql = f"SELECT {name}, COUNT(*) AS n FROM people GROUP BY {name}"
        ...         registered = database.add_prior(sql, values=file)
        ...     test = database.session().independence("a", "b", epsilon=1)
        >>> 0 <= test.p_value <= 1
        True
        """
        from adomnia.curator.independence import examine  # noqa: PLC0415 (few need it)

        return examine(self._backend, self._payer(), (first, second), exact(epsilon))

    def noisy_max(
        self, conditions: Sequence[str], epsilon: Amount, *, confidence: float = 0.95
    ) -> Chosen:
        """The SQL condition that (nearly) the most rows meet; its count stays private.

        Returns the condition, its place in the list, and by how many rows it may fall short of the
        best with this `confidence`. Raises a QuestionError where a condition or the epsilon is
        wrong, and a BudgetError where a budget does not allow it.

        >>> from adomnia.testing import town
        >>> with town(rows=50).open() as database:
        ...     chosen = database.session().noisy_max(["age < 10", "age >= 10"], epsilon=100)
        >>> chosen.value, chosen.place
        ('age >= 10', 1)
        """
        from adomnia.curator import selections  # noqa: PLC0415 (few need them)

        return selections.noisy_max(self._backend, self._payer(), conditions, epsilon, confidence)

    def above(
        self,
        threshold: int,
        conditions: Sequence[str],
        epsilon: Amount,
        *,
        cutoff: int = 1,
        confidence: float = 0.95,
    ) -> Above:
        """Which SQL conditions more rows meet than a threshold, until `cutoff` are found.

        Returns a verdict for each condition up to there, and how near to the threshold a count may
        be for its verdict to be wrong. Raises a QuestionError where a condition, the cutoff or the
        epsilon is wrong, and a BudgetError where a budget does not allow it.

        >>> from adomnia.testing import town
        >>> with town(rows=50).open() as database:
        ...     found = database.session().above(20, ["age < 10", "age >= 10"], epsilon=100)
        >>> found.verdicts
        (False, True)
        """
        from adomnia.curator import selections  # noqa: PLC0415 (few need them)

        return selections.above(
            self._backend, self._payer(), threshold, conditions, epsilon, cutoff, confidence
        )

    def auction(
        self, column: str, prices: Sequence[Amount], epsilon: Amount, *, confidence: float = 0.95
    ) -> Chosen:
        """One of the prices, nearly the one that brings most from bids in the column.

        Returns the price, its place in the list, and by how much its revenue may fall short of the
        best with this `confidence`. Raises a QuestionError where the column, a price or the epsilon
        is wrong, and a BudgetError where a budget does not allow it.

        >>> from adomnia.testing import town
        >>> with town(rows=50).open() as database:
        ...     chosen = database.session().auction("income", [100, 1000], epsilon=1)
        >>> chosen.value in (100, 1000), chosen.margin > 0
        (True, True)
        """
        from adomnia.curator import selections  # noqa: PLC0415 (few need them)

        return selections.auction(self._backend, self._payer(), column, prices, epsilon, confidence)

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
        package's word. A `key` means what it does for `ask`. Raises a NotAllowedError where the
        policy does not name it, a QuestionError where the options are wrong, and a BudgetError
        where a budget does not allow it.

        >>> from adomnia.testing import town
        >>> with town(rows=50).open() as database:
        ...     database.session().use("mean", epsilon=1)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        adomnia.errors.NotAllowedError: the policy does not name the mechanism 'mean'...
        """
        from adomnia.curator.outside_mechanisms import use_mechanism  # noqa: PLC0415 (seldom used)

        asked = _asked(epsilon, rho, delta)
        return use_mechanism(self._backend, self._payer(key), mechanism, asked, options)

    def plan(  # noqa: PLR0913 (as above)
        self,
        sql: str,
        epsilon: Amount | None = None,
        *,
        rho: Amount | None = None,
        delta: Amount | None = None,
        margin: float | None = None,
        confidence: float = 0.95,
        error: Error = "rank",
    ) -> QueryPlan:
        """The error an answer would have, or the epsilon that a margin needs; spends nothing.

        Arguments are those of `ask`; or, in the place of a loss, the `margin` that is wanted.
        Returns what it would cost, by which mechanism, and how far off each column may be. Where
        that depends on the rows it is estimated from `rows` of the policy or from a private count
        that this analyst was shown, and marked as an estimate. Raises a
        QuestionError where the statement or a loss is wrong, or no loss gives such a margin.

        >>> from adomnia.testing import town
        >>> with town(rows=50).open() as database:
        ...     planned = database.session().plan("SELECT COUNT(*) AS n FROM people", margin=5)
        >>> planned.margins["n"] <= 5, planned.mechanism
        (True, 'laplace')
        """
        over, confidence, told = self._over(sql), confidence_of(confidence), error_of(error)
        question = over.bind(sql)
        if question.public:
            return plan_free_query(question, confidence)
        over._backend.take_last()  # by which it is priced
        if margin is None:
            found = over._planned(sql, _asked(epsilon, rho, delta, error, confidence))
            return over._with_left_out(sql, found)
        if epsilon is not None or rho is not None:
            raise QuestionError("either a loss or a margin", "leave one of them out")
        extra = None if delta is None else exact(delta, "delta")
        found = search(
            lambda e: over._plan(sql, LossRequest(e, None, extra, told, confidence)),
            margin,
            confidence,
            over._known_rows(over._plan(sql, LossRequest(Fraction(1), None, extra, told))),
        )
        return over._with_left_out(sql, found)

    def _planned(self, sql: str, asked: LossRequest) -> QueryPlan:
        """What a statement about these rows would cost; what it rests on is checked."""
        planned = self._plan(sql, asked)
        facts = self._backend.facts(self._backend.version())
        for mechanism in planned.mechanisms:
            check_premises(mechanism.premises, facts)
        found = plan_query(planned, asked.confidence, self._known_rows(planned))
        return replace(found, paid_in=self._paid_in(planned))

    def _with_left_out(self, sql: str, planned: QueryPlan) -> QueryPlan:
        edition = edition_of(self._backend.version())
        left_out = self._left_out(self.bind(sql), edition, planned.confidence)
        return replace(planned, left_out=left_out)

    def _known_rows(self, plan: Plan) -> KnownRows | None:
        """About how many rows a question is of, from the policy or what this analyst was shown."""
        memory = self._backend.memory(self.analyst, self._backend.version())
        return known_rows(plan, self._backend.policy, memory)

    def is_known(
        self, sql: str, epsilon: Amount | None = None, *, rho: Amount | None = None
    ) -> bool:
        """Whether the statement would be answered from earlier answers, for nothing.

        Reads no data and spends nothing. Raises a QuestionError where the statement or a loss is
        wrong.

        >>> from adomnia.testing import town
        >>> sql = "SELECT COUNT(*) AS n FROM people"
        >>> with town(rows=50).open() as database:
        ...     session = database.session()
        ...     before, answer = session.is_known(sql, epsilon=1), session.ask(sql, epsilon=1)
        ...     before, session.is_known(sql, epsilon=1)
        (False, True)
        """
        over = self._over(sql)
        plan = over._plan(sql, _asked(epsilon, rho, None))
        memory = over._backend.memory(self.analyst, over._backend.version())
        return reuse(plan, memory) is not None

    def afford(self, event: Event) -> None:
        """Raise a BudgetError where a budget does not allow this, as they are now; spends nothing.

        >>> from adomnia.privacy.events import Laplace
        >>> from adomnia.testing import town
        >>> with town(rows=50, privacy="epsilon = 2").open() as database:
        ...     database.session().afford(Laplace(Fraction(2), Fraction(1)))
        """
        account = self._backend.journal.account()
        left(account, self._budgets, self.analyst, self.name, loss(event))

    def remaining(self) -> Mapping[str, Fraction]:
        """What this analyst can still spend, by currency; the least of all budgets that bind them.

        >>> from adomnia.testing import town
        >>> with town(rows=50, privacy="epsilon = 2").open() as database:
        ...     database.session(epsilon=1).remaining()
        {'epsilon': Fraction(1, 1)}
        """
        account = self._backend.journal.account()
        return least(left(account, self._budgets, self.analyst, self.name))

    @property
    def _budgets(self) -> Budgets:
        """Every budget that binds this session."""
        return replace(self._backend.budgets(self.analyst), session=self.limit)

    def _free(self, question: Question, confidence: float) -> Answer:
        """An answer that no data is needed for; it is in the ledger all the same."""
        table = without_data(question, self._backend.table.attributes)
        granted = repeated(self._backend.journal, self.analyst, self.name, (), self._budgets)
        return _told(table, confidence, Free(), granted, (NOTHING,))

    def _plan(self, sql: str, asked: LossRequest) -> Plan:
        count, known = self._backend.public()
        plan = make_plan(self.bind(sql), self._backend.policy, asked, known)
        unit, units = self._backend.unit_names
        return replace(plan, priors=count, unit=unit, units=units)

    def _answer(
        self,
        plan: Plan,
        found: Measured,
        asked: tuple[float, int | None],
        granted: Granted,
        notes: tuple[str, ...],
    ) -> Answer:
        (confidence, edition), attributes = asked, self._backend.table.attributes
        table: AnswerTable = tabulate(plan, found, confidence, attributes)
        cost = Free() if granted.repeated or REUSED in notes else plan.event
        size = partial(self._size, plan)
        left_out, whole = self._left_out(plan.question, edition, confidence, size), {}
        tables = tables_of(self._backend)
        if tables is not None:
            left_out += tuple(cut_off(plan, found, tables, confidence))
        beside = whole_beside(plan.question, left_out)
        if beside:
            sure = tabulate(plan, found, (1 + confidence) / 2, attributes).margins
            whole = whole_intervals(plan.question, table.rows, sure, left_out)
        paid = () if isinstance(cost, Free) else self._paid_in(plan)
        said = (*paid, *sentences(left_out), *whole_notes(whole, beside), *notes)
        answer = _told(table, confidence, cost, granted, said)
        return replace(answer, edition=edition, left_out=left_out, whole=whole, whole_beside=beside)

    def _paid_in(self, plan: Plan) -> tuple[str, ...]:
        """In which blocks it is paid, where the policy deals out rows to blocks."""
        if self._backend.policy.blocks is None:
            return ()
        reads = [one.reads for one in plan.mechanisms if one.reads is not None]
        touched = self._backend.touched(reads)
        return (f"paid in the budget of {'all blocks' if touched is None else touched.text}",)

    def _left_out(
        self,
        question: Question,
        edition: int | None,
        confidence: float,
        size: Callable[[], int | None] | None = None,
    ) -> tuple[Omission, ...]:
        """What is left out of an answer, as far as it is known of this edition."""
        unknown = COUNTABLE if self.analyst == CURATOR else ASKED
        if edition is None:  # nothing is counted in place
            unknown = UNKNOWN
        tables, table = tables_of(self._backend.base), self._backend.table
        if isinstance(table, DerivedTable) and tables is not None:
            paid = paid_by_table(self._backend, edition)
            return left_out_of_rows(question, table, TableCounts(tables, paid, confidence, unknown))
        quality = paid_quality(self._backend, edition)
        known = size or (lambda: self._backend.policy.rows)
        return left_out_of(question, self._backend.table, quality, confidence, unknown, known)

    def _size(self, plan: Plan) -> int | None:
        """About how many rows there are, by what is public or what this analyst was shown."""
        memory = self._backend.memory(self.analyst, self._backend.version())
        return table_rows(plan, self._backend.policy, memory)


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
        intervals=table.intervals,
    )


def _asked(
    epsilon: Amount | None,
    rho: Amount | None,
    delta: Amount | None,
    error: Error = "rank",
    confidence: float = 0.95,
) -> LossRequest:
    if (epsilon is None) == (rho is None):
        raise QuestionError("an answer costs an epsilon or a rho", "for example epsilon = 0.1")
    small = None if delta is None else exact(delta, "delta")
    if small is not None and small >= 1:
        raise QuestionError("delta must be below one", "for example delta = 1e-9")
    if epsilon is not None:
        return LossRequest(exact(epsilon), None, small, error_of(error), confidence)
    assert rho is not None
    return LossRequest(None, exact(rho, "rho"), small, error_of(error), confidence)
