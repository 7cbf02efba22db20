"""Pressure-field contact in its continuous form, and an integrator with error control for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from stiction._core import ContactProperties, PatchForces
from stiction.arguments import check_data_type, check_model_type, check_name, check_number
from stiction.errors import Error
from stiction.properties import PropertiesLike, make_properties

Vector = NDArray[np.float64]

_METHODS = ("RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA")


@dataclass(frozen=True)
class Motion:
    """The motion that ContinuousDynamics.integrate computed, at n times.

    Attributes:
        time: [s], (n,).
        qpos: MuJoCo's positions at these times, (n, nq).
        qvel: MuJoCo's velocities at these times, (n, nv).
        num_evaluations: how often accelerations were evaluated.
    """

    time: Vector
    qpos: Vector
    qvel: Vector
    num_evaluations: int


class ContinuousDynamics:
    """A model's equations of motion with pressure-field contact as a force, in continuous time.

    The steps of a Simulator approach this motion as the time step becomes small. An integrator with
    error control computes it here, with no code of the step's solvers.

    At a point of a contact surface with pressure p, normal velocity v_n and slip v_t the traction is

        t_n = max(0, p (1 - d v_n)),
        t_t = -(2/pi) mu t_n atan(|v_t| / v_s) v_t / |v_t|,

    with the dissipation d and the friction coefficient mu of the step. MuJoCo's forward dynamics
    gives the accelerations; its other constraints take part as soft constraints. Source:
    [masterjohn2022] section IV.

        dynamics = stiction.ContinuousDynamics(model, properties="scene.contact.yaml")
        motion = dynamics.integrate(data, 0.5)

    Args:
        model: kept by reference.
        properties: contact properties of geoms: a file, or its content as a dict.
        tessellation: 'triangle', whose forces stay smooth as corners come and go, or 'polygon'.
        quadrature: 'moment_exact' or 'centroid', as for Simulator.
        stiction_tolerance: v_s > 0 [m/s]; a smaller one makes the equations stiffer.

    Raises:
        Error: an argument is out of range, or no two geoms can touch in a patch.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        *,
        properties: PropertiesLike,
        tessellation: str = "triangle",
        quadrature: str = "moment_exact",
        stiction_tolerance: float = 1e-4,
    ) -> None:
        check_model_type(model)
        self.model = model
        self._forces = PatchForces(
            model._address,
            check_name("tessellation", tessellation),
            check_name("quadrature", quadrature),
            check_number("stiction_tolerance", stiction_tolerance),
            make_properties(properties) or ContactProperties(),
        )
        self._turning = _find_quaternions(model)
        self._straight = _find_scalars(model)

    def calc_forces(self, data: mujoco.MjData) -> Vector:
        """Computes the generalized forces of all patches for qpos and qvel of the data.

        Returns:
            [N, N m], (nv,).

        Raises:
            Error: geoms touch in points, for which this class has no force.
        """
        check_data_type(data)
        return self._forces.calc(data._address)

    def calc_acceleration(self, data: mujoco.MjData) -> Vector:
        """Computes the accelerations with these forces, and writes them to data.qacc.

        Returns:
            A copy of qacc [m/s^2, rad/s^2], (nv,).

        Raises:
            Error: as calc_forces.
        """
        check_data_type(data)
        self._forces.calc_acceleration(data._address)
        return np.array(data.qacc)

    def integrate(
        self,
        data: mujoco.MjData,
        duration: float,
        *,
        times: ArrayLike | None = None,
        relative_tolerance: float = 1e-6,
        absolute_tolerance: float = 1e-10,
        method: str = "RK45",
    ) -> Motion:
        """Advances data by a duration; data.ctrl and applied forces stay as they are.

        Args:
            data: the state at the start; afterwards it has the state at the end.
            duration: > 0 [s].
            times: times of the samples, ascending, from 0 (now) to duration [s]; None: the times of
                the integrator's steps.
            relative_tolerance: bound on the relative error of a step in each position and velocity,
                > 0 [-].
            absolute_tolerance: bound on the absolute error, > 0 [m, rad, m/s, rad/s]. Depths of
                contact are positions: it must be far below them.
            method: 'RK23', 'RK45', 'DOP853', 'Radau', 'BDF' or 'LSODA' of
                scipy.integrate.solve_ivp: 'RK45' or 'DOP853' suit contact that slides, 'Radau' or
                'BDF' contact that is stiff or sticks.

        Raises:
            Error: as calc_forces; an argument is out of range; the integrator gave up; SciPy is not
                installed (`pip install 'stiction[studies]'`).
        """
        check_data_type(data)
        if check_name("method", method, _METHODS) and not check_number("duration", duration) > 0:
            raise Error("invalid_value", "duration", f"is {duration}, must be above 0")
        start = data.time
        found = _find_integrator()(
            lambda t, y: self._calc_derivative(data, start + t, y),
            (0.0, float(duration)),
            np.concatenate([data.qpos, data.qvel, data.act]),
            method=method,
            t_eval=None if times is None else np.asarray(times, dtype=float),
            rtol=relative_tolerance,
            atol=absolute_tolerance,
        )
        if not found.success:
            raise Error(
                "step_failed", "integrate", f"stopped at {found.t[-1]:.6g} s: {found.message}"
            )
        nq, nv = self.model.nq, self.model.nv
        qpos = found.y[:nq].T.copy()
        for address, _ in self._turning:
            qpos[:, address : address + 4] /= np.linalg.norm(
                qpos[:, address : address + 4], axis=1, keepdims=True
            )
        self._set_state(data, start + found.t[-1], found.y[:, -1])
        mujoco.mj_normalizeQuat(self.model, data.qpos)
        return Motion(start + found.t, qpos, found.y[nq : nq + nv].T.copy(), int(found.nfev))

    def _set_state(self, data: mujoco.MjData, time: float, y: Vector) -> None:
        nq, nv = self.model.nq, self.model.nv
        data.time = time
        data.qpos[:] = y[:nq]
        data.qvel[:] = y[nq : nq + nv]
        data.act[:] = y[nq + nv :]

    def _calc_derivative(self, data: mujoco.MjData, time: float, y: Vector) -> Vector:
        self._set_state(data, time, y)
        self._forces.calc_acceleration(data._address)
        out = np.empty_like(y)
        nq, nv = self.model.nq, self.model.nv
        qpos_of_scalars, dof_of_scalars = self._straight
        out[qpos_of_scalars] = data.qvel[dof_of_scalars]
        for address, dof in self._turning:
            # q' = q w / 2 of the angular velocity in the body's frame; mju_derivQuat takes the world's.
            rate = out[address : address + 4]
            mujoco.mju_mulQuatAxis(rate, y[address : address + 4], data.qvel[dof : dof + 3])
            rate *= 0.5
        out[nq : nq + nv] = data.qacc
        out[nq + nv :] = data.act_dot
        return out


