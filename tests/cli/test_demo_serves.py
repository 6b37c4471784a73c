"""The demo in a terminal ends by serving, and the lines that it prints work when pasted."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

PROGRAM = str(Path(sys.executable).with_name("adomnia"))
DEMO = [PROGRAM, "demo", "--rows", "20000", "--folder"]
HIDING = "import sys; sys.modules['uvicorn'] = None; from adomnia.cli.main import main; main()"
LAST = "SET adomnia.epsilon = 0.1;"

needs_clients = pytest.mark.skipif(
    not (shutil.which("psql") and shutil.which("curl")), reason="needs psql and curl"
)


@pytest.fixture(autouse=True)
def _alone() -> Iterator[None]:
    """One demo at a time, also in other processes: each takes the usual ports if they are free."""
    with (Path(tempfile.gettempdir()) / "adomnia-demo.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


class Terminal:
    """A program in a terminal of its own."""

    def __init__(self, *words: str) -> None:
        self._line, end = pty.openpty()
        self.process = subprocess.Popen(words, stdin=end, stdout=end, stderr=end, close_fds=True,
                                        start_new_session=True)  # fmt: skip
        os.close(end)
        self.text = ""

    def read_until(self, words: str, seconds: float = 300) -> str:
        """What the person sees, up to these words."""
        end = time.monotonic() + seconds
        while words not in self.text:
            assert time.monotonic() < end, self.text
            if select.select([self._line], [], [], 0.1)[0]:
                self.text += os.read(self._line, 65536).decode()  # fails where it has ended
        return self.text.replace("\r\n", "\n")

    def press_ctrl_c(self) -> int:
        """End it as a person does; its exit code."""
        os.kill(self.process.pid, signal.SIGINT)
        return self.process.wait(120)

    def close(self) -> None:
        """End it in any case."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(30)
        os.close(self._line)


@contextmanager
def terminal(*words: str) -> Iterator[Terminal]:
    """A program in a terminal while the block runs."""
    opened = Terminal(*words)
    try:
        yield opened
    finally:
        opened.close()


def ways_of(text: str) -> tuple[str, str, str, str, str]:
    """The psql line, the curl line, the web address, the name and the secret."""
    found = re.search(
        r"^  (PGPASSWORD=\S+ psql .*)\n  (curl .*)\n  (http://\S+)   name: (\w+)   secret: (\S+)$",
        text, re.MULTILINE,
    )  # fmt: skip
    assert found is not None, text
    return found[1], found[2], found[3], found[4], found[5]


def run(words: str | list[str], **more: Any) -> str:
    """What a command prints; it must not fail."""
    ran = subprocess.run(words, check=False, capture_output=True, text=True, timeout=300, **more)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def pasted(line: str, stdin: str = "") -> str:
    """What a line gives in a shell."""
    return run(line, shell=True, input=stdin)


def check_doors(text: str) -> None:
    """The three lines work, as they stand."""
    psql, curl, web, name, secret = ways_of(text)
    sql = "SET adomnia.epsilon = 0.1;\nSELECT sex, COUNT(*) AS n FROM census GROUP BY sex;\n"
    shown = pasted(psql, sql)
    assert re.search(r"^ F +\| +\d+$", shown, re.MULTILINE)
    answer = json.loads(pasted(curl))
    assert answer["columns"] == ["n"]
    assert answer["spent"] == {"epsilon": "1/10"}
    with httpx.Client(base_url=web, follow_redirects=True, timeout=120) as browser:
        page = browser.get("/")
        token = re.search(r'name="token" value="([^"]+)"', page.text)
        form = {"name": name, "secret": secret, "token": token[1] if token else ""}
        inside = browser.post(page.url, data=form, headers={"origin": web.rstrip("/")})
        assert inside.status_code == 200
        assert "MEDIAN(income)" in browser.get("/ledger").text  # what the demo asked


@needs_clients
def test_a_terminal_ends_with_open_doors(tmp_path: Path) -> None:
    with terminal(*DEMO, str(tmp_path / "a b")) as shown:
        text = shown.read_until(LAST)
        assert text.count("receipt ") == 5
        check_doors(text)
        assert shown.press_ctrl_c() == 0


@needs_clients
def test_without_a_terminal_it_says_how(tmp_path: Path) -> None:
    ran = demo_without_terminal(tmp_path / "a b")
    command = re.search(r"^  (cd .* serve --http \d+ --pg \d+)$", ran, re.MULTILINE)
    assert command is not None, ran
    with terminal("/bin/sh", "-c", command[1].replace(" && ", " && exec ")) as shown:
        shown.read_until("The ways in:")
        check_doors(ran)
        assert shown.press_ctrl_c() == 0


def demo_without_terminal(folder: Path, *words: str, **settings: str) -> str:
    """What the demo prints into a pipe."""
    return run([*DEMO, str(folder), *words], env={**os.environ, **settings})


def test_a_terminal_where_nobody_wants_a_server(tmp_path: Path) -> None:
    with terminal("env", "DEMO_SERVE=0", *DEMO, str(tmp_path / "demo")) as shown:
        text = shown.read_until(LAST)
        assert "The doors are shut." in text
        assert shown.process.wait(120) == 0


def test_json_names_the_ways(tmp_path: Path) -> None:
    found: dict[str, Any] = json.loads(
        demo_without_terminal(tmp_path / "demo", "--format", "json", DEMO_SERVE="1")
    )
    ways = found["serve"]
    assert set(ways) == {"command", "psql", "curl", "web", "name", "secret"}
    assert ways["secret"] in ways["psql"]
    assert ways["secret"] in ways["curl"]


def test_without_the_extra_it_says_what_to_install(tmp_path: Path) -> None:
    words = [sys.executable, "-c", HIDING, *DEMO[1:], str(tmp_path / "demo")]
    assert run(words).rstrip().endswith("pip install 'adomnia[server]'")
