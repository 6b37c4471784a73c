"""Files of tests lie in memory only where there is room."""

from __future__ import annotations

import os
import tempfile

from tests import scratch


def test_a_folder_without_room_is_not_used(tmp_path):
    assert scratch.in_memory(tmp_path, room=0) == tmp_path
    assert scratch.in_memory(tmp_path, room=1 << 80) is None
    assert scratch.in_memory(tmp_path / "none", room=0) is None


def test_who_says_where_is_heard(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(scratch, "in_memory", lambda: tmp_path)
    monkeypatch.setenv("TMPDIR", os.getcwd())
    scratch.use_memory()
    assert tempfile.gettempdir() == os.getcwd()
    monkeypatch.delenv("TMPDIR")
    scratch.use_memory()
    assert (tempfile.gettempdir(), os.environ["TMPDIR"]) == (str(tmp_path), str(tmp_path))
