"""From the outside: what models show of two neighbouring tables bounds their epsilon from below."""

from __future__ import annotations

from contextlib import ExitStack

import numpy as np
import pytest
from small_table import Unbooked, listed, number, opened

from adomnia.audit.claims.audit_target import AuditTarget
from adomnia.audit.claims.claim import refute
from adomnia.mining.components import PCA
from adomnia.mining.decision_tree import DecisionTree
from adomnia.mining.item_sets import FrequentItemSets
from adomnia.mining.k_means import KMeans
from adomnia.mining.logistic_regression import LogisticRegression
from adomnia.mining.naive_bayes import CategoricalNB, GaussianNB
from adomnia.mining.perceptron import Perceptron
from adomnia.mining.random_forest import RandomForest

DOMAINS = {"a": number(0, 3), "b": number(0, 3), "y": listed(0, 1)}
TABLE = {"a": [0, 0, 0, 3], "b": [0, 0, 1, 3], "y": [0, 0, 0, 1]}
NEIGHBOUR = {name: column[:3] for name, column in TABLE.items()}  # the row that stands apart is out


def k_means(session, epsilon):
    return KMeans(2, steps=1).fit(session, ["a", "b"], epsilon=epsilon).cluster_centers_.ravel()


def components(session, epsilon):
    made = PCA(1, method="products").fit(session, ["a", "b"], epsilon=epsilon)
    return np.concatenate([made.explained_variance_, made.components_.ravel(), made.mean_])


def grids(session, epsilon):
    made = PCA(1, method="grids").fit(session, ["a", "b"], epsilon=epsilon)
    return np.concatenate([made.explained_variance_, made.components_.ravel(), made.mean_])


def gaussian(session, epsilon):
    made = GaussianNB().fit(session, ["a", "b"], "y", epsilon=epsilon)
    return np.concatenate([made.theta_.ravel(), made.var_.ravel(), made.class_prior_])


def categorical(session, epsilon):
    made = CategoricalNB().fit(session, ["a", "b"], "y", epsilon=epsilon)
    return np.concatenate(
        [made.class_prior_, *(t.ravel() for t in made.feature_log_prob_.values())]
    )


def tree(session, epsilon):
    return DecisionTree().fit(session, ["a", "b"], "y", epsilon=epsilon).tree_.counts


def forest(session, epsilon):
    made = RandomForest(2, max_depth=1).fit(session, ["a", "b"], "y", epsilon=epsilon)
    return np.concatenate([counts.ravel() for counts in made.counts_])


def logistic(session, epsilon):
    made = LogisticRegression().fit(session, ["a"], "y", epsilon=epsilon)
    return np.concatenate([made.coef_.ravel(), made.intercept_])


def perceptron(session, epsilon):
    made = Perceptron(steps=1).fit(session, ["a", "b"], "y", epsilon=epsilon)
    return np.append(made.coef_, made.intercept_)


def item_sets(session, epsilon):
    made = FrequentItemSets(0.1, 2, split={"length 1": 1, "length 2": 1}, confidence=0.5)
    found = made.fit(session, ["a", "y"], epsilon=epsilon)
    return np.array([found.rows_.value, len(found.sets_)])


FITS = [k_means, components, grids, gaussian, categorical, tree, forest, logistic, perceptron,
        item_sets]  # fmt: skip


@pytest.fixture
def neighbours(tmp_path):
    """Sessions on the two tables."""
    with ExitStack() as open_ones:
        sessions = []
        for name, table in (("one", TABLE), ("other", NEIGHBOUR)):
            (tmp_path / name).mkdir()
            database = open_ones.enter_context(opened(tmp_path / name, table, DOMAINS))
            sessions.append(Unbooked(database))
        yield sessions


def audited(fit, neighbours, claimed, spent, samples, confidence=0.99):
    """The finding on a model that claims one epsilon and is fitted with another."""

    def sample(session, size):
        return np.array([fit(session, spent) for _ in range(size)])

    subject = AuditTarget(fit.__name__, sample, *neighbours, claimed)
    return refute(subject, samples, confidence, time_limit=200.0)


@pytest.mark.parametrize("fit", FITS)
def test_no_model_shows_more_than_it_claims(fit, neighbours):
    found = audited(fit, neighbours, 1.0, 1, 80)
    assert found.details["drawn"] >= 16
    assert found.details["verdict"] != "violated"
    assert found.success.low <= 1.0


@pytest.mark.parametrize("fit", [k_means, gaussian, categorical, tree, forest, perceptron])
def test_a_false_claim_is_found_out(fit, neighbours):
    """The same test has the power to see: models that spend 40 and claim 1/10."""
    assert audited(fit, neighbours, 0.1, 40, 60).details["verdict"] == "violated"


@pytest.mark.slow
@pytest.mark.parametrize("fit", FITS)
def test_no_model_shows_more_than_it_claims_in_many_fits(fit, neighbours):
    found = audited(fit, neighbours, 2.0, 2, 3000, 1 - 1e-8)
    assert found.success.low <= 2.0
