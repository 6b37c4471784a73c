"""What a room gives to everybody: names that are loaded when they are first used."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

__all__ = ["Exports"]


class Exports:
    """The public names of a package, by the modules that have them.

    `__getattr__, __dir__ = Exports(__name__, {"module": "Name other_name"})` in its `__init__`
    makes importing the package quick: NumPy, SciPy and Arrow come with the name that needs them.
    """

    def __init__(self, package: str, members: Mapping[str, str]) -> None:
        self.package = package
        self.homes = {name: home for home, names in members.items() for name in names.split()}

    def load(self, name: str) -> Any:
        """The member of a name, from its module."""
        if name not in self.homes:
            raise AttributeError(f"module {self.package!r} has no attribute {name!r}")
        return getattr(import_module(f"{self.package}.{self.homes[name]}"), name)

    def names(self) -> list[str]:
        """All names, sorted, as `dir` shows them."""
        return sorted(self.homes)
