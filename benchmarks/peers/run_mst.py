"""MST of dpmm on a coded table, at zCDP rho: its error on all 1-, 2- and 3-way marginals.

    build/peers/mst/bin/python benchmarks/peers/run_mst.py TABLE.csv.gz DOMAIN.json [--rho 0.5]

It takes (epsilon, delta): delta is 1e-9, and epsilon what rho converts to by its own conversion,
which it turns back into the same rho. It is told the true number of rows. The CPU seconds are
those of the fit and of the sampling, children included; neither imports nor reading count.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import statistics
import sys
import time
from importlib.metadata import version

import numpy as np
import pandas as pd
from dpmm.models.base.mechanisms.cdp2adp import cdp_eps, cdp_rho
from dpmm.models.mst import MSTGM

DELTA = 1e-9


def spent() -> float:
    """CPU seconds so far, of this process and of its ended children."""
    return sum(os.times()[:4])


def errors(real, made, sizes, order):
    """The L1 error of each marginal of this order, and the largest error of a cell."""
    total, worst = [], 0
    for places in itertools.combinations(range(len(sizes)), order):
        shape = [sizes[place] for place in places]
        counts = [
            np.bincount(
                np.ravel_multi_index([table[place] for place in places], shape),
                minlength=math.prod(shape),
            )
            for table in (real, made)
        ]
        off = np.abs(counts[0] - counts[1])
        total.append(int(off.sum()))
        worst = max(worst, int(off.max()))
    return total, worst


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table")
    parser.add_argument("domain")
    parser.add_argument("--rho", type=float, default=0.5)
    asked = parser.parse_args()
    frame = pd.read_csv(asked.table)
    with open(asked.domain) as file:
        domain = json.load(file)
    epsilon = cdp_eps(asked.rho, DELTA)

    begun, clock = spent(), time.perf_counter()
    model = MSTGM(epsilon=epsilon, delta=DELTA, domain=domain)
    model.fit(frame)
    made = model.generate(n_records=len(frame))
    seconds, wall = spent() - begun, time.perf_counter() - clock

    sizes = list(domain.values())
    real, found = ([table[name].to_numpy(int) for name in domain] for table in (frame, made))
    (one, first), (two, second), (three, third) = (
        errors(real, found, sizes, order) for order in (1, 2, 3)
    )
    rows = 2 * len(frame)
    said = {
        "version": f"dpmm {version('dpmm')}",
        "epsilon": epsilon,
        "delta": DELTA,
        "rho": cdp_rho(epsilon, DELTA),
        "rows": len(made),
        "seconds": seconds,
        "wall": wall,
        "two": [statistics.fmean(one + two), max(first, second)],
        "three": [statistics.fmean(one + two + three), max(first, second, third)],
        "tv": statistics.fmean(one + two) / rows,
        "tv_up_to_three": statistics.fmean(one + two + three) / rows,
        "tv_three": statistics.fmean(three) / rows,
    }
    json.dump(said, sys.stdout)
    print()


if __name__ == "__main__":
    main()
