"""An experiment of the planar studies: what moves, from where, how long, and what is compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from stiction.experiments.convergence import calc_last_order, calc_order, calc_rms_error
from stiction.experiments.planar import (
    STICTION_TOLERANCE,
    GroundPosition,
    PlanarBody,
    Trajectory,
    Vector,
    run_planar,
)

Tell = Callable[[str], None]

# Trajectories and errors by contact model and time step.
Runs = dict[str, dict[float, Trajectory]]
Errors = dict[str, dict[float, float]]

REFERENCE_MODEL = "lagged"


@dataclass(frozen=True)
class PlanarCase:
    """A body, its start, and the steps at which it is run.

    make_start: q0 and v0 under a contact model at a time step [s].
    duration: [s]; steps: of the study of convergence [s], each a divisor of it.
    columns: those of q that errors are of.
    reference_steps: that of the reference is the last; one with the first, twice as large, shows it
        converged [s]. quick_reference_steps: the same, larger.
    sampling: time between samples of the references [s]; 0: every step.
    ground_position: of a ground that moves; q and v of trajectories are against it.
    """

    body: PlanarBody
    make_start: Callable[[str, float], tuple[Vector, Vector]]
    duration: float
    steps: tuple[float, ...]
    columns: tuple[int, ...]
    reference_steps: tuple[float, float]
    quick_reference_steps: tuple[float, float]
    sampling: float = 0.0
    ground_position: GroundPosition | None = None

    def run(
        self,
        contact_model: str,
        time_step: float,
        *,
        sampling: float = 0.0,
        stiction_tolerance: float = STICTION_TOLERANCE,
    ) -> Trajectory:
        """One trajectory. sampling: time between samples [s]; 0: every step."""
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
        """Every model at every step."""
        runs: Runs = {}
        for name in contact_models:
            tell(name)
            runs[name] = {step: self.run(name, step) for step in self.steps}
        return runs

    def run_references(self, quick: bool, tell: Tell) -> tuple[Trajectory, Trajectory]:
        """The reference, and before it the same at twice its step."""
        steps = self.quick_reference_steps if quick else self.reference_steps
        runs = []
        for step in steps:
            tell(f"reference, {REFERENCE_MODEL} at {step:g} s")
            runs.append(self.run(REFERENCE_MODEL, step, sampling=self.sampling))
        return runs[0], runs[1]

    def calc_error(
        self, run: Trajectory, reference: Trajectory, columns: tuple[int, ...] | None = None
    ) -> float:
        """Root mean square over time of the distance to the reference, of self.columns unless told
        otherwise.
        """
        return self.calc_path_error(run.time, run.q, reference, columns)

    def calc_path_error(
        self,
        time: Vector,
        q: Vector,
        reference: Trajectory,
        columns: tuple[int, ...] | None = None,
    ) -> float:
        """calc_error of what another program did. time: (n,) [s]; q: (n, 2 or 3) [m, rad]."""
        of = list(columns or self.columns)
        return calc_rms_error(time, q[:, of], reference.time, reference.q[:, of])

    def calc_errors(
        self, runs: Runs, reference: Trajectory, columns: tuple[int, ...] | None = None
    ) -> Errors:
        """calc_error of every run."""
        return {
            name: {step: self.calc_error(run, reference, columns) for step, run in steps.items()}
            for name, steps in runs.items()
        }


def list_runs(runs: Runs) -> list[Trajectory]:
    """Of all models and steps."""
    return [run for of_steps in runs.values() for run in of_steps.values()]


def describe_convergence(errors: Mapping[str, Mapping[float, float]]) -> dict[str, Any]:
    """Errors and their orders by contact model, fit for JSON."""
    return {
        "rms_error": errors,
        "order": {name: calc_order(e) for name, e in errors.items()},
        "last_order": {name: calc_last_order(e) for name, e in errors.items()},
    }
