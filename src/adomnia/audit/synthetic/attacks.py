"""The attacks of this folder by the protocol: on a file of made-up records, and on what made it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from adomnia.audit.attack import CheckedOptions, option
from adomnia.audit.files import read_columns, single_file
from adomnia.audit.finding import Finding
from adomnia.audit.linkage.equivalence_classes import Columns
from adomnia.audit.synthetic.coded_files import Population
from adomnia.audit.synthetic.inference import attribute_inference
from adomnia.audit.synthetic.membership import membership
from adomnia.audit.synthetic.shadows import RecordGenerator
from adomnia.audit.synthetic.singling_out import singling_out

__all__ = ["Inference", "Membership", "SinglingOut"]


class _OfRecords(CheckedOptions):
    """An attack on one file of released records."""

    @staticmethod
    def read(files: Sequence[str]) -> Columns:
        """One file of records."""
        return read_columns(single_file(files))


@dataclass(frozen=True)
class SinglingOut(_OfRecords):
    """Describe one released record, and so perhaps one person. The truth is a `Population`.

    >>> people = {"age": [*range(30)], "zip": [7 * n % 30 for n in range(30)]}
    >>> SinglingOut(attacks=20).run(people).details["scored"]
    False
    """

    name: ClassVar[str] = "singling-out"
    sentence: ClassVar[str] = "Words that fit one released record, and one person."

    attacks: int = option(500, "How many descriptions.", 2)
    seed: int = option(0, "For chance.", 0)
    time_limit: float = option(60.0, "In seconds.", 0)

    def run(self, published: Columns, truth: Population | None = None) -> Finding:
        """How often they fit exactly one person, beyond people who were not in the data."""
        return singling_out(published, truth, self.attacks, self.seed, self.time_limit)


@dataclass(frozen=True)
class Inference(_OfRecords):
    """Guess a secret by the nearest released record. The truth is a `Population`.

    >>> people = {"zip": [*range(30)], "ill": ["no", "flu", "cold"] * 10}
    >>> others = {"zip": [*range(30)], "ill": ["flu", "cold", "no"] * 10}
    >>> Inference(("ill",)).run(people, Population(people, others)).success.value
    1.0
    """

    name: ClassVar[str] = "inference"
    sentence: ClassVar[str] = "A secret told by the nearest released record."

    secrets: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    attacks: int = option(500, "How many people.", 1)
    seed: int = option(0, "For chance.", 0)
    time_limit: float = option(60.0, "In seconds.", 0)

    def run(self, published: Columns, truth: Population | None = None) -> Finding:
        """How often it is right, beyond people who were not in the data."""
        how = (self.attacks, self.seed, self.time_limit)
        return attribute_inference(published, truth, self.secrets, self.known, *how)


@dataclass(frozen=True)
class Membership(CheckedOptions):
    """Tell from releases with and without a person whether somebody was in; needs no truth.

    >>> import numpy as np
    >>> from adomnia.marginals.core.microdata import SyntheticRecords
    >>> def copy(rows): return SyntheticRecords(rows, np.ones(len(rows), np.int64))
    >>> careless = RecordGenerator(copy, np.arange(40)[:, None] * [1, 1] % 13, (13, 13), 1.0)
    >>> Membership(shadows=40, targets=4).run(careless).details["verdict"]
    'violated'
    """

    name: ClassVar[str] = "membership"
    sentence: ClassVar[str] = "Who is in the data, by releases with and without them."

    shadows: int = option(64, "Releases that are made.", 8)
    targets: int = option(20, "People who are looked for.", 2)
    others: Literal["known", "drawn"] = option("known", "What is known of everybody else.")
    seed: int = option(0, "For chance.", 0)
    time_limit: float = option(60.0, "In seconds.", 0)

    def run(self, published: RecordGenerator, truth: None = None) -> Finding:
        """How much better than a coin the guesses are, and the epsilon that they show."""
        how = (self.shadows, self.targets, self.others, self.seed, self.time_limit)
        return membership(published, *how)
