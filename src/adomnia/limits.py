"""Every bound that a person can meet, in one place; each is named in the refusal that it causes."""

from __future__ import annotations

__all__ = [
    "MAX_ADAPTIVE_CELLS",
    "MAX_AXIS_VALUES",
    "MAX_BANDS",
    "MAX_BLOCKS",
    "MAX_CELLS",
    "MAX_COMPARED_CELLS",
    "MAX_CONDITIONS",
    "MAX_CONSISTENT_TABLES",
    "MAX_CUMULATIVE_VALUES",
    "MAX_DEGREES",
    "MAX_DEGREE_BOUND",
    "MAX_DESCRIPTION",
    "MAX_DRAFTED_TABLES",
    "MAX_EXPRESSION_CALLS",
    "MAX_FORM_BODY",
    "MAX_FREE_GROUPS",
    "MAX_HOLDER_REPLY",
    "MAX_HOLDER_REQUEST",
    "MAX_HTTP_BODY",
    "MAX_HTTP_CONNECTIONS",
    "MAX_JOINED_ROWS",
    "MAX_JOINT_NUMBERS",
    "MAX_KEPT_CHARACTERS",
    "MAX_MAPPED_VALUES",
    "MAX_MODE_VALUES",
    "MAX_NESTING",
    "MAX_NODES",
    "MAX_OPEN_ROUNDS",
    "MAX_PARAMETERS",
    "MAX_PARENTHESES",
    "MAX_PARITIES",
    "MAX_PG_CONNECTIONS",
    "MAX_PUBLIC_ROWS",
    "MAX_RELEASED_CELLS",
    "MAX_REMOVED_UNITS",
    "MAX_REUSED_CELLS",
    "MAX_ROW_UNITS",
    "MAX_SCANS",
    "MAX_STARS",
    "MAX_STATEMENT_CHARACTERS",
    "MAX_STATEMENT_WORDS",
    "MAX_STRUCTURAL_CELLS",
    "MAX_SUMMED_STEPS",
    "MAX_TESTED_VALUES",
    "MAX_UNIT_AMOUNT",
    "MAX_UNIT_ROWS",
    "MAX_UNPAID_ROUNDS",
    "MAX_WAITING_QUESTIONS",
    "MAX_ZONE_YEARS",
    "MIN_LISTED_ROWS",
    "MOST_ROWS",
]

MAX_STATEMENT_CHARACTERS = 100_000
"""A statement is not longer."""

MAX_STATEMENT_WORDS = 10_000
"""Nor has it more words and signs."""

MAX_PARENTHESES = 64
"""Parentheses in a statement are not nested deeper."""

MAX_NESTING = 200
"""Signs and words that open something do not follow each other more often."""

MAX_EXPRESSION_CALLS = 20_000
"""No expression has more calls: nested choices repeat their parts and grow fast."""

MAX_CELLS = 1_000_000
"""An answer has at most this many cells."""

MAX_JOINED_ROWS = 1_000_000
"""Where rows of one unit are joined with each other, so many of the joined rows are the most."""

MAX_BLOCKS = 10_000
"""Rows are dealt out to at most this many blocks, such as the days of 27 years."""


MAX_SCANS = 16
"""A statement over several tables reads at most this many tables and subqueries."""

MAX_BANDS = 64
"""A column of numbers has no more bands in a release."""

MAX_COMPARED_CELLS = 1_000_000
"""A pair of columns with more is left out where made-up records are compared with the data."""

MAX_MODE_VALUES = 100_000
"""A mode is chosen among this many values at most."""

MAX_MAPPED_VALUES = 10_000
"""Functions of text are computed value by value; a longer list is refused."""

MAX_STARS = 20
"""The k of a k-star in a graph."""

MAX_DEGREES = 10**7
"""The highest degree that a question about degrees may name."""

MAX_DEGREE_BOUND = 10**6
"""The public bound of degrees that a policy may declare."""

