"""The papers' nouns are the code's: each has a module or a folder of its name."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src/adomnia"
NOUNS = tomllib.loads(Path(__file__).with_name("nouns.toml").read_text("utf-8"))
HOMES = [(source, noun, home) for source, nouns in NOUNS.items() for noun, home in nouns.items()]


def stands_in(noun: str, path: str) -> bool:
    """Whether every word of a noun is a word of a path, in the singular or in the plural."""
    said = re.sub(r"_|\.py$", " ", path)
    return all(
        re.search(rf"\b{_one_or_many(word)}\b", said, re.IGNORECASE) for word in noun.split()
    )


def _one_or_many(word: str) -> str:
    stem, ending = (word[:-1], "(y|ies)") if word.endswith("y") else (word, "(|s|es)")
    return re.escape(stem).replace(r"\-", " ?") + ending


@pytest.mark.parametrize(("source", "noun", "home"), HOMES)
def test_a_noun_has_a_home_of_its_name(source, noun, home):
    path = PACKAGE / home
    assert path.is_file() or (path / "__init__.py").is_file(), f"{noun} ({source})"
    assert stands_in(noun, home), f"{noun} ({source}) is not in {home}"


def test_every_paper_is_read_and_no_noun_twice():
    assert len(NOUNS) == 6
    assert all(len(nouns) >= 4 for nouns in NOUNS.values())
    names = [noun for _, noun, _ in HOMES]
    assert len(set(names)) == len(names) >= 60


@pytest.mark.parametrize(
    ("noun", "path", "there"),
    [
        ("parity", "marginals/paper/parities.py", True),
        ("non-negative", "marginals/paper/nonnegative.py", True),
        ("k-means", "mining/k_means.py", True),
        ("exponential mechanism", "mechanisms/noise/exponential.py", True),
        ("ratio", "server/registration.py", False),
        ("smooth sensitivity", "mechanisms/quantiles/smooth.py", False),
    ],
)
def test_a_noun_stands_in_a_path_as_a_word(noun, path, there):
    assert stands_in(noun, path) is there
