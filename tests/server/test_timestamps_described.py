"""Timestamps as HTTP and the console describe them."""

from __future__ import annotations

from datetime import datetime

from adomnia.schema.domain import Timestamps
from adomnia.server.console.views import listings
from adomnia.server.http import schema_view

DOMAIN = Timestamps(datetime(2024, 1, 1), datetime(2024, 12, 31, 23, 45), 900, "Europe/Berlin")


def test_http_tells_the_step_and_the_zone():
    assert schema_view._domain(DOMAIN) == (
        "timestamp",
        {
            "low": "2024-01-01T00:00:00",
            "high": "2024-12-31T23:45:00",
            "step": "15m",
            "zone": "Europe/Berlin",
        },
    )


def test_the_console_tells_them_in_words():
    words = "2024-01-01 00:00:00 to 2024-12-31 23:45:00 in steps of 15m, Europe/Berlin"
    assert listings._domain(DOMAIN) == ("timestamp", words)
