"""A statistical database for sensitive data: SQL in, private answers out, paid from a ledger."""

from adomnia.curator.answer import Answer
from adomnia.curator.database import Database
from adomnia.curator.database import open_database as open
from adomnia.curator.forecast import Forecast
from adomnia.curator.session import Session
from adomnia.errors import (
    AdomniaError,
    BudgetError,
    LedgerError,
    MachineryError,
    NotAllowedError,
    PolicyError,
    QuestionError,
)

__all__ = [
    "AdomniaError",
    "Answer",
    "BudgetError",
    "Database",
    "Forecast",
    "LedgerError",
    "MachineryError",
    "NotAllowedError",
    "PolicyError",
    "QuestionError",
    "Session",
    "open",
]
__version__ = "0.1.0"
