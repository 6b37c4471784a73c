"""A question to a cluster of two workers, one of which is killed meanwhile; run as a process.

It takes a policy and a Parquet file, and prints what was answered, paid and lost as JSON.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

from pyspark.sql import SparkSession

import adomnia

ROWS = 40
"""Each row is a task, and sleeps: the question takes seconds on any machine."""


def executors() -> list[int]:
    """The workers' processes: those of Java below this process."""
    parents, found = {}, []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "stat").read_text().rpartition(")")[2].split()
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            parents[int(entry.name)] = int(words[1])
            if b"CoarseGrainedExecutorBackend" in command:
                found.append(int(entry.name))
    return [pid for pid in found if _is_below(pid, os.getpid(), parents)]


def _is_below(pid: int, ancestor: int, parents: dict[int, int]) -> bool:
    while pid in parents and pid != ancestor:
        pid = parents[pid]
    return pid == ancestor


def kill_one(session: SparkSession) -> int:
    """Kill a worker when an eighth of the tasks is done; how many were."""
    tracker = session.sparkContext.statusTracker()
    while True:
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        done = max((stage.numCompletedTasks for stage in stages if stage), default=0)
        if done >= ROWS // 8:
            break
        time.sleep(0.05)
    os.kill(executors()[0], signal.SIGKILL)
    return done


def main(policy: str, data: str) -> None:
    """Ask, kill, and tell."""
    settings = {
        "spark.ui.enabled": "false", "spark.log.level": "OFF",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
    }  # fmt: skip
    builder = SparkSession.builder.master("local-cluster[2,1,1024]")
    session = builder.config(map=settings).getOrCreate()
    slow = "java_method('java.lang.Thread', 'sleep', 200L) IS NOT NULL"
    frame = session.read.parquet(data).repartition(ROWS).where(slow)
    told = {}
    with adomnia.open(policy, source=frame) as db:
        killer = threading.Thread(target=lambda: told.update(done=kill_one(session)), daemon=True)
        killer.start()
        answer = db.session().ask("SELECT sex, COUNT(*) FROM people GROUP BY sex", epsilon=50)
        killer.join()
        told |= {"rows": answer.rows, "spent": db.budget()["data"]["spent"]}
        told |= {"ansi": session.conf.get("spark.sql.ansi.enabled"), "workers": len(executors())}
        told["debits"] = sum(entry.kind == "reserved" for entry in db.ledger())
    session.stop()
    print(json.dumps(told, default=str))


if __name__ == "__main__":
    main(*sys.argv[1:])
