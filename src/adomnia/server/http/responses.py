"""The shapes of answers, as OpenAPI publishes them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from adomnia.server.http.requests import ReceiptName

__all__ = [
    "AnswerResponse",
    "AttributeDescription",
    "BudgetResponse",
    "BudgetState",
    "CancelledResponse",
    "ErrorBody",
    "ErrorResponse",
    "ForecastResponse",
    "HealthResponse",
    "LedgerEntry",
    "LedgerResponse",
    "OmissionResponse",
    "ReceiptResponse",
    "ReleaseEntry",
    "ReleasesResponse",
    "SchemaResponse",
    "TableDescription",
]

Amounts = Annotated[
    dict[str, str],
    Meta(description="Exact amounts by currency (epsilon, rho, delta), as fractions."),
]
MarginUnits = Annotated[
    dict[str, Literal["value", "rows", "share"]],
    Meta(
        description="In what the margins of each column are: as its values, or in rows, by which "
        "the rank of a quantile or the count of a mode may be off."
    ),
]
Intervals = Annotated[
    dict[str, list[Annotated[list[float | str], Meta(min_length=2, max_length=2)] | None]],
    Meta(
        description="Of quantiles asked with error=interval: for each row between which values "
        "the exact one lies."
    ),
]
EditionNumber = Annotated[
    int | None, Meta(description="Which edition of the data; null where it is read in place.")
]

AllowedAmounts = Annotated[
    dict[str, str] | None, Meta(description="Amounts by name; null where there was, or is, none.")
]
EventRecord = Annotated[dict[str, Any], Meta(description="What was done, as the ledger keeps it.")]


class ErrorBody(Struct):
    """What went wrong."""

    code: Annotated[str, Meta(description="the kind of error")]
    message: str
    position: Annotated[int | None, Meta(description="where in sql, from 0")]
    hint: Annotated[str, Meta(description="what to do next")]


class ErrorResponse(Struct):
    """The one shape of everything that goes wrong."""

    error: ErrorBody


class OmissionResponse(Struct):
    """What cleaning or a bound leaves out: about how many, up to a margin; null is not known."""

    what: str
    says: str
    column: str | None
    count: int | None
    margin: int | None
    bound: int | None
    people: int | None


class AnswerResponse(Struct):
    """A private answer with its margins of error, what it cost and what is left."""

    columns: list[str]
    rows: list[list[Any]]
    margins: dict[str, list[float | None]]
    margin_units: MarginUnits
    intervals: Intervals
    confidence: float
    spent: Amounts
    remaining: Amounts
    receipt: str
    notes: list[str]
    edition: EditionNumber
    left_out: list[OmissionResponse]
    whole: dict[str, list[list[float] | None]]
    whole_beside: dict[str, str | None]


class SensitivityBound(Struct):
    """By how much one unit can change a measurement, and why."""

    measurement: str
    value: str
    norm: str
    exact: bool
    argument: str


class EstimatedMarginBody(Struct):
    """About how far a column will be off, on about so many rows as are known of."""

    margin: Annotated[float, Meta(description="in a group of middling size")]
    most: Annotated[float, Meta(description="in the group where it is most")]
    unit: Annotated[
        Literal["value", "share"],
        Meta(description="as the column itself; of a quantile, a share of the rows"),
    ]
    by_group: list[float] | UnsetType = UNSET


class EstimateBasis(Struct):
    """About how many rows there are, by what that is known, and what else is assumed."""

    source: Literal["declared rows", "receipt"]
    rows: Annotated[list[int], Meta(description="in each group, or of one where all are alike")]
    assumes: list[str]
    receipt: ReceiptName | UnsetType = UNSET
    groups: Annotated[list[list[Any]], Meta(description="the keys of each")] | UnsetType = UNSET


EstimatedMargins = Annotated[
    dict[str, EstimatedMarginBody],
    Meta(description="For margins that depend on the number of rows; the answer's own decide."),
]


class ForecastResponse(Struct):
    """What is expected of an answer, without the data."""

    mechanism: str
    margins: dict[str, float | None]
    margin_units: MarginUnits
    confidence: float
    cells: int
    epsilon: str | UnsetType = UNSET
    rho: str | UnsetType = UNSET
    delta: str | UnsetType = UNSET
    sensitivity: SensitivityBound | UnsetType | None = UNSET
    measurements: list[SensitivityBound] | UnsetType = UNSET
    left_out: list[OmissionResponse] | UnsetType = UNSET
    estimated_margins: EstimatedMargins | UnsetType = UNSET
    estimated_from: EstimateBasis | UnsetType = UNSET


class BudgetState(Struct):
    """What is spent of one budget, and left."""

    spent: str
    remaining: str
    unit: str
    delta_spent: str | UnsetType = UNSET
    delta_remaining: str | UnsetType = UNSET


class BudgetResponse(Struct):
    """What somebody may still spend."""

    name: str
    role: str
    remaining: Amounts
    data: Annotated[BudgetState | None, Meta(description="for curators")]
    analysts: dict[str, BudgetState]


class AttributeDescription(Struct):
    """A column and its public domain."""

    name: str
    type: str
    nullable: bool
    domain: Annotated[
        dict[str, Any] | None, Meta(description="values (and other), or low, high and step")
    ]
    description: Annotated[str | None, Meta(description="what it is, in the curator's words")] = (
        None
    )


class TableDescription(Struct):
    """A table and its columns."""

    name: str
    public: bool
    attributes: list[AttributeDescription]
    description: str | None = None
    key: Annotated[str, Meta(description="names a row; to be joined on")] | UnsetType = UNSET
    references: (
        Annotated[dict[str, str], Meta(description="columns that hold the key of another table")]
        | UnsetType
    ) = UNSET
    max_rows: (
        Annotated[int | None, Meta(description="of one unit so many rows are used; null is found")]
        | UnsetType
    ) = UNSET
    sql: Annotated[str, Meta(description="what a view stands for")] | UnsetType = UNSET


class SchemaResponse(Struct):
    """What may be asked about, and the promise in words."""

    tables: list[TableDescription]
    promise: list[str]
    units: (
        Annotated[list[str], Meta(description="of several tables those whose rows are units")]
        | UnsetType
    ) = UNSET


class ReceiptResponse(Struct):
    """What was paid under a receipt, and whether it was answered."""

    receipt: ReceiptName
    at: str
    analyst: str
    statement: str
    cost: Amounts
    event: EventRecord
    edition: EditionNumber
    answered: bool


class LedgerEntry(Struct):
    """An entry of the ledger; which parts it has depends on its kind."""

    number: Annotated[int, Meta(description="for an analyst: of their own entries")]
    at: str
    kind: Literal[
        "opened", "reserved", "answered", "repeated", "prior", "budget", "edition", "blocks"
    ]
    receipt: ReceiptName | UnsetType = UNSET
    analyst: str | UnsetType = UNSET
    statement: str | UnsetType = UNSET
    cost: Amounts | UnsetType = UNSET
    event: EventRecord | UnsetType = UNSET
    edition: EditionNumber | UnsetType = UNSET
    repeats: list[ReceiptName] | UnsetType = UNSET
    repriced: int | UnsetType = UNSET
    accepted: bool | UnsetType = UNSET
    budget: Annotated[str | None, Meta(description="whose; null is the data's")] | UnsetType = UNSET
    old: AllowedAmounts | UnsetType = UNSET
    new: AllowedAmounts | UnsetType = UNSET
    by: str | UnsetType = UNSET


class LedgerResponse(Struct):
    """Some entries of the ledger."""

    entries: list[LedgerEntry]
    next: Annotated[int | None, Meta(description="what to give as `after` for more")]


class ReleaseEntry(Struct):
    """Something that was published."""

    kind: Literal["private", "exact"]
    at: str
    statement: str
    tables: list[list[str]]


class ReleasesResponse(Struct):
    """Everything that was published."""

    releases: list[ReleaseEntry]


class HealthResponse(Struct):
    """Questions can be paid for."""

    status: Literal["ok"]


class CancelledResponse(Struct):
    """A question that ends."""

    question: str
    message: str
