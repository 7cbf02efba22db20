"""The disk, a US quarter that slides and spins on a compliant plane, its mesh, and its runs."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

import stiction
from stiction.inputs.names import find_models
from stiction.runs.run import Run, Step, StepFunction
from stiction.simulator import Simulator

Vector = NDArray[np.float64]

# Properties of the coin. The paper's values of friction and modulus are missing in print; the final
# ratio depends on neither.
RADIUS, THICKNESS, MASS = 0.01213, 0.00175, 0.00567  # [m], [m], [kg]
FRICTION, MODULUS, SLAB_THICKNESS = 0.2, 1e6, 0.00175  # [-], [Pa], [m]
DISSIPATION, RELAXATION_TIME = 10.0, 1e-3  # [s/m], [s]
GRAVITY = 9.81  # [m/s^2]
SPEED = 0.35  # hypot(v, R w) at the start [m/s]
NUM_SIDES = 152  # number of triangles of the fan
# The fan's polygon has the coin's area. An inscribed polygon would stop at a ratio 0.06 % smaller,
# because its friction has a shorter lever while the inertia is the same.
_SIDE_ANGLE = 2 * math.pi / NUM_SIDES
FAN_RADIUS = RADIUS * math.sqrt(_SIDE_ANGLE / math.sin(_SIDE_ANGLE))  # [m]

MODELS = ("tamsi", "lagged", "lagged_regularized", "coulomb", "similar", "sap")
# Models that lift a sliding body by mu dt |v_t| or more.
GLIDING = find_models(lambda model: model.lifts_sliding)

_TOLERANCE = 1e-9
_LARGEST_STEP, _MAX_STEPS = 1e-3, 100_000  # of run_to_stop [s, -]


@dataclass(frozen=True)
class Disk:
    """A disk with its mesh and quadrature."""

    # K > 0 gives caps of 6 k^2 triangles of similar size in k rings, inscribed in the coin; 0 gives
    # a fan of NUM_SIDES triangles about the center, with the coin's area.
    num_rings: int = 0
    grading: float = 1.0  # exponent p; ring i of k has the radius (i/k)^p of the coin's
    # tessellation, quadrature: as in Simulator.
    tessellation: str = "polygon"
    quadrature: str = "centroid"
    # True puts the center of mass at half the thickness. Friction acts below it and tips the coin,
    # which then presses more on its leading half. False puts the center of mass in the plane, and
    # the pressure is even, as in theory.
    tips: bool = True

    @property
    def deceleration(self) -> float:
        """mu g [m/s^2]."""
        return FRICTION * GRAVITY

    def make_model(self) -> mujoco.MjModel:
        """Makes the model, with geoms 'ground' and 'disk', a free joint and a time step of 1 ms."""
        asset, geoms = self._describe_geoms()
        spin = MASS * RADIUS**2 / 2
        center = 0.0 if self.tips else -THICKNESS / 2
        tip = MASS * (3 * RADIUS**2 + THICKNESS**2) / 12
        return mujoco.MjModel.from_xml_string(f"""
<mujoco model="disk">
  <option gravity="0 0 {-GRAVITY}" timestep="0.001"/>
  {asset}
  <worldbody>
    <geom name="ground" type="plane" size="1 1 0.1"/>
    <body name="disk">
      <freejoint/>
      <inertial pos="0 0 {center!r}" mass="{MASS}" diaginertia="{tip!r} {tip!r} {spin!r}"/>
      {geoms}
    </body>
  </worldbody>
