"""The adversary's own laws, against enumeration; and its own tools, on cases known by hand."""

from __future__ import annotations

import ast
import itertools
import math
import random
import tomllib
from fractions import Fraction
from pathlib import Path

import pytest

from tests.adversary import laws
from tests.adversary.faults import FAULTS, Verdict
from tests.adversary.judge import compare, ratio
from tests.adversary.planting import planted
from tests.adversary.priors import Public, induced
from tests.adversary.seams import Note


def test_nothing_that_is_judged_is_imported() -> None:
    for file in Path(__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            inside = [name for name in names if name.startswith("adomnia.")]
            assert not inside or file.name == "seams.py", f"{file.name} imports {inside}"


@pytest.mark.parametrize(
    ("gaps", "rate"), [([0, 1, 3], 0.7), ([0, 0, 2, 5, 5], 0.3), ([0] + [4] * 9, 1.1)]
)
def test_permute_and_flip_is_what_all_heads_and_tails_say(gaps: list[int], rate: float) -> None:
    odds = [math.exp(-rate * gap) for gap in gaps]
    expected = [0.0] * len(gaps)
    for heads in itertools.product((False, True), repeat=len(gaps)):
        chance = math.prod(q if head else 1 - q for q, head in zip(odds, heads, strict=True))
        for place in range(len(gaps)):
            expected[place] += chance / sum(heads) if heads[place] else 0.0
    found = [math.exp(log) for log in laws._flipped(gaps, rate)]
    assert found == pytest.approx(expected, rel=1e-12)


def test_the_largest_is_what_all_noises_say() -> None:
    scores, q = [3, 5, 4], math.exp(-0.5)
    expected = [0.0] * 3
    for noise in itertools.product(range(50), repeat=3):
        noisy = [s + g for s, g in zip(scores, noise, strict=True)]
        best = [i for i in range(3) if noisy[i] == max(noisy)]
        for place in best:
            expected[place] += (1 - q) ** 3 * q ** sum(noise) / len(best)
    found = [math.exp(log) for log in laws._largest(scores, 2.0)]
    assert found == pytest.approx(expected, rel=1e-8)


def test_laws_add_up_to_one() -> None:
    patterns = laws._verdicts(3, 1)
    told = laws._sparse([2, 5, 1], 3, (2.0, 4.0), patterns)
    stopped = laws.stops([9, 4, 2, 2, 0], 3, (2.0, 8.0))
    assert math.fsum(map(math.exp, stopped)) == pytest.approx(1, abs=1e-12)
    starts, logs = laws._rungs(5, [1, 2, 2], 50, 0.3)
    sizes = [b - a for a, b in itertools.pairwise([*starts, 51])]
    smooth = laws.smooth("waring", (0, 20), (5, Fraction(5, 2)), (6, Fraction(3)))
    assert sum(map(math.exp, told)) == pytest.approx(1)
    rungs = zip(sizes, logs, strict=True)
    assert sum(size * math.exp(log) for size, log in rungs) == pytest.approx(1)
    assert sum(math.exp(a) for a, _ in smooth) == pytest.approx(1)
    assert sum(math.exp(b) for _, b in smooth) == pytest.approx(1)


def test_a_sum_that_moves_by_more_than_its_noise_covers_is_seen() -> None:
    one, other = ([Note("laplace", Fraction(2), [value, 7])] for value in (10, 13))
    assert ratio(one, other, {"epsilon": Fraction(3, 2)}) == 1
    assert ratio(one, other, {"epsilon": Fraction(1, 2)}) == 3
    assert ratio(one, other, {}) == math.inf


def _found_note(scores: list[int], totals: list[int], kind: str = "laplace") -> Note:
    places = list(range(len(scores)))
    noise = [(kind, Fraction(2 * (place + 1))) for place in places]
    more = {"bar": 2, "totals": [[t] for t in totals], "noise": noise, "places": places}
    return Note("found", [Fraction(3), Fraction(9)], scores, more)


def test_totals_at_a_found_bound_are_judged_in_every_place_with_the_chance_to_stop_there() -> None:
    still = [_found_note([3, 1, 0], totals) for totals in ([5, 7, 7], [4, 5, 4])]
    assert compare([still[0]], [still[1]])[0].epsilon == pytest.approx(0.5)  # 1/2, 2/4, 3/6
    moved = [_found_note(scores, [5, 7, 7]) for scores in ([3, 1, 0], [2, 1, 0])]
    stops = [laws.stops(scores, 2, (3.0, 9.0)) for scores in ([3, 1, 0], [2, 1, 0])]
    alone = max(abs(a - b) for a, b in zip(*stops, strict=True))
    assert compare([moved[0]], [moved[1]])[0].epsilon == pytest.approx(alone)
    assert 0 < alone <= 1 / 3 + 1 / 9
    both = compare([moved[0]], [_found_note([2, 1, 0], [4, 5, 4])])[0].epsilon
    assert both == pytest.approx(alone + 0.5, abs=0.4)
    assert max(alone, 0.5) < both <= alone + 0.5


def test_totals_at_a_found_bound_under_rho_cost_no_more_than_both_parts() -> None:
    one, other = (_found_note(s, t, "gaussian") for s, t in (([3, 1, 0], [5, 7, 7]),
                                                             ([2, 1, 0], [4, 5, 4])))  # fmt: skip
    scanned = compare([_found_note([3, 1, 0], [0] * 3)], [_found_note([2, 1, 0], [0] * 3)])[0]
    found = compare([one], [other])[0]
    assert found.epsilon == math.inf
    assert 0.25 < found.rho <= scanned.epsilon**2 / 2 + 9 / 12 + 1e-9


def test_what_is_never_shown_may_move() -> None:
    one, other = ([Note("laplace", Fraction(2), [1, v], {"hidden": {1}})] for v in (1, 9))
    assert ratio(one, other, {"epsilon": Fraction(1)}) == 0


def test_what_is_released_without_noise_may_not_move() -> None:
    one, other = ([Note("laplace", Fraction(0), [value])] for value in (1, 2))
    assert ratio(one, other, {"epsilon": Fraction(10**9)}) == math.inf
    assert ratio(one, one, {"epsilon": Fraction(1)}) == 0


def test_induced_neighbours_of_two_margins_are_swaps() -> None:
    public = Public((2, 2), ((0,), (1,)), "bounded")
    tables = public.agreeing((1, 1, 1, 1))
    assert sorted(tables) == [(0, 2, 2, 0), (1, 1, 1, 1), (2, 0, 0, 2)]
    assert sorted(induced((0, 2, 2, 0), tables)) == [(1, 1, 1, 1)]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.side}: {fault.name}")
