"""Signing in and out."""

from __future__ import annotations

import math
import re

from starlette.responses import RedirectResponse, Response

from adomnia.errors import NotAllowedError
from adomnia.server.console.console import PageContext, cookie, give
from adomnia.server.login_limits import TooManyError

__all__ = ["leave", "receive", "show"]

_LOCAL = re.compile(r"/(?:[\w-][\w./-]*)?")
"""An address of this console: a path, and never another host."""


async def show(context: PageContext) -> Response:
    """The form, or the first page for somebody who is signed in already."""
    target = _local(context.request.query_params.get("next", "/"))
    if context.someone is not None:
        return RedirectResponse(target, 303)
    return await context.page("sign_in.html", target=target, name="", error=None)


async def receive(context: PageContext) -> Response:
    """Who comes with the right secret gets a session with a new name."""
    name, target = context.form.get("name", ""), _local(context.form.get("next", "/"))
    client = context.request.client
    try:
        person = await context.service.log_in(
            name, context.form.get("secret", ""), client.host if client else ""
        )
    except NotAllowedError as error:
        shown = {"target": target, "name": name[:64], "error": error}
        refused = await context.page("sign_in.html", error.http_status, **shown)
        if isinstance(error, TooManyError):
            refused.headers["Retry-After"] = str(math.ceil(error.seconds))
        return refused
    context.console.sessions.end(context.name)
    response = RedirectResponse(target, 303)
    give(response, context.request, context.console.sessions.begin(person))
    return response


async def leave(context: PageContext) -> Response:
    """End the session, here and not only in the browser."""
    context.console.sessions.end(context.name)
    response = RedirectResponse("/sign-in", 303)
    response.delete_cookie(cookie(context.request), secure=context.request.url.scheme == "https")
    return response


def _local(path: str) -> str:
    return path if _LOCAL.fullmatch(path) and "//" not in path else "/"
