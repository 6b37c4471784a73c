"""Our attacks and those of the peers that have the same, in one run: time, and what they found.

    python benchmarks/audit.py [--quick] [--repeat 3] [--data ../shared/data] [--only NAME …]

Peers run in environments of their own (`benchmarks/peers/setup` makes them) on the same file, with
the rows in memory beforehand; so have we. Times are medians of the repeats, one run where it is
long. What is not in the data folder is made up, and its line says so.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from peers.audit_report import Attack, Outcome, measured

from adomnia.audit.claims.audit_target import AuditTarget
from adomnia.audit.claims.broken_mechanisms import BROKEN_MECHANISMS, broken_mechanism
from adomnia.audit.claims.claim import refute
from adomnia.audit.claims.reference_mechanisms import REFERENCE_MECHANISMS, reference_mechanism
from adomnia.audit.disclosure.disclosure import disclosures
from adomnia.audit.disclosure.disclosure_report import DisclosureTerms
from adomnia.audit.exact_releases.prior_leak import chain_leak
from adomnia.audit.finding import Finding
from adomnia.audit.linkage.linkage import link_exactly, link_probably
from adomnia.audit.linkage.scoreboard import Hunt, Ratings, scoreboard
from adomnia.audit.linkage.uniqueness import anonymity
from adomnia.audit.networks.active_attack import Coalition, active_attack, passive_attack
from adomnia.audit.networks.influence import influence
from adomnia.audit.networks.pattern import AdjacencyLists
from adomnia.audit.reconstruction.decoding import Channel, decoding_curve
from adomnia.audit.reconstruction.hadamard import hadamard
from adomnia.audit.reconstruction.microdata import microdata
from adomnia.audit.reconstruction.published_statistics import (
    CellLayout,
    Count,
    Mean,
    Median,
    Statement,
    marginal,
)
from adomnia.audit.reconstruction.subset_sums import subset_sums
from adomnia.audit.synthetic.coded_files import Population
from adomnia.audit.synthetic.inference import attribute_inference
from adomnia.audit.synthetic.singling_out import singling_out

ROOT = Path(__file__).resolve().parent.parent
LONGEST = 300.0
LIMIT = 240.0
CONFIDENCE = 0.99
EPSILONS = ("2", "1", "0.5", "0.1", "0.01")
WIDE = ("age", "education", "occupation", "relationship", "sex", "native_country")
SECRET = "occupation"
NARROW = ("education", "relationship", "sex")
LEFT_OUT = (
    "dp_auditorium is left out: it took 381 s and 2.3 GB to install in an earlier trial.",
    "DP-Sniper is left out: its own example did not end within 7 minutes in an earlier trial.",
    "ANJANA is left out: it calls pycanon for these measures.",
)


@dataclass(frozen=True)
class Size:
    """How much is attacked."""

    quasi: tuple[str, ...] = WIDE
    census: bool = True
    targets: int = 500
    samples: int = 100_000
    column: int = 2000
    ratings: tuple[int, int] = (100_000, 10_000)
    trials: int = 100
    runs: int = 100_000


QUICK = Size(NARROW, False, 100, 20_000, 500, (10_000, 2000), 20, 10_000)


@dataclass(frozen=True)
class Line:
    """One system's time and outcome; no time where it did not end."""

    attack: str
    data: str
    system: str
    seconds: float | None
    outcome: Outcome
    target: float | None = None

    def cells(self) -> list[str]:
        """The line as text."""
        time = f"over {LONGEST:.0f} s" if self.seconds is None else _time(self.seconds)
        found = ", ".join(f"{name} {_figure(value)}" for name, value in self.outcome.items())
        target = "" if self.target is None else f"{self.target:.0f} s"
        return [self.attack, self.data, self.system, time, found, target]


# Data


