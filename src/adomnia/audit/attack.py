"""The protocol of an attack: what was published goes in, a finding with an interval comes out.

An attack is a frozen value. Its fields are its options, with types, ranges and defaults; `run`
takes what was published, and the truth only from a caller who wants the guess scored. It never
touches data or a ledger, and the same options and seed give the same finding. The laws that every
attack keeps are in `tests/laws/attack_laws.py`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import MISSING, dataclass, field, fields
from types import NoneType, UnionType
from typing import Any, ClassVar, Literal, Protocol, TypeVar, Union, get_args, get_origin
from typing import get_type_hints as hints_of

from adomnia.audit.finding import Finding
from adomnia.errors import QuestionError

__all__ = ["Attack", "CheckedOptions", "Option", "option", "options_of"]

Published_contra = TypeVar("Published_contra", contravariant=True)


class Attack(Protocol[Published_contra]):
    """One way to learn something from what was published.

    `name` is what it is called on the command line, and `sentence` what it does, in one line.

    >>> from adomnia.audit import CountOracle, attack_named
    >>> attack = attack_named("averaging")("age > 40", epsilon=1.0, repeats=3)
    >>> attack.run(CountOracle(lambda condition: 41.8), truth=42).success.value
    1.0
    """

    name: ClassVar[str]
    sentence: ClassVar[str]

    def run(self, published: Published_contra, truth: Any = None) -> Finding:
        """What is learned, against the baseline of knowing nothing.

        `truth` only scores: without it the attack runs all the same, and says that the success is
        not known. Raises a QuestionError where nothing of the kind can be attacked.
        """
        ...


@dataclass(frozen=True)
class Option:
    """One option of an attack: its name, type, default and range.

    `kind` is bool, int, float or str; `choices` are the texts that are allowed, where not all
    are. An option that is `required` has no default; one that is `optional` may be None.

    >>> Option("trials", int, 100, low=1).check(5)
    """

    name: str
    kind: type
    default: Any = None
    about: str = ""
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    required: bool = False
    optional: bool = False

    def check(self, value: Any) -> None:
        """Refuse, by a QuestionError, a value of another type, or outside the range."""
        if value is None and self.optional:
            return
        if self.choices and value not in self.choices:
            raise QuestionError(f"{self.name} must be one of {', '.join(self.choices)}")
        numbers = (int, float) if self.kind is float else (self.kind,)
        right = isinstance(value, numbers) and (self.kind is bool or not isinstance(value, bool))
        if not right:
            raise QuestionError(f"{self.name} must be {_NOUNS[self.kind]}", self.about)
        if self.kind not in (int, float):
            return
        above = self.low is None or value >= self.low
        below = self.high is None or value <= self.high
        if not (above and below) or math.isnan(value):
            raise QuestionError(f"{self.name} must be {self._range()}", self.about)

    def _range(self) -> str:
        if self.high is None:
            return f"{_NOUNS[self.kind]} from {self.low:g} on"
        if self.low is None:
            return f"{_NOUNS[self.kind]} up to {self.high:g}"
        return f"{_NOUNS[self.kind]} from {self.low:g} to {self.high:g}"


_NOUNS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


def option(
    default: Any = MISSING, about: str = "", low: float | None = None, high: float | None = None
) -> Any:
    """A field of an attack with its meaning and range; without a default it must be given.

    Raises nothing: a value is checked when an attack is made.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Guess(CheckedOptions):
    ...     trials: int = option(100, "How often it is tried.", 1)
    >>> Guess().trials
    100
    """
    metadata = {"about": about, "low": low, "high": high}
    if default is MISSING:
        return field(metadata=metadata)
    return field(default=default, metadata=metadata)


def options_of(attack: type[Attack[Any]]) -> tuple[Option, ...]:
    """The options of an attack, from the types of its fields.

    A field of another type than bool, int, float, str or a Literal of texts is handed in from
    Python only, and is no option.

    >>> from adomnia.audit import Averaging
    >>> [one.name for one in options_of(Averaging)]
    ['condition', 'epsilon', 'repeats']
    """
    return tuple(_options(attack))


def _options(attack: type[Attack[Any]]) -> Iterator[Option]:
    hints = hints_of(attack)
    for one in fields(attack):  # type: ignore[arg-type]
        parts = _parts(hints[one.name])
        chosen = [part for part in parts if part is not NoneType]
        choices = get_args(chosen[0]) if get_origin(chosen[0]) is Literal else ()
        kind = str if choices else chosen[0]
        if len(chosen) != 1 or kind not in _NOUNS:
            continue
        required = one.default is MISSING and one.default_factory is MISSING
        yield Option(
            one.name,
            kind,
            None if required else one.default,
            one.metadata.get("about", ""),
            one.metadata.get("low"),
            one.metadata.get("high"),
            choices,
            required,
            NoneType in parts,
        )


def _parts(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


class CheckedOptions:
    """Options that are checked when they are given: their types and ranges.

    Raises a QuestionError where one of them is wrong.

    >>> from adomnia.audit import Averaging
    >>> Averaging("age > 40", epsilon=1.0).repeats is None
    True
    """

    def __post_init__(self) -> None:
        for one in options_of(type(self)):  # type: ignore[arg-type]
            one.check(getattr(self, one.name))
