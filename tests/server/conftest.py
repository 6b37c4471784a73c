"""A lodge with its listeners for each file."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from lodge import Lodge, lodging, served

from adomnia.server.login_limits import LoginLimits
from adomnia.server.serve import Addresses


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
