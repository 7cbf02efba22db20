"""A run of the clutter: its settings, and the figures computed from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

import stiction
from stiction._core import contact_model_traits
from stiction.errors import Error, ignored_settings_are_fine
from stiction.evidence.experiments.clutter import (
    STIFFNESS,
    TIME_STEP,
    make_clutter,
    make_mjcf,
    make_properties,
)
from stiction.runs.run import Run, Step
from stiction.setup.options import DEFAULTS
from stiction.simulator import Simulator

NUM_BODIES = 40
STICTION_TOLERANCE = 1e-4  # v_s [m/s]
REGULARIZATION = 1e-3  # sigma [-]

# A geom's gap divided by the time step [m/s]. The gaps of two geoms add up to the distance that a
# body travels in a step at 5 m/s, the speed of a fall from the top.
_GAP_SPEED = 2.5


@dataclass(frozen=True)
class ClutterCase:
    """The settings of a run. The defaults are those of figure 14."""

    contact_model: str
    time_step: float = TIME_STEP  # [s]
    stiffness: float = STIFFNESS  # stiffness of a contact [N/m]
    seed: int = 0  # seed of the scene
    tolerance: float = DEFAULTS["tolerance"]  # relative tolerance of the solver
    stiction_tolerance: float = STICTION_TOLERANCE  # v_s [m/s]
    friction_regularization: float = REGULARIZATION  # sigma [-]
    near_rigid_factor: float = 1.0  # beta of 'sap' [-]; 0 means that the stiffness has no limit

    def make_simulator(self) -> stiction.Simulator:
        """Makes a simulator of the scene, with the paper's lagged models."""
        scene = make_clutter(NUM_BODIES, self.seed)
        text = make_mjcf(scene, self.time_step, self.stiffness, _GAP_SPEED * self.time_step)
        with ignored_settings_are_fine():
            return stiction.Simulator(
                mujoco.MjModel.from_xml_string(text),
                self.contact_model,
                properties=make_properties(self.stiffness),
                tolerance=self.tolerance,
                friction_law="soft",
                stiction_tolerance=self.stiction_tolerance,
                friction_regularization=self.friction_regularization,
                near_rigid_factor=self.near_rigid_factor,
                remember_forces=False,
                on_failure="keep_best",
            )


# The paper's 'similar' has the slip tolerance v_s. Stiction's default also has sigma, as in (44).
PLAIN_SIMILAR = "similar, sigma = 0"
# The paper's 'sap' has beta = 1, which limits the stiffness to about that of a time step.
STIFF_SAP = "sap, beta = 0"
VARIANTS = {
    PLAIN_SIMILAR: ClutterCase("similar", friction_regularization=0.0),
    STIFF_SAP: ClutterCase("sap", near_rigid_factor=0.0),
}


def calc_stiction_speed(case: ClutterCase, contacts: stiction.ContactReport) -> float:
    """Returns the slip speed below which a contact sticks, as the mean of the loaded contacts [m/s].

    It is NaN if no contact is loaded or the model has no such speed. With the normal impulse
    gamma_n of this step, which the lagged models replace by that of the state at its start,

        sap                                      sigma w mu gamma_n
        lagged, tamsi                            v_s
        lagged_regularized, similar, coulomb     max(v_s, sigma w mu gamma_n)

    Source: [castro2023] section VIII.
    """
    normal = contacts.normal_impulse
    loaded = normal > 0
    traits = contact_model_traits(case.contact_model)
    if traits.is_mj_step or not loaded.any():
        return float("nan")
    if not traits.uses_friction_regularization:
        return case.stiction_tolerance
    w, mu = contacts.delassus[loaded], contacts.friction[loaded]
    speed = case.friction_regularization * w * mu * normal[loaded]
    if traits.uses_stiction_tolerance:
        speed = np.maximum(case.stiction_tolerance, speed)
    return float(np.mean(speed))


# ---- The run -------------------------------------------------------------------------------------

Vector = NDArray[np.float64]

