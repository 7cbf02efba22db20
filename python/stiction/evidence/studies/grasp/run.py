"""Runs of the multi-block grasp, and their results."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import mujoco
import numpy as np

import stiction
from stiction import lcp
from stiction.errors import ignored_settings_are_fine
from stiction.evidence.studies.grasp.scene import (
    FIRST_BLOCK,
    TIME_STEP,
    GraspCase,
    GraspLcp,
    GraspState,
    find_contacts,
    make_coulomb_lcp,
    make_no_slip_lcp,
    make_start,
    to_velocity,
)
from stiction.inputs.package_scenes import find_scene_file
from stiction.runs.run import Run, Step

_NUM_KEPT = 25  # number of first LCPs that a run keeps


@dataclass
class GraspRun:
    """The results of a run."""

    case: GraspCase
    solver: str  # name of the LCP solver
    num_contacts: int = 0  # number of contacts in the first step
    # pivots, positives, residuals: number of pivots, number of positive normal impulses, and
    # residual of each step.
    pivots: list[int] = field(default_factory=list)
    positives: list[int] = field(default_factory=list)
    residuals: list[float] = field(default_factory=list)
    # Largest distance of a block below the grippers' mean height after each step [m].
    drop: list[float] = field(default_factory=list)
    # Indices of the steps without an accepted solution.
    unsolved: list[int] = field(default_factory=list)
    problems: list[GraspLcp] = field(default_factory=list)  # the first LCPs, for timing

    def measure(self) -> dict[str, Any]:
        """Returns the figures of the run, fit for JSON."""
        return {
            "case": self.case.name,
            "solver": self.solver,
            "steps": len(self.drop),
            "contacts": self.num_contacts,
            "pivots_first": self.pivots[0],
            "pivots_mean": float(np.mean(self.pivots)),
            "pivots_max": max(self.pivots),
            "positive_mean": float(np.mean(self.positives)),
            "positive_max": max(self.positives),
            "rank": min(6 * self.case.num_bodies - self.problems[0].rank, self.num_contacts)
            if self.problems
            else None,
            "residual_max": max(self.residuals),
            "drop_max": float(np.max(np.abs(self.drop))),
            "drop": self.drop,
            "unsolved": len(self.unsolved),
            "first_unsolved": self.unsolved[0] if self.unsolved else None,
        }


def run_no_slip(case: GraspCase, num_steps: int) -> GraspRun:
    """Runs a case without slip. The solver starts from the active contacts of the last step."""
    run = GraspRun(case, "ppm_ratio")
    state = make_start(case)
    active: list[int] = []
    for i in range(num_steps):
        contacts = find_contacts(case, state)
        problem = make_no_slip_lcp(case, state, contacts)
        zeros = np.zeros(len(contacts))
        result = lcp.solve_gram(problem.N, zeros, problem.u_hat, solver=run.solver, guess=active)
        active = list(result.active)
        if i < _NUM_KEPT:
            run.problems.append(problem)
        if i == 0:
            run.num_contacts = len(contacts)
        u = problem.u_hat + problem.N.T @ result.z
        _finish_step(run, state, i, result, len(contacts), to_velocity(case, u))
    return run


def run_coulomb(case: GraspCase, num_steps: int, friction: float) -> GraspRun:
    """Runs a case with Stewart and Trinkle's friction polygon of four directions, by Lemke's
    method. As in the published script, a step that is not solved is made with the values found,
    even if these become infinite or NaN."""
    run = GraspRun(case, "lemke")
    state = make_start(case)
    for i in range(num_steps):
        with np.errstate(invalid="ignore"):
            contacts = find_contacts(case, state)
            problem = make_coulomb_lcp(case, state, contacts, friction)
            result = lcp.solve(problem.Q, problem.r, solver="lemke")
            u = problem.u_hat + problem.G.T @ result.z[: len(problem.G)]
            _finish_step(run, state, i, result, len(contacts), to_velocity(case, u))
        if i == 0:
            run.num_contacts = len(contacts)
    return run


@dataclass
class ModelRun:
    """The results of a run of scenes/grasp.xml under a contact model."""

    contact_model: str
    contacts: int = 0  # number of contacts in the first step
    drop: list[float] = field(default_factory=list)  # as in GraspRun [m]
    step_us: list[float] = field(default_factory=list)  # wall time of each step [us]
    failure: str | None = None  # reason why the run ended early, or None

    def measure(self) -> dict[str, Any]:
        """Returns the figures of the run, fit for JSON."""
        return {
            "steps": len(self.drop),
            "contacts": self.contacts,
            "drop_max": float(np.max(np.abs(self.drop), initial=0)) if self.drop else None,
            "us_per_step": float(np.median(self.step_us)) if self.step_us else None,
            "failure": self.failure,
        }


def run_model(contact_model: str, num_steps: int) -> ModelRun:
    """Runs scenes/grasp.xml, with MuJoCo's contacts, under a contact model."""
    run = ModelRun(contact_model)
    model = mujoco.MjModel.from_xml_path(str(find_scene_file("grasp")))
    data = mujoco.MjData(model)
    with ignored_settings_are_fine():
        simulator = stiction.Simulator(model, contact_model)
    bodies = [model.body(name).id for name in ("gripper1", "gripper2", "block1", "block2")]

    def measure(step: Step) -> None:
        if step.index == 0:
            run.contacts = len(step.report.contacts)
        run.step_us.append(step.report.timings.total)
        mujoco.mj_kinematics(model, data)
        height = data.xpos[bodies, 2]
        run.drop.append(float(np.max(np.mean(height[:2]) - height[2:])))

    try:
        Run(simulator, data, num_steps).to_end(measure)
    except stiction.StepError as e:
        run.failure = str(e)
    return run


