"""pycanon on a Parquet file: k-anonymity, l-diversity and t-closeness.

build/peers/pycanon/bin/python benchmarks/peers/audit_pycanon.py FILE --quasi A B --sensitive C
"""

from __future__ import annotations

import argparse
from importlib.metadata import version

import pandas as pd
from audit_report import Outcome, report
from pycanon import anonymity


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--quasi", nargs="+", required=True)
    parser.add_argument("--sensitive", required=True)
    parser.add_argument("--repeat", type=int, default=1)
    asked = parser.parse_args()
    given = pd.read_parquet(asked.file), asked.quasi, [asked.sensitive]

    def crowds() -> Outcome:
        return {
            "k": int(anonymity.k_anonymity(*given[:2])),
            "l": int(anonymity.l_diversity(*given)),
            "entropy l": float(anonymity.entropy_l_diversity(*given)),
            "t": float(anonymity.t_closeness(*given)),
        }

    report(f"pycanon {version('pycanon')}", {"crowds": crowds}, asked.repeat)


if __name__ == "__main__":
    main()
