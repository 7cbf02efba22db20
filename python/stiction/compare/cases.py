"""The cases of a comparison, and the run of each."""

from __future__ import annotations

import copy
import dataclasses
import functools
import math
from collections.abc import Sequence

import mujoco

from stiction import StepReport, contact_models
from stiction._core import contact_model_traits
from stiction.analysis.artifacts.budget import ArtifactLog
from stiction.analysis.artifacts.creep import predict_creep
from stiction.binding.interrupts import AfterStep
from stiction.compare.rows import Comparison, Row
from stiction.errors import Error, ignored_settings_are_fine
from stiction.inputs.names import label_model, suggest_name
from stiction.recording import format as fmt
from stiction.runs.held_body import HeldBody, Hold
from stiction.runs.run import RunEnd, RunSettings, Step
from stiction.runs.run_summary import calc_energy
from stiction.runs.trace import Trace
from stiction.scene import Scene, find_ignored_friction
from stiction.setup.options import DEFAULTS
from stiction.view.film import Film
from stiction.view.session import MAX_SESSIONS

# MuJoCo's documentation has two remedies against creep: a larger impratio, up to 100, and the noslip
# solver. The noslip solver ends earlier if it converges to the model's noslip_tolerance.
_IMPRATIO_FACTORS = (10, 100)
_NOSLIP_ITERATIONS = 10
_MAX_PAIRS = 4  # pairs of geoms whose artifacts are listed


@dataclasses.dataclass(frozen=True)
class Case:
    """One case of a comparison. None for an option of MuJoCo keeps the scene's own.

    label: the name, followed by 'own friction' if the model refuses the friction law of the
        comparison, and by 'impratio 10', 'noslip' or the like if these are not the scene's own.
    accuracy: the accuracy of Simulator.advance [m]; None for steps of one length.
    """

    contact_model: str
    label: str
    impratio: float | None = None
    noslip_iterations: int | None = None
    accuracy: float | None = None

    @property
    def is_mj_step(self) -> bool:
        """True if MuJoCo's mj_step makes the steps, which reads impratio and is not certified."""
        return contact_model_traits(self.contact_model).is_mj_step

    def apply_to(self, scene: Scene) -> Scene:
        """Returns the scene with this case's options of MuJoCo; the given scene is not changed."""
        options = {"impratio": self.impratio, "noslip_iterations": self.noslip_iterations}
        changes = {name: value for name, value in options.items() if value is not None}
        if not changes:
            return scene
        model = copy.copy(scene.model)
        for name, value in changes.items():
            setattr(model.opt, name, value)
        return dataclasses.replace(scene, model=model)


def make_cases(
    scene: Scene,
    names: Sequence[str] | None = None,
    accuracy: float | None = None,
    friction_law: str = DEFAULTS["friction_law"],
) -> list[Case]:
    """Makes the cases of contact models, or of all; with an accuracy, also those that advance."""
    cases: list[Case] = []
    for name in dict.fromkeys(names or contact_models()):
        if name not in contact_models():
            raise Error(
                "unknown_name",
                "contact_model",
                f"no contact model '{name}' {suggest_name(name, contact_models())}",
            )
        label = label_model(name, friction_law)
        case = Case(name, label)
        cases += _add_remedies(case, scene) if case.is_mj_step else [case]
        if accuracy is not None and contact_model_traits(name).can_advance:
            cases.append(Case(name, f"{label} {accuracy:g} m", accuracy=accuracy))
    return cases


def _add_remedies(case: Case, scene: Scene) -> list[Case]:
    """Returns the case with the scene's own options, and with MuJoCo's remedies against creep."""
    own = scene.model.opt
    values = [factor * float(own.impratio) for factor in _IMPRATIO_FACTORS]
    cases = [case, *(_set_impratio(case, value) for value in values)]
    if own.noslip_iterations > 0:
        return cases
    return [*cases, *(_add_noslip(each) for each in (case, cases[-1]))]


def _set_impratio(case: Case, impratio: float) -> Case:
    label = f"{case.label} impratio {impratio:g}"
    return dataclasses.replace(case, label=label, impratio=impratio)


def _add_noslip(case: Case) -> Case:
    label = f"{case.label} noslip"
    return dataclasses.replace(case, label=label, noslip_iterations=_NOSLIP_ITERATIONS)


def choose_filmed(cases: Sequence[Case]) -> set[str]:
    """Returns the labels of the cases that a page can show side by side.

    If there are more cases, they are those of the default model and of mj_step, and one of each other
    kind of model, because these differ most.
    """
    kinds = {_find_kind(DEFAULTS["contact_model"])}
    ranks: dict[str, int] = {}
    for case in cases:
        if case.accuracy is not None:
            continue  # frames are those of steps
        kind = _find_kind(case.contact_model)
        is_first = case.contact_model == DEFAULTS["contact_model"]
        if case.is_mj_step and case.impratio is None and case.noslip_iterations is None:
            is_first = True
        ranks[case.label] = 0 if is_first else 1 if kind not in kinds else 2
        kinds.add(kind)
    return set(sorted(ranks, key=lambda label: ranks[label])[:MAX_SESSIONS])


