"""Models are fitted with noise from a seed: how good one must be has no law to be tested by."""

from __future__ import annotations

import pytest

from tests.chance.seeded import seed_system


@pytest.fixture(autouse=True)
def _seeded(monkeypatch: pytest.MonkeyPatch) -> None:
    seed_system(monkeypatch.setattr)
