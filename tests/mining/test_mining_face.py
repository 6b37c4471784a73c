"""What `adomnia.mining` gives to everybody: loaded when named, documented, with examples."""

from __future__ import annotations

import doctest
import inspect
import pkgutil
import subprocess
import sys
from importlib import import_module

import pytest

import adomnia.mining

MODULES = sorted(
    one.name for one in pkgutil.walk_packages(adomnia.mining.__path__, prefix="adomnia.mining.")
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_are_true(name):
    assert doctest.testmod(import_module(name)).failed == 0


def test_what_is_offered_is_what_is_there():
    assert dir(adomnia.mining) == sorted(adomnia.mining.__all__)
    assert set(adomnia.mining._HOMES) == set(adomnia.mining.__all__)
    with pytest.raises(AttributeError):
        adomnia.mining.nothing  # noqa: B018


@pytest.mark.parametrize("name", adomnia.mining.__all__)
def test_every_public_name_is_documented_and_has_an_example(name):
    made = getattr(adomnia.mining, name)
    assert ">>>" in inspect.getdoc(made)
    if inspect.isclass(made):
        methods = [member for key, member in vars(made).items() if not key.startswith("_")]
        functions = [m.fget if isinstance(m, property) else m for m in methods]
        assert all(m.__doc__ for m in functions if inspect.isfunction(m))


def test_importing_the_room_loads_nothing_slow():
    program = "import sys, adomnia.mining; print({'scipy', 'numpy', 'pyarrow'} & set(sys.modules))"
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == "set()"


def test_no_model_reaches_behind_a_session():
    for name in MODULES:
        text = inspect.getsource(import_module(name))
        assert "._backend" not in text
        assert "adomnia.engines" not in text
        assert "adomnia.ledger" not in text
