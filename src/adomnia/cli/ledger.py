"""`adomnia ledger`: every entry of the journal, or whether its chain holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click

from adomnia import formatting
from adomnia.cli import options
from adomnia.curator.data.editions import prior_edition, use_edition
from adomnia.curator.ledger_view import (
    exact_text,
    list_entries,
    outside_origins,
    receipt,
    verify_ledger,
)
from adomnia.policy.policy import Policy, read_policy
from adomnia.present import terminal

if TYPE_CHECKING:
    from adomnia.curator.ledger_view import Entry

__all__ = ["ledger"]

HEADINGS = ("#", "time (UTC)", "who", "event", "cost", "statement")
SHORT = 60


@click.command(short_help="Every event and what it cost; --verify checks the chain.")
@click.option("--verify", is_flag=True, help="Check every entry and the chain that binds them.")
@options.policy
@options.form
@click.pass_context
def ledger(context: click.Context, verify: bool, policy: str, form: str) -> None:
    """List what was reserved and answered, or check that nothing was changed or removed.

    It reads the policy and the ledger, not the data. With --verify it exits with 5 if anything
    is wrong, and names each problem.

    \b
    Examples:
      adomnia ledger
      adomnia ledger --verify
    """
    read = read_policy(policy)
    if verify:
        context.exit(0 if _verify(read, form) else 5)
    entries = list(_described(list_entries(read, ("reserved",))))
    if form == "json":
        terminal.json_text({"entries": entries})
    else:
        _print(entries)


def _verify(policy: Policy, form: str) -> bool:
    found = verify_ledger(policy)
    if form == "json":
        terminal.json_text({"ok": found.ok, "count": found.count, "problems": list(found.problems)})
    elif found.ok:
        click.echo(f"ok: {found.count} entries, each follows the one before")
    else:
        for problem in found.problems:
            click.echo(f"problem: {formatting.one_line(problem)}")
    return found.ok


def _described(entries: list[Entry]) -> Iterator[dict[str, Any]]:
    """Entries without the recorded numbers: those belong to whoever paid for them."""
    numbers: dict[str, int] = {}
    for entry in entries:
        facts: dict[str, Any] = {"number": entry.number, "at": entry.at, "kind": entry.kind}
        if entry.kind == "reserved":
            numbers[receipt(entry)] = entry.number
            facts |= _reserved(entry) | {"receipt": receipt(entry)}
        if entry.kind == "answered":
            paid = str(entry.head["receipt"])
            facts |= {"receipt": paid, "answers": numbers.get(paid)}
        if entry.kind == "repeated":
            told = [str(paid) for paid in entry.head["receipts"]]
            again = [numbers.get(paid) for paid in told]
            facts |= {"analyst": entry.head["analyst"], "receipts": told, "repeats": again}
        if entry.kind == "prior":
            facts |= _prior(entry.head)
        if entry.kind == "budget":
            facts |= dict(entry.head)
        if entry.kind == "edition":  # its digest is told where it is made
            facts |= {"edition": entry.head["number"]}
        if entry.kind == "blocks":
            facts |= {"by": entry.head["by"], "blocks": len(entry.head["names"])}
        if entry.kind == "opened":
            facts |= {"dataset": entry.head.get("dataset"), "by": entry.head.get("by")}
        yield facts


def _prior(head: Mapping[str, Any]) -> dict[str, Any]:
    """An exact release, and what it made of what was paid before."""
    return {
        "statement": exact_text(head["published"]),
        "repriced": len(head["prices"]),
        "accepted": head["accepted"],
        "edition": prior_edition(head["published"]),
    }


def _reserved(entry: Entry) -> dict[str, Any]:
    head, body = entry.head, entry.body
    cost = {"epsilon": "0", **head["loss"]}
    return {
        "analyst": head["analyst"],
        "session": head.get("session"),
        "statement": body["statement"],
        "event": body["event"],
        "edition": use_edition(body),
        **({"blocks": head["blocks"]} if "blocks" in head else {}),
        "cost": {name: cost[name] for name in ("epsilon", "rho", "delta") if name in cost},
        **({"mechanisms": named} if (named := outside_origins(entry)) else {}),
    }


def _print(entries: list[dict[str, Any]]) -> None:
    if not entries:
        click.echo("nothing has been asked yet")
        return
    terminal.console().print(terminal.table(HEADINGS, map(_row, entries), [0]))


def _row(entry: Mapping[str, Any]) -> tuple[str, ...]:
    number, at = str(entry["number"]), formatting.second(str(entry["at"]))
    if entry["kind"] == "prior":
        cost = f"re-prices {entry['repriced']}" + (" (accepted)" if entry["accepted"] else "")
        statement = formatting.one_line(str(entry["statement"]), SHORT)
        return (number, at, "", "prior", cost if entry["repriced"] else "", statement)
    if entry["kind"] != "reserved":
        return (number, at, _who(entry), str(entry["kind"]), "", _about(entry))
    cost = formatting.amounts({name: Fraction(value) for name, value in entry["cost"].items()})
    who, statement = (
        formatting.one_line(str(entry["analyst"]), 20),
        formatting.one_line(str(entry["statement"]), SHORT),
    )
    by = ", ".join(f"{one['name']} ({one['package']})" for one in entry.get("mechanisms", ()))
    return (number, at, who, by or _event(entry["event"]), cost, statement)


def _who(entry: Mapping[str, Any]) -> str:
    if entry["kind"] == "blocks":
        return ""
    return formatting.one_line(str(entry.get("by") or entry.get("analyst") or ""), 20)


def _about(entry: Mapping[str, Any]) -> str:
    """What an entry that costs nothing is about."""
    if entry["kind"] == "answered":
        return f"answers #{entry['answers']}"
    if entry["kind"] == "repeated":
        return "repeats " + ", ".join(f"#{number}" for number in entry["repeats"])
    if entry["kind"] == "edition":
        return f"edition {entry['edition']} of the data"
    if entry["kind"] == "blocks":
        by = "no blocks" if entry["by"] is None else f"{entry['blocks']:,} blocks by {entry['by']}"
        return formatting.one_line(by, SHORT)
    if entry["kind"] == "budget":
        of = "the data" if entry["name"] is None else str(entry["name"])
        return formatting.one_line(
            f"of {of}: {_allowed(entry['old'])} → {_allowed(entry['new'])}", SHORT
        )
    named = entry.get("dataset") or {}
    return formatting.one_line(", ".join(f"{name} {value}" for name, value in named.items()), SHORT)


def _allowed(amounts: Mapping[str, str] | None) -> str:
    return (
        "none"
        if amounts is None
        else formatting.amounts({n: Fraction(v) for n, v in amounts.items()})
    )


def _event(event: Mapping[str, Any]) -> str:
    if event["event"] != "composed":
        return str(event["event"])
    return " + ".join(dict.fromkeys(_event(part) for part in event["parts"]))
