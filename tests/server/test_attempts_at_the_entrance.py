"""Attempts to come in as somebody else, or for longer."""

from __future__ import annotations

import os
import time
from pathlib import Path

import httpx
import pytest
from attempting import ask, signed_in
from lodge import COUNT, Lodge, client, served

from adomnia.curator.database import open_database
from adomnia.errors import QuestionError
from adomnia.server.accounts import open_accounts
from adomnia.server.credential_cache import CredentialCache
from adomnia.server.login_limits import LoginLimits
from adomnia.server.serve import Addresses, Where, check


def test_a_new_secret_ends_the_sessions_of_the_old_one(at: Addresses, lodge: Lodge) -> None:
    lodge.accounts.add("mallory", "curator", "a secret that was stolen")
    thief = signed_in(at, "mallory", "a secret that was stolen")
    lodge.accounts.remove("mallory")
    lodge.accounts.add("mallory", "curator")
    try:
        assert thief.get("/ledger").status_code == 303
    finally:
        lodge.accounts.remove("mallory")


def test_a_removed_account_asks_nothing_more(at: Addresses, lodge: Lodge) -> None:
    """Also not in the second in which it still opens the door."""
    lodge.accounts.add("trudy", "curator", "the secret of trudy")
    with httpx.Client(base_url=at.url or "", auth=("trudy", "the secret of trudy")) as trudy:
        assert trudy.get("/v1/budget").status_code == 200
        lodge.accounts.remove("trudy")
        assert ask(trudy, COUNT, 1).status_code == 401
        lodge.accounts.add("trudy", "curator", "another secret of trudy")
        assert ask(trudy, COUNT, 1).status_code == 401
    lodge.accounts.remove("trudy")


def test_the_addresses_of_one_network_share_their_failures() -> None:
    limits = LoginLimits(by_address=60)
    for number in range(200):
        limits.failed(f"name{number}", f"2001:db8::{number:x}")
    assert limits.allowed("another", "2001:db8::ffff") > 0
    assert limits.allowed("another", "2001:db8::1:0:0:0%eth0") > 0
    assert limits.allowed("another", "2001:db8:0:1::1") == 0


def test_an_address_is_one_however_it_is_written() -> None:
    limits = LoginLimits(by_address=1)
    limits.failed("", "::ffff:10.0.0.1")
    assert limits.allowed("", "10.0.0.1") > 0
    assert limits.allowed("", "10.0.0.2") == 0
    assert limits.allowed("", "no address") == 0


def test_failures_cannot_be_put_on_other_addresses_or_spellings(lodge: Lodge) -> None:
    with (
        served(lodge.service(LoginLimits(by_both=3, by_address=6))) as at,
        client(at, None) as stranger,
    ):
        seen = []
        for number in range(8):
            spelled = ("alice", "Alice", "ALICE", "alice ", "ａlice")[number % 5]
            sent = {"X-Forwarded-For": f"10.0.0.{number}", "Forwarded": f"for=10.0.0.{number}"}
            login = httpx.BasicAuth(spelled.encode(), b"wrong secret")
            seen.append(stranger.get("/v1/budget", auth=login, headers=sent).status_code)
    assert seen[:6] == [401] * 6
    assert seen[6:] == [429] * 2


def test_a_key_is_taken_from_no_address_and_dies_with_its_account(
    at: Addresses, lodge: Lodge
) -> None:
    lodge.accounts.add("trent", "curator", "the secret of trent")
    key = lodge.accounts.make_key("trent")
    with client(at, None) as stranger:
        for query in (f"?key={key}", f"?api_key={key}", f"?access_token={key}"):
            assert stranger.get(f"/v1/budget{query}").status_code == 401
        bearer = {"Authorization": f"Bearer {key}"}
        assert stranger.get("/v1/budget", headers=bearer).status_code == 200
        lodge.accounts.remove("trent")
        lodge.accounts.add("trent", "curator", "the secret of trent")
        time.sleep(1.1)
        assert stranger.get("/v1/budget", headers=bearer).status_code == 401
    lodge.accounts.remove("trent")


def test_names_and_secrets_do_not_run_into_each_other() -> None:
    kept = CredentialCache[bool](60.0)
    kept.put(True, "ab", "c")
    pairs = (("a", "bc"), ("abc", ""), ("", "abc"), ("ab", "c", ""), ("2:ab1:c",))
    assert not any(kept.get(*pair) for pair in pairs)


def test_the_accounts_are_for_their_owner_also_without_a_mask(tmp_path: Path, lodge: Lodge) -> None:
    for name in ("adomnia.toml", "people.parquet"):
        (tmp_path / name).write_bytes((lodge.policy.parent / name).read_bytes())
    before = os.umask(0)
    try:
        with (
            open_database(tmp_path / "adomnia.toml") as database,
            open_accounts(database.policy) as accounts,
        ):
            accounts.add("zoe", "analyst")
            open_to_others = {f.name for f in tmp_path.iterdir() if f.stat().st_mode & 0o077}
            told = repr(accounts) + repr(vars(accounts))
    finally:
        os.umask(before)
    assert open_to_others == {"adomnia.toml", "people.parquet"}
    assert "scrypt$" not in told


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "::", "", "127.0.0.1.example", "localhost.example", "::ffff:10.0.0.1", "*"]
)
def test_no_spelling_of_everywhere_passes_for_this_machine(host: str) -> None:
    with pytest.raises(QuestionError, match="without TLS"):
        check(Where(host=host))
