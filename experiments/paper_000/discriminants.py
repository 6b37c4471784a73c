"""Section 2.1: the discriminant, the non-privacy game, and free-lunch privacy."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.integrate import quad

from adomnia.audit.correlation.discriminant import discriminant, free_lunch_bound, game
from adomnia.mechanisms.counts.randomized_response import Response, respond
from adomnia.mechanisms.margins.margin import Noise
from adomnia.mechanisms.noise.laplace import sample
from adomnia.present.drawing.plot import Plot, Series, draw
from experiments.claim import DIFFERS, Claim, Found, Scale, Table
from experiments.front import Front
from experiments.measured import Share, mean, share

__all__ = ["DISCRIMINANTS"]

FAR = 1000
"""A count that is out of the reach of noise of scale 1."""


def laplace(scale: Scale) -> Found:
    """ω of the Laplace mechanism as the counts move apart, bounded and unbounded."""
    ks, sizes, noise = (2, 5, 20), [2**power for power in range(3, 15)], Noise("laplace", 1)
    bounded = {k: [_omega([n * i // k for i in range(1, k + 1)], noise) for n in sizes] for k in ks}
    unbounded = {k: _omega([FAR * i for i in range(k)], noise) for k in ks}
    last, least = min(found[-1] for found in bounded.values()), min(unbounded.values())
    rises = all((np.diff(found) >= -1e-12).all() for found in bounded.values())
    rows = [(k, *(bounded[k][i] for i in (0, 5, -1)), unbounded[k]) for k in ks]
    few = 6  # beyond, all lines are one
    shown = sizes[:few]
    lines = [
        *(Series(f"bounded, k = {k}", shown, found[:few]) for k, found in bounded.items()),
        Series("unbounded, any k", shown, [least] * few, dots=True),
        Series("the paper's limit", shown, [1.0] * few, paper=True),
    ]
    plot = Plot("ω(k, A) of the Laplace mechanism, ε = 1", "rows n", "discriminant",
                lines, log_across=True, ends_up=(0, 1))  # fmt: skip
    return Found(
        f"bounded: {last:.6f} at n = {sizes[-1]:,}; unbounded: {least:.6f} (the least over k)",
        rises and min(last, least) > 1 - 1e-6,
        "Counts that lie far enough apart are told apart for sure. One row, changed or gone, "
        "moves a count by one, so the noise is the same for both neighbours: bounded, n limits "
        "how far apart the counts can be; unbounded, nothing does. The density is printed as "
        "ε/2 e^(-|x|/ε): the scale stands the wrong way round (it is 1/ε here), and at ε = 1/10 "
        f"the whole of what is printed is {_printed_mass(0.1):.3g} and not 1.",
        f"exact values for integer noise; bounded: n rows with in/k cases as in the proof; "
        f"unbounded: counts {FAR:,} apart",
        [Table(("k", *(f"bounded, n = {sizes[i]:,}" for i in (0, 5, -1)), "unbounded"), rows)],
        [draw(plot)],
    )  # fmt: skip


def _omega(counts: list[int], noise: Noise) -> float:
    return discriminant(counts, noise).success.value


def _printed_mass(epsilon: float) -> float:
    """What the printed density sums to over all of the line: twice its right half."""
    return 2 * quad(lambda x: epsilon / 2 * math.exp(-x / epsilon), 0, math.inf)[0]


def proof(scale: Scale) -> Found:
    """The proof's n, and how often the answer then lies in its interval."""
    k, width, draws = 5, 10, scale.pick(50_000, 2_000_000)
    noise = np.abs(sample(Fraction(width), draws))
    q, rows = math.exp(-1 / width), []
    for delta in (0.1, 0.05, 0.01):
        # n = 3km: the cases lie 3m apart, and m to either side of each belongs to it.
        printed = _least(lambda m, most=delta: q ** (2 * m + 1) / (1 + q) < most)
        needed = _least(lambda m, most=delta: 2 * q ** (m + 1) / (1 + q) < most)
        inside = [share(int((noise <= m).sum()), draws) for m in (printed, needed)]
        rows.append((1 - delta, 3 * k * printed, inside[0], 3 * k * needed, inside[1]))
    short = [row for row in rows if row[2].below(row[0])]
    mended = all(not row[4].below(row[0]) for row in rows)
    return Found(
        ", ".join(f"{row[2]} where more than {row[0]:g} is said" for row in rows),
        not short,
        "As printed, n has P(X > 2n/3k) < δ: that is one side, at the whole width of the interval "
        "S_i. An answer leaves S_i on either side, at half of it: P(|X| > n/3k) < δ is needed. "
        f"{'With' if mended else 'Not even with'} that n the answers are in S_i as often as said, "
        f"and the proposition {'stands' if mended else 'falls'}."
        if short
        else "The answers lie in their intervals as often as the proof says.",
        f"k = {k}, ε = 1/{width}, {draws:,} draws of the package's noise; the least n, a multiple "
        "of 3k",
        [Table(("1 - δ", "n as printed", "in S_i", "n by P(|X| > n/3k) < δ", "in S_i"), rows)],
    )


