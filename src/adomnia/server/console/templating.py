"""The console's templates, and the files that lie beside them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from adomnia.present.templating import FOLDER, environment

__all__ = ["ConsoleTemplates"]

HERE = Path(__file__).parent
SHARED = ("palette.css", "drawing.css")
TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


class ConsoleTemplates:
    """The templates and static files of the console, read once."""

    def __init__(self) -> None:
        files = [*(HERE / "static").iterdir(), *(FOLDER / name for name in SHARED)]
        self._files = {path.name: path.read_bytes() for path in files}
        self._templates = environment(HERE / "templates")
        self._templates.globals["static"] = self._address

    def page(self, template: str, facts: Mapping[str, Any]) -> str:
        """The HTML of a template."""
        return self._templates.get_template(template).render(facts)

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
