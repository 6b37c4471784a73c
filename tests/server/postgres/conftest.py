"""A parlour for the tests of a file."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from parlour import Parlour, Wire, open_parlour


@pytest.fixture(scope="module")
def parlour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Parlour]:
    """A town behind an open door, without TLS."""
    made = open_parlour(tmp_path_factory.mktemp("parlour"))
    yield made
    made.close()


@pytest.fixture
def wire(parlour: Parlour) -> Iterator[Wire]:
    """Alice, logged in, with an epsilon set."""
    made = Wire(parlour.port)
    made.log_in(options="-c adomnia.epsilon=0.5")
    yield made
    made.close()
