"""The console: who asks for a page, whether a form is ours, and what a browser may do."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from adomnia.errors import AdomniaError, MachineryError, NotAllowedError
from adomnia.limits import MAX_FORM_BODY
from adomnia.present.budget_gauge import Gauge
from adomnia.present.csv_export import csv_text
from adomnia.server.console.chain_check import ChainCheck
from adomnia.server.console.gauges import own_gauge
from adomnia.server.console.jobs import Jobs
from adomnia.server.console.sessions import LONGEST, BrowserSessions
from adomnia.server.console.templating import ConsoleTemplates

if TYPE_CHECKING:
    from adomnia.server.accounts import Person
    from adomnia.server.service import Service

__all__ = ["Console", "PageContext", "cookie", "give"]

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""What every answer carries, unless it says otherwise."""


@dataclass(frozen=True)
class PageContext:
    """One request: by whom (None where nobody is signed in), and what its form said."""

    console: Console
    request: Request
    name: str
    someone: Person | None
    form: Mapping[str, str]

    @property
    def service(self) -> Service:
        """Where questions are answered."""
        return self.console.service

    @property
    def person(self) -> Person:
        """Who is signed in; pages that need somebody are never shown to nobody."""
        assert self.someone is not None
        return self.someone

    @property
    def is_curator(self) -> bool:
        """Whether everything may be seen."""
        return self.someone is not None and self.someone.role == "curator"

    @property
    def wants_json(self) -> bool:
        """Whether a script asks, and not a form."""
        return "application/json" in self.request.headers.get("accept", "")

    async def page(self, template: str, status: int = 200, **facts: Any) -> Response:
        """A page of this console; whoever is signed in sees what they have left on top."""
        person = self.someone
        facts |= {
            "gauge": await self._gauge(),
            "person": person,
            "is_curator": self.is_curator,
            "token": self.console.sessions.token(self.name),
            "path": self.request.url.path,
        }
        return Response(
            self.console.templates.page(template, facts), status, media_type="text/html"
        )

    def csv(self, name: str, head: Sequence[str], rows: Iterable[Sequence[Any]]) -> Response:
        """A CSV file to be saved under this name."""
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return Response(csv_text(head, rows), headers=headers, media_type="text/csv; charset=utf-8")

    async def _gauge(self) -> Gauge | None:
        if self.someone is None:
            return None
        try:
            return await self.service.run(own_gauge, self.service, self.someone)
        except AdomniaError:  # the page itself says what is wrong
            return None

    async def problem(self, error: AdomniaError) -> Response:
        """A page that says what went wrong and what to do next."""
        return await self.page("problem.html", error.http_status, error=error)


View = Callable[[PageContext], Awaitable[Response]]


class Console:
    """What the pages share: the service, who is signed in, which questions run."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.sessions = BrowserSessions()
        self.jobs = Jobs(service)
        self.chain_check = ChainCheck(service)
        self.templates = ConsoleTemplates()

    def get(self, path: str, view: View, *, private: bool = True) -> Route:
        """A page to be read."""

        async def endpoint(request: Request) -> Response:
            context = await self._context(request)
            if private and context.someone is None:
                return _dressed(_to_sign_in(context), context)
            return _dressed(await _shown(view, context), context)

        return Route(path, endpoint, methods=["GET"])

    def post(self, path: str, view: View, *, private: bool = True) -> Route:
        """A form to be sent; it must carry the token of a page that this browser was given."""

        async def endpoint(request: Request) -> Response:
            context = await self._context(request, await _form(request))
            sent = context.form.get("token", "") or request.headers.get("x-token", "")
            if private and context.someone is None:
                return _dressed(_to_sign_in(context), context)
            if not self.sessions.accepts(context.name, sent):
                return _dressed(await context.problem(_STALE), context)
            return _dressed(await _shown(view, context), context)

        return Route(path, endpoint, methods=["POST"])

    async def _context(
        self, request: Request, form: Mapping[str, str] | None = None
    ) -> PageContext:
        name = request.cookies.get(cookie(request), "")
        person = self.sessions.person(name) if name else None
        if person is None:
            return PageContext(self, request, name or secrets.token_urlsafe(32), None, form or {})
        try:
            known = await self.service.run(self.service.accounts.still, person)
        except AdomniaError as error:
            raise HTTPException(error.http_status, error.message) from None
        if not known:
            self.sessions.end(name)  # the account is gone, or has another role or secret by now
            person = None
        return PageContext(self, request, name, person, form or {})


_STALE = NotAllowedError(
    "this form was not accepted",
    "it came from another page or is too old: go back, reload the page and send it again",
)


def cookie(request: Request) -> str:
    """The cookie's name; over TLS one that browsers tie to this host alone."""
    return "__Host-adomnia" if request.url.scheme == "https" else "adomnia"


def give(response: Response, request: Request, name: str) -> None:
    """Hand the browser its name; no script may read it and no other site send it."""
    secure = request.url.scheme == "https"
    response.set_cookie(
        cookie(request), name, int(LONGEST), secure=secure, httponly=True, samesite="strict"
    )


def _dressed(response: Response, context: PageContext) -> Response:
    for header, value in HEADERS.items():
        response.headers.setdefault(header, value)
    named = context.request.cookies.get(cookie(context.request))
    if not named and "set-cookie" not in response.headers:
        give(
            response, context.request, context.name
        )  # a stranger's name: it ties forms to a browser
    return response


def _to_sign_in(context: PageContext) -> Response:
    if context.wants_json:
        return JSONResponse({"error": {"message": "sign in first", "hint": "at /sign-in"}}, 401)
    path = context.request.url.path
    back = context.request.method == "GET" and path != "/"
    return RedirectResponse(f"/sign-in?next={quote(path)}" if back else "/sign-in", 303)


async def _shown(view: View, context: PageContext) -> Response:
    """What the view shows; a failure by its kind alone, since its text could quote data."""
    try:
        return await view(context)
    except AdomniaError as error:
        return await context.problem(error)
    except HTTPException:
        raise
    except Exception as error:
        kind, hint = type(error).__name__, "try again, and tell the curator if it stays so"
        return await context.problem(MachineryError(f"the machinery failed ({kind})", hint))


async def _form(request: Request) -> dict[str, str]:
    """The fields of a form or of a script's request; of several with one name the last."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MAX_FORM_BODY:
            raise HTTPException(413, "this is longer than a form may be")
    try:
        text = body.decode()
        return dict(parse_qsl(text, keep_blank_values=True, max_num_fields=50))
    except ValueError:
        raise HTTPException(400, "this form could not be read") from None
