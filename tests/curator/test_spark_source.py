"""The whole way on Spark: `ask` is unchanged, a worker may die, and a question is paid once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

import spark_session

import adomnia
from adomnia.curator.source import engine_of
from adomnia.errors import PolicyError

COUNT = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
POLICY = """[data]
source = "{source}"
table = "people"

[privacy]
epsilon = 100
confirmed = true

[attributes.sex]
values = ["F", "M"]

[attributes.age]
low = 0
high = 120
"""


@pytest.fixture
def people(tmp_path):
    """A Parquet file of 40 rows, and a policy about it."""
    path = tmp_path / "people.parquet"
    rows = "SELECT CASE WHEN i % 4 = 0 THEN 'F' ELSE 'M' END AS sex, i AS age FROM range(40) t(i)"
    duckdb.execute(f"COPY ({rows}) TO '{path}' (FORMAT parquet)")
    return path


@pytest.fixture
def policy(people, tmp_path):
    """Writes a policy with a source."""

    def write(source):
        file = tmp_path / "adomnia.toml"
        file.write_text(POLICY.format(source=source), "utf-8")
        return file

    return write


@pytest.fixture
def cluster(tmp_path):
    """Runs a Python program that may start a cluster, whose files lie in a folder of its own."""
    import pyspark

    home = tmp_path / "spark"
    home.mkdir()
    for name in ("bin", "jars"):
        (home / name).symlink_to(Path(pyspark.__file__).parent / name)
    given = {"SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1"}
    options = {"env": os.environ | given, "cwd": tmp_path, "timeout": 500}

    def run(*words):
        program = [sys.executable, *map(str, words)]
        return subprocess.run(program, check=False, capture_output=True, text=True, **options)

    return run


def test_a_killed_worker_costs_nothing(people, policy, cluster):
    script = Path(__file__).parent / "spark_killing.py"
    ran = cluster(script, policy("handed in"), people)
    assert ran.returncode == 0, ran.stderr[-2000:]
    told = json.loads(ran.stdout.splitlines()[-1])
    assert told["rows"] == [["F", 10], ["M", 30]]
    assert (told["spent"], told["debits"]) == ("50", 1)
    assert told["done"] < 40
    assert told["ansi"] == "true"


def test_ask_is_unchanged_on_a_cluster(people, policy, cluster):
    settings = "spark.sql.shuffle.partitions=2"
    file = policy(f"spark://local-cluster[2,1,1024]?path={people}&{settings}")
    program = "from adomnia.cli.main import main; main()"
    words = ("ask", COUNT, "--epsilon", "50", "--format", "json", "--policy", file)
    ran = cluster("-c", program, *words)
    assert (ran.returncode, ran.stderr) == (0, "")
    answer = json.loads(ran.stdout)
    assert not (people.parent / "spark-warehouse").exists()
    assert answer["rows"] == [["F", 10], ["M", 30]]
    assert answer["spent"] == {"epsilon": "50"}


def test_a_dataframe_is_handed_in(people, policy):
    session = spark_session.shared()
    file = policy("handed in")
    before = session.sql("SHOW TABLES IN global_temp").collect()
    for source in (session.read.parquet(str(people)), session):
        session.read.parquet(str(people)).createOrReplaceTempView("people")
        with adomnia.open(file, source=source) as db:
            alice = db.session()
            first = alice.ask(COUNT, epsilon=20)
            assert first.rows == [("F", 10), ("M", 30)]
            assert alice.ask(COUNT, epsilon=20).spent["epsilon"] == 0  # the same data, and answer
            planned = db.plan_release(ways=1, marginals=(), epsilon=20)
            assert db.release(planned).tables
    session.catalog.dropTempView("people")
    assert session.sql("SHOW TABLES IN global_temp").collect() == before
    assert session.conf.get("spark.sql.ansi.enabled") == "true"


def test_what_cannot_be_handed_in_is_refused():
    session = spark_session.shared()
    for source in (session.sparkContext, session.readStream.format("rate").load(), object()):
        with pytest.raises(PolicyError):
            engine_of(source, "people", {})
