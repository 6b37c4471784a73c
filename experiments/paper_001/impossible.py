"""Section 3: the impossibility theorem, played; and Terry Gross's height, its small case.

The auxiliary information generator hides a secret y by a pad that it extracts from what the
sanitizer will tell. Who sees the sanitized data gets the pad and the secret; who sees the auxiliary
information alone has random bits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from reedsolo import ReedSolomonError, RSCodec

from experiments.claim import Claim, Found, Scale, Table
from experiments.front import Front
from experiments.measured import mean, share

__all__ = ["IMPOSSIBLE"]

CELLS, BITS, PARITY, WIDTH = 64, 8, 32, 40
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class World:
    """One database: a histogram that nobody knew, and somebody's secret of eight bits."""

    counts: Ints
    secret: int


def draw_world(chance: np.random.Generator) -> World:
    """How databases come about: towns of very different make-up."""
    shares = chance.dirichlet(np.full(CELLS, 1.0))
    return World(chance.multinomial(100_000, shares), int(chance.integers(1 << BITS)))


def symbols(counts: Ints) -> bytes:
    """The utility vector as one byte a cell: counts in steps wider than the noise."""
    return bytes(int(value) & 255 for value in np.maximum(counts, 0) // WIDTH)


def extract(seed: Ints, source: bytes) -> int:
    """A strong extractor: universal hashing by a random matrix (the leftover hash lemma)."""
    bits = np.unpackbits(np.frombuffer(source, np.uint8)).astype(np.int64)
    return int(((seed @ bits) % 2) @ (1 << np.arange(BITS)))


# Two ways to make a pad: from what is told exactly, and from what is told nearly.


def plain_pad(told: Ints, chance: np.random.Generator) -> tuple[object, int]:
    """A seed and its pad, where the sanitizer tells the same to everybody."""
    seed = chance.integers(0, 2, (BITS, 8 * CELLS))
    return seed, extract(seed, symbols(told))


def plain_again(public: object, told: Ints) -> int:
    assert isinstance(public, np.ndarray)
    return extract(public, symbols(told))


def fuzzy_pad(told: Ints, chance: np.random.Generator) -> tuple[object, int]:
    """Gen of a fuzzy extractor: the code-offset sketch of a Reed-Solomon code, and a hash."""
    word = bytes(
        RSCodec(PARITY).encode(chance.integers(0, 256, CELLS - PARITY, np.uint8).tobytes())
    )
    source = symbols(told)
    sketch = bytes(a ^ b for a, b in zip(word, source, strict=True))
    seed = chance.integers(0, 2, (BITS, 8 * CELLS))
    return (sketch, seed), extract(seed, source)


def fuzzy_again(public: object, told: Ints) -> int:
    """Rec: the nearest code word takes the difference of the two readings away."""
    assert isinstance(public, tuple)
    sketch, seed = public
    near = bytes(a ^ b for a, b in zip(sketch, symbols(told), strict=True))
    try:
        _, word, _ = RSCodec(PARITY).decode(near)
    except ReedSolomonError:
        return -1
    return extract(seed, bytes(a ^ b for a, b in zip(sketch, word, strict=True)))


# Sanitizers: what each tells about a histogram, every time it is asked


def exact_histogram(counts: Ints, chance: np.random.Generator) -> Ints:
    return counts


def k_anonymous(counts: Ints, chance: np.random.Generator) -> Ints:
    """Classes of four neighbouring cells; those of fewer than 50 people are left out."""
    classes = counts.reshape(-1, 4).sum(axis=1)
    return np.repeat(np.where(classes < 50, 0, classes // 4), 4)


def noisy(epsilon: str) -> Callable[[Ints, np.random.Generator], Ints]:
    """A private histogram through the front door: new noise whenever it is asked."""

    def tell(counts: Ints, chance: np.random.Generator) -> Ints:
        rows = np.repeat(np.arange(CELLS), counts)
        with Front({"cell": rows}, {"cell": CELLS}) as front, front.open() as database:
            sql = "SELECT cell, COUNT(*) AS n FROM people GROUP BY cell ORDER BY cell"
            return np.array([n for _, n in database.session().ask(sql, epsilon).rows])

    return tell


SANITIZERS = {
    "exact histogram": (exact_histogram, plain_pad, plain_again),
    "k-anonymised table": (k_anonymous, plain_pad, plain_again),
    "private histogram, ε = 1": (noisy("1"), fuzzy_pad, fuzzy_again),
    "private histogram, ε = 1/2": (noisy("1/2"), fuzzy_pad, fuzzy_again),
    "private histogram, ε = 1/100": (noisy("1/100"), fuzzy_pad, fuzzy_again),
}


def game(scale: Scale) -> Found:
    """Who gets the secret, with the sanitized data and without."""
    chance, rows, gaps = scale.chance(1, 1), [], {}
    for name, (tell, make, again) in SANITIZERS.items():
        rounds = scale.pick(12, 1000) if "private" in name else scale.pick(400, 5000)
        won = guessed = 0
        for _ in range(rounds):
            world = draw_world(chance)
            public, pad = make(tell(world.counts, chance), chance)
            hidden = world.secret ^ pad
            won += again(public, tell(world.counts, chance)) ^ hidden == world.secret
            # The simulator knows how databases come about, and the auxiliary information.
            guessed += again(public, draw_world(chance).counts) ^ hidden == world.secret
        adversary, simulator = share(won, rounds), share(guessed, rounds)
        gaps[name] = adversary.value - simulator.value
        rows.append((name, adversary, simulator, gaps[name]))
    useful = [gaps[name] for name in list(gaps)[:4]]
    return Found(
        "gap Δ: " + ", ".join(f"{name} {gap:.2f}" for name, gap in gaps.items()),
        min(useful) > 0.8 and gaps["private histogram, ε = 1/100"] < 0.5,
        "Whatever a useful sanitizer tells can be made into the key of somebody's secret, also of "
        "somebody who is not in the data: absolute privacy cannot be had. The private histogram is "
        "no exception, and is not meant to be: its promise is that one's row hardly changes "
        "anything. Only where the noise passes the reconstruction radius (the last line) does the "
        "key break, and the utility with it.",
        f"{CELLS} cells of 100,000 people, a secret of {BITS} bits (guessing: "
        f"{1 / (1 << BITS):.3f}); Reed-Solomon code with {PARITY} check symbols, counts in steps "
        f"of {WIDTH}; universal hashing",
        [Table(("sanitizer", "adversary wins", "simulator wins", "gap Δ"), rows)],
    )


def terry_gross(scale: Scale) -> Found:
    """Two inches below the average: what the database adds to that piece of gossip."""
    runs, chance = scale.pick(30, 500), scale.chance(1, 2)
    with_data, without = [], []
    for _ in range(runs):
        average = chance.normal(66, 2)  # what nobody can learn but from the data
        heights = np.clip(chance.normal(average, 2.5, 5000), 40, 90).round().astype(np.int64)
        with Front({"height": heights - 40}, {"height": 51}) as front, front.open() as database:
            told = database.session().ask("SELECT AVG(height) AS h FROM people", Fraction(1, 2))
        with_data.append(abs(told.rows[0][0] + 40 - 2 - (average - 2)))
        without.append(abs(66 - 2 - (average - 2)))
    near, far = mean(with_data), mean(without)
    return Found(
        f"off by {near} inches with the database, by {far} without",
        near.value < far.value / 5,
        "Her height is learned whether or not she is in the data, and the average is private all "
        "the same: it is what statistics are for.",
        f"5,000 women, ε = 1/2, {runs} worlds; Terry Gross is in none of them",
    )


IMPOSSIBLE = (
    Claim("001", "Theorem 1, impossibility",
          "For any useful sanitizer there is auxiliary information with which its output breaches "
          "privacy, and without its output does not: extracted bits of the utility vector pad the "
          "secret (with a fuzzy extractor where the vector is told only nearly).",
          "a gap Δ close to 1", game, seconds=(20, 400)),
    Claim("001", "Section 1, Terry Gross's height",
          "'Terry Gross is two inches shorter than the average Lithuanian woman' tells her height "
          "to whoever has the database.",
          "no number", terry_gross, seconds=(5, 80)),
)  # fmt: skip
