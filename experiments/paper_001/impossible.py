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
from experiments.measured import combined, mean, share

__all__ = ["IMPOSSIBLE"]

CELLS, BITS, PARITY, WIDTH, PEOPLE = 64, 8, 32, 40, 100_000
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Worlds:
    """Databases: a histogram each that nobody knew, and somebody's secret of eight bits."""

    counts: Ints
    secrets: Ints


def draw_worlds(many: int, chance: np.random.Generator) -> Worlds:
    """How databases come about: towns of very different make-up."""
    shares = chance.dirichlet(np.full(CELLS, 1.0), many)
    return Worlds(chance.multinomial(PEOPLE, shares), chance.integers(1 << BITS, size=many))


def symbols(counts: Ints) -> bytes:
    """The utility vector as one byte a cell: counts in steps wider than the noise."""
    return bytes(int(value) & 255 for value in np.maximum(counts, 0) // WIDTH)


def extract(seed: Ints, source: bytes) -> int:
    """A strong extractor: universal hashing by a random matrix (the leftover hash lemma)."""
    bits = np.unpackbits(np.frombuffer(source, np.uint8)).astype(np.int64)
    return int(((seed @ bits) % 2) @ (1 << np.arange(BITS)))


# Two ways to make a pad: from what is told exactly, and from what is told nearly. Who cannot make
# it again is left with a guess.


def plain_pad(told: Ints, chance: np.random.Generator) -> tuple[object, int]:
    """A seed and its pad, where the sanitizer tells the same to everybody."""
    seed = chance.integers(0, 2, (BITS, 8 * CELLS))
    return seed, extract(seed, symbols(told))


def plain_again(public: object, told: Ints, chance: np.random.Generator) -> int:
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


def fuzzy_again(public: object, told: Ints, chance: np.random.Generator) -> int:
    """Rec: the nearest code word takes the difference of the two readings away."""
    assert isinstance(public, tuple)
    sketch, seed = public
    near = bytes(a ^ b for a, b in zip(sketch, symbols(told), strict=True))
    try:
        _, word, _ = RSCodec(PARITY).decode(near)
    except ReedSolomonError:
        return int(chance.integers(1 << BITS))
    return extract(seed, bytes(a ^ b for a, b in zip(sketch, word, strict=True)))


# Sanitizers: what each tells about histograms, a row each, every time it is asked


def exact_histogram(counts: Ints) -> Ints:
    return counts


def k_anonymous(counts: Ints) -> Ints:
    """Classes of four neighbouring cells; those of fewer than 50 people are left out."""
    classes = counts.reshape(len(counts), -1, 4).sum(axis=2)
    return np.repeat(np.where(classes < 50, 0, classes // 4), 4, axis=1)


def noisy(epsilon: str) -> Callable[[Ints], Ints]:
    """Private histograms through the front door: new noise whenever they are asked for."""

    def tell(counts: Ints) -> Ints:
        places = np.repeat(np.arange(counts.size, dtype=np.int32), counts.ravel())
        columns = {"world": places // CELLS, "cell": places % CELLS}
        sql = "SELECT world, cell, COUNT(*) AS n FROM people GROUP BY world, cell ORDER BY 1, 2"
        sizes = {"world": len(counts), "cell": CELLS}
        with Front(columns, sizes) as front, front.open() as database:
            rows = database.session().ask(sql, epsilon).rows
        return np.array([row[-1] for row in rows]).reshape(counts.shape)

    return tell


SANITIZERS = {
    "exact histogram": (exact_histogram, plain_pad, plain_again),
    "k-anonymised table": (k_anonymous, plain_pad, plain_again),
    "private histogram, ε = 1": (noisy("1"), fuzzy_pad, fuzzy_again),
    "private histogram, ε = 1/2": (noisy("1/2"), fuzzy_pad, fuzzy_again),
    "private histogram, ε = 1/100": (noisy("1/100"), fuzzy_pad, fuzzy_again),
}
USELESS = "private histogram, ε = 1/100"


def game(scale: Scale) -> Found:
    """Who gets the secret, with the sanitized data and without."""
    chance, rows = scale.chance(1, 1), []
    for name in SANITIZERS:
        batch, batches = (50, scale.pick(1, 20)) if "private" in name else (400, scale.pick(1, 12))
        had = np.sum([_round(name, batch, chance) for _ in range(batches)], axis=0)
        adversary, simulator = (share(int(won), batch * batches) for won in had)
        rows.append((name, adversary, simulator, combined([1, -1], [adversary, simulator])))
    # Few runs tell little: that the adversary mostly wins is sure, and how nearly always is seen.
    wins = all(adversary.above(0.5) for name, adversary, _, _ in rows if name != USELESS)
    broken, guess = rows[-1][1].below(0.5), 1 / (1 << BITS)
    blind = all(simulator.near(guess) for _, _, simulator, _ in rows)
    return Found(
        "gap Δ: " + ", ".join(f"{name} {gap}" for name, _, _, gap in rows),
        wins and blind and broken,
        f"Whatever a useful sanitizer tells {'can' if wins else 'cannot always'} be made into the "
        "key of somebody's secret, also of somebody who is not in the data: absolute privacy "
        "cannot be had. The private histogram is no exception, and is not meant to be: its promise "
        "is that one's row hardly changes anything. The simulator, who draws a database of his own "
        "and has it sanitized, "
        f"{'does no better than' if blind else 'does not do as'} a guess. Where the noise passes "
        f"the reconstruction radius (the last line) the key {'breaks' if broken else 'holds'}"
        f"{', and the utility with it' if broken else ' all the same'}.",
        f"{CELLS} cells of {PEOPLE:,} people, a secret of {BITS} bits (a guess is right in "
        f"{guess:.4f}); Reed-Solomon code with {PARITY} check symbols, counts in steps "
        f"of {WIDTH}; universal hashing; private histograms of {batch} worlds are asked for at "
        "once, each row being in one of them",
        [Table(("sanitizer", "adversary wins", "simulator wins", "gap Δ"), rows)],
    )


def _round(name: str, worlds: int, chance: np.random.Generator) -> tuple[int, int]:
    """How often the adversary, and how often the simulator, has the secret of so many worlds."""
    tell, make, again = SANITIZERS[name]
    true, other = (draw_worlds(worlds, chance) for _ in range(2))
    first, second = tell(true.counts), tell(true.counts)
    # The simulator knows how databases come about, and the auxiliary information.
    drawn, won, guessed = tell(other.counts), 0, 0
    for i, secret in enumerate(true.secrets.tolist()):
        public, pad = make(first[i], chance)
        hidden = secret ^ pad
        won += again(public, second[i], chance) ^ hidden == secret
        guessed += again(public, drawn[i], chance) ^ hidden == secret
    return won, guessed


def terry_gross(scale: Scale) -> Found:
    """Two inches below the average: what the database adds to that piece of gossip."""
    worlds, women, chance = scale.pick(200, 2000), 5000, scale.chance(1, 2)
    averages = chance.normal(66, 2, worlds)  # what nobody can learn but from the data
    heights = np.clip(chance.normal(averages[:, None], 2.5, (worlds, women)), 40, 90).round()
    columns = {
        "world": np.repeat(np.arange(worlds), women),
        "height": heights.astype(np.int64).ravel() - 40,
    }
    sql = "SELECT world, AVG(height) AS h FROM people GROUP BY world ORDER BY world"
    with Front(columns, {"world": worlds, "height": 51}) as front, front.open() as database:
        told = np.array([h for _, h in database.session().ask(sql, Fraction(1, 2)).rows]) + 40
    # Her height is two inches below the average, and so is what is said of it.
    near, far = mean(np.abs(told - averages)), mean(np.abs(66 - averages))
    return Found(
        f"off by {near} inches with the database, by {far} without",
        combined([1, -1 / 5], [near, far]).below(0),
        "Her height is learned whether or not she is in the data, and the average is private all "
        "the same: it is what statistics are for.",
        f"{women:,} women, ε = 1/2, {worlds} worlds, all asked for at once; Terry Gross is in none "
        "of them; it agrees if the error is surely less than a fifth of what it is without",
    )


IMPOSSIBLE = (
    Claim("001", "Theorem 1, impossibility",
          "For any useful sanitizer there is auxiliary information with which its output breaches "
          "privacy, and without its output does not: extracted bits of the utility vector pad the "
          "secret (with a fuzzy extractor where the vector is told only nearly).",
          "a gap Δ close to 1", game, seconds=(6, 120)),
    Claim("001", "Section 1, Terry Gross's height",
          "'Terry Gross is two inches shorter than the average Lithuanian woman' tells her height "
          "to whoever has the database.",
          "no number", terry_gross, seconds=(1, 10)),
)  # fmt: skip
