"""The deflection of equalities and limits under the loads of the initial state, and of limits under
the largest forces of their actuators."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator
from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from stiction.analysis.checks.subject import Subject
from stiction.errors import StepError
from stiction.simulator import Simulator

_REACH = 1e-6  # a limit at this distance or less acts at the start [m, rad]
_RIGID = (0.9999, 0.9999, 0.001, 0.5, 2)  # the largest impedance of MuJoCo
_LEAST_WIDTH = 1e-15  # of MuJoCo; a smaller one gives the mean of dmin and dmax
_NO_SPRING = (0, 0)  # solref of a row that only keeps its velocity

_ANYWHERE = 1e10  # [m, rad]

_NO_DYNAMICS, _FIXED = int(mujoco.mjtDyn.mjDYN_NONE), int(mujoco.mjtGain.mjGAIN_FIXED)
_LINEAR = (int(mujoco.mjtBias.mjBIAS_NONE), int(mujoco.mjtBias.mjBIAS_AFFINE))
_Type = mujoco.mjtConstraint
_Joint = mujoco.mjtJoint
_ROTATIONS = (int(_Joint.mjJNT_HINGE), int(_Joint.mjJNT_BALL))
_EQUALITY, _JOINT_LIMIT = int(_Type.mjCNSTR_EQUALITY), int(_Type.mjCNSTR_LIMIT_JOINT)
_TENDON_LIMIT = int(_Type.mjCNSTR_LIMIT_TENDON)
_VECTORS = (int(mujoco.mjtEq.mjEQ_CONNECT), int(mujoco.mjtEq.mjEQ_WELD))
_WELD, _COUPLED_JOINTS = int(mujoco.mjtEq.mjEQ_WELD), int(mujoco.mjtEq.mjEQ_JOINT)


class SoftRow(NamedTuple):
    """A limit, an equality, or the positions or rotations of a connect or weld."""

    name: str  # such as "limit of joint 'finger'"
    is_rotation: bool
    force: float  # that holds the load [N, N m]
    deflection: float  # at rest under this force [m, rad]
    estimate: float  # mobility by MuJoCo's estimate [1/kg, 1/(kg m^2)]
    mobility: float  # J M^-1 J^T, the mean over a vector

    @property
    def factor(self) -> float:
        """MuJoCo's estimate relative to the mobility."""
        return self.estimate / self.mobility if self.mobility > 0 else 1.0


def takes_estimate(subject: Subject) -> bool:
    """Whether rows of the step have MuJoCo's estimate of their mobility."""
    if subject.model.opt.enableflags & mujoco.mjtEnableBit.mjENBL_DIAGEXACT:
        return False
    return subject.traits.is_mj_step or not subject.simulator.options["exact_mobility"]


def find_soft_rows(subject: Subject) -> list[SoftRow]:
    """Returns the equalities and limits that act at the initial state; none if it has no forces."""
    model = copy.copy(subject.model)
    model.jnt_margin = np.maximum(model.jnt_margin, _REACH)
    model.tendon_margin = np.maximum(model.tendon_margin, _REACH)
    given = subject.scene.make_data()
    mujoco.mj_forward(model, given)
    rigid = _make_rigid(model)
    held = subject.scene.make_data()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            Simulator(rigid, **subject.simulator.options).forward(held)
    except StepError:
        return []
    exact = _calc_mobilities(model, given)
    force = _find_forces(given, held)
    return [_make_row(subject, model, given, rows, exact, force) for rows in _group(model, given)]


def find_pushed_limits(subject: Subject) -> list[SoftRow]:
    """Returns the limits of slides and hinges that an actuator may push against, each under the
    largest force of the joint's actuators."""
    model = copy.copy(subject.model)
    force = {j: _find_largest_force(model, j) for j in range(model.njnt) if model.jnt_limited[j]}
    model.jnt_margin[:] = _ANYWHERE  # so that all limits have rows
    data = subject.scene.make_data()
    mujoco.mj_fwdPosition(model, data)
    exact = _calc_mobilities(model, data)
    forces = np.array(
        [
            force.get(int(number), 0.0) if kind == _JOINT_LIMIT else 0.0
            for kind, number in zip(data.efc_type, data.efc_id, strict=True)
        ]
    )
    rows = (_make_row(subject, model, data, rows, exact, forces) for rows in _group(model, data))
    return list({row.name: row for row in rows if row.force > 0}.values())


