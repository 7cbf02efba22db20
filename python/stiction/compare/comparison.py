"""Runs a scene under several contact models, and adds up what each did."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import mujoco
import numpy as np

from stiction import StepReport
from stiction.compare.cases import Case, make_cases
from stiction.compare.creep import predict_creep
from stiction.compare.held_body import HeldBody, Slip, find_held_body
from stiction.compare.trace import Trace
from stiction.control_schedule import find_control_schedule
from stiction.controls import (
    ControlsName,
    count_steps,
    default_controls,
    default_duration,
    make_controls,
)
from stiction.errors import Error
from stiction.recording import format as fmt
from stiction.run_summary import calc_energy
from stiction.scene import Scene

# Of the hold, or of a run without one, this share comes first and is not judged: transients die out.
_TRANSIENT_OF_HOLD = 0.25
_TRANSIENT_OF_RUN = 0.5


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
    time_step, duration: [s].
    hold_start: when the scene's controls come to rest [s]; 0 without a schedule.
    judged_from: figures "where the run is judged" are of the steps from this time on [s].
    rows, traces: one of each per case; fewer if interrupted.
    """

    scene: str
    held: str | None
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


# Told of each step; True stops the comparison.
AfterStep = Callable[[], bool]


def compare_models(
    scene: Scene,
    contact_models: Sequence[str] | None = None,
    *,
    time_step: float | None = None,
    duration: float | None = None,
    tolerance: float = 1e-5,
    controls: ControlsName | None = None,
    seed: int = 0,
    after_step: AfterStep = lambda: False,
) -> Comparison:
    """Runs a scene from its start under each contact model.

    Args:
        contact_models: names; None: all. 'mujoco' is run at three ratios of impedance.
        time_step: [s]; None: the scene's.
        duration: [s]; None: to the end of the scene's schedule of controls, or 2 s.
        tolerance, controls, seed: as of `stiction run`.

    A model that fails has its row say so; the others are still run.

    Raises:
        Error: an argument out of range; a scene whose declarations are wrong.
    """
    cases = make_cases(scene, contact_models)
    held = find_held_body(scene)
    schedule = find_control_schedule(scene)
    controls = controls or default_controls(scene)
    step = time_step or float(scene.model.opt.timestep)
    start = float(scene.make_data().time)
    num_steps = count_steps(duration or default_duration(scene), step)
    end = start + num_steps * step
    hold_start = schedule.hold_start if schedule and controls == ControlsName.schedule else start
    in_hold = held is not None and hold_start < end
    comparison = Comparison(
        scene=str(scene.path),
        held=held.name if held else None,
        time_step=step,
        duration=num_steps * step,
        tolerance=tolerance,
        controls=controls.value,
        seed=seed,
        hold_start=hold_start,
        judged_from=hold_start + _TRANSIENT_OF_HOLD * (end - hold_start)
        if in_hold
        else start + _TRANSIENT_OF_RUN * (end - start),
    )
    for case in cases:
        run = _Run(case, scene, held, comparison)
        run.step(num_steps, after_step)
        comparison.rows.append(run.finish())
        comparison.traces.append(run.trace)
        if comparison.interrupted:
            break
    return comparison


class _Run:
    """One case, run once."""

    def __init__(
        self, case: Case, scene: Scene, held: HeldBody | None, comparison: Comparison
    ) -> None:
        self._scene = case.apply_to(scene)
        self._held, self._comparison = held, comparison
        self._slip: Slip | None = None
        self._report: StepReport | None = None
        self._warnings: dict[str, int] = {}
        self._predicted: float | None = None
        self.trace = Trace(is_certified=case.contact_model != "mujoco")
        self.row = Row(case.label, case.contact_model, case.impratio)
        if case.contact_model == "mujoco":
            self.row.impratio = float(self._scene.model.opt.impratio)

    def step(self, num_steps: int, after_step: AfterStep) -> None:
        """Makes the steps, until one fails or after_step says so."""
        comparison, row = self._comparison, self.row
        try:
            simulator = self._scene.make_simulator(
                row.contact_model,
                time_step=comparison.time_step,
                tolerance=comparison.tolerance,
                on_failure="stop",
            )
        except Error as e:
            row.status, row.message = "refused", str(e)
            return
        controls = ControlsName(comparison.controls)
        drive = make_controls(controls, self._scene, comparison.seed)
        data = self._scene.make_data()
        before = self._calc_energy(data)
        for _ in range(num_steps):
            time = data.time
            drive(data)
            report = simulator.step(data)
            if report.num_warnings:
                count = self._warnings.get(report.warning, 0)
                self._warnings[report.warning] = count + report.num_warnings
            if report.status_bits:
                row.status, row.message = report.status, report.message
                break
            self._add(time, report, data)
            if after_step():
                comparison.interrupted = True
                break
        row.end_time, row.num_steps = float(data.time), len(self.trace)
        row.energy_change = self._calc_energy(data) - before
        if self._held and self._slip and self._report:
            self._predicted = predict_creep(
                self._held, self._report, data, self._scene.model, simulator.options
            )

    def _add(self, time: float, report: StepReport, data: mujoco.MjData) -> None:
        # Positions in data are still those of the step's start, as after mj_step.
        slip = math.nan
        if self._held and time >= self._comparison.hold_start - 1e-9:
            if self._slip is None:
                holders = self._held.find_holders(report.contacts)
                self._slip = Slip(self._held, holders, data) if len(holders) else None
            if self._slip:
                slip = self._slip.calc(data)
            if self._slip and len(self._held.find_contacts(report.contacts)):
                self._report = report
            elif self._slip and self._report:
                self.row.notes.append(f"dropped {self._held.name} at {time:.3g} s")
                self._report, self._held = None, None
        self.trace.add(time, report, slip)

    def finish(self) -> Row:
        """The row, once the steps are made."""
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
            self._judge_creep(judged)
        return row

    def _judge_creep(self, judged: np.ndarray[Any, np.dtype[np.bool_]]) -> None:
        row, comparison = self.row, self._comparison
        if self._report is None:
            if not row.notes and comparison.hold_start >= row.end_time:
                row.notes.append(
                    f"ends before the hold, which begins at {comparison.hold_start:g} s"
                )
            elif not row.notes:
                row.notes.append(f"nothing touches {comparison.held} when the hold begins")
            return
        time, slip = self.trace["time"][judged], self.trace["slip"][judged]
        if len(time) > 1:
            row.creep_measured = float(np.polyfit(time - time.mean(), slip, 1)[0])
            row.creep_predicted = self._predicted

    def _calc_energy(self, data: mujoco.MjData) -> float:
        model = self._scene.model
        state = np.zeros(mujoco.mj_stateSize(model, fmt.INTEGRATION))
        mujoco.mj_getState(model, data, state, fmt.INTEGRATION)
        return sum(calc_energy(model, state).values())
