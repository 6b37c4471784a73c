"""One round step by step, without sockets: what an asker sees of each holder."""

from __future__ import annotations

from base64 import b64decode
from fractions import Fraction

import numpy as np
from holding import ASKER, Village

from adomnia.federation.joint_plan import digest_of
from adomnia.federation.masks import Round


class Steps:
    """The asker's messages of a round, to be sent in any order a liar might like."""

    def __init__(self, village: Village, sql: str, epsilon="1", colluding=1, name=None) -> None:
        self.village, self.names = village, list(village.holders)
        self.name = name or np.random.default_rng().bytes(16).hex()
        holder = village.holders[self.names[0]]
        group = village.ask_all(holder.database.policy.file)
        self.plan = group._plan(sql, Fraction(epsilon), len(self.names))
        self.proposal = {
            "step": "propose",
            "round": self.name,
            "sql": sql,
            "epsilon": epsilon,
            "holders": self.names,
            "colluding": colluding,
            "digest": digest_of(self.plan, group.policy),
        }
        self.replies: dict[str, dict[str, str]] = {}

    def say(self, name: str, **message):
        """One message to one holder."""
        return self.village.holders[name].answer(ASKER, {"round": self.name, **message})

    def propose(self) -> None:
        for name in self.names:
            self.replies[name] = self.say(name, **self.proposal)

    @property
    def agreed(self) -> Round:
        nonces = {name: reply["nonce"] for name, reply in self.replies.items()}
        ring = self.replies[self.names[0]]["ring"]
        return Round(self.name, self.proposal["digest"], self.proposal["colluding"], nonces, ring)

    def pay(self, *names: str) -> None:
        for name in names or self.names:
            self.say(name, step="pay", nonces=dict(self.agreed.nonces))

    def give(self, name: str):
        """The words of one holder, its checksum last."""
        return np.frombuffer(b64decode(self.say(name, step="give")["words"]), "<u8")

    def all(self):
        """The words of every holder, by name."""
        self.propose()
        self.pay()
        return {name: self.give(name) for name in self.names}
