"""Pressure-field contact as a continuous force, integrated in time with error control."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from stiction._core import ContactProperties, PatchForces
from stiction.errors import Error
from stiction.inputs.arguments import (
    check_data_type,
    check_model_type,
    check_name,
    check_number,
    take_vector,
)
from stiction.setup.properties import PropertiesLike, make_properties

Vector = NDArray[np.float64]

_METHODS = ("RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA")


@dataclass(frozen=True)
class Motion:
    """A motion, sampled at n times; ContinuousDynamics.integrate returns it.

    Attributes:
        time: times of the samples [s], (n,).
        qpos: MuJoCo's positions at these times, (n, nq).
        qvel: MuJoCo's velocities at these times, (n, nv).
        num_evaluations: total number of evaluations of the accelerations.
    """

    time: Vector
    qpos: Vector
    qvel: Vector
    num_evaluations: int


class ContinuousDynamics:
    """Equations of motion of a model in which pressure-field contact is a force.

    A Simulator makes contact a constraint of its discrete step. This class computes the limit that
    the simulator's motion approaches as its time step goes to zero, by independent means.

    The traction at a point of a contact surface with pressure p, normal velocity v_n and slip
    velocity v_t is

        t_n = max(0, p (1 - d v_n)),
        t_t = -(2/pi) mu t_n atan(|v_t| / v_s) v_t / |v_t|,

    with the dissipation d and the friction coefficient mu of the Simulator. The accelerations are
    those of MuJoCo's forward dynamics, in which MuJoCo's own constraints, such as joint limits, act
    as soft constraints. Source: [masterjohn2022] section IV.

        dynamics = stiction.ContinuousDynamics(model, properties="scene.contact.yaml")
        motion = dynamics.integrate(data, 0.5)

    Args:
        model: kept by reference.
        properties: contact properties of geoms: a file, or its content as a dict.
        tessellation: faces of the contact surfaces: 'triangle', whose forces stay smooth while
            corners of a face appear and disappear, or 'polygon'.
        quadrature: 'moment_exact' or 'centroid', as in Simulator.
        tilted_faces: 'keep' or 'drop', as in Simulator.
        stiction_tolerance: v_s > 0 [m/s]. A smaller value makes the equations stiffer.

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
        tilted_faces: str = "keep",
        stiction_tolerance: float = 1e-4,
    ) -> None:
        check_model_type(model)
        self._model = model
        self._forces = PatchForces(
            model._address,
            check_name("tessellation", tessellation),
            check_name("quadrature", quadrature),
            check_name("tilted_faces", tilted_faces),
            check_number("stiction_tolerance", stiction_tolerance),
            make_properties(properties) or ContactProperties(),
            model,
        )
        self._quaternions = _find_quaternions(model)
        self._scalars = _find_scalars(model)

    @property
    def model(self) -> mujoco.MjModel:
        """The model."""
        return self._model

    def calc_forces(self, data: mujoco.MjData) -> Vector:
        """Computes the generalized forces of all patches at data.qpos and data.qvel.

        Returns:
            The forces [N, N m], (nv,).

        Raises:
            Error: data belongs to another model, or two geoms touch in points, for which this class
                has no continuous force.
        """
        self._check_data(data)
        return self._forces.calc(data._address)

    def calc_acceleration(self, data: mujoco.MjData) -> Vector:
        """Computes the accelerations under these forces, and writes them to data.qacc.

        Returns:
            A copy of data.qacc [m/s^2, rad/s^2], (nv,).

        Raises:
            Error: as calc_forces.
        """
        self._check_data(data)
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
        """Advances data by a duration, with constant data.ctrl and applied forces.

        Args:
            data: holds the state at the start, and at the end the final state.
            duration: > 0 [s].
            times: times of the samples relative to data.time, at least one, ascending, within
                [0, duration] [s]; None samples at the steps of the integrator.
            relative_tolerance: bound on the relative error of a step of the integrator in each
                position and velocity, > 0 [-].
            absolute_tolerance: bound on the absolute error, > 0 [m, rad, m/s, rad/s]. It must be far
                below the depth of the contacts, because a depth is a difference of positions.
            method: 'RK23', 'RK45', 'DOP853', 'Radau', 'BDF' or 'LSODA' of
                scipy.integrate.solve_ivp. 'RK45' and 'DOP853' suit sliding contact, 'Radau' and
                'BDF' suit stiff or sticking contact.

        Raises:
            Error: as calc_forces; an argument is out of range; the integrator gave up; SciPy is not
                installed (`pip install 'stiction[studies]'`). Data are then as before.
        """
        self._check_data(data)
        duration = _check_positive("duration", duration)
        arguments = {
            "method": check_name("method", method, _METHODS),
            "t_eval": None if times is None else _check_times(times, duration),
            "rtol": _check_positive("relative_tolerance", relative_tolerance),
            "atol": _check_positive("absolute_tolerance", absolute_tolerance),
        }
        start, y = data.time, np.concatenate([data.qpos, data.qvel, data.act])
        if not np.isfinite(y).all():
            raise Error("invalid_value", "data", "have a position or velocity that is not finite")
        try:
            found = _find_integrator()(
                lambda t, y: self._calc_derivative(data, start + t, y),
                (0.0, duration),
                y,
                **arguments,
            )
            if not found.success:
                raise Error(
                    "step_failed", "integrate", f"stopped at {found.t[-1]:.6g} s: {found.message}"
                )
        except BaseException:
            self._set_state(data, start, y)
            raise
        nq, nv = self.model.nq, self.model.nv
        qpos = found.y[:nq].T.copy()
        # The integrator treats quaternions as plain numbers, so their lengths drift.
        for address, _ in self._quaternions:
            qpos[:, address : address + 4] /= np.linalg.norm(
                qpos[:, address : address + 4], axis=1, keepdims=True
            )
        self._set_state(data, start + found.t[-1], found.y[:, -1])
        mujoco.mj_normalizeQuat(self.model, data.qpos)
        return Motion(start + found.t, qpos, found.y[nq : nq + nv].T.copy(), int(found.nfev))

    def _check_data(self, data: Any) -> None:
        check_data_type(data)
        if data.model._address != self.model._address:
            raise Error("wrong_shape", "data", "belongs to another model")

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
        qpos_of_scalars, dof_of_scalars = self._scalars
        out[qpos_of_scalars] = data.qvel[dof_of_scalars]
        for address, dof in self._quaternions:
            # q' = q w / 2 with the angular velocity w in the body's frame. mju_derivQuat does not
            # fit: it takes w in the world's frame.
            rate = out[address : address + 4]
            mujoco.mju_mulQuatAxis(rate, y[address : address + 4], data.qvel[dof : dof + 3])
            rate *= 0.5
        out[nq : nq + nv] = data.qacc
        out[nq + nv :] = data.act_dot
        if not np.isfinite(out).all():  # SciPy's integrators would never end
            raise Error(
                "step_failed",
                "integrate",
                f"stopped at {time:.6g} s, because an acceleration is not finite; check the controls and "
                "applied forces, or use smaller tolerances",
            )
        return out


