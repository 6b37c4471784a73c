"""A real Spark for tests: one session for all tests of a process, which also ends it.

Statements of tests are small, so they are interpreted and not compiled, in one partition. Tests of
a cluster start processes of their own and compile.
"""

from __future__ import annotations

import subprocess
from functools import cache
from tempfile import gettempdir

MASTER = "local[2]"
ADDRESS = f"spark://{MASTER}"
SETTINGS = {
    "spark.master": MASTER,
    "spark.app.name": "tests",
    "spark.ui.enabled": "false",
    "spark.log.level": "OFF",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.warehouse.dir": f"file:{gettempdir()}/adomnia-spark",
    "spark.default.parallelism": "1",
}


@cache
def shared():
    """The session of this process; its settings are not those that engines need."""
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    conf = SparkConf().setAll(list(SETTINGS.items()))
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return SparkSession(SparkContext(conf=conf, gateway=launch_gateway(conf, silent)))