def _find_largest_force(model: mujoco.MjModel, joint: int) -> float:
    """Returns the largest force with which the joint's actuators push against an end of its range,
    as far as the model limits them [N, N m]."""
    against = np.zeros(2)  # the lower and the upper end
    for a in np.flatnonzero(model.actuator_trntype == mujoco.mjtTrn.mjTRN_JOINT):
        if model.actuator_trnid[a, 0] != joint:
            continue
        gear = float(model.actuator_gear[a, 0])
        if model.actuator_forcelimited[a]:
            low = high = gear * model.actuator_forcerange[a]
        elif model.actuator_ctrllimited[a] and _is_linear(model, int(a)):
            forces = model.actuator_gainprm[a, 0] * model.actuator_ctrlrange[a]
            bias, length = model.actuator_biasprm[a], gear * model.jnt_range[joint]
            low, high = (gear * (forces + bias[0] + bias[1] * x) for x in length)
        else:
            continue
        against += [max(0.0, -low.min()), max(0.0, high.max())]
    force = float(against.max())
    if model.jnt_actfrclimited[joint]:
        force = min(force, float(np.abs(model.jnt_actfrcrange[joint]).max()))
    return force


def _is_linear(model: mujoco.MjModel, actuator: int) -> bool:
    return (
        int(model.actuator_dyntype[actuator]) == _NO_DYNAMICS
        and int(model.actuator_gaintype[actuator]) == _FIXED
        and int(model.actuator_biastype[actuator]) in _LINEAR
    )


def _make_rigid(model: mujoco.MjModel) -> mujoco.MjModel:
    """Returns a model whose rows keep their velocity almost exactly, whatever their position."""
    rigid = copy.copy(model)
    rigid.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_DIAGEXACT
    for solref, solimp in (
        (rigid.eq_solref, rigid.eq_solimp),
        (rigid.jnt_solref, rigid.jnt_solimp),
        (rigid.tendon_solref_lim, rigid.tendon_solimp_lim),
    ):
        solref[:] = _NO_SPRING
        solimp[:] = _RIGID
    return rigid


def _find_forces(given: mujoco.MjData, held: mujoco.MjData) -> NDArray[np.float64]:
    """Returns the forces of the rows of `given` in `held`, which may lack rows of other kinds."""

    def list_keys(data: mujoco.MjData) -> list[tuple[int, int, int]]:
        seen: dict[tuple[int, int], int] = {}
        keys = []
        for kind, number in zip(data.efc_type, data.efc_id, strict=True):
            key = (int(kind), int(number))
            seen[key] = seen.get(key, -1) + 1
            keys.append((*key, seen[key]))
        return keys

    forces = dict(zip(list_keys(held), held.efc_force, strict=True))
    return np.array([forces.get(key, 0.0) for key in list_keys(given)])


def _calc_mobilities(model: mujoco.MjModel, data: mujoco.MjData) -> NDArray[np.float64]:
    """Returns the diagonal of J M^-1 J^T (nefc,)."""
    J = np.zeros((data.nefc, model.nv))
    if mujoco.mj_isSparse(model):
        for row in range(data.nefc):
            entries = slice(data.efc_J_rowadr[row], data.efc_J_rowadr[row] + data.efc_J_rownnz[row])
            J[row, data.efc_J_colind[entries]] = data.efc_J[entries]
    else:
        J[:] = data.efc_J.reshape(J.shape)
    solved = np.zeros_like(J)
    mujoco.mj_solveM(model, data, solved, J)
    diagonal: NDArray[np.float64] = (J * solved).sum(axis=1)
    return diagonal


