"""One run of the clutter: what its steps tell, and what is left of it in figures."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

import stiction
from stiction.errors import Error, ignored_settings_are_fine
from stiction.experiments.clutter import (
    STIFFNESS,
    TIME_STEP,
    make_clutter,
    make_mjcf,
    make_properties,
)

Vector = NDArray[np.float64]

NUM_BODIES = 40
DURATION = 3.0  # [s]
IMPACTS = (0.1, 0.75)  # the bodies fall onto each other [s]
SETTLED = 2.0  # from here on the fall is over; drift is measured [s]
STEADY_FROM = 1.75  # penetration is measured [s]
STICTION_TOLERANCE = 1e-4  # v_s [m/s]
REGULARIZATION = 1e-3  # sigma [-]

# A geom's share of the distance at which contacts exist, as speed over a step [m/s]: two of them
# make the 5 m/s of a body that falls in from the top.
_GAP_SPEED = 2.5


@dataclass
class ClutterRun:
    """Per step: time at its end [s], iterations (of the island that took most), contacts, stiction
    speed (mean of what touches) [m/s]. condition: of the Hessian, NaN where it was not computed [-].

    mean_penetration, median_penetration, max_penetration: of contacts that overlap, from STEADY_FROM on
        [m]. The median is not moved by the few bodies that still roll or rock.
    max_penetration_falling: the largest before [m].
    median_drift: over the bodies, of their way from SETTLED to the end [m].
    worst_residual: relative to the impulses that act; residual_to_momentum: to momentum [-].
    coupling_error: worst, of models that report one [-].
    num_failed: steps that failed; the best solution was kept. status: their counts by name.
    us_per_step: CPU time, median step.
    start, end: qpos.
    """

    contact_model: str
    time_step: float
    time: Vector
    iterations: Vector
    contacts: Vector
    stiction_speed: Vector
    condition: Vector
    mean_penetration: float
    median_penetration: float
    max_penetration: float
    max_penetration_falling: float
    median_drift: float
    worst_residual: float
    residual_to_momentum: float
    coupling_error: float
    num_failed: int
    us_per_step: float
    start: Vector
    end: Vector
    status: dict[str, int] = field(default_factory=dict)

    def mean_iterations(self) -> float:
        return float(self.iterations.mean())

    def mean_condition(self, begin: float = 0.0, end: float = DURATION) -> float:
        """Geometric mean over a stretch of time; NaN where there is none."""
        inside = (self.time > begin) & (self.time <= end) & np.isfinite(self.condition)
        return float(np.exp(np.log(self.condition[inside]).mean())) if inside.any() else np.nan

    def split_condition(self) -> tuple[float, float]:
        """During the impacts, and settled."""
        return self.mean_condition(*IMPACTS), self.mean_condition(SETTLED)

    def split_stiction_speed(self) -> tuple[float, float]:
        """The largest before, and the mean when settled."""
        early = self.time <= SETTLED
        return (
            float(np.nanmax(self.stiction_speed[early])),
            float(np.nanmean(self.stiction_speed[~early])),
        )

    def describe(self) -> dict[str, Any]:
        """Figures, fit for JSON."""
        early = self.time <= SETTLED
        condition = self.split_condition()
        return {
            "iterations": self.mean_iterations(),
            "iterations_falling": float(self.iterations[early].mean()),
            "iterations_settled": float(self.iterations[~early].mean()),
            "max_iterations": int(self.iterations.max()),
            "condition": self.mean_condition(),
            "condition_impacts": condition[0],
            "condition_settled": condition[1],
            "stiction_speed_settled": float(np.mean(self.stiction_speed[~early])),
            "contacts_settled": float(self.contacts[~early].mean()),
            "mean_penetration": self.mean_penetration,
            "median_penetration": self.median_penetration,
            "max_penetration": self.max_penetration,
            "max_penetration_falling": self.max_penetration_falling,
            "median_drift": self.median_drift,
            "worst_residual": self.worst_residual,
            "residual_to_momentum": self.residual_to_momentum,
            "coupling_error": self.coupling_error,
            "failed_steps": self.status,
            "us_per_step": self.us_per_step,
        }


def run_clutter_case(
    contact_model: str,
    *,
    time_step: float = TIME_STEP,
    stiffness: float = STIFFNESS,
    tolerance: float = 1e-5,
    stiction_tolerance: float = STICTION_TOLERANCE,
    seed: int = 0,
    num_conditions: int = 0,
) -> ClutterRun:
    """Drops the bodies and steps until DURATION.

    Args:
        time_step: [s]. stiffness: of a pair [N/m]. tolerance: relative, of the solver.
        stiction_tolerance: v_s [m/s]. seed: of the scene.
        num_conditions: times at which the condition number is computed; each costs as much as
            twenty steps.
    """
    scene = make_clutter(NUM_BODIES, seed)
    text = make_mjcf(scene, time_step, stiffness, _GAP_SPEED * time_step)
    model = mujoco.MjModel.from_xml_string(text)
    with ignored_settings_are_fine():
        simulator = stiction.Simulator(
            model,
            contact_model,
            properties=make_properties(stiffness),
            tolerance=tolerance,
            stiction_tolerance=stiction_tolerance,
            friction_regularization=REGULARIZATION,
            near_rigid_factor=0.0,
            on_failure="keep_best",
        )
    data = mujoco.MjData(model)
    start = data.qpos.copy()
    num_steps = round(DURATION / time_step)
    stride = num_steps // num_conditions if num_conditions and contact_model != "mujoco" else 0
    trace = np.full((num_steps, 5), np.nan)
    depths, residual, coupling, status = [], 0.0, 0.0, dict[str, int]()
    deepest_falling = to_momentum = 0.0
    us = np.zeros(num_steps)
    settled = start
    for i in range(num_steps):
        if i == round(SETTLED / time_step):
            settled = data.qpos.copy()
        begin = time.process_time()
        report = simulator.step(data)
        us[i] = 1e6 * (time.process_time() - begin)
        certificate, statistics = report.certificate, report.statistics
        if not report.ok:
            status[report.status] = status.get(report.status, 0) + 1
        residual = max(residual, certificate.relative_residual)
        to_momentum = max(to_momentum, getattr(certificate, "residual_to_momentum", 0.0))
        coupling = max(coupling, getattr(certificate, "coupling_error", 0.0))
        trace[i, 0] = (i + 1) * time_step
        trace[i, 1:4] = (
            statistics.max_iterations,
            statistics.num_contacts,
            calc_stiction_speed(contact_model, report.contacts),
        )
        if stride and i % stride == stride // 2:
            try:
                trace[i, 4] = simulator.calc_condition_number()
            except Error:  # a model without a Hessian
                stride = 0
        depth = -report.contacts.distance
        if i * time_step >= STEADY_FROM:
            depths.append(depth[depth > 0])
        elif len(depth):
            deepest_falling = max(deepest_falling, float(depth.max()))
    depth = np.concatenate(depths)
    moved = (data.qpos - settled).reshape(-1, 7)[:, :3]
    return ClutterRun(
        contact_model=contact_model,
        time_step=time_step,
        time=trace[:, 0],
        iterations=trace[:, 1],
        contacts=trace[:, 2],
        stiction_speed=trace[:, 3],
        condition=trace[:, 4],
        mean_penetration=float(depth.mean()),
        median_penetration=float(np.median(depth)),
        max_penetration=float(depth.max()),
        max_penetration_falling=deepest_falling,
        median_drift=float(np.median(np.linalg.norm(moved, axis=1))),
        worst_residual=residual,
        residual_to_momentum=to_momentum,
        coupling_error=coupling,
        num_failed=sum(status.values()),
        us_per_step=float(np.median(us)),
        start=start,
        end=data.qpos.copy(),
        status=status,
    )


def calc_stiction_speed(contact_model: str, contacts: stiction.ContactReport) -> float:
    """The slip below which friction is stiction, mean over the contacts that bear a load [m/s]; NaN if
    there are none, or the model has no such speed. [castro2023] section VIII:

        sap                                      sigma w mu gamma_n
        lagged, tamsi                            v_s
        lagged_regularized, similar, coulomb     max(v_s, sigma w mu gamma_n)

    with the normal impulse of the step, which for the lagged models is that of the step before.
    """
    normal = contacts.normal_impulse
    loaded = normal > 0
    if contact_model == "mujoco" or not loaded.any():
        return float("nan")
    if contact_model in ("lagged", "tamsi"):
        return STICTION_TOLERANCE
    w, mu = contacts.delassus[loaded], contacts.friction[loaded]
    speed = REGULARIZATION * w * mu * normal[loaded]
    return float(
        np.mean(speed if contact_model == "sap" else np.maximum(STICTION_TOLERANCE, speed))
    )
