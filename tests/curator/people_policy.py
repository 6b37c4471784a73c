"""The policy of a table of people by sex and age, wherever it lies: in files or on a server."""

from __future__ import annotations

__all__ = ["people_policy"]


def people_policy(
    source: object,
    *,
    table: str = "people",
    data: str = "",
    privacy: str = "epsilon = 10000",
    high: int = 120,
    more: str = "",
) -> str:
    """Its text; `data` and `privacy` have lines of these sections, `more` the sections after."""
    return f"""[data]
source = "{source}"
table = "{table}"
{data}

[privacy]
confirmed = true
{privacy}

[attributes.sex]
values = ["F", "M"]

[attributes.age]
low = 0
high = {high}

{more}
"""