@dataclass(frozen=True)
class Data:
    """Files in a folder, or made-up ones in their place, each with its name."""

    folder: Path

    def adult(self) -> tuple[str, pa.Table]:
        """48,842 people with six quasi-identifiers and an income."""
        sizes = dict(zip(WIDE, (74, 16, 15, 6, 2, 42), strict=True))
        return self._table("adult/adult", 48_842, {**sizes, "income": 2})

    def census(self) -> tuple[str, pa.Table]:
        """500,000 people with an occupation."""
        sizes = {"gender": 2, "marital": 5, "race": 9, "education": 14, "occupation": 50}
        return self._table("census/edu_occ", 500_000, sizes)

    def salary(self) -> tuple[str, pa.Table]:
        """500,000 people with six public attributes and a salary."""
        sizes = {"gender": 2, "marital": 5, "race": 9, "education": 14, "workclass": 8}
        return self._table("census/salary", 500_000, {**sizes, "hispanic": 24, "salary": 50})

    def network(self) -> tuple[str, AdjacencyLists]:
        """Some thousand people and their friends."""
        path = self.folder / "graphs" / "ego-facebook.edges.gz"
        if not path.exists():
            return "made-up network", AdjacencyLists.of(
                nx.powerlaw_cluster_graph(4000, 20, 0.5, 1).edges
            )
        with gzip.open(path, "rt") as file:
            return "ego-facebook", AdjacencyLists.of(
                np.loadtxt(file, dtype=np.int64, usecols=(0, 1))
            )

    def block(self) -> tuple[str, CellLayout, list[Statement], np.ndarray | None]:
        """Published tables, with the cells that are empty for everybody."""
        path = self.folder / "cacm_block" / "block-stats.csv"
        if not path.exists():
            return "three-way tables of 20 made-up people", *made_block(), None
        with path.open(newline="") as file:
            rows = list(csv.DictReader(file))
        return "the seven-person block", *seven_people(rows)

    def _table(self, name: str, rows: int, sizes: Mapping[str, int]) -> tuple[str, pa.Table]:
        path = self.folder / f"{name}.parquet"
        if path.exists():
            return name.partition("/")[0], pq.read_table(path, columns=list(sizes))
        return "made-up rows", made_people(rows, sizes)


def made_people(rows: int, sizes: Mapping[str, int]) -> pa.Table:
    """People of eight kinds, each with its own common values."""
    chance = np.random.default_rng(1)
    kind = chance.integers(0, 8, rows)
    columns = {}
    for name, size in sizes.items():
        total = np.cumsum(chance.lognormal(0, 1.5, (8, size)), axis=1)
        place = kind + chance.random(rows)  # in one search for all: kind k has k to k + 1
        ends = (total / total[:, -1:] + np.arange(8)[:, None]).ravel()
        found = np.minimum(np.searchsorted(ends, place), ends.size - 1)
        columns[name] = found % size
    return pa.table(columns)


