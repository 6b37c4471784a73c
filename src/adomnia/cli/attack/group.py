"""The group of attacks: each verb takes what was published, or asks, and tells a finding."""

from __future__ import annotations

import click

from adomnia.cli.attack.averaging import averaging, tracker
from adomnia.cli.attack.linkage import intersection, linkage, uniqueness
from adomnia.cli.attack.microdata import microdata
from adomnia.cli.attack.network import network
from adomnia.cli.attack.prior import prior
from adomnia.cli.attack.ratings import ratings
from adomnia.cli.attack.reconstruct import decoding, reconstruct

__all__ = ["attack"]


@click.group(short_help="One attack by name: reconstruct, linkage, prior, ….")
def attack() -> None:
    """Run one attack and see in numbers what it learns, against knowing nothing."""


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
