"""A policy's text, read: its tables, what may stand in them, and the line of every mistake."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Collection, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import msgspec

from adomnia.errors import AdomniaError, PolicyError
from adomnia.policy.sections import LISTED, NAMED, SECTIONS, Section

__all__ = ["Reader", "check_sections", "closest", "parse"]

S = TypeVar("S", bound=Section)
_EXPECTED = {
    "str": ("a text", 'for example {key} = "people.parquet"'),
    "bool": ("true or false", ""),
    "int": ("a whole number of at least 1", ""),
    "object": ("a section", ""),
}
"""How a kind is called, and an example of it."""


class Reader:
    """The policy's text and tables, so that an error can name the line."""

    def __init__(self, file: Path, text: str, tree: Mapping[str, Any]) -> None:
        self.file, self.text, self.tree = file, text, tree

    def fail(self, message: str, hint: str = "", path: tuple[str, ...] = ()) -> NoReturn:
        """The complaint, with the line of `path`."""
        raise self.error(message, hint, self.line(path))

    def error(self, message: str, hint: str, line: int | None) -> PolicyError:
        """What is wrong with a line."""
        return PolicyError(message, hint, str(self.file), line)

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

    def section(self, kind: type[S], path: tuple[str, ...], part: Any = None) -> S:
        """A section as it may be written: the one at the path, an empty one, or a given `part`."""
        found = self.tree.get(path[0], {}) if part is None else part
        if not isinstance(found, dict):
            self.fail(f"[{'.'.join(path)}] must be a section", "", path)
        try:
            return msgspec.convert(found, kind)
        except msgspec.ValidationError as error:
            self._refuse(str(error), kind, path)

    def _refuse(self, wrong: str, kind: type[Section], path: tuple[str, ...]) -> NoReturn:
        """What the library says, in our words and with the line."""
        name = f"[{'.'.join(path)}]"
        if unknown := re.match(r"Object contains unknown field `(.*)`", wrong):
            key, known = unknown[1], kind.__struct_fields__
            self.fail(f"unknown key {key!r} in {name}", closest(key, known), (*path, key))
        if missing := re.match(r"Object missing required field `(.*)`", wrong):
            self.fail(
                f"{name} needs {missing[1]}", _EXPECTED["str"][1].format(key=missing[1]), path
            )
        at, expected = re.search(r"at `\$\.(\w+)", wrong), re.match(r"Expected `(\w+)", wrong)
        key = at[1] if at else path[-1]
        what, hint = _EXPECTED[expected[1] if expected else "object"]
        self.fail(f"{key} must be {what}", hint.format(key=key), (*path, key) if at else path)

    def sections(self, kind: type[S], name: str) -> dict[str, S]:
        """The sections of one kind, by their names."""
        return {
            key: self.section(kind, (name, key), part)
            for key, part in self.tree.get(name, {}).items()
        }

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


def check_sections(reader: Reader) -> None:
    """Refuse sections that mean nothing here, and what is no section."""
    for name, content in reader.tree.items():
        if name not in SECTIONS:
            reader.fail(f"unknown section [{name}]", closest(name, SECTIONS), (name,))
        if name in LISTED and isinstance(content, list):
            continue
        if not isinstance(content, dict):
            reader.fail(f"[{name}] must be a section", "", (name,))
        for key, part in content.items() if name in NAMED else ():
            if not isinstance(part, dict):
                wrong = f"{key!r} must be a section of its own: [{name}.{key}]"
                reader.fail(wrong, "", (name, key))


def closest(name: str, known: Collection[str]) -> str:
    """The name that was probably meant, or all that there are."""
    import difflib  # noqa: PLC0415 (only needed for an error)

    close = difflib.get_close_matches(name, list(known), 1)
    return f"did you mean {close[0]!r}?" if close else "known: " + ", ".join(sorted(known))