def _group(model: mujoco.MjModel, data: mujoco.MjData) -> Iterator[slice]:
    """Yields the rows of each limit, each scalar equality, and each part of a connect or weld."""
    row = 0
    while row < data.nefc:
        kind, number = data.efc_type[row], data.efc_id[row]
        is_vector = kind == _EQUALITY and model.eq_type[number] in _VECTORS
        size = 3 if is_vector else 1
        if kind in (_EQUALITY, _JOINT_LIMIT, _TENDON_LIMIT):
            yield slice(row, row + size)
        row += size


def _make_row(
    subject: Subject,
    model: mujoco.MjModel,
    data: mujoco.MjData,
    rows: slice,
    exact: NDArray[np.float64],
    forces: NDArray[np.float64],
) -> SoftRow:
    name, is_rotation, solimp = _describe(model, data, rows.start)
    estimate, mobility = float(data.efc_diagA[rows.start]), float(exact[rows].mean())
    used = estimate if takes_estimate(subject) else min(estimate, mobility)
    force = float(np.linalg.norm(forces[rows]))
    stiffness = float(data.efc_KBIP[rows.start, 0])
    deflection = _calc_deflection(used * force, stiffness, solimp)
    return SoftRow(name, is_rotation, force, deflection, estimate, mobility)


def _describe(
    model: mujoco.MjModel, data: mujoco.MjData, row: int
) -> tuple[str, bool, NDArray[np.float64]]:
    """Returns the name of a row, whether it is an angle, and its solimp."""
    kind, number = data.efc_type[row], int(data.efc_id[row])
    if kind == _JOINT_LIMIT:
        is_rotation = int(model.jnt_type[number]) in _ROTATIONS
        return (
            f"the limit of {_name(model, 'joint', number)}",
            is_rotation,
            model.jnt_solimp[number],
        )
    if kind == _TENDON_LIMIT:
        solimp = model.tendon_solimp_lim[number]
        return f"the limit of {_name(model, 'tendon', number)}", False, solimp
    is_second = row >= 3 and data.efc_type[row - 3] == kind and data.efc_id[row - 3] == number
    is_rotation = bool(model.eq_type[number] == _WELD and is_second)
    if model.eq_type[number] == _COUPLED_JOINTS:
        is_rotation = int(model.jnt_type[model.eq_obj1id[number]]) in _ROTATIONS
    return _name(model, "equality", number), is_rotation, model.eq_solimp[number]


def _name(model: mujoco.MjModel, kind: str, number: int) -> str:
    name = getattr(model, kind)(number).name
    return f"{kind} '{name}'" if name else f"{kind} #{number}"


def _calc_deflection(load: float, stiffness: float, solimp: NDArray[np.float64]) -> float:
    """Returns r of load = r K I(r)^2 / (1 - I(r)), where a row is at rest [m, rad].

    Args:
        load: force times mobility [m/s^2, rad/s^2].
        stiffness: K of MuJoCo's row [1/s^2].
        solimp: dmin, dmax, width, midpoint, power.
    """
    if load == 0:
        return 0.0
    if stiffness <= 0:
        return float("inf")
    low, high = 0.0, 2 * load / stiffness * 1e8  # MuJoCo's impedance is at least 1e-4
    for _ in range(200):
        r = 0.5 * (low + high)
        impedance = _calc_impedance(r, solimp)
        if r * stiffness * impedance**2 / (1 - impedance) < load:
            low = r
        else:
            high = r
    return high


def _calc_impedance(r: float, solimp: NDArray[np.float64]) -> float:
    """Returns MuJoCo's impedance at the position r [-]."""
    dmin, dmax = (min(max(float(d), 1e-4), 0.9999) for d in solimp[:2])
    width, midpoint, power = float(solimp[2]), float(solimp[3]), max(float(solimp[4]), 1.0)
    if width <= _LEAST_WIDTH:
        return 0.5 * (dmin + dmax)
    x = min(r / width, 1.0)
    midpoint = min(max(midpoint, 1e-4), 0.9999)
    if x <= midpoint:
        y = midpoint * (x / midpoint) ** power
    else:
        y = 1 - (1 - midpoint) * ((1 - x) / (1 - midpoint)) ** power
    return float(dmin + y * (dmax - dmin))
