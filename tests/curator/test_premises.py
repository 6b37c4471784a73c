"""Premises: named, checked by what neighbours share, before anything is paid."""

from __future__ import annotations

import pytest

from adomnia.errors import NotAllowedError
from adomnia.privacy.premises import ExactReleasesHold, Facts, RowsStay, check_premises

HOLD, STAY = ExactReleasesHold(), RowsStay()


def test_without_exact_releases_there_is_nothing_to_hold() -> None:
    check_premises((HOLD,), Facts("now"))


def test_releases_hold_for_the_versions_that_were_confirmed() -> None:
    check_premises((HOLD, STAY), Facts("now", frozenset({"then", "now"})))
    with pytest.raises(NotAllowedError, match="the data changed") as caught:
        check_premises((STAY, HOLD), Facts("now", frozenset({"then"})))
    assert "adomnia prior confirm" in caught.value.hint


def test_rows_stay_by_the_kind_of_source() -> None:
    check_premises((STAY,), Facts("now"))
    with pytest.raises(NotAllowedError, match="text file"):
        check_premises((STAY,), Facts("now", rows_stay=False))


def test_names_are_for_ever() -> None:
    """Records keep them, and what is priced anew goes by them."""
    assert (HOLD.name, STAY.name) == ("exact releases hold", "as many rows among neighbours")


def test_facts_hold_nothing_that_a_row_decides() -> None:
    assert set(vars(Facts("now"))) == {"version", "confirmed", "rows_stay"}
