"""A hamlet for all tests of the catalogue, and Alice's view of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hamlet import view, write_hamlet

from adomnia.curator.database import PrivateDatabase, open_database
from adomnia.wire.catalogue import Catalogue


@pytest.fixture(scope="session")
def hamlet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrivateDatabase]:
    """The database, opened once."""
    with open_database(write_hamlet(tmp_path_factory.mktemp("hamlet"))) as database:
        yield database


@pytest.fixture
def catalogue(hamlet: PrivateDatabase) -> Catalogue:
    """What Alice sees."""
    return view(hamlet)
