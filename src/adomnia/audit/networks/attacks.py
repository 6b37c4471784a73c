"""The attacks of this folder by the protocol: accounts and friends in a network without names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from adomnia.audit.attack import CheckedOptions, option
from adomnia.audit.files import read_edges
from adomnia.audit.finding import Finding
from adomnia.audit.networks.active_attack import (
    Coalition,
    PlantedAccounts,
    Publish,
    active_attack,
    passive_attack,
)
from adomnia.audit.networks.pattern import AdjacencyLists
from adomnia.errors import QuestionError

__all__ = ["NetworkAttack", "PublishedNetwork"]


@dataclass(frozen=True, eq=False)
class PublishedNetwork:
    """A network, and how it is published: as it is, with its names removed, unless told.

    >>> from adomnia.audit import AdjacencyLists
    >>> PublishedNetwork(AdjacencyLists.of([(0, 1)])).publish is None
    True
    """

    network: AdjacencyLists
    publish: Publish | None = None


@dataclass(frozen=True)
class NetworkAttack(CheckedOptions):
    """Find planted accounts, or a user and friends, in a network whose names were removed.

    The attacker knows himself and nobody else, so it needs no truth.

    >>> import numpy as np
    >>> from adomnia.audit import AdjacencyLists
    >>> edges = np.random.default_rng(1).integers(0, 60, (200, 2))
    >>> published = PublishedNetwork(AdjacencyLists.of(edges, nodes=60))
    >>> NetworkAttack(friends=4, trials=5).run(published).attack
    'passive'
    """

    name: ClassVar[str] = "network"
    sentence: ClassVar[str] = "Planted accounts, or friends, in a network without names."

    accounts: int = option(7, "How many are planted.", 2, 40)
    targets: int = option(50, "People whose edges are read.", 1)
    friends: int | None = option(None, "Plant nothing: so many look for themselves.", 2, 40)
    counts: bool = option(False, "The friends also compare whom they know together.")
    trials: int = option(100, "How often it is tried.", 1)
    seed: int = option(0, "For chance.", 0)
    names: bool = option(False, "Also which edges were learned: exact data.")
    time_limit: float = option(60.0, "In seconds.", 0)

    @staticmethod
    def read(files: Sequence[str]) -> PublishedNetwork:
        """One file of edges, two numbers a line.

        Raises a QuestionError where there is not one.
        """
        if len(files) != 1:
            raise QuestionError("this attack takes one file", "a file of edges")
        return PublishedNetwork(AdjacencyLists.of(read_edges(files[0])))

    def run(self, published: PublishedNetwork, truth: None = None) -> Finding:
        """The share of the trials in which the attacker found himself, and nobody else."""
        if self.friends is not None:
            who = Coalition(self.friends, self.counts, self.names)
            return passive_attack(
                published.network, who, self.trials, self.seed, self.time_limit, published.publish
            )
        few = PlantedAccounts(self.accounts, self.targets, names=self.names)
        return active_attack(
            published.network, few, self.trials, self.seed, self.time_limit, published.publish
        )
