"""The section `[check]` of a policy: from when on a check of the source fails; and whence the
bounds and lists of its attributes come."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any

from adomnia.policy.sections import AttributeSection, CheckSection
from adomnia.policy.toml_reader import Reader

__all__ = ["CheckLimits", "check_limits", "origins_of"]

TAKEN = "taken from the data"
"""How a draft marks what it took from the rows."""

_RECEIPT = re.compile(r"[0-9a-f]{32}")
_HEADER = re.compile(
    r"\s*\[\s*(?:tables\s*\.\s*([\"']?)(?P<table>.+?)\1\s*\.\s*)?"
    r"attributes\s*\.\s*([\"']?)(?P<name>.+?)\3\s*\]"
)


@dataclass(frozen=True)
class CheckLimits:
    """Shares above which a check fails; None is no limit.

    `left_out` of the values of a column; `cut` of the rows, by bounds of units, and that is as
    `left_out` unless it is said; `nobody` and `repeated` of the rows; `drift`
    between a column's shares and those of the edition in force (total variation); `gone` of the
    rows of that edition.

    >>> CheckLimits(left_out=0.01).any, CheckLimits().any
    (True, False)
    """

    left_out: float | None = None
    cut: float | None = None
    nobody: float | None = None
    repeated: float | None = None
    drift: float | None = None
    gone: float | None = None

    @property
    def any(self) -> bool:
        """Whether there is any limit."""
        return any(limit is not None for limit in asdict(self).values())


def check_limits(reader: Reader) -> CheckLimits:
    """The limits that the policy sets."""
    part = reader.section(CheckSection, ("check",))
    written = {name: getattr(part, name) for name in CheckSection.__struct_fields__}
    limits = {name: _share(reader, name, value)
              for name, value in written.items() if value is not None}  # fmt: skip
    if "left_out" in limits:
        limits.setdefault("cut", limits["left_out"])
    return CheckLimits(**limits)


def _share(reader: Reader, name: str, value: Any) -> float:
    right = isinstance(value, int | Decimal) and not isinstance(value, bool)
    if not right or not 0 <= value <= 1:
        hint = f"a share, for example {name} = 0.01"
        reader.fail(f"{name} must be a number from 0 to 1", hint, ("check", name))
    return float(value)


def origins_of(reader: Reader) -> dict[str, str]:
    """Whence the domain of an attribute is: `public`, `data`, or the receipt by which it was paid.
    Those of several tables are called after their table, `visits.cost`.

    What a draft took from the data says so in a comment; of what is left no origin is known.
    """
    found = dict.fromkeys(_marked(reader.text), "data")
    for name, path, written in _attributes(reader):
        part = reader.section(AttributeSection, path, written)
        if part.origin is None:
            continue
        if part.origin not in ("public", "data") and not _RECEIPT.fullmatch(part.origin):
            reader.fail(
                f"origin of {name!r} is not known",
                "public, data, or the receipt of an answer that it was taken from",
                (*path, "origin"),
            )
        found[name] = part.origin
    return found


def _attributes(reader: Reader) -> Iterator[tuple[str, tuple[str, ...], Any]]:
    """The attributes as they are called, where each is written, and what is written there."""
    for name, written in reader.tree.get("attributes", {}).items():
        yield name, ("attributes", name), written
    for table, part in reader.tree.get("tables", {}).items():
        for name, written in part.get("attributes", {}).items():
            yield f"{table}.{name}", ("tables", table, "attributes", name), written


def _marked(text: str) -> list[str]:
    """The attributes with a line that a draft marked."""
    name, found = "", []
    for line in text.splitlines():
        if line.lstrip().startswith("["):
            header = _HEADER.match(line)
            name = _called(header) if header else ""
        if name and TAKEN in line.partition("#")[2]:
            found.append(name)
    return found


def _called(header: re.Match[str]) -> str:
    return f"{header['table']}.{header['name']}" if header["table"] else header["name"]
