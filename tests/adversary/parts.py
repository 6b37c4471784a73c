"""The parts of the adversary: what is used, and how large a share of all triples each gets."""

from __future__ import annotations

import multiprocessing
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec

from tests import postgres_server
from tests.adversary import choices, found, graphs, priors, releases, servers, sql, tables
from tests.adversary.pairs import Stretch, Tally
from tests.adversary.seams import install

Run = Callable[[Stretch], None]
APART = 1_000_000
"""Worlds of different stretches are this far apart, so that none is drawn twice."""
ASIDE = 1000 * APART
"""So are those of different parts, so that they do not all see the same few."""


@dataclass(frozen=True)
class Part:
    """How it is run, its share of a million triples, and how many are one stretch."""

    run: Run
    share: int
    chunk: int = 4000
    there: Callable[[], bool] = lambda: True


def _spark_there() -> bool:
    return shutil.which("java") is not None and find_spec("pyspark") is not None


PARTS: dict[str, Part] = {
    "sql": Part(sql.run, 742_500),
    "choices": Part(choices.run, 50_000),
    "graphs": Part(graphs.run, 40_000),
    "priors": Part(priors.run, 30_000, 1500),
    "releases": Part(releases.run, 15_000, 750),
    "mining": Part(releases.run_models, 2_000, 200),
    "postgres": Part(
        servers.run_postgres, 20_000, there=lambda: postgres_server.binaries() is not None
    ),
    "spark": Part(servers.run_spark, 500, there=_spark_there),
    "tables": Part(tables.run, 58_000, 2000),
    "postgres-tables": Part(
        tables.run_postgres, 2_000, 500, there=lambda: postgres_server.binaries() is not None
    ),
    "found": Part(found.run, 38_000, 1000),
    "postgres-found": Part(
        found.run_postgres, 2_000, 500, there=lambda: postgres_server.binaries() is not None
    ),
}


@dataclass(frozen=True)
class Task:
    """One stretch of work: at least so many triples, from a world on, about `each` uses of it."""

    part: str
    seed: int
    triples: int
    first: int
    each: int = 60


def first_of(part: str) -> int:
    """The number of the first world of a part."""
    return list(PARTS).index(part) * ASIDE


def tasks(seed: int, triples: int) -> Iterator[Task]:
    """All stretches of a whole run."""
    for name, part in PARTS.items():
        if not part.there():
            continue
        left, place = max(1, triples * part.share // 1_000_000), 0
        while left > 0:
            yield Task(name, seed, min(left, part.chunk), first_of(name) + place * APART)
            left, place = left - part.chunk, place + 1


def work(task: Task) -> Tally:
    """One stretch, in whichever process."""
    install()
    start = time.process_time()
    tally = Tally()
    PARTS[task.part].run(Stretch(task.seed, task.triples, task.first, tally, task.each))
    command = f"python -m tests.adversary --seed {task.seed} --part {task.part} --triples 1"
    tally.failures = [
        failure.replace("world ", f"{command} --world ") for failure in tally.failures
    ]
    tally.seconds = time.process_time() - start
    return tally


def whole(seed: int, triples: int, jobs: int) -> Tally:
    """A whole run in several processes."""
    listed = sorted(tasks(seed, triples), key=lambda task: PARTS[task.part].share)
    tally = Tally()
    if jobs == 1:
        for task in listed:
            tally.merge(work(task))
        return tally
    with multiprocessing.get_context("spawn").Pool(jobs, maxtasksperchild=8) as pool:
        for found in pool.imap_unordered(work, listed):
            tally.merge(found)
    return tally
