"""A holder as a process: `name secret policy asker=key dies peer=key ...`; prints its port."""

from __future__ import annotations

import os
import sys

import adomnia
from adomnia.federation.holder import Holder, serve
from adomnia.federation.masks import Party, Peer


def peer(text: str) -> Peer:
    name, _, key = text.partition("=")
    return Peer(name, bytes.fromhex(key))


class Mortal(Holder):
    """A holder whose process ends, without a word, at the n-th `give`; 0 is never."""

    dies = 0

    def answer(self, asker, message):
        self.dies -= message.get("step") == "give"
        if self.dies == 0 and message.get("step") == "give":
            os._exit(1)
        return super().answer(asker, message)


def main(name: str, secret: str, policy: str, asker: str, dies: str, *peers: str) -> None:
    me = Party(name, bytes.fromhex(secret))
    holder = Mortal(adomnia.open(policy), me, map(peer, peers), [peer(asker)])
    holder.dies = int(dies)
    server = serve(holder)
    print(server.port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
