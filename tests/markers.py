"""Which real parts a test uses, read from what it calls: its markers are not written by hand.

A test is `postgres`, `spark` or `browser` if it, a fixture of it, or a helper that these call
comes to a module that stands for that part; `chance` if its verdict is a test of statistics. Where
a test runs once for each of several stores or engines, only the run whose name says so is marked.
"""

from __future__ import annotations

import dis
import inspect
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest

STANDS_FOR = {
    "tests.postgres_server": "postgres",
    "pyspark": "spark",
    "tests.spark_session": "spark",
    "playwright": "browser",
    "axe_playwright_python": "browser",
    "tests.chance": "chance",
}
"""Modules that tests come to, and what they are a sign of."""
SHARED = {"tests.chance.seeded", "tests.chance.sitecustomize"}
"""Draws from a seed: a test that uses them has the same verdict in every run."""
VERDICTS = {"binomtest", "chi2_contingency", "chisquare", "ks_2samp", "kstest"}
"""Functions that judge draws, by whatever name their library is imported."""
NAMED = ("postgres", "spark")
"""What the run of a test is called, if it runs once for each engine or store."""
PROMISED = {
    "postgres": "needs a PostgreSQL server",
    "spark": "needs Java and Spark",
    "browser": "needs chromium",
    "chance": "judges draws by a test of statistics",
}


def mark(items: list[pytest.Item]) -> None:
    """Give every test the markers of what it uses."""
    reach, tests = Reach(), [item for item in items if isinstance(item, pytest.Function)]
    runs: dict[object, set[str]] = {}
    for item in tests:
        runs.setdefault(item.function, set()).update(_said(item))
    for item in tests:
        for name in uses(item, reach, runs[item.function]):
            item.add_marker(name)


def uses(item: pytest.Function, reach: Reach, runs: set[str]) -> set[str]:
    """The markers of one test, whose runs name these engines and stores."""
    fixtures = [one.func for many in item._fixtureinfo.name2fixturedefs.values() for one in many]
    found = set().union(*(reach.of(function) for function in (item.function, *fixtures)))
    if "chance" in item.path.parent.parts:
        found.add("chance")
    return (found - runs) | _said(item)


def _said(item: pytest.Function) -> set[str]:
    """The engines and stores that the name of a run names."""
    run = getattr(getattr(item, "callspec", None), "id", "")
    return {name for name in NAMED if name in run.split("-")}


class Reach:
    """What functions come to, each looked at once."""

    def __init__(self) -> None:
        self._known: dict[object, set[str]] = {}

    def of(self, function: Any) -> set[str]:
        """The markers of all that a function of the tests comes to."""
        if function not in self._known:
            self._known[function] = self._walk(inspect.unwrap(function))
        return self._known[function]

    def _walk(self, function: Any) -> set[str]:
        found: set[str] = set()
        waiting, seen = [function], set[int]()
        while waiting:
            one = waiting.pop()
            if id(one) in seen:
                continue
            seen.add(id(one))
            if getattr(one, "__name__", "") in VERDICTS or VERDICTS & _attributes(one):
                found.add("chance")
            sign = _sign(_module(one))
            if sign:
                found.add(sign)
            elif _is_ours(one):
                waiting.extend(_named_by(one))
        return found


def _attributes(thing: Any) -> set[str]:
    """The names that a function of the tests uses."""
    return (
        set(_names(thing.__code__))
        if isinstance(thing, FunctionType) and _is_ours(thing)
        else set()
    )


def _module(thing: Any) -> str:
    name = thing.__name__ if isinstance(thing, ModuleType) else getattr(thing, "__module__", "")
    return name if isinstance(name, str) else ""


def _sign(module: str) -> str:
    """What a module is a sign of, if it or a folder that it lies in is listed."""
    if module in SHARED:
        return ""
    parts = module.split(".")
    folders = (".".join(parts[:size]) for size in range(len(parts), 0, -1))
    return next((STANDS_FOR[name] for name in folders if name in STANDS_FOR), "")


def _is_ours(thing: Any) -> bool:
    """A function or class of the tests; those of the package are not looked into."""
    outside = _module(thing).split(".")[0] in ("adomnia", "builtins", "pytest", "")
    return isinstance(thing, FunctionType | type) and not outside and _file(thing).count("/tests/")


def _file(thing: Any) -> str:
    try:
        return str(inspect.getfile(thing)).replace("\\", "/")
    except (TypeError, OSError):
        return ""


def _named_by(thing: Any) -> Iterator[Any]:
    """What a function names, or the methods of a class do: globals, and modules it imports."""
    if isinstance(thing, type):
        for base in (*thing.__mro__[1:], *vars(thing).values()):
            plain = getattr(base, "__func__", getattr(base, "fget", base))
            if isinstance(plain, FunctionType | type):
                yield plain
        return
    for name in _names(thing.__code__):
        if name in thing.__globals__:
            yield thing.__globals__[name]
        elif _sign(name):
            yield ModuleType(name)
    yield from inspect.getclosurevars(thing).nonlocals.values()


def _names(code: CodeType) -> Iterator[str]:
    """The names that code uses, functions inside it included; imports by their whole name."""
    yield from code.co_names
    yield from (one.argval for one in dis.get_instructions(code) if one.opname == "IMPORT_NAME")
    for inside in code.co_consts:
        if isinstance(inside, CodeType):
            yield from _names(inside)