DURATION = 3.0  # [s]
IMPACTS = (0.1, 0.75)  # interval in which the bodies fall onto each other [s]
SETTLED = 2.0  # time from which the pile counts as settled, and its drift is measured [s]
COUPLING_LIMIT = 1e-3  # coulomb falls back to the bound of lagged above it [-]
STEADY_FROM = 1.75  # time from which penetration is measured [s]


@dataclass
class ClutterRun:
    """The results of a run. Row i of the arrays belongs to step i."""

    case: ClutterCase
    time: Vector  # time at the end of the step, (n,) [s]
    iterations: Vector  # largest number of Newton iterations of an island, (n,)
    contacts: Vector  # number of contacts, (n,)
    # Mean stiction speed of loaded contacts, see calc_stiction_speed, (n,) [m/s].
    stiction_speed: Vector
    condition: Vector  # condition number of the Hessian, NaN where it was not computed, (n,) [-]
    # mean_penetration, median_penetration, max_penetration: penetration of overlapping contacts
    # from STEADY_FROM on [m]. The few bodies that still roll or rock do not affect the median.
    mean_penetration: float
    median_penetration: float
    max_penetration: float
    max_penetration_falling: float  # largest penetration before STEADY_FROM [m]
    # Distance that a body moves from SETTLED to the end, median of the bodies [m].
    median_drift: float
    worst_residual: float  # largest residual relative to the acting impulses [-]
    residual_to_momentum: float  # largest residual relative to momentum [-]
    coupling_error: float  # largest coupling error, for models that report it [-]
    num_uncoupled: int  # steps whose coupling error is above COUPLING_LIMIT
    # Number of failed steps. They keep the best solution found.
    num_failed: int
    us_per_step: float  # median CPU time per step [us]
    # start, end: qpos at the start and at the end.
    start: Vector
    end: Vector
    status: dict[str, int] = field(default_factory=dict)  # number of failed steps by their status

    def mean_iterations(self) -> float:
        """Returns the mean of the iterations."""
        return float(self.iterations.mean())

    def mean_condition(self, begin: float = 0.0, end: float = DURATION) -> float:
        """Returns the geometric mean of the condition numbers in an interval, or NaN."""
        inside = (self.time > begin) & (self.time <= end) & np.isfinite(self.condition)
        return float(np.exp(np.log(self.condition[inside]).mean())) if inside.any() else np.nan

    def split_iterations(self) -> tuple[float, float]:
        """Returns the mean iterations before settling and after it."""
        early = self.time <= SETTLED
        return float(self.iterations[early].mean()), float(self.iterations[~early].mean())

    def split_condition(self) -> tuple[float, float]:
        """Returns the mean condition numbers during the impacts and after settling."""
        return self.mean_condition(*IMPACTS), self.mean_condition(SETTLED)

    def split_stiction_speed(self) -> tuple[float, float]:
        """Returns the largest stiction speed before settling, and the mean after it [m/s]."""
        early = self.time <= SETTLED
        return (
            float(np.nanmax(self.stiction_speed[early])),
            float(np.nanmean(self.stiction_speed[~early])),
        )

    def describe(self) -> dict[str, Any]:
        """Returns the figures of the run, fit for JSON."""
        settled = self.time > SETTLED
        iterations, condition = self.split_iterations(), self.split_condition()
        return {
            "iterations": self.mean_iterations(),
            "iterations_falling": iterations[0],
            "iterations_settled": iterations[1],
            "max_iterations": int(self.iterations.max()),
            "condition": self.mean_condition(),
            "condition_impacts": condition[0],
            "condition_settled": condition[1],
            "stiction_speed_settled": float(np.mean(self.stiction_speed[settled])),
            "contacts_settled": float(self.contacts[settled].mean()),
            "mean_penetration": self.mean_penetration,
            "median_penetration": self.median_penetration,
            "max_penetration": self.max_penetration,
            "max_penetration_falling": self.max_penetration_falling,
            "median_drift": self.median_drift,
            "worst_residual": self.worst_residual,
            "residual_to_momentum": self.residual_to_momentum,
            "coupling_error": self.coupling_error,
            "num_uncoupled": self.num_uncoupled,
            "failed_steps": self.status,
            "us_per_step": self.us_per_step,
        }


