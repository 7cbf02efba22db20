"""One rigid body over a ground, moving in the x-z plane: the three planar studies.

Its coordinates are x, z and, where it rotates, theta, counter-clockwise seen with x to the right and z
up. Contacts are spheres fixed to it against the half-space z <= 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import mujoco
import numpy as np
from numpy.typing import NDArray

import stiction
from stiction.errors import ignored_settings_are_fine
from stiction.experiments.mujoco_contact import make_contact_attributes

Vector = NDArray[np.float64]

GRAVITY = 9.81  # [m/s^2]
STICTION_TOLERANCE = 1e-4  # v_s [m/s]
_REGULARIZATION = 1e-3  # sigma [-]
_TOLERANCE = 1e-10  # of the solver: its error is then far below any that is studied


@dataclass(frozen=True)
class PlanarBody:
    """The body and its contacts, [kg, kg m^2, m, N/m, s/m, s].

    spheres: x, z in the body's frame, and radius.
    rotates: else it has x and z alone.
    """

    mass: float
    inertia: float
    spheres: tuple[tuple[float, float, float], ...]
    friction: float
    stiffness: float
    dissipation: float
    relaxation_time: float
    rotates: bool = True

    def make_model(self, time_step: float) -> mujoco.MjModel:
        """For any contact model. 'mujoco' gets contacts of about the stiffness asked for."""
        reference = make_contact_attributes(self.mass, self.stiffness, time_step)
        contact = f'friction="{self.friction!r} 0 0" condim="3" {reference}'
        spheres = "".join(
            f'<geom type="sphere" pos="{x!r} 0 {z!r}" size="{r!r}" mass="0" {contact}/>'
            for x, z, r in self.spheres
        )
        joints = '<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>'
        if self.rotates:
            joints += '<joint type="hinge" axis="0 -1 0"/>'
        # A surface velocity that is not zero in the file may be changed later.
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
        """Of both geoms of a contact: their springs act in series."""
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
        """Stiffness is as given under every model, near-rigid contact being a study of its own."""
        with ignored_settings_are_fine():
            return stiction.Simulator(
                self.make_model(time_step),
                contact_model,
                properties=self.make_properties(),
                tolerance=tolerance,
                stiction_tolerance=stiction_tolerance,
                friction_regularization=_REGULARIZATION,
                near_rigid_factor=0.0,
                on_failure="keep_best",
            )


@dataclass
class Trajectory:
    """What a run did, one entry per sampled time, the start among them.

    q: x, z [m] and theta [rad], (n, 2 or 3). v: the same per second.
    normal_force, friction_force: of the ground on the body, the latter along x [N]. Forces, normal and
    slip velocity [m/s] are of the step that ends at the time, of the contact that bears most; 0 where
    there is none.
    status: of the steps that went wrong, counts by name.
    coupling_error: worst of all sampled steps, of models that report one [-].
    """

    contact_model: str
    time_step: float
    time: Vector
    q: Vector
    v: Vector
    normal_force: Vector
    friction_force: Vector
    normal_velocity: Vector
    slip_velocity: Vector
    coupling_error: float
    status: dict[str, int] = field(default_factory=dict)

    @cached_property
    def x(self) -> Vector:
        return self.q[:, 0]

    @cached_property
    def z(self) -> Vector:
        return self.q[:, 1]


# Where a ground that moves along x is at each of some times [s], [m].
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
    """Runs a planar body from q0, v0.

    Args:
        time_step: [s]; a whole number of them makes the duration.
        stride: steps between samples.
        ground_position: where the ground is; None: at rest. With it every step is a call from Python.
        stiction_tolerance: v_s [m/s].

    Steps that do not converge keep the best found and are counted in the trajectory's status.
    """
    simulator = body.make_simulator(contact_model, time_step, stiction_tolerance)
    model = simulator.model
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = q0, v0
    num_samples = round(duration / time_step / stride)
    ground = calc_ground_velocities(ground_position, time_step, num_samples * stride)
    rows = np.zeros((num_samples + 1, 2 * model.nv + 4))
    rows[0, : 2 * model.nv] = [*q0, *v0]
    status: dict[str, int] = {}
    coupling = 0.0
    for sample in range(1, num_samples + 1):
        if ground is None:
            report = simulator.step(data, stride)
        else:
            for velocity in ground[(sample - 1) * stride : sample * stride]:
                set_ground_velocity(model, velocity)
                report = simulator.step(data)
        if not report.ok:
            status[report.status] = status.get(report.status, 0) + 1
        coupling = max(coupling, getattr(report.certificate, "coupling_error", 0.0))
        rows[sample] = [*data.qpos, *data.qvel, *_read_contact(report, time_step)]
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
    """Of each step, (num_steps,) [m/s]: the mean, so that the ground is in its place after every step.
    None where it rests.
    """
    if position is None:
        return None
    start = np.arange(num_steps, dtype=np.float64) * time_step
    return (position(start + time_step) - position(start)) / time_step


def set_ground_velocity(model: mujoco.MjModel, velocity: float) -> None:
    """Along x [m/s], from now on. model: of PlanarBody.make_model."""
    model.geom_surfacevel[0, 0] = velocity


def _read_contact(report: stiction.StepReport, time_step: float) -> tuple[float, ...]:
    """Normal and friction force, of all contacts; normal velocity and slip of the one that bears most,
    or is nearest.
    """
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
