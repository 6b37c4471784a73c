"""The OpenAPI document is true: schemathesis tries to find where it is not."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from lodge import Lodge, client, lodging, served

from adomnia.server.http.operations import OPERATIONS
from adomnia.server.http.schemas import COMPONENTS
from adomnia.server.http.validate import problem
from adomnia.server.login_limits import LoginLimits
from adomnia.server.serve import Addresses

HOOKS = """
import schemathesis
from hypothesis import strategies as st

KNOWN = [
    "SELECT COUNT(*) AS n FROM people",
    "SELECT sex, city, COUNT(*) FROM people GROUP BY sex, city",
    "SELECT SUM(age) AS s, AVG(age) FROM people WHERE age > 30",
    "SELECT MEDIAN(age) FROM people",
    "SELECT DISTINCT city FROM people",
    "SELECT * FROM people",
    "SELECT nothing FROM people",
    "DROP TABLE people",
]
schemathesis.openapi.format("sql", st.sampled_from(KNOWN) | st.text(min_size=1, max_size=40))
"""

SETTINGS = """
# Whether a text is a question that may be asked is more than JSON Schema can say: 400. Whether it
# can be paid depends on what was spent: 402. Everything else that is described is accepted. What is
# not may also be too large to be looked at: 413.
[checks]
negative_data_rejection.expected-statuses = [400, 401, 403, 404, 405, 406, 409, 413, 415, 422, 429]
positive_data_acceptance.expected-statuses = ["2xx", 400, 402, 404, 409]
"""


@pytest.fixture(scope="module")
def lodge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lodge]:
    with lodging(tmp_path_factory.mktemp("openapi"), epsilon="1000000000") as made:
        yield made


@pytest.fixture(scope="module")
def at(lodge: Lodge) -> Iterator[Addresses]:
    with served(lodge.service(LoginLimits(by_both=10**6, by_address=10**6))) as addresses:
        yield addresses


def tried(lodge: Lodge, at: Addresses, folder: Path, who: str, *more: str) -> str:
    """What schemathesis says after trying everything."""
    key = lodge.accounts.make_key(who)
    (folder / "hooks.py").write_text(HOOKS)
    (folder / "schemathesis.toml").write_text(SETTINGS)
    program = Path(sys.executable).with_name("schemathesis")
    words = [
        "run",
        f"{at.url}/openapi.json",
        "--checks",
        "all",
        "--continue-on-failure",
        "--no-color",
    ]
    ran = subprocess.run(
        [program, *words, "-H", f"Authorization: Bearer {key}", *more],
        cwd=folder, env={**os.environ, "SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": str(folder)},
        capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout[-8000:] + ran.stderr[-2000:]
    return ran.stdout


def test_schemathesis_finds_nothing(lodge: Lodge, at: Addresses, tmp_path: Path) -> None:
    told = tried(lodge, at, tmp_path, "alice", "--max-examples", "8", "--seed", "1")
    assert f"Tested: {len(OPERATIONS)}" in told
    assert lodge.database.verify().ok


@pytest.mark.slow
@pytest.mark.parametrize("who", ["alice", "carol"])
def test_schemathesis_finds_nothing_in_a_long_run(
    lodge: Lodge, at: Addresses, tmp_path: Path, who: str
) -> None:
    told = tried(lodge, at, tmp_path, who, "--max-examples", "150")
    assert f"Tested: {len(OPERATIONS)}" in told
    assert lodge.database.verify().ok


def test_everything_that_answers_is_described_and_nothing_else(at: Addresses) -> None:
    with client(at, None) as nobody:
        document = nobody.get("/openapi.json").json()
    described = {
        (method.upper(), path) for path, part in document["paths"].items() for method in part
    }
    assert described == {(part.method, f"/v1{part.path}") for part in OPERATIONS}
    assert set(document["components"]["schemas"]) == set(COMPONENTS)
    assert all(part.about.endswith(".") for part in OPERATIONS)
    assert len({part.name for part in OPERATIONS}) == len(OPERATIONS)


@pytest.mark.parametrize("part", OPERATIONS, ids=lambda part: part.name)
def test_only_health_is_open(part, at: Addresses) -> None:
    path = "/v1" + part.path.replace("{question}", "0" * 32).replace("{receipt}", "0" * 32)
    with client(at, None) as nobody:
        status = nobody.request(part.method, path).status_code
    assert status == (200 if part.name == "health" else 401)


def test_the_checker_knows_the_words_it_meets() -> None:
    whole = {"type": "object", "properties": {"n": {"type": "integer", "exclusiveMinimum": 0,
             "exclusiveMaximum": 9}, "t": {"type": "boolean"}, "z": {"type": "null"},
             "a": {"type": "array"}, "s": {"type": "string", "maxLength": 2}}}  # fmt: skip
    for right in ({"n": 1.0}, {"t": True}, {"z": None}, {"a": []}, {"s": "ab"}, {}):
        assert problem(right, whole) is None
    for wrong in ({"n": 0}, {"n": 9}, {"n": 1.5}, {"n": True}, {"t": 1}, {"z": 0}, {"a": {}},
                  {"s": "abc"}):  # fmt: skip
        assert problem(wrong, whole) is not None
