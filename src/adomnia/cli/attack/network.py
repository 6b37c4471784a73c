"""`adomnia attack network`: accounts planted in a network without names, and friends in it."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import click

from adomnia.cli import findings as attacked
from adomnia.cli import options
from adomnia.errors import QuestionError
from adomnia.present import terminal

__all__ = ["network"]

HINT = "one edge a line: two numbers, such as 17 4; also .gz"


@click.command("network", short_help="Planted accounts, or friends, in a network without names.")
@click.argument("file")
@click.option("--accounts", type=click.IntRange(2, 40), default=7, show_default=True, metavar="K",
              help="How many are planted.")  # fmt: skip
@click.option("--targets", type=click.IntRange(1), default=50, show_default=True, metavar="N",
              help="People whose edges are read.")  # fmt: skip
@click.option("--friends", type=click.IntRange(2, 40), metavar="K",
              help="Plant nothing: a user and K - 1 friends look for themselves.")  # fmt: skip
@click.option("--counts", is_flag=True, help="The friends also compare whom they know together.")
@attacked.trials(100)
@attacked.seed
@attacked.names
@attacked.limit
@options.policy_unused
@options.form
def network(file: str, form: str, **told: Any) -> None:
    """Attack a network whose names were removed: a file of edges, two numbers a line.

    \b
    Examples:
      adomnia attack network friends.edges.gz
      adomnia attack network friends.edges.gz --friends 8
    """
    from adomnia.audit.networks.active_attack import Accounts, Coalition, passive, planted  # noqa: PLC0415
    from adomnia.audit.networks.pattern import Network  # noqa: PLC0415 (slow to import)

    published = Network.of(_edges(file))
    how = {name: told[name] for name in ("trials", "seed", "time_limit")}
    with terminal.progress("attacking"):
        if told["friends"]:
            who = Coalition(told["friends"], told["counts"], told["names"])
            found = passive(published, who, **how)
        else:
            few = Accounts(told["accounts"], told["targets"], names=told["names"])
            found = planted(published, few, **how)
    attacked.tell(found, form, told["names"])


def _edges(file: str) -> list[tuple[int, int]]:
    path = Path(file)
    if not path.is_file():
        raise QuestionError(f"there is no file {file!r}", HINT)
    try:
        raw = path.read_bytes()
        text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8")
    except (OSError, EOFError, UnicodeDecodeError):
        raise QuestionError(f"the file {file!r} cannot be read", HINT) from None
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        parts = line.replace(",", " ").split()
        if not parts or parts[0].startswith(("#", "%")):
            continue
        try:
            found.append((int(parts[0]), int(parts[1])))
        except (ValueError, IndexError):
            raise QuestionError(f"{path.name!r}, line {number}: this is no edge", HINT) from None
    if not found:
        raise QuestionError(f"{path.name!r} has no edges", HINT)
    return found
