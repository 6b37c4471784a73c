"""Sensitivity among the tables that agree with what is already public."""

from __future__ import annotations

from adomnia.privacy import sensitivity as plain
from adomnia.privacy.neighbors import Neighbors
from adomnia.queries.measurement import Measurement

__all__ = ["sensitivity"]


def sensitivity(
    measurement: Measurement,
    setting: plain.Setting,
    neighbors: Neighbors,
    known: tuple[str, ...] = (),
) -> plain.Sensitivity:
    """The sensitivity of a measurement; with nothing known it is the plain one."""
    if known:
        raise NotImplementedError("exact releases are refused by the policy's reader")
    return plain.sensitivity(measurement, setting, neighbors)
