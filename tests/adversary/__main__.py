"""`python -m tests.adversary --triples N --seed S`."""

from __future__ import annotations

import argparse
import secrets
import time

from tests.adversary import sql
from tests.adversary.seams import install


def main() -> int:
    """Run, print what was found, and say by the exit code whether the promise was kept."""
    parser = argparse.ArgumentParser(prog="python -m tests.adversary", description=__doc__)
    parser.add_argument("--triples", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--relation", default=None)
    parser.add_argument("--world", type=int, default=0)
    given = parser.parse_args()
    seed = secrets.randbelow(2**32) if given.seed is None else given.seed
    install()
    start = time.monotonic()
    tally = sql.run(seed, given.triples, given.relation, given.world)
    took = time.monotonic() - start
    total = sum(tally.triples.values())
    print(f"seed {seed}: {total} triples in {took:.0f} s, {total / took:.0f} a second")
    for part in sorted(tally.triples):
        print(f"  {part}: {tally.triples[part]} (refused {tally.refused.get(part, 0)})")
    for label, (found, what) in sorted(tally.worst.items()):
        print(f"  {label}: {found:.6f}  {what}")
    for failure in tally.failures[:40]:
        print("FAIL", failure)
    print(len(tally.failures), "failures")
    return 1 if tally.failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
