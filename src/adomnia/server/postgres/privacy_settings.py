"""Settings that concern privacy: what questions are paid with, and what answers show."""

from __future__ import annotations

from math import inf
from types import MappingProxyType
from typing import Any

from adomnia.curator.access import confidence_of, error_of
from adomnia.privacy.loss import exact
from adomnia.server.postgres.connection_context import wire_errors
from adomnia.wire.errors import WireError
from adomnia.wire.statements.settings import SettingCheck, SettingRules, Settings, on_or_off

__all__ = ["PRODUCT", "RULES", "asked", "pays", "shows_margins", "wants_intervals"]

PRODUCT = "adomnia"

_LOSSES = ("epsilon", "rho", "delta")


def pays(settings: Settings) -> bool:
    """Whether it is set what a question is paid with."""
    return bool(settings.values["adomnia.epsilon"] or settings.values["adomnia.rho"])


def shows_margins(settings: Settings) -> bool:
    """Whether the margins are shown as columns."""
    return settings.values["adomnia.margins"] == "on"


def wants_intervals(settings: Settings) -> bool:
    """Whether quantiles are asked with an interval of values."""
    return settings.values["adomnia.error"] == "interval"


def asked(settings: Settings) -> dict[str, Any]:
    """What a question is asked with, as the curator takes it."""
    losses = {name: settings.values[f"adomnia.{name}"] for name in _LOSSES}
    paid = {name: value for name, value in losses.items() if value}
    error = settings.values["adomnia.error"]
    wanted = {} if error == "rank" else {"error": error}
    return {"confidence": float(settings.values["adomnia.confidence"]), **paid, **wanted}


def _amount(name: str, below: float = inf) -> SettingCheck:
    """An amount, kept as it was written: 0.1 and 1/10 stay exact. Empty means none."""

    def check(value: str) -> str:
        with wire_errors():
            amount = exact(value, name) if value else 0
        if amount >= below:
            raise WireError(f"{name} must be below {below}", "for example 1e-9")
        return value

    return check


def _confidence(value: str) -> str:
    with wire_errors():
        return str(confidence_of(float(value) if value.replace(".", "", 1).isdecimal() else 0.0))


def _error(value: str) -> str:
    with wire_errors():
        return error_of(value.lower())  # type: ignore[arg-type]


RULES = SettingRules(
    PRODUCT,
    MappingProxyType(
        {
            "adomnia.epsilon": "",
            "adomnia.rho": "",
            "adomnia.delta": "",
            "adomnia.confidence": "0.95",
            "adomnia.error": "rank",
            "adomnia.margins": "off",
            "server_version": f"15.0 ({PRODUCT})",
        }
    ),
    MappingProxyType(
        {
            "adomnia.epsilon": _amount("epsilon"),
            "adomnia.rho": _amount("rho"),
            "adomnia.delta": _amount("delta", 1),
            "adomnia.confidence": _confidence,
            "adomnia.error": _error,
            "adomnia.margins": on_or_off,
        }
    ),
    exclusive=frozenset({"adomnia.epsilon", "adomnia.rho"}),  # an answer is paid with one
)
