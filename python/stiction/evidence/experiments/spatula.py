"""A spatula held by two soft bubbles, whose grip force is a square wave."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

import stiction
from stiction.errors import ignored_settings_are_fine
from stiction.inputs.package_scenes import find_scene_file
from stiction.runs.run import Run, Step, StepFunction
from stiction.scene import Scene
from stiction.setup.options import DEFAULTS
from stiction.simulator import Simulator

# ---- A contact patch as it appears along its normal ----------------------------------------------

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class FlatPatch:
    """A contact patch in the plane of its force. The origin is the center of the patch."""

    faces: tuple[Vector, ...]  # vertices of each face, (k, 2) [m]
    center: Vector  # centers of the faces, (n, 2) [m]
    pressure: Vector  # pressure of the fields at the centers, (n) [Pa]
    friction: Vector  # friction on the second body per area, (n, 2) [Pa]
    slipping: NDArray[np.bool_]  # whether each face slips, (n)


def flatten_patch(patch: stiction.ContactPatch, axis: Vector) -> FlatPatch:
    """Projects a patch on the plane normal to its mean normal, with `axis` as first axis."""
    normal = patch.face_area @ patch.face_normal
    normal /= np.linalg.norm(normal)
    x = axis - (axis @ normal) * normal
    x /= np.linalg.norm(x)
    plane = np.stack([x, np.cross(normal, x)], axis=1)
    friction = patch.traction - patch.normal_traction[:, None] * patch.face_normal
    vertices = (patch.vertices - patch.center) @ plane
    return FlatPatch(
        faces=tuple(np.split(vertices, patch.faces[1:-1])),
        center=(patch.face_center - patch.center) @ plane,
        pressure=patch.pressure.copy(),
        friction=friction @ plane,
        slipping=patch.slipping.copy(),
    )


_OPENING = 0.1  # time for which the bubbles bounce after the grip opens [s]


@dataclass(frozen=True)
class GripWave:
    """A square wave of the grip force."""

    tight: float  # force in the first part of each period [N]
    loose: float  # force in the rest of the period [N]
    period: float  # [s]
    duty: float  # fraction of the period with the force `tight`, in (0, 1)

    def is_tight(self, time: Vector) -> NDArray[np.bool_]:
        """True where the grip is tight; a nanosecond before a switch counts as the switch."""
        phase = np.mod(np.asarray(time) + 1e-9, self.period)
        return phase < self.duty * self.period

    def calc_force(self, time: Vector) -> Vector:
        """Returns the grip force at some times [N]."""
        return np.where(self.is_tight(time), self.tight, self.loose)

    def find_time_since_opening(self, time: float) -> float:
        """Returns the time since the grip has opened [s]; negative while it is tight."""
        return math.fmod(time + 1e-9, self.period) - self.duty * self.period

    def find_time_to_switch(self, time: float) -> float:
        """Returns the time to the next switch of the grip [s]."""
        since = self.find_time_since_opening(time)
        return -since if since < 0 else (1 - self.duty) * self.period - since


PAPER = GripWave(tight=16, loose=1, period=6, duty=0.75)
EXAMPLE = GripWave(tight=6.5, loose=1.5, period=3, duty=0.5)


@dataclass(frozen=True)
class SpatulaRun:
    """The results of a run. Row i of each array belongs to step i."""

    time: Vector  # time at the end of the step [s]
    pitch: Vector  # rotation about the gripper's axis since the start [rad]
    force: Vector  # grip force of the controller [N]
    pressing: Vector  # force of the patches along the fingers' axis, mean of both [N]
    # faces, area: number of faces and area of both patches [m^2].
    faces: NDArray[np.int64]
    area: Vector
    slip_speed: Vector  # mean over the area [m/s]
    slipping: Vector  # fraction of the area that slips [-]
    # Ratio of the patches' lengths along and across the handle, from their second moments of area
    # [-]; NaN without contact.
    length_ratio: Vector
    # step_us, surfaces_us, solve_us: wall time of the step, of its contact surfaces and of the
    # solver [us].
    step_us: Vector
    surfaces_us: Vector
    solve_us: Vector
    max_residual: float  # largest residual of all steps [-]
    # The first bubble's patch on the handle by time, for the times in `times_shown`. The first axis
    # is along the handle.
    patches: dict[float, FlatPatch]

    def find_pitch(self, time: float) -> float:
        """Returns the pitch at a time, linear between steps [rad]."""
        return float(np.interp(time, self.time, self.pitch))


# The measurements of run_spatula after each step: fields of SpatulaRun, in this order.
_COLUMNS = (
    "pitch",
    "faces",
    "area",
    "slip_speed",
    "slipping",
    "length_ratio",
    "pressing",
    "step_us",
    "surfaces_us",
    "solve_us",
)


def run_spatula(
    wave: GripWave,
    duration: float,
    time_step: float,
    contact_model: str = DEFAULTS["contact_model"],
    *,
    opening_step: float | None = None,
    stiction_tolerance: float = 1e-4,
    tolerance: float = DEFAULTS["tolerance"],
    refinement: float = 1.0,
    times_shown: Sequence[float] = (),
    step: StepFunction = Simulator.step,
) -> SpatulaRun:
    """Runs scenes/spatula.xml from its initial state, with resolution hints divided by
    `refinement`. opening_step is the time step for 0.1 s after the grip opens, and before a
    switch that a whole step would miss. The patches at `times_shown` are kept."""
    scene = stiction.load_scene(find_scene_file("spatula"))
    model, data = scene.model, scene.make_data()
    starts, lengths = _plan_steps(wave, duration, time_step, opening_step)
    options = {"stiction_tolerance": stiction_tolerance, "tolerance": tolerance}
    simulators = _make_simulators(scene, contact_model, lengths, refinement, options)
    mujoco.mj_forward(model, data)
    spatula, handle = model.body("spatula").id, model.geom("handle").id
    R_start = data.xmat[spatula].reshape(3, 3).copy()
    ends = starts + lengths
    forces = wave.calc_force(starts)
    rows = np.zeros((len(starts), len(_COLUMNS)))
    residual = 0.0
    shown = {int(np.argmin(np.abs(ends - time))): time for time in times_shown}
    patches: dict[float, FlatPatch] = {}
    steps = iter(zip(forces, lengths.tolist(), strict=True))

    def take(data: mujoco.MjData) -> stiction.StepReport:
        data.ctrl[:], length = next(steps)
        return step(simulators[length], data)

    def measure(made: Step) -> None:
        nonlocal residual
        report = made.report
        quaternion = data.qpos[model.joint("spatula").qposadr[0] + 3 :][:4]
        pitch = _calc_pitch(quaternion, R_start)
        axis = data.geom_xmat[handle].reshape(3, 3)[:, 2]
        rows[made.index] = [pitch, *_measure_patches(report, axis), *_find_times(report)]
        residual = max(residual, report.statistics.residual)
        if made.index in shown:
            patches[shown[made.index]] = flatten_patch(report.patches[0], axis)

    Run(take, data, len(starts)).to_end(measure)
    columns: dict[str, Any] = dict(zip(_COLUMNS, rows.T, strict=True))
    columns["faces"] = columns["faces"].astype(int)
    return SpatulaRun(time=ends, force=forces, max_residual=residual, patches=patches, **columns)


def _make_simulators(
    scene: Scene, contact_model: str, lengths: Vector, refinement: float, options: dict[str, Any]
) -> dict[float, Simulator]:
    """Makes a simulator for each length of a step [s]; see run_spatula."""
    properties: Any = scene.properties.content if scene.properties else {}
    for material in properties["materials"].values():
        material["resolution_hint"] /= refinement
    with ignored_settings_are_fine():
        return {
            length: Simulator(
                scene.model, contact_model, time_step=length, properties=properties, **options
            )
            for length in sorted(set(lengths.tolist()))
        }


def _plan_steps(
    wave: GripWave, duration: float, time_step: float, opening_step: float | None
) -> tuple[Vector, Vector]:
    """Returns the times at which steps start, and their lengths [s]; see run_spatula."""
    if opening_step is None:
        num_steps = round(duration / time_step)
        return np.linspace(0, time_step * (num_steps - 1), num_steps), np.full(num_steps, time_step)
    starts, lengths, time = [], [], 0.0
    while time < duration - 1e-9:
        is_opening = 0 <= wave.find_time_since_opening(time) < _OPENING
        misses_switch = wave.find_time_to_switch(time) < time_step - 2e-9
        starts.append(time)
        lengths.append(opening_step if is_opening or misses_switch else time_step)
        time += lengths[-1]
    return np.array(starts), np.array(lengths)


def _calc_pitch(quaternion: Vector, R_start: Vector) -> float:
    """Returns the component along the world's y of the rotation vector since the start [rad]."""
    R = np.empty(9)
    mujoco.mju_quat2Mat(R, quaternion)
    turn, rotation = np.empty(4), np.empty(3)
    mujoco.mju_mat2Quat(turn, (R.reshape(3, 3) @ R_start.T).ravel())
    mujoco.mju_quat2Vel(rotation, turn, 1.0)
    return float(rotation[1])


