"""How numbers, days and truth values are written in text, by one rule (`coding.md`)."""

from __future__ import annotations

from adomnia.engines.sql.dialect import literal

__all__ = [
    "DAY",
    "ENDLESS",
    "FAR",
    "MANTISSA",
    "NUMBER",
    "PLAIN",
    "SPACES",
    "USUAL",
    "ZERO",
    "truth_of",
]

FAR = 200
"""A text of more signs is no number and no day: below this, none passes the range of a double."""
SPACES = " \t\n\v\f\r\x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B)))
SPACES += "\u2028\u2029\u202f\u205f\u3000"
PLAIN = r"^-?[0-9]{1,15}(\.[0-9]{1,15})?$"
DIGITS = "[0-9]+(_[0-9]+)*"
MANTISSA = rf"({DIGITS}\.?({DIGITS})?|\.{DIGITS})"
ZERO = f"^[+-]?({MANTISSA}e-[0-9]+|(?={MANTISSA}e)[0_.]+e[+]?[0-9]+)$"
MINUTES = r":[0-5]?[0-9](:[0-5]?[0-9](\.[0-9]*)?)?"
TIME = rf"[ T](([01]?[0-9]|2[0-3]){MINUTES}|24:00(:00(\.0*)?)?)"
ZONE = r" ?(Z|UTC|[+-][0-9]{2}(:?[0-9]{2})?)"
MONTH, OF_MONTH = "(0?[1-9]|1[0-2])", "(0?[1-9]|[12][0-9]|3[01])"
DATE = f"^[0-9]{{1,6}}(-{MONTH}-{OF_MONTH}|/{MONTH}/{OF_MONTH})"
DAY = f"{DATE}({TIME}({ZONE})?)?$"
USUAL_DAY = "(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31"
USUAL = f"^[1-9][0-9]{{3}}-({USUAL_DAY})[ T]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?$"
ENDLESS = "(?i)^-?inf(inity)?$"
NUMBER = f"(?i)^[+-]?({MANTISSA}(e[+-]?[0-9]+)?|inf(inity)?|nan)$"
"""What is written in a text: nothing else is a day or a number, whatever an engine would take."""
TRUTHS = {"TRUE": ("t", "true", "y", "yes", "1"), "FALSE": ("f", "false", "n", "no", "0")}


def truth_of(column: str, kind: str) -> str:
    """A column of this kind as truth values, NULL where it is none."""
    if kind in ("integer", "real", "decimal"):
        return f"({column} <> 0)"
    if kind == "text":
        whens = " ".join(
            f"WHEN LOWER({column}) IN ({', '.join(map(literal, words))}) THEN {truth}"
            for truth, words in TRUTHS.items()
        )
        return f"CASE {whens} END"
    return column if kind == "boolean" else "CAST(NULL AS BOOLEAN)"