def test_a_fault_finds_what_it_patches_and_leaves_nothing_behind(fault) -> None:
    with planted(fault):
        pass
    with planted(fault) as reached:
        assert reached[0] == 0 or fault.path.endswith("]")


def test_a_fault_inside_must_be_caught_and_one_outside_must_not_show() -> None:
    inside = next(fault for fault in FAULTS if fault.side == "inside")
    outside = next(fault for fault in FAULTS if fault.side == "outside")
    assert Verdict(inside, True, "ratio 2", 5).is_good
    assert not Verdict(inside, True, "", 5).is_good
    assert Verdict(outside, True, "", 5).is_good
    assert not Verdict(outside, True, "ratio 2", 5).is_good
    assert not Verdict(outside, False, "", 5).is_good
    assert not Verdict(outside, True, "", 0).is_good
    assert Verdict(outside, True, "", 0, 5).is_good
    assert not Verdict(inside, True, "ratio 2", 5, without="ratio 2").is_good


def test_there_are_faults_enough_on_both_sides_each_of_its_own_name() -> None:
    for side, least in (("outside", 60), ("inside", 40)):
        names = [fault.name for fault in FAULTS if fault.side == side]
        assert len(names) == len({*names}) >= least


def test_a_fault_lies_where_it_says() -> None:
    listed = tomllib.loads((Path(__file__).parents[2] / "tools/trusted.toml").read_text("utf-8"))
    files = {file for part in listed["part"] for file in part["files"]}
    folders = [folder for part in listed["part"] for folder in part.get("folders", [])]
    for fault in FAULTS:
        file = fault.path.partition(":")[0].replace(".", "/") + ".py"
        inside = file in files or any(file.startswith(f"{folder}/") for folder in folders)
        assert inside == (fault.side == "inside"), f"{fault.name}: {file}"


@pytest.mark.parametrize("grid", [(0, 200), (-50, 400)])
def test_wide_grids_are_judged_as_narrow_ones(grid, monkeypatch):
    """The points that matter, and geometric sums, against every point of the grid."""
    chance = random.Random(3)
    for _ in range(300):
        sides = [(chance.randint(*grid), Fraction(chance.randint(2, 300), 4)) for _ in range(2)]
        epsilon = chance.choice([0.0, 0.1, 0.5, 2.0])
        every = laws.smooth("waring", grid, *sides)
        delta = laws.smooth_excess(grid, *sides, epsilon)
        with monkeypatch.context() as patched:
            patched.setattr(laws, "WIDE", 1)
            few = laws.smooth("waring", grid, *sides)
            wide = laws.smooth_excess(grid, *sides, epsilon)
        far, near = (max(abs(x - y) for x, y in pairs) for pairs in (few, every))
        assert far == pytest.approx(near, abs=1e-9)
        assert wide == pytest.approx(delta, abs=1e-9)
