"""The growth models by name: their parameters with ranges, and the readings of their texts."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from adomnia.errors import QuestionError

__all__ = ["MODELS", "MOST_NODES", "GrowthModel", "GrowthName", "Model", "Parameter", "settle"]

GrowthName = Literal["forest-fire", "copying", "mvs"]
Values = Mapping[str, Any]
MOST_NODES = 10_000
MOST_STEPS = 10_000_000


@dataclass(frozen=True)
class Parameter:
    """A number of a model: what it is unless told, and its range; whole if the default is."""

    default: float
    low: float
    high: float
    about: str
    below_high: bool = False

    def check(self, name: str, value: Any) -> float:
        """The value, or a QuestionError with the range."""
        whole = isinstance(self.default, int)
        right = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
        if (
            right
            and self.low <= value <= self.high
            and not (self.below_high and value == self.high)
        ):
            return int(value) if whole else float(value)
        kind = "a whole number" if whole else "a number"
        end = f"below {self.high:g}" if self.below_high else f"to {self.high:g}"
        raise QuestionError(
            f"{name} is {value!r}", f"{name}, {self.about}, is {kind} from {self.low:g} {end}"
        )


@dataclass(frozen=True)
class GrowthModel:
    """One model with all its numbers, ready to run; `words` may be more than its nodes need."""

    model: GrowthName
    reading: str
    parameters: Values
    kernel: str
    words: int
    sizes: tuple[int, int, int]
    rule: tuple[float, ...]

    def pairs(self, seed: int, first: int, many: int) -> NDArray[np.int64]:
        """Edges that cross at the end of runs `first`, …: a row without Bob's edge, one with."""
        grow = getattr(import_module(f"{__package__}.{self.kernel}"), self.kernel)
        crossing: NDArray[np.int64] = grow(
            np.uint64(seed), (first, many), self.words, self.sizes, self.rule
        )
        return crossing


@dataclass(frozen=True)
class Model:
    """A model: parameters, readings (what each tells the kernel), and how a run is put up."""

    parameters: Mapping[str, Parameter]
    readings: Mapping[str, tuple[Any, ...]]
    build: Callable[[Values, tuple[Any, ...]], tuple[str, tuple[int, int, int], tuple[Any, ...]]]
    check: Callable[[Values, str], None]


def settle(model: GrowthName, reading: str, parameters: Values) -> GrowthModel:
    """The model with these parameters, the others as by default; a QuestionError if wrong."""
    known = _known("model", model, MODELS)
    told = _known(f"reading of {model}", reading, known.readings)
    for name in parameters:
        _known(f"parameter of {model}", name, known.parameters)
    values = {
        name: one.check(name, parameters.get(name, one.default))
        for name, one in known.parameters.items()
    }
    known.check(values, reading)
    kernel, sizes, rule = known.build(values, told)
    words = math.ceil(values["nodes"] / 64)
    return GrowthModel(model, reading, values, kernel, words, sizes, rule)


def _known(kind: str, name: str, table: Mapping[Any, Any]) -> Any:
    if name in table:
        return table[name]
    raise QuestionError(f"unknown {kind}: {name}", f"there are: {', '.join(table)}")


def _check_growing(values: Values, _: str) -> None:
    start, links, nodes = values["start"], values["links"], values["nodes"]
    if start % 2:
        raise QuestionError(f"start is {start}", "two communities of one size: an even number")
    _check_links(start // 2, links)
    if nodes < start:
        raise QuestionError(f"{nodes} nodes are fewer than at the start, {start}", "grow to more")


def _check_constant(values: Values, reading: str) -> None:
    nodes, links = values["nodes"], values["links"]
    if nodes % 2:
        raise QuestionError(f"nodes is {nodes}", "two communities of one size: an even number")
    _check_links(nodes // 2, links)
    if reading == "literal" and links % 2:
        raise QuestionError(
            f"{links} links for each node of a ring", "an even number, or reading 'picked'"
        )


def _check_links(community: int, links: int) -> None:
    if links >= community:
        raise QuestionError(
            f"{links} links within a community of {community}", f"at most {community - 1} others"
        )


def _fire(values: Values, told: tuple[Any, ...]) -> Any:
    kernel = "forest_fire" if values["nodes"] <= 64 else "large_fire"
    rates = values["forward"], values["backward"], values["q"]
    return kernel, (values["nodes"], values["start"], values["links"]), (*rates, *told)


def _copy(values: Values, told: tuple[Any, ...]) -> Any:
    return "copying", (values["nodes"], values["start"], values["links"]), (values["p"], *told)


def _mvs(values: Values, told: tuple[Any, ...]) -> Any:
    rates = values["eta"], values["xi"], values["lam"]
    return "mvs", (values["nodes"], values["steps"], values["links"]), (*rates, *told)


_GROWING = {
    "nodes": Parameter(50, 4, MOST_NODES, "the size at the end"),
    "start": Parameter(10, 4, MOST_NODES, "the size at the start"),
    "links": Parameter(3, 1, MOST_NODES, "the links of each node at the start"),
}

MODELS: Mapping[GrowthName, Model] = {
    "forest-fire": Model(
        {
            **_GROWING,
            "forward": Parameter(0.37, 0, 1, "the geometric parameter of outlinks", True),
            "backward": Parameter(0.32, 0, 1, "the geometric parameter of inlinks", True),
            "q": Parameter(0.1, 0, 1, "the probability of one random link more"),
        },
        # how many inlinks are tried whatever is drawn; whether only nodes not yet reached are
        {"literal": (0, True), "any-link": (0, False), "at-least-one": (1, False)},
        _fire,
        _check_growing,
    ),
    "copying": Model(
        {**_GROWING, "p": Parameter(0.05, 0, 1, "the probability of a random link")},
        # whether Bob's edge comes on top of his links, or is one of them
        {"literal": (False,), "added": (True,)},
        _copy,
        _check_growing,
    ),
    "mvs": Model(
        {
            "nodes": Parameter(20, 4, MOST_NODES, "the size, which is constant"),
            "links": Parameter(2, 1, MOST_NODES, "the links of each node at the start"),
            "eta": Parameter(0.1, 0, 1, "the probability of a random link"),
            "xi": Parameter(1.0, 0, 1, "the probability of an introduction"),
            "lam": Parameter(0.1, 0, 1e6, "the mean number of deletions"),
            "steps": Parameter(100, 0, MOST_STEPS, "the number of steps"),
        },
        # whether every node has exactly its links at the start, or picks them
        {"literal": (True,), "picked": (False,)},
        _mvs,
        _check_constant,
    ),
}
