"""What the asker sees of one holder is uniform, whatever that holder has; only the sum speaks."""

from __future__ import annotations

import numpy as np
import pytest
from holding import Village, people, write_town
from rounds import Steps
from scipy import stats

from adomnia.federation.masks import Party, mask

SQL = "SELECT age, COUNT(*) AS n FROM people GROUP BY age"
ROUNDS = 40


def world(folder, north, south):
    """The words of north and south in many rounds, and the sums, as the asker has them."""
    village = Village(folder, ("north", "south"))
    for name, women in (("north", north), ("south", south)):
        village.start(name, write_town(folder / name, people(women, 0)))
    seen, sums, bare = [], [], []
    try:
        for _ in range(ROUNDS):
            steps = Steps(village, SQL)
            words = steps.all()
            seen.append(words["north"])
            sums.append((words["north"] + words["south"]).view(np.int64)[:-1])
            me = Party("north", village.secrets["north"])
            hidden = mask(me, [village.peer("south")], steps.agreed, words["north"].size)
            bare.append((words["north"] - hidden).view(np.int64)[:-1])
    finally:
        village.close()
    return np.array(seen), np.array(sums), np.array(bare)


@pytest.fixture(scope="module")
def worlds(tmp_path_factory):
    """North has all rows, or south has: the sum over both is the same."""
    first = world(tmp_path_factory.mktemp("first"), 4000, 0)
    return first, world(tmp_path_factory.mktemp("second"), 0, 4000)


def byte_counts(words):
    """How often each byte occurs in the words, at every place of a word."""
    bytes_ = np.ascontiguousarray(words).view(np.uint8).reshape(-1, 8)
    return np.array([np.bincount(bytes_[:, place], minlength=256) for place in range(8)])


@pytest.mark.parametrize("which", [0, 1])
def test_a_holders_words_are_uniform(worlds, which):
    seen = worlds[which][0]
    assert min(stats.chisquare(counts).pvalue for counts in byte_counts(seen)) > 1e-8
    assert stats.kstest(seen.reshape(-1) / 2.0**64, "uniform").pvalue > 1e-8


def test_a_holders_words_do_not_tell_who_has_the_rows(worlds):
    (first, _, bare_first), (second, _, bare_second) = worlds
    tables = zip(byte_counts(first), byte_counts(second), strict=True)
    assert min(stats.chi2_contingency(table).pvalue for table in tables) > 1e-8
    both = stats.ks_2samp(first.reshape(-1), second.reshape(-1))
    assert both.pvalue > 1e-8
    # the same test sees the difference at once where the mask is taken off
    assert stats.ks_2samp(bare_first.reshape(-1), bare_second.reshape(-1)).pvalue < 1e-30


def test_the_sums_of_both_worlds_are_alike_and_right(worlds):
    (_, first, _), (_, second, _) = worlds
    ages = np.arange(first.shape[1])
    truth = np.where((ages >= 20) & (ages < 60), 100, 0)
    for sums in (first, second):
        assert np.abs((sums - truth).mean()) < 0.17
    noise = [(sums - truth).reshape(-1) for sums in (first, second)]
    assert stats.ks_2samp(*noise).pvalue > 1e-8
    # two holders, one in league: both add whole noise of scale 1, so the variance is twice 1.84
    assert np.var(noise[0]) == pytest.approx(2 * 1.84, rel=0.2)


def test_words_of_one_round_are_independent_of_the_next(worlds):
    seen = worlds[0][0]
    assert np.unique(seen).size == seen.size
    centred = (seen / 2.0**64 - 0.5) * np.sqrt(12)
    lagged = np.mean(centred[1:] * centred[:-1]) * np.sqrt(centred[1:].size)
    assert abs(lagged) < 6