def made_ratings(people: int, items: int, mean: float = 30) -> Ratings:
    """Items by a power law, activity lognormal, each person's days near each other."""
    chance = np.random.default_rng(2)
    popular = np.cumsum(1 / np.arange(1, items + 1) ** 0.9)
    active = np.clip(chance.lognormal(np.log(mean) - 0.5, 1, people), 10, items // 4).astype(int)
    person = np.repeat(np.arange(people), active)
    item = np.searchsorted(popular, popular[-1] * chance.random(person.size))
    liked = chance.normal(3.5, 0.5, items)[item] + chance.normal(0, 1, person.size)
    day = chance.integers(0, 2000, people)[person] + chance.exponential(100, person.size) // 1
    return Ratings.of(person, item, np.clip(np.rint(liked), 1, 5), day, (people, items))


def made_block() -> tuple[CellLayout, list[Statement]]:
    """The exact three-way tables of 20 people with five attributes."""
    sizes = zip("abcde", (2, 3, 2, 4, 2), strict=True)
    cells = CellLayout({name: tuple(range(size)) for name, size in sizes})
    drawn = np.random.default_rng(1).integers(0, cells.many, 20)
    table = np.bincount(drawn, minlength=cells.many).reshape(cells.shape)
    said: list[Statement] = []
    for places in combinations(range(5), 3):
        others = tuple(place for place in range(5) if place not in places)
        said += marginal(cells, ["abcde"[place] for place in places], table.sum(axis=others))
    return cells, said


def seven_people(
    rows: Sequence[Mapping[str, str]],
) -> tuple[CellLayout, list[Statement], np.ndarray]:
    """The article's statements: means to a tenth, medians exact, what is not printed below 3."""
    both, adult = (False, True), range(18, 116)
    cells = CellLayout(
        {"age": tuple(range(116)), "married": both, "smoker": both, "employed": both}
    )
    about: dict[str, dict[str, Any]] = {
        "total-population": {},
        "non-smoker": {"smoker": [False]},
        "smoker": {"smoker": [True]},
        "unemployed": {"employed": [False]},
        "employed": {"employed": [True]},
        "single-adults": {"married": [False], "age": adult},
        "married-adults": {"married": [True], "age": adult},
        "unemployed-non-smoker": {"employed": [False], "smoker": [False]},
    }
    printed = {"non-smoker": "33.5", "unemployed": "48.5", "unemployed-non-smoker": "36.7"}
    said: list[Statement] = []
    for row in rows:
        name, where = row["name"], about[row["name"]]
        many = int(row["count"] or 0)
        said.append(Count(name, where, many, many) if many else Count(name, where, 0, 2))
        if many:
            mean = Fraction(printed.get(name, row["mean"]))
            said.append(Mean(f"{name}, mean", where, "age", mean, Fraction(1, 10)))
            said.append(Median(f"{name}, median", where, "age", Fraction(row["median"]), many))
    return cells, said, np.flatnonzero(cells.chosen({"married": [True], "age": range(18)}))


# Peers


def python_of(peer: str) -> Path:
    """The interpreter of a peer's environment."""
    return ROOT / "build" / "peers" / peer / "bin" / "python"


def ask_peer(peer: str, file: Path, *options: str) -> dict[str, Any] | None:
    """What a peer's runner reports; None if it did not end, {} if the peer is not there."""
    if not python_of(peer).exists():
        print(
            f"{peer} is not installed; make it with: benchmarks/peers/setup {peer}", file=sys.stderr
        )
        return {}
    script = ROOT / "benchmarks" / "peers" / f"audit_{peer}.py"
    command = [str(python_of(peer)), str(script), str(file), *options]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, check=False)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:]
        print(f"{peer} failed: {' '.join(last)}", file=sys.stderr)
        return {}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def peer_lines(peer: str, data: str, attacks: Sequence[str], *asked: Any) -> Iterator[Line]:
    """The peer's lines for some attacks, in their order."""
    found = ask_peer(peer, *asked)
    if found is None:
        yield from (Line(attack, data, peer, None, {}) for attack in attacks)
    elif found:
        for attack in attacks:
            part = found["attacks"][attack]
            yield Line(attack, data, found["version"], part["seconds"], part["outcome"])


# Attacks that a peer has too


@dataclass(frozen=True)
class Run:
    """What every comparison needs: the data, how much of it, how often, and room for files."""

    data: Data
    size: Size
    repeat: int
    folder: Path

    def line(self, attack: str, data: str, what: Attack, target: float | None = None) -> Line:
        """Our own line."""
        found = measured(what, self.repeat)
        return Line(attack, data, "adomnia", found["seconds"], found["outcome"], target)

    def file(self, table: pa.Table) -> Path:
        """The table as a file that a peer can read."""
        path = self.folder / "table.parquet"
        pq.write_table(table, path)
        return path


def crowds(run: Run) -> Iterator[Line]:
    """k-anonymity, l-diversity and t-closeness, against pycanon."""
    cases = [(*run.data.adult(), run.size.quasi, "income")]
    if run.size.census:
        cases.append((*run.data.census(), ("gender", "marital", "race", "education"), "occupation"))
    for name, table, quasi, sensitive in cases:
        ordered = pa.types.is_integer(table[sensitive].type)  # pycanon orders numbers, not text
        what = f"{name}, {table.num_rows:,} rows, {len(quasi)} columns"
        ours_is = partial(measures, table, quasi, sensitive, ordered)
        yield run.line("crowds", what, ours_is)
        asked = run.file(table), "--quasi", *quasi, "--sensitive", sensitive
        yield from peer_lines("pycanon", what, ["crowds"], *asked, "--repeat", str(run.repeat))


