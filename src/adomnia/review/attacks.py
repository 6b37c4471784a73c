"""Attacks that ask a database: how each is put to it, and how it is scored.

What they ask is really asked and charged. On a rehearsal that spends nothing real; a caller who
hands in the real database spends its budget.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from adomnia.curator.database import PrivateDatabase
from adomnia.curator.policy_lines import refuse_several
from adomnia.errors import QuestionError
from adomnia.policy.policy import Policy
from adomnia.privacy.loss import Amount, exact
from adomnia.queries.rows import OWNER
from adomnia.review.exact_columns import exact_counts, people_of
from adomnia.review.questioner import Questioner, limited, reworded, subset_counting
from adomnia.review.rehearsal import SECRET, made_up

if TYPE_CHECKING:
    from adomnia.audit.finding import Finding

__all__ = [
    "Sums",
    "attack_averaging",
    "attack_made_up",
    "attack_prior",
    "attack_sums",
    "attack_tracker",
    "planned_repeats",
]

PEOPLE = 128
MOST_PEOPLE = 2_000
MOST_REPEATS = 100_000


@dataclass(frozen=True)
class Sums:
    """How many people are asked about, and how: each question costs `epsilon`.

    Without `questions` as many as 8 a person, or until the budget ends. Raises a QuestionError
    where these are too many people.

    >>> Sums(epsilon=1, people=16).questions is None
    True
    """

    epsilon: Amount = "0.1"
    people: int = PEOPLE
    questions: int | None = None
    seed: int = 0
    time_limit: float = 60.0

    def __post_init__(self) -> None:
        if self.people > MOST_PEOPLE:
            raise QuestionError(f"--n goes up to {MOST_PEOPLE:,}", "attack fewer people")


def attack_made_up(policy: Policy, sums: Sums) -> Finding:
    """Rebuild the secrets of made-up people who are under the same promise.

    Returns the share of the secrets that came out right, with what was spent; the budget is whole,
    as if nothing had been spent, and nothing real is spent. Raises a QuestionError where the
    epsilon is none.

    >>> from adomnia.testing import town
    >>> with town(rows=20, privacy="epsilon = 2").open() as database:
    ...     finding = attack_made_up(database.policy, Sums(epsilon=1, people=8, questions=4))
    >>> finding.attack, 0 <= finding.success.value <= 1
    ('reconstruct', True)
    """
    import numpy as np  # noqa: PLC0415 (with SciPy below)

    from adomnia.audit.reconstruction.subset_sums import balanced_secret  # noqa: PLC0415 (SciPy)

    secret = balanced_secret(sums.people, np.random.default_rng(sums.seed))
    bits = [int(bit) for bit in secret]
    with made_up(policy, bits) as database:
        people = list(range(sums.people))
        asking = Questioner(database.session(), sums.epsilon)
        return _rebuilt(asking, subset_counting(asking, "person", people, SECRET), bits, sums)


def attack_sums(
    database: PrivateDatabase,
    sums: Sums,
    target: str,
    column: str | None = None,
    analyst: str | None = None,
) -> Finding:
    """Rebuild who fulfils a condition, from counts among people that a column names.

    `target` is the condition in SQL, `column` the one that names each person (the policy's unit
    without it); questions are asked, and paid, by an `analyst`, or the curator. Returns the share
    that came out right, with what was spent: a subset that comes twice is free. Raises a
    QuestionError where nothing names people, or the SQL is wrong.

    >>> from adomnia.testing import World, number
    >>> domains = {"id": number(0, 7), "old": number(0, 1)}
    >>> with World({"id": range(8), "old": [0, 1] * 4}, domains).open() as database:
    ...     finding = attack_sums(database, Sums(epsilon=1, questions=4), "old = 1", "id")
    >>> finding.details["spent"]
    '3'
    """
    refuse_several(database.policy, "an attack that asks is on one table")
    unit = database.policy.unit
    name = column or ("" if unit in (None, OWNER) else str(unit))
    if not name:
        hint = "for example --people person_id; without --target a made-up table is attacked"
        raise QuestionError("say which column names each person", hint)
    people, bits = people_of(database, name, target, sums.people)
    if len(people) < 2:
        raise QuestionError(
            f"{name!r} names fewer than two people",
            "a column whose values are all different is needed: --people COL",
        )
    asking = Questioner(database.session(analyst), sums.epsilon)
    return _rebuilt(asking, subset_counting(asking, name, people, target), bits, sums)


def _rebuilt(
    asking: Questioner, ask: Callable[[Any], float], bits: Sequence[int], sums: Sums
) -> Finding:
    from adomnia.audit.reconstruction.attacks import Reconstruct, SumOracle  # noqa: PLC0415 (SciPy)
    from adomnia.audit.reconstruction.reconstruct import ceiling  # noqa: PLC0415

    attack = Reconstruct(sums.questions, seed=sums.seed, time_limit=sums.time_limit)
    found = attack.run(SumOracle(ask, len(bits)), bits)
    most = float(min(asking.spent, Fraction(700)))
    more = {"spent": str(asking.spent), "ceiling": ceiling(most)}
    return replace(found, details={**found.details, **more})


def attack_averaging(  # noqa: PLR0913 (what may be said is said by name)
    database: PrivateDatabase,
    condition: str,
    *,
    epsilon: Amount = "0.1",
    repeats: int | None = None,
    same: bool = False,
    analyst: str | None = None,
    time_limit: float = 60.0,
    progress: Callable[[float], None] | None = None,
) -> Finding:
    """Ask one count until the budget ends and round the mean.

    Each time it is put in other words, so that it is not answered from memory; if `same`, not.

    The count is of those who meet the `condition`, in SQL; it is asked `repeats` times, or as often
    as its noise needs. `progress` is called with 1 before each question. Returns the probability
    that the rounded mean is right. Raises a QuestionError where the SQL or the epsilon is wrong.

    >>> from adomnia.testing import town
    >>> with town(rows=50, privacy="epsilon = 3").open() as database:
    ...     finding = attack_averaging(database, "age > 40", epsilon=1)
    >>> finding.attack, 0 <= finding.success.value <= 1
    ('averaging', True)
    """
    refuse_several(database.policy, "an attack that asks is on one table")
    from adomnia.audit.reconstruction.attacks import Averaging, CountOracle  # noqa: PLC0415 (slow)

    exact_counts(database, [condition])  # wrong SQL is refused here, before it costs
    rewrite = None if same else reworded(database)
    ask = limited(Questioner(database.session(analyst), epsilon, rewrite), time_limit)
    planned = planned_repeats(epsilon, repeats)
    attack = Averaging(condition, float(exact(epsilon)), planned)
    return attack.run(CountOracle(ask if progress is None else _watched(ask, progress)))


def planned_repeats(epsilon: Amount, repeats: int | None = None) -> int:
    """How often one count is asked: as told, else as often as its noise needs.

    Raises a QuestionError where the epsilon is none.

    >>> planned_repeats("0.5", 10), planned_repeats(100)
    (10, 1)
    """
    from adomnia.audit.reconstruction.averaging import repeats_needed  # noqa: PLC0415 (slow)

    return repeats or min(MOST_REPEATS, repeats_needed(float(exact(epsilon))))


def attack_tracker(  # noqa: PLR0913 (what may be said is said by name)
    database: PrivateDatabase,
    targets: Sequence[str],
    trackers: Sequence[str],
    *,
    epsilon: Amount = "0.1",
    slack: int = 0,
    analyst: str | None = None,
    time_limit: float = 60.0,
) -> Finding:
    """Count people through sets that hold many others; scored with the true counts.

    `targets` and `trackers` are conditions in SQL; an answer is taken to be off by `slack` at most.
    Returns the share of the targets whose count came out right. Raises a QuestionError where the
    SQL or the epsilon is wrong.

    >>> from adomnia.testing import town
    >>> with town(rows=50).open() as database:
    ...     finding = attack_tracker(database, ["age = 40"], ["sex = 'F'"], epsilon=1)
    >>> finding.attack
    'tracker'
    """
    refuse_several(database.policy, "an attack that asks is on one table")
    from adomnia.audit.reconstruction.attacks import CountOracle, Tracker  # noqa: PLC0415 (slow)

    truth = exact_counts(database, [*targets, *trackers])[: len(targets)]
    ask = limited(Questioner(database.session(analyst), epsilon), time_limit)
    return Tracker(tuple(targets), tuple(trackers), slack).run(CountOracle(ask), truth)


def attack_prior(database: PrivateDatabase, **options: Any) -> Finding:
    """Rebuild tables from what the ledger says was released exactly; no data is read.

    The options are those of `PriorLeak`. Returns the share of the cells that came out exactly.
    Raises a QuestionError where nothing was released exactly, or an option is wrong.

    >>> from adomnia.testing import town
    >>> with town(rows=50).open() as database:
    ...     made = database.add_prior("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex")
    ...     finding = attack_prior(database, epsilon=1.0, trials=5)
    >>> finding.attack
    'prior-leak'
    """
    from adomnia.audit.exact_releases.attacks import (  # noqa: PLC0415 (needs SciPy)
        ExactReleases,
        PriorLeak,
    )

    attack = PriorLeak(**options)
    return attack.run(ExactReleases(*database.public_cells()))


def _watched(
    ask: Callable[[str], float], progress: Callable[[float], None]
) -> Callable[[str], float]:
    def watched(condition: str) -> float:
        progress(1)
        return ask(condition)

    return watched
