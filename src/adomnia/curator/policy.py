"""The policy: what the data is, what is promised, and who may spend what (`adomnia.toml`)."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from adomnia.curator.graph_policy import GraphSource, graph_source
from adomnia.errors import AdomniaError, PolicyError
from adomnia.privacy.composition import Budget
from adomnia.privacy.loss import exact
from adomnia.privacy.neighbors import RELATIONS, Neighbors
from adomnia.schema.domain import Categories, Dates, Domain, Grid, Open
from adomnia.schema.table import Attribute

__all__ = ["Audit", "Policy", "PriorSource", "PublicSource", "line_of", "read_policy"]

_SECTIONS: Mapping[str, frozenset[str]] = {
    "data": frozenset({"source", "table"}),
    "privacy": frozenset(
        {
            "neighbors",
            "unit",
            "max_rows",
            "group",
            "epsilon",
            "delta",
            "rho",
            "confirmed",
            "universe",
            "max_group",
        }
    ),
    "attributes": frozenset(
        {"kind", "values", "other", "low", "high", "step", "nullable", "sensitive"}
    ),
    "analysts": frozenset({"epsilon", "delta", "rho"}),
    "public": frozenset({"source", "key"}),
    "ledger": frozenset({"url"}),
    "prior": frozenset({"sql", "values", "rounded", "below"}),
    "graph": frozenset(
        {
            "edges",
            "nodes",
            "ids",
            "directed",
            "neighbors",
            "degree_bound",
            "public_nodes",
            "source",
            "target",
            "key",
            "attributes",
        }
    ),
    "audit": frozenset(
        {
            "public",
            "sensitive",
            "tau",
            "kj",
            "kcp",
            "disclosures",
            "gate",
            "amber",
            "red",
            "independent",
            "exact",
            "influence",
            "several_rows",
            "repeated",
            "group",
            "rows",
            "releases",
        }
    ),
}
_NAMED = ("attributes", "analysts", "public")
_CIRCUMSTANCES = ("independent", "exact", "influence", "several_rows", "repeated")
_MANY = ("group", "rows", "releases")
_SHARES = ("tau", "kj", "kcp", "amber", "red")


@dataclass(frozen=True)
class PublicSource:
    """Where a public table is, and its unique key."""

    source: str
    key: str


@dataclass(frozen=True)
class PriorSource:
    """A statement that was released exactly, and where its numbers are."""

    sql: str
    values: str | None = None
    rounded: int | None = None
    below: int | None = None


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


@dataclass(frozen=True)
class Policy:
    """What a curator declared."""

    file: Path
    source: str
    table: str
    neighbors: Neighbors
    budget: Budget
    attributes: Mapping[str, Attribute]
    unit: str | None = None
    analysts: Mapping[str, Budget] = field(default_factory=dict)
    public: Mapping[str, PublicSource] = field(default_factory=dict)
    ledger: str = "adomnia.ledger"
    priors: tuple[PriorSource, ...] = ()
    graph: GraphSource | None = None
    universe: tuple[str, ...] | None = None
    max_group: int | None = None
    confirmed: bool = False
    digest: str = ""
    audit: Audit = field(default_factory=Audit)

    def beside(self, name: str) -> str:
        """A file named in the policy, found from where the policy is; an address stays one."""
        if "://" in name or Path(name).is_absolute():
            return name
        return str(self.file.parent / name)


class _Reader:
    """The policy's text and tables, so that an error can name the line."""

    def __init__(self, file: Path, text: str, tree: Mapping[str, Any]) -> None:
        self.file, self.text, self.tree = file, text, tree

    def fail(self, message: str, hint: str = "", path: tuple[str, ...] = ()) -> NoReturn:
        raise PolicyError(message, hint, str(self.file), self.line(path))

    def line(self, path: tuple[str, ...]) -> int | None:
        """The line where a key, or else its section, is written."""
        lines = self.text.splitlines()
        if not path:
            return None
        section, key = path[:-1], path[-1]
        start = self._header(lines, section)
        for number in range(start, len(lines)):
            if number > start and lines[number].lstrip().startswith("["):
                break
            if re.match(rf'\s*(["\']?){re.escape(key)}\1\s*=', lines[number]):
                return number + 1
        return (self._header(lines, path) or start) + 1 if lines else None

    @staticmethod
    def _header(lines: list[str], section: tuple[str, ...]) -> int:
        """The line of a section's header, else of the first section inside it, else the first."""
        wanted = ".".join(section).replace('"', "").replace(" ", "")
        names = {
            number: line.split("#")[0].strip().strip("[]").replace('"', "").replace(" ", "")
            for number, line in enumerate(lines)
            if line.lstrip().startswith("[")
        }
        exact_ones = (number for number, name in names.items() if name == wanted)
        inside = (number for number, name in names.items() if name.startswith(f"{wanted}."))
        return next(exact_ones, next(inside, 0))

    def guard(self, path: tuple[str, ...], make: Callable[[], Any]) -> Any:
        """What `make` gives; its complaint becomes an error at the line of `path`."""
        try:
            return make()
        except AdomniaError as error:
            if isinstance(error, PolicyError) and error.line is not None:
                raise  # it names a more precise line already
            self.fail(error.message, error.hint, path)
        except (ValueError, TypeError) as error:
            self.fail(str(error), "", path)


