"""Is the claimed epsilon true? A lower bound on the real one, from outputs alone (`claim.md`).

A quarter of the samples proposes events, a quarter ranks them, and half judges the few best:
exact bounds of their probabilities under two neighbouring inputs bound epsilon from below.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from adomnia.audit.claims.audit_target import AuditTarget, Samples, draw
from adomnia.audit.claims.events import Event, best_events
from adomnia.audit.claims.outputs import look
from adomnia.audit.claims.reference_mechanisms import reference_mechanism
from adomnia.audit.clopper_pearson import clopper_pearson
from adomnia.audit.finding import Finding, Rate
from adomnia.errors import QuestionError

__all__ = ["TRIED", "reach", "refute", "refute_all"]

TRIED = 8
LEAST = 16
LARGEST = 700.0
SAMPLING = 0.6
SOURCES = (
    "Dwork, Differential Privacy, ICALP 2006, definition 2; Ding et al., Detecting violations of "
    "differential privacy, CCS 2018; Bichsel et al., DP-Sniper, S&P 2021"
)


def refute(
    target: AuditTarget | str,
    samples: int = 100_000,
    confidence: float = 0.99,
    time_limit: float = 60.0,
    low_bits: bool = True,
) -> Finding:
    """Try to show that a mechanism loses more than it claims.

    A name is one of `REFERENCE_MECHANISMS`. `samples` outputs are drawn of either input. `success`
    is the logarithm of the ratio of the best event's probabilities (delta subtracted); its low end
    bounds the true epsilon with this confidence, whatever the mechanism. `details["verdict"]`:
    `violated`, `not refuted`, or `out of reach` where so few samples could not refute such a claim
    even if nothing were hidden. Without `low_bits` the lowest bits of floats are not looked at,
    only their size.

    Returns the finding. Raises a QuestionError where there is no such mechanism, or there are too
    few samples to judge.

    >>> from adomnia.audit import AuditTarget
    >>> bare = AuditTarget.of(lambda count: count, data=10, neighbour=11, epsilon=1.0)
    >>> refute(bare, samples=2000).details["verdict"]
    'violated'
    """
    if samples < LEAST or not 0 < confidence < 1:
        raise QuestionError(f"an audit needs {LEAST} samples or more, and a confidence below 1")
    if isinstance(target, str):
        target = reference_mechanism(target)
    end = time.monotonic() + time_limit
    one, other = draw(target, samples, time.monotonic() + SAMPLING * time_limit)
    drawn = len(one)
    events, whole = _choose((one, other), target.delta, end, low_bits)
    judged = [_judge(event, slice(drawn // 2, drawn), target, confidence) for event in events]
    best = max(judged, key=lambda each: each["epsilon"].low, default=None)
    return _finding(target, best, (samples, drawn), confidence, whole and drawn == samples)


def refute_all(
    targets: Sequence[AuditTarget],
    samples: int = 100_000,
    confidence: float = 0.99,
    time_limit: float = 60.0,
    low_bits: bool = True,
) -> Finding:
    """The same for several pairs of neighbours, which share the doubt and the time.

    The finding is that of the pair that passes its claim by most; `details["pairs"]` has the
    bounds of all, in their order.
    """
    if not targets:
        raise QuestionError("there is nothing to audit", "give one target or more")
    share, end = 1 - (1 - confidence) / len(targets), time.monotonic() + time_limit
    found = []
    for place, target in enumerate(targets):
        left = max(0.0, end - time.monotonic()) / (len(targets) - place)
        found.append(refute(target, samples, share, left, low_bits))
    worst = max(found, key=lambda each: each.success.low - each.baseline)
    details = {**worst.details, "pairs": [each.success.low for each in found]}
    return replace(worst, details=details, complete=all(each.complete for each in found))


def reach(samples: int, confidence: float = 0.99, delta: float = 0.0) -> float:
    """The largest lower bound that this many samples can give: one input always, one never."""
    judging = samples - samples // 2
    share = 1 - (1 - confidence) / TRIED
    always, never = (clopper_pearson(hits, judging, share) for hits in (judging, 0))
    return math.log(max(always.low - delta, math.exp(-LARGEST)) / never.high)


def _choose(outputs: Samples, delta: float, end: float, low_bits: bool) -> tuple[list[Event], bool]:
    """The few best events, and whether there was time to look at all views."""
    drawn = len(outputs[0])
    propose, rank = slice(0, drawn // 4), slice(drawn // 4, drawn // 2)
    found: list[Event] = []
    for view in look(*outputs, propose, low_bits):
        if found and time.monotonic() > end:
            return _best(found), False
        found += best_events(view, propose, rank, delta)
    return _best(found), True


def _best(found: list[Event]) -> list[Event]:
    return sorted(found, key=lambda event: -event.score)[:TRIED]


def _judge(event: Event, place: slice, target: AuditTarget, confidence: float) -> dict[str, Any]:
    """Exact bounds for one event; all that are tried share the doubt."""
    trials = place.stop - place.start
    share = 1 - (1 - confidence) / TRIED
    likely, rare = (clopper_pearson(hits, trials, share) for hits in event.hits(place))
    delta = target.delta
    return {
        "event": event,
        "likely": likely,
        "rare": rare,
        "epsilon": Rate(
            _log(likely.value - delta, rare.value),
            _log(likely.low - delta, rare.high),
            _log(likely.high - delta, rare.low),
            confidence,
        ),
        "delta": max(0.0, likely.low - math.exp(min(target.epsilon, LARGEST)) * rare.high),
    }


def _log(above: float, below: float) -> float:
    """The logarithm of the ratio, at least 0; epsilon is no less whatever was seen."""
    if above <= 0 or above <= below:
        return 0.0
    return min(math.log(above) - math.log(below), LARGEST) if below > 0 else LARGEST


def _finding(
    target: AuditTarget,
    best: dict[str, Any] | None,
    counts: tuple[int, int],
    confidence: float,
    complete: bool,
) -> Finding:
    samples, drawn = counts
    bound = best["epsilon"] if best else Rate(0.0, 0.0, LARGEST, confidence)
    most = reach(drawn, confidence, target.delta)
    verdict = "not refuted" if most > target.epsilon else "out of reach"
    if bound.low > target.epsilon:
        verdict = "violated"
    promised = f"epsilon {target.epsilon:g}" + (f", delta {target.delta:g}" * (target.delta > 0))
    details: dict[str, Any] = {
        "mechanism": target.name,
        "verdict": verdict,
        "claimed": {"epsilon": target.epsilon, "delta": target.delta},
        "epsilon_at_least": bound.low,
        "delta_at_least": best["delta"] if best else 0.0,
        "event": str(best["event"]) if best else None,
        "likelier_under": ("neighbour" if best["event"].swapped else "data") if best else None,
        "likely": vars(best["likely"]) if best else None,
        "rare": vars(best["rare"]) if best else None,
        "reach": most,
        "samples": samples,
        "drawn": drawn,
    }
    return Finding(
        attack="claim",
        claim=f"{target.name} claims {promised}; its outputs show epsilon {bound.low:.3g} or more"
        f" (confidence {confidence:.0%}): {verdict}.",
        affected="everybody whose data such a mechanism answers from",
        success=bound,
        baseline=target.epsilon,
        covered=True,
        source=SOURCES,
        remedy=_remedy(verdict),
        details=details,
        complete=complete,
    )


def _remedy(verdict: str) -> str:
    return {
        "violated": "do not use it; take a mechanism with a proof, and exact integer noise",
        "not refuted": "none needed for these inputs; a test is no proof, read the argument too",
        "out of reach": "draw more samples, or test the same mechanism at a smaller epsilon",
    }[verdict]
