"""Things by name: our own, and those that other packages register as entry points."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar

from adomnia.errors import MachineryError, QuestionError

__all__ = ["Registry"]

T = TypeVar("T")


@dataclass(frozen=True)
class Registry(Generic[T]):
    """All of one kind: `what` it is called, and the entry point `group` of other packages.

    `own` says where ours are, as `module:member`; each is loaded when it is named. What another
    package brings must `fit`, or is refused as being `no_such`.
    """

    what: str
    group: str
    own: Mapping[str, str]
    fits: Callable[[Any], bool]
    no_such: str

    def names(self) -> tuple[str, ...]:
        """All names, our own first; nothing is loaded."""
        return (*self.own, *self.registered())

    def named(self, name: str) -> T:
        """The one of this name.

        Raises a QuestionError where there is none, and a MachineryError where a package
        registered one that cannot be loaded or does not fit.
        """
        if name in self.own:
            module, _, member = self.own[name].partition(":")
            found: T = getattr(import_module(module), member)
            return found
        others = self.registered()
        if name not in others:
            hint = "there are: " + ", ".join(self.names())
            raise QuestionError(f"there is no {self.what} {name[:60]!r}", hint)
        return self._loaded(others[name])

    def registered(self) -> dict[str, EntryPoint]:
        """Those of other packages, by name; none can take the name of one of ours."""
        points = sorted(entry_points(group=self.group), key=lambda one: (one.name, one.value))
        return {one.name: one for one in points if one.name not in self.own}

    def _loaded(self, point: EntryPoint) -> T:
        hint = f"it is registered as {point.value!r} in the entry point group {self.group}"
        try:
            made: T = point.load()
        except Exception as error:
            wrong = f"the {self.what} {point.name!r} cannot be loaded ({type(error).__name__})"
            raise MachineryError(wrong, hint) from None
        if not self.fits(made):
            raise MachineryError(f"{point.name!r} {self.no_such}", hint)
        return made
