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
from adomnia.server.house import House
from adomnia.server.http.events import Running
from adomnia.server.http.openapi import document
from adomnia.server.http.operations import OPERATIONS, ROOT, Operation
from adomnia.server.http.refusals import as_json, refuse, refuse_http
from adomnia.server.http.schemas import COMPONENTS
from adomnia.server.http.visit import Visit, credentials, read_body, read_query

__all__ = ["app"]

Endpoint = Callable[[Request], Awaitable[Response]]

NOBODY = Person("", "")


def app(house: House, console_routes: Sequence[BaseRoute] = ()) -> Starlette:
    """Everything that HTTP reaches in a house."""
    described = as_json(document(OPERATIONS, version("adomnia")))

    async def openapi(_: Request) -> Response:
        return described

    operations = [
        Route(operation.path, _endpoint(house, operation), methods=[operation.method])
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
    made.state.running = Running()
    return made


def _endpoint(house: House, operation: Operation) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        try:
            return await operation.handle(await _visit(house, operation, request))
        except ClientDisconnect:
            raise
        except Exception as error:  # its text could quote data, so a traceback must not be logged
            return refuse(error)

    return endpoint


async def _visit(house: House, operation: Operation, request: Request) -> Visit:
    person = NOBODY if operation.is_open else await credentials(house, request)
    query = read_query(request, operation.query)
    body = await read_body(request, COMPONENTS[operation.body]) if operation.body else {}
    return Visit(house, request, person, body, query)
