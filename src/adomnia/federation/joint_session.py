"""Asking several holders at once: the asker proposes, has them pay, and sums masked words.

It sees no holder's numbers, only their sum with the whole noise. A holder that is lost in the
middle makes the round worthless; the next round goes without it, and is paid anew (`masks.md`).
"""

from __future__ import annotations

import math
from base64 import b64decode
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from adomnia import errors
from adomnia.curator.answers.answer import Answer, tabulate
from adomnia.curator.answers.omissions import UNKNOWN, left_out_of, sentences
from adomnia.curator.planning.plan import Plan
from adomnia.curator.policy_lines import refuse_several
from adomnia.curator.table_backend import table_of
from adomnia.errors import AdomniaError, MachineryError, QuestionError
from adomnia.federation.framing import LostError, call
from adomnia.federation.joint_plan import digest_of, joint_plan, shapes_of
from adomnia.federation.masks import (
    Party,
    Peer,
    Round,
    Words,
    checksum,
    public_key,
    refuse_shared_keys,
)
from adomnia.mechanisms.noisy_values import Measured, Noisy
from adomnia.mechanisms.randomness import SYSTEM
from adomnia.policy.policy import Policy, read_policy
from adomnia.privacy.events import cost_of
from adomnia.privacy.loss import Amount, exact
from adomnia.queries.question import Question
from adomnia.queries.sql.bind import bind

__all__ = ["JointSession", "open_holders"]


@dataclass
class _Bill:
    """What each holder was asked to pay so far, and what it said is left."""

    cost: Fraction
    paid: dict[str, Fraction] = field(default_factory=dict)
    left: dict[str, Fraction] = field(default_factory=dict)

    def add(self, name: str) -> None:
        self.paid[name] = self.paid.get(name, Fraction(0)) + self.cost

    def said(self) -> str:
        """What was spent in vain, for an error."""
        listed = ", ".join(f"{name} {amount}" for name, amount in sorted(self.paid.items()))
        return f"epsilon spent: {listed}" if listed else "nobody spent anything"


@dataclass(frozen=True)
class JointSession:
    """A session with several holders, asked as one.

    The policy says what the data looks like; it needs no data.

    >>> from adomnia.testing import joint_session, town
    >>> with joint_session({"north": town(rows=20), "south": town(rows=30)}) as session:
    ...     answer = session.ask("SELECT COUNT(*) AS n FROM people", epsilon=1)
    >>> [note for note in answer.notes if "holders" in note]
    ['summed over 2 holders: north, south']
    """

    me: Party
    holders: tuple[Peer, ...]
    policy: Policy
    least: int = 2
    seconds: float = 60.0

    def ask(
        self,
        sql: str,
        epsilon: Amount,
        *,
        colluding: int = 1,
        confidence: float = 0.95,
    ) -> Answer:
        """A private answer about the rows of all holders.

        It is private also from `colluding` holders who put together all that they know. A holder
        that does not answer is left out of the next round, as long as `least` remain; `spent` is
        what one holder paid for all rounds, and the notes say whose rows are in the answer.

        Raises a QuestionError where the statement, the epsilon, `confidence` or `colluding` is
        wrong or means something else to a holder, a BudgetError or NotAllowedError where a holder
        refuses, and a MachineryError where too few answer; each says what was spent.
        """
        if not 0.5 <= confidence <= 0.999999:
            raise QuestionError("confidence must be between 0.5 and 0.999999", "for example 0.95")
        if not 0 <= colluding < len(self.holders):
            raise QuestionError("somebody must be honest: colluding is below the number of holders")
        present = sorted(self.holders, key=lambda peer: peer.name)
        plan = self._plan(sql, exact(epsilon), len(present))
        bill = _Bill(cost_of(plan.event)["epsilon"])
        lost: list[str] = []
        while len(present) >= max(self.least, colluding + 1):
            joined = _Joined(self, sql, exact(epsilon), plan, colluding, tuple(present))
            total, missing = joined.run(bill)
            if total is not None:
                return self._answer(joined, total, bill, confidence, lost)
            lost += missing
            present = [peer for peer in present if peer.name not in missing]
            if present:
                plan = self._plan(sql, exact(epsilon), len(present))
        raise MachineryError(
            f"too few holders answer; lost: {', '.join(lost) or 'none'}",
            f"{bill.said()}; at least {max(self.least, colluding + 1)} must take part",
        )

    def bind(self, sql: str) -> Question:
        """The question that a statement asks, by the declared domains; nobody is asked, nothing is
        spent.

        Raises a QuestionError where the statement cannot be asked.
        """
        columns = dict.fromkeys([*self.policy.attributes, *filter(None, [self.policy.unit])])
        return bind(sql, table_of(self.policy), tuple(columns))

    def _plan(self, sql: str, epsilon: Fraction, holders: int) -> Plan:
        return joint_plan(self.bind(sql), self.policy, epsilon, holders)

    def _answer(
        self, joined: _Joined, total: Words, bill: _Bill, confidence: float, lost: Sequence[str]
    ) -> Answer:
        readings = joined.readings(total)
        table = tabulate(joined.plan, readings, confidence, self.policy.attributes)
        names = [peer.name for peer in joined.present]
        left_out = left_out_of(
            joined.plan.question, table_of(self.policy), None, confidence, UNKNOWN
        )
        notes = [*table.notes, *sentences(left_out)]
        notes.append(f"summed over {len(names)} holders: {', '.join(names)}")
        if lost:
            notes.append(f"not in the sum, because they did not answer: {', '.join(lost)}")
        spent = {"epsilon": max((bill.paid[name] for name in names), default=Fraction(0))}
        return Answer(
            table.columns,
            table.rows,
            table.margins,
            confidence,
            spent,
            bill.left,
            joined.name,
            tuple(notes),
            table.margin_units,
            table.noise,
            left_out=left_out,
        )


