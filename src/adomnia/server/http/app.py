"""The application: operations as routes, the OpenAPI document, and the console's pages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from importlib.metadata import version

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route, Router

from adomnia.server.accounts import Person
from adomnia.server.http.error_responses import as_json, refuse, refuse_http
from adomnia.server.http.events import RunningQuestions
from adomnia.server.http.openapi import document
from adomnia.server.http.operations import OPERATIONS, ROOT, HttpOperation
from adomnia.server.http.request_context import RequestContext, credentials, read_body, read_query
from adomnia.server.service import Service

__all__ = ["app"]

Endpoint = Callable[[Request], Awaitable[Response]]

NOBODY = Person("", "")


def app(service: Service, console_routes: Sequence[BaseRoute] = ()) -> Starlette:
    """Everything that HTTP reaches of a service."""
    described = as_json(document(OPERATIONS, version("adomnia")))

    async def openapi(_: Request) -> Response:
        return described

    operations = [
        Route(operation.path, _endpoint(service, operation), methods=[operation.method])
        for operation in OPERATIONS
    ]
    made = Starlette(
        routes=[
            Mount(ROOT, Router(operations, redirect_slashes=False)),  # no page lies there
            Route("/openapi.json", openapi, methods=["GET"]),
            *console_routes,
        ],
        exception_handlers={HTTPException: refuse_http},
    )
    made.router.redirect_slashes = False  # it would lead to whatever host the request names
    made.state.running = RunningQuestions()
    return made


def _endpoint(service: Service, operation: HttpOperation) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        try:
            return await operation.handle(await _context(service, operation, request))
        except ClientDisconnect:
            raise
        except Exception as error:  # its text could quote data, so a traceback must not be logged
            return refuse(error)

    return endpoint


async def _context(service: Service, operation: HttpOperation, request: Request) -> RequestContext:
    person = NOBODY if operation.is_open else await credentials(service, request)
    query = read_query(request, operation.query)
    body = None if operation.body is None else await read_body(request, operation.body)
    return RequestContext(service, request, person, body, query)
