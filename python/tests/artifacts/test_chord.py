"""The drift of a held body along chords: predicted, measured, and in the budgets of runs."""

from __future__ import annotations

import math
from pathlib import Path

import mujoco
import numpy as np
import pytest

import stiction
from stiction.analysis.artifacts.budget import ArtifactLog
from stiction.analysis.artifacts.chord import calc_turning, measure_chord_drift, predict_chord_drift
from stiction.analysis.artifacts.displacement import CreepMeter, StuckContacts
from stiction.analysis.artifacts.table import CHORD, COLUMNS, find_columns
from stiction.compare import compare_models
from stiction.scene import load_scene

# Two fingers press a plate at 60 mm from the axis of a table that turns at 4 rad/s.
_TABLE = """<mujoco><option timestep="0.002" gravity="0 0 0"/><worldbody>
<body><joint name="turn" axis="0 0 1" armature="1"/>
  <geom size=".01" mass=".1" contype="0" conaffinity="0"/>
  <body pos=".06 0 .02"><joint name="up" type="slide" axis="0 0 1"/>
    <geom name="up" type="box" size=".02 .02 .01" mass=".1" friction="1"/></body>
  <body pos=".06 0 -.02"><joint name="down" type="slide" axis="0 0 1"/>
    <geom name="down" type="box" size=".02 .02 .01" mass=".1" friction="1"/></body></body>
<body name="plate" pos=".06 0 0"><freejoint/>
  <geom name="plate" type="box" size=".02 .02 .01" mass=".05" friction="1"/></body>
</worldbody><actuator><motor joint="up" gear="-1"/><motor joint="down"/>
<velocity joint="turn" kv="100"/></actuator>
<keyframe><key ctrl="20 20 4" qvel="4 0 0 0 .24 0 0 0 4"/></keyframe></mujoco>"""

_TURNING = 16 * 0.06  # w^2 r [m/s^2]
# These hold the plate in one place; the others swing it about a line, or let it go.
_HOLDING = ("sap", "lagged", "lagged_regularized", "similar", "tamsi", "coulomb", "no_slip",
            "drumwright_shell", "rigid_coulomb")  # fmt: skip


@pytest.mark.parametrize("time_step", [1e-3, 2e-3, 1e-2])
@pytest.mark.parametrize("contact_model", _HOLDING)
def test_every_model_drifts_as_predicted(contact_model: str, time_step: float) -> None:
    """The next term is of second order in the angle of a step, and creep is far below."""
    options = {"contact_model": contact_model, "time_step": time_step, "friction_law": "soft"}
    measured = measure_chord_drift(options, _TURNING)
    assert measured == pytest.approx(predict_chord_drift(time_step, _TURNING), rel=0.05)


@pytest.mark.parametrize("contact_model", ["lagged", "lagged_regularized", "coulomb"])
def test_springs_have_no_drift(contact_model: str) -> None:
    options = {"contact_model": contact_model, "time_step": 1e-2, "friction_law": "elastic"}
    # The springs know the arc from the third step on. The plate settles by up to 6e-6 m/s in the 13
    # steps of the measurement; chords would be 4.8e-3.
    assert measure_chord_drift(options, _TURNING) == pytest.approx(0, abs=1e-5)


def test_budgets_of_springs_have_no_creep_and_no_drift() -> None:
    """The velocity of the plate has a chord of 1 mm/s, but the plate stays where it is."""
    model = mujoco.MjModel.from_xml_string(_TABLE)
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    simulator = stiction.Simulator(model, "lagged", friction_law="elastic")
    simulator.step(data, 50)  # until the grip is at rest
    log = ArtifactLog(simulator)
    for _ in range(150):
        report = simulator.step(data)
        log.add(report, data)
    assert np.abs(report.contacts.slip_velocity).max() < 1e-12
    budgets = log.calc_budgets()
    assert len(budgets) == 2 and find_columns(budgets) == (*COLUMNS, CHORD)
    for budget in budgets:
        predicted, measured = budget.predicted, budget.measured
        assert predicted.chord_drift == predicted.creep == predicted.transition_speed == 0
        assert measured.chord_drift == pytest.approx(0, abs=1e-7)
        assert measured.transition_speed == 0
        assert measured.creep == pytest.approx(0, abs=1e-9)
        assert budget.creep_in_run == pytest.approx(0, abs=1e-6)
    # Without data the displacement is unknown.
    blind = ArtifactLog(simulator)
    blind.add(simulator.step(data))
    assert all(budget.creep_in_run is None for budget in blind.calc_budgets(measures=False))