def read_policy(file: str | Path) -> Policy:
    """The policy in a file; anything wrong with it is an error that names the line."""
    path = Path(file)
    reader = _parse(path)
    _known_keys(reader)
    tree = reader.tree
    privacy = _section(reader, "privacy")
    graph = graph_source(reader)
    data = _section(reader, "data") if graph is None or "data" in tree else {}
    source = _text(reader, data, ("data", "source"), None if data or graph is None else "")
    return Policy(
        file=path,
        source=source,
        table=_text(reader, data, ("data", "table"), _stem(source)),
        neighbors=_neighbors(reader, privacy),
        budget=_budget(reader, privacy, ("privacy",)),
        attributes=_attributes(reader),
        unit=_text(reader, privacy, ("privacy", "unit"), "") or None,
        analysts={
            name: _budget(reader, part, ("analysts", name))
            for name, part in tree.get("analysts", {}).items()
        },
        public={
            name: PublicSource(
                _text(reader, part, ("public", name, "source")),
                _text(reader, part, ("public", name, "key")),
            )
            for name, part in tree.get("public", {}).items()
        },
        ledger=_text(reader, tree.get("ledger", {}), ("ledger", "url"), "adomnia.ledger"),
        priors=_priors(reader),
        graph=graph,
        universe=_universe(reader, privacy),
        max_group=_whole(reader, privacy, ("privacy", "max_group"), 1)
        if "max_group" in privacy
        else None,
        confirmed=_flag(reader, privacy, ("privacy", "confirmed")),
        digest=hashlib.sha256(reader.text.encode()).hexdigest(),
        audit=_audit(reader),
    )


def _parse(path: Path) -> _Reader:
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        hint = "draft one with: adomnia init SOURCE"
        raise PolicyError(f"there is no policy {str(path)!r}", hint) from None
    except (OSError, UnicodeDecodeError):
        raise PolicyError(f"the policy {str(path)!r} cannot be read") from None
    try:
        return _Reader(path, text, tomllib.loads(text, parse_float=Decimal))
    except RecursionError:
        raise PolicyError("this is nested too deeply", "", str(path)) from None
    except ValueError as error:  # also of a number with thousands of digits
        found = re.search(r"line (\d+)", str(error))
        line = int(found.group(1)) if found else None
        reason = str(error).split(" (at")[0]
        raise PolicyError(f"this is not valid TOML: {reason}", "", str(path), line) from None


def _known_keys(reader: _Reader) -> None:
    for name, content in reader.tree.items():
        if name not in _SECTIONS:
            reader.fail(f"unknown section [{name}]", _closest(name, _SECTIONS), (name,))
        parts = content if isinstance(content, list) and name == "prior" else [content]
        if any(not isinstance(part, dict) for part in parts):
            reader.fail(f"[{name}] must be a section", "", (name,))
        for part in parts:
            tables = part.items() if name in _NAMED else [("", part)]
            for key, table in tables:
                _known(reader, (name, key) if key else (name,), table)


def _known(reader: _Reader, path: tuple[str, ...], table: Any) -> None:
    if not isinstance(table, dict):
        reader.fail(f"{path[-1]!r} must be a section of its own: [{'.'.join(path)}]", "", path)
    for key in table:
        if key not in _SECTIONS[path[0]]:
            known = _SECTIONS[path[0]]
            reader.fail(
                f"unknown key {key!r} in [{'.'.join(path)}]", _closest(key, known), (*path, key)
            )


