"""What the ledger shows over HTTP: budgets, receipts, entries and what was published.

An analyst sees their own entries, counted by themselves, so that the numbers do not tell how much
others have asked. A curator sees all entries. The recorded answers are shown to nobody.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from starlette.responses import Response

from adomnia.curator.data.editions import prior_edition, use_edition
from adomnia.curator.ledger_view import Entry, exact_text
from adomnia.curator.ledger_view import receipt as receipt_of
from adomnia.server.accounts import Person
from adomnia.server.http.error_responses import MissingError, as_json
from adomnia.server.http.request_context import RequestContext
from adomnia.server.http.requests import LedgerQuery
from adomnia.server.http.responses import (
    BudgetResponse,
    BudgetState,
    LedgerEntry,
    LedgerResponse,
    ReceiptResponse,
    ReleaseEntry,
    ReleasesResponse,
)
from adomnia.server.service import Service

__all__ = ["budget", "ledger", "receipt", "releases"]


async def budget(context: RequestContext) -> Response:
    """What is spent and left: an analyst's own, or everybody's."""
    return as_json(await context.service.run(_budget, context.service, context.person))


def _budget(service: Service, person: Person) -> BudgetResponse:
    session, state = service.session(person), service.database.budget()
    left = {name: str(value) for name, value in session.remaining().items()}
    data = BudgetState(**state["data"]) if person.is_curator else None
    analysts = {
        name: BudgetState(**part)
        for name, part in state["analysts"].items()
        if person.is_curator or name == session.analyst
    }
    return BudgetResponse(person.name, person.role, left, data, analysts)


async def receipt(context: RequestContext) -> Response:
    """What was paid under a receipt, and whether it was answered."""
    found = await context.service.run(_receipt, context, context.request.path_params["receipt"])
    if found is None:
        raise MissingError("there is no such receipt of yours", "GET /v1/ledger lists them")
    return as_json(found)


def _receipt(context: RequestContext, wanted: str) -> ReceiptResponse | None:
    database = context.service.database
    use = database.account().use(wanted)
    entry = None if use is None else database.reservation(wanted)
    if use is None or entry is None:
        return None
    paid = _paid(entry)
    if not (context.person.is_curator or use.analyst == context.asks_as):
        if not paid["statement"].startswith("RELEASE "):
            return None
        # What is published answers everybody for nothing; what it cost is not theirs to know.
        paid |= {"analyst": context.asks_as, "cost": {}, "event": {"event": "free"}}
    return ReceiptResponse(**paid, answered=bool(use.answered) or not paid["cost"])


async def ledger(context: RequestContext) -> Response:
    """Entries of the ledger, a page at a time."""
    return as_json(await context.service.run(_ledger, context))


def _ledger(context: RequestContext) -> LedgerResponse:
    query: LedgerQuery = context.query
    first, last = query.after, query.after + query.limit
    everything = context.service.database.ledger(["reserved"])
    seen = everything if context.person.is_curator else list(_own(everything, context.asks_as))
    page = [
        LedgerEntry(number=number, **_described(entry))
        for number, entry in enumerate(seen[first:last], first + 1)
    ]
    return LedgerResponse(page, last if last < len(seen) else None)


def _own(entries: Iterable[Entry], analyst: str) -> Iterator[Entry]:
    """What one analyst has reserved, the answers to it, and what was told again."""
    receipts: set[str] = set()
    for entry in entries:
        if entry.kind in ("reserved", "repeated") and entry.head["analyst"] == analyst:
            receipts.add(receipt_of(entry))
            yield entry
        if entry.kind == "answered" and entry.head["receipt"] in receipts:
            yield entry
        if entry.kind == "budget" and entry.head["name"] == analyst:
            yield entry


def _described(entry: Entry) -> dict[str, Any]:
    """An entry without what was measured: that belongs to whoever paid for it."""
    facts: dict[str, Any] = {"at": entry.at, "kind": entry.kind}
    if entry.kind == "reserved":
        return facts | _paid(entry)
    if entry.kind == "answered":
        return facts | {"receipt": entry.head["receipt"]}
    if entry.kind == "repeated":
        return facts | {"analyst": entry.head["analyst"], "repeats": entry.head["receipts"]}
    if entry.kind == "budget":
        head = entry.head
        said = {name: head[name] for name in ("old", "new", "by")}
        return facts | {"budget": head["name"], **said}
    if entry.kind == "prior":
        return facts | {
            "statement": _published(entry),
            "repriced": len(entry.head["prices"]),
            "accepted": entry.head["accepted"],
            "edition": prior_edition(entry.head["published"]),
        }
    return facts | ({"edition": entry.head["number"]} if entry.kind == "edition" else {})


def _paid(entry: Entry) -> dict[str, Any]:
    body, loss = entry.body, entry.head["loss"]
    return {
        "receipt": receipt_of(entry),
        "at": entry.at,
        "analyst": entry.head["analyst"],
        "statement": body["statement"],
        "cost": {name: loss[name] for name in ("epsilon", "rho", "delta") if name in loss},
        "event": body["event"],
        "edition": use_edition(body),
    }


async def releases(context: RequestContext) -> Response:
    """What was published: private tables, and statements whose exact answers are public."""
    entries = await context.service.run(context.service.database.ledger)
    return as_json(ReleasesResponse(list(_releases(entries))))


def _releases(entries: Iterable[Entry]) -> Iterator[ReleaseEntry]:
    reserved: dict[str, Entry] = {}
    for entry in entries:
        if entry.kind == "reserved":
            reserved[receipt_of(entry)] = entry
        if entry.kind == "prior" and "sql" in entry.head["published"]:
            yield ReleaseEntry("exact", entry.at, _published(entry), [])
        if entry.kind == "answered":
            paid = reserved[entry.head["receipt"]].body
            tables = paid["use"]["parts"][0].get("marginals")  # of a release alone
            if tables is not None:
                yield ReleaseEntry("private", entry.at, paid["statement"], tables)


def _published(entry: Entry) -> str:
    return exact_text(entry.head["published"])
