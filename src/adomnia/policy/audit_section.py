"""The section `[audit]` of a policy: what an audit looks at, and how the data came about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal, get_args

from adomnia.policy.sections import AuditSection
from adomnia.policy.toml_reader import Reader

__all__ = ["Audit", "Gate", "audit_section"]

Gate = Literal["refuse", "warn"]
"""What is done where a release would disclose too much."""

_CIRCUMSTANCES = (
    *("independent", "exact", "influence", "several_rows", "repeated"),
    *("group", "rows", "releases"),
)
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
    gate: Gate = "refuse"
    amber: float = 0.05
    red: float = 0.2
    circumstances: Mapping[str, Any] = field(default_factory=dict)


def audit_section(reader: Reader) -> Audit:
    """What the policy says about audits."""
    part = reader.section(AuditSection, ("audit",))
    told: dict[str, Any] = {
        name: _share(reader, name, value)
        for name in _SHARES
        if (value := getattr(part, name)) is not None
    }
    declared = reader.tree.get("attributes", {})
    public = part.public
    if public is not None:
        if not isinstance(public, list) or any(name not in declared for name in public):
            hint = 'what an attacker may know of somebody, for example public = ["sex", "age"]'
            reader.fail("public must be a list of declared attributes", hint, ("audit", "public"))
        told["public"] = tuple(dict.fromkeys(public))
    if part.sensitive is not None:
        told["sensitive"] = part.sensitive
        if part.sensitive not in declared or part.sensitive in told.get("public", ()):
            reader.fail("sensitive must be a declared attribute, and not public", "",
                        ("audit", "sensitive"))  # fmt: skip
    most = part.disclosures
    if most is not None:
        if not isinstance(most, int) or isinstance(most, bool) or most < 0:
            reader.fail("disclosures must be a whole number", "0 allows none",
                        ("audit", "disclosures"))  # fmt: skip
        told["disclosures"] = most
    if part.gate is not None:
        told["gate"] = part.gate
        if part.gate not in get_args(Gate):
            reader.fail("gate must be refuse or warn", "", ("audit", "gate"))
    facts = {name: getattr(part, name) for name in _CIRCUMSTANCES}
    known = {name: fact for name, fact in facts.items() if fact is not None}
    made = Audit(**told, circumstances=known)
    if made.amber > made.red:
        reader.fail("amber must not be above red", "", ("audit", "amber"))
    return made


def _share(reader: Reader, name: str, value: Any) -> float:
    """A threshold: a number between its ends, which lie outside."""
    low, high = _RANGES.get(name, (0, 1))
    right = isinstance(value, int | Decimal) and not isinstance(value, bool)
    if not right or not (low < value < high or (name == "kcp" and value == 1)):
        reader.fail(f"{name} must be a number between {low} and {high:,}", "", ("audit", name))
    return float(value)
