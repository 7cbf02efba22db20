"""One rigid body above a ground, moving in the x-z plane. The three planar studies use it.

The coordinates are x, z and, if the body rotates, theta. The angle is counterclockwise if x points
to the right and z up. Spheres fixed to the body touch the half-space z <= 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import mujoco
import numpy as np
from numpy.typing import NDArray

import stiction
from stiction.errors import ignored_settings_are_fine
from stiction.runs.run import Run, Step, Strides

# ---- MuJoCo's contact parameters for a stiffness in N/m, to compare mj_step with Stiction --------

_SOFT_IMPEDANCE = 0.9
_MAX_IMPEDANCE = 0.9999  # largest impedance that MuJoCo accepts


def make_contact_attributes(mass: float, stiffness: float, time_step: float) -> str:
    """Returns solref and solimp of MJCF for critically damped contacts that sag like a spring.

    MuJoCo's contacts have no stiffness in N/m. A mass m on one contact with the time constant tc
    and the constant impedance d sags by (1 - d) g tc^2, as on a spring of stiffness m / ((1 - d)
    tc^2). MuJoCo accepts tc >= 2 dt. For a spring softer than that of tc = 2 dt and d = 0.9, tc
    grows and d stays. The largest d that MuJoCo accepts gives 6e8 N/m for 1 kg and 2 ms, to which
    larger stiffnesses are reduced.
    """
    soft = math.sqrt(mass / ((1 - _SOFT_IMPEDANCE) * stiffness))
    time_constant = max(2 * time_step, soft)
    impedance = min(1 - mass / (stiffness * time_constant**2), _MAX_IMPEDANCE)
    return f'solref="{time_constant!r} 1" solimp="{impedance!r} {impedance!r} 0.001"'


Vector = NDArray[np.float64]

GRAVITY = 9.81  # [m/s^2]
STICTION_TOLERANCE = 1e-4  # v_s [m/s]
_REGULARIZATION = 1e-3  # sigma [-]
_TOLERANCE = 1e-10  # tolerance of the solver, whose error is then far below all errors studied


@dataclass(frozen=True)
class PlanarBody:
    """The body and its contacts."""

    mass: float  # [kg]
    inertia: float  # moment of inertia about the center of mass [kg m^2]
    # X and z in the body's frame, and radius, of each sphere [m].
    spheres: tuple[tuple[float, float, float], ...]
    friction: float  # friction coefficient of a contact [-]
    stiffness: float  # stiffness of a contact [N/m]
    dissipation: float  # dissipation of a contact [s/m]
    relaxation_time: float  # relaxation time of a contact [s]
    rotates: bool = True  # whether the body rotates; if not, it has only x and z

    def make_model(self, time_step: float) -> mujoco.MjModel:
        """Makes a MuJoCo model. The contacts of 'mujoco' get about the body's stiffness."""
        reference = make_contact_attributes(self.mass, self.stiffness, time_step)
        contact = f'friction="{self.friction!r} 0 0" condim="3" {reference}'
        spheres = "".join(
            f'<geom type="sphere" pos="{x!r} 0 {z!r}" size="{r!r}" mass="0" {contact}/>'
            for x, z, r in self.spheres
        )
        joints = '<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>'
        if self.rotates:
            joints += '<joint type="hinge" axis="0 -1 0"/>'
        # MuJoCo allows changes of a surface velocity only if it is not zero in the file.
        return mujoco.MjModel.from_xml_string(f"""
          <mujoco model="planar">
            <compiler inertiafromgeom="false"/>
            <option timestep="{time_step!r}" gravity="0 0 {-GRAVITY}" cone="elliptic"
                    tolerance="1e-12" iterations="200"/>
            <worldbody>
              <geom name="ground" type="plane" size="0 0 1" surfacevel="1e-30 0 0 0 0 0" {contact}/>
              <body name="body">
                {joints}{spheres}
                <inertial pos="0 0 0" mass="{self.mass!r}"
                          diaginertia="{self.inertia!r} {self.inertia!r} {self.inertia!r}"/>
              </body>
            </worldbody>
          </mujoco>""")

    def make_properties(self) -> dict[str, object]:
        """Returns the contact properties of all geoms. The springs of two geoms act in series."""
        material = {
            "stiffness": 2 * self.stiffness,
            "dissipation": self.dissipation,
            "relaxation_time": 0.5 * self.relaxation_time,
        }
        return {"materials": {"planar": material}, "geoms": {"*": "planar"}}

    def make_simulator(
        self,
        contact_model: str,
        time_step: float,
        stiction_tolerance: float = STICTION_TOLERANCE,
        *,
        tolerance: float = _TOLERANCE,
    ) -> stiction.Simulator:
        """Makes a simulator with the body's stiffness under every contact model: without the
        near-rigid reduction of stiffness, and with the paper's lagged models."""
        with ignored_settings_are_fine():
            return stiction.Simulator(
                self.make_model(time_step),
                contact_model,
                properties=self.make_properties(),
                tolerance=tolerance,
                friction_law="soft",
                stiction_tolerance=stiction_tolerance,
                friction_regularization=_REGULARIZATION,
                near_rigid_factor=0.0,
                remember_forces=False,
                on_failure="keep_best",
            )


