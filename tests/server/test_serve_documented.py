"""The page about serving names every operation, option, status and code, and no other."""

from __future__ import annotations

import re
from pathlib import Path

import click

from adomnia.cli.account import account
from adomnia.cli.serve import serve
from adomnia.errors import AdomniaError
from adomnia.server.http import error_responses, openapi
from adomnia.server.http.operations import OPERATIONS

PAGE = (Path(__file__).parents[2] / "docs/serving.md").read_text("utf-8")


def kinds(of: type[AdomniaError]) -> set[type[AdomniaError]]:
    return {of, *(kind for below in of.__subclasses__() for kind in kinds(below))}


def test_every_operation_is_documented() -> None:
    documented = set(re.findall(r"^\| `(\w+) /v1(/\S+)` \|", PAGE, re.MULTILINE))
    assert documented == {(part.method, part.path) for part in OPERATIONS}


def test_every_option_is_documented() -> None:
    for verb in (serve, *account.commands.values()):
        for option in verb.params:
            if isinstance(option, click.Option) and option.name not in ("policy", "form"):
                assert any(f"{flag}`" in PAGE or f"{flag} " in PAGE for flag in option.opts), option


def test_every_status_and_code_is_documented() -> None:
    table = PAGE.split("| status | code |")[1].split("\n\n")[0]
    listed = {int(status) for status in re.findall(r"\b([45]\d\d)\b", table)}
    assert listed == {*openapi._ERRORS, 405}
    codes = set(re.findall(r"`(\w+)`", table))
    ours = {kind for kind in kinds(AdomniaError) if kind.__module__.startswith("adomnia.")}
    raised = {error_responses._code(kind("")) for kind in ours if "postgres" not in kind.__module__}
    assert codes - {"method"} <= raised
    assert {error_responses._code(kind("")) for kind in ours if kind.__module__ == "adomnia.errors"
            } - {"adomnia"} <= codes  # fmt: skip
    assert {"stranger", "too_many", "busy", "shape", "missing", "reused_key"} <= codes
