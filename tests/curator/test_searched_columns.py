"""What is added up of a table whose bound is found: sums find one, averages say what to do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import adomnia
from adomnia.errors import QuestionError
from tests.clinic import PRIVACY, write_clinic

AUTO = PRIVACY.replace("visits = 4", 'visits = "auto"')
PATIENTS = 400
VISITS = sum(patient % 4 for patient in range(PATIENTS))


@pytest.fixture
def session(tmp_path: Path) -> Iterator[adomnia.Session]:
    with adomnia.open(write_clinic(tmp_path, PATIENTS, AUTO)) as database:
        yield database.session()


def per_patient(shown: str) -> str:
    return (
        f"SELECT {shown} FROM (SELECT p.id, COUNT(v.id) AS n, SUM(v.cost) AS cost FROM patients p "
        "LEFT JOIN visits v ON v.patient = p.id GROUP BY p.id) t"
    )


@pytest.mark.parametrize("sum_", ["SUM(n)", "SUM(n * 2)", "SUM(CASE WHEN n > 0 THEN n ELSE 0 END)"])
def test_a_sum_over_persons_is_cut_off_at_a_bound_that_is_found(session, sum_: str) -> None:
    answer = session.ask(per_patient(f"{sum_} AS s"), epsilon=50)
    truth = VISITS * (2 if "*" in sum_ else 1)
    assert abs(answer.rows[0][0] - truth) < 20
    assert answer.margins["s"][0] < 20
    assert any("found privately" in omission.says for omission in answer.left_out)


@pytest.mark.parametrize("average", ["AVG(n)", "AVG(cost)", "VAR_SAMP(n)", "AVG(n + 1)"])
def test_an_average_that_would_be_noise_is_refused_before_it_is_paid(session, average: str) -> None:
    before = session.remaining()
    with pytest.raises(QuestionError, match="auto") as refused:
        session.ask(per_patient(f"{average} AS a"), epsilon=1)
    assert "LEAST(n, 50)" in refused.value.hint
    assert session.remaining() == before


@pytest.mark.parametrize(
    "shown",
    ["AVG(LEAST(n, 9))", "COUNT(*)", "MEDIAN(n)", "AVG(CASE WHEN n > 2 THEN 1 ELSE 0 END)",
     "SUM(POWER(LEAST(n, 9) - 4, 2))"],
)  # fmt: skip
def test_what_does_not_grow_with_the_bound_is_measured_as_it_is(session, shown: str) -> None:
    answer = session.ask(per_patient(f"{shown} AS x"), epsilon=50)
    assert not any("found privately" in omission.says for omission in answer.left_out)
    assert answer.margins["x"][0] is not None
