"""The page of the ledger: every line that a person may see, to search and to take along."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from starlette.responses import JSONResponse, Response

from adomnia import formatting
from adomnia.server.console.ledger_lines import KINDS, LedgerLine, lines, visible

if TYPE_CHECKING:
    from adomnia.server.accounts import Person
    from adomnia.server.console.console import PageContext
    from adomnia.server.service import Service

__all__ = ["as_csv", "as_json", "show"]

ON_A_PAGE = 50
HEAD = ("number", "at", "kind", "analyst", "statement", "cost", "noise", "receipt", "answered")


@dataclass(frozen=True)
class Search:
    """What is looked for: words of the statement or receipt, a kind, a person."""

    words: str = ""
    kind: str = ""
    who: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Search:
        """The search in an address."""
        kind = query.get("kind", "")
        asked = query.get("q", "").strip()[:200]
        return cls(asked, kind if kind in KINDS else "", query.get("who", "")[:80])

    def finds(self, line: LedgerLine) -> bool:
        """Whether a line is looked for."""
        text = f"{line.statement} {line.receipt} {line.analyst} {line.noise}".lower()
        return (
            all(word in text for word in self.words.lower().split())
            and self.kind in ("", line.kind)
            and self.who in ("", line.analyst, *line.shares)
        )

    def query(self, **more: object) -> str:
        """The search as the end of an address."""
        said = {"q": self.words, "kind": self.kind, "who": self.who, **more}
        return urlencode({name: value for name, value in said.items() if value})


async def show(context: PageContext) -> Response:
    """The newest lines first, with the mark of the chain."""
    search = Search.of(context.request.query_params)
    service = context.service
    seen = await service.run(_seen, service, context.person)
    chain = await service.run(context.console.chain_check.state)
    found = [line for line in reversed(seen) if search.finds(line)]
    pages = max(1, -(-len(found) // ON_A_PAGE))
    asked = context.request.query_params.get("page", "1")
    page = min(max(int(asked) if asked.isdecimal() and len(asked) < 9 else 1, 1), pages)
    return await context.page(
        "ledger.html",
        search=search,
        kinds=[kind for kind in KINDS if any(line.kind == kind for line in seen)],
        people=sorted({line.analyst for line in seen if line.analyst}),
        empty=not seen,
        found=found[(page - 1) * ON_A_PAGE : page * ON_A_PAGE],
        many=len(found),
        at=page,
        pages=pages,
        verified=chain,
    )


async def as_csv(context: PageContext) -> Response:
    """What the search finds, as CSV."""
    found = await _found(context)
    rows = [
        [formatting.symbol_amounts(v) if name == "cost" else v for name, v in _row(line)]
        for line in found
    ]
    return context.csv("ledger.csv", HEAD, rows)


async def as_json(context: PageContext) -> Response:
    """What the search finds, as JSON."""
    found = [line.to_json() for line in await _found(context)]
    headers = {"Content-Disposition": 'attachment; filename="ledger.json"'}
    return JSONResponse({"entries": found}, headers=headers)


async def _found(context: PageContext) -> list[LedgerLine]:
    search = Search.of(context.request.query_params)
    seen = await context.service.run(_seen, context.service, context.person)
    return [line for line in seen if search.finds(line)]


def _seen(service: Service, person: Person) -> list[LedgerLine]:
    return visible(lines(service.database), person)


def _row(line: LedgerLine) -> list[tuple[str, Any]]:
    facts = line.to_json()
    return [(name, facts[name]) for name in HEAD]