def _measure_patches(report: stiction.StepReport, axis: Vector) -> list[float]:
    """Returns faces, area, mean slip speed, fraction that slips, length ratio, and pressing force."""
    patches = list(report.patches)
    area = sum(patch.area for patch in patches)
    if area == 0:
        return [0, 0, 0, 0, np.nan, 0]
    speed = sum(patch.face_area @ np.linalg.norm(patch.slip_velocity, axis=1) for patch in patches)
    slipping = sum(patch.face_area @ patch.slipping for patch in patches)
    ratio = np.mean([_calc_length_ratio(patch, axis) for patch in patches])
    faces = sum(len(patch) for patch in patches)
    pressing = np.mean([abs(patch.force[1]) for patch in patches])  # the fingers move along y
    return [faces, area, speed / area, slipping / area, float(ratio), float(pressing)]


def _calc_length_ratio(patch: stiction.ContactPatch, axis: Vector) -> float:
    """Returns the spread of the faces' centers along an axis, over that across it."""
    away = patch.face_center - patch.center
    normal = patch.force / np.linalg.norm(patch.force)
    across = np.cross(normal, axis)
    across /= np.linalg.norm(across)
    return float(
        np.sqrt((patch.face_area @ (away @ axis) ** 2) / (patch.face_area @ (away @ across) ** 2))
    )


def _find_times(report: stiction.StepReport) -> list[float]:
    timings = report.timings
    return [timings.total, timings.surfaces, timings.solve]
