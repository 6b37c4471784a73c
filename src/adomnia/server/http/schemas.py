"""The shapes of requests and answers, as JSON Schema: published in OpenAPI, and checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["ASK", "COMPONENTS", "KEY", "LEDGER_QUERY", "PLAN", "RECEIPT"]

Schema = Mapping[str, Any]


def _object(required: str, more: Schema | None = None, **properties: Schema) -> dict[str, Any]:
    """An object with these parts, those named in `required` always."""
    return {
        "type": "object",
        "properties": properties,
        "required": required.split(),
        **(more or {}),
    }


def _list(of: Schema) -> dict[str, Any]:
    return {"type": "array", "items": of}


def _maybe(kind: str) -> dict[str, Any]:
    return {"type": [kind, "null"]}


def _amount(about: str, most: float) -> dict[str, Any]:
    exact = r"^([1-9][0-9]{0,8}([.][0-9]{1,18}|/[1-9][0-9]{0,17})?|0[.][0-9]{0,17}[1-9]0{0,9})$"
    return {
        "description": f"{about}; as text it is exact: 1/3",
        "anyOf": [
            {"type": "number", "minimum": 1e-12, "maximum": most},
            {"type": "string", "pattern": exact},
        ],
    }


TEXT: Schema = {"type": "string"}
TRUTH: Schema = {"type": "boolean"}
WHOLE: Schema = {"type": "integer"}
RECEIPT: Schema = {"type": "string", "pattern": "^[0-9a-f]{32}$"}
KEY: Schema = {"type": "string", "pattern": "^[!-~]([ -~]{0,198}[!-~])?$"}
AMOUNTS: Schema = {
    "type": "object",
    "description": "Exact amounts by currency (epsilon, rho, delta), as fractions.",
    "additionalProperties": {"type": "string"},
}

_SQL = {"type": "string", "minLength": 1, "maxLength": 100_000, "format": "sql"}
_LOSSES = {
    "sql": _SQL,
    "epsilon": _amount("what to pay, with Laplace noise", 1e6),
    "rho": _amount("what to pay instead, with Gaussian noise (zCDP)", 1e6),
    "delta": _amount("for groups that are not declared; below one", 0.999999),
    "confidence": {"type": "number", "minimum": 0.5, "maximum": 0.999999, "default": 0.95},
}
_BOTH = {"required": ["epsilon", "rho"], "description": "has both epsilon and rho"}
_STRICT = {"additionalProperties": False, "not": _BOTH}

ASK: Schema = _object("sql", _STRICT, **_LOSSES)
PLAN: Schema = _object(
    "sql",
    _STRICT,
    **_LOSSES,
    margin={"type": "number", "minimum": 1e-6, "maximum": 1e12,
            "description": "instead of a loss: how far off the answer may be"},
)  # fmt: skip
LEDGER_QUERY: Mapping[str, Schema] = {
    "after": {"type": "integer", "minimum": 0, "maximum": 10**15, "default": 0},
    "limit": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100},
}

_STATE = _object(
    "spent remaining unit",
    spent=TEXT,
    remaining=TEXT,
    unit=TEXT,
    delta_spent=TEXT,
    delta_remaining=TEXT,
)
_BOUND = _object("value norm exact argument", value=TEXT, norm=TEXT, exact=TRUTH, argument=TEXT)
_UNITS = {
    "type": "object",
    "description": "In what the margins of each column are: as its values, or in rows, by which "
    "the rank of a quantile or the count of a mode may be off.",
    "additionalProperties": {"type": "string", "enum": ["value", "rows", "share"]},
}
_ALLOWED: Schema = {
    "type": ["object", "null"],
    "additionalProperties": TEXT,
    "description": "Amounts by name; null where there was, or is, none.",
}
_KINDS = ("opened", "reserved", "answered", "repeated", "prior", "budget")
_PAID = {
    "receipt": RECEIPT,
    "at": TEXT,
    "analyst": TEXT,
    "statement": TEXT,
    "cost": AMOUNTS,
    "event": {"type": "object", "description": "What was done, as the ledger keeps it."},
}

COMPONENTS: Mapping[str, Schema] = {
    "Ask": ASK,
    "Plan": PLAN,
    "Error": _object(
        "error",
        error=_object(
            "code message position hint",
            code={"type": "string", "description": "the kind of error"},
            message=TEXT,
            position={"type": ["integer", "null"], "description": "where in sql, from 0"},
            hint={"type": "string", "description": "what to do next"},
        ),
    ),
    "Answer": _object(
        "columns rows margins margin_units confidence spent remaining receipt notes",
        columns=_list(TEXT),
        rows=_list({"type": "array"}),
        margins={"type": "object", "additionalProperties": _list(_maybe("number"))},
        margin_units=_UNITS,
        confidence={"type": "number"},
        spent=AMOUNTS,
        remaining=AMOUNTS,
        receipt=TEXT,
        notes=_list(TEXT),
    ),
    "Forecast": _object(
        "mechanism margins margin_units confidence cells",
        epsilon=TEXT,
        rho=TEXT,
        delta=TEXT,
        mechanism=TEXT,
        sensitivity={"anyOf": [_BOUND, {"type": "null"}]},
        measurements=_list(_BOUND),
        margins={"type": "object", "additionalProperties": _maybe("number")},
        margin_units=_UNITS,
        confidence={"type": "number"},
        cells=WHOLE,
    ),
    "Budget": _object(
        "name role remaining data analysts",
        name=TEXT,
        role=TEXT,
        remaining=AMOUNTS,
        data={"anyOf": [_STATE, {"type": "null"}], "description": "for curators"},
        analysts={"type": "object", "additionalProperties": _STATE},
    ),
    "Schema": _object(
        "tables promise",
        tables=_list(
            _object(
                "name public attributes",
                name=TEXT,
                public=TRUTH,
                attributes=_list(
                    _object(
                        "name type nullable domain",
                        name=TEXT,
                        type=TEXT,
                        nullable=TRUTH,
                        domain={
                            "type": ["object", "null"],
                            "description": "values (and other), or low, high and step",
                        },
                    )
                ),
            )
        ),
        promise=_list(TEXT),
    ),
    "Receipt": _object("receipt at analyst statement cost event answered", answered=TRUTH, **_PAID),
    "Ledger": _object(
        "entries next",
        entries=_list(_object(
            "number at kind",
            number={"type": "integer", "description": "for an analyst: of their own entries"},
            kind={"type": "string", "enum": list(_KINDS)},
            repeats=_list(RECEIPT),
            repriced=WHOLE,
            accepted=TRUTH,
            budget={"type": ["string", "null"], "description": "whose; null is the data's"},
            old=_ALLOWED,
            new=_ALLOWED,
            by=TEXT,
            **_PAID,
        )),
        next={"type": ["integer", "null"], "description": "what to give as `after` for more"},
    ),
    "Releases": _object(
        "releases",
        releases=_list(
            _object(
                "kind at statement tables",
                kind={"type": "string", "enum": ["private", "exact"]},
                at=TEXT,
                statement=TEXT,
                tables=_list(_list(TEXT)),
            )
        ),
    ),
    "Health": _object("status", status={"type": "string", "enum": ["ok"]}),
    "Cancelled": _object("question message", question=TEXT, message=TEXT),
}  # fmt: skip
