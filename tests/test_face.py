"""The public face: what is exported, that nothing is missing, and that every example runs."""

from __future__ import annotations

import doctest
import inspect
import pkgutil
import re
import subprocess
import sys
from importlib import import_module
from typing import get_args

import pytest

import adomnia
from adomnia.audit.networks.growth import models
from adomnia.marginals.paper import fourier
from adomnia.review import database
from tests import public_names
from tests.public_names import ROOMS

LAZY = [room for room in ROOMS if room != "adomnia"]
THINGS = {**public_names.functions(), **public_names.classes()}
MODULES = sorted(
    {
        "adomnia",
        "adomnia.storage.address",
        *(thing.__module__ for thing in THINGS.values()),
        *(
            one.name
            for room in LAZY
            for one in pkgutil.walk_packages(import_module(room).__path__, prefix=f"{room}.")
        ),
    }
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_are_true(name):
    assert doctest.testmod(import_module(name)).failed == 0


@pytest.mark.parametrize("room", ROOMS)
def test_what_is_offered_is_what_is_there(room):
    module = import_module(room)
    own = {"open"} if room == "adomnia" else set()
    assert set(module._EXPORTS.homes) | own == set(module.__all__)
    assert set(module.__all__) <= set(dir(module))
    assert all(getattr(module, name) is not None for name in module.__all__)
    with pytest.raises(AttributeError):
        module.nothing  # noqa: B018


def test_the_rooms_are_found_from_the_root():
    shown = dir(adomnia)
    assert {room.rpartition(".")[2] for room in LAZY} <= set(shown)
    assert all(getattr(adomnia, name) is not None for name in shown)


@pytest.mark.parametrize("room", LAZY)
def test_importing_a_room_loads_nothing_slow(room):
    program = f"import sys, {room}; print({{'scipy', 'numpy', 'pyarrow'}} & set(sys.modules))"
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == "set()"


def test_every_type_that_comes_back_is_exported():
    """Or a class that is exported is a kind of it, as of what the curator's databases share."""
    offered = tuple(public_names.classes().values())
    missing = {
        f"{name} returns {cls.__module__}.{cls.__qualname__}"
        for name, function in {**public_names.functions(), **public_names.methods()}.items()
        for cls in public_names.returned(function)
        if not any(cls in one.__mro__ for one in offered)
    }
    assert missing == set()


def test_every_public_name_has_an_example():
    """Of databases and sessions, also every method."""
    methods = {
        f"{cls.__name__}.{name}": method
        for cls in (adomnia.Database, adomnia.Session)
        for name, method in public_names.members(cls)
        if callable(getattr(cls, name))
    }
    wanted = {**THINGS, **methods}
    assert [name for name, thing in wanted.items() if ">>>" not in _said(thing)] == []


def test_every_public_method_is_documented():
    assert [name for name, method in public_names.methods().items() if not _said(method)] == []


def test_what_raises_says_so():
    """A function that raises an error by itself names it in its docstring."""
    silent = {
        f"{name}: {error}"
        for name, function in {**public_names.functions(), **public_names.methods()}.items()
        for error in _raised(function)
        if error not in _said(function)
    }
    assert silent == set()


@pytest.mark.parametrize(
    ("option", "table"),
    [
        (fourier.FourierMethod, fourier.METHODS),
        (database.AskingAttack, database._ASKING),
        (models.GrowthName, models.MODELS),
    ],
)
def test_what_may_be_said_is_what_is_done(option, table):
    """A `Literal` of an option and the table of what each of its values does are one list."""
    assert set(get_args(option)) == set(table)


def _said(thing: object) -> str:
    """Its own docstring; none where it has that of a base, or one that was made for it."""
    said = vars(thing).get("__doc__") if inspect.isclass(thing) else thing.__doc__
    return "" if said is None or said.startswith(f"{thing.__name__}(") else said


def _raised(function: object) -> set[str]:
    text = inspect.getsource(inspect.unwrap(function))
    return set(re.findall(r"^ +raise (\w+Error)\(", text, re.MULTILINE))
