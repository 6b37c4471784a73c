"""A second opinion: `python -m tests.adversary --triples N --seed S`."""

from __future__ import annotations

import argparse
import secrets
import time
from collections import defaultdict

from tests.adversary.faults import counted, table
from tests.adversary.pairs import Tally
from tests.adversary.parts import PARTS, Task, whole, work

SHOWN = 3


def main() -> int:
    """Run, print what was found, and say by the exit code whether the promise was kept."""
    parser = argparse.ArgumentParser(prog="python -m tests.adversary", description=__doc__)
    parser.add_argument("--triples", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--part", choices=sorted(PARTS), default=None)
    parser.add_argument("--world", type=int, default=0)
    parser.add_argument("--faults", action="store_true", help="plant faults, and see who notices")
    given = parser.parse_args()
    seed = secrets.randbelow(2**32) if given.seed is None else given.seed
    print(f"seed {seed}", flush=True)
    start = time.monotonic()
    if given.faults:
        return plant(seed, given.jobs)
    if given.part:
        tally = work(Task(given.part, seed, given.triples, given.world))
    else:
        tally = whole(seed, given.triples, given.jobs)
    for line in summary(tally, time.monotonic() - start):
        print(line)
    return 1 if tally.failures else 0


def plant(seed: int, jobs: int) -> int:
    """Plant every fault, print what came of each, and say whether all is as it must be."""
    start, found = time.monotonic(), []
    for verdict in table(seed, jobs):
        found.append(verdict)
        print(f"{verdict.fault.side:8}{verdict.line}", flush=True)
    print("\n".join(counted(found)))
    print(f"{sum(v.triples for v in found):,} triples in {time.monotonic() - start:.0f} s")
    return 0 if all(verdict.is_good for verdict in found) else 1


def summary(tally: Tally, took: float) -> list[str]:
    """What was found, in lines."""
    total = sum(tally.triples.values())
    rate = total / max(tally.seconds, 1e-9)
    lines = [
        f"{total:,} triples in {took:.0f} s, {total / took:.0f} a second; "
        f"{rate:.0f} for each second of a processor"
    ]
    lines += [
        f"  {part}: {tally.triples[part]:,} (refused: {tally.refused.get(part, 0):,})"
        for part in sorted(tally.triples)
    ]
    lines.append("worst ratio of loss to charge, by relation")
    lines += [
        f"  {label}: {found:.6f}  {what}" for label, (found, what) in sorted(tally.worst.items())
    ]
    return lines + told(tally.failures)


def told(failures: list[str]) -> list[str]:
    """Failures, a few of each kind."""
    kinds: dict[str, list[str]] = defaultdict(list)
    for failure in failures:
        kinds[failure.split("] ", 1)[-1][:48]].append(failure)
    lines = [f"{len(failures)} failures of {len(kinds)} kinds"]
    for found in kinds.values():
        lines += [f"FAIL ({len(found)} such) {failure}" for failure in found[:SHOWN]]
    return lines


if __name__ == "__main__":
    raise SystemExit(main())