def _find_kind(contact_model: str) -> tuple[bool, ...]:
    traits = contact_model_traits(contact_model)
    return (
        traits.is_mj_step,
        traits.is_rigid,
        traits.lifts_sliding,
        traits.uses_friction,
        traits.has_viscous_friction,
        traits.is_complementary,
    )


class CaseRun:
    """Runs one case once. `row`, `trace` and `film` collect its results."""

    def __init__(
        self,
        case: Case,
        settings: RunSettings,
        held: HeldBody | None,
        comparison: Comparison,
        is_filmed: bool,
    ) -> None:
        self._settings = dataclasses.replace(
            settings.under(case.contact_model, comparison.friction_law, comparison.normal_law),
            scene=case.apply_to(settings.scene),
            accuracy=case.accuracy,
            period=None if case.accuracy is None else comparison.period,
        )
        self._model = self._settings.scene.model
        self._held, self._comparison = held, comparison
        self._hold = Hold(held, comparison.hold_start) if held else None
        self._warnings: dict[str, int] = {}
        self._predicted: float | None = None
        self._artifacts: ArtifactLog | None = None
        self.trace = Trace(is_certified=not case.is_mj_step)
        self.film = Film(case.label)
        self._is_filmed = is_filmed
        self.row = Row(case.label, case.contact_model, accuracy=case.accuracy)
        self.row.notes += find_ignored_friction(settings.scene, case.contact_model)
        if case.is_mj_step:
            self.row.impratio = float(self._model.opt.impratio)
            self.row.noslip_iterations = int(self._model.opt.noslip_iterations)

    def step(self, after_step: AfterStep) -> None:
        """Steps until the end, a failed step, or until after_step returns True."""
        comparison, row = self._comparison, self.row
        try:
            with ignored_settings_are_fine():
                simulator = self._settings.make_simulator()
        except Error as e:
            row.status, row.message = "refused", str(e)
            return
        run = self._settings.make_run(simulator)
        if self._is_filmed:
            run.stepper = functools.partial(self.film.step, simulator)
        before = self._calc_energy(run.data)
        self._artifacts = ArtifactLog(simulator)
        end = run.to_end(self._add, stop=after_step)
        comparison.interrupted = end == RunEnd.stopped
        if end == RunEnd.failed and run.report is not None:
            row.status, row.message = run.report.status, run.report.message
            self._count(run.report)
        row.end_time, row.num_steps = float(run.data.time), len(self.trace)
        row.energy_change = self._calc_energy(run.data) - before
        if self._held and self._hold and self._hold.report:
            options = simulator.options
            if row.accuracy is not None:  # Simulator.advance does not regularize friction
                options["friction_regularization"] = 0.0
                options["time_step"] = self._hold.report.time_step
            self._predicted = predict_creep(
                self._held, self._hold.report, run.data, self._model, options
            )

    def _count(self, report: StepReport) -> None:
        self.row.add_advance(report)
        if report.num_warnings:
            count = self._warnings.get(report.warning, 0)
            self._warnings[report.warning] = count + report.num_warnings

    def _add(self, step: Step) -> None:
        self._count(step.report)
        slip = self._hold.follow(step) if self._hold else math.nan
        self.trace.add(step.time, step.report, slip)
        if self._artifacts and step.time >= self._comparison.judged_from:
            self._artifacts.add(step.report, step.data)

    def finish(self) -> Row:
        """Completes the row after the last step and returns it."""
        row, trace, comparison = self.row, self.trace, self._comparison
        row.notes += [f"{text} ({n} times)" for text, n in self._warnings.items()]
        if len(trace) == 0:
            return row
        judged = trace["time"] >= comparison.judged_from
        for name in ("error_bound", "velocity_bound", "relative_residual"):
            worst = float(trace[name].max())
            setattr(row, name, worst if math.isfinite(worst) else None)
        if judged.any():
            row.penetration = float(trace["depth"][judged].max())
            row.iterations = float(trace["iterations"][judged].mean())
            row.contacts = float(trace["num_contacts"][judged].mean())
            row.us_per_step = trace.calc_us_per_step(comparison.judged_from)
        if comparison.held:
            self._judge_creep()
        if self._artifacts:
            row.artifacts = self._artifacts.calc_budgets(_MAX_PAIRS)
            row.notes += [budget.describe() for budget in row.artifacts if budget.note]
        return row

    def _judge_creep(self) -> None:
        row = self.row
        if self._hold is None or self._hold.report is None:
            self._note_no_creep()
            return
        row.creep_measured = self._hold.calc_creep(self._comparison.judged_from)
        if row.creep_measured is not None:
            row.creep_predicted = self._predicted

    def _note_no_creep(self) -> None:
        row, comparison = self.row, self._comparison
        if row.status != "ok":
            return  # the status explains it
        dropped_at = self._hold.dropped_at if self._hold else None
        if dropped_at is not None:
            row.dropped = True
            before = "before " if dropped_at <= comparison.hold_start + 1e-9 else "at "
            note = f"dropped {comparison.held} {before}{dropped_at:.3g} s"
        elif self._hold and not self._hold.has_begun:
            note = f"the run ended before the hold, which begins at {comparison.hold_start:g} s"
        else:
            note = f"nothing touched {comparison.held} during the hold"
        row.notes.insert(0, note)

    def _calc_energy(self, data: mujoco.MjData) -> float:
        return sum(calc_energy(self._model, fmt.get_state(self._model, data)).values())
