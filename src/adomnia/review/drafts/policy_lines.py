"""Lines of a drafted policy: places, names, amounts and attributes as TOML has them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from adomnia.privacy.loss import Amount
from adomnia.review.drafts.draft_columns import DraftColumn, toml_text

__all__ = ["HEAD", "SERVER", "attribute_lines", "source_place", "toml_amount", "toml_key"]

HEAD = (
    "# A first draft. Domains are public: whoever may ask can see them. Read each one, change",
    "# what must not be known or is too narrow, and then set confirmed = true below.",
)

SERVER = (
    "# Questions are asked of a copy of the rows, coded by this policy, which adomnia load writes",
    "# beside the source, for its role alone (docs/sources.md says where, and with which rights).",
)
"""What a curator of a source at an address must know."""


def source_place(source: str, out: Path) -> str:
    """Where the source is, seen from the policy; an absolute path elsewhere stays one."""
    if "://" in source:
        return source
    here = out.absolute().parent
    inside = Path(source).absolute().is_relative_to(here)
    if Path(source).is_absolute() and not inside:
        return source
    return os.path.relpath(Path(source).absolute(), here)


def attribute_lines(columns: Iterable[DraftColumn], table: str | None = None) -> list[str]:
    """The sections of the columns that have a domain, and why the others have none."""
    before = "" if table is None else f"tables.{toml_key(table)}."
    lines = []
    for column in columns:
        if column.lines:
            notes = [f"# {note}" for note in column.notes]
            said = [f"description = {toml_text(column.description)}"] if column.description else []
            header = f"[{before}attributes.{toml_key(column.name)}]"
            lines += ["", header, *notes, *said, *column.lines]
        else:
            lines += ["", f"# {toml_key(column.name)}: {column.why}"]
    return lines


def toml_key(name: str) -> str:
    """A name as a key of TOML.

    >>> toml_key("age"), toml_key("sp ace")
    ('age', '"sp ace"')
    """
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else toml_text(name)


def toml_amount(epsilon: Amount) -> str:
    """The epsilon as TOML: a number where it is one, else the text of a fraction.

    >>> toml_amount("0.5"), toml_amount("1/3")
    ('0.5', '"1/3"')
    """
    text = str(epsilon).strip()
    return text if re.fullmatch(r"[0-9]+(\.[0-9]+)?", text) else toml_text(text)
