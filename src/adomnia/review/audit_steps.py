"""The steps of the whole audit: each looks at one thing and yields what it found."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from adomnia.curator.database import PrivateDatabase
from adomnia.errors import QuestionError
from adomnia.policy.policy import Policy
from adomnia.privacy.loss import written
from adomnia.review.attacks import PEOPLE, Sums, attack_averaging, attack_made_up, attack_prior
from adomnia.review.disclosures import Roles, disclosures_of, relation, terms_of
from adomnia.review.exact_columns import release_count
from adomnia.review.microdata.microdata_steps import MicrodataCase, attack_members, attack_records
from adomnia.review.microdata.released_microdata import read_microdata
from adomnia.schema.domain import Categories, Grid

if TYPE_CHECKING:
    from adomnia.audit.correlation.questionnaire import Advice
    from adomnia.audit.finding import Finding

__all__ = ["STEPS", "AuditCase", "Skip"]

EPSILONS = (Fraction(2), Fraction(1), Fraction(1, 2), Fraction(1, 10), Fraction(1, 100))
REPEATS = 20
SAMPLES = 50_000


@dataclass(frozen=True)
class AuditCase:
    """What the curator wants to know: attributes and their roles, and a file to be published.

    With `names` findings also say who and what exactly. `time_limit` is that of each attack. The
    file is held against a `control` group, and against so many `shadows`: releases made again, of
    which `advance` is told.
    """

    public: tuple[str, ...] = ()
    sensitive: str | None = None
    microdata: str | None = None
    names: bool = False
    seed: int = 0
    time_limit: float = 30.0
    control: str | None = None
    shadows: int = 64
    advance: Callable[[float], None] | None = None


class Skip(Exception):
    """There is nothing to look at here; says what would be needed."""


def _fits(case: AuditCase, database: PrivateDatabase) -> Iterator[Finding]:
    from adomnia.audit.correlation.questionnaire import Answers, advise  # noqa: PLC0415
    from adomnia.audit.reconstruction.averaging import family  # noqa: PLC0415 (only needed here)

    policy = database.policy
    told = dict(policy.audit.circumstances)
    if policy.unit is not None:
        told["several_rows"] = False  # all rows of a person are protected together
    if release_count(database):
        told["exact"] = False  # they are part of the promise
    group = told.get("group")
    if group is not None and group <= policy.neighbors.group:
        told["independent"] = True  # so many are protected together
    yield _advised(advise(Answers(**told)))
    if group is not None and group > policy.neighbors.group:
        yield family(group, float(_budget(database)), seed=case.seed)


def _advised(advice: Advice) -> Finding:
    """The advice as a finding, with the open questions in the words in which they are asked."""
    from adomnia.audit.correlation.questionnaire import QUESTIONS  # noqa: PLC0415 (only needed here)

    found = advice.finding()
    sure = dict.fromkeys(step.use for step in advice.steps if step.question not in advice.unknown)
    do = [*sure, *(["answer the open questions in [audit] of the policy"] * bool(advice.unknown))]
    asked = {name: QUESTIONS[name] for name in advice.unknown}
    return replace(
        found,
        remedy="; ".join(do) or found.remedy,
        details={**found.details, "questions": asked},
        complete=True,
    )


def _claimed(case: AuditCase, database: PrivateDatabase) -> Iterator[Finding]:
    from adomnia.audit.claims.claim import refute  # noqa: PLC0415 (needs SciPy: slow to import)
    from adomnia.audit.claims.reference_mechanisms import reference_mechanism  # noqa: PLC0415

    name = "laplace" if _pure(database) else "gaussian"
    target = reference_mechanism(name, _budget(database))
    yield refute(target, SAMPLES, time_limit=case.time_limit)


def _given_away(case: AuditCase, database: PrivateDatabase) -> Iterator[Finding]:
    from adomnia.audit.exact_releases.prior_leak import PAPER  # noqa: PLC0415 (needs SciPy)
    from adomnia.audit.finding import Finding, Rate  # noqa: PLC0415

    exposed = database.priors()
    if not exposed.releases:
        raise Skip("no exact release is registered; if there was one: adomnia prior add SQL")
    many = len(exposed.determined)
    total = "the" if exposed.cells is None else f"{exposed.cells:,}"
    claim = f"{many:,} of {total} cells follow from the exact releases alone, so no later noise "
    claim += "can protect them."
    if not many:
        claim = f"None of {total} cells follows from the exact releases alone."
    yield Finding(
        attack="given away",
        claim=claim,
        affected="the people in these cells",
        success=Rate(many, many, many, 1.0),
        baseline=0.0,
        covered=False,
        source=f"{PAPER}; the exact releases that are registered",
        remedy="it is out: take it into account before anything of the kind is released again"
        if many
        else "none needed; release nothing more exactly",
        details={
            "releases": len(exposed.releases),
            "cells": exposed.cells,
            "given_away": [f"{name}: {count}" for name, count in exposed.determined],
        },
    )
    if exposed.cells == many:
        return  # nothing is left to attack
    yield attack_prior(
        database,
        epsilon=float(min(_budget(database), Fraction(1, 2))),
        accounted=True,
        seed=case.seed,
        time_limit=case.time_limit,
    )


def _disclosed(case: AuditCase, database: PrivateDatabase) -> Iterator[Finding]:
    audit = database.policy.audit
    if not (case.public or audit.public) or not (case.sensitive or audit.sensitive):
        raise Skip("say what is public and what is sensitive: --public A,B --sensitive S")
    roles = Roles.of(case.public, case.sensitive, audit)
    budget = _budget(database)
    epsilons = [written(one) for one in sorted({budget, *EPSILONS}, reverse=True)]
    terms = terms_of(audit, relation(database.policy), reading="both", names=case.names)
    report = disclosures_of(database, roles, epsilons, terms)
    chosen = written(budget)
    found = report.finding(chosen, "pair")
    more: dict[str, Any] = {
        "chosen": chosen,
        "public": [*roles.public],
        "sensitive": roles.sensitive,
    }
    if case.names:
        levels = {level.epsilon: level for level in report.readings["pair"]}
        more["found"] = [vars(one) for one in levels[chosen].found]
    yield replace(found, details={**found.details, **more})


def _rebuilt(case: AuditCase, database: PrivateDatabase) -> Iterator[Finding]:
    """Few dear questions, and many cheap ones: the better attack counts."""
    tried = [
        attack_made_up(
            database.policy,
            Sums(_each(database, many), PEOPLE, many + 1, case.seed, case.time_limit / 2),
        )
        for many in (PEOPLE // 4, PEOPLE)
    ]
    best = max(tried, key=lambda one: one.success.value)
    how = "was then refused" if best.details["refused"] else "was not refused"
    yield replace(
        best,
        claim=f"An attacker who spends the whole budget on {best.details['answered']} questions "
        f"about {PEOPLE} made-up people {how}, and gets {best.success.value:.0%} of their secrets "
        f"right; guessing gets {best.baseline:.0%}.",
        affected=f"{PEOPLE} made-up people under the same promise; nobody real was attacked",
        remedy="a smaller budget; it bounds what any attacker can get, also a better one than this",
    )


def _repeated(case: AuditCase, database: PrivateDatabase) -> Iterator[Finding]:
    from adomnia.audit.reconstruction.averaging import repeats_needed  # noqa: PLC0415 (slow)

    price = _each(database, REPEATS)
    found = attack_averaging(
        database,
        _condition(database),
        epsilon=price,
        repeats=min(10**6, repeats_needed(float(price))),
        time_limit=case.time_limit,
    )
    answers = found.details["answers"]
    if not answers:
        raise Skip("nothing was answered: the budget is spent, or all of it is public")
    together = float(price) * answers / (1 if _pure(database) else math.sqrt(answers))
    once = -math.expm1(-together / 2)
    yield replace(
        found,
        claim=f"Asked again and again in other words, one question was answered {answers:,} times "
        f"of the {found.details['planned']:,} that averaging needs; then nothing new came. The "
        f"mean is exact with probability {found.success.value:.0%}. One answer bought for the "
        f"same would be with {once:.0%}.",
        affected="everybody whom one question is about",
        baseline=once,
        details={**found.details, "against": "one answer for the same price"},
        remedy="none needed: every answer is charged, and the same question gets the same answer",
        complete=True,  # the end of the budget is what it was to show
    )


def _recorded(case: AuditCase, database: PrivateDatabase) -> Iterator[Finding]:
    """Who is alone in a file of records, unless these are known to be made up; then attacks."""
    from adomnia.audit.linkage.attacks import Uniqueness  # noqa: PLC0415 (slow to import)

    attacked = _microdata(case, database)
    released = read_microdata(attacked.place)
    there, sensitive = released.records.column_names, attacked.sensitive
    if released.facts is None:
        public = [name for name in attacked.public if name in there]
        known = public or [name for name in there if name != sensitive]
        kept = sensitive if sensitive in there else None
        yield Uniqueness(tuple(known), kept, case.names, case.time_limit).run(released.records)
    yield from attack_records(attacked, database)


def _members(case: AuditCase, database: PrivateDatabase) -> Iterator[Finding]:
    yield attack_members(_microdata(case, database), database, case.advance)


def _microdata(case: AuditCase, database: PrivateDatabase) -> MicrodataCase:
    if case.microdata is None:
        raise Skip("give a file of records that is, or will be, published: --microdata FILE")
    audit = database.policy.audit
    return MicrodataCase(
        case.microdata,
        case.control,
        tuple(case.public or audit.public),
        case.sensitive or audit.sensitive,
        case.shadows,
        case.seed,
        case.time_limit,
    )


Step = Callable[[AuditCase, PrivateDatabase], Iterator["Finding"]]
STEPS: tuple[tuple[str, Step], ...] = (
    ("the promise and the data", _fits),
    ("the noise", _claimed),
    ("exact releases", _given_away),
    ("disclosures", _disclosed),
    ("reconstruction", _rebuilt),
    ("averaging", _repeated),
    ("the microdata file", _recorded),
    ("membership", _members),
)


def _pure(database: PrivateDatabase) -> bool:
    """Whether answers add up as epsilon does; in rho their squares do."""
    return database.policy.budget.rho is None


def _budget(database: PrivateDatabase) -> Fraction:
    """The policy's epsilon; of a budget in rho, the epsilon of one Laplace answer that costs it."""
    budget = database.policy.budget
    if budget.epsilon is not None:
        return budget.epsilon
    assert budget.rho is not None
    return Fraction(f"{math.sqrt(2 * budget.rho):.6g}")


def _each(database: PrivateDatabase, many: int) -> Fraction:
    """The epsilon of each of so many questions that spend the whole budget together."""
    whole = _budget(database)
    return whole / many if _pure(database) else Fraction(f"{float(whole) / math.sqrt(many):.6g}")


def _condition(database: PrivateDatabase) -> str:
    """A condition that some fulfil and that is not public already."""
    session = database.session()
    for condition in _conditions(database.policy):
        sql = f'SELECT COUNT(*) AS n FROM "{database.policy.table}" WHERE {condition}'  # noqa: S608
        try:
            session.plan(sql, _budget(database))
        except QuestionError:
            continue
        return condition
    raise Skip("no declared attribute can be asked about")


def _conditions(policy: Policy) -> Iterator[str]:
    for name, attribute in policy.attributes.items():
        domain = attribute.domain
        if isinstance(domain, Grid):
            yield f'"{name}" > {int((domain.low + domain.high) / 2)}'
        if isinstance(domain, Categories) and isinstance(domain.values[0], str):
            first = domain.values[0].replace("'", "''")
            yield f"\"{name}\" = '{first}'"
