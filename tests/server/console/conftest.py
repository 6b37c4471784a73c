"""A console to visit: a real service on made-up people, served to real clients."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from console_living import Living, make_folder


@pytest.fixture
def living(tmp_path: Path) -> Iterator[Living]:
    """A console of one's own, where nothing was asked yet."""
    with Living(make_folder(tmp_path)) as made:
        yield made


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Living]:
    """A console for all tests of a file: with answers, a release, exact totals and an audit."""
    with Living(make_folder(tmp_path_factory.mktemp("console"))) as made:
        made.settle()
        yield made
