"""What MkDocs calls: pages that are made, the order of all of them, formulas that are set."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TOP), str(TOP / "src")]  # MkDocs loads this file by its path

from mkdocs.config.defaults import MkDocsConfig  # noqa: E402
from mkdocs.structure.files import File, Files  # noqa: E402
from mkdocs.structure.pages import Page  # noqa: E402

from tools.handbook.commands import command_page  # noqa: E402
from tools.handbook.formulas import typeset_html  # noqa: E402
from tools.handbook.journey import journey_page, journey_picture  # noqa: E402
from tools.handbook.reference import api_pages, module_index  # noqa: E402
from tools.handbook.room_map import map_page, map_picture, matrix_picture  # noqa: E402
from tools.handbook.texts import limits, moved, note_index, note_page, notes, readable, relinked  # noqa: E402


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Fill the parts of the navigation that depend on the code."""
    every = notes()
    by_room: dict[str, list[Any]] = {}
    for note in every:
        by_room.setdefault(note.room, []).append({note.title: note.page})
    made = {
        "NOTES": [
            {"All notes": "notes/index.md"},
            *({room: pages} for room, pages in by_room.items()),
        ],
        "API": [{title: page} for title, page, _ in api_pages()],
        "ATTACKS": [f"attacks/{file.name}" for file in sorted((TOP / "docs/attacks").glob("*.md"))],
    }
    config.nav = _filled(config.nav, made)
    return config


def _filled(nav: Any, made: dict[str, list[Any]]) -> Any:
    """The navigation with each name in capitals replaced by what was made for it."""
    if isinstance(nav, dict):
        return {title: _filled(part, made) for title, part in nav.items()}
    if not isinstance(nav, list):
        return nav
    return [
        one
        for part in nav
        for one in (made[part] if isinstance(part, str) and part in made else [_filled(part, made)])
    ]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages and pictures that are made from the code."""
    every = notes()
    made = dict(moved())
    made |= {note.page: note_page(note, every) for note in every}
    made |= {page: text for _, page, text in api_pages()}
    made |= {
        "notes/index.md": note_index(every),
        "limits.md": limits(every),
        "commands.md": command_page(),
        "reference/modules.md": module_index(),
        "map.md": map_page(),
        "pictures/rooms.svg": map_picture(),
        "pictures/imports.svg": matrix_picture(),
        "journey.md": journey_page(),
        "pictures/journey.svg": journey_picture(),
    }
    for place, text in made.items():
        files.append(File.generated(config, place, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Our manner of Markdown as that of the site."""
    place = f"docs/{page.file.src_uri}"
    return readable(relinked(markdown, place) if (TOP / place).exists() else markdown)


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Set the mathematics of the notes."""
    noted = page.file.src_uri.startswith("notes/") or page.file.src_uri == "limits.md"
    return typeset_html(html) if noted else html
