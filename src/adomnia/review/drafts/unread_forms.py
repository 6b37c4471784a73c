"""Text that looks like days or numbers which are written in a form that is not read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["unread_form"]

MOSTLY = 0.9
"""So much of a column must look so."""

_DAYS = "not read: write 2020-12-31"
_NUMBER_FORMS = {
    "thousands": "looks like numbers with commas at thousands, not read: write 1234",
    "commas": "looks like numbers with a decimal comma, not read: write 1234.5",
}
_DAY_FORMS = {
    "dotted days": f"looks like dates as day.month.year, {_DAYS}",
    "slashed days": f"looks like dates with slashes, {_DAYS}",
    "dashed days": f"looks like dates as day-month-year, {_DAYS}",
}
"""What is said of each form of a survey, the narrower first."""


def unread_form(facts: Mapping[str, Any]) -> str | None:
    """What is said of a surveyed column of text that holds days or numbers in another form.

    >>> unread_form({"kind": "text", "forms": {"commas": 1.0}})
    'looks like numbers with a decimal comma, not read: write 1234.5'
    """
    if facts["kind"] != "text":
        return None
    held = facts["forms"]
    codes = held.get("padded", 0) > 0  # digits with zeros in front are no numbers
    forms = _DAY_FORMS if codes else _DAY_FORMS | _NUMBER_FORMS
    return next((text for form, text in forms.items() if held.get(form, 0) >= MOSTLY), None)