def run_clutter_case(case: ClutterCase, num_conditions: int = 0) -> ClutterRun:
    """Drops the bodies and steps until DURATION."""
    simulator = case.make_simulator()
    data = mujoco.MjData(simulator.model)
    start = data.qpos.copy()
    num_steps = round(DURATION / case.time_step)
    log = _Log(case, simulator, num_steps, num_conditions)
    run = Run(simulator, data, num_steps, log.begin_step, goes_on=True)
    run.to_end(log.add)
    depth = np.concatenate(log.depths)
    moved = (data.qpos - log.settled).reshape(-1, 7)[:, :3]
    return ClutterRun(
        case=case,
        time=log.trace[:, 0],
        iterations=log.trace[:, 1],
        contacts=log.trace[:, 2],
        stiction_speed=log.trace[:, 3],
        condition=log.trace[:, 4],
        mean_penetration=float(depth.mean()),
        median_penetration=float(np.median(depth)),
        max_penetration=float(depth.max()),
        max_penetration_falling=log.deepest_falling,
        median_drift=float(np.median(np.linalg.norm(moved, axis=1))),
        worst_residual=log.residual,
        residual_to_momentum=log.to_momentum,
        coupling_error=log.coupling,
        num_uncoupled=log.num_uncoupled,
        num_failed=sum(log.status.values()),
        us_per_step=float(np.median(log.us)),
        start=start,
        end=data.qpos.copy(),
        status=log.status,
    )


class _Log:
    """Observes a run, and collects what ClutterRun needs."""

    def __init__(
        self, case: ClutterCase, simulator: Simulator, num_steps: int, num_conditions: int
    ) -> None:
        self._case, self._simulator, self._num_begun = case, simulator, 0
        has_conditions = not contact_model_traits(case.contact_model).is_mj_step and num_conditions
        self._stride = num_steps // num_conditions if has_conditions else 0
        self.trace = np.full((num_steps, 5), np.nan)
        self.us = np.zeros(num_steps)
        self.depths: list[Vector] = []
        self.settled = np.empty(0)  # qpos at SETTLED
        self.deepest_falling = self.residual = self.to_momentum = self.coupling = 0.0
        self.num_uncoupled = 0
        self.status: dict[str, int] = {}

    def begin_step(self, data: mujoco.MjData) -> None:
        if self._num_begun == round(SETTLED / self._case.time_step):
            self.settled = data.qpos.copy()
        self._num_begun += 1

    def add(self, step: Step) -> None:
        i, report, case = step.index, step.report, self._case
        certificate, statistics = report.certificate, report.statistics
        self.us[i] = 1e-3 * step.cpu_ns
        if not report.ok:
            self.status[report.status] = self.status.get(report.status, 0) + 1
        self.residual = max(self.residual, certificate.relative_residual)
        self.to_momentum = max(self.to_momentum, certificate.residual_to_momentum)
        self.coupling = max(self.coupling, certificate.coupling_error)
        self.num_uncoupled += certificate.coupling_error > COUPLING_LIMIT
        self.trace[i, 0] = (i + 1) * case.time_step
        self.trace[i, 1:4] = (
            statistics.max_iterations,
            statistics.num_contacts,
            calc_stiction_speed(case, report.contacts),
        )
        if self._stride and i % self._stride == self._stride // 2:
            try:
                self.trace[i, 4] = self._simulator.calc_condition_number()
            except Error:  # the model has no Hessian, except in steps without contacts
                self._stride = 0
                self.trace[:, 4] = np.nan
        depth = -report.contacts.distance
        if i * case.time_step >= STEADY_FROM:
            self.depths.append(depth[depth > 0])
        elif len(depth):
            self.deepest_falling = max(self.deepest_falling, float(depth.max()))
