"""An experiment of the planar studies: a body, its initial state, and the time steps to run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from stiction.evidence.experiments.convergence import calc_last_order, calc_order, calc_rms_error
from stiction.evidence.experiments.planar import (
    STICTION_TOLERANCE,
    GroundPosition,
    PlanarBody,
    Trajectory,
    Vector,
    run_planar,
)

# Called with a description of the next run.
Tell = Callable[[str], None]

# Trajectories and errors by contact model and time step [s].
Runs = dict[str, dict[float, Trajectory]]
Errors = dict[str, dict[float, float]]

REFERENCE_MODEL = "lagged"


@dataclass(frozen=True)
class PlanarCase:
    """A body, its initial state, and the time steps at which it is run."""

    body: PlanarBody
    # Returns q0 and v0 for a contact model and a time step [s].
    make_start: Callable[[str, float], tuple[Vector, Vector]]
    duration: float  # simulated time [s]
    # Time steps of the study of convergence, which must divide the duration [s].
    steps: tuple[float, ...]
    columns: tuple[int, ...]  # the coordinates in q whose error is measured
    # Time steps of two references [s]. The second is the reference; the first has twice its time
    # step and shows that the reference has converged.
    reference_steps: tuple[float, float]
    quick_reference_steps: tuple[float, float]  # larger time steps for quick runs [s]
    sampling: float = 0.0  # time between samples of the references [s]; 0 means every step
    # Position of a moving ground, or None. Trajectories are relative to it.
    ground_position: GroundPosition | None = None

    def run(
        self,
        contact_model: str,
        time_step: float,
        *,
        sampling: float = 0.0,
        stiction_tolerance: float = STICTION_TOLERANCE,
    ) -> Trajectory:
        """Runs the case once, with a time between samples or, for 0, every step."""
        run = run_planar(
            self.body,
            contact_model,
            time_step,
            self.duration,
            *self.make_start(contact_model, time_step),
            stride=max(1, round(sampling / time_step)),
            ground_position=self.ground_position,
            stiction_tolerance=stiction_tolerance,
        )
        if self.ground_position is not None:
            run.q[:, 0] -= self.ground_position(run.time)
            run.v[:, 0] = run.slip_velocity
        return run

    def run_models(self, contact_models: Iterable[str], tell: Tell) -> Runs:
        """Runs every contact model at every time step."""
        runs: Runs = {}
        for name in contact_models:
            tell(name)
            runs[name] = {step: self.run(name, step) for step in self.steps}
        return runs

    def run_references(self, quick: bool, tell: Tell) -> tuple[Trajectory, Trajectory]:
        """Runs the references. Returns the one with twice the time step, and the reference."""
        steps = self.quick_reference_steps if quick else self.reference_steps
        runs = []
        for step in steps:
            tell(f"reference, {REFERENCE_MODEL} at {step:g} s")
            runs.append(self.run(REFERENCE_MODEL, step, sampling=self.sampling))
        return runs[0], runs[1]

    def calc_error(
        self, run: Trajectory, reference: Trajectory, columns: tuple[int, ...] | None = None
    ) -> float:
        """Returns the RMS distance over time to the reference in some or all coordinates."""
        return self.calc_path_error(run.time, run.q, reference, columns)

    def calc_path_error(
        self, time: Vector, q: Vector, reference: Trajectory, columns: tuple[int, ...] | None = None
    ) -> float:
        """As calc_error, for times (n,) and coordinates (n, 2 or 3) of another simulator."""
        compared = list(columns or self.columns)
        return calc_rms_error(time, q[:, compared], reference.time, reference.q[:, compared])

    def calc_errors(
        self, runs: Runs, reference: Trajectory, columns: tuple[int, ...] | None = None
    ) -> Errors:
        """Returns calc_error of every run."""
        return {
            name: {step: self.calc_error(run, reference, columns) for step, run in steps.items()}
            for name, steps in runs.items()
        }


def list_runs(runs: Runs) -> list[Trajectory]:
    """Returns the trajectories of all models and time steps."""
    return [run for of_steps in runs.values() for run in of_steps.values()]


def describe_convergence(errors: Mapping[str, Mapping[float, float]]) -> dict[str, Any]:
    """Returns errors and orders of convergence by contact model, fit for JSON."""
    return {
        "rms_error": errors,
        "order": {name: calc_order(e) for name, e in errors.items()},
        "last_order": {name: calc_last_order(e) for name, e in errors.items()},
    }
