"""Words in names of columns: which say that it names somebody, and which that it is measured."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

__all__ = [
    "CERTAIN",
    "CLASSES",
    "IDS",
    "INDIVIDUALS",
    "MEASURED",
    "NAMES",
    "PEOPLE",
    "PERSONAL",
    "column_words",
]


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


IDS = _set("""
    id ids uuid guid key pseudonym pid uid ref reference nr no num number code
""")
"""Words at the end or the start of a name that say: this tells one from another."""

CERTAIN = _set("""
    id ids uuid guid pseudonym pid uid
""")
"""Those that say so whatever else stands in the name."""

PERSONAL = _set("""
    ssn nino nhs mrn iban imei passport email mail phone telephone mobile fax login username
    surname lastname firstname forename fullname initials licence license plate ip
""")
"""What belongs to one person."""

NAMES = _set("name names surname lastname firstname forename fullname initials")
"""What people are called: several may have the same."""

PEOPLE = _set("""
    person people patient user customer client member student pupil employee worker household
    family subject participant respondent citizen resident applicant borrower tenant child parent
    mother father driver doctor physician nurse teacher voter taxpayer account card holder insured
    guest donor player author owner individual case
""")
"""Who has rows."""

INDIVIDUALS = PEOPLE - _set("people household family account card holder case")
"""Those of them that are one person each."""

SHORT_FORMS = {
    "hh": "household", "emp": "employee", "pat": "patient", "cust": "customer", "stud": "student",
    "resp": "respondent", "pers": "person", "subj": "subject",
}  # fmt: skip
"""How people are called before what says that it is an identifier: `emp_no`, `hhid`."""

CLASSES = _set("""
    region state country county district province municipality city town area zone site place
    location department dept ward hospital clinic school class course station branch store shop
    team group category type kind status level grade product item brand model drug diagnosis
    disease code sector industry occupation language currency plan event cause unit day month year
    week quarter party zip zipcode postcode postal
""")
"""What many people share: an identifier of these names nobody."""

MEASURED = _set("""
    income incomes salary wage wages pay earnings amount price cost costs revenue turnover sales
    profit balance charge fee tax debt loan rent payment premium value total sum mean median avg
    weight height length width depth size area distance volume mass duration time timestamp
    seconds minutes hours days age score points rate ratio percent percentage share count counts
    quantity qty temperature pressure speed energy power dose population capacity year month day
    date epoch lat latitude lon long longitude elevation altitude steps calories bytes visits
    wealth assets savings expenditure expenses budget spend spending consumption
""")
"""What is measured or counted, and no identifier however many values it has."""


_LOWER, _UPPER = "[a-zß-ÿ]", "[A-ZÀ-Þ]"
_TURNS = re.compile(f"({_LOWER})({_UPPER})|({_UPPER})({_UPPER}{_LOWER})")
"""Where a word ends in a name that has no signs between them."""


def column_words(name: str) -> list[str]:
    """The words in the name of a column, in small letters; numbers are none.

    >>> column_words("patientID"), column_words("HomePhone_2"), column_words("customerno")
    (['patient', 'id'], ['home', 'phone'], ['customer', 'no'])
    >>> column_words("hhid"), column_words("emp_no"), column_words("emp")
    (['household', 'id'], ['employee', 'no'], ['emp'])
    """
    apart = _TURNS.sub(r"\1\3_\2\4", name)
    words = [*_glued(word.lower() for word in re.split(r"[\W\d_]+", apart) if word)]
    if len(words) == 2 and words[1] in IDS:
        return [SHORT_FORMS.get(words[0], words[0]), words[1]]
    return words


def _glued(words: Iterable[str]) -> Iterator[str]:
    """Words that are written as one: `patientid`, `customerno`."""
    for word in words:
        starts = (w for w in (*PEOPLE, *SHORT_FORMS) if word.startswith(w))
        start = next((w for w in starts if word[len(w) :] in IDS), None)
        yield from (word,) if start is None else (start, word[len(start) :])