def _find_quaternions(model: mujoco.MjModel) -> list[tuple[int, int]]:
    """Of each: where it is in qpos, and its angular velocity in qvel."""
    found = []
    for joint in range(model.njnt):
        qpos, dof = int(model.jnt_qposadr[joint]), int(model.jnt_dofadr[joint])
        if model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_FREE:
            found.append((qpos + 3, dof + 3))
        elif model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_BALL:
            found.append((qpos, dof))
    return found


def _find_scalars(model: mujoco.MjModel) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Positions whose rates are velocities: where they are in qpos, and those in qvel."""
    qpos: list[int] = []
    dof: list[int] = []
    for joint in range(model.njnt):
        if model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_BALL:
            continue
        count = 3 if model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_FREE else 1
        qpos += range(model.jnt_qposadr[joint], model.jnt_qposadr[joint] + count)
        dof += range(model.jnt_dofadr[joint], model.jnt_dofadr[joint] + count)
    return np.array(qpos, dtype=np.intp), np.array(dof, dtype=np.intp)


def _find_integrator() -> Any:
    try:
        from scipy.integrate import solve_ivp
    except ImportError as e:
        raise Error(
            "unsupported", "scipy", "is not installed: pip install 'stiction[studies]'"
        ) from e
    return solve_ivp
