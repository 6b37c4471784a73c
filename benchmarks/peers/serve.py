"""What the runners share: questions come in line by line, answers go out as lines of JSON.

A line is `QUESTION REPEAT`. The first line out says that the data is loaded, which version
answers, and what is assumed beyond the other systems' assumptions.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

Found = dict[str, Any]
"""Under `values` the keys and the noisy value of each group; under `prepared`, where a system
can be told its noise beforehand, the seconds without finding it."""

Ask = Callable[[], Any]
Prepare = Callable[[], tuple[Ask, Callable[[Any], Found]]]
"""Gives the call to be timed, and what reads the values from what it returned."""


def serve(version: str, questions: Mapping[str, Prepare], assumes: Mapping[str, str]) -> None:
    """Answer until the input ends."""
    out = sys.stdout
    sys.stdout = sys.stderr  # whatever a library prints must not mix with the answers
    _say(out, {"version": version, "questions": list(questions), "assumes": dict(assumes)})
    for line in sys.stdin:
        question, repeat = line.split()
        try:
            _say(out, {"question": question, "repeat": int(repeat), **_timed(questions[question])})
        except Exception as error:
            _say(out, {"question": question, "error": f"{type(error).__name__}: {error}"[:300]})


def _timed(prepare: Prepare) -> dict[str, Any]:
    ask, read = prepare()
    begun = time.perf_counter()
    got = ask()
    seconds = time.perf_counter() - begun
    return {"seconds": seconds, **read(got)}


def cells(rows: Iterable[Iterable[Any]]) -> Found:
    """Rows whose last column is the value."""
    return {"values": [([*keys], float(value)) for *keys, value in rows]}


def _say(out: Any, body: Mapping[str, Any]) -> None:
    print(json.dumps(body), file=out, flush=True)
