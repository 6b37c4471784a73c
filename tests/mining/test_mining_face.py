"""Models learn through a session alone; what the room exports, `tests/test_face.py` looks at."""

from __future__ import annotations

import inspect
import pkgutil
from importlib import import_module

import adomnia.mining

MODULES = sorted(
    one.name for one in pkgutil.walk_packages(adomnia.mining.__path__, prefix="adomnia.mining.")
)


def test_no_model_reaches_behind_a_session():
    for name in MODULES:
        text = inspect.getsource(import_module(name))
        assert "._backend" not in text
        assert "adomnia.engines" not in text
        assert "adomnia.ledger" not in text
