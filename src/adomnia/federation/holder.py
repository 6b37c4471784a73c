"""One holder: its database behind a socket. It plans, pays and reads by itself; of what it reads
only masked words leave (`masks.md`).

A round has three steps. `propose`: the holder plans the question, compares its meaning, looks at
its budget and draws a nonce. `pay`: it debits the full loss. `give`: it reads, adds its share of
the noise and its mask, and forgets the round.
"""

from __future__ import annotations

import re
import socket
import socketserver
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from adomnia.curator import holder_share
from adomnia.curator.database import PrivateDatabase
from adomnia.curator.planning.plan import Plan
from adomnia.curator.policy_lines import refuse_several
from adomnia.curator.session import Session
from adomnia.errors import AdomniaError, MachineryError, NotAllowedError, QuestionError
from adomnia.federation import framing
from adomnia.federation.joint_plan import digest_of, plan_for, shapes_of
from adomnia.federation.masks import (
    Party,
    Peer,
    Round,
    Words,
    checksum,
    mask,
    public_key,
    refuse_shared_keys,
    ring_of,
)
from adomnia.limits import MAX_HOLDER_REQUEST, MAX_OPEN_ROUNDS, MAX_UNPAID_ROUNDS
from adomnia.mechanisms.masked_share import MaskedShare, MaskedWords
from adomnia.mechanisms.measurement_mechanisms import AddedNoise
from adomnia.mechanisms.randomness import SYSTEM
from adomnia.privacy.loss import exact

__all__ = ["Holder", "HolderRules", "HolderServer", "serve"]

LIFETIME = 600.0
LINES = 16


@dataclass(frozen=True)
class HolderRules:
    """What a holder insists on: how many take part, and how many of them may be in league.

    >>> HolderRules(least=3)
    HolderRules(least=3, colluding=1)
    """

    least: int = 2
    colluding: int = 1


@dataclass(frozen=True)
class _Open:
    """A round between its steps. Once it is paid, `agreed` is complete and `words` wait."""

    session: Session
    sql: str
    plan: Plan
    others: tuple[Peer, ...]
    agreed: Round
    born: float
    words: Words | None = None