@dataclass
class Trajectory:
    """The samples of a run, including the start. Forces and contact velocities belong to the
    step that ends at the sample; they are 0 without contacts."""

    contact_model: str
    time_step: float  # [s]
    time: Vector  # times of the samples, (n,) [s]
    q: Vector  # x, z [m] and theta [rad], (n, 2 or 3)
    v: Vector  # their rates, (n, 2 or 3)
    # normal_force, friction_force: total force of the ground on the body, the latter along x, (n,)
    # [N].
    normal_force: Vector
    friction_force: Vector
    # normal_velocity, slip_velocity: velocities of the contact with the largest normal impulse, or
    # of the nearest contact, (n,) [m/s].
    normal_velocity: Vector
    slip_velocity: Vector
    coupling_error: float  # largest of all sampled steps, for models that report it [-]
    status: dict[str, int] = field(default_factory=dict)  # number of failed steps by their status

    @cached_property
    def x(self) -> Vector:
        """The coordinate x, (n,) [m]."""
        return self.q[:, 0]

    @cached_property
    def z(self) -> Vector:
        """The coordinate z, (n,) [m]."""
        return self.q[:, 1]


# Returns the position along x of a moving ground [m] at given times [s].
GroundPosition = Callable[[Vector], Vector]


def run_planar(
    body: PlanarBody,
    contact_model: str,
    time_step: float,
    duration: float,
    q0: Vector,
    v0: Vector,
    *,
    stride: int = 1,
    ground_position: GroundPosition | None = None,
    stiction_tolerance: float = STICTION_TOLERANCE,
) -> Trajectory:
    """Runs a planar body from q0 and v0, (2 or 3,), for a multiple of the time step, on a ground
    that may move. A step that does not converge keeps the best solution found, and the status
    counts it."""
    simulator = body.make_simulator(contact_model, time_step, stiction_tolerance)
    model = simulator.model
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = q0, v0
    num_samples = round(duration / time_step / stride)
    rows = np.zeros((num_samples + 1, 2 * model.nv + 4))
    rows[0, : 2 * model.nv] = [*q0, *v0]
    status: dict[str, int] = {}
    coupling = 0.0
    ground = calc_ground_velocities(ground_position, time_step, num_samples * stride)
    velocities = iter(() if ground is None else ground)
    calls_per_sample = 1 if ground is None else stride  # the ground moves before each step

    def sample(step: Step) -> None:
        nonlocal coupling
        index, rest = divmod(step.index + 1, calls_per_sample)
        if rest:
            return
        report = step.report
        if not report.ok:
            status[report.status] = status.get(report.status, 0) + 1
        coupling = max(coupling, getattr(report.certificate, "coupling_error", 0.0))
        rows[index] = [*data.qpos, *data.qvel, *_read_contact(report, time_step)]

    def move(data: mujoco.MjData) -> None:
        if ground is not None:
            set_ground_velocity(model, next(velocities))

    calls = Strides(num_samples * calls_per_sample, num_steps=stride // calls_per_sample)
    Run(simulator, data, calls, move, goes_on=True).to_end(sample)
    nv = model.nv
    normal_force, friction_force, normal_velocity, slip_velocity = rows[:, 2 * nv :].T
    return Trajectory(
        contact_model=contact_model,
        time_step=time_step,
        time=time_step * stride * np.arange(num_samples + 1, dtype=np.float64),
        q=rows[:, :nv],
        v=rows[:, nv : 2 * nv],
        normal_force=normal_force,
        friction_force=friction_force,
        normal_velocity=normal_velocity,
        slip_velocity=slip_velocity,
        coupling_error=coupling,
        status=status,
    )


def calc_ground_velocities(
    position: GroundPosition | None, time_step: float, num_steps: int
) -> Vector | None:
    """Returns the ground's mean velocity in each step, (num_steps,) [m/s], or None if it rests. The
    mean makes the ground's position exact after every step."""
    if position is None:
        return None
    start = np.arange(num_steps, dtype=np.float64) * time_step
    return (position(start + time_step) - position(start)) / time_step


def set_ground_velocity(model: mujoco.MjModel, velocity: float) -> None:
    """Sets the velocity along x [m/s] of the ground of PlanarBody.make_model for the next steps."""
    model.geom_surfacevel[0, 0] = velocity


def _read_contact(report: stiction.StepReport, time_step: float) -> tuple[float, ...]:
    """Returns normal and friction force of all contacts, and normal and slip velocity of the one
    with the largest normal impulse or, without impulses, the nearest one."""
    contacts = report.contacts
    if len(contacts) == 0:
        return 0.0, 0.0, 0.0, 0.0
    normal = contacts.normal_impulse
    k = int(np.argmax(normal)) if normal.any() else int(np.argmin(contacts.distance))
    sign = 1.0 if contacts.normal[k, 2] > 0 else -1.0
    return (
        float(normal.sum()) / time_step,
        sign * float(contacts.impulse[:, 0].sum()) / time_step,
        float(contacts.normal_velocity[k]),
        sign * float(contacts.slip_velocity[k, 0]),
    )