def measures(table: pa.Table, quasi: Sequence[str], sensitive: str, ordered: bool) -> Outcome:
    """The measures that both have."""
    found = anonymity(table, quasi, sensitive)
    t = found.t_ordered if ordered else found.t_equal
    return {"k": found.k, "l": found.distinct_l, "entropy l": found.entropy_l, "t": t}


def linkage(run: Run) -> Iterator[Line]:
    """A file released as it is, and one that nobody is in, against Anonymeter: describing one
    person, guessing a secret, linking."""
    name, table = run.data.adult()
    chance = np.random.default_rng(1)
    half = table.num_rows // 2
    people = table.select(WIDE).take(chance.permutation(table.num_rows))
    original, control = people.slice(0, half), people.slice(half, half)
    nobody = pa.table({name: original[name].take(chance.permutation(half)) for name in WIDE})
    targets = chance.choice(half, run.size.targets, replace=False)
    for kind, released in (("as it is", original), ("each column shuffled", nobody)):
        what = f"{name}, {half:,} rows, {kind}"
        truth = targets if released is original else np.full(targets.size, -1)
        known = original.take(targets)
        people = Population(original, control)
        single = partial(singling_out, released, people, 2 * targets.size)
        guess = partial(attribute_inference, released, people, [SECRET], attacks=targets.size)
        mine = [
            run.line("singling out", what, partial(added, single, "several conditions")),
            run.line("inference", what, partial(added, guess, SECRET)),
        ]
        for how, link in (("exactly", link_exactly), ("probably", link_probably)):
            attack = partial(linked, link, released, known, truth)
            mine.append(run.line(f"linkage, {how}", what, attack))
        parts = {"original": original, "released": released, "control": control}
        file = run.file(pa.concat_tables([
            part.append_column("part", pa.array([label] * half)) for label, part in parts.items()
        ]))  # fmt: skip
        asked = file, "--quasi", *WIDE, "--attacks", str(targets.size), "--repeat", str(run.repeat)
        names = ["singling out", "inference", "linkage"]
        theirs = peer_lines("anonymeter", what, names, *asked, "--secret", SECRET)
        yield from sorted([*mine, *theirs], key=lambda line: line.attack[:7])


def added(attack: Callable[[], Finding], part: str) -> Outcome:
    """Success on people of the data, on others, and the risk with its interval."""
    found = attack()
    told = (found.details.get("kinds") or found.details["secrets"])[part]
    risk = told["risk"]
    return {
        "succeeded": told["people"]["value"],
        "against control": told["control"]["value"],
        "risk": risk["value"],
        "from": risk["low"],
        "to": risk["high"],
    }


def linked(
    link: Callable[..., Finding], released: pa.Table, known: pa.Table, truth: Any
) -> Outcome:
    """How many of the known people were linked, and how many rightly."""
    found = link(released, known, WIDE, truth)
    return told(found, claimed=found.details["linked"] / truth.size, rightly=found.success.value)


def claims(run: Run) -> Iterator[Line]:
    """Lower bounds on epsilon from the same samples, against jax_privacy; 1 is claimed."""
    subjects = {
        "half the noise": broken_mechanism("half_noise"),
        "right": reference_mechanism("laplace"),
        "floating point": broken_mechanism("floating_point"),
    }
    many, mine = run.size.samples, []
    samples: dict[str, Any] = {}
    what = {name: f"Laplace, {name}, {many:,} samples" for name in subjects}
    for name, subject in subjects.items():
        drawn = [subject.sample(given, many) for given in (subject.data, subject.neighbour)]
        stored = [np.asarray(part, np.float64) for part in drawn]
        samples |= {f"{name}.data": stored[0], f"{name}.neighbour": stored[1]}
        mine.append(run.line("bound on epsilon", what[name], partial(bound, subject, *drawn)))
    file = run.folder / "samples.npz"
    np.savez(file, **samples)
    asked = file, "--confidence", str(CONFIDENCE), "--repeat", str(run.repeat)
    theirs = [
        replace(line, attack="bound on epsilon", data=what[line.attack])
        for line in peer_lines("jax_privacy", "", list(subjects), *asked)
    ]
    yield from sorted([*mine, *theirs], key=lambda line: list(what.values()).index(line.data))


