"""What `adomnia.audit` gives to everybody: loaded when named, documented, with examples."""

from __future__ import annotations

import doctest
import inspect
import pkgutil
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import adomnia.audit
import adomnia.review

TOP = Path(__file__).parents[2]
MODULES = sorted(
    one.name
    for room in (adomnia.audit, adomnia.review)
    for one in pkgutil.walk_packages(room.__path__, prefix=f"{room.__name__}.")
)
RUN = re.compile(r"^```python run\n(.*?)^```", re.MULTILINE | re.DOTALL)
SHOWN = "\n".join(
    text
    for page in sorted((TOP / "docs").rglob("*.md"))
    for text in RUN.findall(page.read_text("utf-8"))
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_are_true(name):
    assert doctest.testmod(import_module(name)).failed == 0


def test_what_is_offered_is_what_is_there():
    assert dir(adomnia.audit) == sorted(adomnia.audit.__all__)
    with pytest.raises(AttributeError):
        adomnia.audit.nothing  # noqa: B018
    from adomnia.audit import reconstruct

    assert callable(reconstruct)


@pytest.mark.parametrize("name", adomnia.audit.__all__)
def test_every_public_name_is_documented_and_every_function_has_an_example(name):
    made = getattr(adomnia.audit, name)
    assert inspect.getdoc(made)
    if inspect.isfunction(made):
        shown = ">>>" in inspect.getdoc(made) or re.search(rf"\b{name}\b", SHOWN)
        assert shown or name == "option"  # it makes the fields of every attack


def test_importing_the_room_loads_nothing_slow():
    program = "import sys, adomnia.audit; print({'scipy', 'numpy', 'pyarrow'} & set(sys.modules))"
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == "set()"
