"""The mechanisms of other packages, by name; the policy says which of them may be used.

A package registers one under the entry point group `adomnia.mechanisms`, by its name and the
function that makes it (`docs/own-mechanism.md`). Our own are chosen by planning and have no name
here.
"""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import Any

from adomnia.errors import PolicyError
from adomnia.mechanisms.outside import Factory, Origin
from adomnia.plugins import Registry
from adomnia.policy.toml_reader import closest

__all__ = ["GROUP", "check_registered", "mechanism_named", "origin_of", "registered"]

GROUP = "adomnia.mechanisms"
"""The entry point group of mechanisms."""

MECHANISMS: Registry[Factory] = Registry("mechanism", GROUP, {}, callable, "makes no mechanism")


def registered() -> dict[str, EntryPoint]:
    """What installed packages register, by name; nothing is loaded."""
    return MECHANISMS.registered()


def check_registered(names: tuple[str, ...]) -> None:
    """Refuse names that no installed package registers, or more than one; nothing is loaded."""
    for name in names:
        packages = sorted(
            {origin_of(point).package for point in entry_points(group=GROUP, name=name)}
        )
        if not packages:
            known = registered()
            hint = closest(name, known) if known else "install the package that brings it"
            raise PolicyError(f"no installed package registers the mechanism {name!r}", hint)
        if len(packages) > 1:
            both = ", ".join(packages)
            hint = "the promise would rest on either: keep one of them installed"
            raise PolicyError(f"several packages register the mechanism {name!r}: {both}", hint)


def mechanism_named(name: str) -> tuple[Origin, Factory]:
    """Where a mechanism comes from, and what makes it.

    Raises a QuestionError where there is none, and a MachineryError where it cannot be loaded.
    """
    make = MECHANISMS.named(name)
    return origin_of(registered()[name]), make


def origin_of(point: EntryPoint) -> Origin:
    """The mechanism that an entry point names, with the package it is from and its version."""
    package: Any = point.dist
    if package is None:
        return Origin(point.name, "unknown", "unknown")
    return Origin(point.name, package.name, package.version)
