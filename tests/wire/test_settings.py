"""Settings that a server adds to PostgreSQL's, and how far they go."""

from __future__ import annotations

import pytest

from adomnia.wire.errors import WireError
from adomnia.wire.statements.settings import SettingRules, Settings, startup_settings


def _digits(value: str) -> str:
    if not value.isdecimal():
        raise WireError("this is a number", "for example 3")
    return value


RULES = SettingRules(
    "harbour",
    {"harbour.tide": "1", "harbour.wind": "", "server_version": "15.0 (harbour)"},
    {"harbour.tide": _digits},
    exclusive=frozenset({"harbour.tide", "harbour.wind"}),
)


def begin(**more: str) -> Settings:
    """The settings of Alice."""
    return startup_settings({"user": "alice", **more}, RULES)


def test_a_server_adds_settings_of_its_own() -> None:
    found = begin(options="-c harbour.tide=3")
    assert found.get("Harbour.Tide") == "3"
    assert found.get("server_version") == "15.0 (harbour)"
    assert found.get("session_authorization") == "alice"
    assert found.set("harbour.tide", "4").set("harbour.tide", None) == found
    windy = found.set("harbour.wind", "west")
    assert (windy.get("harbour.tide"), windy.reset()) == ("", found)


def test_what_makes_no_sense_is_refused_by_name() -> None:
    with pytest.raises(WireError, match=r"harbour\.tide: this is a number") as caught:
        begin().set("harbour.tide", "high")
    assert caught.value.sqlstate == "22023"
    with pytest.raises(WireError) as caught:
        begin().set("harbour.moon", "full")
    assert (caught.value.sqlstate, caught.value.hint) == ("42704", "harbour.tide, harbour.wind")
    assert begin().set("other.moon", "full").get("other.moon") == "full"


def test_settings_have_an_end() -> None:
    def fill() -> None:
        settings = begin()
        for number in range(1000):
            settings = settings.set(f"a{number}.{'x' * 50_000}", "y" * 1000)

    with pytest.raises(WireError):
        fill()
