"""ID3 decision trees over listed and coarsened attributes, from noisy counts (`decision_tree.md`).

All nodes of all levels are sums over one joint table, so depth costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adomnia.mining.parts.arrays import Floats
from adomnia.mining.parts.classifier import TableClassifier
from adomnia.mining.parts.coarsening import ABSENT
from adomnia.mining.parts.contingency import ContingencyTable
from adomnia.mining.parts.fitting import Fitting, check_whole
from adomnia.mining.parts.splits import TreeNode, full, grow, shares_of

__all__ = ["DecisionTree"]


class DecisionTree(TableClassifier):
    """A decision tree, greedy by information gain as ID3, with splits of groups of values in two.

    `max_depth` 0 is one leaf. Numbers are cut at `cuts` (points by column), or into `bins` of
    equal width. `split` weighs the parts `classes`, `screen` and `table` of the budget. `seed`
    draws attributes where there are too few rows to look for good ones. After `fit`, `axes_` has
    the groups of the attributes and `tree_` the root.

    >>> from adomnia.testing.worlds import town
    >>> with town().open() as database:
    ...     model = DecisionTree().fit(database.session(), ["age", "region"], "sex", epsilon=5)
    >>> model.predict({"age": [30], "region": [2]}).shape, model.rules().startswith("all rows")
    ((1,), True)
    """

    tree_: TreeNode

    def __init__(
        self,
        max_depth: int = 5,
        bins: int = 16,
        cuts: Mapping[str, Sequence[float]] | None = None,
        split: Mapping[str, Any] | None = None,
        seed: int = 0,
    ) -> None:
        self.max_depth = max_depth
        self.bins = bins
        self.cuts = cuts
        self.split = split
        self.seed = seed

    def check_parameters(self) -> None:
        """Refuse a depth, bins or a seed that no tree can have."""
        check_whole("max_depth", self.max_depth, 0)
        super().check_parameters()

    def learn_table(self, fit: Fitting, table: ContingencyTable) -> None:
        """Grow the tree; `tree_` is its root."""
        if table.blind:
            self.tree_ = full(table.counts, self.max_depth)
            return
        self.tree_ = grow(table.counts, table.variance, self.max_depth)
        if not self.tree_.children and self.max_depth:
            fit.note("no split showed more than noise would: the tree is one leaf")

    def predict_proba(self, rows: Any) -> Floats:
        """The share of each class in the leaf of each public row.

        A row without a value, or with one that is not listed, stops where it would be needed.
        """
        codes = self._codes(rows)
        out = np.zeros((len(codes), len(self.classes_)))
        for node, within in _leaves(self.tree_, codes, np.arange(len(codes))):
            out[within] = shares_of(node.counts)
        return out

    def rules(self) -> str:
        """The tree as indented text; a QuestionError where it is not fitted."""
        self.check_fitted()
        spans = [(0, axis.size) for axis in self.axes_]
        return "\n".join(self._lines(self.tree_, spans, "", "all rows"))

    def _lines(
        self, node: TreeNode, spans: list[tuple[int, int]], indent: str, say: str
    ) -> Iterator[str]:
        label = self.classes_[int(np.argmax(node.counts))]
        yield f"{indent}{say}: {label} (about {max(0, round(float(node.counts.sum())))} rows)"
        if node.axis is None:
            return
        low, high = spans[node.axis]
        places = [low, *(low + end for end in node.ends), high]
        for child, a, b in zip(node.children, places, places[1:], strict=False):
            inside = [*spans]
            inside[node.axis] = (a, b)
            said = self.axes_[node.axis].describe(a, b)
            yield from self._lines(child, inside, indent + "  ", said)


def _leaves(
    node: TreeNode, codes: NDArray[np.int64], within: NDArray[np.int64]
) -> Iterator[tuple[TreeNode, NDArray[np.int64]]]:
    """Where each row comes to rest; codes of an axis are counted anew below each split of it."""
    if node.axis is None:
        yield node, within
        return
    here = codes[within, node.axis]
    yield node, within[here == ABSENT]
    places = [0, *node.ends, np.iinfo(np.int64).max]
    for child, low, high in zip(node.children, places, places[1:], strict=False):
        part = within[(here >= low) & (here < high)]
        shifted = codes.copy() if low else codes
        shifted[part, node.axis] -= low
        yield from _leaves(child, shifted, part)
