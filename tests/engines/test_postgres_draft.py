"""A draft of a table on a server: tables are listed, units counted, moments seen."""

from __future__ import annotations

import pytest

from adomnia.engines.postgres.tables import tables
from adomnia.errors import PolicyError
from adomnia.review.drafts.draft import Wish, draft_policy
from tests.engines.postgres_place import placed


@pytest.fixture
def place():
    with placed() as made:
        yield made


def url(place):
    return place.server.url(role="reader")


def test_tables_that_may_be_read_are_listed_with_their_schemas(place):
    place.run("CREATE TABLE people (id int, age int); CREATE VIEW old AS SELECT age FROM people")
    found = tables(url(place))
    assert (found[f"{place.schema}.people"], found[f"{place.schema}.old"]) == (2, 1)
    place.owner.execute("CREATE TABLE hidden (a int)")
    assert f"{place.schema}.hidden" not in tables(url(place))


def test_a_server_with_several_tables_asks_which(place, tmp_path):
    place.run("CREATE TABLE one (a int); CREATE TABLE two (a int, b int)")
    with pytest.raises(PolicyError) as caught:
        draft_policy(url(place), tmp_path / "adomnia.toml")
    assert f"{place.schema}.two (2 columns)" in caught.value.hint


def test_a_server_that_is_not_there_is_told_without_its_password(tmp_path):
    with pytest.raises(PolicyError) as caught:
        draft_policy("postgresql://me:secret@127.0.0.1:1/db", tmp_path / "adomnia.toml")
    assert "cannot be listed" in str(caught.value)
    assert "secret" not in str(caught.value)


def test_units_are_counted_on_the_server(place, tmp_path):
    place.run(
        "CREATE TABLE visits (patient_id int, income int, at timestamptz, u uuid, note text);"
        "INSERT INTO visits SELECT i % 500, (i * 7919) % 100003, "
        "TIMESTAMPTZ '2020-01-01 10:30Z' + i * interval '1 hour', gen_random_uuid(), "
        "CASE WHEN i = 7 THEN 'rare' ELSE 'usual' END FROM generate_series(0, 1999) i"
    )
    wish = Wish(table=f"{place.schema}.visits")
    made = draft_policy(url(place), tmp_path / "adomnia.toml", wish)
    assert [(unit.name, unit.values, unit.most) for unit in made.counted] == [
        ("patient_id", 500, 4), ("u", 2000, 1),
    ]  # fmt: skip
    assert "max_rows = 4" in made.text
    assert "[attributes.income]" in made.text
    assert "times of the day" in made.text or 'kind = "timestamp"' in made.text
    assert "rare" not in made.text.replace("rarely", "")
