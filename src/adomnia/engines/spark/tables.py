"""What Spark reads: files, a table of its catalog, or a DataFrame that is handed in.

Each is read through a session of our own. What its rows are must rest on the data alone: a plan
that draws, cuts or numbers them is refused. What tells that its data changed is known without
reading a row: the names, sizes and times of its files.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote
from uuid import uuid4

from adomnia.engines.spark.sessions import Address, address, application, own, stopped
from adomnia.engines.spark.values import check_moments, raw
from adomnia.errors import PolicyError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["SparkRelation", "relation", "state_digest"]


@dataclass(frozen=True)
class SparkRelation:
    """Where it is, our session there, and how to read it now, know its state, and leave it."""

    place: str
    session: SparkSession
    read: Callable[[], DataFrame]
    state: Callable[[], object]
    leave: Callable[[], None]

    def ended(self) -> bool:
        """Whether the application has ended, or its Java has."""
        return stopped(self.session.sparkContext)


def state_digest(found: SparkRelation) -> str:
    """A digest of the state that its data is in."""
    return hashlib.sha256(repr(found.state()).encode()).hexdigest()


def relation(source: Any, table: str) -> SparkRelation:
    """What an address, a session or a DataFrame stands for."""
    if not isinstance(source, str):
        return _handed(source, table)
    where = address(source)
    started, leave = application(where)
    try:
        session = own(started)
        return (_files if where.path else _table)(where, session, table, leave)
    except BaseException:
        leave()
        raise


def _files(
    where: Address, session: SparkSession, table: str, leave: Callable[[], None]
) -> SparkRelation:
    """Parquet or ORC files, found anew each time; their columns are those of the first time.

    The columns are those of all files, or one of them would decide how the others are read: files
    in which a column has different types are refused here.
    """
    path = where.path or ""
    parquet = not path.rstrip("/").endswith(".orc")
    reader = session.read.format("parquet" if parquet else "orc")
    frame = reader.option("mergeSchema", True).load(path)
    stored, columns = raw(frame) if parquet else (frame.schema, ["*"])

    def read() -> DataFrame:
        return reader.schema(stored).load(path).selectExpr(*columns)

    check_moments(read())
    return SparkRelation(where.place, session, read, lambda: _listed(read()), leave)


def _table(
    where: Address, session: SparkSession, table: str, leave: Callable[[], None]
) -> SparkRelation:
    """A table of the catalog. Of a view, or what is not in files, nobody knows when it changed."""

    def read() -> DataFrame:
        session.catalog.refreshTable(table)
        return _steady(session.table(table))

    def state() -> object:
        stored = session.catalog.getTable(table).tableType in ("MANAGED", "EXTERNAL")
        frame = read()
        return _listed(frame) if stored and frame.inputFiles() else uuid4().hex

    check_moments(read())
    return SparkRelation(where.place, session, read, state, leave)


def _handed(source: Any, table: str) -> SparkRelation:
    """A DataFrame, or the table of a session, seen by our session as a view that both share.

    What it computes cannot be known from outside, so it is data of its own from when it is opened;
    files that it reads may change nevertheless.
    """
    from pyspark.sql import DataFrame, SparkSession  # noqa: PLC0415

    remote = ".connect." in type(source).__module__
    if remote or not isinstance(source, DataFrame | SparkSession):
        kind = type(source).__name__ + (" of Spark Connect" if remote else "")
        raise PolicyError(f"a {kind} cannot be a source", "hand in a session or a DataFrame")
    frame = source.table(table) if isinstance(source, SparkSession) else source
    if frame.isStreaming:
        raise PolicyError("a stream cannot be a source", "hand in a table")
    _steady(frame)
    check_moments(frame)
    session, name = own(frame.sparkSession), f"adomnia_{uuid4().hex}"
    frame.createGlobalTempView(name)
    shared = f"{session.conf.get('spark.sql.globalTempDatabase', 'global_temp')}.{name}"

    def leave() -> None:
        with suppress(Exception):  # the application may have ended
            session.catalog.dropGlobalTempView(name)

    def read() -> DataFrame:
        return session.table(shared)

    return SparkRelation("handed in", session, read, lambda: (name, _listed(read())), leave)


CUTTING = ("Sample", "GlobalLimit", "LocalLimit", "Offset", "Tail")
"""Steps of a plan after which one row more or less is another choice among all."""


DRAWING = ("MonotonicallyIncreasingID", "RandStr", "Rand", "Randn", "Shuffle", "SparkPartitionID",
           "Uniform", "Uuid")  # fmt: skip
"""Functions of a row's place among the others; with a known seed, of that alone."""


def _steady(frame: DataFrame) -> DataFrame:
    """The DataFrame, unless its plan makes other rows of the same data, or moves all for one."""
    java: Any = frame._jdf
    steps = [*_steps(java.queryExecution().analyzed())]
    drawing = (name for step in steps if not step.deterministic() for name in _functions(step))
    moving = {step.nodeName() for step in steps if _moves(step)} | ({*DRAWING} & {*drawing})
    if moving:
        raise PolicyError(
            f"one row could move many others in a source with: {', '.join(sorted(moving))}",
            "write it to a table, if the rows there are what shall be protected, and name that",
        )
    return frame


def _steps(plan: Any) -> Iterator[Any]:
    """All steps of a plan, and of those inside its expressions."""
    yield plan
    for inner in (plan.children(), plan.subqueries()):
        for place in range(inner.size()):
            yield from _steps(inner.apply(place))


def _functions(step: Any) -> Iterator[str]:
    """The names of all expressions in a step."""
    found = [step.expressions()]
    while found:
        some = found.pop()
        for place in range(some.size()):
            yield some.apply(place).getClass().getSimpleName()
            found.append(some.apply(place).children())


def _moves(step: Any) -> bool:
    if step.nodeName() == "Window":
        return bool(step.partitionSpec().isEmpty())
    return step.nodeName() in CUTTING


def _listed(frame: DataFrame) -> object:
    """The files of a DataFrame with their sizes and times."""
    folders: dict[str, set[str]] = {}
    for file in frame.inputFiles():
        folder, _, name = file.rpartition("/")
        folders.setdefault(folder, set()).add(unquote(name))
    return [(f, _stated(f, folders[f], frame.sparkSession)) for f in sorted(folders)]


def _stated(folder: str, names: set[str], session: SparkSession) -> list[str]:
    """What a file system, whichever it is, tells of files in a folder but for when they were read.

    A folder is listed at once: to ask for each file takes seconds in an object store.
    """
    context = session.sparkContext
    java: Any = context._jvm
    path = java.org.apache.hadoop.fs.Path(java.java.net.URI(folder))
    found = path.getFileSystem(context._jsc.hadoopConfiguration()).listStatus(path)
    told = [re.sub(r"access_time=\d+", "", file.toString()) for file in found]
    return sorted(text for text in told if _name(text) in {*names, None})


def _name(told: str) -> str | None:
    """The file that is told of; None where a file system has words of its own."""
    found = re.search(r"path=.*/(.*?); isDirectory=", told, re.DOTALL)
    return None if found is None else found[1]
