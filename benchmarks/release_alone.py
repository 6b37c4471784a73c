"""One measurement in a process of its own, so that its memory and its end are its own.

    python benchmarks/release_alone.py scaling ATTRIBUTES | rows TIMES | wide VALUES

Prints one line of JSON. `measure` starts it, with limits on CPU seconds and memory.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from release_score import Counter, errors, of, ways
from release_sets import Data, made_up, wide
from release_ways import ours, unbiased

from adomnia.marginals.release import plan_marginals, release_marginals
from adomnia.marginals.workload import Workload, up_to_ways
from adomnia.privacy.loss import Loss

RHO, EPSILON = Loss.concentrated(Fraction(1, 2)), Loss.pure(Fraction(1))
MOST_SECONDS, MOST_BYTES = 100, 8 << 30
"""What one measurement may take before it is ended."""


def peak_memory() -> float:
    """Megabytes; from the kernel's own mark where there is one (rusage counts the parent too)."""
    status = Path("/proc/self/status")
    if status.exists():
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return int(lines["VmHWM"].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def scaling(attributes: int) -> dict[str, Any]:
    """Unbiased tables of up to three of so many attributes of ten values."""
    records = np.random.default_rng(1).integers(0, 10, (10_000, attributes))
    workload = up_to_ways(tuple(map(str, range(attributes))), (10,) * attributes, 3)
    begun = time.process_time()
    made = plan_marginals(workload, RHO)
    planned = time.process_time() - begun
    begun = time.process_time()
    release_marginals(made, Counter(records, workload.sizes), microdata=False)
    released = time.process_time() - begun
    return {"cells": workload.total_cells, "planned": planned, "released": released}


def rows(times: int) -> dict[str, Any]:
    """The made-up set with every row so many times."""
    data = made_up()
    return _both(data, ways(data.sizes, (1, 2)), RHO, times)


def wide_columns(values: int) -> dict[str, Any]:
    """Both single columns of a set with many values."""
    data = wide(values)
    return _both(data, of(data.sizes, ((0,), (1,))), EPSILON, 1)


def _both(data: Data, workload: Workload, loss: Loss, times: int) -> dict[str, Any]:
    """Ours and its unbiased tables."""
    counter = Counter(data.records, data.sizes, times)
    begun = time.process_time()
    found = ours(workload, counter, loss)
    seconds, memory = time.process_time() - begun, peak_memory()
    mean, worst, tv = errors(found, counter, workload.marginals)
    plain = errors(unbiased(workload, counter, loss), counter, workload.marginals)[0]
    return {"rows": counter.rows, "mean": mean, "worst": worst, "tv": tv, "unbiased": plain,
            "seconds": seconds, "memory": memory}  # fmt: skip


PARTS = {"scaling": scaling, "rows": rows, "wide": wide_columns}


def measure(part: str, size: int) -> dict[str, Any]:
    """One measurement; `failed` says why there is none."""
    command = [sys.executable, __file__, part, str(size)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode == 0:
        return json.loads(ended.stdout.splitlines()[-1])
    if "MemoryError" in ended.stderr:
        return {"failed": f"more than {MOST_BYTES >> 30} GB"}
    if ended.returncode < 0:
        return {"failed": f"not done after {MOST_SECONDS} CPU s"}
    return {"failed": (ended.stderr.splitlines() or ["no reason given"])[-1][:80]}


def main() -> None:
    if len(sys.argv) != 3:
        print(__doc__)
        return
    part, size = sys.argv[1], int(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    found = PARTS[part](size)
    print(json.dumps({"memory": peak_memory()} | found))


if __name__ == "__main__":
    main()