def bound(subject: AuditTarget, *drawn: Any) -> Outcome:
    """Our bound from samples that were drawn beforehand."""

    def sample(rest: list[Any], size: int) -> Any:
        part, rest[0] = rest[0][:size], rest[0][size:]
        return part

    stored = replace(subject, sample=sample, data=[drawn[0]], neighbour=[drawn[1]])
    found = refute(stored, len(drawn[0]), CONFIDENCE)
    return told(found, epsilon=found.success.low, verdict=found.details["verdict"])


# Attacks that no peer has

Own = tuple[str, float | None, Attack]
"""What is attacked, the seconds that it may take, and the attack."""


def told(finding: Finding, /, **figures: Any) -> Outcome:
    """Figures of a finding, and whether a limit ended it."""
    return figures | ({} if finding.complete else {"cut": "short"})


def own_disclosures(data: Data, size: Size) -> Own:
    """What noisy marginals disclose, over five epsilons."""
    name, table = data.salary()
    public = [column for column in table.column_names if column != "salary"]
    parts = {c: np.unique(table[c].to_numpy(), return_inverse=True) for c in table.column_names}
    codes = {column: part[1] for column, part in parts.items()}
    domains = {column: part[0].tolist() for column, part in parts.items()}

    def attack() -> Outcome:
        terms = DisclosureTerms(reading="both")
        report = disclosures(codes, domains, public, "salary", EPSILONS, terms)
        return {
            reading: " ".join(str(level.disclosures) for level in levels)
            for reading, levels in report.readings.items()
        }

    return f"{name}, {table.num_rows:,} rows, 6 columns, 5 epsilons", 10.0, attack


def own_subset_sums(data: Data, size: Size) -> Own:
    """Dinur and Nissim's linear program."""
    n = size.column

    def attack() -> Outcome:
        found = subset_sums(n, 4 * n, 0.1 * n**0.5, seed=1, time_limit=LIMIT)
        return told(found, recovered=found.success.value)

    return (
        f"{n:,} bits, {4 * n:,} questions, noise 0.1 sqrt(n)",
        60.0 if n == 2000 else None,
        attack,
    )


def own_hadamard(data: Data, size: Size) -> Own:
    """Yekhanin's Fourier questions."""
    n = 1 << 20

    def attack() -> Outcome:
        found = hadamard(n, 0.25 * n**0.5, seed=1)
        return told(found, recovered=found.success.value)

    return f"{n:,} bits, noise 0.25 sqrt(n)", None, attack


def own_decoding(data: Data, size: Size) -> Own:
    """Decoding with an adversary's answers among the others."""
    channel = Channel(60)

    def attack() -> Outcome:
        found = decoding_curve(channel, [0.15, 0.2, 0.25], trials=5, seed=1, time_limit=LIMIT)
        rows = [row for row in found.details["curve"] if row["errors"] == "adversarial"]
        return told(found, **{f"whole at {row['rho']}:": row["whole"] for row in rows})

    return f"{channel.n} bits, {channel.many} answers, 30 trials", None, attack


def own_microdata(data: Data, size: Size) -> Own:
    """All people that agree with published tables."""
    name, cells, said, empty = data.block()

    def attack() -> Outcome:
        found = microdata(cells, said, time_limit=LIMIT, forbidden=empty)
        figures = {key: found.details[key] for key in ("tables", "unique")}
        return told(found, **figures, certain=found.details["certain_records"])

    return f"{name}, {cells.many} cells", None, attack


def own_scoreboard(data: Data, size: Size) -> Own:
    """Naming people in sparse ratings."""
    ratings = made_ratings(*size.ratings)

    def attack() -> Outcome:
        eight, two = (scoreboard(ratings, hunt) for hunt in (Hunt(8, 2), Hunt(2, 0)))
        return {
            "named by 8 facts, 2 wrong": eight.success.value,
            "by 2": two.success.value,
            "in the line-up by 2": two.details["in_lineup"]["value"],
        }

    people, items = size.ratings
    return f"made up, {people:,} x {items:,}, {ratings.item.size:,} ratings", None, attack


