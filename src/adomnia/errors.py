"""What can go wrong is here: one tree, which owns exit code, HTTP status and SQLSTATE.

    AdomniaError
    ├── QuestionError      2  400  42601   the SQL or the request is wrong
    │   └── ReusedKeyError 2  409  42710   a key stands for another request already
    ├── PolicyError        2  400  F0000   the policy file is wrong
    ├── BudgetError        3  402  53400   it would pass a budget
    ├── NotAllowedError    4  403  42501   this person may not
    ├── CheckError         6  409  23514   a check for the curator found something
    └── MachineryError     5  500  XX000   the machinery failed, nothing was answered
        ├── LedgerError    5  500  XX001   the journal is damaged or cannot be read
        └── CancelledError 5  409  57014   somebody ended the question before its answer

No message ever contains a value from the private data.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "AdomniaError",
    "BudgetError",
    "CancelledError",
    "CheckError",
    "LedgerError",
    "MachineryError",
    "NotAllowedError",
    "PolicyError",
    "QuestionError",
    "ReusedKeyError",
]


@dataclass(eq=False)
class AdomniaError(Exception):
    """Anything adomnia refuses or fails at: what happened, and what to do next.

    >>> print(AdomniaError("it did not work", "do this"))
    it did not work
      do this
    """

    message: str
    hint: str = ""

    exit_code = 5
    http_status = 500
    sqlstate = "XX000"

    def __str__(self) -> str:
        return f"{self.message}\n  {self.hint}" if self.hint else self.message


@dataclass(eq=False)
class QuestionError(AdomniaError):
    """The question cannot be answered as asked; `position` is a 0-based offset into `sql`.

    >>> print(QuestionError("this is no column", "there is: age", "SELECT agee FROM people", 7))
    this is no column
      SELECT agee FROM people
             ^
      there is: age
    """

    sql: str = ""
    position: int | None = None

    exit_code = 2
    http_status = 400
    sqlstate = "42601"

    def __str__(self) -> str:
        lines = [self.message]
        if self.position is not None and self.sql:
            lines += _pointer(self.sql, self.position)
        if self.hint:
            lines.append(f"  {self.hint}")
        return "\n".join(lines)


@dataclass(eq=False)
class ReusedKeyError(QuestionError):
    """The key of this request was used for another one.

    >>> ReusedKeyError("the key stands for another request").http_status
    409
    """

    http_status = 409
    sqlstate = "42710"


@dataclass(eq=False)
class PolicyError(AdomniaError):
    """The policy file says something impossible; `line` is where (1-based).

    >>> print(PolicyError("epsilon is not a number", file="adomnia.toml", line=3))
    adomnia.toml, line 3: epsilon is not a number
    """

    file: str = ""
    line: int | None = None

    exit_code = 2
    http_status = 400
    sqlstate = "F0000"

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}, line {self.line}"
        text = f"{place}: {self.message}" if place else self.message
        return f"{text}\n  {self.hint}" if self.hint else text


@dataclass(eq=False)
class BudgetError(AdomniaError):
    """The question costs more than what is left of a budget.

    >>> BudgetError("the budget does not allow this").exit_code
    3
    """

    exit_code = 3
    http_status = 402
    sqlstate = "53400"


@dataclass(eq=False)
class NotAllowedError(AdomniaError):
    """This person may not do that.

    >>> NotAllowedError("this is not an analyst of this data").http_status
    403
    """

    exit_code = 4
    http_status = 403
    sqlstate = "42501"


@dataclass(eq=False)
class CheckError(AdomniaError):
    """A check for the curator found something; nothing was changed.

    >>> CheckError("the released numbers differ from the data").exit_code
    6
    """

    exit_code = 6
    http_status = 409
    sqlstate = "23514"


@dataclass(eq=False)
class MachineryError(AdomniaError):
    """The machinery failed: nothing was answered, and what was reserved stays spent.

    >>> MachineryError("the data cannot be read").sqlstate
    'XX000'
    """


@dataclass(eq=False)
class LedgerError(MachineryError):
    """The journal is damaged, or cannot be read or written.

    >>> isinstance(LedgerError("entry 3 is missing"), MachineryError)
    True
    """

    sqlstate = "XX001"


@dataclass(eq=False)
class CancelledError(MachineryError):
    """The question was ended by whoever asked it; what was reserved stays spent.

    >>> CancelledError("the question was ended").sqlstate
    '57014'
    """

    http_status = 409
    sqlstate = "57014"


def _pointer(sql: str, position: int) -> list[str]:
    """The line of the statement that holds `position`, and a caret beneath it."""
    position = max(0, min(position, len(sql)))
    start = sql.rfind("\n", 0, position) + 1
    end = sql.find("\n", position)
    line = sql[start : end if end >= 0 else len(sql)]
    return [f"  {line}", "  " + " " * (position - start) + "^"]
