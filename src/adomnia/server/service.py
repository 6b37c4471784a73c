"""The service behind all listeners: one database, its accounts, and threads for what would block.

Listeners run on one event loop. Whatever reads data, the ledger or the accounts goes through `ask`
or `run`, into a bounded number of threads with a bounded queue; past that it is refused.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import BoundedSemaphore
from typing import Any, ParamSpec, TypeVar
from weakref import WeakValueDictionary

from adomnia.curator.access import Watch
from adomnia.curator.answers.answer import Answer
from adomnia.curator.database import PrivateDatabase
from adomnia.curator.session import Session
from adomnia.errors import MachineryError
from adomnia.limits import MAX_WAITING_QUESTIONS
from adomnia.server.accounts import Accounts, Person, UnauthenticatedError
from adomnia.server.credential_cache import CredentialCache
from adomnia.server.login_limits import LoginLimits, TooManyError

__all__ = ["BusyError", "Service"]

P = ParamSpec("P")
T = TypeVar("T")

THREADS = 2 * (os.cpu_count() or 1)
RECENT = 1.0
"""Seconds in which somebody who came in comes in again without a look at the accounts: a thread
less to wait for. So long a removed account or key may still open HTTP."""


class BusyError(MachineryError):
    """Too many questions are waiting; this one was not begun, and nothing was spent."""

    http_status = 503
    sqlstate = "53000"


class Service:
    """One database and its accounts, for all listeners."""

    def __init__(
        self,
        database: PrivateDatabase,
        accounts: Accounts,
        limits: LoginLimits | None = None,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.database, self.accounts, self.limits = database, accounts, limits or LoginLimits()
        self._pause = pause
        self._questions = _ThreadPool("question", THREADS)
        self._background = _ThreadPool(
            "background", THREADS
        )  # long questions must not lock people out
        self._log_ins = _ThreadPool("log-in", 1)  # nor a flood of wrong secrets: scrypt is slow
        self._watches: set[Watch] = set()
        self._turns = WeakValueDictionary[tuple[str, str], asyncio.Lock]()
        self._recent = CredentialCache[Person](RECENT)

    def session(self, person: Person) -> Session:
        """The session under which a person asks; all curators ask as one."""
        return self.database.session(None if person.is_curator else person.name)

    async def ask(
        self, person: Person, sql: str, *, watch: Watch | None = None, **asked: Any
    ) -> Answer:
        """A private answer. If whoever waits for it gives up, the question is cancelled.

        Who asks with a key that they have asked with just now waits for that question to end, and
        gets its answer: it is paid once.
        """
        watch = watch or Watch()
        session = self.session(person)
        work = partial(self._still, person, partial(session.ask, sql, watch=watch, **asked))
        turn = self._turn(session.analyst, asked.get("key"))
        await turn.acquire()
        self._watches.add(watch)
        question = asyncio.ensure_future(self._questions.run(work))

        def ended(_: object) -> None:
            self._watches.discard(watch)
            turn.release()

        question.add_done_callback(ended)  # when the thread is done, not whoever waits for it
        try:
            return await asyncio.shield(question)
        except asyncio.CancelledError:
            watch.cancel()
            raise

    def _turn(self, analyst: str, key: str | None) -> asyncio.Lock:
        """What those who ask with one key hold one after the other."""
        if key is None:
            return asyncio.Lock()
        return self._turns.setdefault((analyst, key), asyncio.Lock())

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What the function gives, computed in a thread."""
        return await self._background.run(partial(function, *args, **kwargs))

    async def run_for(
        self, person: Person, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """What the function gives, computed in a thread, if the person still has their account."""
        return await self.run(self._still, person, partial(function, *args, **kwargs))

    def _still(self, person: Person, work: Callable[[], T]) -> T:
        if not self.accounts.still(person):
            raise UnauthenticatedError(
                "this account is gone, or has another secret", "log in again"
            )
        return work()

    async def log_in(self, name: str, secret: str, address: str) -> Person:
        """Who comes in with this name and secret; refused, and slowed down, if they are wrong."""
        await self.admit(name, address)  # first: what is remembered must not answer guesses
        recent = self._recent.get(name, secret)
        if recent is not None:
            return recent
        return await self._log_ins.run(partial(self._log_in, name, secret, address))

    def _log_in(self, name: str, secret: str, address: str) -> Person:
        self.refuse_many(name, address)  # by now: others may have failed while this waited
        return self._known(self.accounts.check(name, secret), address, name, secret)

    async def log_in_by_key(self, key: str, address: str) -> Person:
        """Who comes in with this API key.

        It cannot be guessed, so failures of others at this address do not shut out a right one.
        """
        recent = self._recent.get("", key)
        if recent is not None:
            return recent
        found = await self.run(self.accounts.check_key, key)
        if found is None:
            self.refuse_many("", address)
        return self._known(found, address, "", key)

    async def admit(self, name: str, address: str) -> None:
        """Let somebody try to log in: not after many failures, and not faster than guesses may."""
        self.refuse_many(name, address)
        seconds = self.limits.delay(name, address)
        if seconds > 0:
            await self._pause(seconds)

    def refuse_many(self, name: str, address: str) -> None:
        """Refuses where too many log-ins of this name have failed here, or of any name."""
        seconds = self.limits.allowed(name, address)
        if seconds > 0:
            hint = f"try again in {seconds:.0f} s"
            raise TooManyError("too many log-ins have failed", hint, seconds)

    def _known(self, person: Person | None, address: str, name: str, secret: str) -> Person:
        if person is None:
            self.limits.failed(name, address)
            raise UnauthenticatedError(
                "this name and secret, or this key, is not known",
                "a curator makes accounts with: adomnia account add NAME --role analyst",
            )
        self.limits.passed(name, address)
        self._recent.put(person, name, secret)
        return person

    async def close(self) -> None:
        """Cancel what is still being asked, and wait until no thread uses the database."""
        for watch in list(self._watches):
            watch.cancel()
        for pool in (self._questions, self._background, self._log_ins):
            await asyncio.to_thread(pool.close)


class _ThreadPool:
    """A fixed number of threads and a queue that ends: what does not fit is refused at once."""

    def __init__(self, name: str, count: int) -> None:
        self._pool = ThreadPoolExecutor(count, thread_name_prefix=name)
        self._room = BoundedSemaphore(count + MAX_WAITING_QUESTIONS)

    async def run(self, work: Callable[[], T]) -> T:
        """What `work` gives; its room is free again when the thread is done, not the waiter."""
        if not self._room.acquire(blocking=False):
            raise BusyError("too many questions are waiting", "nothing was spent; try again soon")
        future = self._pool.submit(work)
        future.add_done_callback(lambda _: self._room.release())
        return await asyncio.wrap_future(future)

    def close(self) -> None:
        """Wait until the threads are done; what had not begun is dropped."""
        self._pool.shutdown(wait=True, cancel_futures=True)
