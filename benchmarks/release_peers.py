"""MST and AIM on the same sets at the same budgets, kept in build/peers-results.

They take minutes, so a run is kept under its method, set, number of rows, budget and version, with
the day it was made; runs that did not end within the limit are kept too. `ask` runs what is
missing, one after another; `known` reads what is there.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from release_cases import Budget, Case
from release_score import AIM, MST, Score, mean
from release_sets import ROOT, Data

KEPT = ROOT / "build" / "peers-results"
PYTHON = ROOT / "build" / "peers" / "dpmm" / "bin" / "python"
RUNNER = ROOT / "benchmarks" / "peers" / "run_dpmm.py"
VERSION = "dpmm-0.1.9"
METHODS = {MST: "mst", AIM: "aim"}
MOST_TURNS = 10
"""As many runs of one question are looked for."""
THREE_WAY = ("nltcs", "adult")
"""The sets whose marginals of three attributes are judged as well."""


@dataclass(frozen=True)
class Question:
    """One run of a peer; `turn` counts its repeats."""

    name: str
    data: Data
    budget: Budget
    turn: int = 0

    @property
    def key(self) -> str:
        told = "-".join(f"{name}-{value:g}" for name, value in self.budget.peers.items())
        parts = (METHODS[self.name], self.data.name, str(len(self.data.records)), told, VERSION)
        return "_".join((*parts, str(self.turn)))

    @property
    def file(self) -> Path:
        return KEPT / f"{self.key}.json"

    @property
    def microdata(self) -> Path:
        return KEPT / f"{self.key}.csv.gz"

    def known(self) -> dict[str, Any] | None:
        """What was found, if it was asked."""
        return json.loads(self.file.read_text()) if self.file.exists() else None


def score(said: Mapping[str, Any], orders: Sequence[int], rows: int) -> Score | str:
    """The errors over these orders together, or why there are none."""
    if "failed" in said:
        return str(said["failed"])
    parts = [said["errors"][str(order)] for order in orders]
    mean = sum(many * one for many, one, _ in parts) / sum(many for many, _, _ in parts)
    worst = max(cell for _, _, cell in parts)
    return Score(mean, worst, mean / 2 / max(rows, 1), said["seconds"], True)


def ask(question: Question, limit: float) -> dict[str, Any]:
    """Run the peer, unless that was done or did not end within as long a limit before."""
    found = question.known()
    if found and found.get("limit", float("inf")) >= limit:
        return found
    KEPT.mkdir(parents=True, exist_ok=True)
    told = [f"--{name}={value!r}" for name, value in question.budget.peers.items()]
    ways = 3 if question.data.name in THREE_WAY else 2
    command = [
        "nice", PYTHON, RUNNER, "--method", METHODS[question.name], "--table", question.data.file,
        "--domain", question.data.description, "--ways", str(ways), "--save", question.microdata,
        *told,
    ]  # fmt: skip
    print(f"{question.key} ...", flush=True)
    found = _run([str(part) for part in command], limit)
    found["asked"] = datetime.now(UTC).strftime("%Y-%m-%d %H:%M")
    question.file.write_text(json.dumps(found))
    print(f"  {found.get('failed') or str(round(found['seconds'])) + ' CPU s'}", flush=True)
    return found


def _run(command: list[str], limit: float) -> dict[str, Any]:
    try:
        ended = subprocess.run(command, capture_output=True, text=True, check=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return {"failed": f"did not end within {limit:,.0f} s", "limit": limit}
    except subprocess.CalledProcessError as error:
        why = (error.stderr.splitlines() or ["no reason given"])[-1]
        return {"failed": f"failed: {why[:80]}"}
    return json.loads(ended.stdout.splitlines()[-1])


def installed() -> bool:
    if not PYTHON.exists():
        print("MST and AIM are not installed; make them with: benchmarks/peers/setup dpmm")
    return PYTHON.exists()


def questions(case: Case, data: Data, turns: int = 1) -> list[Question]:
    """What the peers are asked in a case: nothing, where they cannot be asked the same."""
    if not case.alike or data.file is None:
        return []
    return [Question(name, data, case.budget, turn) for name in METHODS for turn in range(turns)]


def scores(case: Case, data: Data) -> dict[str, Score | str]:
    """What is known of the peers in a case: the means over the runs there are."""
    found: dict[str, Score | str] = {}
    for name in METHODS if questions(case, data) else ():
        turns = (Question(name, data, case.budget, turn).known() for turn in range(MOST_TURNS))
        known = [score(said, case.depth, len(data.records)) for said in turns if said]
        ended = [one for one in known if isinstance(one, Score)]
        found[name] = mean(ended) if ended else (known or ["not run on this machine"])[0]
    return found


def when(asked: Sequence[Question]) -> str:
    """When the runs that are used were made."""
    known = {one.key: one.known() for one in asked}
    days = sorted(said["asked"] for said in known.values() if said)
    if not days:
        return "MST and AIM were not run on this machine."
    span = days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"
    return (
        f"MST and AIM are those of {VERSION.replace('-', ' ')} with its defaults, {len(days)} runs "
        f"on this machine, {span} UTC; they are told the true number of rows, ours is not."
    )
