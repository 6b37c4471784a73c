"""Section 5: noise where one attribute is sensitive, how much of it, and against whom."""

from __future__ import annotations

import math

from adomnia.marginals.paper.bits import walsh_hadamard
from adomnia.marginals.workload import downward_closure
from experiments.claim import DIFFERS, Claim, Found, Scale, Table
from experiments.measured import Measured, Share, combined, mean, share
from experiments.paper_003.tables import Rows, Subset, all_ways, front, made_up, noises, releases

__all__ = ["SENSITIVE"]

K, SECRET = 6, 0
EVERY = all_ways(K, 3)
WITH = [part for part in EVERY if SECRET in part]
WATCHED: Subset = (1, 2, 3)
"""A coefficient that the scheme leaves exact."""


def one_sensitive(scale: Scale) -> Found:
    """The number of noisy coefficients, their noise, and who tells whether a row is there."""
    counts, right = _counts()
    runs = scale.pick(45, 400)
    rows = made_up((2,) * K, 500, scale.chance(3, 7))
    worlds = [Rows(rows), Rows(rows[1:])]
    schemes = {"noise on all": EVERY, "one sensitive": WITH}
    sizes, guesses = {}, {}
    for name, marginals in schemes.items():
        found = [_scheme(world, marginals, runs) for world in worlds]
        sizes[name] = _size(found, worlds, marginals)
        guesses[name] = _guessed(found, worlds)
    all_of_it, printed = len(downward_closure(EVERY)), printed_number(K)
    # The ratio of two means of exponential variables: by its logarithm.
    saved = combined([1, -1], [sizes["one sensitive"].log(), sizes["noise on all"].log()])
    less = saved.near(math.log(printed / all_of_it))
    bound = math.e / (1 + math.e)
    private = not guesses["one sensitive"].above(bound)
    ratio = Measured(math.exp(saved.value), math.exp(saved.value) * saved.se, saved.freedom)
    rows_out = [
        (name, len(downward_closure(marginals)), sizes[name], guesses[name])
        for name, marginals in schemes.items()
    ]
    return Found(
        f"the count is {'as' if right else 'not as'} printed; the noise is {ratio} of the whole "
        f"({printed}/{all_of_it} expected); {guesses['one sensitive']} of guesses tell whether a "
        "row is there",
        right and less and private,
        f"The number of coefficients is {'right' if right else 'wrong'}, and the noise is scaled "
        f"down {'accordingly' if less else 'otherwise'}. But the others are released exactly, and "
        "a row that comes or goes moves them. Under Definition 1 of the same text, at ε = 1, "
        f"whoever knows all other rows may guess right with probability {bound:.3f} at most; "
        + (f"by one exact coefficient it is {guesses['one sensitive']}, and "
           if not private else "no more is measured; ")
        + f"{guesses['noise on all']} with noise on all. The scheme is private where neighbours "
        "differ in the sensitive attribute of one row, and then only the coefficients that "
        "contain it need noise (last column): that is what `sensitive = false` in the policy "
        "means here, and it is refused where rows come and go.",
        f"all 3-way marginals of {K} bits, 499 or 500 made-up rows, ε = 1, {runs} releases of "
        "each; the noisy coefficients through the front door, the others as they are in the rows",
        [Table(("k", "all", "printed", "closure with the sensitive one", "those that contain it"),
               counts, "Coefficients"),
         Table(("scheme", "noisy coefficients", "mean size of their noise", "right guesses"),
               rows_out, f"k = {K}")],
    )  # fmt: skip


def printed_number(k: int) -> int:
    """How many coefficients need noise, by the text."""
    return math.comb(k - 1, 2) + math.comb(k, 2) + k + 1


def _counts() -> tuple[list[tuple[int, ...]], bool]:
    """The number of coefficients for several k, and whether it is the printed one."""
    rows, right = [], True
    for k in (4, 6, 10, 16):
        every = downward_closure(all_ways(k, 3))
        closure = downward_closure(part for part in all_ways(k, 3) if SECRET in part)
        right &= len(closure) == printed_number(k)
        inside = sum(SECRET in part for part in every)
        rows.append((k, len(every), printed_number(k), len(closure), inside))
    return rows, right


def _scheme(rows: Rows, noisy: list[Subset], runs: int) -> list[dict[Subset, float]]:
    """All coefficients, as often: noisy in the closure of these marginals, else exact."""
    exact = {part: _exact(rows, part) for part in downward_closure(EVERY)}
    with front(rows) as behind, behind.open() as database:
        found = releases(database, noisy, runs, epsilon=1, method="fourier")
    return [
        exact | {part: exact[part] + off for part, off in noises(tables, rows).items()}
        for tables in found
    ]


def _exact(rows: Rows, part: Subset) -> float:
    """The coefficient of these bits, in units of 2^(-k/2)."""
    return float(walsh_hadamard(rows.exact(part).ravel())[-1]) if part else float(len(rows.rows))


def _size(
    found: list[list[dict[Subset, float]]], worlds: list[Rows], noisy: list[Subset]
) -> Measured:
    """The mean size of the noise on the coefficients that have some."""
    closure = downward_closure(noisy)
    return mean(
        [
            abs(one[part] - _exact(rows, part))
            for many, rows in zip(found, worlds, strict=True)
            for one in many
            for part in closure
        ]
    )


def _guessed(found: list[list[dict[Subset, float]]], worlds: list[Rows]) -> Share:
    """How often the nearer world is the true one, by the coefficient that is watched."""
    here, gone = (_exact(rows, WATCHED) for rows in worlds)
    middle, up = (here + gone) / 2, math.copysign(1, here - gone)
    right = sum((one[WATCHED] - middle) * up > 0 for one in found[0])
    right += sum((one[WATCHED] - middle) * up < 0 for one in found[1])
    return share(right, sum(map(len, found)))


SENSITIVE = (
    Claim("003", "Section 5, one sensitive attribute",
          "If one attribute is sensitive, noise is needed on C(k-1,2) + C(k,2) + k + 1 "
          "coefficients only, and may be scaled down accordingly.",
          "C(k-1,2) + C(k,2) + k + 1", one_sensitive, DIFFERS, (5, 40)),
)  # fmt: skip
