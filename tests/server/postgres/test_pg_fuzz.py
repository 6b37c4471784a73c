"""Hostile and broken streams cost their own connection and nothing else."""

from __future__ import annotations

import os
import random
import resource
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from parlour import Wire, errors_in, rows_in

QUESTION = "SELECT sex, count(*) AS n FROM people GROUP BY sex"
MEGABYTE = 1 << 20


@dataclass
class Process:
    """A server in a process of its own."""

    child: subprocess.Popen[str]
    port: int

    def memory(self) -> int:
        """Bytes in memory."""
        pages = Path(f"/proc/{self.child.pid}/statm").read_text().split()[1]
        return int(pages) * resource.getpagesize()

    def files(self) -> int:
        """How many files and sockets are open."""
        return len(os.listdir(f"/proc/{self.child.pid}/fd"))

    def settled(self, files: int) -> bool:
        """Whether the connections go away within a while."""
        return any(self.files() <= files + 5 or time.sleep(0.2) for _ in range(300))


@pytest.fixture
def process(tmp_path: Path) -> Iterator[Process]:
    """A running server, which must be whole at the end."""
    program = Path(__file__).with_name("parlour_process.py")
    child = subprocess.Popen(
        [sys.executable, str(program), str(tmp_path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        port = child.stdout.readline()
        assert port, child.stderr.read()
        yield Process(child, int(port))
        out, err = child.communicate("", timeout=60)
        assert out.startswith("whole"), err
        assert "Traceback" not in err
    finally:
        child.kill()
        child.wait()


@dataclass
class Honest:
    """Somebody who asks all the time, and how long each answer took."""

    port: int
    seconds: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def ask(self, stop: threading.Event) -> None:
        """Ask until it is over; on the same line, and now and then on a new one."""
        try:
            wire = self._come()
            expected = rows_in(wire.query(QUESTION))
            while not stop.is_set():
                began = time.monotonic()
                if len(self.seconds) % 20 == 19:
                    wire.close()
                    wire = self._come()
                if rows_in(wire.query(QUESTION)) != expected:
                    self.failures.append("another answer")
                self.seconds.append(time.monotonic() - began)
                time.sleep(0.02)
            wire.close()
        except Exception as error:
            self.failures.append(repr(error))

    def told_more_than(self, many: int) -> None:
        """Wait for so many answers, two minutes at most: a machine may be busy."""
        for _ in range(1200):
            if len(self.seconds) > many or self.failures:
                return
            time.sleep(0.1)

    def _come(self) -> Wire:
        wire = Wire(self.port)
        if wire.log_in(options="-c adomnia.epsilon=0.5")[-1] != (b"Z", b"I"):
            self.failures.append("not let in")
        return wire


# Attacks; each takes a line and a source of chance


def noise(wire: Wire, chance: random.Random) -> None:
    """Bytes that mean nothing."""
    wire.line.sendall(chance.randbytes(chance.randrange(1, 5000)))


def giant(wire: Wire, chance: random.Random) -> None:
    """A message that is said to be huge, or impossible."""
    length = chance.choice([0x7FFFFFFF, -1, 0, 3, 5000, 1 << 24])
    wire.line.sendall(struct.pack("!i", length) + chance.randbytes(200))


def cut(wire: Wire, chance: random.Random) -> None:
    """A start-up message that ends in the middle."""
    whole = struct.pack("!ii", 40, 3 << 16) + b"user\0alice\0database\0town\0\0"
    wire.line.sendall(whole[: chance.randrange(1, len(whole))])


def half_tls(wire: Wire, chance: random.Random) -> None:
    """A request for TLS, and noise after it."""
    wire.line.sendall(struct.pack("!ii", 8, chance.choice([80877103, 80877104, 80877102])))
    wire.line.sendall(chance.randbytes(100))


def bad_scram(wire: Wire, chance: random.Random) -> None:
    """A log-in that goes wrong."""
    wire.start(chance.choice(["zoe", "a" * 3000, "\x01"]))
    wire.until(b"RE")
    wire.send(b"p", b"SCRAM-SHA-256\0" + chance.randbytes(chance.randrange(60)))
    wire.until(b"RE")


def disorder(wire: Wire, chance: random.Random) -> None:
    """Messages of all kinds in any order, with bodies that are nearly right."""
    wire.log_in("carol")
    for _ in range(chance.randrange(1, 40)):
        kind = chance.choice(
            [b"P", b"B", b"D", b"E", b"C", b"S", b"H", b"Q", b"F", b"d", b"c", b"f"]
        )
        wire.send(kind, mutated(chance.choice(BODIES), chance))
    wire.send(b"S")
    wire.line.settimeout(3)
    wire.until(b"")


def unknown(wire: Wire, chance: random.Random) -> None:
    """A message of a kind that there is not, after the log-in; or one of 2 GB."""
    wire.log_in("carol")
    wire.line.sendall(chance.randbytes(1) + struct.pack("!i", chance.choice([4, 0, 0x7FFFFFF0])))
    wire.line.settimeout(2)
    wire.until(b"E")


def hang_up(wire: Wire, chance: random.Random) -> None:
    """A question, and away with a reset before the answer."""
    wire.log_in("carol")
    wire.send(b"Q", b"SELECT * FROM pg_type; SELECT * FROM pg_attribute\0")
    wire.line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def deaf(wire: Wire, chance: random.Random) -> None:
    """Somebody who asks for much and takes none of it."""
    wire.log_in("carol")
    wire.line.settimeout(0.5)
    for _ in range(50):
        wire.send(b"Q", b"SELECT * FROM pg_attribute\0")
    time.sleep(0.2)


def long_message(wire: Wire, chance: random.Random) -> None:
    """Some megabytes that are refused."""
    wire.log_in("carol")
    wire.send(b"Q", b"x" * chance.randrange(2 * MEGABYTE, 4 * MEGABYTE))
    assert errors_in(wire.until())[0]["C"] == "54000"


ATTACKS: list[Callable[[Wire, random.Random], None]] = [
    noise, giant, cut, half_tls, bad_scram, disorder, disorder, unknown, hang_up, deaf,
    long_message,
]  # fmt: skip

BODIES = [
    b"\0SELECT count(*) FROM people\0\0\0", b"s\0SELECT $1\0\0\1\0\0\0\x17", b"\0s\0\0\0\0\0\0\0",
    b"p\0s\0\0\1\0\1\0\1\0\0\0\4\0\0\0\5\0\0", b"Ss\0", b"P\0", b"\0\0\0\0\0", b"p\0\0\0\0\1", b"",
    b"SELECT 1; BEGIN; SELECT 2\0", b"DECLARE c CURSOR FOR SELECT 1\0", b"FETCH ALL FROM c\0",
    b"COPY (SELECT 1) TO STDOUT\0", b"EXPLAIN SELECT count(*) FROM people\0", b"SET a.b = '\0",
    b"EXECUTE s(1)\0", b"SELECT ((((((((((((((((((((\0", b"/*/*/*\0", b"ROLLBACK\0",
]  # fmt: skip


def mutated(body: bytes, chance: random.Random) -> bytes:
    """The body with a few bytes changed, cut off or added."""
    found = bytearray(body)
    for _ in range(chance.randrange(3)):
        where = chance.randrange(len(found) + 1)
        found[where : where + chance.randrange(3)] = chance.randbytes(chance.randrange(4))
    return bytes(found)


def attack(port: int, chance: random.Random) -> None:
    """One hostile connection, from its beginning to its end."""
    try:
        wire = Wire(port, timeout=5)
        chance.choice(ATTACKS)(wire, chance)
        wire.close()
    except OSError:
        pass  # they were cut off, as they should


@pytest.mark.parametrize(
    "seconds", [10, pytest.param(300, marks=pytest.mark.slow)], ids=["short", "long"]
)
def test_hostile_streams_cost_their_connection_and_nothing_else(process, seconds):
    stop = threading.Event()
    honest = Honest(process.port)
    chance = random.Random(seconds)
    files = process.files()
    threads = [threading.Thread(target=honest.ask, args=(stop,))]
    threads[0].start()

    def attacker(own: random.Random) -> None:
        while not stop.is_set():
            attack(process.port, own)

    for _ in range(4):
        own = random.Random(chance.random())
        threads.append(threading.Thread(target=attacker, args=(own,)))
        threads[-1].start()
    time.sleep(seconds * 0.4)
    warm = process.memory()
    time.sleep(seconds * 0.6)
    honest.told_more_than(seconds)
    stop.set()
    for thread in threads:
        thread.join(120)
    grown = (process.memory() - warm) / MEGABYTE
    print(f"{len(honest.seconds)} answers, {grown:.0f} MB grown, worst {max(honest.seconds):.2f} s")
    assert honest.failures == []
    assert len(honest.seconds) > seconds
    assert grown < 50
    assert process.settled(files)


@pytest.fixture
def many_files() -> Iterator[None]:
    """As many open files as a thousand connections need."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 2500:
        pytest.skip(f"the system allows {hard} open files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2500), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_thousand_idle_connections_are_cheap(many_files, process):
    honest = Wire(process.port)
    honest.log_in(options="-c adomnia.epsilon=0.5")
    expected = rows_in(honest.query(QUESTION))
    files, before = process.files(), process.memory()
    strangers = [Wire(process.port) for _ in range(150)]
    guests = [Wire(process.port) for _ in range(1000)]
    for guest in guests:
        assert guest.log_in("carol")[-1] == (b"Z", b"I")
    print(f"{(process.memory() - before) / MEGABYTE:.0f} MB")
    assert (process.memory() - before) / MEGABYTE < 100
    began = time.monotonic()
    assert rows_in(honest.query(QUESTION)) == expected
    late = Wire(process.port)
    assert late.log_in()[-1] == (b"Z", b"I")
    assert time.monotonic() - began < 60
    assert rows_in(guests[-1].query("SELECT 1")) == [["1"]]
    for wire in (*strangers, *guests, late):
        wire.close()
    assert process.settled(files)
    honest.close()
