"""Made-up numbers against true ones: the distance of two laws, step by step."""

from __future__ import annotations

import numpy as np
import pytest

from adomnia.review.microdata.numbers_comparison import compare_numbers
from adomnia.testing import World, number


@pytest.mark.parametrize("seed", range(4))
def test_the_distance_is_that_of_both_laws_at_every_value(seed):
    chance = np.random.default_rng(seed)
    values = (20 * chance.beta(2, 5, 300)).round().astype(int)
    with World({"x": values}, {"x": number(-2, 25)}).open() as database:
        bins = {"x": 4} if seed % 2 else {"x": [3, 4, 12]}
        made = database.release(database.plan_release(ways=1, epsilon=20, bins=bins))
        (found,) = compare_numbers(database, made)
    (bands,) = made.plan.bands
    law = np.zeros(28)
    for count, part in zip(made.tables[0,].tolist(), bands.parts, strict=True):
        weight = sum(one.weight for one in part)
        for one in part:
            law[one.low + 2 : one.high + 3] += count * float(one.weight / weight) / one.steps
    true = np.cumsum(np.bincount(values + 2, minlength=28)) / len(values)
    drawn = np.cumsum(law) / law.sum()
    assert found.distance == pytest.approx(np.abs(true - drawn).max())
    for share, exact, guess in found.quantiles:
        assert exact == np.searchsorted(true, share - 1e-12) - 2
        assert guess == pytest.approx(np.searchsorted(drawn, share - 1e-9) - 2)


def test_of_no_rows_there_are_no_quantiles():
    columns = {"x": np.zeros(0, int)}
    with World(columns, {"x": number(0, 9)}).open() as database:
        made = database.release(database.plan_release(ways=1, epsilon=100, bins={"x": [5]}))
        (found,) = compare_numbers(database, made)
    assert found.quantiles == ()


def test_decimals_are_told_in_their_unit():
    with World({"x": [0.25, 0.5, 0.5]}, {"x": number(0, 1, 0.25)}).open() as database:
        made = database.release(database.plan_release(ways=1, epsilon=500, bins={"x": ["0.5"]}))
        (found,) = compare_numbers(database, made)
    middle = {share: true for share, true, _ in found.quantiles}
    assert middle[0.5] == 0.5
    assert middle[0.3] == 0.25
