"""The rows of the table: a set, a budget, the tables asked for, and what should come out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial

from release_score import (
    AIM,
    FASTER,
    FOURIER,
    INDEPENDENT,
    MST,
    OURS,
    SEPARATE,
    UNBIASED,
    Counter,
    Score,
    Target,
    against,
    behind,
    due,
    measured,
    of,
    ways,
)  # fmt: skip
from release_sets import HELD_OUT, Data
from release_ways import WAYS

from adomnia.marginals.workload import Subset, Workload
from adomnia.privacy.composition import convert
from adomnia.privacy.loss import Loss, written

ALWAYS = (SEPARATE, INDEPENDENT, UNBIASED, OURS)


@dataclass(frozen=True)
class Budget:
    """What everything costs: a rho, an epsilon, or an epsilon with a delta, paid as the largest rho
    that stays within both."""

    rho: Fraction = Fraction(0)
    epsilon: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)

    def __str__(self) -> str:
        if self.rho:
            return f"rho {written(self.rho)}"
        delta = f", delta {float(self.delta):g}" if self.delta else ""
        return f"epsilon {float(self.epsilon):,g}{delta}"

    @cached_property
    def loss(self) -> Loss:
        if self.delta:
            return Loss.concentrated(_rho_of(self.epsilon, self.delta))
        return Loss.concentrated(self.rho) if self.rho else Loss.pure(self.epsilon)

    @property
    def peers(self) -> dict[str, float]:
        """What the peers are told, who know no pure epsilon."""
        if self.rho:
            return {"rho": float(self.rho)}
        return {"epsilon": float(self.epsilon), "delta": float(self.delta)} if self.delta else {}


def _rho_of(epsilon: Fraction, delta: Fraction) -> Fraction:
    low, high = Fraction(0), epsilon
    for _ in range(24):
        middle = (low + high) / 2
        low, high = (middle, high) if convert(middle, delta) <= epsilon else (low, middle)
    return low


HALF = Budget(rho=Fraction(1, 2))
ONE = Budget(epsilon=Fraction(1))
APPROXIMATE = Budget(epsilon=Fraction(1), delta=Fraction(1, 10**9))
EXACT = Budget(rho=Fraction(50))


@dataclass(frozen=True)
class Case:
    """One row. `orders` are released, `judged` of them are looked at; `subsets` instead of orders
    where only some tables are asked for. `times` is how often each row counts, `first` how many
    there are."""

    data: str
    budget: Budget = HALF
    target: Target = field(default_factory=Target)
    orders: tuple[int, ...] = (1, 2)
    judged: tuple[int, ...] = ()
    subsets: tuple[Subset, ...] = ()
    times: int = 1
    first: int | None = None
    also: tuple[str, ...] = ()
    once: bool = False

    @property
    def title(self) -> str:
        name = f"{self.data} ×{self.times}" if self.times > 1 else self.data
        rows = f", first {self.first} rows" if self.first else ""
        return f"{name}{rows}, {self._tables()}, {self.budget}"

    def _tables(self) -> str:
        if self.subsets:
            return f"{len(self.subsets)} tables"
        few, last = "".join(f"{order}- and " for order in self.orders[:-1]), self.orders[-1]
        orders = f"up to {last}-way" if len(self.orders) > 2 else f"{few}{last}-way"
        return f"{orders} ({self.judged[0]}-way judged)" if self.judged else orders

    @property
    def alike(self) -> bool:
        """Whether peers are asked the same; not where the noise is next to nothing."""
        told = self.budget.peers and self.budget != EXACT
        return bool(told) and self.times == 1 and not self.first and not self.subsets

    def workload(self, sizes: Sequence[int]) -> Workload:
        return of(sizes, self.subsets) if self.subsets else ways(sizes, self.orders)

    def looked_at(self, sizes: Sequence[int]) -> tuple[Subset, ...]:
        """The marginals whose errors count."""
        return (ways(sizes, self.judged) if self.judged else self.workload(sizes)).marginals

    @property
    def depth(self) -> tuple[int, ...]:
        """The orders whose errors count."""
        return self.judged or self.orders


CASES = (
    Case("nltcs", ONE, Target(mean=320, worst=220), (3,), also=(FOURIER,)),
    Case("nltcs", HALF, Target(mean=43), (3,)),
    ADULT := Case("adult", HALF, Target(mean=1400, worst=60, seconds=5)),
    Case("adult", ONE, Target(mean=5000)),
    Case("adult", HALF, Target(tv=0.05), (1, 2, 3), once=True),
    Case("fertility", HALF),
    Case("fertility", ONE),
    Case("fertility", EXACT),
    Case("fertility", times=4),
    Case("fertility", times=12),
    Case("fertility", Budget(epsilon=Fraction(10_000)), Target(mean=0), first=100),
    Case("flights", HALF),
    Case("flights", EXACT),
    Case("flights", times=3),
    Case("stops", HALF, Target(mean=472)),
    Case("stops", times=20),
    Case("health", HALF, Target(mean=54, seconds=0.5)),
    Case("five", HALF, Target(seconds=2), subsets=((0, 3), (1, 4), (2, 3))),
    Case("resume", Budget(rho=Fraction(1, 5000))),
    Case("hi", APPROXIMATE, Target(tv=0.0243, seconds=2.3), judged=(2,)),
    Case("made-up", HALF),
    *(Case(name, budget) for name in HELD_OUT for budget in (HALF, APPROXIMATE)),
)


@dataclass(frozen=True)
class Row:
    """A case and how each way did in it."""

    case: Case
    rows: int
    columns: int
    scores: Mapping[str, Score]
    absent: Mapping[str, str]
    """Of peers without a score, why."""

    @property
    def behind(self) -> list[str]:
        return behind(self.case.target, self.scores)

    @property
    def due(self) -> list[str]:
        return due(self.case.target, self.scores)

    def cells(self) -> list[str]:
        """The row of the printed table."""
        others = (OURS, UNBIASED, SEPARATE, INDEPENDENT, MST, AIM)
        shown = [str(self.scores.get(name, self.absent.get(name, "–"))) for name in others]
        head = f"{self.case.title} ({self.rows:,} × {self.columns})"
        return [head, "; ".join(self.due), *shown, "; ".join(self.behind) or "no"]

    def ratios(self) -> Iterator[str]:
        for name in (MST, AIM):
            if name in self.scores:
                yield f"ours is {against(self.scores[OURS], self.scores[name], name)}"


def line(label: str, score: Score | str) -> None:
    if isinstance(score, str):
        print(f"  {label:<26}{score}", flush=True)
        return
    note = ("whole, none negative" + ", all agree" * (label == OURS)) * score.whole
    found = f"{score.mean:>12,.2f}{score.worst:>10,.1f}{score.tv:>9.4f}"
    print(f"  {label:<26}{found}{score.seconds:>9.2f}  {note}", flush=True)


def run(case: Case, data: Data, repeats: int, peers: Mapping[str, Score | str]) -> Row:
    """All ways on one case, printed as they come."""
    records = data.records[: case.first] if case.first else data.records
    counter = Counter(records, data.sizes, case.times)
    workload, subsets = case.workload(data.sizes), case.looked_at(data.sizes)
    print(f"\n{case.title}: {counter.rows:,} rows, {len(workload.marginals):,} marginals, "
          f"{workload.total_cells:,} cells")  # fmt: skip
    print(f"  {'':<26}{'L1':>12}{'cell':>10}{'TV':>9}{'CPU s':>9}")
    scores: dict[str, Score] = {}
    for name in (*case.also, *ALWAYS):
        ask = partial(WAYS[name], workload, counter, case.budget.loss)
        scores[name] = measured(ask, counter, subsets, 1 if case.once else repeats)
        line(name, scores[name])
    for name, score in peers.items():
        line(name, score)
    scores |= {name: score for name, score in peers.items() if isinstance(score, Score)}
    absent = {name: score for name, score in peers.items() if isinstance(score, str)}
    row = Row(case, counter.rows, len(data.sizes), scores, absent)
    for text in row.ratios():
        print(f"  {text}")
    print(f"  should be: {'; '.join(row.due)}")
    print(f"  behind: {'; '.join(row.behind) or 'no'}", flush=True)
    return row


def wanted(names: Sequence[str], quick: bool) -> Iterator[Case]:
    """The cases of these sets (all, if none is named); the quick ones are few and not repeated."""
    for case in CASES:
        if names and case.data not in names:
            continue
        if quick and not names and case.data not in ("fertility", "resume", "hi", "made-up"):
            continue
        yield replace(case, once=True) if quick else case


def tally(rows: Sequence[Row]) -> str:
    """Of how many pairs of a set and a budget ours is ahead of each peer."""
    said = []
    for name in (MST, AIM):
        pairs = [row.scores for row in rows if name in row.scores]
        ahead = sum(one[OURS].mean < one[name].mean for one in pairs)
        fast = sum(one[OURS].seconds * FASTER <= one[name].seconds for one in pairs)
        shares = f"less error on {ahead} of {len(pairs)}, in a tenth of the time on {fast}"
        said.append(f"{name}: {shares}")
    return "; ".join(said)
