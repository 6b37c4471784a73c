"""Section 2.1: the discriminant, the non-privacy game, and free-lunch privacy."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from adomnia.audit.discriminant import discriminant, free_lunch_bound, game
from adomnia.mechanisms.margin import Noise
from experiments.claim import Claim, Found, Scale, Table
from experiments.drawing import Line, Plot, draw
from experiments.front import Front
from experiments.measured import Measured, share

__all__ = ["DISCRIMINANTS"]

DENSITY = "ε/2 e^(-|x|/ε)"


def laplace(scale: Scale) -> Found:
    """ω of the Laplace mechanism as the counts move apart, unbounded and bounded."""
    ks, sizes = (2, 5, 20), [2**power for power in range(3, 15)]
    lines, rows, last = [], [], []
    for k in ks:
        for name, noise in (("unbounded", 1), ("bounded", 2)):
            found = []
            for n in sizes:
                counts = [n * i // k for i in range(1, k + 1)]
                found.append(discriminant(counts, Noise("laplace", Fraction(noise))).success.value)
            last.append(found[-1])
            rows.append((k, name, *(round(found[i], 4) for i in (0, 5, len(sizes) - 1))))
            if name == "bounded":
                lines.append(Line(f"k = {k}", sizes, found))
    plot = Plot("ω(k, A) of the Laplace mechanism, ε = 1, bounded", "rows n", "discriminant",
                lines, log_across=True, ends_up=(0, 1))  # fmt: skip
    return Found(
        f"at least {min(last):.6f} at n = {sizes[-1]:,}",
        min(last) > 1 - 1e-6,
        "Counts that lie far enough apart are told apart for sure; without a bound on n the "
        f"limit is 1. The density is printed as {DENSITY}: the scale stands the wrong way round, "
        "and is 1/ε here.",
        "exact values for integer noise; databases with in/k cases as in the proof",
        [Table(("k", "neighbours", f"n = {sizes[0]}", f"n = {sizes[5]}", f"n = {sizes[-1]:,}"),
               rows)],
        [draw(plot)],
    )  # fmt: skip


def cancer(scale: Scale) -> Found:
    """The example: Bob's secret j comes with j times 10,000 cancer patients."""
    rounds, k = scale.pick(60, 2000), 5
    chance, won, squares = scale.chance(0, 1), 0, []
    for _ in range(rounds):
        secret = int(chance.integers(1, k + 1))
        ill = np.zeros(60_000, np.int64)
        ill[: 10_000 * secret] = 1
        with Front({"ill": ill}, {"ill": 2}) as front, front.open() as database:
            answer = database.session().ask("SELECT COUNT(*) FROM people WHERE ill = 1", "1/10")
        seen = answer.rows[0][0]
        won += round(seen / 10_000) == secret
        squares.append((seen - 10_000 * secret) ** 2)
    rate, variance = share(won, rounds), float(np.mean(squares))
    exact = game([10_000 * j for j in range(1, k + 1)], Noise("laplace", Fraction(10)))
    return Found(
        f"the attacker is right in {rate.value:.1%} of {rounds} rounds "
        f"(exactly {exact.success.value:.6f}); without the answer in {1 / k:.0%}",
        rate.value > 0.99 and exact.success.value > 1 - 1e-12,
        "The theorem's game, played through the front door: a distribution over databases in "
        f"which one noisy count tells the secret. The noise had variance {variance:.0f} (200 is "
        "printed), against counts 10,000 apart. The promise to Bob's row is kept all the same: "
        "it was the data that told.",
        "ε = 0.1, five possible secrets, as likely; a new table and ledger in each round",
    )


def free_lunch(scale: Scale) -> Found:
    """No free-lunch private algorithm tells tables apart better than the bound; one reaches it."""
    rows, ok, lines = [], True, []
    for k in (2, 5, 20):
        ks, bounds = [], []
        for epsilon in (0.1, 0.5, 1.0, 2.0, 4.0):
            bound = free_lunch_bound(k, epsilon)
            reached = math.exp(epsilon) / (k - 1 + math.exp(epsilon))  # randomized response on k
            most = 1000
            noise = Noise("laplace", Fraction(most) / Fraction(str(epsilon)))
            counts = [most * i // (k - 1) for i in range(k)]
            laplace_mechanism = discriminant(counts, noise).success.high
            ok &= laplace_mechanism <= bound + 1e-9 and abs(reached - bound) < 1e-12
            rows.append((k, epsilon, bound, laplace_mechanism))
            ks.append(epsilon)
            bounds.append(bound)
        lines.append(Line(f"bound, k = {k}", ks, bounds, paper=True))
        lines.append(Line(f"Laplace, k = {k}", ks, [r[3] for r in rows if r[0] == k]))
    plot = Plot("Free-lunch privacy: ω against ε", "ε", "discriminant", lines, ends_up=(0, 1))
    return Found(
        "the Laplace mechanism stays below the bound; randomized response reaches it",
        ok,
        "With any two tables as neighbours the noise is as wide as the largest answer, and the "
        'bound does not grow with the data: `neighbors = "free-lunch"` in a policy says in '
        "`adomnia plan` how little an answer is worth.",
        "counts up to 1,000; exact values",
        [Table(("k", "ε", "e^ε/(k-1+e^ε)", "Laplace mechanism"), rows)],
        [draw(plot)],
    )


def independent(scale: Scale) -> Found:
    """With independent records the same count tells next to nothing of Bob."""
    epsilon, n = 0.1, 10_000
    weights = np.full(2, 0.5)
    counts, chances, secrets = [], [], []
    spread = math.sqrt(n) / 2
    for secret in (0, 1):
        others = np.arange(int(n / 2 - 6 * spread), int(n / 2 + 6 * spread), 25)
        law = np.exp(-((others - n / 2) ** 2) / (2 * spread**2))
        law /= law.sum()
        counts += [int(other) + secret for other in others]
        chances += (weights[secret] * law).tolist()
        secrets += [secret] * len(others)
    won = game(counts, Noise("laplace", Fraction(1) / Fraction(str(epsilon))), secrets, chances)
    found = Measured(won.success.value)
    return Found(
        f"right in {found.value:.2%} of cases, against 50 % by guessing",
        found.value < 0.5 * math.exp(epsilon) and found.value < 0.53,
        "If records are independent, the count cannot tell Bob's value: the promise bounds the "
        f"odds by e^ε, so at most {math.exp(epsilon) / (1 + math.exp(epsilon)):.2%}.",
        f"{n:,} people, each ill with probability one half, ε = {epsilon}; computed, not drawn",
    )


DISCRIMINANTS = (
    Claim("000", "Proposition 2.1",
          "The discriminant of the Laplace mechanism is 1 for unbounded differential privacy, and "
          "comes arbitrarily close to 1 for bounded as the data grows.",
          "1", laplace, seconds=(1, 1)),
    Claim("000", "Theorem 2.1 and the cancer patients",
          "No free lunch: where answers are useful, there is a distribution over data under which "
          "they tell a secret. Bob's attribute j comes with j × 10,000 patients; noise of "
          "variance 200 hides nothing.",
          "the attacker wins with probability close to 1", cancer, seconds=(8, 200)),
    Claim("000", "Section 2.1.3, independence",
          "If records are generated independently, the attacker cannot guess Bob's attribute from "
          "the number of patients.",
          "no better than chance", independent, seconds=(1, 1)),
    Claim("000", "Definition 2.3",
          "The discriminant of any ε-free-lunch private algorithm is at most e^ε/(k - 1 + e^ε).",
          "e^ε/(k - 1 + e^ε)", free_lunch, seconds=(1, 1)),
)  # fmt: skip
