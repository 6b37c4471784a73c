"""Which blocks the rows can be in that meet a condition, by the declared domains alone.

It decides what a question pays and which partitions it reads, and nothing is believed of it: the
blocks that are paid are those of the test that is put into the statement (`blocks.md`).
"""

from __future__ import annotations

from dataclasses import replace

from adomnia.queries.blocks import REST, Block, Blocks
from adomnia.queries.expression import Expr, conjuncts
from adomnia.queries.operations import call
from adomnia.queries.patterns import is_rounded, names
from adomnia.queries.question import Question
from adomnia.queries.shown_groups import reached

__all__ = ["reachable", "within_blocks"]


def reachable(blocks: Blocks, where: Expr | None) -> frozenset[Block]:
    """The blocks of rows that can meet the condition: all, where that cannot be told."""
    every, read = frozenset(blocks.names), names(blocks.key)
    tests = tuple(test for test in conjuncts(where) if names(test) == read and not is_rounded(test))
    values = reached(blocks.key, tests) if tests else None
    if values is None:
        return every
    listed = frozenset(name for name, value in blocks.names.items()
                       if name is not REST and value in values)  # fmt: skip
    known = {blocks.names[name] for name in listed}
    return listed if values <= known else listed | {REST}


def within_blocks(question: Question, blocks: Blocks) -> Question:
    """The same question, of no other rows than those of the blocks that it can touch."""
    if question.rows is not None:
        return question
    test = blocks.test(reachable(blocks, question.where) or {REST})
    if test is None:
        return question
    where = test if question.where is None else call("and", question.where, test)
    return replace(question, where=where)
