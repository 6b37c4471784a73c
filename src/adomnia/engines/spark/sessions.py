"""Spark's sessions: an application for an address, and a session of our own in any application.

Spark has one application in a process. One that we start is quiet, because its log can quote data,
and ends with the last engine that uses it; one that is handed in is left as it is.
"""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from adomnia.engines.engine import ADDRESS, quietly
from adomnia.errors import AdomniaError, MachineryError, PolicyError

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

__all__ = ["Address", "address", "application", "own", "stopped"]

HIDDEN = "spark://…"

HINT = "for example spark://host:7077?path=/data/people.parquet, or spark://local[4]?path=…"

SETTINGS = {
    "spark.sql.ansi.enabled": "false",  # what has no value is NULL, and no row can fail
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.caseSensitive": "false",
    "spark.sql.variable.substitute": "false",
    "spark.sql.groupByOrdinal": "true",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.parser.quotedRegexColumnNames": "false",
    "spark.sql.legacy.exponentLiteralAsDecimal.enabled": "false",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",  # no row decides a type
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",  # else old days are errors
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.enableVectorizedReader": "true",  # the other checks decimals, and fails
    "spark.sql.parquet.enableNestedColumnVectorizedReader": "true",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
}
"""What the meaning of a statement depends on, whatever the application is set to."""

QUIET = {
    "spark.app.name": "adomnia",
    "spark.log.level": "OFF",
    "spark.executor.syncLogLevel.enabled": "true",
    "spark.ui.enabled": "false",
    "spark.sql.ui.retainedExecutions": "1",
}
HERE = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
"""What an application is started with, unless the address says otherwise."""


@dataclass(frozen=True)
class Address:
    """A master, the files to read (or none, for a table of its catalog), and its settings."""

    master: str
    path: str | None
    settings: Mapping[str, str]

    @property
    def place(self) -> str:
        """The address as it may be shown: settings can hold secrets."""
        return _place(self.master)


def _place(master: str) -> str:
    """A master as it may be shown: one that is badly written may have a password in it."""
    return HIDDEN if ADDRESS & {*master} else f"spark://{master.removeprefix('spark://')}"


def address(url: str) -> Address:
    """What `spark://MASTER?path=FILES&spark.some.setting=VALUE` says."""
    master, _, options = url.removeprefix("spark://").partition("?")
    master = master.rstrip("/")
    said = dict(parse_qsl(options, keep_blank_values=True))
    path = said.pop("path", None)
    unknown = [name for name in said if not name.startswith("spark.")]
    if not master or unknown or path == "":
        raise PolicyError("an address of Spark has a master, a path and settings of Spark", HINT)
    standalone = ":" in master and "[" not in master and "://" not in master
    return Address(f"spark://{master}" if standalone else master, path, said)


def own(session: SparkSession) -> SparkSession:
    """A session of our own in the same application, with settings of its own."""
    made = session.newSession()
    for name, value in SETTINGS.items():
        made.conf.set(name, value)
    return made


def application(where: Address) -> tuple[SparkSession, Callable[[], None]]:
    """A session of the application at a master, which is started if need be; how to leave it."""
    with _mutex:
        _import()
        context = _running(where)
        if context is None:
            context = quietly(lambda: _started(where), lambda kind: _unreachable(where, kind))
            _ours[context] = 0
        if context in _ours:
            _ours[context] += 1
    return _session(context), lambda: _leave(context)


_mutex = threading.Lock()
_ours: dict[SparkContext, int] = {}
"""The application that we started, and how many engines use it."""


def _leave(context: SparkContext) -> None:
    with _mutex:
        if context not in _ours:
            return
        _ours[context] -= 1
        if _ours[context] == 0:
            del _ours[context]
            with suppress(Exception):  # it may be gone
                context.stop()


def stopped(context: SparkContext) -> bool:
    """Whether an application has ended, or its Java has."""
    try:
        return context._jsc is None or bool(context._jsc.sc().isStopped())
    except Exception:
        return True


def _import() -> None:
    with suppress(ImportError):
        import pyspark.sql  # noqa: F401, PLC0415 (only those who have Spark need it)

        return
    raise PolicyError(
        "a source at spark:// needs the package pyspark, and Java 17",
        "install it with: pip install 'adomnia[spark]'",
    )


def _running(where: Address) -> SparkContext | None:
    from pyspark import SparkContext  # noqa: PLC0415

    context: SparkContext | None = SparkContext._active_spark_context
    if context is not None and stopped(context):
        _ours.pop(context, None)
        with suppress(Exception):  # its Java may have ended
            context.stop()
        context = None
    if context is not None and context.master != where.master:
        raise PolicyError(
            f"this process already has a Spark application at {_place(str(context.master))}",
            "Spark allows one in a process: end it, or hand in its session",
        )
    return context


def _started(where: Address) -> SparkContext:
    from pyspark import SparkConf, SparkContext  # noqa: PLC0415

    here = HERE if where.master.startswith("local") else {}
    if where.path:  # Spark makes a folder for tables, which files do not need, where it is started
        here = here | {"spark.sql.warehouse.dir": f"file:{gettempdir()}/adomnia-spark"}
    said = {"spark.master": where.master, **QUIET, **here, **where.settings}
    conf = SparkConf().setAll(list(said.items()))
    gateway = SparkContext._gateway or _java(conf)
    return SparkContext(conf=conf, gateway=gateway)


def _java(conf: Any) -> Any:
    """The driver's Java, which writes nothing to our terminal: not all that it says is logged."""
    from pyspark.java_gateway import launch_gateway  # noqa: PLC0415

    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return quietly(lambda: launch_gateway(conf, silent), _no_java)  # type: ignore[no-untyped-call]


def _session(context: SparkContext) -> SparkSession:
    from pyspark.sql import SparkSession  # noqa: PLC0415

    return SparkSession(context)


def _no_java(kind: str) -> AdomniaError:
    return PolicyError(
        f"Java cannot be started for Spark ({kind})",
        "install Java 17 or newer, and let JAVA_HOME name it or PATH find it",
    )


def _unreachable(where: Address, kind: str) -> AdomniaError:
    return MachineryError(
        f"Spark at {where.place} cannot be reached ({kind})",
        "is the master up, and is it the version of pyspark here?",
    )
