"""Noisy values: what a mechanism releases of one measurement, as the ledger keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.mechanisms.margins.margin import Noise

__all__ = ["Key", "Measured", "Noisy", "measured_from"]

Key = tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Noisy:
    """Noisy components, one row per cell; `terms` says of how many draws each cell is a sum.

    Cells that are `tied` share draws. `fitted` ones were moved to agree with what is public.
    Of noise inside the kernel, `widths` say how far each cell strays at each of its levels. The
    `law` names noise that follows the data; units were cut off at `bound`, if one was found.
    """

    values: NDArray[Any]
    noise: Noise | None
    terms: NDArray[np.int64]
    eta: Fraction = Fraction(0)
    tied: bool = False
    fitted: bool = False
    widths: NDArray[np.float64] | None = None
    law: str = ""
    bound: int | None = None

    def to_json(self) -> dict[str, Any]:
        """The values as the ledger keeps them: they are released, so they are no secret."""
        noise = None if self.noise is None else [self.noise.kind, str(self.noise.parameter)]
        return {
            "values": self.values.tolist(),
            "width": self.values.shape[1],
            "noise": noise,
            "eta": str(self.eta),
            "terms": self.terms.tolist() if (self.terms != 1).any() else None,
            **({"tied": True} if self.tied else {}),
            **({"fitted": True} if self.fitted else {}),
            **({} if self.widths is None else {"widths": self.widths.tolist()}),
            **({"law": self.law} if self.law else {}),
            **({} if self.bound is None else {"bound": self.bound}),
        }

    @classmethod
    def from_json(cls, part: Mapping[str, Any]) -> Noisy:
        """The values of a ledger entry."""
        rows = part["values"]
        values = np.array(rows, dtype=object).reshape(len(rows), part["width"])
        kind = part["noise"]
        noise = None if kind is None else Noise(kind[0], Fraction(kind[1]))
        terms = np.array(part["terms"] or [1] * len(values), dtype=np.int64)
        tied, fitted = part.get("tied", False), part.get("fitted", False)
        widths = None if part.get("widths") is None else np.array(part["widths"], np.float64)
        eta, law = Fraction(part["eta"]), part.get("law", "")
        return cls(values, noise, terms, eta, tied, fitted, widths, law, part.get("bound"))


@dataclass(frozen=True)
class Measured:
    """What was released for a question: noisy values per measurement, and the selected keys."""

    parts: tuple[Noisy, ...]
    keys: tuple[Key, ...] | None = None

    def to_json(self) -> dict[str, Any]:
        """All of it as the ledger keeps it."""
        body: dict[str, Any] = {"parts": [part.to_json() for part in self.parts]}
        if self.keys is not None:
            body["keys"] = [[_key_json(value) for value in key] for key in self.keys]
        return body


def measured_from(body: Mapping[str, Any]) -> Measured:
    """What a ledger entry holds."""
    parts = tuple(Noisy.from_json(part) for part in body["parts"])
    keys = body.get("keys")
    return Measured(parts, None if keys is None else tuple(tuple(key) for key in keys))


def _key_json(value: Any) -> Any:
    return value if value is None or isinstance(value, bool | int | str) else str(value)