</mujoco>""")

    def make_ring_mesh(self) -> tuple[Vector, NDArray[np.int_]]:
        """Makes the coin's surface with caps of rings."""
        return make_ring_mesh(RADIUS, THICKNESS, self.num_rings, self.grading)

    def _describe_geoms(self) -> tuple[str, str]:
        """Returns the MJCF of a mesh with two caps of rings and a wall, if any, and of the geoms."""
        if not self.num_rings:
            size = f"{FAN_RADIUS!r} {THICKNESS / 2!r}"
            return "", f'<geom name="disk" type="cylinder" size="{size}"/>'
        vertices, triangles = self.make_ring_mesh()
        numbers = " ".join(f"{x:.9g}" for x in vertices.ravel())
        faces = " ".join(map(str, triangles.ravel()))
        asset = f'<asset><mesh name="disk" vertex="{numbers}" face="{faces}"/></asset>'
        return asset, '<geom name="disk" type="mesh" mesh="disk"/>'

    @property
    def properties(self) -> dict[str, Any]:
        """The contact properties. The dissipation of the disk has no effect, because it is rigid."""
        return {
            "materials": {
                "ground": {
                    "hydroelastic_modulus": MODULUS,
                    "slab_thickness": SLAB_THICKNESS,
                    "dissipation": DISSIPATION,
                    "relaxation_time": RELAXATION_TIME,
                    "friction": FRICTION,
                },
                "disk": {
                    "rigid": True,
                    "resolution_hint": _SIDE_ANGLE * FAN_RADIUS * (1 + 1e-9),
                    "dissipation": DISSIPATION,
                    "relaxation_time": 0.0,
                    "friction": FRICTION,
                },
            },
            "geoms": {"ground": "ground", "disk": "disk"},
        }

    def make_simulator(
        self, contact_model: str, stiction_tolerance: float, time_step: float | None = None
    ) -> Simulator:
        """Makes a simulator without the near-rigid reduction of stiffness."""
        with stiction.errors.ignored_settings_are_fine():
            return Simulator(
                copy.copy(_make_model(self)),  # a copy, because runs may change its time step
                contact_model,
                time_step=time_step,
                tolerance=_TOLERANCE,
                friction_law="soft",
                stiction_tolerance=stiction_tolerance,
                near_rigid_factor=0.0,
                tessellation=self.tessellation,
                quadrature=self.quadrature,
                properties=self.properties,
            )

    def make_data(self, model: mujoco.MjModel, ratio: float) -> mujoco.MjData:
        """Makes data with the disk pressed in by its weight and moving with v = ratio R w along x."""
        data = mujoco.MjData(model)
        area = math.pi * RADIUS**2
        if self.num_rings:  # reduce it to the area of the inscribed polygon
            angle = 2 * math.pi / (6 * self.num_rings)
            area *= math.sin(angle) / angle
        depth = MASS * GRAVITY * SLAB_THICKNESS / (MODULUS * area)
        data.qpos[:] = [0, 0, THICKNESS / 2 - depth, 1, 0, 0, 0]
        spin = SPEED / math.hypot(ratio, 1)
        data.qvel[:] = [ratio * spin, 0, 0, 0, 0, spin / RADIUS]
        return data


@cache
def _make_model(disk: Disk) -> mujoco.MjModel:
    return disk.make_model()


@dataclass
class DiskRun:
    """The samples of a run, one per step."""

    time: list[float] = field(default_factory=list)  # [s]
    v: list[float] = field(default_factory=list)  # horizontal speed |v_xy| [m/s]
    spin: list[float] = field(default_factory=list)  # R w [m/s]
    height: list[float] = field(default_factory=list)  # height of the center [m]
    num_points: int = 0  # largest number of contact points of a step
    total_us: float = 0.0  # wall time of all steps [us]

    def sample(self, data: mujoco.MjData) -> None:
        """Adds a sample."""
        self.time.append(data.time)
        self.v.append(math.hypot(data.qvel[0], data.qvel[1]))
        self.spin.append(RADIUS * abs(data.qvel[5]))
        self.height.append(float(data.qpos[2]))

    def add(self, step: Step) -> None:
        """Adds a step and its sample."""
        self.total_us += step.report.timings.total
        self.num_points = max(self.num_points, len(step.report.contacts))
        self.sample(step.data)

    @property
    def speed(self) -> float:
        """The speed s = hypot(v, R w) of the last sample [m/s]."""
        return math.hypot(self.v[-1], self.spin[-1])

    @property
    def ratio(self) -> Vector:
        """The ratio eps = v / (R w) of each sample [-]."""
        ratio: Vector = np.array(self.v) / np.array(self.spin)
        return ratio

    @property
    def fraction(self) -> Vector:
        """The speed of each sample as a fraction of the initial speed [-]."""
        fraction: Vector = np.hypot(self.v, self.spin) / SPEED
        return fraction

    def ratio_at(self, fraction: float) -> float:
        """Returns the ratio at a fraction of the initial speed, linear in log speed; NaN if never."""
        fractions = self.fraction
        below = np.flatnonzero(fractions <= fraction)
        if not len(below) or below[0] == 0:
            return math.nan
        i = below[0]
        high, low = np.log(fractions[i - 1]), np.log(max(fractions[i], 1e-300))
        weight = (high - math.log(fraction)) / (high - low)
        return float(self.ratio[i - 1] + weight * (self.ratio[i] - self.ratio[i - 1]))


