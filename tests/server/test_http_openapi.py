"""The OpenAPI document is true: schemathesis tries to find where it is not."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from lodge import Lodge, client, lodging, served
from msgspec import Struct

from adomnia.server.http.error_responses import ShapeError
from adomnia.server.http.openapi import components
from adomnia.server.http.operations import OPERATIONS
from adomnia.server.http.requests import AskRequest, IdempotencyKey, LedgerQuery, PlanRequest
from adomnia.server.http.responses import AnswerResponse, ForecastResponse, LedgerEntry
from adomnia.server.http.validation import parse_json, validated, validated_text
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
    assert document["components"]["schemas"] == components(OPERATIONS)
    shapes = {of.__name__ for part in OPERATIONS for of in (part.body, part.answer) if of}
    assert shapes < document["components"]["schemas"].keys()
    assert all(part.about.endswith(".") for part in OPERATIONS)
    assert len({part.name for part in OPERATIONS}) == len(OPERATIONS)


def test_answers_have_the_described_parts_and_no_others(at: Addresses) -> None:
    asked = {"sql": "SELECT sex, AVG(age) AS a FROM people GROUP BY sex", "epsilon": "1/2"}
    with client(at) as alice:
        answer = alice.post("/v1/ask", json=asked).json()
        told = alice.post("/v1/plan", json=asked).json()
        entries = alice.get("/v1/ledger").json()["entries"]
    assert msgspec.to_builtins(msgspec.convert(answer, AnswerResponse)) == answer
    assert msgspec.to_builtins(msgspec.convert(told, ForecastResponse)) == told
    assert {"reserved", "answered"} <= {entry["kind"] for entry in entries}
    assert all(msgspec.to_builtins(msgspec.convert(e, LedgerEntry)) == e for e in entries)


@pytest.mark.parametrize("part", OPERATIONS, ids=lambda part: part.name)
def test_only_health_is_open(part, at: Addresses) -> None:
    path = "/v1" + part.path.replace("{question}", "0" * 32).replace("{receipt}", "0" * 32)
    with client(at, None) as nobody:
        status = nobody.request(part.method, path).status_code
    assert status == (200 if part.name == "health" else 401)


def refused(value: Any, shape: type[Struct] = AskRequest, **more: Any) -> ShapeError:
    with pytest.raises(ShapeError) as caught:
        validated(value, shape, "the body", **more)
    return caught.value


@pytest.mark.parametrize(
    ("value", "message", "hint"),
    [
        ([], "the body must be an object, not a list", "/openapi.json"),
        (None, "the body must be an object, not null", "/openapi.json"),
        ({"epsilon": 1}, "the body lacks 'sql'", "sql: the statement"),
        ({"sql": "x", "epsilom": 1}, 'has an unknown part "epsilom"', "did you mean 'epsilon'?"),
        ({"sql": "x", "zzzz": 1}, 'has an unknown part "zzzz"', "known are sql, epsilon, rho"),
        ({"sql": 3}, "sql cannot be 3", "at most 100,000 characters"),
        ({"sql": "x", "epsilon": -1}, "epsilon cannot be -1", "a number from 1e-12 to 1e6"),
        ({"sql": "x", "epsilon": True}, "epsilon cannot be true", "or text, which is exact: 1/3"),
        ({"sql": "x", "rho": "a lot"}, 'rho cannot be "a lot"', "instead, with Gaussian noise"),
        ({"sql": "x", "delta": 1}, "delta cannot be 1", "from 1e-12 to 0.999999"),
        ({"sql": "x", "confidence": 1}, "confidence cannot be 1", "from 0.5 to 0.999999"),
        ({"sql": "x", "epsilon": 1, "rho": 1}, "the body has both epsilon and rho", ""),
        ({"sql": "x", "epsilon": 10**5000}, "epsilon cannot be so large a number", "1e-12 to 1e6"),
        ({"sql": "x" * 100_001}, 'sql cannot be "xxxx', "at most 100,000 characters"),
    ],
)
def test_what_is_wrong_is_told_with_what_is_allowed(value: Any, message: str, hint: str) -> None:
    error = refused(value)
    assert message in error.message
    assert len(error.message) < 120
    assert hint in error.hint


def test_texts_are_numbers_in_a_query_alone() -> None:
    assert validated({"limit": "7"}, LedgerQuery, "the query", is_text=True) == LedgerQuery(0, 7)
    for wrong in ("0", "1001", "-1", "+1", " 1", "1_0", "", "x", "٣", "9" * 30, "true"):
        assert "limit cannot be" in refused({"limit": wrong}, LedgerQuery, is_text=True).message
    assert "limit cannot be" in refused({"limit": "7"}, LedgerQuery).message
    assert "'limit'?" in refused({"limits": "7"}, LedgerQuery, is_text=True).hint


@pytest.mark.parametrize("amount", [1, 0.5, 1e-12, 1e6, "1", "1/3", "0.100", "3.25", "999999999"])
def test_an_amount_is_a_number_or_an_exact_text(amount: Any) -> None:
    asked = validated({"sql": "x", "epsilon": amount, "margin": 2}, PlanRequest, "the body")
    assert (asked.epsilon, asked.margin, asked.confidence) == (amount, 2.0, 0.95)


@pytest.mark.parametrize("amount", ["1/0", "1e9", "0", "0.0", "01", "1/3\n", " 1", "1_0", "", "½"])
def test_no_other_text_is_an_amount(amount: str) -> None:
    assert "epsilon cannot be" in refused({"sql": "x", "epsilon": amount}).message


def test_a_key_is_one_line_that_can_be_printed() -> None:
    assert validated_text("a key", IdempotencyKey, "Idempotency-Key") == "a key"
    for wrong in ("", " x", "x ", "x" * 201, "x\n", "é"):
        with pytest.raises(ShapeError, match="Idempotency-Key cannot be"):
            validated_text(wrong, IdempotencyKey, "Idempotency-Key")


def test_numbers_past_all_measure_have_the_wrong_shape() -> None:
    with pytest.raises(ShapeError, match="too large"):
        parse_json(b'{"sql": "x", "epsilon": 1e999}')