def _least(right: Callable[[int], bool]) -> int:
    return next(m for m in range(1, 10_000) if right(m))


def cancer(scale: Scale) -> Found:
    """The example: Bob's secret j comes with j times 10,000 cancer patients."""
    k, batch, batches = 5, 120, scale.pick(1, 20)
    secrets = scale.chance(0, 1).integers(1, k + 1, (batches, batch))
    seen = np.concatenate([_patients(10_000 * some) for some in secrets])
    won = np.rint(seen / 10_000) == secrets.ravel()
    rate, variance = share(int(won.sum()), won.size), mean((seen - 10_000 * secrets.ravel()) ** 2)
    exact = game([10_000 * j for j in range(1, k + 1)], Noise("laplace", Fraction(10)))
    return Found(
        f"the attacker is right in {rate.value:.1%} of {rate.runs} rounds "
        f"(exactly {exact.success.value:.6f}); without the answer in {1 / k:.0%}",
        rate.above(0.8) and exact.success.value > 1 - 1e-12,
        "The theorem's game, played through the front door: a distribution over databases in "
        f"which one noisy count tells the secret. The noise had variance {variance} (200 is "
        "printed), against counts 10,000 apart. The promise to Bob's row is kept all the same: "
        "it was the data that told.",
        "ε = 0.1, five possible secrets, as likely; databases of 60,000 people, side by side in "
        "one table and counted each on its own",
    )


def _patients(ill: NDArray[np.int64], people: int = 60_000) -> NDArray[np.float64]:
    """Noisy numbers of patients, of as many databases as there are true ones."""
    columns = {
        "town": np.repeat(np.arange(ill.size, dtype=np.int16), people),
        "ill": (np.arange(people) < ill[:, None]).astype(np.int8).ravel(),
    }
    sql = "SELECT town, COUNT(*) AS n FROM people WHERE ill = 1 GROUP BY town ORDER BY town"
    with Front(columns, {"town": ill.size, "ill": 2}) as front, front.open() as database:
        return np.array([n for _, n in database.session().ask(sql, "1/10").rows], float)


