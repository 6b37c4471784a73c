"""Runs in batches on threads: any number of workers, ended early by a clock or by Ctrl-C."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress

import numpy as np
from numpy.typing import NDArray

__all__ = ["Batch", "Progress", "run"]

Batch = Callable[[int, int], NDArray[np.int64]]
Progress = Callable[[int, int], None]
Timed = tuple[NDArray[np.int64], float]

FEWEST, MOST = 2, 50_000  # runs of a batch; two are the fewest with a standard error
SECONDS = 0.1  # what a batch should take, so that it can be waited for


def run(
    batch: Batch,
    runs: int,
    workers: int,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> NDArray[np.int32]:
    """The outcomes of runs 0, 1, …, one column each: all, or the first ones if ended early.

    `batch(first, many)` returns the columns of `many` runs. A batch that was begun is waited for:
    without it, slow runs would be rarer in the outcome than in truth. `progress(done, runs)` is
    called after each batch, and may raise KeyboardInterrupt. Ctrl-C is noted between two batches;
    pressed again, it is raised wherever the program is.
    """
    end = time.monotonic() + (math.inf if time_limit is None else time_limit)
    line = _BatchQueue(batch, runs)
    with _noted_interrupts() as pressed, ThreadPoolExecutor(workers) as pool:
        with suppress(KeyboardInterrupt):
            while (line.waiting or line.given < runs) and not (line.given and _ended(end, pressed)):
                if line.given < runs and len(line.waiting) < 2 * workers:
                    line.submit(pool)
                else:
                    line.collect(progress)
        line.close()
    return np.concatenate(line.done, axis=1)


def _ended(end: float, pressed: list[int]) -> bool:
    return bool(pressed) or time.monotonic() >= end


@contextmanager
def _noted_interrupts() -> Iterator[list[int]]:
    """A list that fills when Ctrl-C is pressed, in the place of KeyboardInterrupt.

    An exception from nowhere can come while a lock of the pool is taken and before anybody is
    responsible for giving it back; then the workers, and who waits for them, wait for ever.
    """
    pressed: list[int] = []

    def note(number: int, frame: object) -> None:
        if pressed:
            raise KeyboardInterrupt
        pressed.append(number)

    mine = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGINT) if mine else None
    if not callable(before):  # signals come to another thread, are ignored, or end the program
        yield pressed
        return
    signal.signal(signal.SIGINT, note)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, before)


class _BatchQueue:
    """Batches in the order of their runs: what is given out, waited for, and done."""

    def __init__(self, batch: Batch, runs: int) -> None:
        self.batch, self.runs = batch, runs
        self.given, self.size = 0, FEWEST
        self.waiting: deque[Future[Timed]] = deque()
        self.done: list[NDArray[np.int32]] = []

    def submit(self, pool: ThreadPoolExecutor) -> None:
        """Give out the next batch; a last single run goes with it."""
        left = self.runs - self.given
        many = left if left <= self.size + 1 else self.size
        self.waiting.append(pool.submit(self._timed, self.given, many))
        self.given += many

    def collect(self, progress: Progress | None) -> None:
        """Wait for the first batch in the line, and choose the size of later ones."""
        outcome, seconds = self.waiting[0].result()
        self.waiting.popleft()
        self.done.append(outcome.astype(np.int32))
        fitting = outcome.shape[1] * SECONDS / max(seconds, 1e-6)
        self.size = int(min(max(FEWEST, fitting), 8 * self.size, MOST))
        if progress is not None:
            progress(sum(part.shape[1] for part in self.done), self.runs)

    def close(self) -> None:
        """Take back what nobody has begun, but not the only batch, and wait for the rest."""
        while len(self.waiting) > (0 if self.done else 1) and self.waiting[-1].cancel():
            self.waiting.pop()
        while self.waiting:
            self.collect(None)

    def _timed(self, first: int, many: int) -> Timed:
        begun = time.monotonic()
        return self.batch(first, many), time.monotonic() - begun
