"""Several holders answer one question together here, and none shows its own part."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adomnia.exports import Exports

if TYPE_CHECKING:
    from adomnia.federation.framing import LostError
    from adomnia.federation.holder import Holder, HolderRules, HolderServer, serve
    from adomnia.federation.holders_file import HoldersFile, read_holders, read_party, write_secret
    from adomnia.federation.joint_session import JointSession, open_holders
    from adomnia.federation.masks import Party, Peer, make_secret, public_key

_MEMBERS = {
    "framing": "LostError",
    "holder": "Holder HolderRules HolderServer serve",
    "holders_file": "HoldersFile read_holders read_party write_secret",
    "joint_session": "JointSession open_holders",
    "masks": "Party Peer make_secret public_key",
}
"""What each module of the room gives to everybody."""

__all__ = [
    "Holder",
    "HolderRules",
    "HolderServer",
    "HoldersFile",
    "JointSession",
    "LostError",
    "Party",
    "Peer",
    "make_secret",
    "open_holders",
    "public_key",
    "read_holders",
    "read_party",
    "serve",
    "write_secret",
]

_EXPORTS = Exports(__name__, _MEMBERS)
__getattr__, __dir__ = _EXPORTS.load, _EXPORTS.names
