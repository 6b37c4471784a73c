"""The journey of a question: the calls of a real `ask` that lead from one room to another."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from tools.handbook.room_map import layers
from tools.handbook.svg import arrow, box, label, picture
from tools.walks import QUESTION, Walk, walked

__all__ = ["Step", "journey", "journey_page", "journey_picture"]

LANE, ROW, TOP_EDGE = 112, 19, 46


class Step(NamedTuple):
    """A call from one room into another, the first of its kind."""

    caller: str
    room: str
    file: str
    function: str


@cache
def _walk() -> Walk:
    """Where a question goes that is asked in a process of its own."""
    return walked(["ask"])["ask"]


@cache
def journey() -> list[Step]:
    """The steps from room to room, in order; each function once for each room that calls it."""
    steps: dict[Step, None] = {}
    for caller, file, function in _walk().steps:
        above, room = (path.split("/")[0].removesuffix(".py") for path in (caller or file, file))
        if above != room and not function.split(".")[-1].startswith("__"):
            steps.setdefault(Step(above, room, file, function))
    return list(steps)


def journey_picture() -> str:
    """A lane for each room, time going down, an arrow for each step."""
    steps = journey()
    seen = {name for step in steps for name in (step.caller, step.room)}
    lanes = [name for layer in layers() for name in layer if name in seen]
    middle = {name: 14 + LANE * (index + 0.5) for index, name in enumerate(lanes)}
    high = TOP_EDGE + ROW * len(steps) + 14
    parts = []
    for index, (name, x) in enumerate(middle.items()):
        if index % 2 == 0:
            parts.append(box(x - LANE / 2, 8, LANE, high - 14, "band"))
        parts.append(f'<path class="faint" d="M{x:g} {TOP_EDGE - 12}V{high - 12}"/>')
        parts.append(label(x, 26, name, anchor="middle"))
    for row, step in enumerate(steps):
        parts += _drawn(step, middle, TOP_EDGE + ROW * (row + 0.5))
    wide = 28 + LANE * len(lanes) + 150
    return picture(wide, high, parts, f"The journey of a question: {QUESTION}")


def _drawn(step: Step, middle: dict[str, float], y: float) -> list[str]:
    """An arrow and the name of the function that is called, on the side it comes to."""
    start, end = middle[step.caller], middle[step.room]
    ahead = end > start
    tip = end - 2 if ahead else end + 2
    about = f"{step.caller} calls {step.file}, {step.function}"
    name = step.function.replace("<locals>.", "")
    return [
        arrow(f"M{start:g} {y:g}H{tip:g}", about),
        label(end + 6 if ahead else end - 6, y + 4, name, "code", "start" if ahead else "end"),
    ]


def journey_page() -> str:
    """The page of the journey, with its figures."""
    walk = _walk()
    return "\n".join(
        [
            "---\nhide: [navigation, toc]\n---",
            "# The journey of a question",
            "",
            f"```sh\nadomnia ask \"{QUESTION}\" --epsilon 0.2\n```",
            "",
            "was run, and traced, when this site was built: "
            f"{len(walk.functions)} functions in {len(walk.files)} files, at most "
            f"{walk.depth} calls deep. Each arrow is a call from one room "
            "into another, once for each function; time goes down.",
            "",
            "![Each call from room to room](pictures/journey.svg)",
            "",
            "What to look for: the debit (`reserve`) comes before the data is read (`measure`); "
            "sealed values are opened where noise is added and nowhere else; the answer is "
            "recorded (`answered`) before it is shown. [What must be trusted](trust.md) says why.",
        ]
    ) + "\n"  # fmt: skip
