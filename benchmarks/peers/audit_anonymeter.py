"""Anonymeter on a Parquet file whose column `part` tells original, released and control rows.

build/peers/anonymeter/bin/python benchmarks/peers/audit_anonymeter.py FILE --quasi A B C D
"""

from __future__ import annotations

import argparse
from importlib.metadata import version

import numpy as np
import pandas as pd
from anonymeter.evaluators import (
    InferenceEvaluator,
    LinkabilityEvaluator,
    SinglingOutEvaluator,
)
from audit_report import Outcome, report


def shown(evaluator: SinglingOutEvaluator | InferenceEvaluator | LinkabilityEvaluator) -> Outcome:
    """Its risk is the rate of success beyond that against the control rows."""
    found = evaluator.results()
    rates = {"succeeded": found.attack_rate.value, "against control": found.control_rate.value}
    risk = found.risk()
    return rates | {"risk": risk.value, "from": risk.ci[0], "to": risk.ci[1]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--quasi", nargs="+", required=True)
    parser.add_argument("--secret", required=True)
    parser.add_argument("--attacks", type=int, default=500)
    parser.add_argument("--repeat", type=int, default=1)
    asked = parser.parse_args()
    frame = pd.read_parquet(asked.file)
    original, released, control = (
        frame.loc[frame.part == part, asked.quasi].reset_index(drop=True)
        for part in ("original", "released", "control")
    )
    half = (len(asked.quasi) + 1) // 2
    known = asked.quasi[:half], asked.quasi[half:]

    def singling_out() -> Outcome:
        evaluator = SinglingOutEvaluator(
            original, released, asked.attacks, len(asked.quasi), control, seed=1
        )
        return shown(evaluator.evaluate())

    def inference(attacks: int = asked.attacks) -> Outcome:
        np.random.seed(1)
        known = [name for name in asked.quasi if name != asked.secret]
        evaluator = InferenceEvaluator(
            original, released, known, asked.secret, n_attacks=attacks, control=control
        )
        return shown(evaluator.evaluate(n_jobs=-1))

    def linkage(attacks: int = asked.attacks) -> Outcome:
        np.random.seed(1)  # its targets are drawn by pandas, from this generator
        evaluator = LinkabilityEvaluator(original, released, known, attacks, control=control)
        return shown(evaluator.evaluate(n_jobs=-1))

    linkage(5)  # its search is compiled by this
    attacks = {"singling out": singling_out, "inference": inference, "linkage": linkage}
    report(f"Anonymeter {version('anonymeter')}", attacks, asked.repeat)


if __name__ == "__main__":
    main()
