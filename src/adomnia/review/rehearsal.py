"""Rehearsals: a database that an attacker may really ask, beside the one that is real.

The copy has the same data and the same promise, and a ledger of its own that begins where the
real one is. What the attacker spends there, nobody has spent.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from adomnia.curator.data.editions import Editions
from adomnia.curator.data.sources import scheme_of
from adomnia.curator.database import PrivateDatabase
from adomnia.curator.ledger_view import copy_ledger
from adomnia.policy.policy import Policy
from adomnia.schema.domain import Categories, Grid
from adomnia.schema.table import Attribute

__all__ = ["SECRET", "control_group", "made_up", "rehearsal"]

SECRET = "secret = 'yes'"  # noqa: S105 (a condition)
"""What is asked about the made-up people."""

_ROOM = "adomnia-audit-"


@contextmanager
def rehearsal(
    policy: Policy, source: Any = None, view: str | None = None
) -> Iterator[PrivateDatabase]:
    """The policy's database on a copy of its ledger, or a view over its tables; a `source` is read
    in the place of its own.

    A draft that is not confirmed can be rehearsed, too: nobody outside sees the answers.
    """
    with TemporaryDirectory(prefix=_ROOM, ignore_cleanup_errors=True) as room:
        copied = Path(room) / "adomnia.ledger"
        copy_ledger(policy, copied)
        with PrivateDatabase(_beside(policy, copied), source=source) as copy:
            yield copy if view is None else copy.view(view)


def _beside(policy: Policy, ledger: Path) -> Policy:
    """The policy on a copy of its ledger, which asks the edition of the real database.

    Where that has none, a copy of files makes one beside itself. To a server nothing is written:
    the source is read as it is.
    """
    copied = replace(policy, ledger=str(ledger))
    if policy.in_place:
        return copied
    editions = Editions(policy)
    if editions.known() is not None:
        return replace(copied, editions=editions.place)
    return replace(copied, editions=None, in_place=scheme_of(policy.source) is not None)


@contextmanager
def made_up(policy: Policy, bits: Sequence[int]) -> Iterator[PrivateDatabase]:
    """A table of made-up people, each with a number and a secret, under the policy's promise.

    The budget is whole, as if nothing had been spent. Nothing is known of these people, so exact
    releases and units of the real data do not carry over.
    """
    with TemporaryDirectory(prefix=_ROOM, ignore_cleanup_errors=True) as room:
        source = Path(room) / "people.csv"
        lines = (f"{number},{'yes' if bit else 'no'}" for number, bit in enumerate(bits))
        source.write_text("\n".join(["person,secret", *lines, ""]), "utf-8")
        numbers = Grid(Fraction(0), Fraction(max(len(bits) - 1, 1)), Fraction(1))
        attributes = {
            "person": Attribute("person", numbers),
            "secret": Attribute("secret", Categories(("no", "yes"))),
        }
        with PrivateDatabase(_strangers(policy, source, attributes, room)) as database:
            yield database


@contextmanager
def control_group(
    policy: Policy, file: str | Path, columns: Collection[str]
) -> Iterator[PrivateDatabase]:
    """A file of other people, cleaned as the policy cleans its own data; only these columns.

    Nothing of it is promised, and nothing is asked: it is read by an audit alone.
    """
    attributes = {name: one for name, one in policy.attributes.items() if name in columns}
    source = Path(file).resolve()
    with (
        TemporaryDirectory(prefix=_ROOM, ignore_cleanup_errors=True) as room,
        PrivateDatabase(_strangers(policy, source, attributes, room)) as database,
    ):
        yield database


def _strangers(
    policy: Policy, source: Path, attributes: Mapping[str, Attribute], room: str
) -> Policy:
    """The policy over other people, of whom nothing is known and nothing was asked."""
    return replace(
        policy,
        source=str(source),
        table="people",
        relation="people",
        neighbors=replace(policy.neighbors, rows=None),
        attributes=attributes,
        several=None,
        unit=None,
        analysts={},
        public={},
        ledger=str(Path(room) / "adomnia.ledger"),
        priors=(),
        impossible=(),
        universe=None,
    )