def _closest(name: str, known: Any) -> str:
    import difflib  # noqa: PLC0415 (only needed for an error)

    close = difflib.get_close_matches(name, list(known), 1)
    return f"did you mean {close[0]!r}?" if close else "known: " + ", ".join(sorted(known))


def _section(reader: _Reader, name: str) -> Mapping[str, Any]:
    part = reader.tree.get(name)
    if not isinstance(part, dict):
        reader.fail(
            f"the section [{name}] is missing", "see the design of the policy in docs/policy.md"
        )
    return part


def _text(
    reader: _Reader, part: Mapping[str, Any], path: tuple[str, ...], default: str | None = None
) -> str:
    value = part.get(path[-1], default)
    if not isinstance(value, str) or (default is None and not value):
        reader.fail(
            f"{path[-1]} must be a text", f'for example {path[-1]} = "people.parquet"', path
        )
    return value


def _flag(
    reader: _Reader, part: Mapping[str, Any], path: tuple[str, ...], default: bool = False
) -> bool:
    value = part.get(path[-1], default)
    if not isinstance(value, bool):
        reader.fail(f"{path[-1]} must be true or false", "", path)
    return value


def _whole(reader: _Reader, part: Mapping[str, Any], path: tuple[str, ...], default: int) -> int:
    value = part.get(path[-1], default)
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= 10**9:
        reader.fail(f"{path[-1]} must be a whole number of at least 1", "", path)
    return value


def _stem(source: str) -> str:
    return re.sub(r"\W+", "_", Path(source).name.split(".")[0]) or "data"


def _neighbors(reader: _Reader, privacy: Mapping[str, Any]) -> Neighbors:
    relation = privacy.get("neighbors", "unbounded")
    if relation not in RELATIONS:
        reader.fail(
            "neighbors must be one of " + ", ".join(RELATIONS), "", ("privacy", "neighbors")
        )
    rows = None
    if "unit" in privacy:
        if "max_rows" not in privacy:
            hint = "how many rows of one unit are used at most, for example max_rows = 5"
            reader.fail("unit needs max_rows", hint, ("privacy", "unit"))
        _text(reader, privacy, ("privacy", "unit"))
        rows = _whole(reader, privacy, ("privacy", "max_rows"), 1)
    elif "max_rows" in privacy:
        reader.fail(
            "max_rows needs unit", "the column that names a person", ("privacy", "max_rows")
        )
    group = _whole(reader, privacy, ("privacy", "group"), 1)
    found: Neighbors = reader.guard(
        ("privacy", "neighbors"), lambda: Neighbors(relation, rows, group)
    )
    return found


def _budget(reader: _Reader, part: Mapping[str, Any], path: tuple[str, ...]) -> Budget:
    amounts: dict[str, Fraction] = {}
    for name in ("epsilon", "delta", "rho"):
        if name in part:
            written = str(part[name]) if isinstance(part[name], Decimal) else part[name]
            amounts[name] = reader.guard((*path, name), partial(exact, written, name))
    if not amounts:
        reader.fail(f"[{'.'.join(path)}] needs epsilon", "for example epsilon = 1.0", path)
    budget: Budget = reader.guard((*path, next(iter(amounts))), lambda: Budget(**amounts))
    return budget


def _priors(reader: _Reader) -> tuple[PriorSource, ...]:
    listed = reader.tree.get("prior", [])
    if not isinstance(listed, list):
        reader.fail("exact releases are written [[prior]], with two brackets", "", ("prior",))
    return tuple(_prior(reader, part) for part in listed)


def _prior(reader: _Reader, part: Mapping[str, Any]) -> PriorSource:
    return PriorSource(
        _text(reader, part, ("prior", "sql")),
        _text(reader, part, ("prior", "values")) if "values" in part else None,
        _whole(reader, part, ("prior", "rounded"), 1) if "rounded" in part else None,
        _whole(reader, part, ("prior", "below"), 1) if "below" in part else None,
    )


def _universe(reader: _Reader, privacy: Mapping[str, Any]) -> tuple[str, ...] | None:
    listed = privacy.get("universe")
    if listed is None:
        return None
    declared = reader.tree.get("attributes", {})
    if not isinstance(listed, list) or not listed or any(n not in declared for n in listed):
        reader.fail(
            "universe must be a list of declared attributes",
            'those that will ever be asked, for example universe = ["sex", "age"]',
            ("privacy", "universe"),
        )
    return tuple(dict.fromkeys(listed))


