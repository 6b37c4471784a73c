"""Released marginals: error, CPU seconds and memory, against plainer ways and peers, in one run.

    python benchmarks/release.py [--quick] [--readme] [--peers] [--sets NAME,...] [--repeats 3]

L1 is the mean over the marginals of the sum of absolute cell errors, `cell` the largest error of
a cell, TV = L1/(2n) with n the true rows; means over the repeats. For each row the run says what
ours should be, and where it is behind. `--quick` takes few sets once and nothing that is slow.
`--peers` runs MST and AIM where no run of theirs is kept; they take minutes each.
"""

from __future__ import annotations

import argparse
import os
import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import readme
import release_cases
import release_growth
import release_learning
import release_peers
from release_cases import ADULT, Row
from release_growth import Size, exponent
from release_learning import Area
from release_score import AIM, FOURIER, INDEPENDENT, MST, OURS, SEPARATE, UNBIASED
from release_sets import load, prepare

PARTS = ("rows", "wide", "scaling", "learning")
"""What runs besides the sets; `--sets` takes these names too."""


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(cells)} |" for cells in rows]


@dataclass
class Report:
    """What was measured, for the end of the run and for docs/benchmarks.md."""

    repeats: int
    peers: str = ""
    rows: list[Row] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    scaling: list[Size] = field(default_factory=list)
    growth: list[Size] = field(default_factory=list)
    wide: list[Size] = field(default_factory=list)
    lessons: dict[str, dict[str, Area]] = field(default_factory=dict)

    def behind(self) -> Iterator[str]:
        """Every place where ours is not what it should be."""
        for row in self.rows:
            yield from (f"{row.case.title}: {text}" for text in row.behind)
        yield from release_growth.behind_rows(self.growth)
        yield from release_growth.behind_wide(self.wide)
        yield from release_growth.behind_scaling(self.scaling)
        for title, found in self.lessons.items():
            yield from (f"{title}: {text}" for text in release_learning.short(found))

    @property
    def adult(self) -> Row | None:
        """The row that the README's figure is taken from, where MST was run."""
        found = (row for row in self.rows if row.case == ADULT and MST in row.scores)
        return next(found, None)

    def figure(self, row: Row) -> str:
        """The line for the README: the error of Adult's tables, against MST."""
        mine, theirs = (row.scores[label] for label in (OURS, MST))
        return (
            f"**{theirs.mean / mine.mean:.1f} times** less error than MST in the 1- and 2-way "
            f"tables of Adult at rho = 0.5 ({mine.mean:,.0f} against {theirs.mean:,.0f}, L1), in "
            f"1/{theirs.seconds / mine.seconds:.0f} of its CPU time."
        )

    def _sets(self) -> Iterator[str]:
        names = [OURS, UNBIASED, SEPARATE, INDEPENDENT, MST, AIM]
        head = ["task (rows × columns)", "ours should be", *names, "behind"]
        yield (
            "Mean L1 error of a marginal / largest error of a cell / TV, CPU seconds; means of "
            f"{self.repeats} (up to 3-way: one run), Python {platform.python_version()}. Ours are "
            "whole numbers, none negative, and all agree; with noise on each marginal they do not "
            "agree, and there as in unbiased tables cells may be negative. Independent columns pay "
            f"for single columns only. {self.peers}"
        )
        yield ""
        yield from table([head, ["---"] * len(head), *(row.cells() for row in self.rows)])
        yield ""
        yield f"Pairs of a set and a budget: {release_cases.tally(self.rows)}."
        for row in self.rows:
            if FOURIER in row.scores:
                yield ""
                yield f"The paper's Fourier basis, {row.case.title}: {row.scores[FOURIER]}."

    def _growth(self) -> Iterator[str]:
        for label, seen, text in (
            ("rows", self.growth, "Seven made-up attributes, all 1- and 2-way tables, rho = 0.5:"),
            ("values", self.wide, "Two made-up columns of so many values, epsilon = 1:"),
        ):
            if seen:
                yield from ("", text, "", *table(release_growth.growth_table(label, seen)))
        if self.scaling:
            text = "All marginals of up to 3 attributes, 10,000 rows, rho = 0.5, unbiased tables:"
            yield from ("", text, "", *table(release_growth.scaling_table(self.scaling)))
            most = release_growth
            yield ""
            yield (
                f"CPU seconds grow as cells^{exponent(self.scaling):.2f} (target: linear; 100 "
                f"attributes in {most.MOST_SECONDS} CPU s and {most.MOST_MEMORY:,} MB)."
            )

    def _lessons(self) -> Iterator[str]:
        if not self.lessons:
            return
        names = ["real rows", OURS, MST, AIM]
        rows = [
            [title, *(str(found.get(name, "–")) for name in names)]
            for title, found in self.lessons.items()
        ]
        yield from ("", "Boosted trees that learned from microdata, area under the curve on rows "
                    "held out:", "")  # fmt: skip
        yield from table([["foretold", *names], ["---"] * 5, *rows])

    def markdown(self) -> str:
        missed = list(self.behind())
        ending = [f"- {text}" for text in missed] or ["Nowhere, in what ran."]
        left = [f"Not run: {', '.join(self.left_out)}."] if self.left_out else []
        lines = [*self._sets(), *self._growth(), *self._lessons(), "", "Behind in this run:", ""]
        return "\n".join([*lines, *ending, *([""] if left else []), *left])