def own_planted(data: Data, size: Size) -> Own:
    """Planted accounts, and friends who planted nothing."""
    name, network = data.network()

    def attack() -> Outcome:
        active = active_attack(network, trials=size.trials, seed=1)
        friends = passive_attack(network, Coalition(8), trials=size.trials, seed=1)
        return told(active, active=active.success.value) | told(
            friends, passive=friends.success.value
        )

    return f"{name}, {len(network.neighbors):,} nodes, {size.trials} trials of each", None, attack


def own_prior_leak(data: Data, size: Size) -> Own:
    """Noisy counts beside exact sums of neighbours."""

    def attack() -> Outcome:
        found = chain_leak([256, 1024, 4096, 10_000], 0.1, trials=2 * size.trials, seed=1)
        points = found.details["curve"]
        whole = {f"whole at {point['k']:,}:": point["before"]["value"] for point in points}
        return told(found, **whole, accounted=points[-1]["after"]["value"])

    return f"chains to 10,000 cells, {2 * size.trials} trials", None, attack


def own_claim(data: Data, size: Size) -> Own:
    """All broken mechanisms that are here, and all of ours."""
    broken, right = (
        [broken_mechanism(name) for name in BROKEN_MECHANISMS],
        [reference_mechanism(name) for name in REFERENCE_MECHANISMS],
    )

    def attack() -> Outcome:
        found = [
            [refute(one, size.samples // 5, CONFIDENCE) for one in kind] for kind in (broken, right)
        ]
        caught, accused = (
            sum(one.details["verdict"] == "violated" for one in kind) for kind in found
        )
        return {"caught": f"{caught} of {len(broken)}", "accused": f"{accused} of {len(right)}"}

    return f"broken mechanisms and ours, {size.samples // 5:,} samples each", None, attack


def own_influence(data: Data, size: Size) -> Own:
    """One edge at the start, and the network at the end."""
    influence("forest-fire", runs=1000, seed=2)  # compiled by this

    def attack() -> Outcome:
        found = influence("forest-fire", runs=size.runs, seed=1)
        edges = {"edges without": found.without.mean, "with": found.with_edge.mean}
        return edges | {"told apart": found.naive.success.mean}

    return f"forest fire, {size.runs:,} pairs of networks", None, attack


COMPARED = {"crowds": crowds, "linkage": linkage, "claims": claims}
ALONE = {
    "disclosures": own_disclosures,
    "subset sums": own_subset_sums,
    "Hadamard": own_hadamard,
    "decoding": own_decoding,
    "microdata": own_microdata,
    "scoreboard": own_scoreboard,
    "planted": own_planted,
    "prior leak": own_prior_leak,
    "claim check": own_claim,
    "influence": own_influence,
}


def lines(run: Run, wanted: Sequence[str]) -> Iterator[Line]:
    """All lines, those with peers first."""
    for name, compare in COMPARED.items():
        if name in wanted:
            yield from compare(run)
    for name, prepare in ALONE.items():
        if name in wanted:
            what, target, attack = prepare(run.data, run.size)
            yield run.line(name, what, attack, target)


def _time(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds >= 1 else f"{seconds * 1e3:.3g} ms"


def _figure(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    default = os.environ.get("ADOMNIA_DATA", ROOT.parent / "shared" / "data")
    names = [*COMPARED, *ALONE]
    parser.add_argument("--quick", action="store_true", help="less of everything, in two minutes")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--data", type=Path, default=Path(default))
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="NAME")
    asked = parser.parse_args()
    size, repeat = (QUICK, 1) if asked.quick else (Size(), asked.repeat)
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; at most {repeat} runs of each")
    print(
        "",
        "| attack | data | system | time | found | target |",
        "|---|---|---|---|---|---|",
        sep="\n",
    )
    with tempfile.TemporaryDirectory() as folder:
        for line in lines(Run(Data(asked.data), size, repeat, Path(folder)), asked.only):
            print(f"| {' | '.join(line.cells())} |", flush=True)
    print("", *LEFT_OUT, f"load at the end {os.getloadavg()[0]:.1f}", sep="\n")


if __name__ == "__main__":
    main()