def _check_positive(name: str, value: Any) -> float:
    number = check_number(name, value)
    if not 0 < number < math.inf:
        raise Error("invalid_value", name, f"is {value}, must be finite and above 0")
    return number


def _check_times(times: ArrayLike, duration: float) -> Vector:
    """Returns times that SciPy accepts, or raises Error."""
    checked = take_vector("times", times)
    is_inside = bool(((checked >= 0) & (checked <= duration)).all())
    if not (len(checked) and is_inside and (np.diff(checked) > 0).all()):
        raise Error(
            "invalid_value",
            "times",
            f"are {np.array2string(checked, threshold=6)}, must be at least one, ascending, and within "
            f"0..{duration:g}, the duration",
        )
    return checked


def _find_quaternions(model: mujoco.MjModel) -> list[tuple[int, int]]:
    """Returns the index in qpos of each quaternion, and the index in qvel of its angular velocity."""
    found = []
    for joint in range(model.njnt):
        qpos, dof = int(model.jnt_qposadr[joint]), int(model.jnt_dofadr[joint])
        if model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_FREE:
            found.append((qpos + 3, dof + 3))
        elif model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_BALL:
            found.append((qpos, dof))
    return found


def _find_scalars(model: mujoco.MjModel) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Returns the indices in qpos of all positions but quaternions, and of their rates in qvel."""
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
