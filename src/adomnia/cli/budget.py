"""`adomnia budget`: what is spent and what is left."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from adomnia import formatting
from adomnia.cli import options
from adomnia.curator.ledger_view import spending
from adomnia.policy.policy import read_policy
from adomnia.present import terminal
from adomnia.queries.blocks import block_name

__all__ = ["budget", "rows"]

HEADINGS = ("", "spent", "left")


@click.command(short_help="What is spent and what is left.")
@options.policy
@options.form
def budget(policy: str, form: str) -> None:
    """Show what was spent of the data's budget and of every analyst's, and what is left.

    It reads the policy and the ledger, not the data.

    \b
    Examples:
      adomnia budget
      adomnia budget --policy adomnia.toml --format json
    """
    found = spending(read_policy(policy))
    if form == "json":
        terminal.json_text(found)
    else:
        terminal.console().print(terminal.table(HEADINGS, rows(found), [1, 2]))


def rows(found: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """The lines of the table: the data, every analyst, blocks of which something is spent."""
    whole = "the data, where most is spent" if "blocks" in found else "the data"
    named = {whole: found["data"], **found["analysts"], **_blocks(found.get("blocks", ()))}
    return [(name, _sum(state, "spent"), _sum(state, "remaining")) for name, state in named.items()]


def _blocks(states: Any) -> dict[str, Mapping[str, str]]:
    """The blocks of which something is spent, and the others together."""
    spent = {f"  {block_name(state['block'])}": state for state in states if state["spent"] != "0"}
    others = [state for state in states if state["spent"] == "0"]
    if others:
        many = "1 other block" if len(others) == 1 else f"{len(others):,} other blocks, each"
        spent[f"  {many}"] = others[0]
    return spent


def _sum(state: Mapping[str, str], what: str) -> str:
    text = f"{state['unit']} {formatting.amount(state[what])}"
    delta = state.get(f"delta_{what}")
    return text if delta is None else f"{text}, delta {formatting.amount(delta)}"
