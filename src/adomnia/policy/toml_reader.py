"""A policy's text, read: its tables, what may stand in them, and the line of every mistake."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, NoReturn

from adomnia.errors import AdomniaError, PolicyError

__all__ = ["SECTIONS", "Reader", "check_keys", "flag", "parse", "text", "whole"]

SECTIONS: Mapping[str, frozenset[str]] = {
    "data": frozenset({"source", "table", "memory", "rows", "version"}),
    "privacy": frozenset(
        {
            "neighbors",
            "unit",
            "max_rows",
            "max_groups",
            "max_rows_per_group",
            "group",
            "most",
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
    "accounts": frozenset({"url"}),
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


class Reader:
    """The policy's text and tables, so that an error can name the line."""

    def __init__(self, file: Path, text: str, tree: Mapping[str, Any]) -> None:
        self.file, self.text, self.tree = file, text, tree

    def fail(self, message: str, hint: str = "", path: tuple[str, ...] = ()) -> NoReturn:
        """The complaint, with the line of `path`."""
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


def parse(path: Path) -> Reader:
    """The policy's text as tables; what is no TOML is refused with its line."""
    try:
        written = path.read_text("utf-8")
    except FileNotFoundError:
        hint = "draft one with: adomnia init SOURCE"
        raise PolicyError(f"there is no policy {str(path)!r}", hint) from None
    except (OSError, UnicodeDecodeError):
        raise PolicyError(f"the policy {str(path)!r} cannot be read") from None
    try:
        return Reader(path, written, tomllib.loads(written, parse_float=Decimal))
    except RecursionError:
        raise PolicyError("this is nested too deeply", "", str(path)) from None
    except ValueError as error:  # also of a number with thousands of digits
        found = re.search(r"line (\d+)", str(error))
        line = int(found.group(1)) if found else None
        reason = str(error).split(" (at")[0]
        raise PolicyError(f"this is not valid TOML: {reason}", "", str(path), line) from None


def check_keys(reader: Reader) -> None:
    """Refuse sections and keys that mean nothing here."""
    for name, content in reader.tree.items():
        if name not in SECTIONS:
            reader.fail(f"unknown section [{name}]", closest(name, SECTIONS), (name,))
        parts = content if isinstance(content, list) and name == "prior" else [content]
        if any(not isinstance(part, dict) for part in parts):
            reader.fail(f"[{name}] must be a section", "", (name,))
        for part in parts:
            tables = part.items() if name in _NAMED else [("", part)]
            for key, table in tables:
                _known(reader, (name, key) if key else (name,), table)


def _known(reader: Reader, path: tuple[str, ...], table: Any) -> None:
    if not isinstance(table, dict):
        reader.fail(f"{path[-1]!r} must be a section of its own: [{'.'.join(path)}]", "", path)
    for key in table:
        if key not in SECTIONS[path[0]]:
            known = SECTIONS[path[0]]
            reader.fail(
                f"unknown key {key!r} in [{'.'.join(path)}]", closest(key, known), (*path, key)
            )


def closest(name: str, known: Any) -> str:
    import difflib  # noqa: PLC0415 (only needed for an error)

    close = difflib.get_close_matches(name, list(known), 1)
    return f"did you mean {close[0]!r}?" if close else "known: " + ", ".join(sorted(known))


def text(
    reader: Reader, part: Mapping[str, Any], path: tuple[str, ...], default: str | None = None
) -> str:
    """A text of a section; without a default it must be there."""
    value = part.get(path[-1], default)
    if not isinstance(value, str) or (default is None and not value):
        reader.fail(
            f"{path[-1]} must be a text", f'for example {path[-1]} = "people.parquet"', path
        )
    return value


def flag(
    reader: Reader, part: Mapping[str, Any], path: tuple[str, ...], default: bool = False
) -> bool:
    """A truth value of a section."""
    value = part.get(path[-1], default)
    if not isinstance(value, bool):
        reader.fail(f"{path[-1]} must be true or false", "", path)
    return value


def whole(reader: Reader, part: Mapping[str, Any], path: tuple[str, ...], default: int) -> int:
    """A whole number of a section, 1 at least."""
    value = part.get(path[-1], default)
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= 10**9:
        reader.fail(f"{path[-1]} must be a whole number of at least 1", "", path)
    return value
