"""The policy reader: whatever is wrong is an error with its line, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from town import Town, policy_text

import adomnia
from adomnia.policy.policy import read_policy

GOOD = policy_text(
    'epsilon = 4.0\ndelta = 1e-6\nneighbors = "unbounded"\nunit = "person_id"\nmax_rows = 5',
    '[attributes.day]\nkind = "date"\nlow = "2015-01-01"\nhigh = 2025-12-31\n'
    '[attributes.other]\nvalues = ["A", "B"]\nother = "rest"\nnullable = true\n'
    '[analysts.alice]\nepsilon = 1.0\n[public.regions]\nsource = "r.csv"\nkey = "id"\n'
    '[ledger]\nurl = "other.ledger"\n',
)

BAD: list[tuple[str, str, str]] = [
    ("low = 0\nhigh = 120", "low = 0\nhihg = 120", "hihg = 120"),
    ("[ledger]", "[legder]", "[legder]"),
    ("confirmed = true", "confirmd = true", "confirmd = true"),
    ("low = 0\nhigh = 120", "low = 120\nhigh = 0", "low = 120"),
    ("low = 0\nhigh = 120", "low = 0", "[attributes.age]"),
    ("low = 0\nhigh = 120", 'low = 0\nhigh = "x"', 'high = "x"'),
    ("low = 0\nhigh = 120", "low = nan\nhigh = 120", "low = nan"),
    ("low = 0\nhigh = 120", "low = 0\nhigh = 1e999999999", "high = 1e999999999"),
    ("low = 0\nhigh = 120", "low = 0\nhigh = 120\nstep = 0", "low = 0"),
    ("low = 0\nhigh = 120", "low = 0\nhigh = 120\nstep = 0.7", "low = 0"),
    ('values = ["F", "M"]', 'values = ["F", "F"]', 'values = ["F", "F"]'),
    ('values = ["F", "M"]', "values = []", "values = []"),
    ('values = ["F", "M"]', 'values = ["F", 1]', 'values = ["F", 1]'),
    ('values = ["F", "M"]', "values = [[1]]", "values = [[1]]"),
    ('values = ["F", "M"]', 'values = "F"', 'values = "F"'),
    ("epsilon = 4.0", "epsilon = 0", "epsilon = 0"),
    ("epsilon = 4.0", "epsilon = -1", "epsilon = -1"),
    ("epsilon = 4.0", "epsilon = nan", "epsilon = nan"),
    ("epsilon = 4.0", "epsilon = inf", "epsilon = inf"),
    ("epsilon = 4.0", "epsilon = 1e999999999", "epsilon = 1e999999999"),
    ("epsilon = 4.0", 'epsilon = "much"', 'epsilon = "much"'),
    ("epsilon = 4.0", "epsilon = true", "epsilon = true"),
    ("epsilon = 4.0", "rho = 1", "delta = 1e-6"),
    ("delta = 1e-6", "delta = 1", "epsilon = 4.0"),
    ('neighbors = "unbounded"', 'neighbors = "near"', 'neighbors = "near"'),
    ('neighbors = "unbounded"', "neighbors = [1]", "neighbors = [1]"),
    ("max_rows = 5", "max_rows = 0", "max_rows = 0"),
    ("max_rows = 5", "max_rows = 2.5", "max_rows = 2.5"),
    ('unit = "person_id"', "unit = 5", "unit = 5"),
    ("max_rows = 5", 'max_rows = 5\nmechanisms = "mean"', 'mechanisms = "mean"'),
    ("max_rows = 5", "max_rows = 5\nmechanisms = [1]", "mechanisms = [1]"),
    ("max_rows = 5", 'max_rows = 5\nmechanisms = [""]', 'mechanisms = [""]'),
    ("max_rows = 5", "max_rows = 5\nmechanism = []", "mechanism = []"),
    ("confirmed = true", 'confirmed = "yes"', 'confirmed = "yes"'),
    ('low = "2015-01-01"', 'low = "yesterday"', 'low = "yesterday"'),
    ('kind = "date"', 'kind = "moon"', "[attributes.day]"),
    ('kind = "date"', "kind = []", "[attributes.day]"),
    ("[analysts.alice]\nepsilon = 1.0", "[analysts.alice]\nepsilon = 0", "epsilon = 0"),
    ("[analysts.alice]\nepsilon = 1.0", "[analysts]\nalice = 1", "alice = 1"),
    ('key = "id"', "", "[public.regions]"),
    ('source = "people.parquet"', "source = 7", "source = 7"),
    ('source = "people.parquet"', 'source = "people.parquet"\nmemory = 0', "memory = 0"),
    ('source = "people.parquet"', 'source = "people.parquet"\nmemory = "1 GB"', 'memory = "1 GB"'),
    ('source = "people.parquet"', 'source = "postgresql://h/d"\nmemory = 64', "memory = 64"),
    ("[ledger]", "[[prior]]\nsql = 7\n[ledger]", "sql = 7"),
    ("[ledger]", "[[prior]]\nvalues = 'x.csv'\n[ledger]", "[[prior]]"),
    ("[ledger]", "[prior]\nsql = 'SELECT 1'\n[ledger]", "[prior]"),
    ("[ledger]", "[[prior]]\nsql = 'SELECT 1'\nrounded = 0\n[ledger]", "rounded = 0"),
    ("[ledger]", "[[impossible]]\nwhen = 7\n[ledger]", "when = 7"),
    ("[ledger]", "[[impossible]]\n[ledger]", "[[impossible]]"),
    ("[ledger]", '[impossible]\nwhen = "age < 3"\n[ledger]', "[impossible]"),
    ("[ledger]", '[[impossible]]\nwhen = "ages < 3"\n[ledger]', 'when = "ages < 3"'),
    ("[ledger]", '[[impossible]]\nwhen = "age <"\n[ledger]', 'when = "age <"'),
    ("[ledger]", '[[impossible]]\nwhen = "age"\n[ledger]', 'when = "age"'),
    ("[ledger]", '[[impossible]]\nwhen = "1 = 1"\n[ledger]', 'when = "1 = 1"'),
    ("[ledger]", "[[impossible]]\nwhen = \"sex = 'X'\"\n[ledger]", "sex = 'X'"),
    ("[ledger]", "[[impossible]]\nwhen = \"age < 3, sex = 'F'\"\n[ledger]", "age < 3, sex"),
    ("[ledger]", '[[impossible]]\nwhen = "age < 3 GROUP BY 1"\n[ledger]', "GROUP BY 1"),
    (
        "[ledger]",
        '[[impossible]]\nwhen = "age < 3"\n[[impossible]]\nwhen = "age < \'x\'"\n[ledger]',
        "age < 'x'",
    ),
    ("[ledger]", "[ledger", "[ledger"),
    ("max_rows = 5", "max_rows = 5\nmax_rows = 6", "max_rows = 6"),
]


def test_the_good_one_is_read(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text(GOOD)
    policy = read_policy(tmp_path / "p.toml")
    assert policy.budget.epsilon == 4
    assert policy.attributes["other"].nullable
    assert policy.ledger == "other.ledger"


@pytest.mark.parametrize(("old", "new", "line"), BAD, ids=[case[1] for case in BAD])
def test_what_is_wrong_names_its_line(tmp_path: Path, old: str, new: str, line: str) -> None:
    assert old in GOOD
    text = GOOD.replace(old, new, 1)
    file = tmp_path / "p.toml"
    file.write_text(text)
    with pytest.raises(adomnia.PolicyError) as caught:
        read_policy(file)
    assert caught.value.exit_code == 2
    assert caught.value.line is not None
    assert line in text.splitlines()[caught.value.line - 1]
    assert str(file) in str(caught.value)
    assert not list(tmp_path.glob("*.ledger"))


@pytest.mark.parametrize(
    ("when", "message", "hint"),
    [
        ("age < 3 AND sexx = 'F'", "no attribute 'sexx'", "did you mean 'sex'?"),
        ("sex = 'm'", "'m' is no value of sex", "did you mean 'M'?"),
        ("age > 200", "age is never above 200", "between 0 and 120"),
        ("COUNT(*) > 3", "aggregate", ""),
        ("note LIKE 'a%'", "'note' has no list of values", "attributes with values"),
    ],
)
def test_what_cannot_be_is_said_of_listed_attributes(tmp_path: Path, when, message, hint) -> None:
    text = '[attributes.note]\nkind = "text"\n[[impossible]]\nwhen = "age = 1 AND sex = \'F\'"\n'
    (tmp_path / "p.toml").write_text(GOOD + f'{text}[[impossible]]\nwhen = "{when}"\n')
    with pytest.raises(adomnia.PolicyError, match=re.escape(message)) as caught:
        read_policy(tmp_path / "p.toml")
    assert hint in caught.value.hint
    assert caught.value.line == len((tmp_path / "p.toml").read_text().splitlines())


@pytest.mark.parametrize(
    "text",
    [
        *("", "x = 1", "data = 5", "[data]\n[privacy]", "[analysts]\n" * 2, "\x00"),
        *("[[attributes]]\nlow = 1", "[[ledger]]\nurl = 'a'", "[[data]]\nsource = 'x'"),
        *("a = " + "[" * 5000, f"a = {'9' * 5000}", "[[analysts]]\nalice = {epsilon = 1}"),
        "[data]\nsource = 'x'\n[privacy]\nepsilon = 1\n[[public]]",
    ],
    ids=lambda text: text[:25],
)
def test_odd_files_are_policy_errors(tmp_path: Path, text: str) -> None:
    file = tmp_path / "p.toml"
    file.write_text(text)
    with pytest.raises(adomnia.PolicyError):
        read_policy(file)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe\x00")
    for name in ("missing.toml", "bytes.toml", "."):
        with pytest.raises(adomnia.PolicyError):
            read_policy(tmp_path / name)


@pytest.mark.parametrize(
    ("old", "new", "line", "word"),
    [
        ('source = "people.parquet"', 'source = "gone.parquet"', "gone.parquet", "gone.parquet"),
        ('source = "people.parquet"', 'source = "oracle://x/y"', "oracle", "not supported"),
        ("[attributes.age]", "[attributes.weight]", "[attributes.weight]", "no column 'weight'"),
        ("confirmed = true", "confirmed = false", "confirmed = false", "not confirmed"),
        ("confirmed = true", "", "[privacy]", "not confirmed"),
        ("confirmed = true", 'confirmed = true\nunit = "who"\nmax_rows = 1', "who", "no column"),
        ("[attributes.age]", '[public.r]\nsource = "r.csv"\nkey = "k"\n[attributes.age]', "public",
         "does not exist"),
    ],
)  # fmt: skip
def test_what_the_data_contradicts_names_its_line(
    town: Town, old: str, new: str, line: str, word: str
) -> None:
    file = town.write()
    text = file.read_text().replace(old, new)
    file.write_text(text)
    with pytest.raises(adomnia.PolicyError, match=word) as caught:
        adomnia.open(file)
    assert caught.value.line is not None
    assert line in text.splitlines()[caught.value.line - 1]
    assert not list(town.folder.glob("adomnia.ledger*"))  # nothing was opened, nothing spent


WORDS = [
    *("=", "[", "]", '"', "\n", "[[", "{}", "x", ".", "[]", "'", "#", "\\", "0", "-1", "1e400"),
    *("nan", "inf", "true", "2020-01-01", "epsilon", "values", "low", "[privacy]", "other"),
]


@settings(max_examples=600, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(
        st.tuples(st.integers(0, len(GOOD)), st.integers(0, 12), st.sampled_from(["", *WORDS])),
        min_size=1,
        max_size=4,
    )
)
def test_a_mutated_policy_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, edits: list[tuple[int, int, str]]
) -> None:
    text = GOOD
    for place, cut, word in edits:
        text = text[:place] + word + text[place + cut :]
    file = tmp_path_factory.getbasetemp() / "mutated.toml"
    file.write_text(text)
    read = None
    try:
        read = read_policy(file)
    except adomnia.PolicyError as error:
        read = error
    assert isinstance(read, adomnia.PolicyError) or read.budget is not None


@settings(max_examples=300, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_lines_moved_and_dropped(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    lines = GOOD.splitlines()
    chosen = data.draw(st.lists(st.sampled_from(lines), min_size=1, max_size=len(lines)))
    file = tmp_path_factory.getbasetemp() / "moved.toml"
    file.write_text("\n".join(chosen))
    try:
        found: object = read_policy(file)
    except adomnia.PolicyError as error:
        found = error.exit_code
    assert found == 2 or found.budget is not None  # type: ignore[attr-defined]