def run(asked: argparse.Namespace) -> Report:
    """Everything that was asked for, printed as it comes."""
    names = asked.sets.split(",") if asked.sets else []
    report = Report(1 if asked.quick else asked.repeats)
    prepare()
    cases = list(release_cases.wanted(names, asked.quick))
    there = [(case, data) for case in cases if (data := load(case.data, asked.data)) is not None]
    report.left_out = sorted({case.data for case in cases} - {case.data for case, _ in there})
    if asked.peers and release_peers.installed():
        questions = [one for case, data in there for one in release_peers.questions(case, data)]
        questions += release_learning.questions(asked.data, asked.turns, names)
        for question in questions:
            release_peers.ask(question, asked.limit)
    most = release_peers.MOST_TURNS
    used = [one for case, data in there for one in release_peers.questions(case, data, most)]
    if not asked.quick:
        used += release_learning.questions(asked.data, most, names)
    report.peers = release_peers.when(used)
    for case, data in there:
        peers = release_peers.scores(case, data)
        report.rows.append(release_cases.run(case, data, report.repeats, peers))
    _parts(report, asked, names)
    return report


def _parts(report: Report, asked: argparse.Namespace, names: Sequence[str]) -> None:
    quick, parts = asked.quick, {*(names or PARTS)}
    if "rows" in parts:
        report.growth = release_growth.rows(release_growth.TIMES[: 2 if quick else None])
    if "wide" in parts and not quick:
        report.wide = release_growth.wide(tuple(release_growth.VALUES))
    if "scaling" in parts:
        report.scaling = release_growth.scaling((20, 50) if quick else (20, 50, 100))
    if not quick:
        report.lessons = release_learning.learn(asked.data, report.repeats, names)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument(
        "--readme", action="store_true", help="put the table into docs/benchmarks.md"
    )
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--sets", help="names, by commas; also: " + ", ".join(PARTS))
    parser.add_argument("--peers", action="store_true", help="run MST and AIM where needed")
    parser.add_argument("--turns", type=int, default=1, help="their runs that models learn from")
    parser.add_argument("--limit", type=float, default=600, help="seconds for a run of a peer")
    default = os.environ.get("ADOMNIA_DATA", "../shared/data")
    parser.add_argument("--data", type=Path, default=Path(default))
    report = run(asked := parser.parse_args())
    text = report.markdown()
    print(f"\n{text}")
    if asked.readme:
        readme.put("release", text)
        if report.adult:
            readme.figure("release", report.figure(report.adult))


if __name__ == "__main__":
    main()