def open_holders(
    holders: Iterable[Peer],
    me: Party,
    policy: str | Path = "adomnia.toml",
    *,
    least: int = 2,
    seconds: float = 60.0,
) -> JointSession:
    """Several holders, asked as one by an asker whose key they know.

    Each of the `holders` has a name, a key and an address; `me` has the asker's secret. The policy
    file declares the domains as the holders do; its source is not opened. At least `least` holders
    must answer, each within so many `seconds`.

    Returns a session; nobody is called before something is asked. Raises a QuestionError where
    there are fewer than two or one is named twice, and a PolicyError where two parties have one key
    or the policy is wrong.

    >>> import tempfile
    >>> from adomnia.federation import Party, Peer, make_secret, public_key
    >>> from adomnia.testing import town
    >>> north, south = (Peer(n, public_key(make_secret()), "127.0.0.1:7001") for n in ("n", "s"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     policy = town(rows=5).write(folder)
    ...     session = open_holders([north, south], Party("me", make_secret()), policy)
    >>> len(session.bind("SELECT COUNT(*) AS n FROM people").statistics)
    1
    """
    listed = tuple(holders)
    if len({peer.name for peer in listed}) != len(listed) or len(listed) < 2:
        raise QuestionError("name two or more holders, each once")
    refuse_shared_keys((*listed, Peer(me.name, public_key(me.secret))))
    read = read_policy(policy)
    refuse_several(read, "holders answer together about one table", "ask each holder by itself")
    return JointSession(me, listed, read, max(2, least), seconds)


