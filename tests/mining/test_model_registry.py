"""The registry: our own models, those of other packages, and what happens to broken ones."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import adomnia.mining
from adomnia.errors import MachineryError, QuestionError
from adomnia.mining import Estimator, model_named, models
from adomnia.mining.registry import GROUP, OWN, registered
from adomnia.testing.models import check_model
from tests.other_package import put_package

DOC = Path(__file__).parents[2] / "docs/own-model.md"
BLOCK = re.compile(r"^```(\w+)(?: run)?\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Puts a package on the path, with modules and an entry point for each model."""

    def put(points: str, **modules: str) -> Path:
        put_package(tmp_path, monkeypatch, GROUP, points, **modules)
        return tmp_path

    return put


def test_our_own_are_there_and_exported():
    assert models() == tuple(OWN)
    for name in OWN:
        made = model_named(name)
        assert issubclass(made, Estimator)
        assert made is getattr(adomnia.mining, name)
        assert made.__name__ == name


def test_the_package_of_the_documentation_is_found_and_keeps_the_laws(install):
    blocks = BLOCK.findall(DOC.read_text("utf-8"))
    module = next(text for kind, text in blocks if kind == "sh" and "nearest_mean.py" in text)
    (points,) = [text for kind, text in blocks if kind == "toml"]
    header, entry = points.strip().splitlines()
    assert header == f'[project.entry-points."{GROUP}"]'
    code = module.split("<<'END'\n")[1].removesuffix("END\n")
    install(entry.replace('"', ""), nearest_mean=code)
    assert models() == (*OWN, "NearestMean")
    made = model_named("NearestMean")
    assert issubclass(made, Estimator)
    check_model(made)


def test_none_takes_the_name_of_one_of_ours(install):
    install("KMeans = theirs_models:Other", theirs_models="Other = 3\n")
    assert registered() == {}
    assert model_named("KMeans") is adomnia.mining.KMeans


@pytest.mark.parametrize(
    ("text", "said"),
    [("1 / 0\n", "ZeroDivisionError"), ("Other = int\n", "no Unsupervised"),
     ("def Other(): pass\n", "no Unsupervised"), ("x = 1\n", "AttributeError")],
)  # fmt: skip
def test_what_cannot_be_loaded_says_so_and_harms_no_other(install, text, said, request):
    name = f"theirs_{request.node.callspec.indices['text']}"
    install(f"Other = {name}:Other", **{name: text})
    assert models()[-1] == "Other"
    with pytest.raises(MachineryError, match=said):
        model_named("Other")
    assert model_named("PCA") is adomnia.mining.PCA


def test_a_name_that_nobody_has_is_refused_with_those_there_are():
    with pytest.raises(QuestionError, match="no model 'Oracle'") as told:
        model_named("Oracle")
    assert "KMeans" in told.value.hint
