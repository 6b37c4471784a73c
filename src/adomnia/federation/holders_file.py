"""The file of holders: who holds data together, and who may ask them.

    [holders.north]
    key = "64 hexadecimal signs"        # the public key, as `adomnia hold key` prints it
    address = "127.0.0.1:7001"

    [askers.alice]
    key = "64 hexadecimal signs"

Everybody has the same file; the keys are compared by people, beforehand.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adomnia.errors import PolicyError
from adomnia.federation.framing import parse_address
from adomnia.federation.masks import (
    Party,
    Peer,
    make_secret,
    public_key,
    refuse_shared_keys,
)

__all__ = ["HoldersFile", "read_holders", "read_party", "write_secret"]

KEYS = {"holders": {"key", "address"}, "askers": {"key"}}
HEX = re.compile(r"[0-9a-fA-F]{64}")


@dataclass(frozen=True)
class HoldersFile:
    """Those who hold the data, and those who may ask.

    >>> from adomnia.federation import Peer, make_secret, public_key
    >>> north, south = (Peer(n, public_key(make_secret())) for n in ("north", "south"))
    >>> [peer.name for peer in HoldersFile((north, south), ()).others("north")]
    ['south']
    """

    holders: tuple[Peer, ...]
    askers: tuple[Peer, ...]

    def others(self, name: str) -> list[Peer]:
        """The holders beside this one; raises a PolicyError where it is not among them."""
        if name not in {peer.name for peer in self.holders}:
            listed = ", ".join(peer.name for peer in self.holders)
            raise PolicyError(f"{name!r} is not a holder in this file", f"it names {listed}")
        return [peer for peer in self.holders if peer.name != name]


def read_holders(file: str | Path) -> HoldersFile:
    """What a file of holders says (docs/holders.md).

    Returns who holds the data and who may ask. Raises a PolicyError, which names the mistake, where
    the file cannot be read, names fewer than two holders, or gives two parties one key.

    >>> import tempfile, pathlib
    >>> from adomnia.federation import make_secret, public_key
    >>> part = '[holders.{}]\\nkey = "{}"\\naddress = "127.0.0.1:7001"\\n'
    >>> text = "".join(part.format(n, public_key(make_secret()).hex()) for n in ("north", "south"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "holders.toml")
    ...     size = file.write_text(text)
    ...     [peer.name for peer in read_holders(file).holders]
    ['north', 'south']
    """
    try:
        found = tomllib.loads(Path(file).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        message = f"the file of holders cannot be read ({type(error).__name__})"
        raise PolicyError(message, "see adomnia hold --help", str(file)) from None
    for name in found.keys() - KEYS.keys():
        raise PolicyError(f"unknown section [{name}]", "holders and askers", str(file))
    listed = {kind: _peers(kind, found.get(kind, {}), str(file)) for kind in KEYS}
    if len(listed["holders"]) < 2:
        raise PolicyError("two or more holders answer together", "name them", str(file))
    refuse_shared_keys((*listed["holders"], *listed["askers"]), str(file))
    return HoldersFile(listed["holders"], listed["askers"])


def _peers(kind: str, tables: Any, file: str) -> tuple[Peer, ...]:
    if not isinstance(tables, dict) or not all(isinstance(t, dict) for t in tables.values()):
        raise PolicyError(f"write [{kind}.NAME] with a key", "", file)
    return tuple(_peer(kind, name, table, file) for name, table in tables.items())


def _peer(kind: str, name: str, table: Mapping[str, Any], file: str) -> Peer:
    for key in table.keys() ^ KEYS[kind]:
        word = "lacks" if key in KEYS[kind] else "has an unknown"
        raise PolicyError(f"[{kind}.{name}] {word} {key!r}", "see adomnia hold --help", file)
    if not isinstance(table["key"], str) or not HEX.fullmatch(table["key"]):
        hint = "64 hexadecimal signs, as adomnia hold key prints them"
        raise PolicyError(f"[{kind}.{name}] key is not a public key", hint, file)
    address = str(table.get("address", ""))
    if kind == "holders":
        parse_address(address)
    return Peer(name, bytes.fromhex(table["key"]), address)


def write_secret(file: str | Path) -> str:
    """Make a secret in a file that only its owner can read.

    Returns its public key in hexadecimal signs, to be told to the others. Raises a PolicyError
    where the file is there already or cannot be written.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     len(write_secret(f"{folder}/north.key"))
    64
    """
    secret = make_secret()
    try:
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise PolicyError(f"{str(file)!r} is there already", "a key is never overwritten") from None
    except OSError as error:
        raise PolicyError(f"{str(file)!r} cannot be written: {error.strerror}") from None
    with os.fdopen(handle, "w", encoding="ascii") as out:
        out.write(secret.hex() + "\n")
    return public_key(secret).hex()


def read_party(name: str, file: str | Path) -> Party:
    """Oneself, with the secret in this file; raises a PolicyError where it holds none.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     key = write_secret(f"{folder}/north.key")
    ...     me = read_party("north", f"{folder}/north.key")
    >>> public_key(me.secret).hex() == key
    True
    """
    try:
        text = Path(file).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        text = ""
    if not HEX.fullmatch(text):
        raise PolicyError(f"{str(file)!r} holds no secret key", "adomnia hold key --out FILE")
    return Party(name, bytes.fromhex(text))