def _audit(reader: _Reader) -> Audit:
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
        told["sensitive"] = _text(reader, part, ("audit", "sensitive"))
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
        told["gate"] = _text(reader, part, ("audit", "gate"))
        if told["gate"] not in ("refuse", "warn"):
            reader.fail("gate must be refuse or warn", "", ("audit", "gate"))
    facts = {n: _flag(reader, part, ("audit", n)) for n in _CIRCUMSTANCES if n in part}
    many = {n: _whole(reader, part, ("audit", n), 1) for n in _MANY if n in part}
    made = Audit(**told, circumstances={**facts, **many})
    if made.amber > made.red:
        reader.fail("amber must not be above red", "", ("audit", "amber"))
    return made


_RANGES = {"kj": (1, 10**9)}


def _share(reader: _Reader, part: Mapping[str, Any], name: str) -> float:
    """A threshold: a number between its ends, which lie outside."""
    value = part[name]
    low, high = _RANGES.get(name, (0, 1))
    right = isinstance(value, int | Decimal) and not isinstance(value, bool)
    if not right or not (low < value < high or (name == "kcp" and value == 1)):
        reader.fail(f"{name} must be a number between {low} and {high:,}", "", ("audit", name))
    return float(value)


# Domains


def _attributes(reader: _Reader) -> dict[str, Attribute]:
    found = {}
    for name, part in reader.tree.get("attributes", {}).items():
        path = ("attributes", name)
        domain = reader.guard(path, partial(_domain, reader, part, path))
        nullable = _flag(reader, part, (*path, "nullable"))
        sensitive = _flag(reader, part, (*path, "sensitive"), default=True)
        found[name] = Attribute(name, domain, nullable, sensitive)
    return found


def _domain(reader: _Reader, part: Mapping[str, Any], path: tuple[str, ...]) -> Domain:
    kind = part.get("kind", "values" if "values" in part else "number" if "low" in part else None)
    makers: Mapping[Any, Callable[..., Domain]] = {
        "values": _values,
        "number": _grid,
        "date": _dates,
        "text": lambda *_: Open(),
    }
    if kind not in makers:
        hint = 'give values = […], or low and high, or kind = "date" with both, or kind = "text"'
        reader.fail(f"the domain of {path[-1]!r} is not clear", hint, path)
    return makers[kind](reader, part, path)


def _values(reader: _Reader, part: Mapping[str, Any], path: tuple[str, ...]) -> Domain:
    if "low" in part or "high" in part or "step" in part:
        reader.fail("either values, or low and high", "", (*path, "values"))
    values = part.get("values")
    if not isinstance(values, list):
        reader.fail("values must be a list", 'for example values = ["F", "M"]', (*path, "values"))
    made: Domain = reader.guard(
        (*path, "values"), lambda: Categories(tuple(values), part.get("other"))
    )
    return made


def _grid(reader: _Reader, part: Mapping[str, Any], path: tuple[str, ...]) -> Domain:
    ends = []
    for name, default in (("low", None), ("high", None), ("step", 1)):
        value = part.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int | Decimal):
            reader.fail(f"{name} must be a number", f"for example {name} = 1", (*path, name))
        if isinstance(value, Decimal) and not (value.is_finite() and abs(value.adjusted()) < 100):
            reader.fail(f"{name} must be a finite number", "", (*path, name))
        ends.append(Fraction(value))
    made: Domain = reader.guard((*path, "low"), lambda: Grid(*ends))
    return made


def _dates(reader: _Reader, part: Mapping[str, Any], path: tuple[str, ...]) -> Domain:
    ends = [_date(reader, part.get(name), (*path, name)) for name in ("low", "high")]
    made: Domain = reader.guard((*path, "low"), lambda: Dates(*ends))
    return made


def _date(reader: _Reader, value: Any, path: tuple[str, ...]) -> date:
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    try:
        return date.fromisoformat(str(value))
    except ValueError:
        reader.fail(f"{path[-1]} must be a date", f'for example {path[-1]} = "2015-01-01"', path)


def line_of(policy: Policy, path: tuple[str, ...]) -> int | None:
    """The line where a policy declares something, for example `("privacy", "unit")`."""
    return _parse(policy.file).line(path)
