"""The attacks of this folder by the protocol: sums, spoilt answers, repeats, trackers, tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from adomnia.audit.attack import CheckedOptions, option
from adomnia.audit.finding import Finding
from adomnia.audit.reconstruction.averaging import averaging
from adomnia.audit.reconstruction.decoding import LinearAnswers, decode
from adomnia.audit.reconstruction.hadamard import hadamard
from adomnia.audit.reconstruction.microdata import microdata
from adomnia.audit.reconstruction.noisy_tables import NoisyMarginal, best_guess
from adomnia.audit.reconstruction.published_statistics import marginal
from adomnia.audit.reconstruction.reconstruct import reconstruct
from adomnia.audit.reconstruction.subset_sums import Ask
from adomnia.audit.reconstruction.table_files import PublishedTables, read_tables
from adomnia.audit.reconstruction.tracker import tracker
from adomnia.errors import QuestionError

__all__ = [
    "Averaging",
    "CountOracle",
    "Decoding",
    "Microdata",
    "Reconstruct",
    "SumOracle",
    "Tracker",
]


@dataclass(frozen=True)
class SumOracle:
    """Answers noisy sums of a secret column: a weight for each of the people in, a number out.

    `ask` raises a BudgetError when it answers no more.

    >>> secret = [0, 1, 1]
    >>> SumOracle(lambda chosen: float(chosen @ secret), people=3).people
    3
    """

    ask: Ask
    people: int


@dataclass(frozen=True)
class CountOracle:
    """Answers how many rows fulfil a condition, with noise or without.

    >>> CountOracle({"age > 40": 17.0}.__getitem__).ask("age > 40")
    17.0
    """

    ask: Callable[[str], float]


@dataclass(frozen=True)
class Reconstruct(CheckedOptions):
    """Ask for sums of a secret column until refused, and solve for the column.

    With `fourier` the questions are Yekhanin's, of +1 and -1. The truth is a bit a person.

    >>> secret = [0, 1, 1, 0]
    >>> oracle = SumOracle(lambda chosen: float(chosen @ secret), people=4)
    >>> Reconstruct(questions=32).run(oracle, secret).success.value
    1.0
    """

    name: ClassVar[str] = "reconstruct"
    sentence: ClassVar[str] = "A secret column from many noisy sums of it."

    questions: int | None = option(None, "How many at most; 8 a person.", 1)
    fourier: bool = option(False, "Yekhanin's questions in the place of random ones.")
    seed: int = option(0, "For chance.", 0)
    time_limit: float = option(60.0, "In seconds.", 0)

    def run(self, published: SumOracle, truth: Sequence[int] | None = None) -> Finding:
        """The share of the bits that came back."""
        ask, n = published.ask, published.people
        if self.fourier:
            return hadamard(n, ask, self.seed, self.time_limit, truth)
        return reconstruct(ask, n, self.questions, self.seed, self.time_limit, truth)


@dataclass(frozen=True)
class Decoding(CheckedOptions):
    """Decode a secret column from answers of which a share is arbitrary.

    The truth is a bit a person.

    >>> import numpy as np
    >>> from adomnia.audit import LinearAnswers
    >>> Decoding().run(LinearAnswers(np.eye(2), np.array([1.0, 0.0])), [1, 0]).success.value
    1.0
    """

    name: ClassVar[str] = "decoding"
    sentence: ClassVar[str] = "A secret column although some answers are arbitrary."

    time_limit: float = option(60.0, "In seconds.", 0)

    def run(self, published: LinearAnswers, truth: Sequence[int] | None = None) -> Finding:
        """The share of the bits that came back."""
        return decode(published, self.time_limit, truth)


@dataclass(frozen=True)
class Averaging(CheckedOptions):
    """Ask one count again and again, and round the mean. The truth is the true count.

    >>> oracle = CountOracle(lambda condition: 41.8)
    >>> Averaging("age > 40", epsilon=1.0, repeats=3).run(oracle, 42).success.value
    1.0
    """

    name: ClassVar[str] = "averaging"
    sentence: ClassVar[str] = "One question again and again, and the mean."

    condition: str = option(about="Who is counted.")
    epsilon: float = option(0.1, "What each answer is thought to cost.", 1e-9)
    repeats: int | None = option(None, "How often; as often as the noise needs.", 1)

    def run(self, published: CountOracle, truth: int | None = None) -> Finding:
        """Whether the rounded mean is the true count; without a truth, how likely it is."""
        return averaging(published.ask, self.condition, self.epsilon, self.repeats, truth)


@dataclass(frozen=True)
class Tracker(CheckedOptions):
    """Count small sets as differences of large ones. The truth is a count for each target.

    >>> Tracker(("Ann",), ("a",)).name
    'tracker'
    """

    name: ClassVar[str] = "tracker"
    sentence: ClassVar[str] = "Small counts as differences of large ones."

    targets: tuple[str, ...]
    trackers: tuple[str, ...]
    slack: int = option(0, "How far an answer is taken to be off at most.", 0)

    def run(self, published: CountOracle, truth: Sequence[int] | None = None) -> Finding:
        """The share of the targets whose count came out."""
        return tracker(published.ask, self.targets, self.trackers, self.slack, truth)


@dataclass(frozen=True)
class Microdata(CheckedOptions):
    """Find all tables of people that agree with published counts, and who is in each of them.

    With `noise` the counts have Laplace noise of this scale, and the likeliest table is guessed.
    The truth is a count for each cell.

    >>> import numpy as np
    >>> from adomnia.audit import CellLayout, PublishedTables
    >>> cells = CellLayout({"sex": ("F", "M")})
    >>> published = PublishedTables(cells, [(("sex",), np.array([3, 1]))])
    >>> Microdata().run(published).success.value
    1.0
    """

    name: ClassVar[str] = "microdata"
    sentence: ClassVar[str] = "Records from published tables of counts."

    rounded: int = option(1, "The counts were rounded to multiples of this.", 1)
    noise: float | None = option(None, "The scale of their Laplace noise.", 1e-9)
    most: int = option(1000, "Tables that are listed before it stops.", 1)
    time_limit: float = option(60.0, "In seconds.", 0)

    @staticmethod
    def read(files: Sequence[str]) -> PublishedTables:
        """Tables as a release writes them: columns with values, then `count`."""
        return read_tables(files)

    def run(self, published: PublishedTables, truth: NDArray[Any] | None = None) -> Finding:
        """The share of the records that are certain; of a guess, of those that are in it."""
        cells, tables = published.cells, published.tables
        if self.noise is not None:
            noisy = [NoisyMarginal(names, counts, self.noise) for names, counts in tables]
            return best_guess(cells, noisy, self.time_limit, truth)
        said = [
            one
            for names, counts in tables
            for one in marginal(cells, names, _whole(counts), self.rounded)
        ]
        return microdata(cells, said, self.most, self.time_limit, truth=truth)


def _whole(counts: NDArray[Any]) -> NDArray[np.int64]:
    whole: NDArray[np.int64] = np.rint(counts).astype(np.int64)
    if (whole != counts).any() or whole.min(initial=0) < 0:
        raise QuestionError(
            "exact counts are whole and not negative", "noisy ones: --noise with their scale"
        )
    return whole
