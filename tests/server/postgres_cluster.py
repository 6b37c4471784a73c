"""A PostgreSQL server of its own for a test, run by somebody who is not root."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

PLACES = os.pathsep.join([os.environ.get("PATH", ""), "/usr/lib/postgresql/15/bin"])


def initdb() -> str | None:
    """Where PostgreSQL's programs are."""
    return shutil.which("initdb", path=PLACES)


def _somebody() -> dict[str, int]:
    if os.geteuid() != 0:
        return {}
    user = pwd.getpwnam("nobody")
    return {"user": user.pw_uid, "group": user.pw_gid}


@contextmanager
def cluster() -> Iterator[str]:
    """The address of a server that runs while the block does; it listens on a socket alone."""
    who = _somebody()
    with tempfile.TemporaryDirectory(prefix="cluster-") as folder:
        if who:
            os.chown(folder, who["user"], who["group"])
        yield from _run(Path(folder) / "data", who)


def _run(data: Path, who: dict[str, int]) -> Iterator[str]:
    programs = Path(initdb() or "").resolve().parent
    make = [programs / "initdb", "-D", data, "-U", "owner", "--auth=trust", "--no-sync"]
    subprocess.run(make, check=True, capture_output=True, cwd="/", timeout=120, **who)
    serve = [programs / "postgres", "-D", data, "-k", data.parent, "-h", "", "-c", "fsync=off"]
    url = f"postgresql://owner@/postgres?host={data.parent}"
    with subprocess.Popen(serve, cwd="/", stderr=subprocess.DEVNULL, **who) as running:
        try:
            _await(url, running)
            yield url
        finally:
            running.terminate()
            running.wait(30)


def _await(url: str, running: subprocess.Popen[bytes]) -> None:
    """Until the server takes connections."""
    for _ in range(300):
        assert running.poll() is None
        try:
            psycopg.connect(url).close()
        except psycopg.OperationalError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError("PostgreSQL did not start")
