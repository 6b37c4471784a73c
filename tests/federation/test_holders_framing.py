"""The framing: nonsense, drips, strangers' silence and broken replies; the holder goes on."""

from __future__ import annotations

import json
import socket
import time

import pytest
from holding import ASKER, Village, people, write_town

from adomnia.errors import MachineryError, PolicyError
from adomnia.federation import framing
from adomnia.federation import holder as holder_module
from adomnia.limits import MAX_HOLDER_REPLY, MAX_HOLDER_REQUEST

SQL = "SELECT COUNT(*) AS n FROM people"


def framed(message):
    data = json.dumps(message).encode()
    return len(data).to_bytes(4, "big") + data


def talk(port, data):
    with socket.create_connection(("127.0.0.1", port), timeout=60) as line:
        line.sendall(data)
        return framing.read_frame(line, MAX_HOLDER_REPLY, 60)


@pytest.mark.parametrize(
    "data",
    [
        b"\xff\xff\xff\xff",
        (MAX_HOLDER_REQUEST + 1).to_bytes(4, "big") + b"{",
        b"\0\0\0\x05hello",
        b"\0\0\0\x02[]",
        b"\0\0\0\x02{}",
        b"\0\0\0\x00",
        (200_000).to_bytes(4, "big") + b"[" * 200_000,
        framed({"from": ASKER, "body": "{}", "mac": "é"}),
        framed({"from": [1], "body": 3, "mac": None}),
    ],
    ids=range(9),
)
def test_nonsense_on_the_wire_is_refused_and_the_holder_lives(settled, data):
    assert "refused" in talk(settled.ports["north"], data)
    assert settled.group.ask(SQL, 1).rows


def test_a_slow_message_does_not_hold_the_line(settled, monkeypatch):
    monkeypatch.setattr(framing.read_frame, "__defaults__", (0.2,))
    with socket.create_connection(("127.0.0.1", settled.ports["north"]), timeout=60) as line:
        line.sendall(b"\0\0")
        begun = time.monotonic()
        assert "refused" in framing.read_frame(line, MAX_HOLDER_REPLY, 60)
        assert time.monotonic() - begun < 60
    assert settled.group.ask(SQL, 1).rows


@pytest.mark.parametrize("address", ["", "127.0.0.1", "127.0.0.1:x", ":7", "h:99999"])
def test_an_address_has_host_and_port(address):
    with pytest.raises(PolicyError, match="not an address"):
        framing.parse_address(address)


def test_unreachable_holders_are_a_clear_error(tmp_path):
    village = Village(tmp_path)
    file = write_town(tmp_path / "x", people(1, 1))
    with pytest.raises(MachineryError, match="too few") as caught:
        village.ask_all(file).ask(SQL, 1)
    assert "nobody spent" in caught.value.hint


@pytest.mark.parametrize("words", [None, 7, "###", "AAAA", "AAAAAAAAAAA="])
def test_a_holder_that_sends_no_words_is_named(settled, monkeypatch, words):
    monkeypatch.setattr(settled.holders["west"], "_give", lambda *a: {"words": words})
    with pytest.raises(MachineryError, match="'west' sent something else"):
        settled.group.ask(SQL, 1)


def test_an_unexpected_failure_says_its_kind_and_nothing_else(settled, monkeypatch):
    def fail(*a):
        raise RuntimeError("a value from the data")

    monkeypatch.setattr(holder_module.holder_share, "contribute", fail)
    with pytest.raises(MachineryError) as caught:
        settled.group.ask(SQL, 1)
    assert "RuntimeError" in caught.value.message
    assert "value from" not in str(caught.value)
