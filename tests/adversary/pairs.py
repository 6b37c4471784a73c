"""Pairs: one use of a table and of its neighbours, side by side, and what differs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from random import Random
from typing import Any

from tests.adversary.judge import SLACK, ratio
from tests.adversary.seams import Diverged, Note, spent_in_ledger, spying


class Caught(Exception):
    """A failure, where the first one is enough."""


Use = Callable[[Any], Any]
"""A use of an open database: it returns what an analyst is shown."""


@dataclass(frozen=True)
class Seen:
    """What one table showed: an answer or a refusal, its price twice, and what was noted."""

    shown: Any
    failure: str
    spent: dict[str, Fraction] | None
    ledger: dict[str, Fraction]
    notes: list[Note]


@dataclass
class Tally:
    """What was found: triples of each part, the worst ratio of each relation, and failures.

    With `stops`, the first failure ends the run. With `lenient`, a question may fail on all
    tables alike, or be dearer than was offered: nothing is told by that. Ratios count as failures
    from 1 + `slack` on.
    """

    triples: dict[str, int] = field(default_factory=dict)
    refused: dict[str, int] = field(default_factory=dict)
    worst: dict[str, tuple[float, str]] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    where: str = ""
    stops: bool = False
    lenient: bool = False
    slack: float = SLACK
    seconds: float = 0.0

    def _fails(self, part: str, label: str, how: str, what: str) -> None:
        self.failures.append(f"[{part}; {label}; {self.where}] {how}: {what}")
        if self.stops:
            raise Caught(f"{how}: {what}")

    def add(self, part: str, label: str, found: float, what: str) -> None:
        """One triple with its ratio."""
        self.triples[part] = self.triples.get(part, 0) + 1
        if found > self.worst.get(label, (-1.0, ""))[0]:
            self.worst[label] = (found, what)
        if found > 1 + self.slack:
            self._fails(part, label, f"ratio {found:.6g}", what)

    def differs(self, part: str, label: str, how: str, what: str) -> None:
        """One triple on which something else than noisy values differs."""
        self.triples[part] = self.triples.get(part, 0) + 1
        self._fails(part, label, how, what)

    def merge(self, other: Tally) -> None:
        """All that another one found too."""
        for mine, theirs in ((self.triples, other.triples), (self.refused, other.refused)):
            for key, count in theirs.items():
                mine[key] = mine.get(key, 0) + count
        for label, found in other.worst.items():
            if found[0] > self.worst.get(label, (-1.0, ""))[0]:
                self.worst[label] = found
        self.failures += other.failures
        self.seconds += other.seconds


@dataclass
class Stretch:
    """So many triples at least, of worlds drawn from a seed and a number, and what they showed.

    There are at most `most` worlds, where that is said, and about `each` uses in one of them.
    """

    seed: int
    triples: int
    first: int = 0
    tally: Tally = field(default_factory=Tally)
    each: int = 60
    most: int | None = None

    def worlds(self) -> Iterator[Random]:
        """Chance for one world after the other, until there are enough triples."""
        number = self.first
        last = None if self.most is None else self.first + self.most
        while number != last and sum(self.tally.triples.values()) < self.triples:
            self.tally.where = f"world {number}"
            yield Random(f"{self.seed} {number}")
            number += 1


def use(database: Any, asked: Use, first: Seen | None = None) -> Seen:
    """Use a database under the eyes of a spy; with `first`, noisy values are those of the first."""
    before = spent_in_ledger(database)
    shown, failure, spent = None, "", None
    with spying(None if first is None else first.notes) as spy:
        try:
            answer = asked(database)
            shown, said = visible(answer), getattr(answer, "spent", None)
            spent = None if said is None else dict(said)
        except Diverged as error:
            failure = f"diverged: {error}"
        except Exception as error:
            failure = f"{type(error).__name__}: {error}".replace("\n", " ")
    after = spent_in_ledger(database)
    moved = {name: after[name] - before.get(name, Fraction(0)) for name in after}
    return Seen(shown, failure, spent, moved, spy.notes)


def visible(answer: Any) -> dict[str, Any]:
    """All of an answer that an analyst sees, but for the receipt's random name."""
    names = getattr(answer, "__dataclass_fields__", None) or vars(answer)
    return {name: _plain(getattr(answer, name)) for name in names if name not in HIDDEN}


