"""`adomnia ledger`: every entry of the journal, or whether its chain holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click

from adomnia.cli import options, show
from adomnia.curator.books import list_entries, verify_ledger
from adomnia.curator.policy import Policy, read_policy
from adomnia.privacy import events

if TYPE_CHECKING:
    from adomnia.curator.books import Entry

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
    entries = list(_described(list_entries(read)))
    if form == "json":
        show.json_text({"entries": entries})
    else:
        _print(entries)


def _verify(policy: Policy, form: str) -> bool:
    found = verify_ledger(policy)
    if form == "json":
        show.json_text({"ok": found.ok, "count": found.count, "problems": list(found.problems)})
    elif found.ok:
        click.echo(f"ok: {found.count} entries, each follows the one before")
    else:
        for problem in found.problems:
            click.echo(f"problem: {show.line(problem)}")
    return found.ok


def _described(entries: list[Entry]) -> Iterator[dict[str, Any]]:
    """Entries without the recorded numbers: those belong to whoever paid for them."""
    numbers: dict[str, int] = {}
    for entry in entries:
        facts: dict[str, Any] = {"number": entry.number, "at": entry.at, "kind": entry.kind}
        if entry.kind == "reserved":
            numbers[entry.digest[:32]] = entry.number
            facts |= _reserved(entry.body) | {"receipt": entry.digest[:32]}
        if entry.kind == "answered":
            receipt = str(entry.body["receipt"])
            facts |= {"receipt": receipt, "answers": numbers.get(receipt)}
        if entry.kind == "prior":
            facts |= _prior(entry.body)
        yield facts


def _prior(body: Mapping[str, Any]) -> dict[str, Any]:
    """An exact release, and what it made of what was paid before."""
    return {
        "statement": body["published"].get("sql", "the policy promises something else"),
        "repriced": len(body["prices"]),
        "accepted": body["accepted"],
    }


def _reserved(body: Mapping[str, Any]) -> dict[str, Any]:
    loss = events.loss(events.from_json(body["event"]))
    cost = {"epsilon": loss.epsilon, "rho": loss.rho, "delta": loss.delta}
    return {
        "analyst": body["analyst"],
        "session": body["session"],
        "statement": body["statement"],
        "event": body["event"],
        "cost": {name: str(value) for name, value in cost.items() if value or name == "epsilon"},
    }


def _print(entries: list[dict[str, Any]]) -> None:
    if not entries:
        click.echo("nothing has been asked yet")
        return
    show.console().print(show.table(HEADINGS, map(_row, entries), [0]))


def _row(entry: Mapping[str, Any]) -> tuple[str, ...]:
    number, at = str(entry["number"]), str(entry["at"])[:19].replace("T", " ")
    if entry["kind"] == "prior":
        cost = f"re-prices {entry['repriced']}" + (" (accepted)" if entry["accepted"] else "")
        statement = show.line(str(entry["statement"]), SHORT)
        return (number, at, "", "prior", cost if entry["repriced"] else "", statement)
    if entry["kind"] != "reserved":
        about = f"answers #{entry['answers']}" if entry["kind"] == "answered" else ""
        return (number, at, "", str(entry["kind"]), "", about)
    cost = show.amounts({name: Fraction(value) for name, value in entry["cost"].items()})
    who, statement = show.line(str(entry["analyst"]), 20), show.line(str(entry["statement"]), SHORT)
    return (number, at, who, _event(entry["event"]), cost, statement)


def _event(event: Mapping[str, Any]) -> str:
    if event["event"] != "composed":
        return str(event["event"])
    return " + ".join(dict.fromkeys(_event(part) for part in event["parts"]))
