"""A list of keys as a person writes it: parts of SQL with commas between them."""

from __future__ import annotations

__all__ = ["split_keys"]


def split_keys(text: str) -> list[str]:
    """The parts of a list of keys: split at commas, but not inside parentheses or quotes.

    >>> split_keys("sex, CASE WHEN age IN (1, 2) THEN 'a, b' END AS band")
    ['sex', "CASE WHEN age IN (1, 2) THEN 'a, b' END AS band"]
    """
    parts, depth, quote = [""], 0, ""
    for sign in text:
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"":
            quote = sign
        depth += 0 if quote else (sign in "([") - (sign in ")]")
        if sign == "," and not quote and depth <= 0:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts]
