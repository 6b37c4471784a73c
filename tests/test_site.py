"""The site: what is made from the code, the mathematics, and a build that lets nothing pass."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tools.handbook import journey, room_list, room_map, texts
from tools.handbook.commands import command_page
from tools.handbook.formulas import typeset, typeset_html

TOP = Path(__file__).parents[1]
NOTES = texts.notes()


def plain(html: str) -> str:
    """The text of some HTML, each formula between ⟦ and ⟧."""
    marked = html.replace("<math>", "⟦").replace("</math>", "⟧")
    return re.sub(r"<[^>]+>", "", marked)


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("with q = exp(−1/s).", "with ⟦q⟧ ⟦=exp(−1/s)⟧."),
        ("A rational scale s ≥ Δ/ε", "A rational scale ⟦s⟧ ⟦≥Δ/ε⟧"),
        ("a row, A row, I see 3 of 1,000", "a row, A row, I see 3 of 1,000"),
        ("(an exact fraction, at most)", "(an exact fraction, at most)"),
        ("either g or ~g for −g − 1", "either ⟦g⟧ or ⟦~g⟧ for ⟦−g−1⟧"),
        ("W = high − low > 0 for all", "⟦W⟧ ⟦=high−low⟧ ⟦&gt;0⟧ for all"),
        ("found in O(k log k) steps", "found in ⟦O(klogk)⟧ steps"),
        ("max(1, ⌈qn⌉) for a share q", "⟦max(1,⌈qn⌉)⟧ for a share ⟦q⟧"),
        ("the norm ‖f(D) − f(D')‖₁ is", "the norm ⟦‖f(D)−f(D′)‖1⟧ is"),
        ("well-known and 5 % of it", "well-known and 5 % of it"),
        ("", ""),
    ],
)
def test_formulas_are_found_in_prose(text, seen):
    assert plain(typeset(text)) == seen


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("q^(m+1)", "<msup>"),
        ("x_i", "<msub>"),
        ("x_i²", "<msubsup>"),
        ("√(n + 1)", "<msqrt>"),
        ("∑_{h ≥ k} Q^h", "<munder>"),
        ("n₁", "<msub>"),
    ],
)
def test_formulas_have_their_shape(text, inside):
    made = typeset(text)
    assert inside in made
    assert "^" not in made
    assert "_" not in made
    ElementTree.fromstring(f"<p>{made}</p>")


def test_code_links_and_headings_stay():
    page = "<h2>x_i</h2><p><code>x_i</code> <a href='x_i'>x_i</a> x_i</p>"
    made = typeset_html(page)
    assert made.startswith("<h2>x_i</h2><p><code>x_i</code> <a href='x_i'>x_i</a> <math>")
    assert typeset_html("<p>a &lt; b</p>") == f"<p>{typeset('a < b')}</p>"


@pytest.mark.parametrize("note", NOTES, ids=lambda note: note.name)
def test_every_note_is_set_and_nothing_is_lost(note):
    """What is typeset is well formed, and has the letters and digits of what was written."""
    for line in note.text.splitlines():
        text = re.sub(r"`[^`]*`", "", line)
        made = typeset(text)
        tree = ElementTree.fromstring(f"<p>{made}</p>")
        assert _letters("".join(tree.itertext())) == _letters(text), line


def _letters(text: str) -> list[str]:
    """Letters and digits; sorted, as a power may be written before an index."""
    return sorted(re.sub(r"[\W_]", "", text).translate(_DIGITS))


_DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉ᵀᵗₓ", "01234567890123456789Ttx")


def test_limits_are_those_of_every_note():
    page = texts.limits(NOTES)
    assert [note.name for note in NOTES if note.limits and f"]({note.page})" not in page] == []
    assert sum(bool(note.limits) for note in NOTES) > 90


def test_the_table_of_rooms_is_that_of_the_code():
    """`python -m tools.handbook.room_list` writes it."""
    assert room_list.written_table() == room_list.room_table()


def test_the_map_has_every_room_and_no_way_up():
    order = [name for layer in room_map.layers() for name in layer]
    folders = {file.parent.name for file in (TOP / "src/adomnia").glob("*/__init__.py")}
    assert folders <= set(order)
    level = {name: index for index, layer in enumerate(room_map.layers()) for name in layer}
    pairs = room_map.needed()
    assert [pair for pair in pairs if level[pair[0]] >= level[pair[1]]] == []
    for picture in (room_map.map_picture(), room_map.matrix_picture()):
        ElementTree.fromstring(picture)
        assert all(f">{name}</text>" in picture for name in order)


def test_the_journey_pays_before_it_reads():
    steps = [step.function.split(".")[-1] for step in journey.journey()]
    assert steps.index("reserve") < steps.index("measure") < steps.index("answered")
    ElementTree.fromstring(journey.journey_picture())


def test_the_commands_are_all_there():
    page = command_page()
    for verb in ("ask", "plan", "release", "audit", "serve", "why"):
        assert f"## `adomnia {verb}`" in page
    assert "<code>--epsilon" in page


def test_every_page_of_docs_has_its_place():
    nav = (TOP / "mkdocs.yml").read_text("utf-8")
    pages = [file.name for file in (TOP / "docs").glob("*.md")]
    assert [page for page in pages if f": {page}" not in nav] == []


def test_the_site_is_whole_and_needs_no_network(tmp_path):
    """Strict: a link or an anchor that leads nowhere, or a page without a place, ends the build."""
    places = os.pathsep.join([str(TOP / "src"), str(TOP)])
    words = ["-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    ran = subprocess.run(
        [sys.executable, *words],
        cwd=TOP,
        env={**os.environ, "PYTHONPATH": places, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    loads = re.compile(r"<(?:script|link|img|iframe)[^>]*(?:src|href)=[\"']?https?://[^\"' >]+")
    pages = list(tmp_path.rglob("*.html"))
    assert len(pages) > 150
    found = [hit for page in pages for hit in loads.findall(page.read_text("utf-8"))]
    assert [hit for hit in found if "canonical" not in hit] == []
