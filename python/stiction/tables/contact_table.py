"""The contacts of a step as one table, a row per contact point and face of a patch; and its anchors."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from stiction.tables.record_table import REPORT_ARRAYS, Field, RecordTable, Rows

if TYPE_CHECKING:
    from stiction._core import StepReport

POINT, FACE = "point", "face"

_ARRAYS = {array.name: array for array in REPORT_ARRAYS if array.item == "contact"}
_OF_FACES = {array.name for array in REPORT_ARRAYS if array.item == "face"}
# Besides the arrays of the same name, faces have a normal, and the geoms and the impulse that follow.
_FACES_HAVE = _OF_FACES | {"bodies", "geoms", "patch", "normal", "impulse"}


def _take(*names: str) -> Iterator[Field]:
    """Yields the columns of arrays of ContactReport."""
    for name, kind, shape, unit, meaning in (_ARRAYS[name].field for name in names):
        lacks = kind == "f8" and name not in _FACES_HAVE
        yield name, kind, shape, unit, f"{meaning}; NaN for a face" if lacks else meaning


_COMPUTED: tuple[Field, ...] = (
    ("kind", "U5", (), "", "'point' or 'face'"),
    *_take("bodies", "geoms", "patch"),
    ("position", "f8", (3,), "m", "contact point, or center of the face"),
    *_take("normal", "distance"),
    ("area", "f8", (), "m^2", "area of the face; NaN for a point"),
    *_take("impulse"),
    ("force", "f8", (3,), "N", "mean force on the second body over the step"),
    (
        "torque",
        "f8",
        (3,),
        "N m",
        "torque about the position: of torsional and rolling friction at a point, and the share of the "
        "patch's torque that forces at the centers of its faces do not make at a face",
    ),
    *_take("slip_velocity"),
    ("stick", "?", (), "", "true if it has a force and does not slip"),
)
# The arrays of ContactReport from which the rows of points follow: position, torque and stick stand for
# three of them, and each further one that is recorded has a column of its own.
POINT_FIELDS = ("bodies", *(name for name, array in _ARRAYS.items() if array.is_recorded))
_REST = {*POINT_FIELDS} - {"point", "torque_impulse", "slipping", *(f[0] for f in _COMPUTED)}
TABLE = RecordTable("contacts", (*_COMPUTED, *_take(*(n for n in POINT_FIELDS if n in _REST))))
DTYPE = TABLE.dtype
_COPIED = [name for name in DTYPE.names or () if name in POINT_FIELDS]
# The arrays of PatchReport from which the rows of faces follow.
_FACE_FIELDS = ("face_center", "face_normal", "face_area", "traction", "slipping")
FACE_FIELDS = (*_FACE_FIELDS, *(name for name in _COPIED if name in _OF_FACES))
_ROUND_OFF = 4.0  # in units of the last place


def make_table(report: StepReport, format: str = "numpy") -> Any:
    """Returns the contacts of a report; see StepReport.table."""
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


def tabulate_points(points: dict[str, Any], time_step: float) -> Rows:
    """Returns the rows of contact points from the arrays POINT_FIELDS; time_step [s]."""
    rows = np.empty(len(points["distance"]), DTYPE)
    rows["kind"] = POINT
    rows["position"] = points["point"]
    rows["area"] = math.nan
    for name in _COPIED:
        rows[name] = points[name]
    rows["force"] = rows["impulse"] / time_step
    rows["torque"] = points["torque_impulse"] / time_step
    rows["stick"] = _find_sticking(rows["impulse"], points["slipping"])
    return rows


def tabulate_faces(faces: dict[str, Any], time_step: float) -> Rows:
    """Returns the rows of faces, from the arrays FACE_FIELDS, bodies, geoms, patch and calc_couple."""
    rows = np.empty(len(faces["face_area"]), DTYPE)
    rows["kind"] = FACE
    rows["position"] = faces["face_center"]
    rows["area"] = faces["face_area"]
    for name in _COPIED:
        rows[name] = faces[name] if name in faces else _find_missing(DTYPE[name])
    rows["normal"] = faces["face_normal"]
    rows["force"] = faces["traction"] * rows["area"][:, np.newaxis]
    rows["impulse"] = rows["force"] * time_step
    pressed = rows["force"].any(axis=1)
    rows["torque"] = faces["couple"] * (rows["area"] * pressed)[:, np.newaxis]
    rows["stick"] = _find_sticking(rows["force"], faces["slipping"])
    return rows


def _find_missing(dtype: np.dtype[Any]) -> float:
    """Returns the value of a field that a row lacks: NaN for numbers, -1 for ids, 0 for flags."""
    return {"f": math.nan, "i": -1}.get(dtype.base.kind, 0)


def calc_couple(
    center: NDArray[Any], torque: NDArray[Any], faces: dict[str, Any]
) -> NDArray[np.float64]:
    """Returns the torque of a patch that its faces' forces do not make, per area [N m/m^2], (3,).

    It is 0 unless faces have several quadrature points. It is spread evenly over the faces that press,
    as taxels have it. Center [m] and torque about it [N m] are (3,).
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


ANCHOR_TABLE = RecordTable(
    "anchors",
    (
        ("bodies", "i4", (2,), "", "ids of the first and the second body"),
        ("geoms", "i4", (2,), "", "ids of the first and the second geom"),
        ("elements", "i4", (2,), "", "elements that meet in a face; -1 for a contact point"),
        ("position", "f8", (3,), "m", "contact point at the start of the step"),
        ("normal", "f8", (3,), "", "unit normal from the first into the second body"),
        ("stretch", "f8", (3,), "m", "stretch of the second body relative to the first"),
        ("twist", "f8", (3,), "rad", "torsion about the normal, and rolling"),
        ("force", "f8", (3,), "N", "force of the spring on the second body"),
        ("stiffness", "f8", (), "N/m", "tangential stiffness of the contact"),
        ("slipping", "?", (), "", "true if the contact slid in the step"),
    ),
)


def tabulate_anchors(columns: dict[str, Any], geom_bodies: NDArray[np.int32]) -> Rows:
    """Returns the rows of anchors from arrays without `bodies`, and the body of each geom."""
    rows = np.empty(len(columns["geoms"]), ANCHOR_TABLE.dtype)
    for name, values in {**columns, "bodies": geom_bodies[columns["geoms"]]}.items():
        rows[name] = values
    return rows
