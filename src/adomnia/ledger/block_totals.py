"""What was spent where each block of rows has a budget of its own (`blocks.md`)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from math import ceil

from adomnia.privacy.loss import Loss
from adomnia.queries.blocks import REST, Block

__all__ = ["BlockTotals"]

GRID = 10**150


@dataclass(frozen=True)
class BlockTotals:
    """Losses by block: what was spent `everywhere` is part of every block's total, also of those
    that are declared later; `blocks` has what was spent in some of them beside that.

    >>> from fractions import Fraction
    >>> spent = BlockTotals().plus(Loss.pure(Fraction(1)), ("2024", "2025"))
    >>> spent.of("2024").epsilon, spent.of("2026").epsilon, spent.most.epsilon
    (Fraction(1, 1), Fraction(0, 1), Fraction(1, 1))
    """

    everywhere: Loss = field(default_factory=Loss)
    blocks: Mapping[Block, Loss] = field(default_factory=dict)

    def plus(self, loss: Loss, blocks: Collection[Block] | None) -> BlockTotals:
        """What was spent after a loss in these blocks; None is everywhere."""
        if blocks is None:
            return BlockTotals(_short(self.everywhere + loss), self.blocks)
        more = {name: _short(self.blocks.get(name, Loss()) + loss) for name in blocks}
        return BlockTotals(self.everywhere, {**self.blocks, **more})

    def of(self, block: Block) -> Loss:
        """What was spent in a block."""
        spent = self.blocks.get(block)
        return self.everywhere if spent is None else self.everywhere + spent

    def among(self, blocks: Collection[Block] | None) -> Iterator[tuple[Block, Loss]]:
        """Totals of these blocks, each amount once with the first block that has it; None is of
        all, those in which nothing was spent beside the rest included."""
        seen = set()
        for name in (REST, *self.blocks) if blocks is None else blocks:
            spent = self.of(name)
            if spent not in seen:
                seen.add(spent)
                yield name, spent

    @property
    def most(self) -> Loss:
        """What a row has lost at most, whichever block it is in; of each currency by itself."""
        return reduce(_larger, (spent for _, spent in self.among(None)), self.everywhere)

    def redealt(
        self, before: Collection[Block], names: Collection[Block], same: bool
    ) -> BlockTotals:
        """The totals after the policy declares these blocks, by the `same` rule as before or not.

        By the same rule, rows of a block that is new were among all other rows, and those of a
        block that is no more are there from now on. By another rule a row may come from anywhere.
        """
        if not same:
            return BlockTotals(self.most)
        gone = [self.blocks[name] for name in before if name not in names and name in self.blocks]
        rest = self.blocks.get(REST, Loss())
        new = {name: rest for name in names if name not in before}
        left = {name: spent for name, spent in self.blocks.items() if name in names}
        return BlockTotals(self.everywhere, {**left, **new, REST: reduce(_larger, gone, rest)})


def _larger(a: Loss, b: Loss) -> Loss:
    return Loss(*(max(pair) for pair in zip(vars(a).values(), vars(b).values(), strict=True)))


def _short(total: Loss) -> Loss:
    """The total itself; or, once its fractions are very long, rounded up to 150 decimals.

    Without it a few hundred epsilons like 1/(a large prime) would make every addition slow.
    """
    fields = (total.epsilon, total.rho, total.delta, total.squares)
    if max(field.denominator for field in fields) <= GRID:
        return total
    return Loss(*(Fraction(ceil(field * GRID), GRID) for field in fields))
