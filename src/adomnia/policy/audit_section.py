"""The section `[audit]` of a policy: what an audit looks at, and how the data came about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from adomnia.policy.toml_reader import Reader, flag, text, whole

__all__ = ["Audit", "audit_section"]

_CIRCUMSTANCES = ("independent", "exact", "influence", "several_rows", "repeated")
_MANY = ("group", "rows", "releases")
_SHARES = ("tau", "kj", "kcp", "amber", "red")
_RANGES = {"kj": (1, 10**9)}


@dataclass(frozen=True)
class Audit:
    """What an audit looks at, from when on it worries, and how the data came about.

    `public` and `sensitive` are the attributes of disclosures, `tau`, `kj` and `kcp` their
    thresholds; more than `disclosures` of them close the gate of a release (`gate`: refuse or
    warn). A success that is `amber` or `red` above its baseline has that colour. `circumstances`
    answers the questionnaire by its names, with True, False or a number; what is not there is
    not known.
    """

    public: tuple[str, ...] = ()
    sensitive: str | None = None
    tau: float = 0.2
    kj: float = 3.0
    kcp: float = 0.7
    disclosures: int | None = None
    gate: str = "refuse"
    amber: float = 0.05
    red: float = 0.2
    circumstances: Mapping[str, Any] = field(default_factory=dict)


def audit_section(reader: Reader) -> Audit:
    """What the policy says about audits."""
    part = reader.tree.get("audit", {})
    told: dict[str, Any] = {name: _share(reader, part, name) for name in _SHARES if name in part}
    declared = reader.tree.get("attributes", {})
    if "public" in part:
        public = part["public"]
        if not isinstance(public, list) or any(name not in declared for name in public):
            hint = 'what an attacker may know of somebody, for example public = ["sex", "age"]'
            reader.fail("public must be a list of declared attributes", hint, ("audit", "public"))
        told["public"] = tuple(dict.fromkeys(public))
    if "sensitive" in part:
        told["sensitive"] = text(reader, part, ("audit", "sensitive"))
        if told["sensitive"] not in declared or told["sensitive"] in told.get("public", ()):
            reader.fail("sensitive must be a declared attribute, and not public", "",
                        ("audit", "sensitive"))  # fmt: skip
    if "disclosures" in part:
        most = part["disclosures"]
        if not isinstance(most, int) or isinstance(most, bool) or most < 0:
            reader.fail("disclosures must be a whole number", "0 allows none",
                        ("audit", "disclosures"))  # fmt: skip
        told["disclosures"] = most
    if "gate" in part:
        told["gate"] = text(reader, part, ("audit", "gate"))
        if told["gate"] not in ("refuse", "warn"):
            reader.fail("gate must be refuse or warn", "", ("audit", "gate"))
    facts = {n: flag(reader, part, ("audit", n)) for n in _CIRCUMSTANCES if n in part}
    many = {n: whole(reader, part, ("audit", n), 1) for n in _MANY if n in part}
    made = Audit(**told, circumstances={**facts, **many})
    if made.amber > made.red:
        reader.fail("amber must not be above red", "", ("audit", "amber"))
    return made


def _share(reader: Reader, part: Mapping[str, Any], name: str) -> float:
    """A threshold: a number between its ends, which lie outside."""
    value = part[name]
    low, high = _RANGES.get(name, (0, 1))
    right = isinstance(value, int | Decimal) and not isinstance(value, bool)
    if not right or not (low < value < high or (name == "kcp" and value == 1)):
        reader.fail(f"{name} must be a number between {low} and {high:,}", "", ("audit", name))
    return float(value)
