"""The markers that nobody writes: a test is what it, its fixtures and its helpers come to."""

from __future__ import annotations

import pytest
import scipy.stats  # noqa: F401 (tests run inside this one must not load it a second time)

pytest_plugins = ["pytester"]

CONFTEST = """
import pytest
from tests import markers

def pytest_configure(config):
    for name in markers.PROMISED:
        config.addinivalue_line("markers", f"{name}: ...")

def pytest_collection_modifyitems(items):
    markers.mark(items)
"""
TESTS = """
import pytest
from scipy import stats
from tests import postgres_server
from tests.postgres_server import shared

def helper():
    return shared()

class Helper:
    def ask(self):
        return postgres_server.shared()

@pytest.fixture
def server():
    return Helper()

def test_plain(): pass
def test_calls(): helper()
def test_asks(server): pass
def test_names(): postgres_server.shared()
def test_far():
    from pyspark.sql import SparkSession
def test_looks(): import playwright.sync_api
def test_draws(): stats.chisquare([1], [1])
def test_figures(): stats.norm.cdf(0)

@pytest.mark.parametrize("store", ["sqlite", "postgres"])
def test_each(store): helper()

@pytest.mark.parametrize("text", ["postgresql://x/y"])
def test_address(text): pass
"""
EXPECTED = {
    "test_plain": "",
    "test_calls": "postgres",
    "test_asks": "postgres",
    "test_names": "postgres",
    "test_far": "spark",
    "test_looks": "browser",
    "test_draws": "chance",
    "test_figures": "",
    "test_each[sqlite]": "",
    "test_each[postgres]": "postgres",
    "test_address[postgresql://x/y]": "",
}


@pytest.fixture
def seen(pytester):
    """The markers of the tests above, by their names."""
    folder = pytester.mkdir("tests")  # what is looked into lies in a folder of this name
    (folder / "conftest.py").write_text(CONFTEST, "utf-8")
    (folder / "test_it.py").write_text(TESTS, "utf-8")
    ran = pytester.inline_run("--collect-only", "-s", "-p", "no:cacheprovider", str(folder))
    calls = ran.getcalls("pytest_collection_modifyitems")
    assert len(calls) == 1
    return {
        item.name: " ".join({one.name for one in item.iter_markers()} - {"parametrize"})
        for item in calls[0].items
    }


@pytest.mark.parametrize("name", EXPECTED)
def test_a_test_is_what_it_comes_to(name, seen):
    assert seen[name] == EXPECTED[name]
