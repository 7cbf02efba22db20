"""The results of a comparison."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any

from stiction.artifacts.budget import PairBudget
from stiction.compare.trace import Trace
from stiction.view.film import Film


@dataclass
class Row:
    """The results of one case, in SI units except us_per_step. None means unknown.

    Attributes:
        label: label of the case.
        contact_model: name of the contact model.
        impratio: MuJoCo's ratio of frictional to normal impedance; None for the other models.
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
        notes: further remarks, such as MuJoCo's warnings.
        artifacts: what the model gets wrong by design in the judged steps, for the pairs of geoms
            with the largest impulses.
    """

    label: str
    contact_model: str
    impratio: float | None = None
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
    notes: list[str] = field(default_factory=list)
    artifacts: list[PairBudget] = field(default_factory=list)


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
        rows: the results of each case.
        traces: quantities over time of each case.
        films: films of the first cases, as many as fit on a page.
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
    films: list[Film] = field(default_factory=list)
    interrupted: bool = False

    def figures(self) -> dict[str, Any]:
        """Everything but the traces and films, by name, fit for JSON."""
        names = [f.name for f in fields(self) if f.name not in ("rows", "traces", "films")]
        return {
            **{name: getattr(self, name) for name in names},
            "rows": [asdict(row) for row in self.rows],
        }
