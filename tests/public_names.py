"""The public face, walked: what the public rooms export, and the types that come out of it."""

from __future__ import annotations

import ast
import inspect
import typing
from collections.abc import Callable, Iterator
from functools import cache, cached_property
from importlib import import_module
from types import ModuleType
from typing import Any

ROOMS = (
    "adomnia",
    "adomnia.audit",
    "adomnia.federation",
    "adomnia.marginals",
    "adomnia.mining",
    "adomnia.review",
    "adomnia.testing",
)
"""Where a person who writes Python looks for names."""


@cache
def exported() -> dict[str, Any]:
    """Everything that the public rooms export, by the name under which it is found."""
    rooms = [import_module(room) for room in ROOMS]
    return {
        f"{room.__name__}.{name}": getattr(room, name) for room in rooms for name in room.__all__
    }


def classes() -> dict[str, type]:
    """The exported classes."""
    return {name: thing for name, thing in exported().items() if inspect.isclass(thing)}


def functions() -> dict[str, Callable[..., Any]]:
    """The exported functions."""
    return {name: thing for name, thing in exported().items() if inspect.isfunction(thing)}


def methods() -> dict[str, Callable[..., Any]]:
    """The public methods and properties of exported classes, as functions."""
    return {
        f"{name}.{member}": function
        for name, cls in classes().items()
        for member, function in members(cls)
    }


def members(cls: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The public methods and properties of a class, with those that it has from its bases."""
    seen: set[str] = set()
    for base in cls.__mro__:
        for name, member in vars(base).items():
            function = _function(member)
            if base.__module__.startswith("adomnia") and not name.startswith("_") and function:
                if name not in seen:
                    yield name, function
                seen.add(name)


def _function(member: Any) -> Callable[..., Any] | None:
    if isinstance(member, property):
        return member.fget
    if isinstance(member, cached_property):
        return typing.cast("Callable[..., Any]", member.func)
    if isinstance(member, classmethod | staticmethod):
        return member.__func__
    return member if inspect.isfunction(member) else None


def returned(function: Callable[..., Any]) -> set[type]:
    """The classes of this package that a function's result is made of, by its annotation."""
    function = inspect.unwrap(function)
    module = import_module(function.__module__)
    hints = typing.get_type_hints(function, None, _for_types_only(module))
    return set(_parts(hints.get("return")))


def _parts(hint: Any) -> Iterator[type]:
    cls = typing.get_origin(hint) or hint
    if inspect.isclass(cls) and cls.__module__.startswith("adomnia"):
        yield cls
    for part in typing.get_args(hint):
        yield from _parts(part)


@cache
def _for_types_only(module: ModuleType) -> dict[str, Any]:
    """What a module imports for its annotations alone, where these are installed."""
    names: dict[str, Any] = {}
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            exec(ast.unparse(ast.Module(node.body, [])), names)  # our own source
    return names
