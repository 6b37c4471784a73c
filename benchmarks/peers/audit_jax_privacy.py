"""jax_privacy's auditor: a lower bound on epsilon from the samples in a NumPy file.

    build/peers/jax_privacy/bin/python benchmarks/peers/audit_jax_privacy.py FILE.npz

The file holds, for each mechanism NAME, its outputs as NAME.data and NAME.neighbour. Thresholds are
chosen as its default has it: all are tried, and share the doubt.
"""

from __future__ import annotations

import argparse
from functools import partial
from importlib.metadata import version

import numpy as np
from audit_report import Outcome, report
from jax_privacy.auditing import CanaryScoreAuditor


def bound(low: np.ndarray, high: np.ndarray, confidence: float) -> Outcome:
    """The higher outputs are those of the neighbour, which has one row more."""
    auditor = CanaryScoreAuditor(high, low)
    found = auditor.epsilon_clopper_pearson(1 - confidence, one_sided=False)
    return {"epsilon": float(found)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--confidence", type=float, default=0.99)
    parser.add_argument("--repeat", type=int, default=1)
    asked = parser.parse_args()
    with np.load(asked.file) as file:
        samples = dict(file)
    names = dict.fromkeys(key.rpartition(".")[0] for key in samples)
    attacks = {
        name: partial(
            bound, samples[f"{name}.data"], samples[f"{name}.neighbour"], asked.confidence
        )
        for name in names
    }
    report(f"jax_privacy {version('jax_privacy')}", attacks, asked.repeat)


if __name__ == "__main__":
    main()
