"""The laws that every attack keeps, whoever wrote it.

A `Case` has an attack, an example of a careless release on which it succeeds, and a private one
on which it learns nothing. `check_attack` asserts all laws of it; each can be asked alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from adomnia.audit import Attack, Finding, Option, Rate, options_of
from adomnia.errors import QuestionError

__all__ = [
    "LAWS",
    "Case",
    "Example",
    "check_attack",
    "fails_on_private",
    "has_a_name_and_a_sentence",
    "needs_no_truth",
    "refuses_wrong_options",
    "returns_a_finding",
    "same_seed_same_finding",
    "succeeds_on_careless",
]

Published = TypeVar("Published")


@dataclass(frozen=True)
class Example(Generic[Published]):
    """Something that was published, and the truth behind it where a guess can be scored."""

    published: Published
    truth: Any = None


@dataclass(frozen=True)
class Case(Generic[Published]):
    """An attack with its options, and what makes examples for it, each time anew.

    `private` is the attack, perhaps with other options, on a release that protects; `why_not` says
    why there is none, where keeping people private is not what the attack is about.
    """

    attack: Attack[Published]
    careless: Callable[[], Example[Published]]
    private: Callable[[], Example[Published]] | None = None
    guarded: Attack[Published] | None = None
    why_not: str = ""

    def on_careless(self) -> Finding:
        """What it learns of the careless example, scored."""
        example = self.careless()
        return self.attack.run(example.published, example.truth)

    def on_private(self) -> Finding:
        """What it learns of the private example, scored."""
        assert self.private is not None
        example = self.private()
        return (self.guarded or self.attack).run(example.published, example.truth)


def has_a_name_and_a_sentence(case: Case[Any]) -> None:
    """It is called by a name without blanks, and described in one line that ends in a full stop."""
    kind = type(case.attack)
    assert kind.name
    assert not any(sign.isspace() for sign in kind.name)
    assert kind.sentence.endswith(".")
    assert "\n" not in kind.sentence
    assert kind.__doc__


def returns_a_finding(case: Case[Any]) -> None:
    """A finding of plain values, whose interval holds its figure."""
    found = case.on_careless()
    assert isinstance(found, Finding)
    assert isinstance(found.success, Rate)
    assert found.success.low <= found.success.value <= found.success.high
    assert 0 < found.success.confidence <= 1
    assert isinstance(found.baseline, float | int)
    for text in (found.attack, found.claim, found.affected, found.source, found.remedy):
        assert isinstance(text, str)
        assert text
    _plain(found.to_json())


def same_seed_same_finding(case: Case[Any]) -> None:
    """Twice with the same options, twice the same."""
    assert case.on_careless() == case.on_careless()


def needs_no_truth(case: Case[Any]) -> None:
    """Without a truth it runs, and its interval still holds its figure."""
    found = case.attack.run(case.careless().published)
    assert isinstance(found, Finding)
    assert found.success.low <= found.success.value <= found.success.high


def refuses_wrong_options(case: Case[Any]) -> None:
    """No option takes a value of another type, nor one outside its range."""
    for one in options_of(type(case.attack)):
        for wrong in _wrong_values(one):
            try:
                replace(case.attack, **{one.name: wrong})  # type: ignore[type-var]
            except QuestionError:
                continue
            raise AssertionError(f"{one.name} takes {wrong!r}")


def succeeds_on_careless(case: Case[Any]) -> None:
    """Of the careless example it learns more than nothing, beyond doubt."""
    found = case.on_careless()
    assert found.success.low > found.baseline, found.claim


def fails_on_private(case: Case[Any]) -> None:
    """Of the private example it learns nothing that could not be luck."""
    if case.private is None:
        assert case.why_not, "say why nothing is private here"
        return
    found = case.on_private()
    assert found.success.low <= found.baseline, found.claim


LAWS = (
    has_a_name_and_a_sentence,
    returns_a_finding,
    same_seed_same_finding,
    needs_no_truth,
    refuses_wrong_options,
    succeeds_on_careless,
    fails_on_private,
)
"""All of them; each takes a case and raises an AssertionError where it is broken."""


def check_attack(case: Case[Any]) -> None:
    """Assert every law of one attack."""
    for law in LAWS:
        law(case)


def _wrong_values(one: Option) -> list[Any]:
    wrong: list[Any] = [object(), [1]]
    if one.kind is not bool:
        wrong.append(True)
    if one.kind is not str:
        wrong.append("three")
    if one.kind in (int, float):
        wrong += [float("nan")]
        wrong += [one.low - 1] if one.low is not None else []
        wrong += [one.high + 1] if one.high is not None else []
    if one.choices:
        wrong.append("no such choice")
    if not one.optional:
        wrong.append(None)
    return wrong


def _plain(value: Any) -> None:
    """Only what JSON holds; a library's numbers do not leave an attack."""
    if isinstance(value, dict):
        for key, part in value.items():
            assert isinstance(key, str)
            _plain(part)
    elif isinstance(value, list | tuple):
        for part in value:
            _plain(part)
    else:
        assert value is None or type(value) in (bool, int, float, str), type(value)
