"""The walks of `tools/walks.py`, held: one that grows is recorded on purpose or made shorter."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import walks
from tools.walks import Tracer, Walk

FIGURES = ("files", "functions", "depth")


@pytest.fixture(scope="module")
def traced() -> dict[str, Walk]:
    return walks.walked()


def test_no_walk_has_grown_by_more_than_a_tenth(traced):
    """`make walks ARGS=--write` records a figure that was changed on purpose."""
    assert walks.grown(traced) == []


def test_every_walk_goes_where_it_must(traced):
    assert set(traced) == set(walks.recorded()) == set(walks.WALKS)
    for name in ("ask", "psql", "release", "KMeans.fit"):
        assert {"curator/spend.py", "mechanisms/randomness.py"} <= traced[name].files, name
    assert "ledger/reserve.py" not in traced["attack reconstruct"].files
    assert any(file.startswith("wire/protocol/") for file in traced["psql"].files)


def _walk(files: int, functions: int) -> Walk:
    return Walk([("", f"f{n % files}.py", f"g{n}") for n in range(functions)], 1)


def test_a_walk_grows_by_a_tenth_and_not_by_more(monkeypatch, tmp_path):
    monkeypatch.setattr(walks, "RECORDED", tmp_path / "walks.toml")
    assert walks.grown({"ask": _walk(20, 50)}) == ["ask: nothing is recorded"]
    walks.write({"ask": _walk(20, 50)})
    assert walks.recorded() == {"ask": {"files": 20, "functions": 50, "depth": 1}}
    assert walks.grown({"ask": _walk(22, 55)}) == []
    assert walks.grown({"ask": _walk(23, 55)}) == ["ask: 23 files, 20 recorded"]
    assert walks.grown({"ask": _walk(22, 56)}) == ["ask: 56 functions, 50 recorded"]


def test_what_is_counted(tmp_path, monkeypatch):
    """Functions with a name that ran, in threads too; nothing that an import runs."""
    (tmp_path / "traced_one.py").write_text(
        "import threading\n"
        "def used():\n"
        "    from traced_two import other\n"
        "    list(map(lambda x: x, [1]))\n"
        "    thread = threading.Thread(target=other)\n"
        "    thread.start()\n"
        "    thread.join()\n"
        "def unused():\n"
        "    pass\n",
        "utf-8",
    )
    (tmp_path / "traced_two.py").write_text(
        "def made():\n    return 1\nONE = made()\ndef other():\n    return inner()\n"
        "def inner():\n    return 2\n",
        "utf-8",
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    from traced_one import used

    tracer = Tracer(Path(tmp_path))
    with tracer.watching():
        used()
        with tracer.count():
            used()
    assert list(tracer.steps) == [
        ("", "traced_one.py", "used"),
        ("", "traced_two.py", "other"),
        ("traced_two.py", "traced_two.py", "inner"),
    ]
    assert tracer.depth == 2
