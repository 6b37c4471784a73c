"""The group of attacks: each verb takes what was published, or asks, and tells a finding."""

from __future__ import annotations

import click

from adomnia.cli.attack.averaging import averaging
from adomnia.cli.attack.decoding import decoding
from adomnia.cli.attack.intersection import intersection
from adomnia.cli.attack.linkage import linkage
from adomnia.cli.attack.microdata import microdata
from adomnia.cli.attack.network import network
from adomnia.cli.attack.prior import prior
from adomnia.cli.attack.ratings import ratings
from adomnia.cli.attack.reconstruct import reconstruct
from adomnia.cli.attack.registered import AttackGroup
from adomnia.cli.attack.tracker import tracker
from adomnia.cli.attack.uniqueness import uniqueness

__all__ = ["attack"]


@click.group(cls=AttackGroup, short_help="One attack by name: reconstruct, linkage, prior, ….")
def attack() -> None:
    """Run one attack and see in numbers what it learns, against knowing nothing.

    Attacks of other packages are listed, too, where they are installed.
    """


for _verb in (
    reconstruct,
    decoding,
    averaging,
    tracker,
    microdata,
    uniqueness,
    linkage,
    intersection,
    ratings,
    network,
    prior,
):
    attack.add_command(_verb)
