"""Several made-up databases that answer together, all on this machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

from adomnia.federation.holder import Holder, serve
from adomnia.federation.joint_session import JointSession, open_holders
from adomnia.federation.masks import Party, Peer, make_secret, public_key
from adomnia.testing.worlds import World

__all__ = ["joint_session"]


@contextmanager
def joint_session(worlds: Mapping[str, World], asker: str = "curator") -> Iterator[JointSession]:
    """A session with several holders, by name; each listens at a free port until the block ends.

    Their worlds must declare the same domains, and know the `asker` where they name analysts.
    Raises a QuestionError where there are fewer than two. Needs the extra `server`.

    >>> from adomnia.testing import town
    >>> with joint_session({"north": town(rows=20), "south": town(rows=30)}) as session:
    ...     answer = session.ask("SELECT COUNT(*) AS n FROM people", epsilon=1)
    >>> answer.columns, answer.spent["epsilon"]
    (('n',), Fraction(1, 1))
    """
    secrets = {name: make_secret() for name in (*worlds, asker)}
    known = {name: Peer(name, public_key(secret)) for name, secret in secrets.items()}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        peers = []
        for name, world in worlds.items():
            (folder / name).mkdir()
            database = stack.enter_context(world.open(folder / name))
            others = [known[other] for other in worlds if other != name]
            holder = Holder(database, Party(name, secrets[name]), others, [known[asker]])
            peers.append(Peer(name, known[name].key, _listen(holder, stack)))
        domains = folder / next(iter(worlds), "") / "adomnia.toml"
        yield open_holders(peers, Party(asker, secrets[asker]), domains)


def _listen(holder: Holder, stack: ExitStack) -> str:
    """The address at which a holder answers, as long as the stack is open."""
    server = stack.enter_context(serve(holder))
    Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    stack.callback(server.shutdown)
    return f"127.0.0.1:{server.port}"
