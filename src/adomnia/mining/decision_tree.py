"""ID3 decision trees over listed and coarsened attributes, from noisy counts (`decision_tree.md`).

All nodes of all levels are sums over one joint table, so depth costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from adomnia.mining.parts.coarsening import ABSENT
from adomnia.mining.parts.estimator import Watch, check_whole
from adomnia.mining.parts.splits import TreeNode, full, grow, shares_of
from adomnia.mining.parts.table_classifier import TableClassifier
from adomnia.privacy.loss import Amount

if TYPE_CHECKING:
    from adomnia.curator.session import Session

__all__ = ["DecisionTree"]

Floats = NDArray[np.float64]


class DecisionTree(TableClassifier):
    """A decision tree, greedy by information gain as ID3, with splits of groups of values in two.

    `max_depth` 0 is one leaf. Numbers are cut at `cuts` (points by column), or into `bins` of
    equal width. `split` weighs the parts `classes`, `screen` and `table` of the budget. `seed`
    draws attributes where there are too few rows to look for good ones.
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

    def fit(
        self,
        session: Session,
        features: Sequence[str],
        target: str,
        *,
        epsilon: Amount,
        progress: bool | Watch = False,
    ) -> Self:
        """Ask for the counts, and grow the tree; `axes_` has the groups, `tree_` the root."""
        check_whole("max_depth", self.max_depth, 0)
        self._check_table()
        with self.fitting(session, len(features) + 2, progress) as fit:
            found = self._ask_table(fit, features, target, epsilon)
            if found.blind:
                self.tree_ = full(found.counts, self.max_depth)
            else:
                self.tree_ = grow(found.counts, found.variance, self.max_depth)
                if not self.tree_.children and self.max_depth:
                    fit.note("no split showed more than noise would: the tree is one leaf")
        return self

    def predict_proba(self, rows: Any) -> Floats:
        """The share of each class in the leaf of each public row."""
        codes = self._codes(rows)
        out = np.zeros((len(codes), len(self.classes_)))
        for node, within in _leaves(self.tree_, codes, np.arange(len(codes))):
            out[within] = shares_of(node.counts)
        return out

    def predict(self, rows: Any) -> NDArray[Any]:
        """The most frequent class in the leaf of each public row.

        A row without a value, or with one that is not listed, stops where it would be needed.
        """
        found: NDArray[Any] = self.classes_[np.argmax(self.predict_proba(rows), axis=1)]
        return found

    def rules(self) -> str:
        """The tree as indented text."""
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
