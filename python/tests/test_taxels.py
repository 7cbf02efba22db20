"""Taxels read the contact forces of a step, from contact properties and from MJCF."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

import stiction
from stiction.inputs.package_scenes import find_scene_file

SCENE = """
<mujoco><option timestep="0.002"/>
<asset><mesh name="skin" builtin="plate" params="9 11" scale="0.02 0.025 0.01"/></asset>
<worldbody>
  <body name="hand" pos="0.3 0.1 0" euler="0 0 30">
    <geom name="pad" type="box" size="0.02 0.025 0.01"/>
    <geom name="skin" type="mesh" mesh="skin" pos="0 0 0.02" contype="0" conaffinity="0"/></body>
  <body name="block" pos="0.3 0.1 0.0165" euler="2 3 10"><freejoint/>
    <geom name="block" type="box" size="0.01 0.008 0.006" mass="0.2"/></body>
</worldbody>
<sensor><clock/><tactile name="touch" geom="skin" mesh="skin"/></sensor></mujoco>"""
PROPERTIES: dict[str, Any] = {
    "materials": {
        "gel": {"hydroelastic_modulus": 1e6, "dissipation": 20},
        "steel": {"rigid": True},
    },
    "geoms": {"pad": "gel", "block": "steel"},
    "taxels": {
        "grid": {"geom": "pad", "pos": [0, 0, 0.01], "size": [0.04, 0.05], "shape": [20, 25]}
    },
}
WEIGHT = 0.2 * 9.81


def make_run(
    contact_model: str = "lagged", properties: dict[str, Any] = PROPERTIES
) -> tuple[stiction.Simulator, mujoco.MjData]:
    model = mujoco.MjModel.from_xml_string(SCENE)
    simulator = stiction.Simulator(model, contact_model, properties=properties, tolerance=1e-12)
    return simulator, mujoco.MjData(model)


def test_the_grid_reads_the_weight_of_a_body_at_rest() -> None:
    simulator, data = make_run()
    report = simulator.step(data, 2000)
    grid = report.taxels["grid"]
    assert (grid.name, grid.shape, len(grid)) == ("grid", (20, 25), 500)
    np.testing.assert_allclose(grid.force.sum(axis=0), [0, 0, -WEIGHT], atol=1e-9)
    assert (grid.traction[:, 0] * grid.area).sum() == pytest.approx(WEIGHT, abs=1e-9)
    assert (grid.traction[:, 0] > -1e-9).all()
    # The wrench about the center of the patch is that of the patch.
    patch = report.patches[0]
    arms = grid.position - patch.center
    torque = (np.cross(arms, grid.force) + grid.torque).sum(axis=0)
    np.testing.assert_allclose(torque, -patch.torque, atol=1e-12)


@pytest.mark.parametrize("contact_model", stiction.contact_models())
def test_every_model_has_readings(contact_model: str) -> None:
    simulator, data = make_run(contact_model)
    report = simulator.step(data, 50)
    rows = report.table()
    expected = -rows["force"].sum(axis=0)  # on the pad, which is the first geom
    np.testing.assert_allclose(report.taxels["grid"].force.sum(axis=0), expected, atol=1e-12)


def test_positions_are_those_of_the_grid() -> None:
    simulator, data = make_run()
    grid = simulator.step(data).taxels["grid"]
    pose = data.geom("pad").xmat.reshape(3, 3)
    local = (grid.position - data.geom("pad").xpos) @ pose
    x = (np.arange(20) - 9.5) * 0.002
    y = (np.arange(25) - 12) * 0.002
    expected = np.stack([*np.meshgrid(x, y, indexing="ij"), np.full((20, 25), 0.01)], axis=-1)
    np.testing.assert_allclose(local.reshape(20, 25, 3), expected, atol=1e-15)
    np.testing.assert_allclose(grid.area, 4e-6)


def test_tactile_sensors_have_pressure_and_shear_in_sensordata() -> None:
    simulator, data = make_run()
    report = simulator.step(data, 2000)
    touch = report.taxels["touch"]
    assert touch.shape == (99, 1)
    np.testing.assert_array_equal(data.sensor("touch").data.reshape(3, 99).T, touch.traction)
    np.testing.assert_allclose(touch.force.sum(axis=0), [0, 0, -WEIGHT], atol=1e-9)
    # MuJoCo's plate is below its origin, by the third number of its scale, and has its vertices at the
    # centers of 9 x 11 fields. Vertices are floats.
    local = (touch.position - data.geom("pad").xpos) @ data.geom("pad").xmat.reshape(3, 3)
    np.testing.assert_allclose(local[:, 2], 0.01, atol=1e-8)
    np.testing.assert_allclose(
        np.abs(local[:, :2]).max(axis=0), [0.02 * 8 / 9, 0.025 * 10 / 11], atol=1e-8
    )
    assert data.sensordata[0] == pytest.approx(data.time - 0.002)  # the clock


def test_mujocos_own_step_keeps_mujocos_readings() -> None:
    simulator, data = make_run("mujoco")
    with_steps = mujoco.MjData(simulator.model)
    report = simulator.step(data, 20)
    mujoco.mj_step(simulator.model, with_steps, 20)
    np.testing.assert_array_equal(data.sensordata, with_steps.sensordata)
    assert report.taxels["touch"].force.any()


def test_readings_do_not_change_in_later_steps() -> None:
    simulator, data = make_run()
    grid = simulator.step(data, 20).taxels["grid"]
    before = grid.traction.copy()
    simulator.step(data, 20)
    np.testing.assert_array_equal(grid.traction, before)
    with pytest.raises(ValueError, match="read-only"):
        grid.traction[0] = 1


def test_a_report_that_is_read_late_has_the_readings_of_its_step() -> None:
    readings = []
    for reads_at_once in (True, False):
        # A tactile sensor would be read in each step.
        model = mujoco.MjModel.from_xml_string(
            SCENE.replace('<tactile name="touch" geom="skin" mesh="skin"/>', "")
        )
        simulator = stiction.Simulator(model, "lagged", properties=PROPERTIES)
        data = mujoco.MjData(model)
        report = simulator.step(data, 20)
        if reads_at_once:
            readings.append(report.taxels["grid"].force.copy())
        simulator.step(data, 20)
        data.qpos[:3] += 1
        mujoco.mj_forward(simulator.model, data)
        readings.append(pickle.loads(pickle.dumps(report)).taxels["grid"].force)
    assert readings[0].any()
    for other in readings[1:]:
        np.testing.assert_array_equal(other, readings[0])


def test_taxels_that_are_released_read_nothing() -> None:
    simulator, data = make_run()
    for _ in range(20):
        simulator.step(data)
    data.qpos[2] += 1
    for _ in range(5):  # reports are used again
        taxels = simulator.step(data).taxels
        assert not (taxels.force.any() or taxels.torque.any() or taxels.traction.any())


def test_reports_are_copied_with_their_taxels() -> None:
    simulator, data = make_run()
    report = simulator.step(data, 20)
    for other in (copy.deepcopy(report), pickle.loads(pickle.dumps(report))):
        assert other.taxels.names == ["touch", "grid"]
        for name in ("traction", "force", "torque", "area"):
            np.testing.assert_array_equal(getattr(other.taxels, name), getattr(report.taxels, name))
        np.testing.assert_array_equal(other.taxels["grid"].position, report.taxels["grid"].position)
    assert report.to_dict()["taxels"][1]["name"] == "grid"


def test_sensors_are_found_by_name_and_place() -> None:
    simulator, data = make_run()
    taxels = simulator.step(data).taxels
    assert len(taxels) == 2 and [t.name for t in taxels] == taxels.names == ["touch", "grid"]
    assert taxels[-1].name == "grid"
    assert repr(taxels["grid"]) == "Taxels('grid', 500)"
    with pytest.raises(stiction.Error, match=r"no sensor has the name 'gird' .did you mean 'grid'"):
        taxels["gird"]
    with pytest.raises(IndexError):
        taxels[2]
    for wrong in (1.5, None, (0,), 10**30):
        with pytest.raises(
            stiction.Error, match="taxels: the key is .*, must be the name of a sensor"
        ):
            taxels[wrong]


def test_tactile_sensors_without_a_name_are_found_by_their_id() -> None:
    tactile = '<tactile geom="skin" mesh="skin"/>'
    model = mujoco.MjModel.from_xml_string(
        SCENE.replace("</sensor>", f"{tactile}{tactile}</sensor>")
    )
    simulator = stiction.Simulator(model, "lagged", properties=PROPERTIES)
    data = mujoco.MjData(model)
    taxels = simulator.step(data, 100).taxels
    assert taxels.names == ["touch", "#2", "#3", "grid"]
    for sensor in (2, 3):  # MuJoCo has no name for them, but an id
        unnamed = taxels[f"#{sensor}"]
        assert unnamed.traction.any()
        np.testing.assert_array_equal(unnamed.traction, taxels["touch"].traction)
        readings = data.sensor(sensor).data.reshape(3, -1).T
        np.testing.assert_array_equal(readings, unnamed.traction)


def test_a_grid_may_not_have_the_name_of_a_tactile_sensor() -> None:
    taxels = {"touch": PROPERTIES["taxels"]["grid"]}
    with pytest.raises(
        stiction.Error, match="taxels 'touch': tactile sensor 1 of MJCF has the same"
    ):
        make_run(properties={**PROPERTIES, "taxels": taxels})


def test_faults_of_a_grid_are_explained() -> None:
    wrong = {**PROPERTIES["taxels"]["grid"], "geom": "pda", "shape": [20]}
    with pytest.raises(stiction.Error, match="taxels 'grid': shape is .20., must be 2 whole"):
        make_run(properties={"taxels": {"grid": wrong}})
    wrong["shape"] = [20, 25]
    with pytest.raises(stiction.Error, match=r"no geom has the name 'pda' .did you mean 'pad'"):
        make_run(properties={"taxels": {"grid": wrong}})


def test_a_replay_has_the_same_readings(tmp_path: Path) -> None:
    simulator, data = make_run()
    with stiction.Recorder(tmp_path / "run.mcap", simulator) as recorder:
        readings = [recorder.step(data).taxels["grid"].traction.copy() for _ in range(20)]
    replay = stiction.Replay(stiction.Recording(tmp_path / "run.mcap"))
    for step, expected in zip(replay, readings, strict=True):
        np.testing.assert_array_equal(step.report.taxels["grid"].traction, expected)


def test_a_scene_brings_its_taxels() -> None:
    scene = stiction.load_scene(find_scene_file("fingertip"))
    report = scene.make_simulator().step(scene.make_data())
    assert report.taxels["pad"].shape == (20, 25)
    assert copy.copy(scene.make_simulator()).step(scene.make_data()).taxels.names == ["pad"]


def test_a_batch_has_the_data_of_tactile_sensors() -> None:
    simulator, data = make_run()
    simulator.step(data, 20)
    batch = stiction.Batch(
        simulator.model, 2, contact_model="lagged", properties=PROPERTIES, tolerance=1e-12
    )
    sensordata = batch.bind("sensordata")
    for _ in range(20):
        batch.step()
    np.testing.assert_array_equal(sensordata[1], data.sensordata)
    assert sensordata.any()
