"""Words in names of columns: which say that it names somebody, and which that it is measured."""

from __future__ import annotations

__all__ = ["CERTAIN", "CLASSES", "IDS", "INDIVIDUALS", "MEASURED", "PEOPLE", "PERSONAL"]


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

PEOPLE = _set("""
    person people patient user customer client member student pupil employee worker household
    family subject participant respondent citizen resident applicant borrower tenant child parent
    mother father driver doctor physician nurse teacher voter taxpayer account card holder insured
    guest donor player author owner individual case
""")
"""Who has rows."""

INDIVIDUALS = PEOPLE - _set("people household family account card holder case")
"""Those of them that are one person each."""

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
