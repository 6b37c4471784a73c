"""The whole way on Spark: `ask` is unchanged, a worker may die, and a question is paid once."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pytest
from people_policy import people_policy

sys.path.insert(0, str(Path(__file__).parents[1]))

import adomnia
from adomnia.curator.data.sources import engine_of
from adomnia.errors import PolicyError
from tests import spark_session

COUNT = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"


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
        file.write_text(people_policy(source, privacy="epsilon = 100"), "utf-8")
        return file

    return write


@pytest.fixture
def spark_home(tmp_path):
    """What a program needs that starts Spark, whose files lie in a folder of its own."""
    import pyspark

    home = tmp_path / "spark"
    home.mkdir()
    for name in ("bin", "jars"):
        (home / name).symlink_to(Path(pyspark.__file__).parent / name)
    given = {"SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1"}
    return {"env": os.environ | given, "cwd": tmp_path}


@pytest.fixture
def cluster(spark_home):
    """Runs a Python program that may start a cluster."""

    def run(*words):
        program = [sys.executable, *map(str, words)]
        options = {"capture_output": True, "text": True, "timeout": 500, **spark_home}
        return subprocess.run(program, check=False, **options)

    return run


@pytest.fixture
def master(spark_home, tmp_path):
    """The address of a master with one worker, processes of their own that end with the test."""
    started = []

    def start(part, ready, *words):
        """Starts a part of Spark; what its log says when it is ready."""
        log = tmp_path / f"{part}.log"
        command = [f"{spark_home['env']['SPARK_HOME']}/bin/spark-class"]
        command += [f"org.apache.spark.deploy.{part}", "--host", "127.0.0.1", "--port", "0"]
        with log.open("w") as out:
            options = {"stdout": subprocess.DEVNULL, "stderr": out, **spark_home}
            started.append(subprocess.Popen([*command, "--webui-port", "0", *words], **options))
        while started[-1].poll() is None:
            if found := re.search(ready, log.read_text("utf-8")):
                return found[0]
            time.sleep(0.2)
        raise AssertionError(log.read_text("utf-8")[-2000:])

    try:
        address = start("master.Master", r"spark://127\.0\.0\.1:\d+")
        room = ("--cores", "1", "--memory", "1g", "--work-dir", str(tmp_path / "work"))
        start("worker.Worker", "Successfully registered with master", *room, address)
        yield address
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait(300)


def test_a_killed_worker_costs_nothing(people, policy, cluster):
    script = Path(__file__).parent / "spark_killing.py"
    ran = cluster(script, policy("handed in"), people)
    assert ran.returncode == 0, ran.stderr[-2000:]
    told = json.loads(ran.stdout.splitlines()[-1])
    assert told["rows"] == [["F", 10], ["M", 30]]
    assert (told["spent"], told["debits"]) == ("50", 1)
    assert told["done"] < 40
    assert told["ansi"] == "true"


ASK = "from adomnia.cli.main import main; main()"


def test_ask_is_unchanged_on_a_cluster(people, policy, cluster):
    settings = "spark.sql.shuffle.partitions=2"
    file = policy(f"spark://local-cluster[2,1,1024]?path={people}&{settings}")
    words = ("ask", COUNT, "--epsilon", "50", "--format", "json", "--policy", file)
    ran = cluster("-c", ASK, *words)
    assert (ran.returncode, ran.stderr) == (0, "")
    answer = json.loads(ran.stdout)
    assert not (people.parent / "spark-warehouse").exists()
    assert answer["rows"] == [["F", 10], ["M", 30]]
    assert answer["spent"] == {"epsilon": "50"}


def test_ask_is_unchanged_on_a_standalone_master(people, policy, cluster, master):
    settings = "spark.driver.host=127.0.0.1&spark.driver.bindAddress=127.0.0.1"
    file = policy(f"{master}?path={people}&{settings}")
    words = ("ask", COUNT, "--epsilon", "50", "--format", "json", "--policy", file)
    ran = cluster("-c", ASK, *words)
    assert (ran.returncode, ran.stderr) == (0, "")
    answer = json.loads(ran.stdout)
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
