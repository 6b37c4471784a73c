"""`adomnia demo`: all of it on a made-up census, from nothing."""

from __future__ import annotations

import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from adomnia.cli import options
from adomnia.cli.budget import HEADINGS, rows
from adomnia.cli.demo.census import write_census
from adomnia.cli.demo.ways import MISSING, Ways, prepare_ways, serve_ways
from adomnia.cli.init import save
from adomnia.curator.database import PrivateDatabase, open_database
from adomnia.errors import QuestionError
from adomnia.present import terminal
from adomnia.review.drafts.draft import Draft, Wish, confirmed, draft_policy

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["QUESTIONS", "Telling", "demo", "prepare"]


@dataclass(frozen=True)
class Telling:
    """A question of the demo, and why it is asked."""

    about: str
    sql: str
    epsilon: str


QUESTIONS = (
    Telling(
        "How many women and men are there? A table costs no more than a single count.",
        "SELECT sex, COUNT(*) AS people FROM census GROUP BY sex",
        "0.1",
    ),
    Telling(
        "What does schooling bring? Averages come with margins of their own.",
        "SELECT education, AVG(income) AS income, COUNT(*) AS people FROM census\n"
        "WHERE age BETWEEN 25 AND 66 GROUP BY education ORDER BY income DESC",
        "0.5",
    ),
    Telling(
        "The age pyramid. Every group of the public domain is shown, the empty ones too.",
        "SELECT age / 10 AS decade,\n"
        "       COUNT(*) FILTER (WHERE sex = 'F') AS women,\n"
        "       COUNT(*) FILTER (WHERE sex = 'M') AS men\n"
        "FROM census GROUP BY 1 ORDER BY 1",
        "0.2",
    ),
    Telling(
        "The median income of adults: the exponential mechanism picks it, no outlier moves it.",
        "SELECT MEDIAN(income) AS median FROM census WHERE age >= 18",
        "0.2",
    ),
    Telling(
        "How many women are there? The first answer already says it, so this one is free.",
        "SELECT COUNT(*) AS women FROM census WHERE sex = 'F'",
        "0.1",
    ),
)

NEXT = (
    'ask "SELECT region, COUNT(*) FROM census GROUP BY region" --epsilon 0.1',
    'plan "SELECT COUNT(*) AS n FROM census" --margin 20',
    "ledger --verify",
)


@click.command(short_help="All of it on a made-up census, from nothing.")
@click.option("--rows", "count", type=click.IntRange(1000, 10**8), default=500_000,
              show_default=True, metavar="N", help="How many people to make up.")  # fmt: skip
@click.option("--folder", metavar="DIR", help="Where to put everything; else a temporary folder.")
@click.option("--policy", default="adomnia.toml", show_default=True, metavar="FILE",
              help="The name of the policy in that folder.")  # fmt: skip
@click.option("--serve/--no-serve", "serves", default=None, envvar="DEMO_SERVE",
              help="Serve it in the end; if not said, where a terminal is.")  # fmt: skip
@options.form
def demo(count: int, folder: str | None, policy: str, serves: bool | None, form: str) -> None:
    """Make up a census, draft and confirm its policy, ask five questions, and serve it.

    In the end it opens the doors for psql, HTTP and a browser until Ctrl-C. Without a terminal,
    with --no-serve or with DEMO_SERVE=0 it only says how; so it does with --format json.

    \b
    Examples:
      adomnia demo
      adomnia demo --rows 20000 --folder census-demo --format json
    """
    file = _folder(folder) / policy
    made = prepare(file, count)
    with open_database(file) as database:
        ways = prepare_ways(database)
        if form == "json":
            terminal.json_text(_document(database, ways, file, count))
            return
        _tour(database, made, file, count)
        _heading(terminal.console(), "Ask from elsewhere")
        if ways is None:
            click.echo(MISSING)
        elif sys.stdout.isatty() if serves is None else serves:
            serve_ways(database, ways)
        else:
            for line in _later(ways, file):
                click.echo(line)


