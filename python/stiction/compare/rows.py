"""The figures of a comparison."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from stiction.compare.trace import Trace


@dataclass
class Row:
    """The results of one contact model. None stands for a value that is not known.

    Attributes:
        label: name of the row.
        contact_model: name of the contact model.
        impratio: MuJoCo's ratio of impedances; None for the other models.
        status: 'ok', the status of the step that failed, or 'refused' if the model does not take the
            scene.
        message: why it failed or was refused; else empty.
        end_time: simulated time reached [s].
        num_steps: number of completed steps.
        creep_measured, creep_predicted: slip speed of the held body [m/s].
        penetration: deepest penetration while the run is judged [m].
        error_bound: largest error bound of a step [sqrt(J)].
        velocity_bound: largest velocity bound of a step [m/s].
        relative_residual: largest relative residual of a step [-].
        iterations, contacts: mean number in a step while the run is judged.
        us_per_step: time of a step, mean of the cheapest 50 steps while the run is judged [us].
        energy_change: change of kinetic energy, gravity's and springs' energy from start to end [J].
        notes: remarks, MuJoCo's warnings among them.
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
    """The result of compare_models.

    Attributes:
        scene: the scene's file.
        held: name of the held body, or None.
        normal_law, friction_law: laws of the models that take laws.
        settings: other arguments of Simulator.
        time_step: [s].
        duration: simulated time of a run [s].
        tolerance: relative tolerance of the convex models [-].
        controls: name of the controls.
        seed: seed of the random controls.
        hold_start: time after which the scene's controls stay constant [s]; 0 without a schedule.
        judged_from: the run is judged from this time on [s].
        rows: the results of each model.
        traces: quantities over time of each model.
        interrupted: True if the comparison was ended early; rows and traces are then fewer.
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
