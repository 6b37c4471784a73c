"""Numbers of a column with a step are written as the decimals that they are, to the last digit."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

from adomnia.testing import World, listed, number

STEP = Fraction(1, 100)
PRICES = [round(0.01 * (i % 997), 2) for i in range(3000)]


@pytest.fixture(scope="module")
def shop():
    columns = {"price": PRICES, "s": np.array(list("abc"))[np.arange(3000) % 3], "who": range(3000)}
    domains = {"price": number(0, "9.99", "0.01"), "s": listed("a", "b", "c")}
    privacy = 'epsilon = 100000\nunit = "who"\nmax_rows = 3'
    with World(columns, domains, privacy).open() as database:
        database.measure_quality(100)
        yield database


def numbers(found):
    """All numbers in JSON, as they are written."""
    if isinstance(found, dict | list | tuple):
        for part in found.values() if isinstance(found, dict) else found:
            yield from numbers(part)
    elif isinstance(found, float | int):
        yield json.dumps(found)


def are_in_steps(texts):
    written = [Fraction(text) for text in texts]
    return bool(written) and all((one / STEP).denominator == 1 for one in written)


SUMS = (
    "SELECT s, SUM(price) AS t FROM people GROUP BY s",
    "SELECT s, SUM(price) AS t, AVG(price) AS m, COUNT(*) AS n FROM people GROUP BY s",
)


@pytest.mark.parametrize("sql", SUMS)
@pytest.mark.parametrize("epsilon", ["1/7", "3", "17"])
def test_sums_their_margins_and_their_intervals_are_whole_steps(shop, sql, epsilon):
    answer = shop.session().ask(sql, epsilon)
    found = answer.to_json()
    place = found["columns"].index("t")
    assert are_in_steps(json.dumps(row[place]) for row in found["rows"])
    assert are_in_steps(numbers(found["margins"]["t"]))
    assert are_in_steps(numbers(found["whole"]["t"]))
    for value, off, (low, high) in zip(
        [row[place] for row in answer.rows], answer.margins["t"], answer.whole["t"], strict=True
    ):
        assert low <= value <= high
        assert high - low >= off


def test_a_plan_says_it_alike(shop):
    planned = shop.session().plan(SUMS[0], epsilon="1/7")
    assert are_in_steps(numbers(planned.to_json()["margins"]))


def test_quantiles_and_keys_are_whole_steps(shop):
    answer = shop.session().ask("SELECT MEDIAN(price) AS m FROM people", 3, error="interval")
    found = answer.to_json()
    assert are_in_steps(numbers(found["rows"]))
    assert are_in_steps(numbers(found["intervals"]))


def test_sums_of_a_release_and_their_margins_are_whole_steps(shop):
    made = shop.release(shop.plan_release(marginals=["s"], sums=["price"], epsilon="7/3"))
    (tables,) = made.sums
    for subset in tables.sums:
        assert are_in_steps(map(json.dumps, tables.sums[subset].reshape(-1).tolist()))
        assert are_in_steps(map(json.dumps, tables.sum_margins[subset].reshape(-1).tolist()))
