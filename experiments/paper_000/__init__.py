"""No free lunch in data privacy: what no promise can do without assumptions about the data."""

from __future__ import annotations

from experiments.paper_000.discriminants import DISCRIMINANTS
from experiments.paper_000.networks import NETWORKS
from experiments.paper_000.releases import RELEASES
from experiments.paper_000.risk import RISK

__all__ = ["CLAIMS"]

CLAIMS = (*DISCRIMINANTS, *RISK, *NETWORKS, *RELEASES)
