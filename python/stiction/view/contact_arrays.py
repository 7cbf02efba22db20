"""The contacts of one step as arrays, the same for a report and for a recorded step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stiction._core import StepReport
from stiction.recording.records import RecordedPatch
from stiction.recording.step import Step

Vector = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class PatchArrays:
    """All patches of a step, with m faces and k vertices.

    starts: the vertices of face i are [starts[i], starts[i + 1]), (m + 1,).
    vertices, vertex_pressure: positions [m], (k, 3), and pressures [Pa], (k,).
    center, normal: center [m] and unit normal of each face, (m, 3).
    area: area of each face [m^2], (m,).
    traction, slip_velocity: traction on the second body [Pa] and its slip [m/s], (m, 3).
    slipping: True for a face with friction at its bound, (m,).
    """

    starts: NDArray[np.int64]
    vertices: Vector
    vertex_pressure: Vector
    center: Vector
    normal: Vector
    area: Vector
    traction: Vector
    slip_velocity: Vector
    slipping: Flags

    @property
    def num_faces(self) -> int:
        """Number of faces."""
        return len(self.center)


@dataclass(frozen=True)
class PointArrays:
    """The point contacts of a step.

    geoms: ids of both geoms, (n, 2).
    point, normal: contact point [m] and unit normal into the second body, (n, 3).
    force: mean force on the second body [N], (n, 3).
    slip_velocity: tangential velocity of the second body [m/s], (n, 3); NaN if it is unknown.
    slipping: True for a contact with friction at its bound, (n,).
    is_fallback: True for a contact of a pair that has pressure fields but touches in points, (n,).
    """

    geoms: NDArray[np.int32]
    point: Vector
    normal: Vector
    force: Vector
    slip_velocity: Vector
    slipping: Flags
    is_fallback: Flags


_FLAT, _WIDE, _FLAGS = np.zeros(0), np.zeros((0, 3)), np.zeros(0, bool)
NO_PATCHES = PatchArrays(
    np.zeros(1, np.int64), _WIDE, _FLAT, _WIDE, _WIDE, _FLAT, _WIDE, _WIDE, _FLAGS
)
NO_POINTS = PointArrays(np.zeros((0, 2), np.int32), _WIDE, _WIDE, _WIDE, _WIDE, _FLAGS, _FLAGS)


def read_patches(report: StepReport) -> PatchArrays:
    """Returns the patches of a report."""
    patches = report.patches
    return PatchArrays(
        _join_starts([patch.faces for patch in patches]),
        patches.vertices,
        patches.vertex_pressure,
        patches.face_center,
        patches.face_normal,
        patches.face_area,
        patches.traction,
        patches.slip_velocity,
        patches.slipping,
    )


def read_points(report: StepReport) -> PointArrays:
    """Returns the point contacts of a report."""
    contacts = report.contacts
    rows = contacts.patch < 0
    return PointArrays(
        contacts.geoms[rows],
        contacts.point[rows],
        contacts.normal[rows],
        contacts.force[rows],
        contacts.slip_velocity[rows],
        contacts.slipping[rows],
        contacts.is_fallback[rows],
    )


def read_recorded_patches(patches: Sequence[RecordedPatch]) -> PatchArrays:
    """Returns recorded patches."""
    if not patches:
        return NO_PATCHES
    faces = np.concatenate([patch.faces for patch in patches])
    vertices = np.concatenate([patch.vertices for patch in patches])
    return PatchArrays(
        np.concatenate([[0], np.cumsum(faces["num_vertices"], dtype=np.int64)]),
        vertices["vertices"].astype(float),
        vertices["vertex_pressure"].astype(float),
        faces["face_center"].astype(float),
        faces["face_normal"].astype(float),
        faces["face_area"].astype(float),
        faces["traction"].astype(float),
        faces["slip_velocity"].astype(float),
        faces["slipping"].astype(bool),
    )


def read_recorded_points(
    step: Step, time_step: float, is_fallback: Callable[[int, int], bool]
) -> PointArrays:
    """Returns the point contacts of a recorded step, without those of pairs of geoms with a patch."""
    with_patch = {frozenset(patch.patch["geoms"].tolist()) for patch in step.patches}
    pairs = [tuple(pair) for pair in step.contacts["geoms"].tolist()]
    rows = np.array([frozenset(pair) not in with_patch for pair in pairs], bool)
    contacts: Any = step.contacts[rows]
    return PointArrays(
        contacts["geoms"],
        contacts["point"].astype(float),
        contacts["normal"].astype(float),
        contacts["impulse"].astype(float) / time_step,
        np.full((len(contacts), 3), np.nan),
        contacts["slipping"].astype(bool),
        np.array([is_fallback(*pair) for pair in contacts["geoms"].tolist()], bool),
    )


def calc_creep(patches: PatchArrays, points: PointArrays) -> float:
    """Returns the largest slip speed of a sticking contact with a force [m/s]; NaN if none is known."""
    faces = ~patches.slipping & (np.abs(patches.traction).max(axis=1, initial=0) > 0)
    held = ~points.slipping & (np.abs(points.force).max(axis=1, initial=0) > 0)
    velocities = np.concatenate([patches.slip_velocity[faces], points.slip_velocity[held]])
    speeds = np.linalg.norm(velocities, axis=1)
    speeds = speeds[np.isfinite(speeds)]
    return float(speeds.max()) if len(speeds) else float("nan")


def _join_starts(starts: Sequence[NDArray[np.int32]]) -> NDArray[np.int64]:
    """Joins the starts of the faces of some patches, each of which begins at 0."""
    counts = [np.diff(each) for each in starts]
    total = np.cumsum(np.concatenate(counts), dtype=np.int64) if counts else np.zeros(0, np.int64)
    return np.concatenate([[0], total])
