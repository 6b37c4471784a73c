"""The discriminant omega(k, A) and the non-privacy game of paper 000 (`discriminant.md`).

If k tables can be told apart by what is answered, then there is a way in which data may come
about that makes the answer tell a secret: utility and privacy for any data do not go together.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adomnia.audit.claims.audit_target import Mechanism
from adomnia.audit.claims.events import Floats
from adomnia.audit.claims.outputs import tabulate
from adomnia.audit.clopper_pearson import clopper_pearson
from adomnia.audit.correlation.noisy_counts import Law, intervals, winning
from adomnia.audit.finding import Finding, Rate
from adomnia.errors import QuestionError
from adomnia.mechanisms.margins.margin import Noise

__all__ = ["discriminant", "estimate_discriminant", "free_lunch_bound", "game", "play"]

KIFER = "Kifer and Machanavajjhala, No Free Lunch in Data Privacy, SIGMOD 2011"
REMEDY = (
    "say what is assumed of the data: with independent records the count tells little of one "
    "person; without assumptions only free-lunch privacy helps, and that answers nothing"
)


def free_lunch_bound(k: int, epsilon: float) -> float:
    """The largest discriminant of k instances under epsilon-free-lunch privacy.

    Raises a QuestionError where there are fewer than two instances, or epsilon is negative.

    >>> round(free_lunch_bound(2, 1.0), 3)
    0.731
    """
    if k < 2 or epsilon < 0:
        raise QuestionError("there are two instances or more, and epsilon is not negative")
    return 1 / (1 + (k - 1) * math.exp(-epsilon))


def discriminant(counts: Sequence[int], noise: Noise) -> Finding:
    """omega for these instances of a count with exact integer noise: a bound from either side.

    `success.value` and `.low`: the best intervals reach it, so omega(k, A) is at least that.
    `success.high`: no sets do better for these instances, not even with a coin at each border.
    The difference is the mass of single points.

    >>> from fractions import Fraction
    >>> from adomnia.mechanisms.margins.margin import Noise
    >>> round(discriminant([0, 10], Noise("laplace", Fraction(1))).success.value, 3)
    0.995
    """
    k = _instances(counts)
    law = Law.of(noise)
    reached, most = intervals(sorted(counts), law)
    details = {
        "k": k,
        "counts": [int(count) for count in counts],
        "noise": {"kind": noise.kind, "parameter": str(noise.parameter)},
        "best_guess": winning(counts, law),
    }
    return Finding(
        attack="discriminant",
        claim=f"One noisy count tells which of {k} tables it was taken from with probability "
        f"{reached:.3g} or more, whichever it was.",
        affected="everybody whose secret decides which of the tables it is",
        success=Rate(reached, reached, max(reached, most), 1.0),
        baseline=1 / k,
        covered=False,
        source=f"{KIFER}, definition 2.1",
        remedy=REMEDY,
        details=details,
    )


def game(
    counts: Sequence[int],
    noise: Noise,
    secrets: Sequence[Any] | None = None,
    prior: Sequence[float] | None = None,
) -> Finding:
    """The non-privacy game, exactly: table i has counts[i], comes with prior[i], hides secrets[i].

    The attacker sees the count with noise and names the likeliest secret. Without `secrets` each
    table is its own, without `prior` all tables are as likely.

    Returns how often the attacker is right, against the likeliest secret. Raises a QuestionError
    where secrets or chances are not one for each table.

    >>> from fractions import Fraction
    >>> from adomnia.mechanisms.margins.margin import Noise
    >>> round(game([0, 10], Noise("laplace", Fraction(1))).success.value, 3)
    0.997
    """
    k = _instances(counts)
    hidden = list(range(k)) if secrets is None else list(secrets)
    chances = np.full(k, 1 / k) if prior is None else np.asarray(prior, np.float64)
    if len(hidden) != k or chances.shape != (k,) or not _is_law(chances):
        raise QuestionError("every table has one secret, and a chance; the chances sum to one")
    won = winning(counts, Law.of(noise), hidden, chances)
    blind = max(
        sum(chance for secret, chance in zip(hidden, chances, strict=True) if secret == one)
        for one in hidden
    )
    return _game(Rate(won, won, won, 1.0), float(blind), {"k": k, "exact": True})


def play(
    generate: Callable[[np.random.Generator], Any],
    mechanism: Mechanism,
    secret: Callable[[Any], Any],
    guess: Callable[[Any], Any],
    rounds: int = 10_000,
    seed: int = 0,
) -> Finding:
    """The non-privacy game played: tables are generated, answered about, and the secret guessed.

    The baseline is always to name the commonest secret.
    """
    if rounds < 1:
        raise QuestionError("a game has one round or more")
    chance = np.random.default_rng(seed)
    won, seen = 0, dict[Any, int]()
    for _ in range(rounds):
        table = generate(chance)
        truth = secret(table)
        seen[truth] = seen.get(truth, 0) + 1
        won += guess(mechanism(table)) == truth
    success = clopper_pearson(won, rounds, 0.95)
    return _game(success, max(seen.values()) / rounds, {"rounds": rounds, "exact": False})


def estimate_discriminant(
    mechanism: Mechanism,
    instances: Sequence[Any],
    samples: int = 2_000,
    confidence: float = 0.95,
    time_limit: float = 60.0,
) -> Finding:
    """omega from below for any mechanism: half of the samples choose the sets, half judge them.

    A number is given to the instance whose median is nearest, a vector by the nearest middle in
    every coordinate's own spread, a symbol to the instance that showed it most.
    """
    k = _instances(instances)
    outputs, complete = _run(mechanism, instances, samples, time.monotonic() + time_limit)
    half = len(outputs[0]) // 2
    assign = _assign([part[:half] for part in outputs])
    judged = [assign(part[half:]) for part in outputs]
    share = 1 - 2 * (1 - confidence) / k  # of the k bounds only the lower ends are used
    rates = [
        clopper_pearson(int((guesses == place).sum()), len(guesses), share)
        for place, guesses in enumerate(judged)
    ]
    worst = min(rates, key=lambda rate: rate.low)
    return Finding(
        attack="discriminant",
        claim=f"An answer tells which of {k} tables it was taken from with probability "
        f"{worst.low:.3g} or more, whichever it was (confidence {confidence:.0%}).",
        affected="everybody whose secret decides which of the tables it is",
        success=Rate(worst.value, worst.low, 1.0, confidence),
        baseline=1 / k,
        covered=False,
        source=f"{KIFER}, definition 2.1",
        remedy=REMEDY,
        details={
            "k": k,
            "samples": len(outputs[0]),
            "shares": [rate.value for rate in rates],
            "best_guess": sum(rate.value for rate in rates) / k,
        },
        complete=complete,
    )


def _game(success: Rate, blind: float, details: dict[str, Any]) -> Finding:
    return Finding(
        attack="game",
        claim=f"Who sees the answer names the secret with probability {success.value:.3g}; who "
        f"does not, {blind:.3g}.",
        affected="the person whose secret the tables differ by",
        success=success,
        baseline=blind,
        covered=False,
        source=f"{KIFER}, definition 2.2 and theorem 2.1",
        remedy=REMEDY,
        details=details,
    )


def _instances(instances: Sequence[Any]) -> int:
    if len(instances) < 2:
        raise QuestionError("there is nothing to tell apart", "give two instances or more")
    return len(instances)


def _is_law(chances: Floats) -> bool:
    return bool((chances >= 0).all()) and math.isclose(float(chances.sum()), 1.0, abs_tol=1e-9)


def _run(
    mechanism: Mechanism, instances: Sequence[Any], samples: int, end: float
) -> tuple[list[list[Any]], bool]:
    """Outputs of every instance in turns, as many of each."""
    if samples < 2:
        raise QuestionError("half of the samples choose and half judge", "give two or more")
    outputs: list[list[Any]] = [[] for _ in instances]
    for done in range(samples):
        if done >= 2 and time.monotonic() > end:
            return outputs, False
        for part, instance in zip(outputs, instances, strict=True):
            part.append(mechanism(instance))
    return outputs, True


def _assign(parts: list[list[Any]]) -> Callable[[list[Any]], Any]:
    """Which instance an output is given to, learned from outputs of each."""
    tables = [tabulate(part, part) for part in parts]
    rows = [table.one for table in tables if table and not np.isnan(table.one).any()]
    if len(rows) < len(parts) or len({part.shape[1] for part in rows}) != 1:
        return _by_symbol(parts)
    middles = np.array([np.median(part, axis=0) for part in rows])
    spread = np.mean([np.abs(p - m).mean(axis=0) for p, m in zip(rows, middles, strict=True)], 0)
    spread = np.where(spread > 0, spread, 1.0)

    def nearest(outputs: list[Any]) -> Any:
        table = tabulate(outputs, outputs)
        assert table is not None
        gaps = [np.abs((table.one - middle) / spread).sum(axis=1) for middle in middles]
        return np.argmin(gaps, axis=0)

    return nearest


def _by_symbol(parts: list[list[Any]]) -> Callable[[list[Any]], Any]:
    seen: dict[str, Floats] = {}
    for place, part in enumerate(parts):
        for output in part:
            seen.setdefault(repr(output), np.zeros(len(parts)))[place] += 1
    owner = {symbol: int(often.argmax()) for symbol, often in seen.items()}
    return lambda outputs: np.array([owner.get(repr(output), -1) for output in outputs])
