"""Published files: columns as they are and as codes; and that no error quotes them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from adomnia.audit.files import read_coded, read_columns
from adomnia.errors import QuestionError


def test_files_are_coded_in_the_order_of_their_values(tmp_path):
    table = pa.table({"x": ["b", "a", None, "b"], "n": [3, 1, 2, 3]})
    parquet.write_table(table, tmp_path / "t.parquet")
    csv.write_csv(table, tmp_path / "t.csv")
    coded = read_coded(tmp_path / "t.parquet", ["x", "n"])
    assert coded.domains == {"x": ["a", "b", None], "n": [1, 2, 3]}
    assert coded.codes["x"].tolist() == [1, 0, 2, 1]
    assert coded.table(("x", "n")).sum() == 4
    assert read_columns(tmp_path / "t.csv").num_rows == 4
    assert read_columns(tmp_path / "t.csv", ["n"]).column_names == ["n"]


def test_a_file_of_tabs_is_read(tmp_path):
    (tmp_path / "t.tsv").write_text("a\tb\n1\tx\n")
    assert read_columns(tmp_path / "t.tsv").column_names == ["a", "b"]


def test_a_column_that_names_people_is_refused(tmp_path):
    table = pa.table({"id": np.arange(10_001), "x": np.zeros(10_001, int)})
    parquet.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(QuestionError, match="all values of 'id' are different"):
        read_coded(tmp_path / "t.parquet", ["id", "x"])


def test_an_error_never_quotes_the_file(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,secret value\n1,2,3\n")
    with pytest.raises(QuestionError) as refused:
        read_columns(tmp_path / "t.csv")
    assert "secret" not in str(refused.value)
    assert refused.value.__cause__ is None
