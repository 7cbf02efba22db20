"""Tests of sleeping trees from Python: reports, checkpoints, recordings, batches, and the page."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import mujoco
import numpy as np
import pytest

import stiction
from stiction.evidence.experiments.clutter import make_clutter, make_mjcf, make_properties

PAGE = Path(__file__).resolve().parents[2] / "docs" / "sleep.md"
SCENE = """<mujoco><option timestep=".002"><flag sleep="enable"/></option><worldbody>
  <geom type="plane" size="9 9 1"/>
  <body pos="0 0 .1"><freejoint/><geom name="low" type="box" size=".1 .1 .1" mass="1"/></body>
  <body pos="0 0 .3"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>
  <body pos="3 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>
</worldbody><sensor><touch name="touch" site="foot"/></sensor></mujoco>""".replace(
    'mass="1"/></body>', 'mass="1"/><site name="foot" type="box" size=".2 .2 .2"/></body>', 1
)
ASLEEP = 300  # steps after which all trees sleep


def make(contact_model: str = "coulomb") -> tuple[stiction.Simulator, mujoco.MjData]:
    model = mujoco.MjModel.from_xml_string(SCENE)
    return stiction.Simulator(model, contact_model), mujoco.MjData(model)


def test_the_report_counts_sleeping_trees_and_bounds_their_error() -> None:
    simulator, data = make()
    report = simulator.step(data, nstep=ASLEEP)
    assert report.statistics.num_asleep == 3
    assert data.ntree_awake == 0 and data.ncon == 0
    assert 0 < report.certificate.sleep_bound < 3 * simulator.model.opt.sleep_tolerance
    report = simulator.step(data)
    assert report.certificate.error_bound == 0
    assert report.contacts.normal_impulse.size == 0


def test_sensors_keep_the_values_of_the_step_from_rest() -> None:
    simulator, data = make()
    simulator.step(data, nstep=ASLEEP)
    assert data.sensor("touch").data[0] == pytest.approx(3 * 9.81, rel=1e-3)
    assert data.qfrc_constraint[2] == pytest.approx(9.81, rel=1e-3)


def test_the_flag_gives_no_warning_unless_it_has_no_effect() -> None:
    model = mujoco.MjModel.from_xml_string(SCENE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stiction.Simulator(model, "coulomb")
        stiction.Simulator(model, "no_slip")
    with pytest.warns(stiction.IgnoredSettingWarning, match="flag sleep .* within a step"):
        stiction.Simulator(model, "no_slip", integrator="event_driven")


def test_a_batch_does_not_sleep_and_warns() -> None:
    model = mujoco.MjModel.from_xml_string(SCENE)
    with pytest.warns(stiction.IgnoredSettingWarning, match="flag sleep .* from a checkpoint"):
        batch = stiction.Batch(model, 2, persistent=True, contact_model="lagged")
    asleep = batch.bind("tree_asleep")
    batch.step(nstep=ASLEEP)
    assert (asleep < 0).all()
    with pytest.raises(ValueError, match="require a persistent batch"):
        stiction.Batch(model, 2, contact_model="lagged")


def test_a_checkpoint_continues_with_the_same_bits() -> None:
    simulator, data = make()
    simulator.step(data, nstep=ASLEEP)
    size = mujoco.mj_stateSize(simulator.model, mujoco.mjtState.mjSTATE_INTEGRATION)
    state = np.empty(size)
    mujoco.mj_getState(simulator.model, data, state, mujoco.mjtState.mjSTATE_INTEGRATION)
    other, copy = make()
    mujoco.mj_setState(other.model, copy, state, mujoco.mjtState.mjSTATE_INTEGRATION)
    other.set_state(simulator.get_state())
    for step in range(60):
        if step == 20:
            for d in (data, copy):
                d.xfrc_applied[1, 0] = 20
        simulator.step(data)
        other.step(copy)
        assert np.array_equal(data.qpos, copy.qpos) and np.array_equal(data.qvel, copy.qvel)
        assert np.array_equal(data.tree_asleep, copy.tree_asleep)
    assert np.array_equal(data.tree_asleep >= 0, [False, False, True])


def test_a_recording_replays_from_a_step_at_which_trees_sleep(tmp_path: Path) -> None:
    simulator, data = make()
    path = tmp_path / "sleep.mcap"
    with stiction.Recorder(path, simulator) as recorder:
        for step in range(ASLEEP):
            data.xfrc_applied[3, 2] = 30 if 150 < step < 160 else 0
            recorder.step(data)
    assert data.ntree_awake < 3
    for start in (0, 140, 155, 250):
        for replayed in stiction.Replay(stiction.Recording(path), from_step=start):
            assert replayed.find_difference() is None, (start, replayed)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::stiction.StictionWarning")
@pytest.mark.parametrize("friction_law", ["soft", "elastic"])
def test_piles_that_fall_sleep_whole(friction_law: str) -> None:
    """Nine of ten piles of 160 bodies sleep within 20 s. In the others a sphere turns on, wedged
    between two boxes, or a box spins on two of its corners."""
    num_asleep = 0
    for seed in range(10):
        mjcf = make_mjcf(make_clutter(160, seed), rolling_friction=0.002)
        model = mujoco.MjModel.from_xml_string(mjcf)
        model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_SLEEP
        model.opt.sleep_tolerance = 1e-3
        simulator = stiction.Simulator(
            model, properties=make_properties(), friction_law=friction_law
        )
        data = mujoco.MjData(model)
        while data.time < 20 and (data.time == 0 or data.ntree_awake > 0):
            simulator.step(data, 500)
        num_asleep += data.ntree_awake == 0
    assert num_asleep >= 9


def test_the_page_has_the_limits_of_the_code() -> None:
    text = PAGE.read_text()
    steps = re.search(r"`mjMINAWAKE` = (\d+) steps", text)
    simulator, data = make()
    data.qpos[2] += 1  # awake
    simulator.step(data)
    assert steps and data.tree_asleep[0] == -(1 + int(steps[1]))
