"""Coming in: TLS, versions, secrets that are wrong, and too many at once."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
import struct
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from parlour import SECRET, Parlour, Wire, errors_in, fields_of, open_parlour, rows_in

from adomnia.server.postgres import listener
from adomnia.wire.protocol.channel_binding import end_point

SSL_REQUEST = struct.pack("!ii", 8, 80877103)
GSS_REQUEST = struct.pack("!ii", 8, 80877104)


def certificate(folder: Path, key=None, digest=None) -> Path:
    """A certificate for 127.0.0.1 with its key, in one file."""
    key = key or ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "town")])
    now = datetime.datetime.now(datetime.UTC)
    place = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    made = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(x509.random_serial_number()).not_valid_before(now)
        .not_valid_after(now + datetime.timedelta(days=1)).add_extension(place, False)
        .add_extension(x509.BasicConstraints(True, None), True).sign(key, digest)
    )  # fmt: skip
    pem = serialization.Encoding.PEM
    plain = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    file = folder / "certificate.pem"
    file.write_bytes(plain + made.public_bytes(pem))
    return file


def context(file: Path) -> ssl.SSLContext:
    """A server's context with this certificate."""
    made = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    made.load_cert_chain(file)
    return made


@pytest.fixture(scope="module")
def private(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Parlour]:
    """A parlour with TLS."""
    folder = tmp_path_factory.mktemp("private")
    made = open_parlour(folder, context(certificate(folder, digest=hashes.SHA384())))
    yield made
    made.close()


def refusal(messages) -> dict[str, str]:
    """The one error among the messages."""
    (error,) = errors_in(messages)
    return error


# TLS


@pytest.mark.parametrize("binding", ["require", "disable"])
def test_libpq_comes_in_over_tls_with_and_without_channel_binding(private, binding):
    root = private.folder / "certificate.pem"
    dsn = private.dsn(sslmode="verify-full", sslrootcert=str(root), channel_binding=binding)
    with psycopg.connect(dsn) as line:
        assert line.execute("SELECT 1").fetchone() == (1,)
        assert line.pgconn.ssl_in_use


def test_plain_text_is_refused_where_there_is_tls(private):
    wire = Wire(private.port)
    wire.start()
    error = refusal(wire.until(b"RE"))
    assert error["C"] == "28000"
    assert "sslmode=require" in error["H"]
    wire.close()


def test_plain_text_after_the_request_for_tls_ends_the_connection(private):
    wire = Wire(private.port)
    wire.line.sendall(SSL_REQUEST + struct.pack("!ii", 40, 3 << 16) + b"user\0alice\0" * 3)
    got = wire.until(b"E")
    assert refusal(got)["C"] == "08P01"
    assert wire.receive() == (b"", b"")
    wire = Wire(private.port)
    wire.line.sendall(SSL_REQUEST)
    assert wire.exactly(1) == b"S"
    wire.start()  # no handshake
    rest = wire.exactly(10_000)
    assert b"SCRAM" not in rest
    wire.close()


def test_without_tls_the_requests_are_declined(parlour):
    wire = Wire(parlour.port)
    wire.line.sendall(GSS_REQUEST)
    assert wire.exactly(1) == b"N"
    wire.line.sendall(SSL_REQUEST)
    assert wire.exactly(1) == b"N"
    assert wire.log_in()[-1] == (b"Z", b"I")
    wire.close()
    wire = Wire(parlour.port)
    wire.line.sendall(GSS_REQUEST * 4)
    assert wire.exactly(3) == b"NNN"
    assert refusal(wire.until(b"E"))["C"] == "08P01"
    wire.close()


def test_the_end_point_is_the_hash_that_rfc_5929_names(tmp_path):
    file = certificate(tmp_path, digest=hashes.SHA384())
    shown = x509.load_pem_x509_certificate(file.read_bytes())
    assert end_point(context(file)) == shown.fingerprint(hashes.SHA384())
    file = certificate(tmp_path, ed25519.Ed25519PrivateKey.generate())
    assert end_point(context(file)) is None


# Versions and start-up messages


def test_a_newer_protocol_is_negotiated_down(parlour):
    wire = Wire(parlour.port)
    wire.start(version=3 << 16 | 9, **{"_pq_.magic": "1"})
    kind, body = wire.receive()
    assert kind == b"v"
    assert struct.unpack("!ii", body[:8]) == (3 << 16 | 2, 1)
    assert body[8:] == b"_pq_.magic\0"
    wire.close()


@pytest.mark.parametrize(
    ("version", "more", "code"),
    [
        (2 << 16, {}, "0A000"),
        (3 << 16, {"replication": "true"}, "0A000"),
        (3 << 16, {"user": ""}, "28000"),
    ],
)
def test_other_starts_are_refused(parlour, version, more, code):
    wire = Wire(parlour.port)
    wire.start(**{"version": version, **more})
    error = refusal(wire.until(b"RE"))
    assert (error["S"], error["C"]) == ("FATAL", code)
    wire.close()