def run_to_stop(
    disk: Disk,
    contact_model: str,
    ratio: float,
    *,
    to_fraction: float,
    step_share: float,
    stiction_tolerance: float,
    step: StepFunction = Simulator.step,
) -> DiskRun:
    """Runs the disk until its speed has fallen to a fraction of the initial speed. v and w reach
    zero at the same time. To resolve their ratio over many decades of speed, each step takes a
    share of the remaining speed s: dt = step_share s / (mu g), at most 1 ms."""
    simulator = disk.make_simulator(contact_model, stiction_tolerance)
    model = simulator.model
    run = DiskRun()

    def choose_step(data: mujoco.MjData) -> None:
        model.opt.timestep = min(_LARGEST_STEP, step_share * run.speed / disk.deceleration)

    def add(made: Step) -> bool:
        run.add(made)
        return run.speed <= to_fraction * SPEED

    data = disk.make_data(model, ratio)
    run.sample(data)
    Run(partial(step, simulator), data, _MAX_STEPS, choose_step).to_end(add)
    return run


def run_steps(
    disk: Disk,
    contact_model: str,
    ratio: float,
    time_step: float,
    duration: float,
    stiction_tolerance: float,
) -> DiskRun:
    """Runs the disk with a constant time step."""
    simulator = disk.make_simulator(contact_model, stiction_tolerance, time_step)
    data = disk.make_data(simulator.model, ratio)
    run = DiskRun()
    run.sample(data)
    Run(simulator, data, round(duration / time_step)).to_end(run.add)
    return run


# ---- The surface of a disk as a mesh of rings ----------------------------------------------------

Faces = NDArray[np.int_]


def make_ring_mesh(
    radius: float, thickness: float, num_rings: int, grading: float = 1.0
) -> tuple[Vector, Faces]:
    """Makes a disk's surface with caps of 6 k^2 triangles in k rings: vertices, (n, 3), and
    triangles, (m, 3), counterclockwise from outside. Ring i has 6 i vertices at the fraction
    (i/k)^p of the radius, with the grading p."""
    top, cap = _make_cap(radius, thickness, num_rings, grading)
    count, rim = len(top), 6 * num_rings
    vertices = np.vstack([top, top * [1, 1, -1]])
    # The vertices of the last ring are the last ones of a cap.
    upper = count - rim + np.arange(rim)
    next_upper = np.roll(upper, -1)
    lower, next_lower = upper + count, next_upper + count
    wall = np.vstack(
        [
            np.stack([lower, next_lower, next_upper], axis=-1),
            np.stack([lower, next_upper, upper], axis=-1),
        ]
    )
    return vertices, np.vstack([cap, cap[:, ::-1] + count, wall])


def _make_cap(
    radius: float, thickness: float, num_rings: int, grading: float
) -> tuple[Vector, Faces]:
    vertices = [[0.0, 0.0, thickness / 2]]
    for i in range(1, num_rings + 1):
        for angle in 2 * math.pi * np.arange(6 * i) / (6 * i):
            r = radius * (i / num_rings) ** grading
            vertices.append([r * math.cos(angle), r * math.sin(angle), thickness / 2])
    triangles = [t for i in range(1, num_rings + 1) for t in _join_rings(i)]
    return np.array(vertices), np.array(triangles)


def _join_rings(i: int) -> Iterator[Sequence[int]]:
    """Yields the triangles between ring i - 1 and ring i, sextant by sextant."""
    first = [0, *(1 + 3 * k * (k + 1) for k in range(i + 1))]  # index of the first vertex of ring k

    def inner(j: int) -> int:
        return 0 if i == 1 else first[i - 1] + j % (6 * (i - 1))

    def outer(j: int) -> int:
        return first[i] + j % (6 * i)

    for sextant in range(6):
        for j in range(i):
            a, b = sextant * (i - 1) + j, sextant * i + j
            yield inner(a), outer(b), outer(b + 1)
            if j < i - 1:
                yield inner(a), outer(b + 1), inner(a + 1)
