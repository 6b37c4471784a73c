"""Blocks: rows are dealt out by one expression of a row, and each block has a budget of its own.

What a statement touches is read off the condition that it runs with, and from nothing else: a
condition that holds the blocks' own test touches the blocks of that test, any other one touches
all (`blocks.md`). Which test is put there is for cost and accuracy alone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from adomnia.queries.expression import Call, Expr, conjuncts
from adomnia.queries.operations import call, constant
from adomnia.queries.ranges import cells, show

__all__ = ["REST", "Block", "Blocks", "Touched", "block_name"]

Block = str | None
"""The name of a block, as the ledger has it for ever; None is the block of all other rows."""

SHOWN = 4
"""So many blocks are named one by one."""

REST: Block = None
"""The block of rows whose value is NULL, or outside of what is declared."""


def block_name(block: Block) -> str:
    """A block as a person reads it."""
    return "all other rows" if block is None else block


@dataclass(frozen=True)
class Touched:
    """The blocks that a use can read, among those that rows were `dealt` out to."""

    blocks: tuple[Block, ...]
    dealt: Mapping[str, Any]

    @property
    def text(self) -> str:
        """The blocks as a person reads them: few by name, many by the first and the last."""
        names = [block_name(block) for block in self.blocks]
        if len(names) <= SHOWN:
            return ", ".join(names)
        return f"{names[0]} to {names[-1]} ({len(names):,} blocks)"


@dataclass(frozen=True)
class Blocks:
    """How rows are dealt out: by the value of `key`, which the policy writes as `by`."""

    by: str
    key: Expr

    @cached_property
    def names(self) -> dict[Block, Any]:
        """The blocks in order, each with the value of its rows; that of all other rows is last."""
        listed: dict[Block, Any] = {
            str(show(self.key.range, value)): value for value in cells(self.key.range)
        }
        return {**listed, REST: None}

    @cached_property
    def dealt(self) -> dict[str, Any]:
        """By what rule rows are dealt out and to which blocks, as the ledger has it."""
        return {"by": self.by, "names": [name for name in self.names if name is not REST]}

    def test(self, blocks: Collection[Block]) -> Expr | None:
        """The condition that a row is in one of these; None where these are all."""
        if {*blocks} >= self.names.keys():
            return None
        if REST not in blocks:
            return self._listed([name for name in self.names if name in blocks])
        others = self._listed([name for name in self.names if name not in blocks])
        return call("case", others, constant(False), constant(True))

    def touched(self, where: Expr | None) -> frozenset[Block]:
        """The blocks that a statement with this condition can read a row of."""
        found = frozenset(self.names)
        for part in conjuncts(where):
            found &= self._tested(part)
        return found

    def _listed(self, names: Collection[Block]) -> Expr:
        return call("in", self.key, params=tuple(self.names[name] for name in names))

    def _tested(self, part: Expr) -> frozenset[Block]:
        """The blocks of a test; all, where it is none of ours."""
        every = frozenset(self.names)
        if not isinstance(part, Call):
            return every
        inner = part.args[0] if part.op == "case" else part
        if not isinstance(inner, Call) or inner.op != "in" or inner.args != (self.key,):
            return every
        listed = frozenset(name for name, value in self.names.items()
                           if name is not REST and value in inner.params)  # fmt: skip
        if inner is part:
            return listed
        is_negated = part.args[1:] == (constant(False), constant(True))
        return every - listed if is_negated else every