def test_a_setting_that_makes_no_sense_ends_the_start(parlour):
    wire = Wire(parlour.port)
    error = refusal(wire.log_in(options="-c adomnia.epsilon=-3"))
    assert error["C"] == "22023"
    assert error["S"] == "FATAL"
    wire.close()


# Secrets


def test_wrong_secrets_unknown_names_and_too_many_of_them(parlour, monkeypatch):
    texts = set()
    for name, secret in (("carol", "a wrong secret"), ("nobody", SECRET)):
        with pytest.raises(psycopg.OperationalError) as caught:
            psycopg.connect(parlour.dsn(name, password=f"'{secret}'"))
        texts.add(str(caught.value).splitlines()[0].replace(name, ""))
    assert len(texts) == 1
    assert "the name or the secret is wrong" in texts.pop()
    for _ in range(4):
        wire = Wire(parlour.port)
        assert refusal(wire.log_in("carol", "a wrong secret"))["C"] == "28P01"
        wire.close()
    wire = Wire(parlour.port)
    wire.start("carol")
    error = refusal(wire.until(b"RE"))
    assert error["C"] == "28000"
    assert "try again in" in error["H"]
    wire.close()


def test_an_unknown_name_gets_the_same_salt_every_time(parlour):
    salts = []
    for _ in range(2):
        wire = Wire(parlour.port)
        wire.start("stranger")
        wire.until(b"R")
        wire.send(b"p", b"SCRAM-SHA-256\0" + struct.pack("!i", 20) + b"n,,n=,r=abcdefghijkl")
        salts.append(wire.receive()[1].split(b",")[1])
        wire.close()
    assert salts[0] == salts[1]


def test_an_analyst_whom_the_policy_does_not_name_stays_out(parlour):
    wire = Wire(parlour.port)
    error = refusal(wire.log_in("eve"))
    assert (error["S"], error["C"]) == ("FATAL", "42501")
    wire.close()


def test_other_mechanisms_and_messages_are_refused(parlour):
    for kind, body in ((b"p", b"PLAIN\0\0\0\0\0"), (b"Q", b"SELECT 1\0"), (b"p", b"")):
        wire = Wire(parlour.port)
        wire.start()
        wire.until(b"R")
        wire.send(kind, body)
        assert refusal(wire.until(b"E"))["C"] == "08P01"
        wire.close()


def test_a_long_message_before_the_log_in_is_refused(parlour):
    wire = Wire(parlour.port)
    wire.line.sendall(struct.pack("!ii", 5000, 3 << 16))
    assert refusal(wire.until(b"E"))["C"] == "54000"
    wire.close()


# Connections


def test_who_does_not_log_in_is_sent_away(parlour, monkeypatch):
    monkeypatch.setattr(listener, "SECONDS_TO_LOG_IN", 0.2)
    wire = Wire(parlour.port)
    began = time.monotonic()
    assert wire.receive() == (b"", b"")
    assert time.monotonic() - began < 60
    wire.close()


def let_in(port: int) -> bool:
    """Whether there is room for one more now; a place is free a moment after somebody has left."""
    try:
        return Wire(port).log_in()[-1] == (b"Z", b"I")
    except (AssertionError, OSError):
        return False


def test_when_all_is_full_who_has_not_logged_in_makes_room(tmp_path):
    crowded = open_parlour(tmp_path, most=3)
    sessions = []
    try:
        unauthenticated = [Wire(crowded.port) for _ in range(3)]
        for _ in range(3):
            session = Wire(crowded.port)
            assert session.log_in()[-1] == (b"Z", b"I")
            sessions.append(session)
        assert refusal(unauthenticated[0].until(b"E"))["C"] == "57P01"
        late = Wire(crowded.port)
        error = refusal(late.until(b"E"))
        assert (error["S"], error["C"]) == ("FATAL", "53300")
        assert rows_in(sessions[0].query("SELECT 1")) == [["1"]]
        sessions.pop().close()
        assert any(let_in(crowded.port) or time.sleep(0.1) for _ in range(300))
    finally:
        crowded.close()
    kind, body = sessions[0].until(b"E")[-1]
    assert kind == b"E"
    assert fields_of(body)["C"] == "57P01"


def test_nobody_takes_the_last_places(parlour, monkeypatch):
    monkeypatch.setattr(listener, "RESERVED", 1200)
    monkeypatch.setattr(listener, "FEW", 2)
    greedy = [Wire(parlour.port) for _ in range(3)]
    assert [wire.log_in("dora")[-1][0] for wire in greedy[:2]] == [b"Z", b"Z"]
    assert refusal(greedy[2].log_in("dora"))["C"] == "53300"
    other = Wire(parlour.port)
    assert other.log_in("alice")[-1] == (b"Z", b"I")
    for wire in (*greedy, other):
        wire.close()


def test_psql_reads_its_options_from_the_environment(parlour):
    found = subprocess.run(
        ["psql", "-X", "-At", parlour.dsn(), "-c", "SHOW adomnia.epsilon"],
        env={"PGOPTIONS": "-c adomnia.epsilon=1/8", "PATH": "/usr/bin:/bin"},
        capture_output=True, text=True, timeout=30, check=True,
    )  # fmt: skip
    assert found.stdout == "1/8\n"
