"""A file on a web server, read by ranges: as a stream in which one can move.

Every range must be of the file that was opened: of its size, and with its tag. Names and passwords
in the address are sent to its own host alone, and nothing of them is ever shown.
"""

from __future__ import annotations

import io
import re
import ssl
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any
from urllib.parse import SplitResult, unquote, urljoin, urlsplit

from adomnia.errors import MachineryError, PolicyError
from adomnia.storage.file_address import shown_file_address

__all__ = ["WebFile", "WebState"]

TIMEOUT = 60.0
"""Seconds without a byte after which a server has gone."""

TRIES, HOPS = 3, 5
"""How often a range is asked for where connections break, and how many times one is sent on."""

_RANGE = re.compile(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18})")


@dataclass(frozen=True)
class WebState:
    """What changes when the file does: its size, and the tag or time that the server gives it."""

    size: int
    tag: str


class WebFile(io.RawIOBase):
    """A file on a web server."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._shown = shown_file_address(url)
        self._url, self._headers = _apart(url)
        self._connection: HTTPConnection | None = None
        self._place = 0
        self.state = self._opened()

    def readable(self) -> bool:
        """It can be read."""
        return True

    def seekable(self) -> bool:
        """One can move in it."""
        return True

    def tell(self) -> int:
        """Where one is."""
        return self._place

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move."""
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self.state.size}[whence]
        self._place = max(0, start + offset)
        return self._place

    def readinto(self, buffer: Any) -> int:
        """Read as much as fits, in one range."""
        size = min(len(buffer), self.state.size - self._place)
        if size <= 0:
            return 0
        response, content = self._range(self._place, self._place + size - 1)
        if self._state(response) != self.state:
            raise MachineryError("the source changed while it was read", "load it again")
        if len(content) != size:
            raise MachineryError(f"the source {self._shown} was not sent whole", "load it again")
        buffer[:size] = content
        self._place += size
        return size

    def close(self) -> None:
        """Let go of the server."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        super().close()

    def _opened(self) -> WebState:
        """The state of the file, once the server does not send one on to another address."""
        for _ in range(HOPS):
            response, _ = self._range(0, 0)
            if response.status not in (301, 302, 303, 307, 308):
                return self._state(response)
            self._follow(response.headers.get("Location", ""))
        raise PolicyError(f"the source {self._shown} is sent on too often", "name where it is")

    def _follow(self, location: str) -> None:
        old, new = urlsplit(self._url), urlsplit(urljoin(self._url, location))
        if new.scheme not in ("http", "https") or (old.scheme, new.scheme) == ("https", "http"):
            raise PolicyError(
                f"the source {self._shown} is sent on to where it would not be encrypted",
                "name where it is",
            )
        if old.netloc != new.netloc:
            self._headers = {}  # who one is, is for the first host alone
        self._url, self._connection = new.geturl(), None

    def _range(self, first: int, last: int) -> tuple[HTTPResponse, bytes]:
        """What the server answers, and the bytes of a range."""
        for left in reversed(range(TRIES)):
            try:
                return self._asked(first, last)
            except (OSError, HTTPException) as error:
                self._connection, kind = None, type(error).__name__
                if not left:
                    break
        raise MachineryError(
            f"the source {self._shown} cannot be reached ({kind})", "is the server up?"
        )

    def _asked(self, first: int, last: int) -> tuple[HTTPResponse, bytes]:
        parts = urlsplit(self._url)
        self._connection = self._connection or _connected(parts)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        headers = {"Range": f"bytes={first}-{last}", "Accept-Encoding": "identity", **self._headers}
        self._connection.request("GET", target, headers=headers)
        response = self._connection.getresponse()
        content = response.read(last - first + 2) if response.status == 206 else b""
        if response.status != 206 or len(content) > last - first + 1:
            self._connection.close()  # what nobody asked for may be long
            self._connection = None
        return response, content

    def _state(self, response: HTTPResponse) -> WebState:
        """What a range says of the file that it is of."""
        if response.status == 200:
            raise PolicyError(
                f"the server of {self._shown} sends no parts of files",
                "download the file, and name it as the source",
            )
        found = _RANGE.fullmatch(response.headers.get("Content-Range", ""))
        if response.status != 206 or found is None:
            raise PolicyError(
                f"the source {self._shown} cannot be read (the server answers {response.status})",
                "check the address in [data], and who may read it",
            )
        tag = response.headers.get("ETag") or response.headers.get("Last-Modified") or ""
        return WebState(int(found[3]), tag)


def _apart(url: str) -> tuple[str, Mapping[str, str]]:
    """The address without who asks, and who asks as a header."""
    parts = urlsplit(url)
    who, at, place = parts.netloc.rpartition("@")
    if not at:
        return url, {}
    raw = ":".join(map(unquote, (*who.partition(":")[::2],)))
    headers = {"Authorization": f"Basic {b64encode(raw.encode()).decode()}"}
    return parts._replace(netloc=place).geturl(), headers


def _connected(parts: SplitResult) -> HTTPConnection:
    host = parts.hostname or ""
    if parts.scheme == "https":
        context = ssl.create_default_context()
        return HTTPSConnection(host, parts.port, timeout=TIMEOUT, context=context)
    return HTTPConnection(host, parts.port, timeout=TIMEOUT)
