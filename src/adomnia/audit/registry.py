"""The attacks by name: our own, and those that other packages bring.

A package registers an attack under the entry point group `adomnia.attacks`, by its name and the
class that keeps the protocol of `audit/attack.py` (`docs/own-attack.md`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from adomnia.audit.attack import Attack
from adomnia.errors import MachineryError, QuestionError

__all__ = ["GROUP", "OWN", "attack_named", "attack_names", "registered"]

GROUP = "adomnia.attacks"
"""The entry point group of attacks."""

OWN: Mapping[str, str] = {
    "reconstruct": "adomnia.audit.reconstruction.attacks:Reconstruct",
    "decoding": "adomnia.audit.reconstruction.attacks:Decoding",
    "averaging": "adomnia.audit.reconstruction.attacks:Averaging",
    "tracker": "adomnia.audit.reconstruction.attacks:Tracker",
    "microdata": "adomnia.audit.reconstruction.attacks:Microdata",
    "uniqueness": "adomnia.audit.linkage.attacks:Uniqueness",
    "linkage": "adomnia.audit.linkage.attacks:Linkage",
    "intersection": "adomnia.audit.linkage.attacks:Intersection",
    "ratings": "adomnia.audit.linkage.attacks:RatingsAttack",
    "network": "adomnia.audit.networks.attacks:NetworkAttack",
    "prior": "adomnia.audit.exact_releases.attacks:PriorLeak",
}
"""Where our own attacks are; each is loaded when it is named."""


def attack_names() -> tuple[str, ...]:
    """The names of all attacks, our own first.

    >>> attack_names()[:3]
    ('reconstruct', 'decoding', 'averaging')
    """
    return (*OWN, *registered())


def attack_named(name: str) -> type[Attack[Any]]:
    """The attack of this name: a class, to be given options.

    Raises a QuestionError where there is none, and a MachineryError where a package registered
    one that cannot be loaded.

    >>> attack_named("averaging").sentence
    'One question again and again, and the mean.'
    """
    if name in OWN:
        module, _, member = OWN[name].partition(":")
        return getattr(import_module(module), member)  # type: ignore[no-any-return]
    others = registered()
    if name not in others:
        hint = "there are: " + ", ".join(attack_names())
        raise QuestionError(f"there is no attack {name[:60]!r}", hint)
    return _loaded(others[name])


def registered() -> dict[str, EntryPoint]:
    """The attacks of other packages, by name; none can take the name of one of ours."""
    return {one.name: one for one in _points() if one.name not in OWN}


def _points() -> Iterator[EntryPoint]:
    yield from sorted(entry_points(group=GROUP), key=lambda one: (one.name, one.value))


def _loaded(point: EntryPoint) -> type[Attack[Any]]:
    hint = f"it is registered as {point.value!r} in the entry point group {GROUP}"
    try:
        made = point.load()
    except Exception as error:
        kind = type(error).__name__
        raise MachineryError(f"the attack {point.name!r} cannot be loaded ({kind})", hint) from None
    if not all(hasattr(made, part) for part in ("name", "sentence", "run")):
        raise MachineryError(f"{point.name!r} does not keep the protocol of an attack", hint)
    return made  # type: ignore[no-any-return]
