"""The command `adomnia`: its verbs, and how every failure leaves as a line and an exit code."""

from __future__ import annotations

import gc
import json
import signal
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any

import click

from adomnia.errors import AdomniaError

__all__ = ["cli", "main"]

INTERRUPTED = 130


VERBS = (
    *("init", "check", "bounds", "load", "ask", "plan", "release", "independence", "prior"),
    *("hold", "serve", "account", "audit", "attack", "budget", "ledger", "demo", "why"),
)
"""In the order of the help; each is in the module of its name, which is loaded when it is used."""


class Verbs(click.Group):
    """The verbs; naming one loads that one alone, and the help loads all."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Their names, in the order of the help."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The verb of a name, loaded now."""
        if cmd_name not in VERBS:
            return None
        with _loading(alone=getattr(ctx, "obj", None) is ALONE):
            found: click.Command = getattr(import_module(f"adomnia.cli.{cmd_name}"), cmd_name)
        return found


ALONE = "the process is for this command"


@contextmanager
def _loading(alone: bool) -> Iterator[None]:
    """Load modules; in a process `alone` nobody looks for garbage among them, now or at its end.

    DuckDB complains of what is left of it then, so where it is loaded already all is looked at.
    """
    if not alone:
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        if "duckdb" not in sys.modules:
            gc.freeze()
        gc.enable()


@click.group(
    cls=Verbs,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="adomnia")
def cli() -> None:
    """Ask sensitive data in SQL and get private answers, paid from a budget.

    \b
    Begin with a made-up census:
      adomnia demo
    or with your own file:
      adomnia init people.csv
      adomnia ask "SELECT COUNT(*) FROM people" --epsilon 0.1

    Exit codes: 0 answered; 2 the question or the policy is wrong; 3 refused for budget;
    4 not allowed; 5 the machinery failed (nothing was answered; what was reserved stays spent);
    6 a check found something.
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and leave with its exit code; no failure shows a traceback."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError):  # an answer that was paid must not fail here
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    with warnings.catch_warnings(), _interrupts() as interrupted:
        warnings.simplefilter("ignore")  # a library's warning could quote data
        code, failure = _run(given, interrupted, ALONE if arguments is None else None)
    if failure:
        _tell(failure, code, _wants_json(given))
    sys.exit(code)


_Failure = dict[str, Any] | None


def _run(arguments: list[str], interrupted: list[int], alone: str | None) -> tuple[int, _Failure]:
    """The exit code, and what to say where it failed."""
    try:
        code = cli.main(arguments, prog_name="adomnia", standalone_mode=False, obj=alone)
        return (code if isinstance(code, int) else 0), None
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return 2, None
    except click.ClickException as error:
        return 2, _usage(error)
    except BaseException as error:
        # A library may turn Ctrl-C into an error of its own.
        if interrupted or isinstance(error, click.Abort | KeyboardInterrupt):
            message = "interrupted; what was reserved stays spent"
            return INTERRUPTED, {"message": message, "kind": "Interrupted"}
        if isinstance(error, AdomniaError):
            return error.exit_code, _refusal(error)
        if isinstance(error, Exception):
            name = type(error).__name__  # its text could hold data
            return 5, {"message": f"the machinery failed ({name})", "kind": name}
        raise


def _usage(error: click.ClickException) -> dict[str, Any]:
    context = getattr(error, "ctx", None)
    hint = f"see {context.command_path} --help" if context is not None else ""
    return {"message": error.format_message(), "hint": hint, "kind": "UsageError"}


def _refusal(error: AdomniaError) -> dict[str, Any]:
    return {
        "message": error.message,
        "hint": error.hint,
        "position": getattr(error, "position", None),
        "kind": type(error).__name__,
        "file": getattr(error, "file", "") or None,
        "line": getattr(error, "line", None),
        "text": str(error),
    }


def _tell(failure: dict[str, Any], code: int, as_json: bool) -> None:
    """Say on standard error what went wrong: a line for a person, an object for a program."""
    text = failure.pop("text", None)
    if as_json:
        shape = {"code": code, "message": "", "hint": "", "position": None, **failure}
        click.echo(json.dumps({"error": shape}, ensure_ascii=False), err=True)
        return
    hint = f"\n  {failure['hint']}" if failure.get("hint") else ""
    click.echo(f"adomnia: {text or failure['message'] + hint}", err=True)


def _wants_json(arguments: list[str]) -> bool:
    pairs = zip(arguments, [*arguments[1:], ""], strict=True)
    return any(a == "--format=json" or (a, b) == ("--format", "json") for a, b in pairs)


@contextmanager
def _interrupts() -> Iterator[list[int]]:
    """A list that fills when Ctrl-C is pressed while the block runs."""
    seen: list[int] = []

    def note(number: int, frame: object) -> None:
        seen.append(number)
        raise KeyboardInterrupt

    try:
        before = signal.signal(signal.SIGINT, note)
    except ValueError:  # not the main thread
        yield seen
        return
    try:
        yield seen
    finally:
        signal.signal(signal.SIGINT, before)