class Holder:
    """A database that answers together with its peers, to askers whose keys it knows.

    An asker's name is that of an analyst of the policy, and pays from that budget too.

    >>> from adomnia.federation import Party, Peer, make_secret, public_key
    >>> from adomnia.testing import town
    >>> south, alice = (Peer(name, public_key(make_secret())) for name in ("south", "alice"))
    >>> with town(rows=20).open() as database:
    ...     holder = Holder(database, Party("north", make_secret()), [south], [alice])
    ...     holder.reply({"from": "alice"})
    {'refused': 'no asker with a known key signed this'}
    """

    def __init__(
        self,
        database: PrivateDatabase,
        me: Party,
        peers: Iterable[Peer],
        askers: Iterable[Peer],
        rules: HolderRules | None = None,
    ) -> None:
        said = "holders answer together about one table"
        refuse_several(database.policy, said, "serve these by themselves: adomnia serve")
        self.database, self.me, self.rules = database, me, rules or HolderRules()
        self.peers = {peer.name: peer for peer in peers}
        self.askers = {asker.name: asker for asker in askers}
        mine = Peer(me.name, public_key(me.secret))
        refuse_shared_keys((mine, *self.peers.values(), *self.askers.values()))
        self._open: dict[str, _Open] = {}
        self._lock = threading.Lock()

    def reply(self, frame: Mapping[str, Any]) -> dict[str, Any]:
        """The frame that answers a frame; an error is part of the answer, and holds no data."""
        asker = self.askers.get(str(frame.get("from")))
        message = None if asker is None else framing.verify(self.me, asker, frame)
        if asker is None or message is None:
            return {"refused": "no asker with a known key signed this"}
        try:
            answer = self.answer(asker.name, message)
        except AdomniaError as error:
            kind = next(k.__name__ for k in type(error).__mro__ if k.__module__ == "adomnia.errors")
            answer = {"error": kind, "message": error.message, "hint": error.hint}
        except Exception as error:  # its message could quote data
            answer = {"error": "MachineryError", "message": type(error).__name__, "hint": ""}
        return framing.sign(self.me, asker, answer, context=str(frame["mac"]))

    def answer(self, asker: str, message: Mapping[str, Any]) -> dict[str, Any]:
        """What this holder says to one step of a round, by the name of the asker.

        Raises a QuestionError where this is no step, a NotAllowedError where its rules do not allow
        it, a BudgetError where its budget does not, and a MachineryError where too many rounds are
        open.
        """
        steps: dict[str, Callable[[str, str, Mapping[str, Any]], dict[str, Any]]] = {
            "propose": self._propose,
            "pay": self._pay,
            "give": self._give,
        }
        step = steps.get(str(message.get("step")))
        name = str(message.get("round"))
        if step is None or not re.fullmatch("[0-9a-f]{32}", name):
            raise QuestionError("this is not a step of a round")
        with self._lock:
            self._forget()
            return step(asker, name, message)

    def _propose(self, asker: str, name: str, message: Mapping[str, Any]) -> dict[str, Any]:
        others, colluding = self._participants(message)
        session = self.database.session(asker)
        if name in self._open:
            raise NotAllowedError("this round has begun already", "begin a new one")
        holder_share.refuse_known(session, name)
        sql = _text(message, "sql")
        # the masks cancel among these holders and no others, so the noise is for so many
        plan = plan_for(session, sql, exact(_text(message, "epsilon")), len(others) + 1)
        digest = digest_of(plan, self.database.policy)
        if digest != message.get("digest"):
            raise QuestionError(
                "the question means something else by this holder's policy",
                "domains, neighbours and unit must be declared alike by all",
            )
        holder_share.check_budget(session, plan)
        mine = [r for r in self._open.values() if r.session.analyst == asker and r.words is None]
        if len(mine) >= MAX_UNPAID_ROUNDS:
            raise MachineryError("too many rounds wait for payment", "pay or wait some minutes")
        if len(self._open) >= MAX_OPEN_ROUNDS:
            raise MachineryError("too many rounds are open", "try again in some minutes")
        nonce = f"{SYSTEM.integer(128):032x}"
        agreed = Round(name, digest, colluding, {self.me.name: nonce}, ring_of(self.me, others))
        self._open[name] = _Open(session, sql, plan, others, agreed, time.monotonic())
        return {"nonce": nonce, "ring": agreed.ring}

    def _participants(self, message: Mapping[str, Any]) -> tuple[tuple[Peer, ...], int]:
        """The other participants, all known beforehand, and how many of them may be in league."""
        names, colluding = message.get("holders"), message.get("colluding")
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise QuestionError("a round names its holders")
        if len(set(names)) != len(names) or self.me.name not in names:
            raise QuestionError("a round names each of its holders once")
        strangers = [name for name in names if name != self.me.name and name not in self.peers]
        if strangers:
            raise NotAllowedError(f"{strangers[0][:80]!r} is not known to this holder")
        if len(names) < self.rules.least:
            raise NotAllowedError(f"this holder answers among {self.rules.least} or more only")
        if not isinstance(colluding, int) or not self.rules.colluding <= colluding < len(names):
            raise NotAllowedError(
                f"{self.rules.colluding} or more of the holders may be in league, but not all",
                f"colluding must be from {self.rules.colluding} to {len(names) - 1}",
            )
        return tuple(self.peers[name] for name in names if name != self.me.name), colluding

    def _pay(self, asker: str, name: str, message: Mapping[str, Any]) -> dict[str, Any]:
        found = self._found(asker, name)
        nonces = _nonces(message, {self.me.name, *(other.name for other in found.others)})
        if nonces[self.me.name] != found.agreed.nonces[self.me.name] or found.words is not None:
            raise NotAllowedError("this is not the round that was proposed", "begin a new one")
        del self._open[name]  # whatever happens now, it is not paid for twice
        agreed = replace(found.agreed, nonces=nonces)
        hidden = self._mask(found, agreed)
        shares = _shares(found.plan, agreed, hidden)
        paid = holder_share.contribute(found.session, found.sql, found.plan, name, shares)
        words = _words(paid.released, agreed, hidden)
        self._open[name] = replace(found, agreed=agreed, words=words)
        left = paid.remaining
        return {"remaining": {kind: str(value) for kind, value in left.items()}}

    def _give(self, asker: str, name: str, message: Mapping[str, Any]) -> dict[str, Any]:
        found = self._found(asker, name)
        if found.words is None:
            raise NotAllowedError("this round is not paid")
        del self._open[name]  # a round is answered once
        return {"words": b64encode(found.words.astype("<u8").tobytes()).decode()}

    def _mask(self, found: _Open, agreed: Round) -> Words:
        """A word for each number of all measurements, and one more for their checksum."""
        size = sum(cells * width for cells, width in shapes_of(found.plan))
        return mask(self.me, found.others, agreed, size + 1)

    def _found(self, asker: str, name: str) -> _Open:
        found = self._open.get(name)
        if found is None or found.session.analyst != asker:
            raise NotAllowedError("this round is not open here", "begin a new one")
        return found

    def _forget(self) -> None:
        """Rounds that nobody finished are closed; what was paid for them stays spent."""
        now = time.monotonic()
        self._open = {n: r for n, r in self._open.items() if now - r.born < LIFETIME}


