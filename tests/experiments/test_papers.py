"""The papers' claims in the quick mode: every verdict is the one that was found before."""

from __future__ import annotations

from html import escape

import pytest

from experiments.__main__ import claims
from experiments.claim import Scale
from experiments.page import PAPERS, report


@pytest.mark.parametrize("claim", claims(), ids=lambda claim: claim.name)
def test_the_verdict_stands(claim):
    found = claim.run(Scale(quick=True))
    assert found.verdict == claim.expected, f"{found.ours}: {found.why}"
    assert claim.says
    assert claim.number
    assert escape(claim.place) in report([(claim, found)], quick=True)


def test_names_are_unique_and_every_paper_is_there():
    names = [claim.name for claim in claims()]
    assert len(set(names)) == len(names)
    assert {claim.paper for claim in claims()} == set(PAPERS)
