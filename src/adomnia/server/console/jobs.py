"""Questions that run: each once for its key, with its stages, and an end on request."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from adomnia.curator.access import Watch
from adomnia.errors import AdomniaError, MachineryError
from adomnia.server.service import BusyError

if TYPE_CHECKING:
    from adomnia.curator.answers.answer import Answer
    from adomnia.server.accounts import Person
    from adomnia.server.service import Service

__all__ = ["Job", "Jobs"]

KEPT = 15 * 60.0
"""Seconds for which the outcome of a question is remembered; its answer is in the ledger."""
MOST = 50
"""Questions that are remembered of one person; of more, the oldest that has ended is forgotten."""


@dataclass(eq=False)
class Job:
    """A question on its way: what was asked, how far it is, and how it ended."""

    key: str
    sql: str
    asked: Mapping[str, Any]
    began: float = field(default_factory=time.monotonic)
    stages: list[str] = field(default_factory=list)
    answer: Answer | None = None
    error: AdomniaError | None = None
    watch: Watch = field(default_factory=Watch)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def done(self) -> bool:
        """Whether it has ended, one way or the other."""
        return self.answer is not None or self.error is not None

    def hear(self, stage: str) -> None:
        """Take note of a stage; called in the event loop."""
        self.stages.append(stage)
        self._wake()

    def end(self, answer: Answer | None, error: AdomniaError | None) -> None:
        """Take note of how it ended."""
        self.answer, self.error = answer, error
        self._wake()

    async def ended(self) -> None:
        """Come back when it has ended."""
        while not self.done:
            await self._changed.wait()

    async def heard(self) -> AsyncIterator[str]:
        """Its stages as they come, then `done`."""
        told = 0
        while not (self.done and told == len(self.stages)):
            while told < len(self.stages):
                yield self.stages[told]
                told += 1
            if not self.done:
                await self._changed.wait()
        yield "done"

    def _wake(self) -> None:
        before, self._changed = self._changed, asyncio.Event()
        before.set()


class Jobs:
    """Jobs by person and key. A form that is sent twice joins the job that runs already."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._jobs: dict[tuple[str, str], Job] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, person: Person, key: str, sql: str, asked: Mapping[str, Any]) -> Job:
        """Ask the question, or join the one with this key: it is paid once."""
        self._sweep()
        known = self._jobs.get((person.name, key))
        if known is not None:
            return known
        self._make_room(person)
        job = self._jobs[person.name, key] = Job(key, sql, asked)
        loop = asyncio.get_running_loop()

        def tell(stage: str) -> None:
            loop.call_soon_threadsafe(job.hear, stage)

        job.watch = Watch(tell)
        task = loop.create_task(self._run(person, job))
        self._tasks.add(task)  # the loop itself holds tasks weakly
        task.add_done_callback(self._tasks.discard)
        return job

    def find(self, person: Person, key: str) -> Job | None:
        """The job of this person with this key, while it is remembered."""
        return self._jobs.get((person.name, key))

    async def _run(self, person: Person, job: Job) -> None:
        try:
            asked = {**job.asked, "key": job.key}
            job.end(await self._service.ask(person, job.sql, watch=job.watch, **asked), None)
        except AdomniaError as error:
            job.end(None, error)
        except Exception as error:  # its text could quote data
            job.end(None, MachineryError(f"the machinery failed ({type(error).__name__})"))

    def _make_room(self, person: Person) -> None:
        theirs = [name for name in self._jobs if name[0] == person.name]
        if len(theirs) < MOST:
            return
        ended = next((name for name in theirs if self._jobs[name].done), None)
        if ended is None:
            raise BusyError("too many questions of yours are running", "wait for one to end")
        del self._jobs[ended]

    def _sweep(self) -> None:
        old = time.monotonic() - KEPT
        for name, job in list(self._jobs.items()):
            if job.done and job.began < old:
                del self._jobs[name]
