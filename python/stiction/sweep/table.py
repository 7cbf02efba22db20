"""The table of a sweep as a Parquet file, with the unit of each column."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stiction.binding._load import import_extra
from stiction.errors import Error
from stiction.sweep.columns import INPUTS, RESULTS, Column, Row

NAME = "sweep.parquet"


def import_pyarrow() -> Any:
    """Imports pyarrow, or raises Error."""
    need = "needs pyarrow to write Parquet files"
    return import_extra("pyarrow.parquet", "stiction sweep", need, "sweep")


def write_table(
    rows: Sequence[Row], parameters: Sequence[str], notes: Mapping[str, str], folder: Path
) -> Path:
    """Writes FOLDER/sweep.parquet with notes, and replaces an older file only when it is complete."""
    pa = import_pyarrow()
    varied = [_make_column(name, [row.get(name) for row in rows]) for name in parameters]
    columns = [*INPUTS, *varied, *RESULTS]
    fields = [
        pa.field(c.name, _find_type(pa, c), metadata={"unit": c.unit, "help": c.help})
        for c in columns
    ]
    arrays = [
        pa.array([_convert(column, row.get(column.name)) for row in rows], field.type)
        for column, field in zip(columns, fields, strict=True)
    ]
    table = pa.table(arrays, pa.schema(fields, metadata=dict(notes)))
    path = folder / NAME
    part = path.with_suffix(".part")
    try:
        pa.parquet.write_table(table, part)
        part.replace(path)
    except OSError as e:
        raise Error(
            "invalid_value",
            str(path),
            f"cannot be written: {e.strerror or e}; the finished runs are kept in the journal, so "
            "make room and run the sweep again",
        ) from e
    return path


def _make_column(name: str, values: list[Any]) -> Column:
    """Returns the column of a parameter, whose type is that of its values."""
    present = [value for value in values if value is not None]
    if present and all(isinstance(value, bool) for value in present):
        return Column(name, "flag", "", "a parameter of the grid")
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in present):
        return Column(name, "number", "", "a parameter of the grid")
    return Column(name, "text", "", "a parameter of the grid; lists and tables are JSON")


def _find_type(pa: Any, column: Column) -> Any:
    return {
        "text": pa.string(),
        "number": pa.float64(),
        "integer": pa.int64(),
        "flag": pa.bool_(),
        "texts": pa.list_(pa.string()),
        "counts": pa.map_(pa.string(), pa.int64()),
        "numbers": pa.map_(pa.string(), pa.float64()),
    }[column.kind]


def _convert(column: Column, value: Any) -> Any:
    if value is None:
        return None
    if column.kind == "text" and not isinstance(value, str):
        return json.dumps(value)
    return list(value.items()) if isinstance(value, dict) else value
