"""How pages look: templates that escape what they are given, and files that lie beside them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

__all__ = ["ConsoleTemplates"]

HERE = Path(__file__).parent
TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


class ConsoleTemplates:
    """The templates and static files of the console, read once."""

    def __init__(self) -> None:
        self._files = {path.name: path.read_bytes() for path in (HERE / "static").iterdir()}
        self._made = Environment(
            loader=FileSystemLoader(HERE / "templates"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._made.globals["static"] = self._address
        self._made.filters |= {
            "amount": formatting.amount,
            "amounts": formatting.symbol_amounts,
            "drawn": Markup,  # only for pictures that we drew, with what is in them escaped
            "moment": formatting.moment,
            "one_line": formatting.one_line,
            "value": formatting.value,
        }

    def page(self, template: str, facts: Mapping[str, Any]) -> str:
        """The HTML of a template."""
        return self._made.get_template(template).render(facts)

    def static(self) -> Route:
        """The route of the files; their addresses change with their content."""
        return Route("/static/{name}", self._file, methods=["GET"])

    async def _file(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in self._files:
            return Response("there is no such file", 404, media_type="text/plain")
        headers = {
            "Cache-Control": "public, max-age=31536000, immutable",
            "X-Content-Type-Options": "nosniff",
        }
        kind = TYPES[Path(name).suffix]
        return Response(self._files[name], headers=headers, media_type=kind)

    def _address(self, name: str) -> str:
        return f"/static/{name}?{hashlib.sha256(self._files[name]).hexdigest()[:12]}"
