"""Signing in and out."""

from __future__ import annotations

import math
import re

from starlette.responses import RedirectResponse, Response

from adomnia.errors import NotAllowedError
from adomnia.server.console.door import Visit, cookie, give
from adomnia.server.limits import TooManyError

__all__ = ["leave", "receive", "show"]

_LOCAL = re.compile(r"/(?:[\w-][\w./-]*)?")
"""An address of this console: a path, and never another host."""


async def show(visit: Visit) -> Response:
    """The form, or the first page for somebody who is signed in already."""
    target = _local(visit.request.query_params.get("next", "/"))
    if visit.someone is not None:
        return RedirectResponse(target, 303)
    return await visit.page("sign_in.html", target=target, name="", error=None)


async def receive(visit: Visit) -> Response:
    """Who comes with the right secret gets a session with a new name."""
    name, target = visit.form.get("name", ""), _local(visit.form.get("next", "/"))
    client = visit.request.client
    try:
        person = await visit.house.log_in(
            name, visit.form.get("secret", ""), client.host if client else ""
        )
    except NotAllowedError as error:
        shown = {"target": target, "name": name[:64], "error": error}
        refused = await visit.page("sign_in.html", error.http_status, **shown)
        if isinstance(error, TooManyError):
            refused.headers["Retry-After"] = str(math.ceil(error.seconds))
        return refused
    visit.console.sessions.end(visit.name)
    response = RedirectResponse(target, 303)
    give(response, visit.request, visit.console.sessions.begin(person))
    return response


async def leave(visit: Visit) -> Response:
    """End the session, here and not only in the browser."""
    visit.console.sessions.end(visit.name)
    response = RedirectResponse("/sign-in", 303)
    response.delete_cookie(cookie(visit.request), secure=visit.request.url.scheme == "https")
    return response


def _local(path: str) -> str:
    return path if _LOCAL.fullmatch(path) and "//" not in path else "/"
