"""`stiction contacts`: writes the contacts of a recording as one table."""

from __future__ import annotations

import csv
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import numpy as np
import typer

from stiction.commands.app import app
from stiction.commands.options import Json, RecordingFile
from stiction.commands.output import Messages, print_json, print_text
from stiction.errors import Error
from stiction.inputs.names import suggest_name
from stiction.recording import Recording
from stiction.tables import contact_table
from stiction.tables.output_files import check_output
from stiction.tables.record_table import RecordTable, Rows, import_pyarrow


@app.command()
def contacts(
    file: RecordingFile,
    out: Annotated[
        Path, typer.Option(metavar="FILE", help="Table to write: .parquet, .csv or .npz.")
    ],
    anchors: Annotated[
        bool,
        typer.Option(
            "--anchors",
            help="Write the springs of friction_law 'elastic' in place of the contacts.",
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Write the contacts of a recording as one table, with a row for each contact point and face.

    Exit codes: 0 success, 1 failure, 2 wrong usage.
    """
    messages = Messages()
    format = _find_format(out)
    recording = Recording(file)
    if recording.damage:
        messages.warn(f"{file}: {recording.damage}; the table has the whole steps before")
    rows = recording.list_anchors() if anchors else recording.table()
    table = contact_table.ANCHOR_TABLE if anchors else contact_table.TABLE
    names = {"body": recording.model.body, "geom": recording.model.geom}
    names_in_file = format.list_names(table, rows)
    check_output(
        out,
        f"a table of {table.name} with the same columns",
        lambda file: format.read_names(file) == names_in_file,
    )
    try:
        format.write(table, rows, names, out)
    except OSError as e:
        raise Error("invalid_value", str(out), f"cannot be written: {e.strerror or e}") from e
    figures = {
        "recording": str(file),
        "out": str(out),
        "steps": len(recording),
        "rows": len(rows),
        **_count_kinds(table, rows),
    }
    if as_json:
        print_json(figures)
    else:
        kinds = ", ".join(f"{figures[kind]} {text}" for kind, text in _KINDS if kind in figures)
        print_text(f"{out}: {figures['rows']} rows of {figures['steps']} steps ({kinds})")


_KINDS = (
    ("points", "contact points"),
    ("faces", "faces"),
    ("sticking", "springs of contacts that stick"),
    ("slipping", "of contacts that slip"),
)


def _count_kinds(layout: RecordTable, rows: Rows) -> dict[str, int]:
    """Returns the numbers of rows of each kind: of points and faces, or of springs."""
    if layout is contact_table.TABLE:
        kinds = {"points": contact_table.POINT, "faces": contact_table.FACE}
        return {name: int((rows["kind"] == kind).sum()) for name, kind in kinds.items()}
    num_slipping = int(rows["slipping"].sum())
    return {"sticking": len(rows) - num_slipping, "slipping": num_slipping}


def _find_format(out: Path) -> _Format:
    """Returns the format of a table, by the end of its name."""
    suffix = out.suffix.lower()
    if suffix not in _FORMATS:
        raise Error(
            "unknown_name",
            str(out),
            f"ends in '{suffix}', but a table ends in .parquet, .csv or .npz "
            + suggest_name(suffix, tuple(_FORMATS)),
        )
    if suffix == ".parquet":
        import_pyarrow(str(out))
    return _FORMATS[suffix]


_NAME_COLUMNS = ("body1_name", "body2_name", "geom1_name", "geom2_name")


def _list_names(rows: Rows, names: dict[str, Any]) -> dict[str, list[str]]:
    """Returns columns with the names of bodies and geoms; one without a name has `#` and its id."""
    columns = []
    for stem, field in (("body", "bodies"), ("geom", "geoms")):
        for side in range(2):
            ids = rows[field][:, side]
            texts = {int(i): names[stem](int(i)).name or f"#{i}" for i in np.unique(ids)}
            columns.append([texts[int(i)] for i in ids])
    return dict(zip(_NAME_COLUMNS, columns, strict=True))


def _write_parquet(layout: RecordTable, rows: Rows, names: dict[str, Any], out: Path) -> None:
    pa = import_pyarrow(str(out))
    table = layout.to_arrow(rows)
    for name, texts in _list_names(rows, names).items():
        table = table.append_column(name, pa.array(texts, pa.string()).dictionary_encode())
    pa.parquet.write_table(table, out)


def _write_csv(layout: RecordTable, rows: Rows, names: dict[str, Any], out: Path) -> None:
    columns = {name: values.tolist() for name, values, _ in layout.list_columns(rows)}
    columns |= {k: [_make_cell(x) for x in v] for k, v in _list_names(rows, names).items()}
    with out.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def _make_cell(text: str) -> str:
    """Returns a text for CSV. A spreadsheet takes one that begins so for a formula; ' prevents it."""
    return f"'{text}" if text.startswith(_FORMULA) else text


_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def _write_npz(layout: RecordTable, rows: Rows, names: dict[str, Any], out: Path) -> None:
    with out.open("wb") as file:
        arrays: dict[str, Any] = {layout.name: rows, **_list_names(rows, names)}
        np.savez_compressed(file, **arrays)


def _read_names_of_parquet(file: BinaryIO) -> list[str]:
    pa = import_pyarrow("the columns of a table")
    try:
        return list(pa.parquet.read_schema(file).names)
    except (OSError, pa.ArrowException):  # it is no Parquet file
        return []


def _read_names_of_csv(file: BinaryIO) -> list[str]:
    line = file.readline(_LONGEST_HEADER).decode(errors="replace")
    return line.rstrip("\r\n").split(",")


def _read_names_of_npz(file: BinaryIO) -> list[str]:
    try:
        with zipfile.ZipFile(file) as archive:
            return [name.removesuffix(".npy") for name in archive.namelist()]
    except zipfile.BadZipFile:
        return []


@dataclass(frozen=True)
class _Format:
    """A format of tables; flat if each column has a name of its own, else the rows are one array."""

    write: Callable[[RecordTable, Rows, dict[str, Any], Path], None]
    read_names: Callable[[BinaryIO], list[str]]
    is_flat: bool = True

    def list_names(self, layout: RecordTable, rows: Rows) -> list[str]:
        """Returns the names that `read_names` finds in a table of these rows."""
        columns = [name for name, *_ in layout.list_columns(rows)]
        return [*(columns if self.is_flat else [layout.name]), *_NAME_COLUMNS]


_LONGEST_HEADER = 1 << 16  # [bytes]
_FORMATS = {
    ".parquet": _Format(_write_parquet, _read_names_of_parquet),
    ".csv": _Format(_write_csv, _read_names_of_csv),
    ".npz": _Format(_write_npz, _read_names_of_npz, is_flat=False),
}
