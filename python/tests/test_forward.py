"""Simulator.forward replaces mj_forward: Stiction's forces at the present state."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import stiction
from stiction.inputs.names import find_models

MODELS = find_models(lambda model: not model.is_mj_step)

BOX = """
<mujoco>
  <option timestep=".002"/>
  <worldbody>
    <geom type="plane" size="5 5 .1"/>
    <body pos="0 0 .099"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/>
      <site name="pad" type="box" size=".12 .12 .12"/></body>
    <body pos="1 0 .3"><joint name="arm" axis="0 1 0" range="-60 5"/>
      <geom type="capsule" size=".03" fromto="0 0 0 .3 0 0" mass="1"/></body>
  </worldbody>
  <sensor><touch name="touch" site="pad"/><accelerometer name="imu" site="pad"/></sensor>
</mujoco>
"""


def make(
    contact_model: str, **options: object
) -> tuple[stiction.Simulator, mujoco.MjModel, mujoco.MjData]:
    model = mujoco.MjModel.from_xml_string(BOX)
    simulator = stiction.Simulator(model, contact_model, **options)  # type: ignore[arg-type]
    return simulator, model, mujoco.MjData(model)


@pytest.mark.parametrize("contact_model", MODELS)
def test_sensors_at_rest_read_the_weight_and_not_mujocos_force(contact_model: str) -> None:
    simulator, model, data = make(contact_model)
    simulator.step(data, 600)
    mujoco.mj_forward(model, data)
    assert abs(data.sensor("touch").data[0] - 9.81) > 0.01
    report = simulator.forward(data)
    assert report.ok
    assert report.num_steps == 0
    assert data.sensor("touch").data[0] == pytest.approx(9.81, abs=1e-3)
    assert data.sensor("imu").data[2] == pytest.approx(9.81, abs=1e-3)
    assert np.abs(data.qacc[:6]).max() < 1e-3


@pytest.mark.parametrize("contact_model", MODELS)
def test_the_next_step_has_the_same_bits(contact_model: str) -> None:
    simulator, _, data = make(contact_model)
    other, _, alone = make(contact_model)
    for _ in range(30):
        simulator.forward(data)
        simulator.step(data)
        other.step(alone)
        np.testing.assert_array_equal(data.qpos, alone.qpos)
        np.testing.assert_array_equal(data.qvel, alone.qvel)
        np.testing.assert_array_equal(data.sensordata, alone.sensordata)


def test_forward_of_mujoco_is_mj_forward() -> None:
    simulator, model, data = make("mujoco")
    reference = mujoco.MjData(model)
    simulator.forward(data)
    mujoco.mj_forward(model, reference)
    np.testing.assert_array_equal(data.sensordata, reference.sensordata)
    np.testing.assert_array_equal(data.qacc, reference.qacc)


def test_the_rows_give_the_constraint_force() -> None:
    simulator, model, data = make("coulomb")
    simulator.step(data, 10)
    simulator.forward(data)
    force = np.zeros(model.nv)
    mujoco.mj_mulJacTVec(model, data, force, data.efc_force)
    np.testing.assert_allclose(force, data.qfrc_constraint, atol=1e-9)


def test_a_state_that_is_not_finite_raises_and_stays() -> None:
    simulator, _, data = make("coulomb")
    data.qvel[0] = np.nan
    with pytest.raises(stiction.StepError, match="qvel"):
        simulator.forward(data)
    simulator, _, data = make("coulomb", on_failure="stop")
    data.qvel[0] = np.nan
    assert not simulator.forward(data).ok


def test_data_of_another_model_is_refused() -> None:
    simulator, _, _ = make("coulomb")
    other = mujoco.MjModel.from_xml_string("<mujoco><worldbody><body/></worldbody></mujoco>")
    with pytest.raises(stiction.Error, match="another model"):
        simulator.forward(mujoco.MjData(other))


@pytest.mark.parametrize("contact_model", ["lagged_regularized", "viscous"])
def test_models_without_a_signature_take_no_second_arena(
    contact_model: str, tmp_path: object
) -> None:
    """A model from MJB is told from others by the size of its data, which needs no arena."""
    path = f"{tmp_path}/box.mjb"
    mujoco.mj_saveModel(mujoco.MjModel.from_xml_string(BOX), path)
    model = mujoco.MjModel.from_binary_path(path)
    simulator = stiction.Simulator(model, contact_model)
    assert simulator.step(mujoco.MjData(model)).ok


@pytest.mark.parametrize("contact_model", stiction.contact_models())
def test_forces_are_those_of_the_step_without_a_step_before(contact_model: str) -> None:
    simulator, _, data = make(contact_model)
    forward = simulator.forward(data)
    assert forward.time_step == 0.002
    np.testing.assert_array_equal(forward.contacts.force, forward.contacts.impulse / 0.002)
    force = forward.contacts.force
    np.testing.assert_allclose(force, simulator.step(data).contacts.force, atol=1e-6)
