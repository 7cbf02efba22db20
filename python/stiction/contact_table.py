"""The contacts of a step as one table: a row per contact point and per face of a patch."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from stiction.arguments import check_name
from stiction.errors import Error

if TYPE_CHECKING:
    from stiction._core import StepReport

Rows = NDArray[np.void]

POINT, FACE = "point", "face"

# Field, type, shape, unit and meaning.
_FIELDS: tuple[tuple[str, str, tuple[int, ...], str, str], ...] = (
    ("kind", "U5", (), "", "'point' or 'face'"),
    ("bodies", "i4", (2,), "", "ids of the first and the second body"),
    ("geoms", "i4", (2,), "", "ids of the first and the second geom"),
    ("patch", "i4", (), "", "index of the patch in the step; -1 for a contact point"),
    ("position", "f8", (3,), "m", "contact point, or center of the face"),
    ("normal", "f8", (3,), "", "unit normal from the first into the second body"),
    ("distance", "f8", (), "m", "signed distance; NaN for a face"),
    ("area", "f8", (), "m^2", "area of the face; NaN for a point"),
    ("impulse", "f8", (3,), "N s", "impulse on the second body"),
    ("force", "f8", (3,), "N", "mean force on the second body over the step"),
    (
        "torque",
        "f8",
        (3,),
        "N m",
        "torque about the position: of torsional and rolling friction at a point, and the share of the "
        "patch's torque that forces at the centers of its faces do not make at a face",
    ),
    ("slip_velocity", "f8", (3,), "m/s", "tangential velocity of the second body after the step"),
    ("stick", "?", (), "", "true if it has a force and does not slip"),
)
_STEP_FIELDS: tuple[tuple[str, str, tuple[int, ...], str, str], ...] = (
    ("step", "i8", (), "", "index of the step, from 1"),
    ("time", "f8", (), "s", "time at the end of the step"),
)
DTYPE = np.dtype([(name, kind, shape) for name, kind, shape, *_ in _FIELDS])
STEP_DTYPE = np.dtype([(name, kind, shape) for name, kind, shape, *_ in _STEP_FIELDS + _FIELDS])
FORMATS = ("numpy", "arrow")
_ROUND_OFF = 4.0  # in units of the last place


def make_table(report: StepReport, format: str = "numpy") -> Any:
    """Returns the contacts of a report; see StepReport.table.

    Raises:
        Error: there is no such format, or pyarrow is missing.
    """
    contacts, patches = report.contacts, report.patches
    # The patches of a divided step are those of its last part. Its points are those of all parts.
    has_faces = report.statistics.num_parts == 1
    is_point = contacts.patch < 0 if has_faces else np.ones(len(contacts), bool)
    points = {name: getattr(contacts, name)[is_point] for name in POINT_FIELDS}
    tables = [tabulate_points(points, report.time_step)]
    if has_faces and len(patches):
        faces = {name: getattr(patches, name) for name in FACE_FIELDS}
        owner = np.repeat(np.arange(len(patches)), np.diff(patches.face_start))
        pairs = {name: getattr(patches, name)[owner] for name in ("bodies", "geoms")}
        couple = [
            calc_couple(
                patches.center[i], patches.torque[i], {n: faces[n][owner == i] for n in faces}
            )
            for i in range(len(patches))
        ]
        columns = {**faces, **pairs, "patch": owner, "couple": np.array(couple)[owner]}
        tables.append(tabulate_faces(columns, report.time_step))
    return convert(np.concatenate(tables), format)


POINT_FIELDS = (
    "bodies",
    "geoms",
    "patch",
    "point",
    "normal",
    "distance",
    "impulse",
    "torque_impulse",
    "slip_velocity",
    "slipping",
)
FACE_FIELDS = (
    "face_center",
    "face_normal",
    "face_area",
    "traction",
    "slip_velocity",
    "slipping",
)


def tabulate_points(points: dict[str, Any], time_step: float) -> Rows:
    """Returns the rows of contact points.

    Args:
        points: arrays with the names of POINT_FIELDS, as ContactReport has them.
        time_step: length of the step [s].
    """
    rows = np.empty(len(points["distance"]), DTYPE)
    rows["kind"] = POINT
    rows["position"] = points["point"]
    rows["area"] = math.nan
    for name in ("bodies", "geoms", "patch", "normal", "distance", "impulse", "slip_velocity"):
        rows[name] = points[name]
    rows["force"] = rows["impulse"] / time_step
    rows["torque"] = points["torque_impulse"] / time_step
    rows["stick"] = _find_sticking(rows["impulse"], points["slipping"])
    return rows


def tabulate_faces(faces: dict[str, Any], time_step: float) -> Rows:
    """Returns the rows of faces.

    Args:
        faces: arrays with the names of FACE_FIELDS, as PatchReport has them, and `bodies`, `geoms`,
            `patch` and `couple` (see calc_couple) of each face.
        time_step: length of the step [s].
    """
    rows = np.empty(len(faces["face_area"]), DTYPE)
    rows["kind"] = FACE
    rows["position"] = faces["face_center"]
    rows["normal"] = faces["face_normal"]
    rows["area"] = faces["face_area"]
    rows["distance"] = math.nan
    for name in ("bodies", "geoms", "patch", "slip_velocity"):
        rows[name] = faces[name]
    rows["force"] = faces["traction"] * rows["area"][:, np.newaxis]
    rows["impulse"] = rows["force"] * time_step
    pressed = rows["force"].any(axis=1)
    rows["torque"] = faces["couple"] * (rows["area"] * pressed)[:, np.newaxis]
    rows["stick"] = _find_sticking(rows["force"], faces["slipping"])
    return rows


def calc_couple(
    center: NDArray[Any], torque: NDArray[Any], faces: dict[str, Any]
) -> NDArray[np.float64]:
    """Returns the torque of a patch that forces at the centers of its faces do not make, per area.

    It is 0 unless faces have several quadrature points. It is spread evenly over the faces that press,
    as taxels have it.

    Args:
        center: center of the patch [m], (3,).
        torque: torque about it [N m], (3,).
        faces: arrays with the names of FACE_FIELDS.

    Returns:
        The couple [N m/m^2], (3,).
    """
    area = np.asarray(faces["face_area"], float)
    force = np.asarray(faces["traction"], float) * area[:, np.newaxis]
    arm = np.asarray(faces["face_center"], float) - np.asarray(center, float)
    pressed = float(area[force.any(axis=1)].sum())
    couple = np.asarray(torque, float) - np.cross(arm, force).sum(axis=0)
    # Recordings have single precision.
    scale = np.linalg.norm(arm, axis=1) + np.linalg.norm(center)
    round_off = (
        _ROUND_OFF * np.finfo(torque.dtype).eps * float(scale @ np.linalg.norm(force, axis=1))
    )
    if pressed == 0 or np.linalg.norm(couple) <= round_off:
        return np.zeros(3)
    return np.asarray(couple / pressed)


def _find_sticking(forces: NDArray[np.float64], slipping: NDArray[Any]) -> NDArray[np.bool_]:
    return np.asarray(forces.any(axis=1) & ~slipping.astype(bool))


def add_step(rows: Rows, step: int, time: float) -> Rows:
    """Returns the rows with the index and the time of their step in front."""
    out = np.empty(len(rows), STEP_DTYPE)
    out["step"], out["time"] = step, time
    for name in DTYPE.names or ():
        out[name] = rows[name]
    return out


def convert(rows: Rows, format: str) -> Any:
    """Returns the rows as they are for 'numpy', or as a pyarrow.Table for 'arrow'.

    Raises:
        Error: there is no such format, or pyarrow is missing.
    """
    return rows if check_name("format", format, FORMATS) == "numpy" else to_arrow(rows)


def list_columns(rows: Rows) -> list[tuple[str, NDArray[Any], dict[str, str]]]:
    """Returns the columns of the flat forms of a table: their name, values, and unit and meaning.

    The two entries of a pair end in 1 and 2: `body1`. The components of a vector end in _x, _y, _z.
    """
    columns = []
    for name, _, shape, unit, meaning in _STEP_FIELDS + _FIELDS:
        if name not in (rows.dtype.names or ()):
            continue
        notes = {"unit": unit, "meaning": meaning}
        if shape == (2,):
            stem = {"bodies": "body", "geoms": "geom"}[name]
            columns += [(f"{stem}{i + 1}", rows[name][:, i], notes) for i in range(2)]
        elif shape == (3,):
            columns += [(f"{name}_{axis}", rows[name][:, i], notes) for i, axis in enumerate("xyz")]
        else:
            columns.append((name, rows[name], notes))
    return columns


def to_arrow(rows: Rows) -> Any:
    """Returns the rows as a pyarrow.Table with the columns of list_columns.

    Raises:
        Error: pyarrow is missing.
    """
    pa = import_pyarrow("format='arrow'")
    fields, arrays = [], []
    for name, values, notes in list_columns(rows):
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
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as e:
        raise Error(
            "unsupported",
            what,
            f"needs pyarrow, which cannot be imported ({e}); run: pip install 'stiction[arrow]'",
        ) from e
    return pyarrow