def _finish_step(
    run: GraspRun, state: GraspState, step: int, result: Any, num_contacts: int, v: np.ndarray
) -> None:
    """Advances the state with the solver's result, solved or not, and records the step."""
    if result.status != "solved":
        run.unsolved.append(step)
    normal = result.z[:num_contacts]
    run.pivots.append(int(result.pivots))
    run.positives.append(int(np.count_nonzero(normal > 0)))
    run.residuals.append(float(result.residual))
    state.v = v
    state.advance(TIME_STEP)
    height = state.x[:, 2]
    run.drop.append(float(np.max(np.mean(height[:FIRST_BLOCK]) - height[FIRST_BLOCK:])))


# ---- CPU times of LCP solvers on the same LCPs of the grasp --------------------------------------

_REPEATS = 5


def time_solvers(problems: Sequence[GraspLcp], case: GraspCase) -> dict[str, float]:
    """Returns the CPU time of an LCP including the call from Python, minimum of five rounds
    [us]. The solvers take turns. All solvers get the same LCPs without slip and start cold;
    'warm' starts from the active contacts of the first solution. A solver that does not solve
    the first LCP is left out."""
    start = make_start(case)
    coulomb = make_coulomb_lcp(case, start, find_contacts(case, start), 1.0)
    zeros = np.zeros(len(problems[0].N))
    active = list(lcp.solve_gram(problems[0].N, zeros, problems[0].u_hat).active)
    calls: dict[str, tuple[int, Callable[[], Any]]] = {}
    for solver in lcp.lcp_solvers():
        if (
            lcp.solve_gram(problems[0].N, zeros, problems[0].u_hat, solver=solver).status
            != "solved"
        ):
            continue
        calls[f"no_slip, {solver}"] = (len(problems), partial(_solve_all, problems, solver))
    calls["no_slip, ppm_ratio, warm"] = (
        len(problems),
        partial(_solve_all, problems, "ppm_ratio", active),
    )
    calls["stewart_trinkle, lemke"] = (1, lambda: lcp.solve(coulomb.Q, coulomb.r, solver="lemke"))
    calls["call"] = (100, lambda: [lcp.solve([[1.0]], [1.0]) for _ in range(100)])
    least = dict.fromkeys(calls, float("inf"))
    for _ in range(_REPEATS):
        for name, (count, call) in calls.items():
            begin = time.process_time()
            call()
            least[name] = min(least[name], 1e6 * (time.process_time() - begin) / count)
    return least


def _solve_all(
    problems: Sequence[GraspLcp], solver: str, guess: Sequence[int] | None = None
) -> None:
    for p in problems:
        lcp.solve_gram(p.N, np.zeros(len(p.N)), p.u_hat, solver=solver, guess=guess)
