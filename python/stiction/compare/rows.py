"""The results of a comparison."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any

from stiction import StepReport
from stiction.analysis.artifacts.budget import PairBudget
from stiction.runs.trace import Trace
from stiction.view.film import Film


@dataclass
class Row:
    """The results of one case, in SI units except us_per_step. None means unknown.

    Attributes:
        label: label of the case.
        contact_model: name of the contact model.
        impratio: MuJoCo's ratio of frictional to normal impedance; None for the other models.
        noslip_iterations: iterations of MuJoCo's noslip solver; None for the other models.
        accuracy: accuracy of Simulator.advance [m]; None for steps of one length. Figures of a step
            are then those of a call of advance.
        status: 'ok', the status of the failed step, or 'refused' if the model rejects the scene.
        message: reason of the failure, or empty.
        end_time: simulated time reached [s].
        num_steps: number of completed steps.
        dropped: True if the held body was dropped; it then has no creep.
        creep_measured, creep_predicted: slip speed of the held body [m/s].
        penetration: deepest penetration in the judged steps [m].
        error_bound: largest error bound of a step [sqrt(J)].
        velocity_bound: largest velocity bound of a step [m/s].
        relative_residual: largest relative residual of a step [-].
        iterations, contacts: means over the judged steps.
        us_per_step: wall time per step of the cheapest 50 judged steps [us].
        energy_change: change of the kinetic energy and of the potential energies of gravity and
            springs from start to end [J].
        advanced_steps, rejected_steps: steps of error control that were accepted and rejected.
        sum_of_errors: sum of their local errors [m].
        notes: further remarks, such as MuJoCo's warnings.
        artifacts: what the model gets wrong by design in the judged steps, for the pairs of geoms
            with the largest impulses.
    """

    label: str
    contact_model: str
    impratio: float | None = None
    noslip_iterations: int | None = None
    accuracy: float | None = None
    status: str = "ok"
    message: str = ""
    end_time: float = 0.0
    num_steps: int = 0
    dropped: bool = False
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
    advanced_steps: int | None = None
    rejected_steps: int | None = None
    sum_of_errors: float | None = None
    notes: list[str] = field(default_factory=list)
    artifacts: list[PairBudget] = field(default_factory=list)

    def add_advance(self, report: StepReport) -> None:
        """Adds the steps of a call of Simulator.advance."""
        if report.advance is None:
            return
        self.advanced_steps = (self.advanced_steps or 0) + report.advance.num_steps
        self.rejected_steps = (self.rejected_steps or 0) + report.advance.num_rejected
        self.sum_of_errors = (self.sum_of_errors or 0.0) + report.advance.sum_of_errors


@dataclass
class Comparison:
    """The result of compare_models.

    Attributes:
        scene: path of the scene.
        held: name of the held body, or None.
        normal_law, friction_law: laws of the models that use laws.
        settings: other arguments of Simulator.
        time_step: [s].
        duration: simulated time of a run [s].
        tolerance: relative tolerance of models that Newton's method solves [-].
        controls: name of the controls.
        seed: seed of the random controls.
        hold_start: time from which the scene's controls are constant [s]; 0 without a schedule.
        judged_from: the judged steps are those from this time on [s].
        accuracy, period: arguments of the cases under error control [m], [s]; None without them.
        rows: the results of each case.
        traces: quantities over time of each case.
        films: films of cases that differ most, as many as fit on a page.
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
    accuracy: float | None = None
    period: float | None = None
    rows: list[Row] = field(default_factory=list)
    traces: list[Trace] = field(default_factory=list)
    films: list[Film] = field(default_factory=list)
    interrupted: bool = False

    def figures(self) -> dict[str, Any]:
        """Everything but the traces and films, by name, fit for JSON."""
        names = [f.name for f in fields(self) if f.name not in ("rows", "traces", "films")]
        return {
            **{name: getattr(self, name) for name in names},
            "rows": [asdict(row) for row in self.rows],
        }
