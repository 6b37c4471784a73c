"""What is asked of all holders at once: the plan of a sum, and a digest of what it means.

It rests on the question and a policy alone, so the asker makes it without data, and every
holder makes its own and compares.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from adomnia.curator.holder_share import exact_releases
from adomnia.curator.planning.plan import LossRequest, Plan, make_plan
from adomnia.curator.planning.strategy_noise import StrategyNoise
from adomnia.curator.session import Session
from adomnia.errors import QuestionError
from adomnia.limits import MAX_JOINT_NUMBERS
from adomnia.mechanisms.noise.shares import WIDEST
from adomnia.policy.policy import Policy, refuse_free_lunch
from adomnia.policy.promise import Promise
from adomnia.priors.prior_knowledge import PriorKnowledge
from adomnia.privacy.events import Free
from adomnia.queries.canonical import digest
from adomnia.queries.grouping import cell_count
from adomnia.queries.measurement import Counts, Moments, Sum, width_of
from adomnia.queries.question import Question

__all__ = ["digest_of", "joint_plan", "plan_for", "shapes_of"]


def joint_plan(
    question: Question,
    policy: Policy,
    epsilon: Fraction,
    holders: int,
    known: PriorKnowledge | None = None,
) -> Plan:
    """The plan of a question whose answer is a sum over so many holders; others are refused.

    A unit may have rows at each of them, and nobody can look: the noise is for all (`masks.md`).
    """
    if question.open:
        raise QuestionError(
            "a key of GROUP BY has no declared domain: holders cannot select groups together",
            "declare its values in every holder's policy",
        )
    if question.public:
        raise QuestionError(
            "this is the same whatever the data: no holder has to be asked",
            "; ".join(question.notes),
        )
    if question.rows is not None:
        raise QuestionError(
            "holders answer together about rows as they are, not joined or computed for a unit",
            "ask each holder by itself",
        )
    refuse_free_lunch(policy, "holders do not answer together")
    # What kind of source another holder has is not known: no row is relied on to stay.
    told = replace(policy, neighbors=policy.neighbors.among(holders), rows_stay=False)
    plan = make_plan(question, told, LossRequest(epsilon=epsilon), known)
    for step in plan.steps:
        if not isinstance(step.measurement, Counts | Sum | Moments):
            raise QuestionError(
                "holders together answer counts, sums, averages and variances only",
                "quantiles, extremes and distinct values are not sums over holders",
            )
        if isinstance(step, StrategyNoise):
            raise QuestionError(
                "a holder has released exact numbers that bear on this question",
                "ask that holder by itself, or the others without it",
            )
        if isinstance(step.event, Free):
            raise QuestionError(
                "this would be answered without noise: sums over other holders each time would "
                "tell every holder's own number of rows",
                "ask each holder by itself, who may tell it; or count rows with a condition",
            )
        if step.noise is None or step.noise.parameter > WIDEST:
            raise QuestionError("the noise would be too wide", "use a larger epsilon or step")
    if sum(cells * width for cells, width in shapes_of(plan)) > MAX_JOINT_NUMBERS:
        raise QuestionError("the answer has too many cells", f"at most {MAX_JOINT_NUMBERS} numbers")
    return plan


def shapes_of(plan: Plan) -> list[tuple[int, int]]:
    """For each measurement how many cells there are, and how many numbers in each."""
    cells = cell_count(plan.question.keys)
    return [(cells, width_of(step.measurement)) for step in plan.steps]


def digest_of(plan: Plan, policy: Policy) -> str:
    """Equal where the same is measured, over the same cells, with the same noise and promise."""
    promise = Promise.of(policy).to_json()
    return digest([plan.of, [step.record() for step in plan.steps], promise])


def plan_for(session: Session, sql: str, epsilon: Fraction, holders: int) -> Plan:
    """The plan of this statement by this holder's policy and what it has released exactly."""
    count, known = exact_releases(session)
    plan = joint_plan(session.bind(sql), session.policy, epsilon, holders, known)
    return replace(plan, priors=count)
