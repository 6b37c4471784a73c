"""Planting: a fault is put wherever the package has what it patches, and taken out again."""

from __future__ import annotations

import pkgutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any

import adomnia
from tests.adversary import seams

Patch = Callable[[Any], Any]
"""What stands there, and what shall stand there in its place."""


@dataclass(frozen=True)
class Fault:
    """A named patch, on which side of the kernel it lies, and what shows it.

    `path` is `module:name`, `module:Class.name` or `module:TABLE[key]`, each in the package;
    `more` are further patches that belong to the same fault. `statements` are those that touch
    it, or kinds of choices; `relation` and `setting` say of which neighbours, `currency` and
    `form` of which budget and source.
    """

    name: str
    side: str
    path: str
    patch: Patch
    statements: tuple[str, ...] = ()
    relation: str | None = None
    setting: Mapping[str, Any] = field(default_factory=dict)
    part: str = "sql"
    currency: str | None = None
    form: str | None = None
    more: tuple[tuple[str, Patch], ...] = ()


@contextmanager
def planted(fault: Fault) -> Iterator[list[int]]:
    """The fault in force while the block runs; how often it was reached."""
    reached = [0]
    _load_all()
    _forget()
    try:
        with ExitStack() as stack:
            for path, patch in ((fault.path, fault.patch), *fault.more):
                stack.enter_context(_one(path, patch, reached if path == fault.path else [0]))
            yield reached
    finally:
        _forget()


@cache
def _load_all() -> None:
    """Every module of the package: one that is loaded later would keep the planted function."""
    for found in pkgutil.walk_packages(adomnia.__path__, "adomnia."):
        if not found.name.endswith("__main__"):
            import_module(found.name)


def _forget() -> None:
    """Empty what the package remembers of pure functions: it was computed with another code."""
    for name, module in list(sys.modules.items()):
        if name.startswith("adomnia") and module is not None:
            for value in list(vars(module).values()):
                if hasattr(value, "cache_clear"):
                    value.cache_clear()


@contextmanager
def _one(path: str, patch: Patch, reached: list[int]) -> Iterator[None]:
    room, _, name = path.partition(":")
    module = import_module(f"adomnia.{room}")
    if name.endswith("]"):
        table, _, key = name[:-1].partition("[")
        owner = getattr(module, table)
        key = next(known for known in owner if getattr(known, "__name__", known) == key)
        original, owner[key] = owner[key], _counted(patch(owner[key]), reached)
        try:
            yield
        finally:
            owner[key] = original
    elif "." in name:
        owner, key = getattr(module, name.split(".")[0]), name.split(".")[1]
        original = vars(owner)[key]
        setattr(owner, key, _counted(patch(original), reached))
        try:
            yield
        finally:
            setattr(owner, key, original)
    else:
        original = getattr(module, name)
        places = seams.replace(original, _counted(patch(original), reached))
        try:
            yield
        finally:
            for place, key in places:
                setattr(place, key, original)


def _counted(patched: Any, reached: list[int]) -> Any:
    if isinstance(patched, property):
        getter = patched.fget
        assert getter is not None
        return property(_counted(getter, reached))
    if isinstance(patched, classmethod):
        return classmethod(_counted(patched.__func__, reached))
    if not callable(patched):
        reached[0] += 1
        return patched

    def call(*args: Any, **named: Any) -> Any:
        reached[0] += 1
        return patched(*args, **named)

    return call


# Ways to patch


def argument(place: int, name: str, change: Callable[[Any], Any]) -> Patch:
    """One argument changed, by place or by name."""

    def patch(original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **named: Any) -> Any:
            if name in named:
                named[name] = change(named[name])
            elif place < len(args):
                args = (*args[:place], change(args[place]), *args[place + 1 :])
            return original(*args, **named)

        return call

    return patch


def result(change: Callable[[Any], Any]) -> Patch:
    """The result changed, of a function or of a property."""

    def patch(original: Any) -> Any:
        if isinstance(original, property):
            getter = original.fget
            assert getter is not None
            return property(lambda self: change(getter(self)))
        return lambda *args, **named: change(original(*args, **named))

    return patch


def instead(other: Any) -> Patch:
    """Something else in its place."""
    return lambda _: other


def always(value: Any) -> Patch:
    """A function or a property that says the same of everything."""
    return result(lambda _: value)
