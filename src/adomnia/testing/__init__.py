"""Made-up databases, and the laws of models and mechanisms, are here for tests of one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adomnia.exports import Exports

if TYPE_CHECKING:
    from adomnia.testing.holders import joint_session
    from adomnia.testing.mechanisms import (
        check_mechanism,
    )
    from adomnia.testing.models import (
        AWKWARD,
        BrokenLawError,
        asks_the_session_alone,
        check_model,
        learns_the_same_from_the_same_answers,
        pleases_scikit_learn,
        refuses_wrong_columns,
        refuses_wrong_rows,
        refuses_wrong_terms,
        says_something_of_any_data,
        shows_its_parameters,
        spends_what_it_says,
        takes_rows_in_any_form,
        unfitted_after_a_refusal,
    )
    from adomnia.testing.networks import NetworkWorld, circle
    from adomnia.testing.sessions import RecordingSession, ReplayingSession, state_of
    from adomnia.testing.worlds import (
        CLASS,
        CLOUDS,
        World,
        analysts,
        clouds,
        dates,
        listed,
        number,
        timestamps,
        town,
    )

_MEMBERS = {
    "holders": "joint_session",
    "mechanisms": "check_mechanism",
    "models": "AWKWARD BrokenLawError asks_the_session_alone check_model "
    "learns_the_same_from_the_same_answers pleases_scikit_learn refuses_wrong_columns "
    "refuses_wrong_rows refuses_wrong_terms says_something_of_any_data shows_its_parameters "
    "spends_what_it_says takes_rows_in_any_form unfitted_after_a_refusal",
    "networks": "NetworkWorld circle",
    "sessions": "RecordingSession ReplayingSession state_of",
    "worlds": "CLASS CLOUDS World analysts clouds dates listed number timestamps town",
}
"""What each module of the room gives to everybody."""

__all__ = [
    "AWKWARD",
    "CLASS",
    "CLOUDS",
    "BrokenLawError",
    "NetworkWorld",
    "RecordingSession",
    "ReplayingSession",
    "World",
    "analysts",
    "asks_the_session_alone",
    "check_mechanism",
    "check_model",
    "circle",
    "clouds",
    "dates",
    "joint_session",
    "learns_the_same_from_the_same_answers",
    "listed",
    "number",
    "pleases_scikit_learn",
    "refuses_wrong_columns",
    "refuses_wrong_rows",
    "refuses_wrong_terms",
    "says_something_of_any_data",
    "shows_its_parameters",
    "spends_what_it_says",
    "state_of",
    "takes_rows_in_any_form",
    "timestamps",
    "town",
    "unfitted_after_a_refusal",
]

_EXPORTS = Exports(__name__, _MEMBERS)
__getattr__, __dir__ = _EXPORTS.load, _EXPORTS.names
