"""The leak of section 4.1, before and after accounting for the exact answers."""

from __future__ import annotations

import json
import math
import time

import numpy as np
import pytest
from scipy import sparse

from adomnia.audit.exact_releases.prior_leak import chain_leak, prior_leak
from adomnia.priors.solver.system import System


def chain(k, values=None):
    """The paper's exact answers: the sum of every two neighbours among k cells."""
    ones = np.ones(k - 1, int)
    rows = sparse.diags_array([ones, ones], offsets=[0, 1], shape=(k - 1, k), dtype=int)
    return System.of(rows, values)


def margins(rows, columns, values=None):
    """Row sums and column sums."""
    lines = np.vstack(
        [np.kron(np.eye(rows), np.ones(columns)), np.kron(np.ones(rows), np.eye(columns))]
    )
    return System.of(lines.astype(int), values)


def test_the_whole_table_is_rebuilt_where_the_chain_is_long():
    """Figures for averaging, as in the paper, from its formula; the likelihood does better."""
    found = chain_leak([100, 1000, 10_000], 0.1, trials=400, seed=3)
    assert found.complete
    for point, averaging, likelihood in zip(
        found.details["curve"], (0.28, 0.74, 1.0), (0.38, 0.88, 1.0), strict=True
    ):
        assert point["averaging"]["value"] == pytest.approx(averaging, abs=0.09)
        assert point["averaging_formula"] == pytest.approx(averaging, abs=0.005)
        assert point["before"]["value"] == pytest.approx(likelihood, abs=0.09)
        assert point["after"]["low"] <= point["after_ceiling"]
        assert point["after"]["value"] < 0.05
    assert found.success.value > 0.99
    assert found.baseline == 1 / 1001


def test_the_long_chain_takes_seconds():
    begun = time.process_time()
    assert chain_leak(10_000, 0.1, trials=200, seed=1).success.value > 0.97
    assert time.process_time() - begun < 200


@pytest.mark.parametrize(("epsilon", "people"), [(0.5, 3), (2.0, 1), (1.0, 10)])
def test_after_accounting_no_attack_passes_the_ceiling(epsilon, people):
    point = chain_leak(6, epsilon, trials=4000, seed=2, people=people).details["curve"][0]
    assert point["after"]["low"] <= point["after_ceiling"]
    assert point["after_ceiling"] >= point["baseline"]


def test_the_same_seed_gives_the_same_finding_as_json():
    first, second = (chain_leak([4, 8], 0.5, 50, seed=9).to_json() for _ in range(2))
    assert json.dumps(first) == json.dumps(second)
    again = prior_leak(margins(2, 3), 1.0, 10, seed=4, sensitivity=4).to_json()
    assert json.loads(json.dumps(again)) == again


def test_the_general_attack_agrees_with_the_chain():
    special = chain_leak(300, 0.1, trials=600, seed=5).details["curve"][0]
    general = prior_leak(chain(300, [1000] * 299), 0.1, trials=600, seed=6)
    assert general.details["dimension"] == 1
    assert general.details["sensitivity"] == 300
    assert general.details["determined"] == 0
    whole = general.details["before"]["table"]
    assert whole["value"] == pytest.approx(special["before"]["value"], abs=0.1)
    assert general.details["after"]["table"]["value"] < 0.05
    assert general.baseline < 0.1


def test_margins_leak_before_and_hardly_after():
    system = margins(4, 4, [20, 30, 25, 25, 25, 25, 25, 25])
    found = prior_leak(system, 3.0, trials=60, seed=1, sensitivity=8)
    before, after = found.details["before"], found.details["after"]
    assert before["cells"]["value"] > found.details["cells_without_exact_answers"]
    assert before["cells"]["value"] > 0.75
    assert after["cells"]["value"] < 0.45
    assert before["table"]["value"] > after["table"]["value"]


def test_what_exact_answers_determine_alone_is_counted():
    """Rows 3 0 0 2 and columns 1 1 3 0: two empty rows and an empty column are known, 10 cells."""
    found = prior_leak(margins(4, 4, [3, 0, 0, 2, 1, 1, 3, 0]), 1.0, trials=40, seed=1)
    assert found.details["determined"] == 10
    assert found.details["undecided"] == 0
    assert found.baseline >= 10 / 16
    assert found.success.value > found.baseline


def test_everything_released_leaves_nothing_to_rebuild():
    found = prior_leak(System.of(np.eye(3, dtype=int), [1, 2, 3]), 0.1, trials=5)
    assert found.details["determined"] == 3
    assert found.success.value == found.baseline == 1
    assert found.details["sensitivity"] == 0


def test_nothing_released_leaves_counts_as_they_are():
    found = prior_leak(System.of(np.zeros((0, 40), int)), 2.0, trials=200, seed=2)
    assert found.details["sensitivity"] == 1
    assert found.details["before"]["cells"]["value"] == pytest.approx(
        found.details["after"]["cells"]["value"], abs=0.05
    )
    # Rounding alone gives 1 - exp(-1), and a little more where the count is 0.
    assert 1 - math.exp(-1) - 0.02 < found.success.value < 1 - math.exp(-1) + 0.07


def test_a_table_may_be_handed_in_to_be_scored_against():
    table = [10, 20, 30, 40]
    found = prior_leak(chain(4, [30, 50, 70]), 50.0, trials=20, table=table)
    assert found.success.value == 1
    with pytest.raises(ValueError, match="does not give"):
        prior_leak(chain(4, [30, 50, 71]), 1.0, table=table)


def test_publicly_empty_cells_and_rounded_rows():
    system = System.of(np.ones((2, 4), int), [10, (0, 20)], forbidden=[3])
    found = prior_leak(system, 1.0, trials=10)
    assert found.details["rounded_rows_left_out"] == 1
    assert found.details["determined"] == 1
    assert found.details["dimension"] == 2


def test_some_values_given_and_some_not():
    found = prior_leak(margins(2, 2, [5, 7, None, None]), 1.0, trials=20, sensitivity=4)
    assert found.details["dimension"] == 1
    assert found.complete


def test_contradictions_are_refused():
    with pytest.raises(ValueError, match="no table"):
        prior_leak(margins(2, 2, [5, 7, 1, 1]), 1.0)


@pytest.mark.parametrize("wrong", [{"epsilon": 0}, {"epsilon": -1}, {"trials": 0}])
def test_wrong_figures_are_refused(wrong):
    with pytest.raises(ValueError, match="epsilon"):
        prior_leak(margins(2, 2), **{"epsilon": 1.0, "trials": 5, **wrong})
    with pytest.raises(ValueError, match="two cells"):
        chain_leak(1, 1.0)


def test_when_time_ends_what_there_is_comes_back():
    found = prior_leak(margins(12, 12), 1.0, trials=100_000, time_limit=0.3)
    assert not found.complete
    assert found.details["trials"] < 100_000
    late = chain_leak([5000, 10_000, 10_000], 0.1, trials=3000, time_limit=0.05)
    assert not late.complete
    assert len(late.details["curve"]) >= 1
