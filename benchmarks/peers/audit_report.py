"""What the auditing runners share: a call is timed several times, one line of JSON goes out."""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from typing import Any

Outcome = dict[str, Any]
Attack = Callable[[], Outcome]
"""What is timed, with all of its work but reading the file; it gives figures by name."""

ENOUGH = 20.0  # seconds after which nothing is repeated


def measured(attack: Attack, repeat: int) -> dict[str, Any]:
    """The median time of several runs, fewer if they are long; and what the last one found."""
    seconds: list[float] = []
    outcome: Outcome = {}
    while len(seconds) < repeat and sum(seconds) < ENOUGH:
        begun = time.perf_counter()
        outcome = attack()
        seconds.append(time.perf_counter() - begun)
    return {"seconds": statistics.median(seconds), "outcome": outcome}


def report(version: str, attacks: Mapping[str, Attack], repeat: int) -> None:
    """Run the attacks, and print what each took and found."""
    with redirect_stdout(sys.stderr):  # what a library prints must not mix with the report
        found = {name: measured(attack, repeat) for name, attack in attacks.items()}
    print(json.dumps({"version": version, "attacks": found}))
