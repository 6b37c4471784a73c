"""Disclosures on small tables: the definition by hand, both readings, and what is refused."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

from adomnia.audit.disclosure.closeness import closeness_probability
from adomnia.audit.disclosure.disclosure import disclosures, expected_disclosures, gate
from adomnia.audit.disclosure.disclosure_report import DisclosureTerms
from adomnia.errors import QuestionError

PUBLIC = ["sex", "town", "work"]
DOMAINS = {"sex": "FM", "town": range(5), "work": ["a", "b", "c"], "illness": ["flu", "hiv", "no"]}
EPSILONS = ["20", "1/2", "0.1"]


@pytest.fixture(scope="module")
def people():
    """600 rows in which illness hangs on town and work; the last town is empty."""
    chance = np.random.default_rng(3)
    codes = {name: chance.integers(0, len(DOMAINS[name]), 600) for name in PUBLIC}
    codes["town"] %= 4
    likely = 0.02 + 0.8 * ((codes["town"] == 1) & (codes["work"] == 2))
    drawn = chance.random(600)
    codes["illness"] = np.where(drawn < likely, 1, np.where(drawn < 0.9, 2, 0))
    return codes


def by_hand(people, keys, scale, terms=None):
    """Definition 2 for groups by these columns, cell by cell: {(group, value): (J, CP)}."""
    terms = terms or DisclosureTerms()
    rows = list(zip(*(people[name].tolist() for name in (*keys, "illness")), strict=True))
    cells, groups = Counter(rows), Counter(row[:-1] for row in rows)
    prior = Counter(row[-1] for row in rows)
    found = {}
    for (*group, value), theta in cells.items():
        phi = groups[tuple(group)]
        j = Fraction(theta, phi) / Fraction(prior[value], len(rows))
        close = float(closeness_probability(phi, theta, terms.tau, scale))
        if j >= Fraction(str(terms.kj)) and close >= terms.kcp:
            names = {name: DOMAINS[name][code] for name, code in zip(keys, group, strict=True)}
            found[frozenset(names.items()), DOMAINS["illness"][value]] = (float(j), close)
    return found


@pytest.mark.parametrize(("neighbors", "sensitivity"), [("bounded", 12), ("unbounded", 6)])
def test_both_readings_are_definition_2(people, neighbors, sensitivity):
    terms = DisclosureTerms(reading="both", neighbors=neighbors, names=True, kj=1.5)
    report = disclosures(people, DOMAINS, PUBLIC, "illness", EPSILONS, terms)
    some = 0
    for at, epsilon in enumerate(EPSILONS):
        scale = float(sensitivity / Fraction(epsilon))
        pairs = {}
        for keys in combinations(PUBLIC, 2):
            pairs |= by_hand(people, keys, scale, terms)
        for reading, true in [("pair", pairs), ("all", by_hand(people, PUBLIC, scale, terms))]:
            level = report.readings[reading][at]
            told = {(frozenset(d.group.items()), d.value): (d.j, d.closeness) for d in level.found}
            assert told.keys() == true.keys()
            assert all(told[key] == pytest.approx(true[key], abs=1e-12) for key in true)
            assert level.disclosures == len(true) == len(level.found)
            some += len(true)
    assert some > 5


def overall_error(people, scale, sanity):
    """The mean over every cell of all 2-D and 2-D+SA marginals, the empty ones too."""
    errors = []
    for pair in combinations(PUBLIC, 2):
        for keys in (pair, (*pair, "illness")):
            counts = Counter(zip(*(people[name].tolist() for name in keys), strict=True))
            for cell in product(*(range(len(DOMAINS[name])) for name in keys)):
                errors.append(scale / max(counts[cell], sanity * 600))
    return np.mean(errors)


@pytest.mark.parametrize("sanity", [1e-4, 1e-3, 0.02])
def test_the_overall_error_counts_every_cell_and_its_sanity_bound(people, sanity):
    report = disclosures(
        people, DOMAINS, PUBLIC, "illness", EPSILONS, DisclosureTerms(sanity=sanity, reading="both")
    )
    for epsilon, pair, whole in zip(EPSILONS, *report.readings.values(), strict=True):
        true = overall_error(people, float(12 / Fraction(epsilon)), sanity)
        assert pair.overall_error == pytest.approx(true, rel=1e-12)
        assert whole.overall_error == pair.overall_error


def test_the_json_is_counts_and_errors_only(people):
    terms = DisclosureTerms(reading="both", names=True)
    made = disclosures(people, DOMAINS, PUBLIC, "illness", EPSILONS, terms).to_json()
    assert json.loads(json.dumps(made)) == made
    assert list(made) == ["readings"]
    assert list(made["readings"]) == ["pair", "all"]
    for levels in made["readings"].values():
        assert [level["epsilon"] for level in levels] == EPSILONS
        assert all(set(level) == {"epsilon", "disclosures", "overall_error"} for level in levels)
        assert all(type(level["disclosures"]) is int for level in levels)
        assert all(type(level["overall_error"]) is float for level in levels)


def test_no_group_is_named_unless_asked(people):
    report = disclosures(people, DOMAINS, PUBLIC, "illness", ["20"])
    assert list(report.readings) == ["pair"]
    assert report.readings["pair"][0].disclosures > 0
    assert report.readings["pair"][0].found == ()
    told = json.dumps(report.finding().to_json()) + repr(report)
    assert not any(name in told for name in ("town", "hiv", "illness"))


def test_epsilons_are_told_as_they_were_written(people):
    given = ["2", "1/3", 0.5, 1, Fraction(1, 8), " 0.10 "]
    levels = disclosures(people, DOMAINS, PUBLIC, "illness", given).readings["pair"]
    assert [level.epsilon for level in levels] == ["2", "1/3", "0.5", "1", "1/8", "0.10"]
    (one,) = disclosures(people, DOMAINS, PUBLIC, "illness", "21").readings["pair"]
    assert one.epsilon == "21"


def test_a_confidence_of_exactly_kj_times_the_prior_counts():
    """A tenth of 3000 rows has the value; in one group of 1000 it is three tenths."""
    sex = np.repeat([0, 1, 1], 1000)
    value = np.zeros(3000, np.int64)
    value[:300] = 1
    codes = {"sex": sex, "town": sex, "illness": value}
    for kj, many in [(3, 1), (Fraction(3) + Fraction(1, 10**20), 0), (3.000001, 0), (2.9, 1)]:
        report = disclosures(
            codes, DOMAINS, ["sex", "town"], "illness", ["5"], DisclosureTerms(kj=kj)
        )
        assert report.readings["pair"][0].disclosures == many


def test_a_column_of_all_different_values_gives_groups_of_one(people):
    """Nothing is seen through the noise, until there is hardly any."""
    domains = {**DOMAINS, "id": range(600)}
    codes = {**people, "id": np.arange(600)}
    public = ["id", "sex"]
    report = disclosures(
        codes, domains, public, "illness", ["1", "1000"], DisclosureTerms(reading="all")
    )
    quiet, loud = report.readings["all"]
    assert quiet.disclosures == 0
    rare = np.bincount(people["illness"])[people["illness"]] * 3 <= 600
    assert loud.disclosures == rare.sum()


def test_domains_too_large_for_one_array_or_one_integer(people):
    """Spread codes over huge domains: the same groups, so the same disclosures."""
    domains = {name: range(10**7) for name in DOMAINS}
    terms = DisclosureTerms(reading="both", kj=1.5)
    small = disclosures(people, DOMAINS, PUBLIC, "illness", EPSILONS, terms)
    codes = {name: column * 1_999_999 for name, column in people.items()}
    large = disclosures(codes, domains, PUBLIC, "illness", EPSILONS, terms)
    for reading in ("pair", "all"):
        counts = [level.disclosures for level in small.readings[reading]]
        assert [level.disclosures for level in large.readings[reading]] == counts
    # empty cells have the error of the sanity bound, and almost all are empty
    error = large.readings["pair"][0].overall_error
    assert error == pytest.approx(12 / 20 / (600 * 1e-4), rel=1e-6)


def tables_of(people):
    tables = {}
    for pair in combinations(PUBLIC, 2):
        names = (*pair, "illness")
        table = np.zeros([len(DOMAINS[name]) for name in names], np.int64)
        np.add.at(table, tuple(people[name] for name in names), 1)
        tables[names] = table
    return tables


def test_a_planned_release_gives_the_same_from_its_tables(people):
    terms = DisclosureTerms(names=True, kj=1.5)
    planned = expected_disclosures(tables_of(people), EPSILONS, terms, domains=DOMAINS)
    report = disclosures(people, DOMAINS, PUBLIC, "illness", EPSILONS, terms)
    for here, there in zip(planned.readings["planned"], report.readings["pair"], strict=True):
        assert here.disclosures == there.disclosures
        assert here.overall_error == pytest.approx(there.overall_error, rel=1e-12)
        assert here.found == there.found
    placed = expected_disclosures(tables_of(people), ["20"], terms)
    assert all(value in range(5) for d in placed.readings["planned"][0].found
               for value in (*d.group.values(), d.value))  # fmt: skip


def test_a_planned_release_may_have_its_own_sensitivity(people):
    tables = tables_of(people)
    default = expected_disclosures(tables, ["3"])
    assert default == expected_disclosures(tables, ["3"], sensitivity=Fraction(12))
    doubled = expected_disclosures(tables, ["6"], sensitivity=Fraction(24))
    one, other = default.readings["planned"][0], doubled.readings["planned"][0]
    assert (one.disclosures, one.overall_error) == (other.disclosures, other.overall_error)


def test_the_gate_closes_above_its_limit(people):
    report = disclosures(
        people, DOMAINS, PUBLIC, "illness", EPSILONS, DisclosureTerms(reading="both")
    )
    most = max(level.disclosures for part in report.readings.values() for level in part)
    assert most > 0
    assert gate(report, most)
    assert not gate(report, most - 1)
    with pytest.raises(QuestionError):
        gate(report, -1)


def test_the_finding_says_what_was_found(people):
    report = disclosures(
        people, DOMAINS, PUBLIC, "illness", EPSILONS, DisclosureTerms(reading="both")
    )
    finding = report.finding("20", "all")
    many = report.readings["all"][0].disclosures
    assert finding.success.value == many
    assert f"in {many} cases" in finding.claim
    assert not finding.covered
    assert finding.details["readings"] == report.to_json()["readings"]
    for wrong in [{"epsilon": "7"}, {"reading": "planned"}]:
        with pytest.raises(QuestionError, match="no such"):
            report.finding(**wrong)


def least_error(cells, rows, sanity):
    """A bound no table of so many rows passes: the convex hull of 1/max(c, bound)."""
    mean, bound = rows / cells, sanity * rows
    return 1 / mean if mean >= 2 * bound else 1 / bound - mean / (4 * bound**2)


def test_the_papers_figure_4_contradicts_its_sanity_bound():
    """With 10^-4 |D| no 500,000 rows reach the 400 % it prints for EDU and OCC."""
    for public, own in [((2, 50, 6, 9), 14), ((2, 14, 6, 9), 50)]:
        sizes = [a * b * more for a, b in combinations(public, 2) for more in (1, own)]
        least = sum(cells * least_error(cells, 500_000, 1e-4) for cells in sizes) / sum(sizes)
        assert 2400 * least > 19
        assert 2400 * sum(sizes) / (12 * 500_000) > 5.6  # the mean count alone says this


def test_no_table_passes_that_bound(people):
    report = disclosures(people, DOMAINS, PUBLIC, "illness", ["12"], DisclosureTerms(sanity=0.02))
    pairs = [(2, 5), (2, 3), (5, 3)]
    sizes = [a * b * more for a, b in pairs for more in (1, 3)]
    least = sum(cells * least_error(cells, 600, 0.02) for cells in sizes) / sum(sizes)
    assert report.readings["pair"][0].overall_error >= least


@pytest.mark.parametrize(
    ("public", "sensitive", "message"),
    [
        (["sex", "nose"], "illness", "no column 'nose'"),
        (["sex", "town"], "nose", "no column 'nose'"),
        (["sex", "illness"], "illness", "both public and sensitive"),
        (["sex", "sex"], "illness", "at least two different"),
        (["sex"], "illness", "at least two different"),
        ([], "illness", "at least two different"),
    ],
)
def test_columns_that_cannot_be(people, public, sensitive, message):
    with pytest.raises(QuestionError, match=message):
        disclosures(people, DOMAINS, public, sensitive, ["1"])


@pytest.mark.parametrize("epsilons", [[], ["0"], [-1], ["much"], [float("nan")], ["1e-390"], [""]])
def test_epsilons_that_cannot_be(people, epsilons):
    with pytest.raises(QuestionError, match="epsilon"):
        disclosures(people, DOMAINS, PUBLIC, "illness", epsilons)


@pytest.mark.parametrize(
    "wrong",
    [{"tau": 0}, {"tau": 1}, {"tau": -0.2}, {"tau": float("nan")}, {"kj": 1}, {"kj": float("inf")},
     {"kcp": 0}, {"kcp": 1.1}, {"sanity": 0}, {"neighbors": "edge"}, {"reading": "none"}],
)  # fmt: skip
def test_terms_that_cannot_be(wrong):
    with pytest.raises(QuestionError, match=next(iter(wrong))):
        DisclosureTerms(**wrong)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sex": np.array([0, 1])}, "differ in length"),
        ({"sex": np.full(600, 2)}, "outside its domain"),
        ({"sex": np.full(600, -1)}, "outside its domain"),
        ({"sex": np.full(600, 0.5)}, "not a list of codes"),
    ],
)
def test_codes_that_cannot_be(people, change, message):
    with pytest.raises(QuestionError, match=message):
        disclosures({**people, **change}, DOMAINS, PUBLIC, "illness", ["1"])


def test_an_empty_table_has_nothing_to_disclose():
    empty = {name: np.zeros(0, np.int64) for name in DOMAINS}
    with pytest.raises(QuestionError, match="no rows"):
        disclosures(empty, DOMAINS, PUBLIC, "illness", ["1"])
    with pytest.raises(QuestionError, match="no rows"):
        expected_disclosures({("sex", "illness"): np.zeros((2, 3), np.int64)}, ["1"])


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ({}, "has tables"),
        ({("a", "s"): np.ones((2, 2), int), ("s", "a"): np.ones((2, 2), int)}, "attribute last"),
        ({("a", "s"): np.ones((2, 2), int), ("b", "s"): np.ones((3, 2), int)}, "do not agree"),
        ({("a", "s"): np.ones((2, 2, 2), int)}, "one axis for each"),
        ({("s", "s"): np.ones((2, 2), int)}, "one axis for each"),
        ({("s",): np.ones(2, int)}, "one axis for each"),
        ({("a", "s"): np.ones((2, 2))}, "whole counts"),
        ({("a", "s"): np.array([[3, -1], [2, 2]])}, "negative"),
    ],
)
def test_planned_tables_that_cannot_be(tables, message):
    with pytest.raises(QuestionError, match=message):
        expected_disclosures(tables, ["1"])
