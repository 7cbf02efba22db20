"""Runs a scene under each contact model, and measures how safely it holds a body."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from stiction import StepReport
from stiction._core import contact_model_traits
from stiction.analysis.artifacts.creep import predict_creep
from stiction.analysis.grasp import limits
from stiction.analysis.grasp.drop import Lack, StepLog
from stiction.analysis.grasp.grip import Grip, GripReader, predict_turning
from stiction.binding.interrupts import AfterStep
from stiction.errors import Error, ignored_settings_are_fine
from stiction.inputs.names import label_model
from stiction.runs.controls import ControlsName
from stiction.runs.held_body import (
    HeldBody,
    Hold,
    find_hold_start,
    find_judged_start,
    make_held_body,
)
from stiction.runs.run import RunEnd, RunSettings
from stiction.scene import Scene, find_ignored_friction
from stiction.setup.defaults import builtin_defaults
from stiction.setup.options import DEFAULTS


@dataclasses.dataclass
class GraspRow:
    """The grasp under one contact model. None means unknown.

    Attributes:
        contact_model: name of the contact model.
        label: the name, followed by 'own friction' if the model refuses the friction law.
        status: 'held', 'supported' if normal forces or fixed bodies carry the weight or a part of it,
            'slipping' if friction cannot hold the body, 'dropped', 'not_touched', 'failed' if a step
            failed, or 'refused' if the model rejects the scene.
        message: what the status means here; empty for 'held'.
        notes: further remarks, such as settings that the model ignores.
        normal_force: sum of the normal forces on the body at the end [N]; of a body that was dropped, of
            its grip when it gave way.
        needed_force: sum of normal forces with which the grip would have held a dropped body [N].
        num_contacts: number of contacts that press on the body at the end.
        slip_margin: share of friction that the weight leaves [-].
        worst_share: largest share of its friction bound that a contact uses [-].
        creep_predicted, creep_measured: downward slip speed of the body at its contacts [m/s].
        turning_predicted, turning_measured: speed at which the body turns in its grip [rad/s]; predicted
            from the torques of torsional friction, None if the grip has none.
        torsional_limit: largest torque about the grasp axis that friction carries [N m]; infinite for
            contacts that never slip.
        axis: direction in which the contacts press most, in the world, (3,).
    """

    contact_model: str
    label: str = ""
    status: str = "held"
    message: str = ""
    notes: list[str] = dataclasses.field(default_factory=list)
    normal_force: float | None = None
    needed_force: float | None = None
    num_contacts: int = 0
    slip_margin: float | None = None
    worst_share: float | None = None
    creep_predicted: float | None = None
    creep_measured: float | None = None
    turning_predicted: float | None = None
    turning_measured: float | None = None
    torsional_limit: float | None = None
    axis: list[float] | None = None


@dataclasses.dataclass
class Grasp:
    """The result of measure_grasp.

    Attributes:
        scene: path of the scene.
        body: name of the held body.
        load: weight of the body and what it carries [N].
        time_step: [s].
        duration: simulated time [s].
        hold_start: time from which the body should be held [s].
        rows: the results of each contact model.
        interrupted: True if the runs were ended early.
    """

    scene: str
    body: str
    load: float
    time_step: float
    duration: float
    hold_start: float
    rows: list[GraspRow] = dataclasses.field(default_factory=list)
    interrupted: bool = False

    def find_creeping(self) -> list[str]:
        """Returns the labels of the rows that creep, and would not with friction_law 'elastic'."""
        return [
            row.label
            for row in self.rows
            if row.status == "held"
            and (row.creep_predicted or 0.0) != 0.0
            and contact_model_traits(row.contact_model).takes_anchors
        ]

    def figures(self) -> dict[str, Any]:
        """Everything by name, fit for JSON."""
        return dataclasses.asdict(self)


@builtin_defaults()
def measure_grasp(
    scene: Scene,
    body: str,
    contact_models: Sequence[str],
    *,
    friction_law: str = DEFAULTS["friction_law"],
    time_step: float | None = None,
    duration: float | None = None,
    controls: ControlsName | None = None,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
    after_step: AfterStep = lambda: False,
) -> Grasp:
    """Runs a scene under each contact model, and measures how safely it holds a body.

    Args:
        scene: the scene, as load_scene returns it.
        body: name of the body.
        contact_models: names of contact models.
        friction_law: as in Simulator, for the models that use laws. A model that refuses the law, as
            most do 'elastic', runs with its own friction.
        time_step: [s]; None means the scene's.
        duration: [s]; None means to the end of the scene's schedule, or 2 s.
        controls, seed: as in `stiction run`.
        options: other arguments of Simulator.
        after_step: called after each step; the runs end if it returns True.

    Raises:
        Error: there is no such body, or it cannot fall; or an argument is out of range.
    """
    held = make_held_body(scene, body, "body")
    settings = RunSettings(
        scene,
        time_step=time_step,
        duration=duration,
        controls=controls,
        seed=seed,
        options=options or {},
    )
    step = settings.find_time_step()
    result = Grasp(
        scene=str(scene.path),
        body=held.name,
        load=held.load,
        time_step=step,
        duration=settings.count_steps() * step,
        hold_start=find_hold_start(scene, settings.find_controls()),
    )
    for name in contact_models:
        row = GraspRow(name, label_model(name, friction_law))
        result.rows.append(row)
        _Run(settings.under(name, friction_law), held, result, row).measure(after_step)
        if result.interrupted:
            break
    return result


class _Run:
    """The run under one contact model, which fills its row."""

    def __init__(self, settings: RunSettings, held: HeldBody, result: Grasp, row: GraspRow) -> None:
        self._settings, self._held, self._result, self._row = settings, held, result, row
        self._model = settings.scene.model

    def measure(self, after_step: AfterStep) -> None:
        """Steps to the end, a failed step, or until after_step returns True, and fills the row."""
        row, result = self._row, self._result
        try:
            with ignored_settings_are_fine():
                simulator = self._settings.make_simulator()
        except Error as e:
            row.status, row.message = "refused", str(e)
            return
        row.notes += find_ignored_friction(self._settings.scene, row.contact_model)
        run = self._settings.make_run(simulator)
        reader = GripReader(simulator, self._held)
        hold, log = Hold(self._held, result.hold_start), StepLog(self._held)
        start = float(run.data.time)
        end = run.to_end(hold.follow, log.follow, stop=after_step)
        result.interrupted = end == RunEnd.stopped
        if end == RunEnd.failed and run.report is not None:
            row.status = "failed"
            row.message = f"at {run.data.time:.4g} s: {run.report.message}"
            return
        if hold.report is None:
            self._explain_no_hold(hold, log.find_lack(reader), float(run.data.time))
            return
        judged = find_judged_start(start, start + result.duration, self._held, result.hold_start)
        center = np.array(run.data.subtree_com[self._held.body])
        grip = reader.read(hold.report, center)
        self._measure_creep(hold, grip, judged)
        row.creep_predicted = predict_creep(
            self._held, hold.report, run.data, self._model, simulator.options
        )
        row.turning_predicted = predict_turning(grip, hold.report, run.data, simulator)
        self._judge(hold.report, grip)

    def _measure_creep(self, hold: Hold, grip: Grip, judged: float) -> None:
        """Measures the turning, and the creep of the point of the body amid its contacts."""
        creep, turning = hold.calc_creep(judged), hold.calc_turning(judged)
        if creep is None or turning is None:
            return
        contacts = grip.contacts
        weights = contacts.force if contacts.force.sum() > 0 else None
        amid = np.average(contacts.point, axis=0, weights=weights)
        lever = np.cross(turning, grip.center - amid) if len(contacts.force) else np.zeros(3)
        self._row.creep_measured = creep - float(lever @ self._held.down)
        self._row.turning_measured = float(np.linalg.norm(turning))

    def _explain_no_hold(self, hold: Hold, lack: Lack | None, end: float) -> None:
        row, name = self._row, self._held.name
        if hold.dropped_at is not None:
            row.status = "dropped"
            row.message = f"dropped '{name}' at {hold.dropped_at:.3g} s"
            self._explain_drop(lack)
            return
        row.status, start = "not_touched", self._result.hold_start
        if not hold.has_begun:
            row.message = (
                f"the run ends at {end:.4g} s, and the hold of '{name}' begins at {start:g} s; "
                "give a longer --duration"
            )
        else:
            row.message = (
                f"nothing touches '{name}' after {start:g} s; check the controls, or run for longer"
            )

    def _explain_drop(self, lack: Lack | None) -> None:
        row = self._row
        if lack is None or contact_model_traits(row.contact_model).has_viscous_friction:
            return  # viscous friction holds no load, however hard the grip presses
        row.normal_force = lack.had
        if math.isinf(lack.needed):
            row.message += (
                f": from {lack.time:.3g} s on no friction of its contacts could hold it; hold it "
                "nearer to its center of mass, or at more points"
            )
            return
        row.needed_force = lack.needed
        if lack.by_motion:
            row.message += (
                f": its grip slips from {lack.time:.3g} s on, although {lack.had:.3g} N would carry the "
                f"weight, which needs {lack.needed:.3g} N: the motion needs more; press harder, raise "
                "the friction, or move more slowly"
            )
            return
        row.message += (
            f": the grip needs {lack.needed:.3g} N and had {lack.had:.3g} N from {lack.time:.3g} s "
            "on; press harder, or raise the friction"
        )

    def _judge(self, report: StepReport, grip: Grip) -> None:
        """Fills the row from the last step in which something held the body."""
        row, held, contacts = self._row, self._held, grip.contacts
        row.normal_force = float(contacts.force.sum())
        row.num_contacts = len(contacts.force)
        axis = limits.find_grasp_axis(contacts)
        row.axis = axis.tolist()
        traits = contact_model_traits(row.contact_model)
        row.torsional_limit = limits.calc_torsional_limit(contacts, axis)
        margin = grip.calc_margin()
        if traits.has_viscous_friction:
            row.slip_margin, row.torsional_limit = None, 0.0
        elif not traits.uses_friction:  # `no_slip`, whose contacts hold any load that they can
            row.slip_margin = margin if math.isinf(margin) else 1.0
            row.torsional_limit = math.inf if row.torsional_limit > 0 else 0.0
        else:
            row.slip_margin = margin
            row.worst_share = float(limits.calc_shares(contacts)[0].max(initial=0.0))
        fixed_load = grip.calc_fixed_load()
        if row.slip_margin == 1.0 and traits.uses_friction:
            row.status, row.message = "supported", "normal forces carry the weight"
        elif (margin <= 0 and not traits.has_viscous_friction) or grip.at_bound.all():
            row.status = "slipping"
            row.creep_predicted = row.turning_predicted = None  # there is no steady creep
            row.message = (
                f"friction cannot hold '{held.name}', which slides or turns; press harder, raise the "
                "friction, or hold the body nearer to its center of mass"
            )
        elif not held.is_gripped(report.contacts, self._model):
            row.status = "supported"
            row.message = f"only bodies that are fixed to the world touch '{held.name}'"
        elif fixed_load > limits.NORMALS_CARRY * held.load:
            row.status, row.creep_predicted = "supported", None
            row.message = (
                f"bodies that are fixed to the world carry '{held.name}' with {fixed_load:.3g} N, so "
                "the grip does not hold it alone; lift it off, or begin the hold later"
            )
