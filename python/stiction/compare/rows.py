"""The figures of a comparison."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from stiction.compare.trace import Trace


@dataclass
class Row:
    """One case's figures; SI units but for us_per_step. None: not known.

    status: 'ok', the step's that failed, or 'refused' if the model does not take the scene.
    end_time: simulated time reached [s].
    creep_measured, creep_predicted: slip speed of the held body [m/s].
    penetration: deepest, where the run is judged [m].
    error_bound, velocity_bound, relative_residual: worst of all steps [sqrt(J)], [m/s], [-].
    iterations, contacts: mean where the run is judged.
    us_per_step: of the cheapest 50 steps where the run is judged.
    energy_change: of motion, gravity and springs, from start to end [J].
    notes: what the figures do not say, MuJoCo's warnings among it.
    """

    label: str
    contact_model: str
    impratio: float | None = None
    status: str = "ok"
    message: str = ""
    end_time: float = 0.0
    num_steps: int = 0
    creep_measured: float | None = None
    creep_predicted: float | None = None
    penetration: float | None = None
    error_bound: float | None = None
    velocity_bound: float | None = None
    relative_residual: float | None = None
    iterations: float | None = None
    contacts: float | None = None
    us_per_step: float | None = None
    energy_change: float | None = None
    notes: list[str] = field(default_factory=list)


@dataclass
class Comparison:
    """What compare_models found.

    held: name of the held body, or None.
    normal_law, friction_law: of the models that take laws.
    settings: other arguments of Simulator.
    time_step, duration: [s].
    hold_start: when the scene's controls come to rest [s]; 0 without a schedule.
    judged_from: figures "where the run is judged" are of the steps from this time on [s].
    rows, traces: one of each per case; fewer if interrupted.
    """

    scene: str
    held: str | None
    normal_law: str
    friction_law: str
    settings: dict[str, Any]
    time_step: float
    duration: float
    tolerance: float
    controls: str
    seed: int
    hold_start: float
    judged_from: float
    rows: list[Row] = field(default_factory=list)
    traces: list[Trace] = field(default_factory=list)
    interrupted: bool = False
