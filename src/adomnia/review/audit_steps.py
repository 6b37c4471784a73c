"""The steps of the whole audit: each looks at one thing and yields what it found."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from adomnia.cli.attack.averaging import limited, reworded
from adomnia.cli.attack.reconstruct import through_the_door
from adomnia.cli.audit.disclosure import relation, terms_of
from adomnia.curator.database import Database
from adomnia.errors import QuestionError
from adomnia.policy.policy import Policy
from adomnia.present import formatting
from adomnia.review.exact_columns import own_columns, read_columns
from adomnia.review.rehearsal import counting
from adomnia.schema.domain import Categories, Grid

if TYPE_CHECKING:
    from adomnia.audit.correlation.questionnaire import Advice
    from adomnia.audit.finding import Finding

__all__ = ["STEPS", "Case", "Skip"]

EPSILONS = (Fraction(2), Fraction(1), Fraction(1, 2), Fraction(1, 10), Fraction(1, 100))
PEOPLE = 128
REPEATS = 20
SAMPLES = 50_000


@dataclass(frozen=True)
class Case:
    """What is audited, and what the curator wants of it."""

    policy: str
    public: tuple[str, ...] = ()
    sensitive: str | None = None
    microdata: str | None = None
    names: bool = False
    seed: int = 0
    time_limit: float = 30.0


class Skip(Exception):
    """There is nothing to look at here; says what would be needed."""


def _fits(case: Case, database: Database) -> Iterator[Finding]:
    from adomnia.audit.correlation.questionnaire import Answers, advise  # noqa: PLC0415
    from adomnia.audit.reconstruction.averaging import family  # noqa: PLC0415 (only needed here)

    policy = database.policy
    told = dict(policy.audit.circumstances)
    if policy.unit is not None:
        told["several_rows"] = False  # all rows of a person are protected together
    if database.desk.public()[0]:
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


def _claimed(case: Case, database: Database) -> Iterator[Finding]:
    from adomnia.audit.claims.claim import refute  # noqa: PLC0415 (needs SciPy: slow to import)
    from adomnia.audit.claims.reference_mechanisms import ours  # noqa: PLC0415

    name = "laplace" if _pure(database) else "gaussian"
    subject = ours(name, _budget(database))
    yield refute(subject, SAMPLES, time_limit=case.time_limit)


def _given_away(case: Case, database: Database) -> Iterator[Finding]:
    from adomnia.audit.exact_releases.prior_leak import PAPER, prior_leak  # noqa: PLC0415 (needs SciPy)
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
    system, bound = database.public_cells()
    epsilon = float(min(_budget(database), Fraction(1, 2)))
    found = prior_leak(
        system, epsilon, seed=case.seed, sensitivity=bound, time_limit=case.time_limit
    )
    yield _accounted(found)


def _accounted(found: Finding) -> Finding:
    """The leak with the noise that this database adds; the finding has that of one that ignores."""
    from adomnia.audit.finding import Rate  # noqa: PLC0415

    after = found.details.get("after")
    if not after or not found.details["trials"]:
        return found
    cells, before = after["cells"], found.details["before"]["cells"]["value"]
    return replace(
        found,
        claim=f"With what was released exactly, noisy counts for epsilon "
        f"{found.details['epsilon']:g} give {cells['value']:.0%} of {found.details['cells']:,} "
        f"cells exactly. A database that ignored the exact releases would give {before:.0%}.",
        success=Rate(**cells),
        covered=True,
        remedy="register every exact release, also old ones: this database then adds more noise",
    )


def _disclosed(case: Case, database: Database) -> Iterator[Finding]:
    from adomnia.audit.disclosure.disclosure import disclosures  # noqa: PLC0415 (slow to import)

    audit = database.policy.audit
    public = case.public or audit.public
    sensitive = case.sensitive or audit.sensitive
    if not public or not sensitive:
        raise Skip("say what is public and what is sensitive: --public A,B --sensitive S")
    budget = _budget(database)
    epsilons = [formatting.amount(one) for one in sorted({budget, *EPSILONS}, reverse=True)]
    terms = terms_of(audit, relation(database.policy), reading="both", names=case.names)
    coded = own_columns(database.desk, [*public, sensitive])
    report = disclosures(coded.codes, coded.domains, public, sensitive, epsilons, terms)
    chosen = formatting.amount(budget)
    found = report.finding(chosen, "pair")
    more: dict[str, Any] = {"chosen": chosen, "public": [*public], "sensitive": sensitive}
    if case.names:
        levels = {level.epsilon: level for level in report.readings["pair"]}
        more["found"] = [vars(one) for one in levels[chosen].found]
    yield replace(found, details={**found.details, **more})


def _rebuilt(case: Case, database: Database) -> Iterator[Finding]:
    """Few dear questions, and many cheap ones: the better attack counts."""
    tried = [
        through_the_door(
            case.policy,
            str(_each(database, many)),
            people=PEOPLE,
            questions=many + 1,
            seed=case.seed,
            time_limit=case.time_limit / 2,
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


def _repeated(case: Case, database: Database) -> Iterator[Finding]:
    from adomnia.audit.reconstruction.averaging import averaging, repeats_needed  # noqa: PLC0415

    price = _each(database, REPEATS)
    ask = counting(database.session(), price, reworded(database.desk))
    ask = limited(ask, case.time_limit)
    planned = min(10**6, repeats_needed(float(price)))
    found = averaging(ask, _condition(database), float(price), planned)
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


def _alone(case: Case, database: Database) -> Iterator[Finding]:
    from adomnia.audit.linkage.uniqueness import uniqueness  # noqa: PLC0415 (slow to import)

    if case.microdata is None:
        raise Skip("give a file of records that is, or will be, published: --microdata FILE")
    audit = database.policy.audit
    public, sensitive = case.public or audit.public, case.sensitive or audit.sensitive
    data = read_columns(case.microdata)
    if not data.num_rows:
        raise QuestionError("the microdata file has no rows", "give a file with records")
    there = data.column_names
    missing = [name for name in public if name not in there]
    if missing:
        hint = "it has: " + ", ".join(there[:30])
        raise QuestionError(f"the microdata file has no column {missing[0]!r}", hint)
    known = public or [name for name in there if name != sensitive]
    kept = sensitive if sensitive in there else None
    yield uniqueness(data, known, kept, case.names, case.time_limit)


Step = Callable[[Case, Database], Iterator["Finding"]]
STEPS: tuple[tuple[str, Step], ...] = (
    ("the promise and the data", _fits),
    ("the noise", _claimed),
    ("exact releases", _given_away),
    ("disclosures", _disclosed),
    ("reconstruction", _rebuilt),
    ("averaging", _repeated),
    ("the microdata file", _alone),
)


def _pure(database: Database) -> bool:
    """Whether answers add up as epsilon does; in rho their squares do."""
    return database.policy.budget.rho is None


def _budget(database: Database) -> Fraction:
    """The policy's epsilon; of a budget in rho, the epsilon of one Laplace answer that costs it."""
    budget = database.policy.budget
    if budget.epsilon is not None:
        return budget.epsilon
    assert budget.rho is not None
    return Fraction(f"{math.sqrt(2 * budget.rho):.6g}")


def _each(database: Database, many: int) -> Fraction:
    """The epsilon of each of so many questions that spend the whole budget together."""
    whole = _budget(database)
    return whole / many if _pure(database) else Fraction(f"{float(whole) / math.sqrt(many):.6g}")


def _condition(database: Database) -> str:
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
