"""PriorRegistry: what is public about the data, registered in the ledger, and what that changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from adomnia.curator.exact_releases.prior import Prior, bind_prior, read_values
from adomnia.curator.policy_lines import refuse_priors
from adomnia.errors import PolicyError, QuestionError
from adomnia.ledger.account import Account, promise_kind
from adomnia.ledger.journal import Journal
from adomnia.ledger.prior import AlreadyPriced, Price, Registered, register
from adomnia.policy.policy import Policy, PriorSource, refuse_free_lunch
from adomnia.policy.promise import Promise
from adomnia.priors.prior_knowledge import PriorKnowledge
from adomnia.privacy import events
from adomnia.privacy.composition import Budget
from adomnia.queries.measurement import Counts
from adomnia.queries.question import Question

__all__ = ["PriorRegistry"]


Bind = Callable[[str], Question]


@dataclass(frozen=True)
class PriorRegistry:
    """Where exact releases are registered; what a use costs after them is worked out here."""

    policy: Policy
    journal: Journal
    bind: Bind
    columns: tuple[str, ...] = ()
    edition: Callable[[], str] = str
    """Which state of the data is read now."""

    def known(self, bodies: tuple[Mapping[str, Any], ...]) -> PriorKnowledge:
        """What the registered releases say together."""
        policy = self.policy
        if bodies:
            _refuse_other_promises(policy)
        published = tuple(self._bound(prior) for prior in _priors_of(bodies))
        read = frozenset().union(*(release.reads for release in published))
        return PriorKnowledge(
            published,
            frozenset(n for n in self.columns if n not in read or self._is_nullable(n)),
            policy.neighbors.replaces,
            policy.universe,
            policy.max_group,
        )

    def _is_nullable(self, name: str) -> bool:
        """Whether NULL is a cell of its own; else rows without a listed value are in no table."""
        declared = self.policy.attributes.get(name)
        return declared is None or declared.nullable

    def _bound(self, prior: Prior) -> Any:
        try:
            return bind_prior(prior, self.bind)
        except QuestionError as error:
            raise PolicyError(
                f"the release {prior.sql[:200]!r} cannot be read with this policy: {error.message}",
                error.hint or "what was released stays public: declare its columns as they were",
                str(self.policy.file),
            ) from None

    def add_declared(self, accept: bool = False) -> None:
        """Register what the policy declares and the ledger does not have yet."""
        have = {body["published"].get("digest") for body in self.journal.account().priors}
        for source in self.policy.priors:
            prior = self.read(source)
            if prior.digest not in have:
                self.add(prior, accept)

    def read(self, source: PriorSource) -> Prior:
        """The release that a section of the policy names, with its numbers."""
        rows = None if source.values is None else read_values(self.policy.beside(source.values))
        return Prior(source.sql, rows, source.rounded, source.below)

    def add(self, prior: Prior, accept: bool = False) -> Registered:
        """Register a release: from now on it is part of the promise, and re-prices the past."""
        refuse_priors(self.policy)
        bind_prior(prior, self.bind)  # its own mistakes first
        body = {**prior.to_json(), "data": self.edition()}

        def price(account: Account) -> Mapping[str, events.Event]:
            after = self.known((*account.priors, {"published": body}))
            check_known(after)
            return self._prices(account, after)

        return self._register(body, price, accept)

    def check_promise(self, accept: bool = False) -> None:
        """Price everything anew where the policy promises something else than it did."""
        if self._holds(self.journal.account()):
            return

        def price(account: Account) -> Mapping[str, events.Event]:
            if self._holds(account):
                raise AlreadyPriced
            after = self.known(account.priors)
            return self._prices(account, after)

        with suppress(AlreadyPriced):
            self._register({}, price, accept)

    def _prices(self, account: Account, after: PriorKnowledge) -> Mapping[str, events.Event]:
        from adomnia.curator.exact_releases.repricing import Repricing  # noqa: PLC0415 (seldom)

        return dict(Repricing(self.policy, after, self.journal).prices(account))

    @cached_property
    def promise(self) -> Mapping[str, Any]:
        """What the policy promises, as every reservation records it."""
        return Promise.of(self.policy).to_json()

    def _holds(self, account: Account) -> bool:
        """Whether every use is priced by this promise."""
        about_tables = {name for name in account.promises if not promise_kind(name)}
        return about_tables <= {None, self.promise["digest"]}

    def confirmed(self) -> frozenset[str] | None:
        """The versions of the data for which all exact releases hold; None without any.

        A release holds for the data that it was registered with, and for those that were
        confirmed later.
        """
        found: frozenset[str] | None = None
        for head in self.journal.account().priors:
            said = head["published"]
            if "sql" in said:
                made = frozenset({said["data"]})
                found = made if found is None else found & made
            elif found is not None:
                found |= {said["confirmed"]}
        return found

    def confirm(self) -> None:
        """Record that what was released exactly holds for the data as they are now."""
        told = {"confirmed": self.edition()}
        self._register(told, lambda account: {}, accept=True)

    def _register(self, body: Mapping[str, Any], price: Price, accept: bool) -> Registered:
        budgets: dict[str | None, Budget] = {None: self.policy.budget}
        budgets.update(self.policy.analysts)
        published = {**body, "promise": self.promise["digest"]}
        return register(self.journal, published, price, budgets, accept)


def _priors_of(bodies: Sequence[Mapping[str, Any]]) -> Iterator[Prior]:
    """The releases in the ledger, each once: one without numbers adds nothing to one with them."""
    found = [Prior.from_json(b["published"]) for b in bodies if "sql" in b["published"]]
    told = {prior.sql for prior in found if prior.rows is not None and not prior.is_rounded}
    kept = (p for p in found if p.rows is not None or p.is_rounded or p.sql not in told)
    yield from dict.fromkeys(kept)


def check_known(known: PriorKnowledge) -> None:
    """Refuse releases that contradict each other, naming the fewest that do."""
    from adomnia.priors.consistency import check  # noqa: PLC0415 (needs SciPy: slow to import)
    from adomnia.priors.layout import lay_out  # noqa: PLC0415

    check(lay_out(known, Counts((None,)), None, ()).system)


def _refuse_other_promises(policy: Policy) -> None:
    refuse_free_lunch(policy, "exact releases do not go")
    neighbors = policy.neighbors
    if neighbors.relation in ("attribute", "bit"):
        raise PolicyError(
            f"exact releases go with unbounded or bounded neighbors, not with {neighbors.relation}",
            "with something public it is not clear which single change could be made",
            str(policy.file),
        )
    public = [name for name, part in policy.attributes.items() if not part.sensitive]
    if public:
        raise PolicyError(
            f"{public[0]} is not sensitive: its tables are released exactly, and not registered",
            "leave out sensitive = false, and register what was released",
            str(policy.file),
        )
    if neighbors.rows not in (None, 1):
        raise PolicyError(
            "exact releases need one row for each person: with several, what is public ties "
            "them in ways that are not a multiple of one row's",
            "release from a table of persons, or set max_rows = 1",
            str(policy.file),
        )
