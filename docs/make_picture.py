"""Draw `docs/answer.svg`: a real answer of the demo, as a terminal shows it."""

from __future__ import annotations

import io
import re
import tempfile
from pathlib import Path

from rich.console import Console

from adomnia.cli.demo.command import QUESTIONS, prepare
from adomnia.curator.database import open_database
from adomnia.present import terminal

ROWS = 500_000
TARGET = Path(__file__).with_name("answer.svg")


def main() -> None:
    """Ask the demo's second question and save what a person would see."""
    asked = QUESTIONS[1]
    screen = Console(record=True, width=92, file=io.StringIO(), highlight=False, markup=False)
    with tempfile.TemporaryDirectory() as folder:
        policy = Path(folder) / "adomnia.toml"
        prepare(policy, ROWS)
        with open_database(policy) as database:
            found = database.session().ask(asked.sql, asked.epsilon)
            screen.print(
                f'$ adomnia ask "{asked.sql}" \\\n    --epsilon {asked.epsilon}', style="bold"
            )
            terminal.answer(found, screen)
    picture = screen.export_svg(title="adomnia", unique_id="answer")
    TARGET.write_text(_alone(picture), "utf-8")


def _alone(picture: str) -> str:
    """The picture without the fonts it would fetch: a page must not call elsewhere."""
    without = re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL)
    return re.sub(r"<!--.*?-->\s*", "", without, flags=re.DOTALL)


if __name__ == "__main__":
    main()
