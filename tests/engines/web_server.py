"""A web server of one's own, on this machine: it sends ranges, and does whatever it is told."""

from __future__ import annotations

import re
import threading
from base64 import b64encode
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Shelf:
    """What a server has: files by their paths, and how it behaves."""

    def __init__(self):
        self.files, self.moved, self.asked = {}, {}, []
        self.ranges, self.tags, self.password, self.broken = True, True, None, 0
        self.change_after = None
        self.url = ""

    def put(self, path, content):
        """Have a file at a path."""
        self.files[path] = content
        return self.url + path


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_HEAD(self):
        self._answer(body=False)

    def do_GET(self):
        self._answer(body=True)

    def log_message(self, *_):
        pass

    def _answer(self, body):
        shelf = self.server.shelf
        path = self.path.partition("?")[0]
        shelf.asked.append((self.path, dict(self.headers)))
        if shelf.broken:
            shelf.broken -= 1
            self.close_connection = True
            return
        if shelf.change_after is not None and len(shelf.asked) > shelf.change_after:
            shelf.files[path] = shelf.files[path][:4] + shelf.files[path][:-4] + b"PAR1"
        said = self.headers.get("Authorization")
        wanted = shelf.password and "Basic " + b64encode(shelf.password.encode()).decode()
        if path in shelf.moved:
            self._send(302, b"", {"Location": shelf.moved[path]})
        elif wanted and said != wanted:
            self._send(401, b"", {})
        elif path not in shelf.files:
            self._send(404, b"not here: secret", {})
        else:
            self._file(shelf, shelf.files[path], body)

    def _file(self, shelf, content, body):
        tag = {"ETag": f'"{hash(content)}"'} if shelf.tags else {}
        found = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if found is None or not shelf.ranges:
            self._send(200, content, tag | {"Last-Modified": "Mon, 01 Jan 2024 00:00:00 GMT"}, body)
            return
        first, last = int(found[1]), min(int(found[2]), len(content) - 1)
        told = {"Content-Range": f"bytes {first}-{last}/{len(content)}"}
        self._send(206, content[first : last + 1], tag | told, body)

    def _send(self, status, content, headers, body=True):
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        if body:
            self.wfile.write(content)


@contextmanager
def serving():
    """A server that runs while the block does."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    server.shelf = shelf = Shelf()
    shelf.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield shelf
    finally:
        server.shutdown()
        server.server_close()
