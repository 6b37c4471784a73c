"""A real PostgreSQL server for tests: made from what is installed, on a free port, ended by us.

    with Server.started() as server:
        psycopg.connect(server.url())

`server.url(database, role, password)` is an address on the loopback; `restart`, `stop` and `start`
do what they say, `stop(immediate=True)` like a crash. Nothing is left behind, also when a test or
the whole run fails. `shared()` gives one server to all tests of a process.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from functools import cache
from pathlib import Path

from tests.free_port import free_port

SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
    "shared_buffers": "32MB",
    "max_connections": "60",
    "log_min_messages": "panic",
}


def binaries() -> Path | None:
    """The folder of the newest server that is installed; None where there is none."""
    found = shutil.which("initdb")
    places = [Path(found).resolve().parent] if found else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=_version, reverse=True)
    return next((place for place in places if (place / "postgres").exists()), None)


def _version(folder: Path) -> int:
    name = folder.parent.name
    return int(name) if name.isdigit() else 0


class Server:
    """One server with a data folder of its own; `durable` keeps what a crash must not lose."""

    def __init__(self, durable: bool = False) -> None:
        folder = binaries()
        if folder is None:
            raise FileNotFoundError("PostgreSQL's initdb: install the package postgresql")
        self._bin = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._settings = SETTINGS | ({"fsync": "on", "synchronous_commit": "on"} if durable else {})
        self.room = Path(tempfile.mkdtemp(prefix="adomnia-pg-"))
        self.port = free_port()
        self._owner = _owner()
        if self._owner is not None:
            os.chown(self.room, self._owner.pw_uid, self._owner.pw_gid)
        atexit.register(self.close)
        self._run("initdb", "-D", str(self.room / "data"), "-U", "postgres", "-A", "trust",
                  "-E", "UTF8", "--locale", "C", "--no-sync")  # fmt: skip

    @classmethod
    def started(cls, durable: bool = False) -> Server:
        """A server that runs; it is ended at the end of a `with` block."""
        server = cls(durable)
        server.start()
        return server

    def url(self, database: str = "postgres", role: str = "postgres", password: str = "") -> str:
        """Where a role finds a database."""
        who = f"{role}:{password}" if password else role
        return f"postgresql://{who}@127.0.0.1:{self.port}/{database}"

    def start(self) -> None:
        """Start, and wait until it answers; after a crash it recovers first."""
        options = [part for item in self._settings.items() for part in ("-c", "=".join(item))]
        self._process = subprocess.Popen(
            [self._bin / "postgres", "-D", self.room / "data", "-p", str(self.port),
             "-k", str(self.room), *options],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.room,
            user=self._owner and self._owner.pw_uid, group=self._owner and self._owner.pw_gid,
            start_new_session=True, preexec_fn=_end_with_us,  # noqa: PLW1509 (one system call)
        )  # fmt: skip
        ready = [self._bin / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        end = time.monotonic() + 200
        while subprocess.run(ready, check=False).returncode != 0:
            if self._process.poll() is not None or time.monotonic() > end:
                raise RuntimeError("the server did not start")
            time.sleep(0.05)

    def execute(self, sql: str, database: str = "postgres") -> None:
        """Run statements as the server's owner."""
        program = [self._bin / "psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-f", "-"]
        subprocess.run([*program, self.url(database)], check=True, input=sql.encode())

    def stop(self, immediate: bool = False) -> None:
        """Stop; sessions are ended, and when `immediate` also without a checkpoint."""
        if self._process is None:
            return
        self._process.send_signal(signal.SIGQUIT if immediate else signal.SIGINT)
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(30)
        self._process = None

    def restart(self, immediate: bool = False) -> None:
        """Stop and start, on the same port."""
        self.stop(immediate)
        self.start()

    def close(self) -> None:
        """Stop, and remove the data."""
        self.stop(immediate=True)
        shutil.rmtree(self.room, ignore_errors=True)
        atexit.unregister(self.close)

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [self._bin / program, *arguments], check=True, capture_output=True, cwd=self.room,
            user=self._owner and self._owner.pw_uid, group=self._owner and self._owner.pw_gid,
        )  # fmt: skip


@cache
def shared() -> Server:
    """The one server of this process, which also ends it; the role `reader` owns nothing there."""
    server = Server.started()
    server.execute("CREATE ROLE reader LOGIN")
    return server


def _owner() -> pwd.struct_passwd | None:
    """Whom the server runs as: it refuses root."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name: entry for entry in pwd.getpwall()}
    return known.get("postgres") or known["nobody"]


def _end_with_us() -> None:
    """The server ends when this process does, also when that is killed."""
    ctypes.CDLL(None).prctl(1, signal.SIGQUIT)  # PR_SET_PDEATHSIG
