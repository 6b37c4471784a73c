"""The address of a file on a web server or in an object store, and what of it may be shown."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

__all__ = ["FILE_SCHEMES", "file_name", "is_file_address", "shown_file_address"]

FILE_SCHEMES = ("https", "http", "s3")
PLACE = re.compile(r"[\w.-]+(:\d{1,5})?|\[[0-9A-Fa-f:.]+\](:\d{1,5})?")


def is_file_address(source: str) -> bool:
    """Whether a source is a file at an address.

    >>> is_file_address("https://data.example/people.parquet"), is_file_address("people.parquet")
    (True, False)
    """
    scheme, found, _ = source.partition("://")
    return bool(found) and scheme.lower() in FILE_SCHEMES


def shown_file_address(source: str) -> str:
    """An address as it may be shown: without names, passwords, keys and signatures; nothing of one
    that is badly written, as a piece of a password may stand anywhere in it.

    >>> shown_file_address("https://me:secret@data.example/a/people.parquet?sig=abc")
    'https://data.example/a/people.parquet'
    >>> shown_file_address("https://me:se/cret@data.example/people.parquet")
    'https://…'
    """
    scheme = source.partition("://")[0].lower()
    try:
        parts = urlsplit(source)
        place = parts.netloc.rpartition("@")[2]
    except ValueError:
        return f"{scheme}://…"
    if "@" in parts.path or "@" in parts.fragment or not PLACE.fullmatch(place):
        return f"{scheme}://…"
    return f"{scheme}://{place}{parts.path}"


def file_name(source: str) -> str:
    """The name of the file.

    >>> file_name("s3://key:secret@bucket/year=2020/people.parquet?region=eu-central-1")
    'people.parquet'
    """
    return unquote(shown_file_address(source).rpartition("/")[2])
