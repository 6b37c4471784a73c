"""Java's driver: statements, parameters, rows in parts, warnings."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from parlour import SECRET

JAR = Path("/usr/share/java/postgresql.jar")

pytestmark = pytest.mark.skipif(not JAR.exists(), reason="the JDBC driver is not installed")


@pytest.fixture(scope="module")
def manager():
    """Java's list of drivers."""
    jpype = pytest.importorskip("jpype")
    if not jpype.isJVMStarted():
        try:
            jpype.startJVM(classpath=[str(JAR)], convertStrings=True)
        except (jpype.JVMNotFoundException, OSError):
            pytest.skip("there is no Java")
    elif str(JAR) not in jpype.getClassPath():
        pytest.skip("Java was started without the driver")
    return jpype.JClass("java.sql.DriverManager")


@pytest.fixture
def line(parlour, manager):
    """Alice's connection."""
    address = f"jdbc:postgresql://127.0.0.1:{parlour.port}/town?options=-c%20adomnia.epsilon=0.5"
    made = manager.getConnection(address, "alice", SECRET)
    yield made
    made.close()


def rows(result, *readers):
    """All rows of a result."""
    found = []
    while result.next():
        found.append(tuple(getattr(result, read)(at) for at, read in enumerate(readers, 1)))
    return found


def test_a_question_and_its_warnings(parlour, line):
    before = parlour.spent()
    statement = line.createStatement()
    found = statement.executeQuery("SELECT sex, count(*) AS n FROM people GROUP BY sex")
    assert found.getMetaData().getColumnTypeName(2) == "int8"
    assert [row[0] for row in rows(found, "getString", "getLong")] == ["F", "M"]
    assert "this answer cost epsilon 0.5" in str(statement.getWarnings().getMessage())
    assert parlour.spent() == before + Fraction(1, 2)


def test_parameters_and_repeated_questions(parlour, line):
    import jpype

    before = parlour.spent()
    asked = line.prepareStatement(
        "SELECT count(*) FROM people WHERE age > ? AND sex = ? AND born < ?"
    )
    assert asked.getParameterMetaData().getParameterCount() == 3
    assert asked.getMetaData().getColumnCount() == 1
    assert parlour.spent() == before
    asked.setInt(1, 30)
    asked.setString(2, "F")
    asked.setDate(3, jpype.JClass("java.sql.Date").valueOf("1985-06-01"))
    counts = {rows(asked.executeQuery(), "getLong")[0] for _ in range(7)}  # some of them binary
    assert len(counts) == 1
    assert parlour.spent() == before + Fraction(1, 2)


def test_rows_in_parts_are_paid_once(parlour, line):
    before = parlour.spent()
    line.setAutoCommit(False)
    statement = line.createStatement()
    statement.setFetchSize(10)
    found = statement.executeQuery("SELECT age, count(*) FROM people GROUP BY age")
    assert len(rows(found, "getInt", "getLong")) > 100
    line.rollback()
    assert parlour.spent() == before + Fraction(1, 2)


def test_errors_carry_their_state_and_hint(line):
    import jpype

    with pytest.raises(jpype.JClass("java.sql.SQLException")) as caught:
        line.createStatement().executeQuery("SELECT * FROM people LIMIT 10")
    assert str(caught.value.getSQLState()) == "42601"
    assert "COUNT(*)" in str(caught.value.getServerErrorMessage().getHint())