class HolderServer(socketserver.ThreadingTCPServer):
    """A holder at an address; `serve_forever` answers until `shutdown`.

    >>> from adomnia.federation import Holder, Party, make_secret, serve
    >>> from adomnia.testing import town
    >>> with town(rows=20).open() as database:
    ...     with serve(Holder(database, Party("north", make_secret()), [], [])) as server:
    ...         server.port > 0
    True
    """

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, holder: Holder, address: tuple[str, int]) -> None:
        self.holder = holder
        self._free = threading.BoundedSemaphore(LINES)
        super().__init__(address, socketserver.BaseRequestHandler)

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.server_address[1])

    def finish_request(self, request: Any, client_address: Any) -> None:
        """One frame in, one frame out; too many lines at once are closed."""
        if not self._free.acquire(blocking=False):
            return
        try:
            with suppress(OSError):
                self._converse(request)
        finally:
            self._free.release()

    def _converse(self, line: socket.socket) -> None:
        try:
            frame = framing.read_frame(line, MAX_HOLDER_REQUEST)
        except OSError:
            framing.write_frame(line, {"refused": "this is not a message, or it is too long"})
            return
        framing.write_frame(line, self.holder.reply(frame))


def serve(holder: Holder, address: str = "127.0.0.1:0") -> HolderServer:
    """A server for this holder, bound but not yet answering; port 0 takes a free one.

    Its `serve_forever` answers until `shutdown`. Raises a PolicyError where the address is none,
    and a MachineryError where nobody can be answered there.

    >>> from adomnia.federation import Party, make_secret
    >>> from adomnia.testing import town
    >>> with town(rows=20).open() as database:
    ...     with serve(Holder(database, Party("north", make_secret()), [], [])) as server:
    ...         server.holder.me.name
    'north'
    """
    try:
        return HolderServer(holder, framing.parse_address(address))
    except OSError as error:
        message = f"nobody can be answered at {address} ({error.strerror})"
        raise MachineryError(message, "take an address of this machine that is free") from None


def _shares(plan: Plan, agreed: Round, hidden: Words) -> list[MaskedShare]:
    """What this holder gives of every measurement."""
    shares, start = [], 0
    for step, shape in zip(plan.steps, shapes_of(plan), strict=True):
        assert isinstance(step, AddedNoise)
        end = start + shape[0] * shape[1]
        own = hidden[start:end].reshape(shape)
        shares.append(MaskedShare(step, len(agreed.nonces), agreed.colluding, own))
        start = end
    return shares


def _words(released: Sequence[MaskedWords], agreed: Round, hidden: Words) -> Words:
    """The masked words of all measurements, and a masked checksum of them at the end."""
    words = np.concatenate([part.words for part in released])
    check = checksum(words - hidden[:-1], agreed) + hidden[-1:]
    return np.concatenate([words, check])


def _nonces(message: Mapping[str, Any], names: set[str]) -> dict[str, str]:
    nonces = message.get("nonces")
    if isinstance(nonces, dict) and nonces.keys() == names:
        return {name: str(nonce) for name, nonce in nonces.items()}
    raise QuestionError("a round has a nonce of each holder")


def _text(message: Mapping[str, Any], key: str) -> str:
    value = message.get(key)
    if not isinstance(value, str):
        raise QuestionError(f"{key} must be a text")
    return value
