"""The books over HTTP: budgets, receipts, the ledger and what was published.

An analyst sees their own entries, counted by themselves, so that the numbers do not tell how much
others have asked. A curator sees all entries. The recorded answers are shown to nobody.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from starlette.responses import Response

from adomnia.curator.ledger_view import Entry, exact_text
from adomnia.curator.ledger_view import receipt as receipt_of
from adomnia.server.accounts import Person
from adomnia.server.http.error_responses import MissingError, as_json
from adomnia.server.http.request_context import RequestContext
from adomnia.server.service import Service

__all__ = ["budget", "ledger", "receipt", "releases"]


async def budget(context: RequestContext) -> Response:
    """What is spent and left: an analyst's own, or everybody's."""
    return as_json(await context.service.run(_budget, context.service, context.person))


def _budget(service: Service, person: Person) -> dict[str, Any]:
    session, state = service.session(person), service.database.budget()
    left = {name: str(value) for name, value in session.remaining().items()}
    own = {name: part for name, part in state["analysts"].items() if name == session.analyst}
    return {
        "name": person.name,
        "role": person.role,
        "remaining": left,
        "data": state["data"] if person.is_curator else None,
        "analysts": state["analysts"] if person.is_curator else own,
    }


async def receipt(context: RequestContext) -> Response:
    """What was paid under a receipt, and whether it was answered."""
    found = await context.service.run(_receipt, context, context.request.path_params["receipt"])
    if found is None:
        raise MissingError("there is no such receipt of yours", "GET /v1/ledger lists them")
    return as_json(found)


def _receipt(context: RequestContext, wanted: str) -> dict[str, Any] | None:
    journal = context.service.database.desk.journal
    use = journal.account().use(wanted)
    entry = None if use is None else journal.reservation(wanted)
    if use is None or entry is None:
        return None
    paid = _paid(entry)
    if not (context.person.is_curator or use.analyst == context.asks_as):
        if not paid["statement"].startswith("RELEASE "):
            return None
        # What is published answers everybody for nothing; what it cost is not theirs to know.
        paid |= {"analyst": context.asks_as, "cost": {}, "event": {"event": "free"}}
    return {**paid, "answered": bool(use.answered) or not paid["cost"]}


async def ledger(context: RequestContext) -> Response:
    """Entries of the ledger, a page at a time."""
    return as_json(await context.service.run(_ledger, context))


def _ledger(context: RequestContext) -> dict[str, Any]:
    after, limit = context.query["after"], context.query["limit"]
    everything = context.service.database.ledger(("reserved",))
    seen = everything if context.person.is_curator else list(_own(everything, context.asks_as))
    page = [
        {**_described(entry), "number": number}
        for number, entry in enumerate(seen[after : after + limit], after + 1)
    ]
    return {"entries": page, "next": after + limit if after + limit < len(seen) else None}


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
        }
    return facts


def _paid(entry: Entry) -> dict[str, Any]:
    body, loss = entry.body, entry.head["loss"]
    return {
        "receipt": receipt_of(entry),
        "at": entry.at,
        "analyst": entry.head["analyst"],
        "statement": body["statement"],
        "cost": {name: loss[name] for name in ("epsilon", "rho", "delta") if name in loss},
        "event": body["event"],
    }


async def releases(context: RequestContext) -> Response:
    """What was published: private tables, and statements whose exact answers are public."""
    entries = await context.service.run(context.service.database.ledger)
    return as_json({"releases": list(_releases(entries))})


def _releases(entries: Iterable[Entry]) -> Iterator[dict[str, Any]]:
    reserved: dict[str, Entry] = {}
    for entry in entries:
        if entry.kind == "reserved":
            reserved[receipt_of(entry)] = entry
        if entry.kind == "prior" and "sql" in entry.head["published"]:
            yield _release(entry, "exact", _published(entry), [])
        if entry.kind == "answered":
            paid = reserved[entry.head["receipt"]].body
            tables = paid["use"]["parts"][0].get("marginals")  # of a release alone
            if tables is not None:
                yield _release(entry, "private", paid["statement"], tables)


def _release(entry: Entry, kind: str, statement: str, tables: list[list[str]]) -> dict[str, Any]:
    return {"kind": kind, "at": entry.at, "statement": statement, "tables": tables}


def _published(entry: Entry) -> str:
    return exact_text(entry.head["published"])