def test_creep_is_the_displacement_of_contacts_that_do_not_roll() -> None:
    """A meter sees the way of a box that slides, and nothing of a ball that rolls."""
    model = mujoco.MjModel.from_xml_string(
        """<mujoco><worldbody><geom name="floor" type="plane" size="9 9 1"/>
        <body pos="0 0 .05"><freejoint/><geom type="box" size=".1 .1 .05" mass="1"/></body>
        <body pos="1 0 .05"><freejoint/><geom size=".05" mass="1"/></body>
        </worldbody></mujoco>"""
    )
    data = mujoco.MjData(model)
    data.qvel[:] = [2, 1, 0, 0, 0, 0, 0.5, 0, 0, 0, 10, 0]
    simulator = stiction.Simulator(model, "lagged", friction_law="elastic")
    meter = CreepMeter(model)
    for k in range(2):
        contacts = simulator.step(data, 5).contacts
        names = ("geoms", "point", "normal")
        rows = StuckContacts(*(np.asarray(getattr(contacts, name)) for name in names))
        geoms, creep = meter.look(data, rows)
        assert len(creep) == 4 * k  # the first look knows no way
    assert (geoms == [0, 1]).all()
    # The poses are those at the start of the last step of each call.
    middle = data.qvel[:2] + 2.5 * 2e-3 * 9.81 * data.qvel[:2] / np.linalg.norm(data.qvel[:2])
    assert creep == pytest.approx(np.full(4, np.linalg.norm(middle)), rel=0.01)


def test_nothing_drifts_that_does_not_turn() -> None:
    options = {"contact_model": "coulomb", "time_step": 2e-3}
    assert predict_chord_drift(2e-3, 0.0) == measure_chord_drift(options, 0.0) == 0.0
    assert measure_chord_drift({**options, "time_step": 1.0}, 1.0) is None  # too far in a step


def test_the_turning_of_a_contact_is_that_of_its_path() -> None:
    model = mujoco.MjModel.from_xml_string(_TABLE)
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    stiction.Simulator(model).step(data, 5)
    bodies = (int(model.geom("up").bodyid[0]), int(model.body("plate").id))
    center = data.body("plate").xpos.copy()
    assert calc_turning(data, bodies, center, np.array([0.0, 0, 1])) == pytest.approx(
        _TURNING, rel=1e-2
    )
    # The contact keeps the normal part away.
    inwards = -center / np.linalg.norm(center)
    assert calc_turning(data, bodies, center, inwards) < 0.05 * _TURNING


def test_budgets_have_the_drift_of_the_run() -> None:
    model = mujoco.MjModel.from_xml_string(_TABLE)
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    simulator = stiction.Simulator(model)
    log = ArtifactLog(simulator)
    radius = None
    for k in range(200):
        log.add(simulator.step(data), data)
        if k == 50:
            radius = math.hypot(data.qpos[3], data.qpos[4])
    assert radius is not None
    drift = (math.hypot(data.qpos[3], data.qpos[4]) - radius) / (149 * 0.002)
    budgets = log.calc_budgets()
    assert find_columns(budgets) == (*COLUMNS, CHORD)
    for budget in budgets:
        assert budget.predicted.chord_drift == pytest.approx(drift, rel=0.1)
        assert budget.measured.chord_drift == pytest.approx(drift, rel=0.1)


def test_error_control_has_no_drift(tmp_path: Path) -> None:
    path = tmp_path / "table.xml"
    path.write_text(_TABLE)
    comparison = compare_models(
        load_scene(path), ["coulomb"], friction_law="soft", duration=0.2, accuracy=1e-5
    )
    fixed, controlled = comparison.rows
    assert fixed.artifacts[0].predicted.chord_drift == pytest.approx(_TURNING * 1e-3, rel=0.1)
    assert controlled.artifacts[0].predicted.chord_drift is None
