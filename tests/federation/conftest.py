"""A village of holders for each test, or for each file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from holding import Village, start_all


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
