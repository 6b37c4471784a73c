"""What Spark's reader of Parquet would fail for: read raw, or refused for its type (`coding.md`).

Its decimals of more than 18 digits are bytes, and may be more than 38 digits: they are read as
bytes, and become numbers here. Moments in milliseconds it multiplies by a thousand, and gives up
where the product passes 64 bits: so files that have them are refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from adomnia.engines.spark.dialect import SPARK
from adomnia.errors import PolicyError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

__all__ = ["check_moments", "raw"]

NARROW = 18
"""Decimals of no more digits are whole numbers of 64 bits, none of which fails where
columns are read as vectors; inside lists one could."""


def raw(frame: DataFrame) -> tuple[StructType, list[str]]:
    """The schema with wide decimals as bytes, and the SQL that makes all columns of it.

    Whole numbers of 64 bits without sign are decimals in Spark, and none of them fails.
    """
    from pyspark.sql.types import BinaryType, DecimalType, StructField, StructType  # noqa: PLC0415

    schema, unsigned = frame.schema, _unsigned(frame)
    fields, columns = [], []
    for field in schema.fields:
        kind, column = field.dataType, SPARK.quoted(field.name)
        wide = isinstance(kind, DecimalType) and kind.precision > NARROW
        if isinstance(kind, DecimalType) and wide and field.name not in unsigned:
            fields.append(StructField(field.name, BinaryType()))
            columns.append(f"{_decimal(column, kind.precision, kind.scale)} AS {column}")
            continue
        if not isinstance(kind, DecimalType) and "decimal(" in kind.simpleString():
            raise PolicyError(
                f"the column {field.name!r} has decimals in a list, a struct or a map",
                "write them as a column of their own, or as floating point",
            )
        fields.append(field)
        columns.append(column)
    return StructType(fields), columns


def _decimal(column: str, precision: int, scale: int) -> str:
    """The number that bytes stand for, the highest first; NULL where it has too many digits.

    What passes 38 digits on the way is NULL out of ANSI mode.
    """
    signs = f"HEX({column})"
    padded = f"LPAD({signs}, 32, CASE WHEN SUBSTR({signs}, 1, 1) >= '8' THEN 'F' ELSE '0' END)"
    high = f"CAST(CONV(SUBSTR({padded}, 1, 16), 16, -10) AS DECIMAL(20,0))"
    low = f"CAST(CONV(SUBSTR({padded}, 17, 16), 16, 10) AS DECIMAL(20,0))"
    whole = f"CAST({high} * {2**64}BD + {low} AS DECIMAL({precision},0))"
    if scale == 0:
        return f"CASE WHEN LENGTH({column}) BETWEEN 1 AND 16 THEN {whole} END"
    digits = f"CAST(ABS({whole}) AS STRING)"
    digits = f"CONCAT(REPEAT('0', {scale} + 1 - LENGTH({digits})), {digits})"
    before, after = f"LEFT({digits}, LENGTH({digits}) - {scale})", f"RIGHT({digits}, {scale})"
    sign = f"CASE WHEN {whole} < 0 THEN '-' ELSE '' END"
    number = f"CAST(CONCAT({sign}, {before}, '.', {after}) AS DECIMAL({precision},{scale}))"
    return f"CASE WHEN LENGTH({column}) BETWEEN 1 AND 16 THEN {number} END"


def check_moments(frame: DataFrame) -> None:
    """Refuse Parquet files with moments in milliseconds, which their footers tell."""
    if "timestamp" not in frame.schema.simpleString():
        return
    for leaf in _leaves(frame):
        if "TIMESTAMP(MILLIS" in str(leaf.getPrimitiveType().getLogicalTypeAnnotation()):
            raise PolicyError(
                f"the column {leaf.getPath()[0]!r} has moments in milliseconds",
                "write them in microseconds, or read the files with DuckDB",
            )


def _unsigned(frame: DataFrame) -> set[str]:
    """The columns of whole numbers without sign; one that is so in some files only is refused."""
    if "decimal(20,0)" not in frame.schema.simpleString():
        return set()
    stored: dict[str, set[bool]] = {}
    for leaf in _leaves(frame):
        whole = leaf.getPrimitiveType().getPrimitiveTypeName().toString() == "INT64"
        stored.setdefault(leaf.getPath()[0], set()).add(whole)
    for field in frame.schema.fields:
        mixed = len(stored.get(field.name, ())) > 1
        if mixed and field.dataType.simpleString() == "decimal(20,0)":
            raise PolicyError(
                f"the column {field.name!r} has another type in another file",
                "write it as one type in all files",
            )
    return {name for name, whole in stored.items() if whole == {True}}


def _leaves(frame: DataFrame) -> Iterator[Any]:
    """The columns of all Parquet files as they are stored."""
    context = frame.sparkSession.sparkContext
    java: Any = context._jvm
    conf = context._jsc.hadoopConfiguration()
    for file in frame.inputFiles():
        path = java.org.apache.hadoop.fs.Path(java.java.net.URI(file))
        yield from _footer(java, path, conf)


def _footer(java: Any, path: Any, conf: Any) -> list[Any]:
    """The columns of a Parquet file; of another file, none."""
    system = path.getFileSystem(conf)
    stream = system.open(path)
    try:
        magic = bytes(stream.read() & 255 for _ in range(4))
    finally:
        stream.close()
    if magic != b"PAR1":
        return []
    files = java.org.apache.parquet.hadoop
    reader = files.ParquetFileReader.open(files.util.HadoopInputFile.fromPath(path, conf))
    try:
        return list(reader.getFooter().getFileMetaData().getSchema().getColumns())
    finally:
        reader.close()