def prepare(file: Path, count: int) -> Draft:
    """Make the data and a confirmed policy for it; the draft as it was before that is returned."""
    source = file.with_name("census.parquet")
    for path in (file, source):
        if path.exists():
            raise QuestionError(f"{str(path)!r} is there already", "choose another --folder")
    with terminal.progress(f"making up {count:,} people", count) as done:
        write_census(source, count, done)
    with terminal.progress("drafting the policy"):
        made = draft_policy(source, file, Wish(epsilon="4.0"))
    save(file, confirmed(made.text))
    return made


def _folder(name: str | None) -> Path:
    if name is None:
        return Path(tempfile.mkdtemp(prefix="adomnia-demo-"))
    folder = Path(name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise QuestionError(f"the folder {name!r} cannot be made: {error.strerror}") from None
    return folder


def _document(
    database: PrivateDatabase, ways: Ways | None, file: Path, count: int
) -> dict[str, Any]:
    session = database.session()
    asked = [
        {"about": telling.about, "sql": telling.sql, "epsilon": telling.epsilon,
         "answer": session.ask(telling.sql, telling.epsilon).to_json()}
        for telling in QUESTIONS
    ]  # fmt: skip
    return {
        "folder": str(file.parent),
        "policy": str(file),
        "rows": count,
        "confirmed": True,
        "questions": asked,
        "budget": database.budget(),
        "serve": ways and ways.document(_opening_command(ways, file)),
    }


def _tour(database: PrivateDatabase, made: Draft, file: Path, count: int) -> None:
    screen = terminal.console()
    for text in _opening(made, file, count):
        screen.print(text)
    session = database.session()
    for number, telling in enumerate(QUESTIONS, 1):
        _heading(screen, f"{number}. {telling.about}")
        screen.print(f"{telling.sql}\n  -- epsilon {telling.epsilon}")
        found = session.ask(telling.sql, telling.epsilon)
        terminal.answer(found, screen)
    _heading(screen, "What is left")
    screen.print(terminal.table(HEADINGS, rows(database.budget()), [1, 2]))
    for text in _closing(file):
        click.echo(text)  # whole: a line that is broken cannot be pasted


def _heading(screen: Console, text: str) -> None:
    screen.print()
    screen.print(text, style="bold")


def _opening(made: Draft, file: Path, count: int) -> Iterator[str]:
    yield f"Made up {count:,} people: {file.with_name('census.parquet')}"
    yield f"Drafted a policy: {file}"
    yield f"Its domains were taken from the data: {', '.join(made.confirm)}."
    yield "With real data a person reads and confirms them; nobody here is real, so the demo has"
    yield "set confirmed = true by itself. The budget is epsilon 4, for everything, for ever."


def _closing(file: Path) -> Iterator[str]:
    yield "Go on with your own questions:"
    yield f"  cd {shlex.quote(str(file.parent))}"
    for verb in NEXT:
        yield f"  {_program()} {verb}{_beside(file)}"
    yield f"or with your own data: {_program()} init people.csv"


def _later(ways: Ways, file: Path) -> Iterator[str]:
    yield "The doors are shut. This opens them:"
    yield f"  {_opening_command(ways, file)}"
    yield "and then, from another terminal or a browser:"
    yield from ways.told()


def _opening_command(ways: Ways, file: Path) -> str:
    command = ways.command(_program(), _beside(file))
    return f"cd {shlex.quote(str(file.parent.absolute()))} && {command}"


def _beside(file: Path) -> str:
    """How the policy is named to a command in its folder."""
    return "" if file.name == "adomnia.toml" else f" --policy {shlex.quote(file.name)}"


def _program() -> str:
    """How this command can be called from another folder."""
    return "adomnia" if shutil.which("adomnia") else shlex.quote(str(Path(sys.argv[0]).absolute()))
