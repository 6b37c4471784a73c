"""Accounts: both stores keep the same laws, and neither keeps a secret."""

from __future__ import annotations

import hashlib
import hmac
import stat
import time
from base64 import b64decode, b64encode
from collections.abc import Iterator
from pathlib import Path

import postgres_cluster
import psycopg
import pytest

from adomnia.errors import AdomniaError, MachineryError, PolicyError, QuestionError
from adomnia.server import accounts as module
from adomnia.server import credential_cache
from adomnia.server.account_store import open_store
from adomnia.server.accounts import Accounts, Person, ScramVerifier
from adomnia.server.credential_cache import CredentialCache
from adomnia.wire.protocol.scram import fake_verifier, make_verifier

STORES = ["sqlite", "postgres"]
COST, QUICK = module.SCRYPT, (2**10, 8, 1)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    if postgres_cluster.initdb() is None:
        pytest.skip("PostgreSQL's programs are not here")
    with postgres_cluster.cluster() as url:
        yield url


@pytest.fixture(params=STORES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield str(tmp_path / "adomnia.accounts")
        return
    found = request.getfixturevalue("server")
    yield found
    with psycopg.connect(found) as line:
        line.execute("DROP TABLE IF EXISTS adomnia_keys, adomnia_accounts, adomnia_facts")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cheaper scrypt: what is tested here does not depend on its cost."""
    monkeypatch.setattr(module, "SCRYPT", QUICK)
    monkeypatch.setattr(module, "_NOBODY", module._NOBODY.replace("32768", str(QUICK[0])))


@pytest.fixture
def accounts(url: str) -> Iterator[Accounts]:
    with Accounts(open_store(url)) as made:
        yield made


def everything(url: str) -> str:
    """All that the store holds, as one text."""
    if url.startswith("postgresql"):
        with psycopg.connect(url) as line:
            tables = ("adomnia_accounts", "adomnia_keys", "adomnia_facts")
            return str([line.execute(f"SELECT * FROM {name}").fetchall() for name in tables])
    return Path(url).read_bytes().decode("latin-1")


def test_somebody_comes_in_with_their_secret_and_with_no_other(accounts: Accounts) -> None:
    secret = accounts.add("alice", "analyst")
    assert accounts.check("alice", secret) == Person("alice", "analyst")
    assert accounts.check("alice", secret) == Person("alice", "analyst")
    assert accounts.check("alice", secret + "x") is None
    assert accounts.check("Alice", secret) is None
    assert accounts.check("bob", secret) is None
    assert accounts.people() == (Person("alice", "analyst"),)
    assert accounts.person("alice") == Person("alice", "analyst")
    assert accounts.person("bob") is None


def test_a_made_secret_has_at_least_160_bits(accounts: Accounts) -> None:
    assert module.SECRET_BYTES * 8 >= 160
    made = {accounts.add(f"a{i}", "analyst") for i in range(3)}
    assert len(made) == 3
    assert all(len(secret) >= 27 for secret in made)


def test_no_secret_and_no_key_is_stored(accounts: Accounts, url: str) -> None:
    secret = accounts.add("alice", "analyst")
    key = accounts.make_key("alice", "notebook")
    text = everything(url)
    assert "scrypt$1024$8$1$" in text
    assert "SCRAM-SHA-256$32768:" in text
    assert secret not in text
    assert key.rsplit("_", 1)[1] not in text


def test_a_key_opens_until_it_is_revoked(accounts: Accounts) -> None:
    accounts.add("alice", "curator")
    key, other = accounts.make_key("alice", "notebook"), accounts.make_key("alice")
    assert accounts.check_key(key) == Person("alice", "curator")
    (identity,) = [found.identity for found in accounts.keys("alice") if found.label == "notebook"]
    for wrong in (key[:-1] + ("0" if key[-1] != "0" else "1"), key + "0", "", "adomnia_", "\0"):
        assert accounts.check_key(wrong) is None
    with pytest.raises(QuestionError, match="has no key"):
        accounts.revoke_key("bob", identity)
    accounts.revoke_key("alice", identity)
    assert accounts.check_key(key) is None
    assert accounts.check_key(other) == Person("alice", "curator")


def test_who_is_removed_is_out_at_once_and_stays_out(accounts: Accounts, url: str) -> None:
    secret = accounts.add("alice", "analyst")
    key = accounts.make_key("alice")
    assert accounts.check("alice", secret)  # remembered from here on
    with Accounts(open_store(url)) as elsewhere:
        elsewhere.remove("alice")
        assert accounts.check("alice", secret) is None
        assert accounts.check_key(key) is None
        elsewhere.add("alice", "curator", "another secret")
    assert accounts.check("alice", secret) is None
    assert accounts.check_key(key) is None
    assert accounts.keys("alice") == ()
    assert accounts.check("alice", "another secret") == Person("alice", "curator")


@pytest.mark.parametrize("name", ["", "a" * 64, "a b", "a:b", "-a", "a\n", "a\0", "é", "a'--"])
def test_names_that_no_door_could_spell_are_refused(accounts: Accounts, name: str) -> None:
    with pytest.raises(QuestionError, match="cannot be a name"):
        accounts.add(name, "analyst")
    assert accounts.check(name, "the secret of nobody") is None
    assert accounts.scram(name).iterations == 32_768


@pytest.mark.parametrize("secret", ["", "short", "x" * 257, "with\nline", "schlüsselwort"])
def test_secrets_that_doors_spell_differently_are_refused(accounts: Accounts, secret: str) -> None:
    with pytest.raises(QuestionError, match="a secret has"):
        accounts.add("alice", "analyst", secret)
    assert accounts.people() == ()


def test_what_makes_no_sense_is_refused(accounts: Accounts) -> None:
    accounts.add("alice", "analyst", "long enough")
    with pytest.raises(QuestionError, match="already"):
        accounts.add("alice", "curator", "long enough")
    with pytest.raises(QuestionError, match="not a role"):
        accounts.add("bob", "admin")
    with pytest.raises(QuestionError, match="no analyst can be named curator"):
        accounts.add("curator", "analyst")
    for act in (accounts.remove, accounts.make_key):
        with pytest.raises(QuestionError, match="no account"):
            act("nobody")
    with pytest.raises(QuestionError, match="label"):
        accounts.make_key("alice", "two\nlines")


def test_an_unknown_name_costs_as_much_as_a_wrong_secret(
    accounts: Accounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    accounts.add("alice", "analyst", "long enough")
    runs: list[tuple[int, ...]] = []
    scrypt = module._scrypt

    def counted(secret: str, salt: bytes, *cost: int) -> bytes:
        runs.append(cost)
        return scrypt(secret, salt, *cost)

    monkeypatch.setattr(module, "_scrypt", counted)
    assert accounts.check("alice", "wrong secret") is None
    assert accounts.check("bob", "wrong secret") is None
    assert runs == [QUICK] * 2
    assert COST == (2**15, 8, 1)  # 32 MiB and about 0.1 s


def test_a_right_secret_is_hashed_once_in_a_while(
    accounts: Accounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    accounts.add("alice", "analyst", "long enough")
    assert accounts.check("alice", "long enough")
    monkeypatch.setattr(module, "_matches", lambda *_: pytest.fail("hashed again"))
    assert accounts.check("alice", "long enough")


def test_what_is_remembered_ends(accounts: Accounts, monkeypatch: pytest.MonkeyPatch) -> None:
    accounts.add("alice", "analyst", "long enough")
    assert accounts.check("alice", "long enough")
    later = time.monotonic() + module.SECONDS + 1
    monkeypatch.setattr("adomnia.server.credential_cache.time.monotonic", lambda: later)
    monkeypatch.setattr(module, "_matches", lambda *_: False)
    assert accounts.check("alice", "long enough") is None


def test_memory_holds_the_latest_and_no_secret() -> None:
    memory = CredentialCache[int](60)
    for number in range(credential_cache.MAX_VALUES + 10):
        memory.put(number, "name", f"secret {number}")
    assert memory.get("name", "secret 9") is None
    assert memory.get("name", "secret 10") == 10
    assert memory.get("names", "ecret 10") is None
    assert b"secret" not in b"".join(memory._values)
    assert len(memory._values) == credential_cache.MAX_VALUES


# SCRAM


def test_the_verifier_is_that_of_the_standard() -> None:
    """The example of RFC 7677, section 3."""
    salt = b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
    made = make_verifier("pencil", salt, 4096)
    nonce = "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
    said = (
        f"n=user,r=rOprNGfwEbeRWgbNEkqO,r={nonce},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096,"
        f"c=biws,r={nonce}"
    )
    signature = hmac.digest(made.server_key, said.encode(), "sha256")
    assert b64encode(signature) == b"6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="
    proof = b64decode("dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=")
    client = hmac.digest(made.stored_key, said.encode(), "sha256")
    key = bytes(a ^ b for a, b in zip(proof, client, strict=True))
    assert hashlib.sha256(key).digest() == made.stored_key


def test_the_verifier_is_that_of_postgresql(server: str) -> None:
    with psycopg.connect(server, autocommit=True) as line:
        line.execute("CREATE ROLE someone PASSWORD 'a secret, and long'")
        query = "SELECT rolpassword FROM pg_authid WHERE rolname = 'someone'"
        ((stored,),) = line.execute(query).fetchall()
    _, first, second = stored.split("$")
    (count, salt), (stored_key, server_key) = first.split(":"), second.split(":")
    ours = make_verifier("a secret, and long", b64decode(salt), int(count))
    assert (ours.stored_key, ours.server_key) == (b64decode(stored_key), b64decode(server_key))


def test_an_unknown_name_has_a_verifier_that_stays(accounts: Accounts, url: str) -> None:
    secret = accounts.add("alice", "analyst")
    real = accounts.scram("alice")
    assert real == make_verifier(secret, real.salt)
    fake = accounts.scram("nobody")
    assert (len(fake.salt), fake.iterations) == (len(real.salt), real.iterations)
    assert fake != accounts.scram("somebody")
    with Accounts(open_store(url)) as later:
        assert later.scram("nobody") == fake
    assert fake != fake_verifier("nobody", b"another key")
    assert ScramVerifier.from_text(real.to_text()) == real


# Stores


def test_the_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "adomnia.accounts"
    path.touch(0o644)
    with Accounts(open_store(str(path))) as made:
        made.add("alice", "analyst", "long enough")
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_places_that_cannot_hold_accounts_are_refused(tmp_path: Path) -> None:
    for url in ("mysql://host/db", str(tmp_path / "missing" / "file")):
        with pytest.raises(PolicyError):
            open_store(url)
    (tmp_path / "no database").write_text("something else, and long enough to be read as a file")
    with pytest.raises(MachineryError, match="cannot be read or written"):
        open_store(str(tmp_path / "no database"))
    with pytest.raises(MachineryError, match="OperationalError"):
        open_store(f"postgresql://nobody@/none?host={tmp_path}")


def test_a_broken_line_to_postgresql_is_opened_again(server: str) -> None:
    with Accounts(open_store(server)) as made:
        made.add("erin", "analyst", "long enough")
        with psycopg.connect(server, autocommit=True) as line:
            line.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
            )
        assert made.check("erin", "long enough") == Person("erin", "analyst")
        made.remove("erin")


def test_a_failure_says_no_more_than_its_kind(accounts: Accounts) -> None:
    with pytest.raises(AdomniaError) as failed:
        accounts._store.rows("SELECT hashed FROM nowhere")
    assert "nowhere" not in str(failed.value)
    assert failed.value.__cause__ is None
    assert failed.value.__context__ is None
