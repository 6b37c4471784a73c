"""One catalogue for all tests of it, and Alice's view."""

from __future__ import annotations

import pytest
from declared import share, view

from adomnia.wire.catalogue import Catalogue, SharedCatalogue


@pytest.fixture(scope="session")
def shared() -> SharedCatalogue:
    """The catalogue, built once."""
    return share()


@pytest.fixture
def catalogue(shared: SharedCatalogue) -> Catalogue:
    """What Alice sees."""
    return view(shared)