@dataclass(frozen=True)
class _Joined:
    """One round, from the asker's side."""

    session: JointSession
    sql: str
    epsilon: Fraction
    plan: Plan
    colluding: int
    present: tuple[Peer, ...]
    name: str = field(default_factory=lambda: f"{SYSTEM.integer(128):032x}")

    def run(self, bill: _Bill) -> tuple[Words | None, list[str]]:
        """The unmasked sum, or the names of the holders that were lost on the way."""
        agreed, missing = self._propose(bill)
        if agreed is None:
            return None, missing
        bill.left.clear()
        for peer in self.present:  # one after the other: a refusal stops those who come later
            bill.add(peer.name)  # before it answers: a lost one may have paid
            message = {"step": "pay", "nonces": agreed.nonces}
            reply, error = self._call(peer, message)
            if error is not None and not isinstance(error, LostError):
                bill.paid[peer.name] -= bill.cost
            self._raise([error], bill)
            if reply is None:
                return None, [peer.name]
            _keep_least(bill.left, reply.get("remaining"))
        replies, missing = self._all({"step": "give"}, bill)
        return (None, missing) if missing else (self._sum(replies, agreed, bill), [])

    def _propose(self, bill: _Bill) -> tuple[Round | None, list[str]]:
        digest = digest_of(self.plan, self.session.policy)
        message = {
            "step": "propose",
            "sql": self.sql,
            "epsilon": str(self.epsilon),
            "holders": [peer.name for peer in self.present],
            "colluding": self.colluding,
            "digest": digest,
        }
        replies, missing = self._all(message, bill)
        if missing:
            return None, missing
        rings = {str(reply.get("ring")) for reply in replies.values()}
        if len(rings) != 1:
            raise MachineryError(
                "the holders do not have the same public keys of each other", bill.said()
            )
        nonces = {name: str(reply.get("nonce")) for name, reply in replies.items()}
        return Round(self.name, digest, self.colluding, nonces, rings.pop()), []

    def _sum(self, replies: Mapping[str, Mapping[str, Any]], agreed: Round, bill: _Bill) -> Words:
        """The sum of all words; refused where its checksum says that masks did not cancel."""
        size = sum(cells * width for cells, width in shapes_of(self.plan))
        total = np.zeros(size + 1, np.uint64)
        for name, reply in replies.items():
            words = _decoded(reply.get("words"), size + 1)
            if words is None:
                raise MachineryError(f"holder {name!r} sent something else than words", bill.said())
            total += words
        if checksum(total[:size], agreed) != total[size]:
            raise MachineryError(
                "the masks of the holders did not cancel: there is no answer",
                f"some holder uses a wrong key or did not do its part; {bill.said()}",
            )
        return total[:size]

    def readings(self, total: Words) -> Measured:
        """The noisy measurements; a cell's noise is at most that of so many whole draws."""
        honest = len(self.present) - self.colluding
        terms = math.ceil(Fraction(len(self.present), honest))
        parts, start = [], 0
        for step, (cells, width) in zip(self.plan.steps, shapes_of(self.plan), strict=True):
            values = total[start : start + cells * width].view(np.int64).reshape(cells, width)
            parts.append(Noisy(values, step.noise, np.full(cells, terms, np.int64)))
            start += cells * width
        return Measured(tuple(parts))

    def _all(
        self, message: Mapping[str, Any], bill: _Bill
    ) -> tuple[dict[str, dict[str, Any]], list[str]]:
        """Everybody's reply to the same message, and who was lost; a refusal is raised."""
        with ThreadPoolExecutor(len(self.present)) as pool:
            found = list(pool.map(lambda peer: self._call(peer, message), self.present))
        self._raise([error for _, error in found], bill)
        pairs = [(peer.name, reply) for peer, (reply, _) in zip(self.present, found, strict=True)]
        replies = {name: reply for name, reply in pairs if reply is not None}
        return replies, [name for name, reply in pairs if reply is None]

    def _call(
        self, peer: Peer, message: Mapping[str, Any]
    ) -> tuple[dict[str, Any] | None, AdomniaError | None]:
        """The reply of one holder, or what went wrong."""
        try:
            whole = {**message, "round": self.name}
            reply = call(self.session.me, peer, whole, self.session.seconds)
        except AdomniaError as error:
            return None, error
        return (reply, None) if "error" not in reply else (None, _refusal(peer, reply))

    @staticmethod
    def _raise(found: Sequence[AdomniaError | None], bill: _Bill) -> None:
        for error in found:
            if error is not None and not isinstance(error, LostError):
                said = f"{error.hint}; {bill.said()}" if error.hint else bill.said()
                raise type(error)(error.message, said)


def _refusal(peer: Peer, reply: Mapping[str, Any]) -> AdomniaError:
    """A holder's refusal as the error that it names."""
    kinds = {name: getattr(errors, name) for name in errors.__all__}
    kind = kinds.get(str(reply["error"]), MachineryError)
    message = f"holder {peer.name!r}: {str(reply.get('message'))[:1000]}"
    made: AdomniaError = kind(message, str(reply.get("hint", ""))[:1000])
    return made


def _keep_least(left: dict[str, Fraction], said: Any) -> None:
    """Of each currency the least that any holder has left."""
    for kind, text in said.items() if isinstance(said, dict) else ():
        try:
            amount = Fraction(str(text)[:400])
        except (ValueError, ZeroDivisionError):
            continue
        left[str(kind)] = min(amount, left.get(str(kind), amount))


def _decoded(text: Any, size: int) -> Words | None:
    try:
        data = b64decode(text, validate=True)
    except (TypeError, ValueError):
        return None
    return np.frombuffer(data, "<u8").astype(np.uint64) if len(data) == 8 * size else None
