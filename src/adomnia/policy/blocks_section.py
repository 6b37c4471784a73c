"""The section `[blocks]` of a policy: by what rows are dealt out to blocks."""

from __future__ import annotations

import re
from collections.abc import Mapping

from adomnia.errors import QuestionError
from adomnia.limits import MAX_BLOCKS
from adomnia.policy.impossible_section import by_attributes
from adomnia.policy.sections import BlocksSection
from adomnia.policy.toml_reader import Reader
from adomnia.queries.blocks import Blocks
from adomnia.queries.expression import Expr, columns
from adomnia.queries.ranges import count_cells
from adomnia.schema.table import Attribute

__all__ = ["blocks_of"]

PATH = ("blocks", "by")

PERIOD = re.compile(r"\s*(year|quarter|month|week|day|hour)\s*\(([^()]*)\)\s*", re.IGNORECASE)
"""A period of a day or a moment: the month of a year, not one of twelve."""

ALONE = ("tables", "prior", "graph", "quality")
"""Sections that are about all rows together."""


def blocks_of(reader: Reader, attributes: Mapping[str, Attribute]) -> Blocks:
    """How the policy deals out rows."""
    by = reader.section(BlocksSection, ("blocks",)).by
    _refuse_together(reader)
    key = _key(reader, by, attributes)
    read = columns(key)
    if len(read) != 1:
        reader.fail("blocks go by one attribute", 'for example by = "month(admitted)"', PATH)
    count = count_cells(key.range)
    if count is None or count > MAX_BLOCKS:
        reader.fail(
            f"these are more than {MAX_BLOCKS:,} blocks, or not declared ones",
            f'blocks go by something coarser, for example by = "month({read[0].name})"',
            PATH,
        )
    return Blocks(by, key)


def _refuse_together(reader: Reader) -> None:
    """Refuse what ties rows of several blocks: what is promised of each would not hold."""
    for section in ALONE:
        if section in reader.tree:
            said = f"[{section}] does not go with [blocks]: it is about rows of all blocks together"
            reader.fail(said, "leave out one of them", (section,))
    privacy = reader.tree.get("privacy", {})
    if "unit" in privacy:
        said = "unit does not go with [blocks] yet: a person's rows lie in several blocks"
        reader.fail(said, "leave out one of them", ("privacy", "unit"))
    if privacy.get("neighbors") == "free-lunch":
        hint = "use unbounded or bounded neighbors"
        reader.fail("[blocks] does not go with free-lunch neighbors", hint, ("blocks",))


def _key(reader: Reader, by: str, attributes: Mapping[str, Attribute]) -> Expr:
    from adomnia.queries.sql.fragments import bind_key  # noqa: PLC0415 (slow to import)

    period = PERIOD.fullmatch(by)
    text = f"DATE_TRUNC('{period[1].lower()}', {period[2]})" if period else by
    domains = {name: attribute.domain for name, attribute in attributes.items()}
    try:
        return bind_key(text, tuple(attributes), domains)[1]
    except QuestionError as error:
        reader.fail(*by_attributes(error, attributes), PATH)
