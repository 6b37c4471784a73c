"""What a curator says of the table and its columns stands at every door of the server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from console_living import POLICY, Living, make_folder

import adomnia
from adomnia.curator.data.editions import Editions
from adomnia.curator.releases.release_folder import write_folder
from adomnia.errors import PolicyError
from adomnia.limits import MAX_DESCRIPTION
from adomnia.policy.policy import read_policy
from adomnia.policy.promise import Promise
from adomnia.present.release_page import release_page
from adomnia.server.http.schema_view import _tables
from adomnia.server.postgres.catalogue_content import shared_catalogue
from adomnia.wire.catalogue import Catalogue

TABLE, COLUMN = 'People of the <b>census</b>, "2019"', "Years since birth; ✓ checked & signed"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = make_folder(tmp_path_factory.mktemp("described"))
    table, column = (f"description = {json.dumps(said)}" for said in (TABLE, COLUMN))
    text = POLICY.replace('table = "people"', f'table = "people"\n{table}')
    text = text.replace("[attributes.age]", f"[attributes.age]\n{column}")
    made.write_text(text)
    return made


@pytest.fixture(scope="module")
def database(file):
    with adomnia.open(file) as opened:
        yield opened


def test_a_policy_and_its_table_have_them(database):
    assert database.policy.description == database.table.description == TABLE
    assert database.table.attributes["age"].description == COLUMN
    assert database.table.attributes["sex"].description == ""


def test_the_console_shows_them_escaped(file):
    with Living(file) as living:
        for page in ("/policy", "/"):
            text = living.client("alice").get(page).text
            assert "People of the &lt;b&gt;census&lt;/b&gt;, &#34;2019&#34;" in text
            assert "Years since birth; ✓ checked &amp; signed" in text


def test_http_tells_them(database):
    described = next(iter(_tables(database)))
    assert described.description == TABLE
    found = {one.name: one.description for one in described.attributes}
    assert (found["age"], found["sex"]) == (COLUMN, None)


def test_the_catalogue_of_postgresql_tells_them(database):
    catalogue = Catalogue(shared_catalogue(database), "alice", database="x", variables={})
    sql = (
        "SELECT obj_description('people'::regclass), col_description('people'::regclass, 2), "
        "(SELECT description FROM adomnia.domains WHERE attribute = 'age')"
    )
    [(table, *columns)] = catalogue.run(sql).rows
    assert table.startswith(f"{TABLE} (private: each row protected")
    assert columns == [f"{COLUMN} (whole numbers from 0 to 120)", COLUMN]


def test_a_release_tells_them(database, tmp_path):
    made = database.release(database.plan_release(marginals=["age", "sex"], epsilon=1))
    page = release_page(made)
    assert "People of the &lt;b&gt;census" in page
    assert "checked &amp; signed" in page
    place = write_folder(made, tmp_path / "out")
    said = json.loads((place / "csv-metadata.json").read_text())
    columns = [column for table in said["tables"] for column in table["tableSchema"]["columns"]]
    assert COLUMN in {column.get("dc:description") for column in columns}


@pytest.mark.parametrize("text", ["", "x" * (MAX_DESCRIPTION + 1), "a\\u0000b", "a\\u001bb"])
def test_what_is_no_description_is_refused_with_its_line(tmp_path, text):
    file = tmp_path / "adomnia.toml"
    file.write_text(f'[data]\nsource = "x.csv"\ndescription = "{text}"\n[privacy]\nepsilon = 1\n')
    with pytest.raises(PolicyError) as caught:
        read_policy(file)
    assert "description" in str(caught.value)


def test_a_description_changes_no_edition_and_no_promise(file, tmp_path):
    (tmp_path / "people.csv").write_bytes((file.parent / "people.csv").read_bytes())
    policy = tmp_path / "adomnia.toml"
    policy.write_text(POLICY)
    with adomnia.open(policy) as before:
        first, promise = Editions(before.policy).known(), Promise.of(before.policy)
    policy.write_text(file.read_text())
    with adomnia.open(policy) as after:
        assert Editions(after.policy).known() == first is not None
        assert Promise.of(after.policy).digest == promise.digest