def free_lunch(scale: Scale) -> Found:
    """No free-lunch private algorithm tells tables apart better than the bound; one reaches it."""
    draws = scale.pick(20_000, 1_000_000)
    epsilons = [Fraction(tenths, 10) for tenths in (1, 5, 10, 20, 40)]
    rows = [(k, float(e), *_lunch(k, e, draws)) for k in (2, 5, 20) for e in epsilons]
    below = all(told <= bound + 1e-9 for _, _, bound, told, _ in rows)
    reached = all(seen.near(bound) for _, _, bound, _, seen in rows)
    lines = [
        line for k in (2, 20) for line in _compared(k, [row[1:] for row in rows if row[0] == k])
    ]
    plot = Plot("Free-lunch privacy: ω against ε", "ε", "discriminant", lines, ends_up=(0, 1))
    k, epsilon, bound, told, seen = rows[len(rows) // 2]
    return Found(
        f"k = {k}, ε = {epsilon:g}: the bound {bound:.3f}, randomized response {seen}, the Laplace "
        f"mechanism {told:.3f}",
        below and reached,
        f"The Laplace mechanism {'never tells' if below else 'tells'} more than the bound, and "
        f"randomized response over the k tables {'reaches' if reached else 'does not keep to'} it. "
        "With any two tables as neighbours the noise is as wide as the largest answer, and the "
        'bound does not grow with the data: `neighbors = "free-lunch"` in a policy makes '
        "`adomnia plan` say how little an answer is worth.",
        f"counts up to {FAR:,}: exact values; {draws:,} responses a point",
        [Table(("k", "ε", "e^ε/(k-1+e^ε)", "Laplace mechanism", "randomized response"), rows)],
        [draw(plot)],
    )


def _lunch(k: int, epsilon: Fraction, draws: int) -> tuple[float, float, Share]:
    """The bound, the Laplace mechanism for any two tables, and randomized response over k."""
    counts = [FAR * i // (k - 1) for i in range(k)]
    told = discriminant(counts, Noise("laplace", FAR / epsilon)).success.high
    return free_lunch_bound(k, float(epsilon)), told, answered(k, epsilon, draws)


def _compared(k: int, rows: list[tuple[float, float, float, Share]]) -> list[Series]:
    places, bounds, told, seen = zip(*rows, strict=True)
    margins = [1.96 * one.se for one in seen]
    return [
        Series(f"bound, k = {k}", places, bounds, paper=True),
        Series(f"response, k = {k}", places, [one.value for one in seen], margins, dots=True),
        Series(f"Laplace, k = {k}", places, told),
    ]


def answered(k: int, epsilon: Fraction, draws: int) -> Share:
    """How often randomized response names the table: as often for each, by its symmetry."""
    truth = np.arange(draws) % k
    return share(int((respond(truth, Response(epsilon, k)) == truth).sum()), draws)


def independent(scale: Scale) -> Found:
    """With independent records the same count tells next to nothing of Bob."""
    epsilon, sizes = Fraction(1, 10), (100, 1_000, 10_000)
    rows = [(n, *_bob(n, Noise("laplace", 1 / epsilon))) for n in sizes]
    told = [row[1] for row in rows]
    promise = 1 / (1 + math.exp(-epsilon))
    return Found(
        f"right in {told[-1]:.2%} of cases, against 50 % by guessing",
        max(told) <= promise and told == sorted(told, reverse=True) and told[-1] < 0.51,
        "If records are independent, what the others do hides Bob: even the exact count is right "
        f"in but {rows[-1][2]:.2%} of cases at n = {sizes[-1]:,}, and less the more people there "
        "are. Whatever the others do, the promise bounds the odds by e^ε, so the attacker is right "
        f"in at most {promise:.2%}.",
        f"n others, each ill with probability one half, and Bob; ε = {epsilon}; computed, not "
        "drawn: every count within six standard deviations",
        [Table(("n", "right, noisy count", "right, exact count", "bound"),
               [(*row, promise) for row in rows])],
    )  # fmt: skip


def _bob(n: int, noise: Noise) -> tuple[float, float]:
    """How often the best guess of Bob's bit is right: by a noisy count, and by the exact one."""
    reach = math.ceil(3 * math.sqrt(n))
    others = np.arange(max(0, n // 2 - reach), min(n, n // 2 + reach) + 1)
    law = stats.binom.pmf(others, n, 0.5)
    law /= law.sum()
    counts, secrets = [*others.tolist(), *(others + 1).tolist()], np.repeat((0, 1), others.size)
    noisy = game(counts, noise, secrets.tolist(), (np.tile(law, 2) / 2).tolist()).success.value
    return noisy, float(np.maximum(np.append(law, 0), np.insert(law, 0, 0)).sum() / 2)


DISCRIMINANTS = (
    Claim("000", "Proposition 2.1",
          "The discriminant of the Laplace mechanism is 1 for unbounded differential privacy, and "
          "comes arbitrarily close to 1 for bounded as the data grows.",
          "1", laplace, seconds=(1, 1)),
    Claim("000", "Proposition 2.1, its proof",
          "If n is so large that P(X > 2n/3k) < δ, then each answer lies in its interval S_i, n/3k "
          "to either side of in/k, with probability above 1 - δ.",
          "> 1 - δ", proof, DIFFERS, (0.2, 3)),
    Claim("000", "Theorem 2.1 and the cancer patients",
          "No free lunch: where answers are useful, there is a distribution over data under which "
          "they tell a secret. Bob's attribute j comes with j × 10,000 patients; noise of "
          "variance 200 hides nothing.",
          "the attacker wins with probability close to 1", cancer, seconds=(2, 30)),
    Claim("000", "Section 2.1.3, independence",
          "If records are generated independently, the attacker cannot guess Bob's attribute from "
          "the number of patients.",
          "no better than chance", independent, seconds=(1, 1)),
    Claim("000", "Definition 2.3",
          "The discriminant of any ε-free-lunch private algorithm is at most e^ε/(k - 1 + e^ε).",
          "e^ε/(k - 1 + e^ε)", free_lunch, seconds=(1, 10)),
)  # fmt: skip
