"""The contacts of a step as one table: a row per contact point and per face of a patch."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from stiction.tables.record_table import Field, RecordTable, Rows

if TYPE_CHECKING:
    from stiction._core import StepReport

POINT, FACE = "point", "face"

_FIELDS: tuple[Field, ...] = (
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
TABLE = RecordTable("contacts", _FIELDS)
DTYPE = TABLE.dtype
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
    return TABLE.convert(np.concatenate(tables), format)


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
