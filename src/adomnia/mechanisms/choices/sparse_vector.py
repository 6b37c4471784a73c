"""The sparse vector technique: many questions, and only those above a threshold cost
(`sparse_vector.md`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from adomnia.errors import QuestionError
from adomnia.mechanisms.margins.margin import Noise, margin
from adomnia.mechanisms.noise import laplace
from adomnia.mechanisms.randomness import SYSTEM, Bits

__all__ = ["SparseVector", "above_threshold", "sparse_answers"]

LARGEST = 10**15
"""A bound on what is counted, and on the range of epsilon: past it floats would overflow."""


@dataclass(frozen=True)
class SparseVector:
    """What is paid, and for what: at most `cutoff` questions are found above the threshold.

    `sensitivity` bounds how far a neighbour moves any one answer; `monotone` says that it moves
    all of them the same way. `numeric` is the part of epsilon for noisy values of those above.
    """

    epsilon: Fraction
    sensitivity: int = 1
    cutoff: int = 1
    monotone: bool = False
    numeric: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if self.sensitivity < 1 or self.cutoff < 1:
            raise QuestionError("sensitivity and cutoff are at least 1")
        if not 0 <= self.numeric < self.epsilon:
            raise QuestionError("the part for values is less than epsilon, and epsilon above zero")
        sizes = (self.sensitivity, self.cutoff, self.epsilon, 1 / self.epsilon)
        if any(size > LARGEST for size in sizes):
            raise QuestionError("sensitivity, cutoff or epsilon is out of all proportion")

    @property
    def _times(self) -> int:
        return self.cutoff * (1 if self.monotone else 2)

    @property
    def _share(self) -> Fraction:
        """The part of the threshold: 1 / (1 + times^(2/3)), the split of Lyu, Su and Li."""
        return 1 / (1 + Fraction(round(self._times ** (2 / 3) * 64), 64))

    @property
    def threshold_scale(self) -> Fraction:
        """The scale of the noise on the threshold, drawn once."""
        return self.sensitivity / (self._share * (self.epsilon - self.numeric))

    @property
    def answer_scale(self) -> Fraction:
        """The scale of the noise on each answer before it is compared."""
        rest = (1 - self._share) * (self.epsilon - self.numeric)
        return self._times * self.sensitivity / rest

    @property
    def value_scale(self) -> Fraction | None:
        """The scale of the fresh noise on a value that is shown; None if none is."""
        return self.cutoff * self.sensitivity / self.numeric if self.numeric else None

    def margin(self, questions: int, confidence: float) -> int:
        """With this confidence all of so many questions are judged rightly up to this much."""
        if questions < 1 or not 0 < confidence < 1:
            raise ValueError("a margin needs a question, and a confidence between 0 and 1")
        doubt = 1 - Fraction(str(confidence))
        drawn = [(self.threshold_scale, doubt / 2), (self.answer_scale, doubt / (2 * questions))]
        return sum(int(margin([(1, Noise("laplace", s))], float(1 - d))) for s, d in drawn)


def above_threshold(
    answers: Iterable[int], threshold: int, plan: SparseVector, bits: Bits = SYSTEM
) -> Iterator[bool]:
    """For each answer in turn, whether it is above the threshold; ends after `cutoff` times yes.

    The next answer is fetched only after the last verdict is out, so questions may follow from
    what was said. Answers are whole numbers; a public threshold for each is subtracted first.
    """
    bar = threshold + _noise(plan.threshold_scale, bits)
    left = plan.cutoff
    for answer in answers:
        is_above = _whole(answer) + _noise(plan.answer_scale, bits) >= bar
        yield is_above
        left -= is_above
        if not left:
            return


def sparse_answers(
    answers: Iterable[int], threshold: int, plan: SparseVector, bits: Bits = SYSTEM
) -> Iterator[int | None]:
    """The same, with a noisy value for each answer above the threshold, and None for the others."""
    if plan.value_scale is None:
        raise QuestionError("noisy values need a part of epsilon", hint="give the plan `numeric`")
    seen: list[int] = []

    def watched() -> Iterator[int]:
        for answer in answers:
            seen[:] = [answer]
            yield answer

    for is_above in above_threshold(watched(), threshold, plan, bits):
        yield seen[0] + _noise(plan.value_scale, bits) if is_above else None


def _noise(scale: Fraction, bits: Bits) -> int:
    return int(laplace.sample(scale, 1, bits)[0])


def _whole(answer: int) -> int:
    """The answer, if it is an integer: integer noise would not hide the digits of a float."""
    if isinstance(answer, float) or int(answer) != answer:
        raise QuestionError("answers are whole numbers", hint="scale them to a lattice")
    return int(answer)
