"""Pictures for the docs, made small: a screenshot has few colours, so a palette holds them."""

from __future__ import annotations

import struct
import zlib

import numpy as np
from numpy.typing import NDArray

START = b"\x89PNG\r\n\x1a\n"
COLOURS, RARE = 256, 64


def small(png: bytes) -> bytes:
    """The picture with at most 256 colours; other shades go to the nearest of these."""
    pixels = _pixels(png)
    shades, where, many = np.unique(
        pixels.reshape(-1, 3), axis=0, return_inverse=True, return_counts=True
    )
    kept = _palette(shades, many)
    apart = shades[:, None, :].astype(int) - kept[None, :, :]
    places = (apart**2).sum(axis=2).argmin(axis=1)[where.reshape(-1)]
    rows = places.astype(np.uint8).reshape(pixels.shape[:2])
    data = np.pad(rows, ((0, 0), (1, 0))).tobytes()  # each row begins with its filter: none
    head = struct.pack(">IIBBBBB", rows.shape[1], rows.shape[0], 8, 3, 0, 0, 0)
    parts = [(b"IHDR", head), (b"PLTE", kept.tobytes()), (b"IDAT", zlib.compress(data, 9))]
    return START + b"".join(_chunk(*part) for part in [*parts, (b"IEND", b"")])


def _palette(shades: NDArray[np.uint8], many: NDArray[np.int_]) -> NDArray[np.uint8]:
    """Mostly the frequent shades; the rest are those that lie farthest from all of these."""
    kept = list(np.argsort(-many)[: COLOURS - RARE])
    apart = ((shades[:, None, :].astype(int) - shades[kept]) ** 2).sum(axis=2).min(axis=1)
    for _ in range(RARE):
        kept.append(int(apart.argmax()))
        apart = np.minimum(apart, ((shades.astype(int) - shades[kept[-1]]) ** 2).sum(axis=1))
    return shades[kept]


def _chunk(kind: bytes, data: bytes) -> bytes:
    body = kind + data
    return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))


def _pixels(png: bytes) -> NDArray[np.uint8]:
    """Rows of red, green and blue; a screenshot has eight bits of each, and nothing interlaced."""
    chunks, at = [], len(START)
    while at < len(png):
        (size,) = struct.unpack(">I", png[at : at + 4])
        chunks.append((png[at + 4 : at + 8], png[at + 8 : at + 8 + size]))
        at += 12 + size
    width, height, depth, kind = struct.unpack(">IIBB", chunks[0][1][:10])
    assert (depth, kind in (2, 6)) == (8, True)
    deep = 3 if kind == 2 else 4
    packed = zlib.decompress(b"".join(data for name, data in chunks if name == b"IDAT"))
    lines = np.frombuffer(packed, np.uint8).reshape(height, 1 + width * deep)
    rows = np.zeros((height + 1, width, deep), np.uint8)
    for place, line in enumerate(lines, 1):
        rows[place] = _unfiltered(int(line[0]), line[1:].reshape(width, deep), rows[place - 1])
    return rows[1:, :, :3]


def _unfiltered(kind: int, line: NDArray[np.uint8], above: NDArray[np.uint8]) -> NDArray[np.uint8]:
    if kind == 0:
        return line
    if kind == 1:
        return np.cumsum(line, axis=0, dtype=np.uint8)
    if kind == 2:
        return line + above
    above_bytes, deep = bytes(above.reshape(-1)), line.shape[1]
    found = _one_by_one(kind, bytes(line.reshape(-1)), above_bytes, deep)
    return np.frombuffer(found, np.uint8).reshape(line.shape)


def _one_by_one(kind: int, line: bytes, above: bytes, deep: int) -> bytes:
    """The filters that look at the byte before: in plain numbers, which is quickest here."""
    out, upper = bytearray(deep + len(line)), bytes(deep) + above
    for place, part in enumerate(line):
        left, up, corner = out[place], upper[place + deep], upper[place]
        guess = (left + up) // 2 if kind == 3 else _paeth(left, up, corner)
        out[place + deep] = (part + guess) & 255
    return bytes(out[deep:])


def _paeth(left: int, up: int, corner: int) -> int:
    base = left + up - corner
    far, farther, farthest = abs(base - left), abs(base - up), abs(base - corner)
    if far <= farther and far <= farthest:
        return left
    return up if farther <= farthest else corner