def _plain(value: Any) -> Any:
    """The value in lists, dictionaries and texts that can be compared; NaN is like itself."""
    if hasattr(value, "__dataclass_fields__"):
        return visible(value)
    if hasattr(value, "items"):
        return {key: _plain(part) for key, part in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value if isinstance(value, int | str | Fraction | None) else repr(value)


def judge(tally: Tally, named: tuple[str, str], what: str, one: Seen, other: Seen) -> None:
    """Compare what two neighbours showed, and count the triple."""
    part, label = named
    how = difference(one, other)
    if how:
        tally.differs(part, label, how, what)
    elif one.failure:
        tally.refused[part] = tally.refused.get(part, 0) + 1
        if not one.failure.startswith(REFUSALS) and not tally.lenient:
            tally.differs(part, label, f"fails on both: {one.failure}", what)
    else:
        tally.add(part, label, ratio(one.notes, other.notes, one.ledger), what)


def difference(one: Seen, other: Seen) -> str:
    """What else than noisy values differs between two neighbours; empty where nothing does."""
    if one.failure != other.failure:
        return f"one fails, or otherwise: {one.failure!r} / {other.failure!r}"
    if one.ledger != other.ledger:
        return f"the ledger was charged {one.ledger} / {other.ledger}"
    if one.spent is not None and not _agree(one.spent, one.ledger):
        return f"the answer says {one.spent}, the ledger {one.ledger}"
    keyed = any(note.kind == "keys" for note in one.notes)
    for name in one.shown or {}:
        if keyed and name in ("rows", "margins", "noise", "whole"):
            continue  # which keys are shown is judged as a law
        if one.shown[name] != other.shown[name]:
            return f"{name} differ: {_short(one.shown[name])} / {_short(other.shown[name])}"
    return ""


def _agree(spent: dict[str, Fraction], ledger: dict[str, Fraction]) -> bool:
    """Whether the price of an answer is what the ledger was charged, in the ledger's currency."""
    charged = {name: value for name, value in ledger.items() if value}
    said = {name: value for name, value in spent.items() if value}
    if "rho" in ledger and "epsilon" in said:  # parts of a pure loss are squared one by one
        least, most = said.get("rho", Fraction(0)), said["epsilon"] ** 2 / 2
        return least < charged.get("rho", Fraction(0)) <= least + most
    return said == charged or ("rho" in said and "rho" not in ledger)


def _affordable(spent: Mapping[str, Fraction], price: Mapping[str, Any]) -> bool:
    """Whether an answer cost no more than was offered; a pure loss is worth half its square."""
    epsilon, rho = spent.get("epsilon", Fraction(0)), spent.get("rho", Fraction(0))
    if "rho" in price:
        parts = 8  # a pure loss in several parts: the squares of its parts are not seen here
        return rho + epsilon**2 / 2 / parts <= Fraction(price["rho"])
    return rho == 0 and epsilon <= Fraction(price["epsilon"])


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 300 else text[:300] + "…"


@dataclass(frozen=True)
class Bench:
    """A table's database and its neighbours', and under which names their triples are counted."""

    tally: Tally
    part: str
    label: str
    databases: Sequence[Any]
    last: list[Seen] = field(default_factory=list)

    def compare(self, asked: Use, what: str, price: Mapping[str, Any] | None = None) -> bool:
        """One use of each; with a price, no more than that may be charged. Whether the first was
        answered."""
        tally, part, label = self.tally, self.part, self.label
        first = use(self.databases[0], asked)
        if price is not None and not tally.lenient and not _affordable(first.spent or {}, price):
            tally.differs(part, label, f"charged {first.spent} for {price}", what)
        early = first.failure.split(":")[0] in EARLY
        near = self.databases[1:2] if early else self.databases[1:]
        others = [use(database, asked, first) for database in near]
        self.last[:] = [first, *others]
        failed = len(tally.failures)
        for other in others:
            judge(tally, (part, label), what, first, other)
            if len(tally.failures) > failed:
                break  # one neighbour is enough to show it
        return not first.failure

    def repeat(self, asked: Use, what: str) -> None:
        """The same once more: every table shows what it showed, draws nothing and charges nothing.

        It is held against the table's own answer, since groups that were chosen need not be the
        same on both; between tables that was judged the first time.
        """
        for database, before in zip(self.databases, list(self.last), strict=False):
            again = use(database, asked)
            shown = [(seen.shown or {}).get("rows") for seen in (before, again)]
            if again.failure != before.failure or shown[0] != shown[1]:
                how = f"a repeat shows something else: {_short(shown[0])} / {_short(shown[1])}"
                self.tally.differs(self.part, self.label, how, what)
            elif again.notes or any(again.ledger.values()):
                self.tally.differs(self.part, self.label, "a repeat draws or costs", what)

    def alike(self) -> None:
        """At the end: as many entries in each ledger, and as much left."""
        seen = [(len(db.ledger()), db.budget()) for db in self.databases]
        if any(other != seen[0] for other in seen):
            self.tally.differs(self.part, self.label, f"ledgers differ: {seen}", "all of the world")


HIDDEN = ("receipt", "plan")
"""A random name; and the plan of a release, which was made without the data."""
EARLY = ("QuestionError", "NotAllowedError", "PolicyError")
"""Refusals: they come before anything is read, and are compared with one neighbour's."""
REFUSALS = (*EARLY, "BudgetError")
"""Whatever else fails on both tables is a fault."""
