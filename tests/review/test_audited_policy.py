"""`[audit]` in the policy: read as it is written, and refused with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from adomnia.errors import PolicyError
from adomnia.policy.policy import Audit, Policy, read_policy

POLICY = """[data]
source = "people.csv"
[privacy]
epsilon = 1
[attributes.sex]
values = ["F", "M"]
[attributes.age]
low = 0
high = 10
[attributes.town]
values = ["A", "B"]
"""


def read(folder: Path, *lines: str) -> Policy:
    (folder / "adomnia.toml").write_text(POLICY + "[audit]\n" + "\n".join(lines) + "\n")
    return read_policy(folder / "adomnia.toml")


def test_without_the_section_there_are_defaults(tmp_path):
    (tmp_path / "adomnia.toml").write_text(POLICY)
    assert read_policy(tmp_path / "adomnia.toml").audit == Audit()
    assert Audit().disclosures is None
    assert (Audit().amber, Audit().red) == (0.05, 0.2)


def test_everything_is_read(tmp_path):
    audit = read(
        tmp_path, 'public = ["sex", "age"]', 'sensitive = "town"', "tau = 0.1", "kj = 4", "kcp = 1",
        "disclosures = 0", 'gate = "warn"', "amber = 0.1", "red = 0.3", "independent = false",
        "group = 3", "repeated = true",
    ).audit  # fmt: skip
    assert audit == Audit(
        ("sex", "age"), "town", 0.1, 4.0, 1.0, 0, "warn", 0.1, 0.3,
        {"independent": False, "group": 3, "repeated": True},
    )  # fmt: skip


@pytest.mark.parametrize(
    "line",
    [
        'public = ["nothing"]', 'public = "sex"', 'sensitive = "nothing"', "sensitive = 3",
        "tau = 0", "tau = 1", 'tau = "x"', "kj = 1", "kcp = 2", "disclosures = -1",
        "disclosures = true", 'gate = "open"', "amber = 0.5", "red = 2", "independent = 1",
        "group = 0", "releases = 1.5", "unknown = 1",
    ],
)  # fmt: skip
def test_what_is_wrong_names_its_line(tmp_path, line):
    with pytest.raises(PolicyError) as refused:
        read(tmp_path, line)
    assert refused.value.line == len(POLICY.splitlines()) + 2


def test_the_sensitive_attribute_is_not_public(tmp_path):
    with pytest.raises(PolicyError, match="not public"):
        read(tmp_path, 'public = ["sex", "age"]', 'sensitive = "age"')
