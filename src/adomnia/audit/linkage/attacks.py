"""The attacks of this folder by the protocol: people in one file, in several, by ratings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from numpy.typing import ArrayLike

from adomnia.audit.attack import CheckedOptions, option
from adomnia.audit.files import read_columns, single_file
from adomnia.audit.finding import Finding
from adomnia.audit.linkage.equivalence_classes import (
    Columns,
    PublishedFile,
    arrow,
    column_names,
    rows,
)
from adomnia.audit.linkage.intersection import intersection
from adomnia.audit.linkage.linkage import Shared, Weighing, link_exactly, link_probably
from adomnia.audit.linkage.rating_files import read_ratings
from adomnia.audit.linkage.scoreboard import HUNTS, Hunt, Ratings, scoreboard, scoreboard_curve
from adomnia.audit.linkage.uniqueness import uniqueness
from adomnia.errors import QuestionError

__all__ = ["Intersection", "Linkage", "RatingsAttack", "TwoFiles", "Uniqueness", "true_rows"]


@dataclass(frozen=True, eq=False)
class TwoFiles:
    """A published file without names, and people who are known by name, in columns of the same.

    >>> TwoFiles({"age": [30]}, {"name": ["Ann"], "age": [30]}).known["name"]
    ['Ann']
    """

    published: Columns
    known: Columns


@dataclass(frozen=True)
class Uniqueness(CheckedOptions):
    """Count the rows of a file that are alone with what is known of them; needs no truth.

    >>> Uniqueness(("age",)).run({"age": [30, 41, 41]}).success.value
    0.3333333333333333
    """

    name: ClassVar[str] = "uniqueness"
    sentence: ClassVar[str] = "Who is alone in a published file."

    quasi: tuple[str, ...]
    sensitive: str | None = option(None, "Also l-diversity and t-closeness of this column.")
    names: bool = option(False, "Also which rows: exact data.")
    time_limit: float = option(60.0, "In seconds.", 0)

    @staticmethod
    def read(files: Sequence[str]) -> Columns:
        """One CSV or Parquet file."""
        return read_columns(single_file(files))

    def run(self, published: Columns, truth: None = None) -> Finding:
        """The share of the rows that are alone.

        Raises a QuestionError where the file has no rows, or the sensitive column is said to be
        known.
        """
        if self.sensitive in self.quasi:
            raise QuestionError("the sensitive column cannot be known", "leave it out of --quasi")
        if not rows(published):
            raise QuestionError("the file has no rows", "give a file with people")
        return uniqueness(published, self.quasi, self.sensitive, self.names, self.time_limit)


@dataclass(frozen=True)
class Linkage(CheckedOptions):
    """Link known people to the rows of a published file, by the columns that both have.

    With `probable`, or a tolerance of a column, values may be off. The truth is for each known
    person the row of the published file, -1 for none.

    >>> published = {"age": [30, 41], "ill": ["flu", "cold"]}
    >>> files = TwoFiles(published, {"name": ["Ann"], "age": [30]})
    >>> Linkage(on=("age",)).run(files, truth=[0]).success.value
    1.0
    """

    name: ClassVar[str] = "linkage"
    sentence: ClassVar[str] = "People of one file found in another."

    on: tuple[str, ...] = ()
    tolerances: Mapping[str, float] = field(default_factory=dict)
    probable: bool = option(False, "Weigh columns: values may be off.")
    confidence: float = option(0.9, "From when on a link is claimed.", 0, 1)
    names: bool = option(False, "Also which rows: exact data.")
    time_limit: float = option(60.0, "In seconds.", 0)

    @staticmethod
    def read(files: Sequence[str]) -> TwoFiles:
        """The published file, then the one of known people.

        Raises a QuestionError where there are not two.
        """
        if len(files) != 2:
            raise QuestionError("a linkage needs two files", "the published one, then the known")
        return TwoFiles(*(read_columns(file) for file in files))

    def run(self, published: TwoFiles, truth: ArrayLike | None = None) -> Finding:
        """The share of the known people who were linked; with a truth, rightly."""
        on = list(self.on) or None
        files = (published.published, published.known)
        if not self.probable and not self.tolerances:
            return link_exactly(*files, on, truth, self.names, self.time_limit)
        shared = on or [n for n in column_names(files[0]) if n in column_names(files[1])]
        columns = [Shared(name, self.tolerances.get(name, 0.0)) for name in shared]
        how = Weighing(self.confidence, names=self.names)
        return link_probably(*files, columns, truth, how, self.time_limit)


@dataclass(frozen=True)
class Intersection(CheckedOptions):
    """Rule out what is not in every class of a person, over several releases; needs no truth.

    >>> from adomnia.audit import PublishedFile
    >>> file = {"who": [1, 2], "city": ["Linz", "Linz"], "ill": ["flu", "flu"]}
    >>> Intersection().run([PublishedFile(file, ["city"], "ill", "who")] * 2).success.value
    1.0
    """

    name: ClassVar[str] = "intersection"
    sentence: ClassVar[str] = "Several anonymised releases of the same people."

    names: bool = option(False, "Also who and what: exact data.")
    time_limit: float = option(60.0, "In seconds.", 0)

    def run(self, published: Sequence[PublishedFile], truth: None = None) -> Finding:
        """The share of the people whose sensitive value all releases determine together."""
        return intersection(published, self.names, self.time_limit)


@dataclass(frozen=True)
class RatingsAttack(CheckedOptions):
    """Look for people in a file of ratings by a few that somebody knows of them.

    Without `facts` several attackers are tried. The truth are the ratings as they are, where the
    published ones were changed.

    >>> from adomnia.audit import Ratings
    >>> ratings = Ratings.of([0, 0, 1, 1, 2, 2], [0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 5])
    >>> RatingsAttack(facts=2, targets=3).run(ratings).attack
    'scoreboard'
    """

    name: ClassVar[str] = "ratings"
    sentence: ClassVar[str] = "People named by a few of their ratings."

    facts: int | None = option(None, "Ratings that are known; else several numbers are tried.", 1)
    wrong: int = option(0, "So many of them are wrong.", 0)
    day_error: int = option(3, "Days are off by up to this.", 0)
    targets: int = option(200, "People who are looked for.", 1)
    seed: int = option(0, "For chance.", 0)
    names: bool = option(False, "Also who was named: exact data.")
    time_limit: float = option(60.0, "In seconds.", 0)

    @staticmethod
    def read(files: Sequence[str]) -> Ratings:
        """One file, with columns called person, item and rating."""
        return read_ratings(single_file(files))

    def run(self, published: Ratings, truth: Ratings | None = None) -> Finding:
        """The share of those looked for who were named rightly."""
        how = {"truth": truth, "seed": self.seed, "time_limit": self.time_limit}
        if self.facts is not None:
            hunt = self._hunt(self.facts, self.wrong, published.day is not None)
            return scoreboard(published, hunt, **how)  # type: ignore[arg-type]
        hunts = [self._hunt(one.facts, one.wrong, one.dated) for one in HUNTS]
        return scoreboard_curve(published, hunts, **how)  # type: ignore[arg-type]

    def _hunt(self, facts: int, wrong: int, dated: bool) -> Hunt:
        return Hunt(facts, wrong, dated, self.day_error, targets=self.targets, names=self.names)


def true_rows(files: TwoFiles, person: str) -> list[int]:
    """For each known person the row of the published file, -1 where there is none.

    `person` is a column that says in both files who it is; an attacker does not have it.
    """
    columns = []
    for data in (files.published, files.known):
        if person not in column_names(data):
            raise QuestionError(
                f"a file has no column {person[:60]!r}", "both need it to be scored"
            )
        columns.append(arrow(data, person).to_pylist())
    index = {who: row for row, who in enumerate(columns[0])}
    if len(index) < len(columns[0]):
        raise QuestionError(
            f"{person!r} does not name each row of the published file", "give a column that does"
        )
    truth = [index.get(who, -1) for who in columns[1]]
    if all(row < 0 for row in truth):
        raise QuestionError("nobody is in both files", f"check that {person!r} means the same")
    return truth
