"""Settings of a connection: what they mean, and what is refused."""

from __future__ import annotations

import pytest

from adomnia.server.postgres.privacy_settings import RULES, asked, shows_margins
from adomnia.wire.errors import WireError
from adomnia.wire.statements.settings import startup_settings


def test_settings_come_with_the_start():
    options = "-c adomnia.epsilon=1/10 --adomnia.margins=on -cdatestyle=ISO,\\ DMY"
    parameters = {
        "user": "alice", "options": options,
        "client_encoding": "'utf-8'", "adomnia.confidence": "0.9",
    }  # fmt: skip
    found = startup_settings(parameters, RULES)
    assert asked(found) == {"epsilon": "1/10", "confidence": 0.9}
    assert shows_margins(found)
    assert asked(found.set("adomnia.rho", "0.5")) == {"rho": "0.5", "confidence": 0.9}
    assert asked(found.set("adomnia.error", "INTERVAL"))["error"] == "interval"
    assert found.set("adomnia.epsilon", "2").reset() == found
    assert found.get("CLIENT_ENCODING") == "UTF8"


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [("adomnia.epsilon", "-1", "22023"), ("adomnia.epsilon", "nan", "22023"),
     ("adomnia.delta", "1", "22023"), ("adomnia.confidence", "2", "22023"),
     ("adomnia.margins", "perhaps", "22023"), ("adomnia.error", "small", "22023"),
     ("adomnia.nothing", "1", "42704"),
     ("nonsense", "1", "42704"), ("server_version", "16", "55P02"),
     ("client_encoding", "latin1", "22023"), ("standard_conforming_strings", "off", "22023"),
     ("client_min_messages", "loud", "22023"), ("datestyle", "German", "22023")],
)  # fmt: skip
def test_settings_that_make_no_sense_are_refused(name, value, code):
    with pytest.raises(WireError) as caught:
        startup_settings({"user": "alice"}, RULES).set(name, value)
    assert caught.value.sqlstate == code
