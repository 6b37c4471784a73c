"""MST or AIM of dpmm on a coded table: the error of its microdata on marginals of few attributes.

    build/peers/dpmm/bin/python benchmarks/peers/run_dpmm.py --method mst|aim --table NAME.csv.gz
        --domain NAME.json (--rho R | --epsilon E --delta D) [--ways 2] [--save MICRODATA.csv.gz]

It takes epsilon and delta: at a rho, delta is 1e-9 and epsilon what rho converts to by its own
conversion, which it turns back into the same rho. It has its own defaults and is told the true
number of rows. The CPU seconds are those of the fit and of the sampling, children included; neither
imports nor reading count. Prints one line of JSON.
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
from dpmm.models.aim import AIMGM
from dpmm.models.base.mechanisms.cdp2adp import cdp_eps, cdp_rho
from dpmm.models.mst import MSTGM

METHODS = {"mst": MSTGM, "aim": AIMGM}
DELTA = 1e-9


def spent() -> float:
    """CPU seconds so far, of this process and of its ended children."""
    return sum(os.times()[:4])


def errors(real, made, sizes, order):
    """How many marginals of this order there are, the mean of their L1 errors, and the largest
    error of a cell."""
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
    return [len(total), statistics.fmean(total), worst]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--method", choices=list(METHODS), required=True)
    parser.add_argument("--table", required=True)
    parser.add_argument("--domain", required=True)
    parser.add_argument("--rho", type=float)
    parser.add_argument("--epsilon", type=float)
    parser.add_argument("--delta", type=float, default=DELTA)
    parser.add_argument("--ways", type=int, default=2)
    parser.add_argument("--save")
    asked = parser.parse_args()
    frame = pd.read_csv(asked.table)
    with open(asked.domain) as file:
        domain = json.load(file)
    epsilon = cdp_eps(asked.rho, asked.delta) if asked.rho else asked.epsilon

    begun, clock = spent(), time.perf_counter()
    model = METHODS[asked.method](epsilon=epsilon, delta=asked.delta, domain=domain)
    model.fit(frame)
    made = model.generate(n_records=len(frame))
    seconds, wall = spent() - begun, time.perf_counter() - clock

    sizes = list(domain.values())
    real, found = ([table[name].to_numpy(int) for name in domain] for table in (frame, made))
    said = {
        "version": f"dpmm {version('dpmm')}",
        "epsilon": epsilon,
        "delta": asked.delta,
        "rho": cdp_rho(epsilon, asked.delta),
        "rows": len(frame),
        "seconds": seconds,
        "wall": wall,
        "errors": {order: errors(real, found, sizes, order) for order in range(1, asked.ways + 1)},
    }
    if asked.save:
        made[list(domain)].to_csv(asked.save, index=False)
    json.dump(said, sys.stdout)
    print()


if __name__ == "__main__":
    main()
