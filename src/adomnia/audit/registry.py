"""The attacks by name: our own, and those that other packages bring.

A package registers an attack under the entry point group `adomnia.attacks`, by its name and the
class that keeps the protocol of `audit/attack.py` (`docs/own-attack.md`).
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import EntryPoint
from typing import Any

from adomnia.audit.attack import Attack
from adomnia.plugins import Registry

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
    "singling-out": "adomnia.audit.synthetic.attacks:SinglingOut",
    "inference": "adomnia.audit.synthetic.attacks:Inference",
    "membership": "adomnia.audit.synthetic.attacks:Membership",
    "network": "adomnia.audit.networks.attacks:NetworkAttack",
    "prior": "adomnia.audit.exact_releases.attacks:PriorLeak",
}
"""Where our own attacks are; each is loaded when it is named."""


ATTACKS: Registry[type[Attack[Any]]] = Registry(
    "attack",
    GROUP,
    OWN,
    lambda made: all(hasattr(made, part) for part in ("name", "sentence", "run")),
    "does not keep the protocol of an attack",
)


def attack_names() -> tuple[str, ...]:
    """The names of all attacks, our own first.

    >>> attack_names()[:3]
    ('reconstruct', 'decoding', 'averaging')
    """
    return ATTACKS.names()


def attack_named(name: str) -> type[Attack[Any]]:
    """The attack of this name: a class, to be given options.

    Raises a QuestionError where there is none, and a MachineryError where a package registered
    one that cannot be loaded.

    >>> attack_named("averaging").sentence
    'One question again and again, and the mean.'
    """
    return ATTACKS.named(name)


def registered() -> dict[str, EntryPoint]:
    """The attacks of other packages, by name; none can take the name of one of ours."""
    return ATTACKS.registered()
