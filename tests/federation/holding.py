"""Holders for tests: made-up towns, keys, and servers in threads or in processes of their own."""

from __future__ import annotations

import subprocess
import sys
import threading
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import adomnia
from adomnia.federation.holder import Holder, HolderRules, HolderServer, serve
from adomnia.federation.joint_session import JointSession, open_holders
from adomnia.federation.masks import Party, Peer, make_secret, public_key

NAMES = ("north", "south", "west")
ASKER = "alice"

POLICY = """
[data]
source = "people.csv"
table = "people"
[privacy]
confirmed = true
epsilon = {epsilon}
[attributes.sex]
values = ["F", "M"]
[attributes.age]
low = 0
high = {oldest}
[analysts.alice]
epsilon = {epsilon}
"""


def write_town(folder: Path, people, epsilon="1000", oldest=120) -> Path:
    """A folder with a policy and the people, (sex, age) each; the policy file."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [f"{sex},{age}" for sex, age in people]
    (folder / "people.csv").write_text("\n".join(["sex,age", *lines]) + "\n")
    file = folder / "adomnia.toml"
    file.write_text(POLICY.format(epsilon=epsilon, oldest=oldest))
    return file


def people(women: int, men: int) -> list[tuple[str, int]]:
    """That many, at ages that repeat from 20 to 59."""
    return [("F", 20 + i % 40) for i in range(women)] + [("M", 20 + i % 40) for i in range(men)]


@dataclass
class Village:
    """Several holders and an asker who know each other's public keys."""

    folder: Path
    names: tuple[str, ...] = NAMES
    secrets: dict[str, bytes] = field(default_factory=dict)
    servers: dict[str, HolderServer] = field(default_factory=dict)
    holders: dict[str, Holder] = field(default_factory=dict)
    running: dict[str, subprocess.Popen[str]] = field(default_factory=dict)
    ports: dict[str, int] = field(default_factory=dict)
    group: JointSession | None = None

    def __post_init__(self) -> None:
        self.secrets = {name: make_secret() for name in (*self.names, ASKER)}

    def peer(self, name: str) -> Peer:
        """What others know of a party."""
        address = f"127.0.0.1:{self.ports.get(name, 1)}"
        return Peer(name, public_key(self.secrets[name]), address)

    def others(self, name: str) -> list[Peer]:
        """The other holders, as this one knows them."""
        return [self.peer(other) for other in self.names if other != name]

    def start(
        self, name: str, policy: Path, peers=None, rules: HolderRules | None = None
    ) -> Holder:
        """A holder in a thread of this process."""
        database = adomnia.open(policy)
        me = Party(name, self.secrets[name])
        holder = Holder(database, me, peers or self.others(name), [self.peer(ASKER)], rules)
        server = serve(holder)
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        self.servers[name], self.holders[name], self.ports[name] = server, holder, server.port
        return holder

    def spawn(self, name: str, policy: Path, *, dies: int = 0) -> None:
        """A holder in a process of its own; it may die at the n-th round, in the middle."""
        keys = [f"{peer.name}={peer.key.hex()}" for peer in self.others(name)]
        asker = f"{ASKER}={self.peer(ASKER).key.hex()}"
        told = [name, self.secrets[name].hex(), str(policy), asker, str(dies), *keys]
        started = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("one_holder.py")), *told],
            stdout=subprocess.PIPE,
            text=True,
        )
        self.running[name] = started

    def wait(self) -> None:
        """Until every process has said where it listens."""
        for name, started in self.running.items():
            assert started.stdout is not None
            self.ports[name] = int(started.stdout.readline())

    def ask_all(self, policy: Path, **more) -> JointSession:
        """All holders as one."""
        me = Party(ASKER, self.secrets[ASKER])
        return open_holders([self.peer(name) for name in self.names], me, policy, **more)

    def close(self) -> None:
        """End what was started."""
        for server in self.servers.values():
            server.shutdown()
            server.server_close()
        for holder in self.holders.values():
            holder.database.close()
        for started in self.running.values():
            started.kill()
            started.wait(10)
            assert started.stdout is not None
            started.stdout.close()


def start_all(village: Village, budgets=None, **more) -> JointSession:
    """Every holder of a village in a thread, with a hundred people each; all of them as one."""
    for name in village.names:
        epsilon = (budgets or {}).get(name, "1000")
        file = write_town(village.folder / name, people(50, 50), epsilon)
        village.start(name, file, **more)
    return village.ask_all(village.folder / village.names[0] / "adomnia.toml")


def spent(village: Village) -> dict[str, Fraction]:
    """What the ledger of each holder says."""
    return {
        name: Fraction(holder.database.budget()["data"]["spent"])
        for name, holder in village.holders.items()
    }
