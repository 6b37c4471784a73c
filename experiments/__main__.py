"""`python -m experiments`: run every claim of the papers and write one page.

python -m experiments --quick            # a few minutes
python -m experiments                    # says beforehand how long it will take
python -m experiments --only 003         # one paper, or one claim by its name
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from threading import Event, Thread

from rich.progress import Progress, TaskID

from experiments.claim import Claim, Found, Scale
from experiments.page import PAPERS, report

__all__ = ["claims", "main", "run_all"]


def claims(only: str = "") -> list[Claim]:
    """All claims, in the papers' order; with `only`, those whose name begins so."""
    found: list[Claim] = []
    for paper in (paper for paper in PAPERS if paper.startswith(only[:3])):
        found += import_module(f"experiments.paper_{paper}").CLAIMS
    return [claim for claim in found if claim.name.startswith(only)]


def run_all(listed: Sequence[Claim], scale: Scale) -> list[tuple[Claim, Found]]:
    """What came of each claim; Ctrl-C ends it with what is done."""
    results: list[tuple[Claim, Found]] = []
    total = sum(claim.expected_seconds(scale) for claim in listed)
    with Progress(transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("running the papers", total=total)
        for claim in listed:
            bar.update(task, description=f"{claim.paper} {claim.place}")
            try:
                with _moving(bar, task, claim.expected_seconds(scale)):
                    results.append((claim, claim.run(scale)))
            except KeyboardInterrupt:
                print("ended early: the page has what was done", file=sys.stderr)
                break
    return results


@contextmanager
def _moving(bar: Progress, task: TaskID, seconds: float) -> Iterator[None]:
    """The bar moves by these seconds: with the clock while the block runs, the rest at its end."""
    before, begun, ended = bar.tasks[0].completed, time.monotonic(), Event()

    def move() -> None:
        while not ended.wait(0.5):
            bar.update(task, completed=before + min(time.monotonic() - begun, seconds))

    clock = Thread(target=move, daemon=True)
    clock.start()
    try:
        yield
    finally:
        ended.set()
        clock.join()
        bar.update(task, completed=before + seconds)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; the exit code is 1 where a verdict is not the one that was expected."""
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("python -m experiments", None, __doc__, formatter_class=plain)
    parser.add_argument("--quick", action="store_true", help="fewer runs, wider errors")
    parser.add_argument("--only", default="", metavar="NAME", help="a paper or a claim")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("build/papers.html"))
    said = parser.parse_args(arguments)
    listed = claims(said.only)
    if not listed:
        parser.error(f"there is no claim {said.only!r}")
    scale = Scale(said.quick, said.seed)
    minutes = math.ceil(sum(claim.expected_seconds(scale) for claim in listed) / 60)
    print(f"claims: {len(listed)}; minutes on two cores: about {minutes}", file=sys.stderr)
    results = run_all(listed, scale)
    said.out.parent.mkdir(parents=True, exist_ok=True)
    said.out.write_text(report(results, said.quick), "utf-8")
    for claim, found in results:
        changed = "" if found.verdict == claim.expected else f"  (expected: {claim.expected})"
        print(f"{found.verdict:8} {claim.paper} {claim.place}: {found.ours}{changed}")
    print(said.out)
    return int(any(found.verdict != claim.expected for claim, found in results))


if __name__ == "__main__":
    sys.exit(main())
