"""Attempts with links, forms, names and paths."""

from __future__ import annotations

import socket

import pytest
from attempting import signed_in, token
from lodge import SECRETS, client

from adomnia.present.csv_export import _cell
from adomnia.server.console.views.policy import _without_secrets
from adomnia.server.serve import Addresses


@pytest.mark.parametrize(
    "target",
    ["//evil.example", "/\\evil.example", "https://evil.example", "/a//evil.example", "/%2f/evil",
     "/ledger\r\nX: y", "/\tevil", "javascript:alert(1)", "/.//evil.example", "/ledger?x=//e"],
)  # fmt: skip
def test_signing_in_leads_to_no_other_host(at: Addresses, target: str) -> None:
    browser = client(at, None)
    form = {"name": "bob", "secret": SECRETS["bob"], "next": target,
            "token": token(browser, "/sign-in")}  # fmt: skip
    assert browser.post("/sign-in", data=form).headers["location"] == "/"


def test_a_slash_too_many_leads_to_no_other_host(at: Addresses) -> None:
    with client(at) as alice:
        sent = alice.get("/v1/budget/", headers={"Host": "evil.example"})
    assert "evil.example" not in sent.headers.get("location", "")


def test_a_name_of_a_column_is_never_markup(at: Addresses) -> None:
    browser, name = signed_in(at, "alice"), '<img src=x onerror="alert(1)">'
    quoted = name.replace('"', '""')
    sql = f'SELECT sex, COUNT(*) AS "{quoted}" FROM people GROUP BY sex'
    form = {"token": token(browser), "key": "markup" * 5, "sql": sql, "amount": "1/50"}
    page = browser.get(browser.post("/ask", data=form).headers["location"]).headers["location"]
    for seen in (page, "/ledger", "/", f"/?sql={name}"):
        assert "<img src=x" not in browser.get(seen).text
    sheet = browser.get(f"{page}/table.csv")
    assert sheet.headers["content-type"].startswith("text/csv")
    assert "attachment" in sheet.headers["content-disposition"]


@pytest.mark.parametrize("start", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_no_cell_of_a_sheet_is_a_formula(start: str) -> None:
    assert _cell(start) == "'" + start


@pytest.mark.parametrize(
    "path", ["/static/../door.py", "/static/..%2f..%2fdoor.py", "/static//etc/passwd",
             "/answers/../../adomnia.toml", "/v1/receipts/..%2f..%2fadomnia.accounts"]
)  # fmt: skip
def test_no_path_leads_to_a_file(at: Addresses, path: str) -> None:
    with socket.create_connection((at.host, at.http or 0), timeout=10) as line:
        line.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        said = b"".join(iter(lambda: line.recv(1 << 16), b""))
    assert said.split()[1] in (b"303", b"401", b"404")
    assert b"import" not in said
    assert b"root:" not in said


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:pa@hunter2@db/x",
        "postgresql://u:hunter2@db/x",
        "postgresql://u:pa?hunter2@db/x",
        "postgresql://u:pa/hunter2@db/x",
        "postgresql://u:pa hunter2@db/x",
        "postgresql://db/x?user=u&password=hunter2",
        "postgresql://db/x?sslmode=require&password=a&hunter2",
        "postgresql://db/x?password=hunter2&user=me@example.org",
        "jdbc:postgresql://db/x?sslpassword=hunter2",
    ],
)
def test_no_password_of_an_address_is_shown(url: str) -> None:
    assert "hunter2" not in _without_secrets(f'source = "{url}"')


def test_what_is_no_secret_of_an_address_is_shown() -> None:
    line = 'url = "postgresql://me@db.example/x?ledger=people"'
    assert _without_secrets(line) == line
