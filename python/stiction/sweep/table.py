"""The columns of the table of a sweep, and its Parquet file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from stiction.binding._load import import_extra
from stiction.errors import Error

Row = dict[str, Any]
Kind = Literal["text", "number", "integer", "flag", "texts", "counts", "numbers"]
NAME = "sweep.parquet"


class Column(NamedTuple):
    """A column. A value is null if it is unknown.

    kind: type of its values; 'counts' and 'numbers' are maps from names.
    is_repeatable: whether another run of the same unit gives the same bits.
    """

    name: str
    kind: Kind
    unit: str
    help: str
    is_repeatable: bool = True


# The settings of a run. The columns of the grid's parameters follow them.
INPUTS = (
    Column("scene", "text", "", "the scene, as the configuration names it"),
    Column("contact_model", "text", "", "the contact model"),
    Column("time_step", "number", "s", "the time step"),
    Column("duration", "number", "s", "the simulated time asked for"),
    Column("controls", "text", "", "what drives the actuators"),
    Column("seed", "integer", "", "seed of random controls"),
)

RESULTS = (
    Column(
        "status",
        "text",
        "",
        "'ok'; the status of the step that failed; 'refused' if the model rejects the scene or its "
        "parameters; 'crashed' if the process of the run ended; 'error' otherwise",
    ),
    Column("message", "text", "", "reason of the failure, or empty"),
    Column("simulated_time", "number", "s", "simulated time of the completed steps"),
    Column("num_steps", "integer", "", "completed steps"),
    Column("cpu_us_per_step", "number", "us", "CPU time of a step, mean", False),
    Column("us_per_step", "number", "us", "wall time of a step, median of means of 50", False),
    Column("min_us_per_step", "number", "us", "wall time of a step, minimum of means of 50", False),
    Column("cpu_time", "number", "s", "CPU time of all steps", False),
    Column("wall_time", "number", "s", "wall time of all steps with their bookkeeping", False),
    Column("iterations", "number", "", "Newton iterations or pivots of a step, mean"),
    Column("peak_iterations", "integer", "", "the same, maximum"),
    Column("contacts", "number", "", "contacts of a step, mean"),
    Column("peak_contacts", "integer", "", "the same, maximum"),
    Column("substeps", "integer", "", "parts in which integrators with events made the steps"),
    Column("error_bound", "number", "sqrt(J)", "proved bound on the solver's error, largest"),
    Column("velocity_bound", "number", "m/s", "the same for the velocity of any contact point"),
    Column("momentum_error", "number", "sqrt(J)", "residual of the momentum balance, largest"),
    Column("relative_residual", "number", "", "the residual relative to the impulses, largest"),
    Column("coupling_error", "number", "", "error of the friction bounds, largest"),
    Column("penetration", "number", "m", "deepest overlap in any step"),
    Column("final_penetration", "number", "m", "deepest overlap in the last step"),
    Column("potential_energy_start", "number", "J", "gravity and springs, at the start"),
    Column("kinetic_energy_start", "number", "J", "kinetic energy at the start"),
    Column("potential_energy_end", "number", "J", "gravity and springs, at the end"),
    Column("kinetic_energy_end", "number", "J", "kinetic energy at the end"),
    Column("held", "text", "", "the held body that the scene declares"),
    Column("dropped", "flag", "", "whether the held body was dropped"),
    Column("slip", "number", "m", "slip of the held body along gravity, from the hold to the end"),
    Column("creep", "number", "m/s", "speed of this slip, fitted over the judged steps"),
    Column("drift", "number", "m", "largest of the drifts"),
    Column("drift_body", "text", "", "the body that drifts most"),
    Column("drifts", "numbers", "m", "displacement of each body's center in the judged steps"),
    Column("num_warnings", "integer", "", "warnings of all steps"),
    Column("warnings", "counts", "", "the same by kind"),
    Column("notes", "texts", "", "warnings of the scene and its settings"),
    Column("state_digest", "text", "", "hash of the final state, equal only if all bits are"),
    Column("host", "text", "", "name of the machine", False),
)


def make_empty_results() -> Row:
    """Returns a row of results in which everything is unknown."""
    return {column.name: None for column in RESULTS}


def select_repeatable(row: Row) -> Row:
    """Returns the values of a row that another run of the same unit must repeat."""
    varying = {column.name for column in RESULTS if not column.is_repeatable}
    return {name: value for name, value in row.items() if name not in varying}


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