MAX_UNIT_ROWS = 10**9
"""The rows of one unit up to which a bound is sought: no scan goes on for ever."""

MOST_ROWS = 10**6
"""Where the search for a bound of a unit's rows ends, if the policy does not say."""

MAX_UNIT_AMOUNT = 10**15
"""What all rows of one unit may be declared to add up to at most, in steps of the amount."""

MAX_ROW_UNITS = 2
"""A row may belong to so many units."""

MAX_REMOVED_UNITS = 3000
"""Units that a scan over rows of two units tells apart: a smaller epsilon would need more, and the
linear programs behind it grow with them."""

MAX_NODES = 10**8
"""The ids of a graph's nodes, from the first to the last."""

MAX_PUBLIC_ROWS = 100_000
"""Rows of a public table."""

MAX_CONDITIONS = 1000
"""Conditions of one choice; every one is one more count of one statement."""

MAX_FREE_GROUPS = 100_000
"""Groups that are listed for free, where no row can be in any."""

MAX_AXIS_VALUES = 10_000
"""Values of an attribute in a released table."""

MAX_TESTED_VALUES = 1000
"""Values of an attribute in a test of independence."""

MAX_CONSISTENT_TABLES = 1_000_000
"""Tables that agree with what is public, among which one is drawn."""

MAX_RELEASED_CELLS = 1 << 28
"""Cells of a release in all: two gigabytes of numbers."""

MAX_ADAPTIVE_CELLS = 1 << 25
"""Cells of all tables together that an adaptive release chooses from."""

MAX_STRUCTURAL_CELLS = 1 << 20
"""Combinations of values that are looked through for those that cannot be."""

MAX_CUMULATIVE_VALUES = 2_000
"""Sums up to a value of a key, in all tables with Laplace noise: each has a law of its own."""

MAX_SUMMED_STEPS = 1 << 30
"""Steps that a number of a row may have where it is summed in released tables: the sums of four
thousand million rows fit 64 bits."""

MAX_PARITIES = 1 << 24
"""Coefficients that the paper's way of releasing measures."""

MAX_REUSED_CELLS = 100_000
"""A release with more cells is published, but does not answer questions later."""

MAX_KEPT_CHARACTERS = 20_000
"""Characters of a statement that the ledger keeps; what was paid for is in its record."""

MAX_HTTP_BODY = 1 << 20
"""Bytes of a request over HTTP."""

MAX_WAITING_QUESTIONS = 500
"""Questions that wait for a worker of the server."""

MAX_DESCRIPTION = 2000
"""Characters of a description in a policy."""

MAX_DRAFTED_TABLES = 100
"""Tables of a source that are drafted together: each is read, and held against the others."""

MAX_PARAMETERS = 1000
"""Parameters ($1, $2, …) of a question by psql and its like."""

MAX_PG_CONNECTIONS = 1200
"""Connections by psql and its like at one time."""

MAX_HTTP_CONNECTIONS = 1000
"""Connections over HTTP at one time."""

MAX_FORM_BODY = 256 * 1024
"""Bytes of a form on the web pages; a longer one is refused unread."""

MAX_OPEN_ROUNDS = 64
"""Rounds of joint questions that a holder has open."""

MAX_UNPAID_ROUNDS = 8
"""Rounds of one asker that wait for payment, so that others find room."""

MAX_JOINT_NUMBERS = 1 << 20
"""Numbers of an answer that several holders give together."""

MAX_HOLDER_REQUEST = 1 << 18
"""Bytes of a request to a holder."""

MAX_HOLDER_REPLY = 1 << 24
"""Bytes of a holder's reply."""

MAX_ZONE_YEARS = 200
"""So many years of a zone's clock are written into a statement, change by change."""

MIN_LISTED_ROWS = 10
"""A value that fewer rows have is rare and may be a person: a draft does not list it."""
