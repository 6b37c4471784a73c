"""The shapes of requests: what is published in OpenAPI is what is checked."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, structs

__all__ = [
    "AskRequest",
    "EmptyQuery",
    "IdempotencyKey",
    "LedgerQuery",
    "PlanRequest",
    "QuestionName",
    "ReceiptName",
    "given",
]

END = r"$(?!\n)"
"""Python's `$` also matches before a last line end; JSON Schema's does not."""

_WHOLE, _SMALL = "[1-9][0-9]{0,8}([.][0-9]{1,18}|/[1-9][0-9]{0,17})?", "0[.][0-9]{0,17}[1-9]0{0,9}"

Number = Annotated[float, Meta(ge=1e-12, le=1e6)]
SmallNumber = Annotated[float, Meta(ge=1e-12, le=0.999999)]
ExactText = Annotated[str, Meta(pattern=f"^({_WHOLE}|{_SMALL}){END}")]

ReceiptName = Annotated[str, Meta(pattern="^[0-9a-f]{32}$")]
QuestionName = Annotated[str, Meta(pattern="^[0-9a-f]{32}$")]
IdempotencyKey = Annotated[
    str,
    Meta(
        pattern=f"^[!-~]([ -~]{{0,198}}[!-~])?{END}",
        description="1 to 200 printable characters, such as a UUID",
    ),
]


class AskRequest(Struct, forbid_unknown_fields=True, kw_only=True):
    """A question and what to pay for it: an epsilon or a rho."""

    sql: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=100_000,
            extra_json_schema={"format": "sql"},
            description="the statement, of at most 100,000 characters",
        ),
    ]
    epsilon: (
        Annotated[
            Number | ExactText,
            Meta(
                description="what to pay, with Laplace noise: a number from 1e-12 to 1e6, "
                "or text, which is exact: 1/3"
            ),
        ]
        | UnsetType
    ) = UNSET
    rho: (
        Annotated[
            Number | ExactText,
            Meta(
                description="what to pay instead, with Gaussian noise (zCDP): a number from 1e-12 "
                "to 1e6, or text, which is exact: 1/3"
            ),
        ]
        | UnsetType
    ) = UNSET
    delta: (
        Annotated[
            SmallNumber | ExactText,
            Meta(
                description="for groups that are not declared: a number from 1e-12 to 0.999999, "
                "or text, which is exact: 1/1000000"
            ),
        ]
        | UnsetType
    ) = UNSET
    confidence: Annotated[
        float,
        Meta(
            ge=0.5,
            le=0.999999,
            description="how often the margins shall hold: a number from 0.5 to 0.999999",
        ),
    ] = 0.95
    error: Annotated[
        Literal["rank", "value", "interval"],
        Meta(
            description="what shall be small of a quantile: the error of its rank, or of its "
            "value; or an interval of values around it"
        ),
    ] = "rank"

    def __post_init__(self) -> None:
        if self.epsilon is not UNSET and self.rho is not UNSET:
            raise ValueError("has both epsilon and rho")


class PlanRequest(AskRequest, forbid_unknown_fields=True, kw_only=True):
    """A question, and what would be paid for it or how far off its answer may be."""

    margin: (
        Annotated[
            float,
            Meta(
                ge=1e-6,
                le=1e12,
                description="instead of a loss: how far off the answer may be, from 1e-6 to 1e12",
            ),
        ]
        | UnsetType
    ) = UNSET


class LedgerQuery(Struct, forbid_unknown_fields=True):
    """Which entries of the ledger."""

    after: Annotated[
        int, Meta(ge=0, le=10**15, description="the number of the last entry that is known: from 0")
    ] = 0
    limit: Annotated[int, Meta(ge=1, le=1000, description="how many entries: from 1 to 1000")] = 100


class EmptyQuery(Struct, forbid_unknown_fields=True):
    """Nothing behind the question mark."""


def given(request: Struct) -> dict[str, Any]:
    """The parts of a request that were sent, or have a default, by name."""
    parts = structs.asdict(request)
    return {name: value for name, value in parts.items() if value is not UNSET}
