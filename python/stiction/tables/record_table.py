"""Tables whose columns have a unit and a meaning, such as that of all contacts of a step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stiction._core import list_report_arrays
from stiction.binding._load import import_extra
from stiction.inputs.arguments import check_name

Rows = NDArray[np.void]
# Field, type, shape, unit and meaning.
Field = tuple[str, str, tuple[int, ...], str, str]


class ReportArray(NamedTuple):
    """An array of ContactReport or PatchReport; `starts_of` names the items that its starts count."""

    name: str
    type: str
    width: int
    unit: str
    meaning: str
    item: str
    is_recorded: bool
    starts_of: str | None

    @property
    def field(self) -> Field:
        """The column of the array; that of starts has numbers of items, such as num_faces."""
        name = f"num_{self.starts_of}" if self.starts_of else self.name
        shape = (self.width,) if self.width > 1 else ()
        kind = {"int32": "i4", "float64": "f8", "bool": "?"}[self.type]
        meaning = self.meaning[0].lower() + self.meaning[1:]
        return name, kind, shape, self.unit.strip("-"), meaning


REPORT_ARRAYS = tuple(ReportArray(*row) for row in list_report_arrays())

FORMATS = ("numpy", "arrow")
_STEP_FIELDS: tuple[Field, ...] = (
    ("step", "i8", (), "", "index of the step, from 1"),
    ("time", "f8", (), "s", "time at the end of the step"),
)
_STEMS = {"bodies": "body", "geoms": "geom", "elements": "element"}  # of columns of a pair


@dataclass(frozen=True)
class RecordTable:
    """The name of a table, such as 'contacts', and the columns of a step's rows."""

    name: str
    fields: tuple[Field, ...]

    @property
    def dtype(self) -> np.dtype[np.void]:
        """The type of the rows of a step."""
        return np.dtype([(name, kind, shape) for name, kind, shape, *_ in self.fields])

    @property
    def step_dtype(self) -> np.dtype[np.void]:
        """The type of the rows of several steps, which have `step` and `time` in front."""
        fields = _STEP_FIELDS + self.fields
        return np.dtype([(name, kind, shape) for name, kind, shape, *_ in fields])

    def add_step(self, rows: Rows, step: int, time: float) -> Rows:
        """Returns the rows with the index and the time of their step in front."""
        out = np.empty(len(rows), self.step_dtype)
        out["step"], out["time"] = step, time
        for name in self.dtype.names or ():
            out[name] = rows[name]
        return out

    def list_columns(self, rows: Rows) -> list[tuple[str, NDArray[Any], dict[str, str]]]:
        """Returns the flat columns with unit and meaning: body1, body2 of pairs; _x, _y, _z."""
        columns = []
        for name, _, shape, unit, meaning in _STEP_FIELDS + self.fields:
            if name not in (rows.dtype.names or ()):
                continue
            notes = {"unit": unit, "meaning": meaning}
            if shape == (2,):
                stem = _STEMS[name]
                columns += [(f"{stem}{i + 1}", rows[name][:, i], notes) for i in range(2)]
            elif shape == (3,):
                columns += [
                    (f"{name}_{axis}", rows[name][:, i], notes) for i, axis in enumerate("xyz")
                ]
            else:
                columns.append((name, rows[name], notes))
        return columns

    def convert(self, rows: Rows, format: str) -> Any:
        """Returns the rows as they are for 'numpy', or as a pyarrow.Table for 'arrow'."""
        return rows if check_name("format", format, FORMATS) == "numpy" else self.to_arrow(rows)

    def to_arrow(self, rows: Rows) -> Any:
        """Returns the rows as a pyarrow.Table with the columns of list_columns."""
        pa = import_pyarrow("format='arrow'")
        fields, arrays = [], []
        for name, values, notes in self.list_columns(rows):
            array = pa.array(np.ascontiguousarray(values))
            fields.append(pa.field(name, array.type, metadata=notes))
            arrays.append(array)
        return pa.table(arrays, schema=pa.schema(fields))


def import_pyarrow(what: str) -> Any:
    """Imports pyarrow, or raises Error; `what` needs it."""
    return import_extra("pyarrow.parquet", what, "needs pyarrow", "arrow")
