"""Small made-up networks: edges, a policy over them, and a ledger in a folder of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from adomnia.curator.networks.network import Network, open_graph

__all__ = ["NetworkWorld", "circle"]


@dataclass(frozen=True)
class NetworkWorld:
    """A private list of edges and the policy over it; the nodes are numbered, and public.

    `privacy` has the lines of that section, and `more` what comes after the section [graph].

    >>> with NetworkWorld([(0, 1), (1, 2)], nodes=3).open() as network:
    ...     answer = network.session().ask("edges", epsilon=1)
    >>> answer.columns
    ('n',)
    """

    edges: Sequence[tuple[int, int]]
    nodes: int
    privacy: str = "epsilon = 1000"
    more: str = ""

    @property
    def policy(self) -> str:
        """The text of the policy file."""
        graph = f'[graph]\nedges = "edges.txt"\nids = [0, {self.nodes - 1}]\n'
        return f"[privacy]\nconfirmed = true\n{self.privacy}\n{graph}{self.more}"

    def write(self, folder: str | Path) -> Path:
        """Put edges and policy into a folder; returns the policy's path."""
        lines = "".join(f"{source} {target}\n" for source, target in self.edges)
        (Path(folder) / "edges.txt").write_text(lines, "utf-8")
        file = Path(folder) / "adomnia.toml"
        file.write_text(self.policy, "utf-8")
        return file

    @contextmanager
    def open(self, folder: str | Path | None = None) -> Iterator[Network]:
        """The network, in a temporary folder with a new ledger.

        In a `folder` that is given, a ledger that is there goes on. Raises a PolicyError where the
        policy is wrong.
        """
        with ExitStack() as stack:
            if folder is None:
                folder = stack.enter_context(TemporaryDirectory())
            yield stack.enter_context(open_graph(self.write(folder)))


def circle(nodes: int = 20, privacy: str = "epsilon = 1000", more: str = "") -> NetworkWorld:
    """A circle of people, of whom each knows the next; the arguments are those of a network.

    >>> circle(3).edges
    [(0, 1), (1, 2), (2, 0)]
    """
    edges = [(node, (node + 1) % nodes) for node in range(nodes)]
    return NetworkWorld(edges, nodes, privacy, more)
