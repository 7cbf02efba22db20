"""Tables whose columns have a unit and a meaning, such as that of all contacts of a step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stiction.binding.extras import import_extra
from stiction.inputs.arguments import check_name

Rows = NDArray[np.void]
# Field, type, shape, unit and meaning.
Field = tuple[str, str, tuple[int, ...], str, str]

FORMATS = ("numpy", "arrow")
_STEP_FIELDS: tuple[Field, ...] = (
    ("step", "i8", (), "", "index of the step, from 1"),
    ("time", "f8", (), "s", "time at the end of the step"),
)
_STEMS = {"bodies": "body", "geoms": "geom", "elements": "element"}  # of columns of a pair


@dataclass(frozen=True)
class RecordTable:
    """The columns of a table.

    Attributes:
        name: what the rows are, such as 'contacts'.
        fields: the columns of a step's table.
    """

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
        """Returns the columns of the flat forms of a table: their name, values, and unit and meaning.

        The two entries of a pair end in 1 and 2: `body1`. The components of a vector end in _x, _y, _z.
        """
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
        """Returns the rows as they are for 'numpy', or as a pyarrow.Table for 'arrow'.

        Raises:
            Error: there is no such format, or pyarrow is missing.
        """
        return rows if check_name("format", format, FORMATS) == "numpy" else self.to_arrow(rows)

    def to_arrow(self, rows: Rows) -> Any:
        """Returns the rows as a pyarrow.Table with the columns of list_columns.

        Raises:
            Error: pyarrow is missing.
        """
        pa = import_pyarrow("format='arrow'")
        fields, arrays = [], []
        for name, values, notes in self.list_columns(rows):
            array = pa.array(np.ascontiguousarray(values))
            fields.append(pa.field(name, array.type, metadata=notes))
            arrays.append(array)
        return pa.table(arrays, schema=pa.schema(fields))


def import_pyarrow(what: str) -> Any:
    """Imports pyarrow.

    Args:
        what: what needs it, for the message.

    Raises:
        Error: it is not installed.
    """
    return import_extra("pyarrow.parquet", what, "needs pyarrow", "arrow")
