"""How time, memory and error grow with attributes, rows and values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from release_alone import measure
from release_score import SLACK, cpu, number

MOST_SECONDS, MOST_MEMORY, MOST_EXPONENT, MOST_PLAN = 10, 1000, 1.05, 1
TIMES = (1, 10, 100, 1_000, 10_000)
"""How often the 10,000 made-up rows count."""
VALUES = {1_000: (1_399.0, 1.6, 500), 10_000: (math.inf, 5.0, 500)}
"""Most L1, CPU seconds and MB for two columns of so many values."""


@dataclass(frozen=True)
class Size:
    """One size: what was found, or why nothing was."""

    size: int
    found: dict[str, Any]

    @property
    def done(self) -> bool:
        return "failed" not in self.found

    def __getattr__(self, name: str) -> Any:
        return self.found[name]


def scaling(sizes: Sequence[int]) -> list[Size]:
    """Unbiased tables of up to three of d attributes."""
    print("\nScaling: all marginals of up to 3 of d attributes of 10 values, rho = 0.5")
    print(f"  {'d':>4}{'cells':>14}{'plan ms':>10}{'release CPU s':>15}{'peak MB':>9}")
    seen = []
    for size in sizes:
        one = Size(size, measure("scaling", size))
        seen.append(one)
        if not one.done:
            print(f"  {size:>4}  {one.failed}", flush=True)
            continue
        print(
            f"  {size:>4}{one.cells:>14,}{one.planned * 1e3:>10.1f}{one.released:>15.2f}"
            f"{one.memory:>9,.0f}",
            flush=True,
        )
    print(f"  CPU seconds grow as cells^{exponent(seen):.2f}")
    return seen


def exponent(seen: Sequence[Size]) -> float:
    """The power of the cells by which CPU seconds grow."""
    points = [(math.log(one.cells), math.log(one.released)) for one in seen if one.done]
    return float(np.polyfit(*zip(*points, strict=True), 1)[0]) if len(points) > 1 else math.nan


def rows(times: Sequence[int]) -> list[Size]:
    """A made-up set, each of its rows so many times."""
    print("\nRows: 7 made-up attributes, all 1- and 2-way, rho = 0.5; 10,000 rows, each so often")
    return _both("rows", times)


def wide(values: Sequence[int]) -> list[Size]:
    """Two columns of many values."""
    print("\nValues: 2 made-up columns of so many, both single tables, 10,000 rows, epsilon = 1")
    return _both("wide", values)


def _both(part: str, sizes: Sequence[int]) -> list[Size]:
    print(f"  {part:>12}{'L1':>14}{'cell':>12}{'unbiased L1':>13}{'CPU s':>9}{'peak MB':>9}")
    seen = []
    for size in sizes:
        one = Size(size, measure(part, size))
        seen.append(one)
        if not one.done:
            print(f"  {size:>12,}  {one.failed}", flush=True)
            continue
        print(
            f"  {one.rows if part == 'rows' else size:>12,}{one.mean:>14,.1f}{one.worst:>12,.0f}"
            f"{one.unbiased:>13,.1f}{one.seconds:>9.2f}{one.memory:>9,.0f}",
            flush=True,
        )
    return seen


def behind_scaling(seen: Sequence[Size]) -> Iterator[str]:
    """What 100 attributes should not take."""
    last = seen[-1] if seen else None
    if last is None or last.size != 100:
        return
    if not last.done:
        yield f"100 attributes: {last.failed}"
        return
    if last.released > MOST_SECONDS:
        yield f"100 attributes: {last.released:.1f} CPU s instead of {MOST_SECONDS}"
    if last.memory > MOST_MEMORY:
        yield f"100 attributes: {last.memory:,.0f} MB instead of {MOST_MEMORY:,}"
    if last.planned > MOST_PLAN:
        yield f"100 attributes: {last.planned:.1f} s to plan instead of milliseconds"
    if exponent(seen) > MOST_EXPONENT:
        yield f"scaling: cells^{exponent(seen):.2f} instead of linear"


def behind_rows(seen: Sequence[Size]) -> Iterator[str]:
    """The error is that at 100,000 rows for any number, and that of the unbiased tables."""
    base = next((one for one in seen if one.size == 10 and one.done), None)
    for one in seen:
        if not one.done:
            yield f"rows ×{one.size:,}: {one.failed}"
        elif base and one.size > base.size and one.mean > base.mean * 1.1:
            yield f"rows ×{one.size:,}: L1 {number(one.mean)} instead of {number(base.mean)}"
        elif one.mean > one.unbiased * SLACK:
            yield f"rows ×{one.size:,}: L1 {one.mean / one.unbiased:.2f} times unbiased"


def behind_wide(seen: Sequence[Size]) -> Iterator[str]:
    for one in seen:
        most, seconds, memory = VALUES[one.size]
        if not one.done:
            yield f"{one.size:,} values: {one.failed}"
            continue
        if one.mean > most:
            yield f"{one.size:,} values: L1 {number(one.mean)} instead of {number(most)}"
        if one.seconds > seconds:
            yield f"{one.size:,} values: {cpu(one.seconds)} instead of {cpu(seconds)}"
        if one.memory > memory:
            yield f"{one.size:,} values: {one.memory:,.0f} MB instead of {memory}"


def scaling_table(seen: Sequence[Size]) -> list[list[str]]:
    return [["attributes of 10 values", "cells", "plan", "release", "peak"], ["---"] * 5] + [
        [str(one.size), f"{one.cells:,}", f"{one.planned * 1e3:.0f} ms",
         f"{one.released:.1f} CPU s", f"{one.memory:,.0f} MB"]
        for one in seen if one.done
    ]  # fmt: skip


def growth_table(label: str, seen: Sequence[Size]) -> list[list[str]]:
    table = [[label, "L1", "largest cell", "unbiased L1", "CPU s", "peak MB"], ["---"] * 6]
    for one in seen:
        size = f"{one.rows if label == 'rows' and one.done else one.size:,}"
        table.append(
            [size, number(one.mean), number(one.worst), number(one.unbiased), f"{one.seconds:.2f}",
             f"{one.memory:,.0f}"] if one.done else [size, one.failed, *["–"] * 4]
        )  # fmt: skip
    return table
