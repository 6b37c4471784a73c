"""A village of holders for each test, and a lodge with its doors for each file."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "chance"))

from holding import Village, start_all
from lodge import Lodge, lodging, served

from adomnia.server.login_limits import LoginLimits
from adomnia.server.serve import Addresses


@pytest.fixture
def village(tmp_path: Path) -> Iterator[Village]:
    """Three holders, none of them started yet."""
    made = Village(tmp_path)
    yield made
    made.close()


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Village]:
    """Three holders in threads, for all tests of a file that leave them as they are."""
    made = Village(tmp_path_factory.mktemp("settled"))
    made.group = start_all(made)
    yield made
    made.close()


@pytest.fixture(scope="module")
def lodge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lodge]:
    """A database with its accounts, for all tests of a file."""
    with lodging(tmp_path_factory.mktemp("lodge")) as made:
        yield made


@pytest.fixture(scope="module")
def at(lodge: Lodge) -> Iterator[Addresses]:
    """The lodge's doors, where one address may fail often: all tests come from one."""
    with served(lodge.service(LoginLimits(by_address=10**6))) as addresses:
        yield addresses
