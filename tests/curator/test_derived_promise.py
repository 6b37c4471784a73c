"""What is promised of rows that a view derives: nothing that was said of stored rows is believed of
them, and they are priced anew like all others."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

import adomnia
from adomnia.errors import PolicyError, QuestionError
from tests.clinic import PRIVACY, TABLES, write_clinic

VIEW = '[views.secret]\nsql = "{sql}"\n'
FILTERED = "SELECT p.sex, v.ward FROM visits v JOIN patients p ON p.id = v.patient WHERE cost > 500"
OUTER = (
    "SELECT p.sex, v.ward FROM patients p LEFT JOIN visits v ON v.patient = p.id AND v.cost > 500"
)
VOUCHED = 'nullable = true\nother = "?"\nsensitive = false\n'


def parquet_clinic(folder: Path, sql: str, privacy: str = PRIVACY) -> Path:
    """A clinic whose sexes and wards are not sensitive, in files of which every row is one."""
    file = write_clinic(folder, privacy=privacy)
    for source in folder.glob("*.csv"):
        into = source.with_suffix(".parquet")
        duckdb.execute(f"COPY (FROM '{source}') TO '{into}' (FORMAT parquet)")
    text = TABLES.replace(".csv", ".parquet")
    for values in ('values = ["F", "M"]\n', 'values = ["a", "b", "c"]\n'):
        text = text.replace(values, values + VOUCHED)
    file.write_text(text + VIEW.format(sql=sql) + privacy, "utf-8")
    return file


@pytest.mark.parametrize("sql", [FILTERED, OUTER])
@pytest.mark.parametrize("method", ["fourier", "marginals-lp"])
def test_no_table_of_a_view_is_spared_its_noise(tmp_path: Path, sql: str, method: str) -> None:
    """Which rows are there, and what is missing in them, rests on costs, which are secret."""
    bounded = PRIVACY.replace("[privacy]", '[privacy]\nneighbors = "bounded"')
    with adomnia.open(parquet_clinic(tmp_path, sql, bounded)) as database:
        view = database.view("secret")
        planned = view.plan_release(marginals=["sex", "sex, ward"], epsilon="0.001", method=method)
        made = view.release(planned)
    assert min(margin.min() for margin in made.margins.values()) > 100


STRONGER = [
    ('unit = "patients"', 'unit = "patients"\ngroup = 3', "30"),
    ("[privacy]", '[privacy]\nneighbors = "bounded"', "20"),
]


@pytest.mark.parametrize(("old", "new", "spent"), STRONGER)
@pytest.mark.parametrize("way", ["ask", "release"])
def test_what_was_asked_through_a_view_is_priced_anew(
    tmp_path: Path, way: str, old: str, new: str, spent: str
) -> None:
    file = write_clinic(tmp_path)
    file.write_text(TABLES + VIEW.format(sql="SELECT ward, cost FROM visits") + PRIVACY, "utf-8")
    with adomnia.open(file) as database:
        view = database.view("secret")
        if way == "ask":
            sql = "SELECT ward, COUNT(*) AS n FROM secret GROUP BY ward"
            view.session().ask(sql, epsilon=10)
        else:
            view.release(view.plan_release(marginals=["ward"], epsilon=10))
        assert database.budget()["data"]["spent"] == "10"
    file.write_text(file.read_text("utf-8").replace(old, new, 1), "utf-8")
    with adomnia.open(file) as database:
        assert database.budget()["data"]["spent"] == spent


def test_a_unit_cannot_make_the_engine_work_without_end(tmp_path: Path) -> None:
    joins = " ".join(f"JOIN visits v{i} ON v{i}.patient = p.id" for i in range(11))
    few = " ".join(f"JOIN visits v{i} ON v{i}.patient = p.id" for i in range(9))
    with adomnia.open(write_clinic(tmp_path)) as database:
        session = database.session()
        with pytest.raises(QuestionError, match="more than 1,000,000 of the joined rows"):
            session.ask(f"SELECT COUNT(*) AS n FROM patients p {joins}", epsilon=1)
        assert database.budget()["data"]["spent"] == "0"
        assert session.ask(f"SELECT COUNT(*) AS n FROM patients p {few}", epsilon=1).margins["n"]


@pytest.mark.parametrize("way", ["visits.csv", "./visits.csv", "absolute", "link.csv"])
def test_a_private_table_is_not_public_however_it_is_written(tmp_path: Path, way: str) -> None:
    file = write_clinic(tmp_path)
    (tmp_path / "link.csv").symlink_to(tmp_path / "visits.csv")
    source = str(tmp_path / "visits.csv") if way == "absolute" else way
    public = f'[public.offered]\nsource = "{source}"\nkey = "id"\n'
    file.write_text(TABLES + public + PRIVACY, "utf-8")
    with pytest.raises(PolicyError, match="is the private table 'visits'") as refused:
        adomnia.open(file)
    assert refused.value.line is not None
