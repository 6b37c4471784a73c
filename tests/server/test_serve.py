"""`adomnia serve`: doors that open as they say, and close cleanly."""

from __future__ import annotations

import json
import os
import signal
import socket
import ssl
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import httpx
import psycopg
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from lodge import (
    COUNT,
    SECRETS,
    Lodge,
    command,
    lodging,
    process,
    served,
    started,
    write_people,
)

from adomnia.cli.serve import ways_in
from adomnia.curator.database import open_database
from adomnia.errors import QuestionError
from adomnia.server.accounts import Person
from adomnia.server.serve import Addresses, Where, check
from tests.free_port import free_port


@pytest.fixture(scope="module")
def lodge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lodge]:
    with lodging(tmp_path_factory.mktemp("served")) as made:
        yield made


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A certificate for this machine, and its key."""
    folder = tmp_path_factory.mktemp("tls")
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    names = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    plain = serialization.NoEncryption()
    form = serialization.PrivateFormat.PKCS8
    (folder / "cert.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (folder / "key.pem").write_bytes(key.private_bytes(serialization.Encoding.PEM, form, plain))
    return str(folder / "cert.pem"), str(folder / "key.pem")


def pasted(line: str) -> str:
    """What a line gives in a shell."""
    ran = subprocess.run(
        ["bash", "-c", line], capture_output=True, text=True, timeout=60, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_the_ways_in_work_when_pasted(lodge: Lodge) -> None:
    with served(lodge.service(), Where(http=0, pg=0)) as at:
        psql, curl, web = ways_in(at, "people", Person("alice", "analyst"), SECRETS["alice"])
        asked = f"{psql} -Atc 'SET adomnia.epsilon = 1' -c '{COUNT}'"
        assert pasted(asked).splitlines()[-1].lstrip("-").isdecimal()
        assert json.loads(pasted(curl))["columns"] == ["n"]
        assert "<html" in httpx.get(web.strip(), follow_redirects=True).text


def test_the_ways_in_work_with_tls(lodge: Lodge, certificate: tuple[str, str]) -> None:
    where = Where("127.0.0.1", 0, 0, *certificate)
    with served(lodge.service(), where) as at:
        assert at.url is not None
        assert at.url.startswith("https://")
        psql, curl, web = ways_in(at, "people", Person("alice", "analyst"), SECRETS["alice"])
        assert "sslmode=require" in psql
        assert pasted(f"{psql} -Atc 'SHOW adomnia.epsilon'")
        assert json.loads(pasted(curl))["columns"] == ["n"]
        trusted = ssl.create_default_context(cafile=certificate[0])
        page = httpx.get(web.strip(), follow_redirects=True, verify=trusted)
        assert page.status_code == 200
        with pytest.raises(httpx.HTTPError):
            httpx.get(web.strip().replace("https", "http"))


def test_both_doors_pay_from_one_ledger(lodge: Lodge) -> None:
    sql = "SELECT COUNT(*) AS n FROM people WHERE age > 50"
    with served(lodge.service(), Where(http=0, pg=0)) as at:
        login = ("alice", SECRETS["alice"])
        over_http = httpx.post(
            f"{at.url}/v1/ask", json={"sql": sql, "epsilon": "1/2"}, auth=login, timeout=60
        ).json()
        before = lodge.database.budget()
        with psycopg.connect(
            host=at.host, port=at.pg, user="alice", password=SECRETS["alice"], dbname="adomnia"
        ) as line:
            line.execute("SET adomnia.epsilon = '0.5'")
            rows = line.execute(sql).fetchall()
    assert [list(row) for row in rows] == over_http["rows"]
    assert lodge.database.budget() == before


def test_nobody_listens_beyond_this_machine_without_tls(certificate: tuple[str, str]) -> None:
    for host in ("0.0.0.0", "::", "192.0.2.1", "example.org", ""):
        with pytest.raises(QuestionError, match="without TLS"):
            check(Where(host))
        check(Where(host, insecure=True))
        check(Where(host, 0, 0, *certificate))
    for host in ("127.0.0.1", "127.8.8.8", "::1", "localhost"):
        check(Where(host))


def test_what_makes_no_sense_is_refused(lodge: Lodge, certificate: tuple[str, str]) -> None:
    folder = lodge.policy.parent
    for words in (
        ("--no-http", "--no-pg"),
        ("--key", certificate[1]),
        ("--certificate", "nothing.pem"),
        ("--host", "0.0.0.0"),
        ("--http", "70000"),
    ):
        ran = command("serve", *words, folder=folder)
        assert (ran.returncode, ran.stdout) == (2, ""), words
        assert ran.stderr.startswith("adomnia: ")


@pytest.mark.parametrize("door", ["--http", "--pg"])
def test_a_port_that_is_taken_is_a_clear_line(lodge: Lodge, door: str) -> None:
    other = "--pg" if door == "--http" else "--http"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ran = command("serve", door, str(port), other, "0", folder=lodge.policy.parent)
    assert ran.returncode == 5
    assert ran.stderr.startswith(f"adomnia: cannot listen on 127.0.0.1 port {port}: ")
    assert len(ran.stderr.splitlines()) == 2


def test_without_an_account_it_says_what_to_do(tmp_path: Path) -> None:
    write_people(tmp_path)
    with started(tmp_path, "--http", "0", "--no-pg") as running:
        assert running.stdout is not None
        said = [running.stdout.readline() for _ in range(6)]
    text = "".join(said)
    assert "adomnia account add NAME --role analyst" in text
    assert "curl --user NAME" in text


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_closes_the_doors_cleanly(lodge: Lodge, number: signal.Signals) -> None:
    folder = lodge.policy.parent
    http = free_port()
    with process(folder, "--http", str(http), "--pg", "0") as (running, at):
        assert at["http"] == http
        assert at["url"] == f"http://127.0.0.1:{http}"
        login = ("alice", SECRETS["alice"])
        asked = {"sql": f"SELECT COUNT(*) FROM people WHERE age < {int(number)}", "epsilon": "0.1"}
        with httpx.Client(base_url=at["url"], auth=login, timeout=60) as alice:
            assert alice.post("/v1/ask", json=asked).status_code == 200
            idle = psycopg.connect(host="127.0.0.1", port=at["pg"], user="alice", dbname="adomnia",
                                   password=SECRETS["alice"])  # fmt: skip
            os.kill(running.pid, number)
            assert running.wait(30) == 0
        idle.close()
    with open_database(lodge.policy) as database:
        assert database.verify().ok
        kinds = [entry.kind for entry in database.ledger()]
    assert kinds[-2:] == ["reserved", "answered"]


def test_addresses_spell_every_host() -> None:
    assert Addresses("::1", 80, None).url == "http://[::1]:80"
    assert Addresses("127.0.0.1", 80, None, "cert.pem").url == "https://127.0.0.1:80"
    assert Addresses("127.0.0.1", None, 5433).url is None
