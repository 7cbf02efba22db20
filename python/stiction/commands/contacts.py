"""`stiction contacts`: writes the contacts of a recording as one table."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from stiction import anchor_table, contact_table
from stiction.commands import options
from stiction.commands.app import app
from stiction.commands.output import Messages, print_json, print_text
from stiction.errors import Error
from stiction.output_files import check_output
from stiction.record_table import RecordTable, Rows, import_pyarrow
from stiction.recording import Recording
from stiction.suggestions import suggest_name


@app.command()
def contacts(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Recording made by `stiction run --record`.")
    ],
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
    as_json: options.Json = False,
) -> None:
    """Write the contacts of a recording as one table, with a row for each contact point and face.

    Exit codes: 0 success, 1 failure, 2 wrong usage.
    """
    messages = Messages()
    write = _find_writer(out)
    recording = Recording(file)
    if recording.damage:
        messages.warn(f"{file}: {recording.damage}; the table has the whole steps before")
    rows = recording.list_anchors() if anchors else recording.table()
    table = anchor_table.TABLE if anchors else contact_table.TABLE
    names = {"body": recording.model.body, "geom": recording.model.geom}
    check_output(out, "a table of contacts", _make_test(table, rows, out))
    try:
        write(table, rows, names, out)
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


def _make_test(layout: RecordTable, rows: Rows, out: Path) -> Callable[[bytes], bool]:
    """Returns the test whether the first bytes are those of a table of the same kind of file."""
    first_column = str(next(iter(layout.list_columns(rows)))[0])
    starts = {".csv": f"{first_column},".encode(), ".parquet": b"PAR1", ".npz": b"PK"}
    return lambda head: head.startswith(starts[out.suffix.lower()])


Writer = Callable[[RecordTable, Rows, dict[str, Any], Path], None]


def _find_writer(out: Path) -> Writer:
    """Returns the function that writes a table, by the end of its name."""
    writers: dict[str, Writer] = {
        ".parquet": _write_parquet,
        ".csv": _write_csv,
        ".npz": _write_npz,
    }
    suffix = out.suffix.lower()
    if suffix not in writers:
        raise Error(
            "unknown_name",
            str(out),
            f"ends in '{suffix}', but a table ends in .parquet, .csv or .npz "
            + suggest_name(suffix, tuple(writers)),
        )
    if suffix == ".parquet":
        import_pyarrow(str(out))
    return writers[suffix]


def _list_names(rows: Rows, names: dict[str, Any]) -> dict[str, list[str]]:
    """Returns columns with the names of bodies and geoms; one without a name has `#` and its id."""
    columns = {}
    for stem, field in (("body", "bodies"), ("geom", "geoms")):
        for side in range(2):
            ids = rows[field][:, side]
            texts = {int(i): names[stem](int(i)).name or f"#{i}" for i in np.unique(ids)}
            columns[f"{stem}{side + 1}_name"] = [texts[int(i)] for i in ids]
    return columns


def _write_parquet(layout: RecordTable, rows: Rows, names: dict[str, Any], out: Path) -> None:
    pa = import_pyarrow(str(out))
    table = layout.to_arrow(rows)
    for name, texts in _list_names(rows, names).items():
        table = table.append_column(name, pa.array(texts, pa.string()).dictionary_encode())
    pa.parquet.write_table(table, out)


def _write_csv(layout: RecordTable, rows: Rows, names: dict[str, Any], out: Path) -> None:
    columns = {name: values.tolist() for name, values, _ in layout.list_columns(rows)}
    columns |= _list_names(rows, names)
    with out.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def _write_npz(layout: RecordTable, rows: Rows, names: dict[str, Any], out: Path) -> None:
    with out.open("wb") as file:
        arrays: dict[str, Any] = {layout.name: rows, **_list_names(rows, names)}
        np.savez_compressed(file, **arrays)
