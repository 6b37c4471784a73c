"""Columns of what Spark reads: their types, how they are selected, and what no domain may ask."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from adomnia.engines.spark.dialect import SPARK
from adomnia.engines.sql.coding import coded
from adomnia.errors import PolicyError
from adomnia.schema.domain import Domain

if TYPE_CHECKING:
    from pyspark.sql.types import StructField, StructType

__all__ = ["check_domains", "reading", "types_of"]

FIXED = "__CHAR_VARCHAR_TYPE_STRING"
"""What is kept of a text's type beside it."""


def types_of(schema: StructType) -> dict[str, str]:
    """The columns and their types; names that could be taken for each other are refused."""
    names = [field.name for field in schema.fields]
    if len({name.lower() for name in names}) < len(names):
        raise PolicyError("two columns differ by case alone, or not at all", "rename one")
    if any(name.lower().startswith("adomnia ") for name in names):
        raise PolicyError("a column's name begins with 'adomnia '", "rename it")
    return {field.name: _declared(field) for field in schema.fields}


def reading(types: Mapping[str, str]) -> str:
    """The select list of all columns, each as the kinds know it."""
    return "SELECT " + ", ".join(SPARK.read(name, declared) for name, declared in types.items())


def check_domains(types: Mapping[str, str], domains: Mapping[str, Domain]) -> None:
    """Refuse now a domain that no number can hold."""
    for name, domain in domains.items():
        if name in types:
            coded(name, domain, types[name], SPARK)


def _declared(field: StructField) -> str:
    """The type of a column; that a text is of fixed length, Spark keeps beside it."""
    declared, beside = field.dataType.simpleString(), field.metadata.get(FIXED, "")
    return str(beside) if declared == "string" and beside.startswith("char") else declared
