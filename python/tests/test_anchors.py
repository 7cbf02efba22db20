"""The friction law `elastic` from Python: reports, memory, batches, recordings, patches and figures."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

import stiction
from stiction.analysis.verify import verify_recording
from stiction.inputs.package_scenes import find_scene_file

SLOPE = math.atan(0.9 * 0.5)  # nine tenths of the friction cone


@pytest.fixture
def model(make_slope: Callable[..., mujoco.MjModel]) -> mujoco.MjModel:
    return make_slope(SLOPE)


def make(model: mujoco.MjModel, **options: Any) -> stiction.Simulator:
    return stiction.Simulator(model, "lagged", friction_law="elastic", **options)


def test_a_report_has_the_springs(model: mujoco.MjModel) -> None:
    material = {"stiffness": 1e6, "tangential_stiffness": 2e5}
    sim = make(model, properties={"materials": {"m": material}, "geoms": {"box": "m"}})
    data = mujoco.MjData(model)
    report = sim.step(data, 1500)
    # Four springs of 2e5 N/m carry the load together.
    load = 9.81 * math.sin(SLOPE)
    assert report.elastic_energy == pytest.approx(load**2 / (2 * 4 * 2e5), rel=0.2)
    assert report.anchor_stretch == pytest.approx(load / (4 * 2e5), rel=0.6)
    assert report.num_anchors_lost == report.anchors_forgotten == 0
    x = data.qpos[0]
    sim.step(data, 5000)
    assert abs(data.qpos[0] - x) / 10 <= 1e-10
    assert report.certificate.max_friction_work <= 1e-12


def test_saved_anchors_are_loaded_for_their_state_alone(model: mujoco.MjModel) -> None:
    sim, data = make(model), mujoco.MjData(model)
    sim.step(data, 1000)
    anchors = sim.save_anchors()
    other, copy = make(model), mujoco.MjData(model)
    mujoco.mj_copyData(copy, model, data)
    other.load_anchors(copy, anchors)
    assert other.step(copy).anchors_forgotten == 0
    with pytest.raises(stiction.Error, match="another time or other positions"):
        other.load_anchors(copy, anchors)
    with pytest.raises(stiction.Error, match="must be bytes of save_anchors"):
        other.load_anchors(copy, 3)  # type: ignore[arg-type]
    # Bytes that were cut off are anchors that are wrong, not a state of another model.
    for size in (48, len(anchors) // 16 * 8, len(anchors) - 8):
        with pytest.raises(
            stiction.Error, match="^anchors: (have wrong numbers: they were cut|do not)"
        ):
            other.load_anchors(copy, anchors[:size])
    soft = stiction.Simulator(model, "lagged")
    with pytest.raises(stiction.Error, match="needs the friction law 'elastic'"):
        soft.save_anchors()


def test_a_reset_forgets_and_says_so(model: mujoco.MjModel) -> None:
    sim, data = make(model), mujoco.MjData(model)
    sim.step(data, 1000)
    mujoco.mj_resetData(model, data)
    assert sim.step(data).anchors_forgotten == 4
    sim.step(data, 1000)
    data.qpos[1] += 0.1
    assert "anchors" in sim.step(data).missing_memory


def test_forgetting_lets_a_body_yield_once(model: mujoco.MjModel) -> None:
    sim, data = make(model), mujoco.MjData(model)
    stretch = sim.step(data, 1500).anchor_stretch
    x = data.qpos[0]
    sim.forget_anchors()
    sim.step(data, 1000)
    assert 0.3 * stretch < data.qpos[0] - x < 3 * stretch


def test_pickles_and_batches_remember(model: mujoco.MjModel) -> None:
    sim, data = make(model), mujoco.MjData(model)
    sim.step(data, 300)
    copied = stiction.Simulator.__reduce__(sim)
    again = copied[0](*copied[1])
    other = mujoco.MjData(model)
    mujoco.mj_copyData(other, model, data)
    sim.step(data, 50)
    again.step(other, 50)
    assert np.array_equal(data.qpos, other.qpos)

    batch = stiction.Batch(model, nsim=3, contact_model="lagged", friction_law="elastic")
    batch.step(nstep=350)
    alone = mujoco.MjData(model)
    make(model).step(alone, 350)
    for qpos in np.asarray(batch.qpos):
        assert np.array_equal(qpos, alone.qpos)


def test_a_recording_replays_from_any_step(model: mujoco.MjModel, tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    sim, data = make(model), mujoco.MjData(model)
    with stiction.Recorder(path, sim) as recorder:
        for _ in range(60):
            recorder.step(data)
    recording = stiction.Recording(path)
    for start in (0, 17, 41):
        replayed = list(stiction.Replay(recording, from_step=start))
        assert len(replayed) == 60 - start
        assert all(step.find_difference() is None for step in replayed)


ARM = """<mujoco><worldbody><site name="wall" pos=".4 0 .6"/>
<body><joint axis="0 1 0" frictionloss="3"/>
 <geom type="capsule" fromto="0 0 0 .5 0 0" size=".03" mass=".5"/>
 <body pos=".5 0 0"><joint axis="0 1 0" frictionloss="1"/>
  <geom type="capsule" fromto="0 0 0 .3 0 0" size=".03" mass=".2"/>
  <site name="tip" pos=".3 0 0"/></body></body></worldbody>
<tendon><spatial frictionloss="2"><site site="wall"/><site site="tip"/></spatial></tendon></mujoco>"""


def test_what_dry_friction_holds_is_replayed_and_verified(tmp_path: Path) -> None:
    model = mujoco.MjModel.from_xml_string(ARM)
    sim, data = make(model), mujoco.MjData(model)
    path = tmp_path / "run.mcap"
    with stiction.Recorder(path, sim) as recorder:
        for i in range(80):
            data.qfrc_applied[0] = 4 * math.sin(0.2 * i)
            recorder.step(data)
    recording = stiction.Recording(path)
    for start in (0, 40):
        assert all(s.find_difference() is None for s in stiction.Replay(recording, from_step=start))
    assert verify_recording(recording).ok
    data.qfrc_applied[0] = 0
    sim.step(data, 1000)
    assert np.abs(data.qvel).max() <= 1e-12
    assert sim.step(data).elastic_energy > 0


@pytest.mark.parametrize("name", ["sap", "similar", "tamsi", "no_slip", "rigid_coulomb", "mujoco"])
def test_models_without_springs_refuse(model: mujoco.MjModel, name: str) -> None:
    with pytest.raises(stiction.Error, match="choose one of the contact models lagged, "):
        stiction.Simulator(model, name, friction_law="elastic")


def test_error_control_keeps_the_springs(model: mujoco.MjModel, tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    sim, data = make(model), mujoco.MjData(model)
    reports = []
    with stiction.Recorder(path, sim) as recorder:
        for k in range(40):
            if k == 20:
                data.qpos[1] += 1e-3  # by hand
            reports.append(recorder.advance(data, data.time + 0.05, 10.0 ** -(3 + k % 3)))
            if k % 10 == 9:
                reports.append(recorder.step(data))
    assert [report.anchors_forgotten for report in reports if report.anchors_forgotten] == [4]
    assert "anchors" in reports[22].missing_memory
    recording = stiction.Recording(path)
    for start in (0, 17, 30):
        replayed = list(stiction.Replay(recording, from_step=start))
        assert len(replayed) == len(reports) - start
        assert [step.find_difference() for step in replayed] == [None] * len(replayed)

    x = data.qpos[0]
    sim.advance(data, data.time + 2, 1e-4)
    assert abs(data.qpos[0] - x) / 2 <= 1e-10


def test_properties_without_effect_give_a_warning(model: mujoco.MjModel) -> None:
    properties = {"materials": {"m": {"tangential_stiffness": 1e5}}, "geoms": {"box": "m"}}
    with pytest.warns(stiction.IgnoredSettingWarning, match="tangential_stiffness"):
        stiction.Simulator(model, "lagged", properties=properties)
    explained = make(model, properties=properties).explain("floor", "box")
    rows = {row["name"]: row for row in explained["numbers"]}
    assert rows["tangential_stiffness"]["value"] == 1e5
    assert rows["tangential_stiffness"]["is_used"]
    assert rows["tangential_damping"]["value"] == 1


STATIC = {"materials": {"m": {"friction": 0.3, "static_friction": 0.5}}, "geoms": {"*": "m"}}


def test_static_friction_needs_springs_that_remember(model: mujoco.MjModel) -> None:
    with pytest.warns(stiction.IgnoredSettingWarning, match="static_friction .* under 'elastic'"):
        stiction.Simulator(model, friction_law="soft", properties=STATIC)
    with pytest.raises(stiction.Error, match="static_friction is 0.5, but there is no friction"):
        make(model, properties={"materials": {"m": {"static_friction": 0.5}}})
    sim = make(model, properties=STATIC)
    rows = {row["name"]: row for row in sim.explain("floor", "box")["numbers"]}
    assert rows["friction"]["value"] == pytest.approx(0.3)
    assert rows["static_friction"]["value"] == pytest.approx(0.5)
    assert rows["static_friction"]["is_used"]


@pytest.mark.parametrize("contact_model", ["lagged", "coulomb"])
def test_a_block_that_sticks_and_slips_is_recorded_and_verified(
    contact_model: str, make_slope: Callable[..., mujoco.MjModel], tmp_path: Path
) -> None:
    model = make_slope(0.0)
    sim = stiction.Simulator(model, contact_model, friction_law="elastic", properties=STATIC)
    data = mujoco.MjData(model)
    sim.step(data, 100)
    start, place, spring, speed = data.time, data.qpos[0], 400.0, 0.05
    used = set()
    path = tmp_path / "run.mcap"
    with stiction.Recorder(path, sim) as recorder:
        for _ in range(400):
            stretch = speed * (data.time - start) - (data.qpos[0] - place)
            data.xfrc_applied[1, 0] = spring * stretch
            contacts = recorder.step(data).contacts
            used |= {round(mu, 12) for mu in contacts.friction}
    assert used == {0.3, 0.5}
    recording = stiction.Recording(path)
    for first in (0, 250):  # it slips at 250
        steps = list(stiction.Replay(recording, from_step=first))
        assert all(step.find_difference() is None for step in steps)
    result = verify_recording(recording)
    assert result.ok, result.figures()
    assert result.checks["friction_work"].num_steps == 399


@pytest.mark.parametrize("stiffness", [1e6, 1e10, None])
@pytest.mark.parametrize("time_step", [1e-3, 2e-3, 1e-2])
def test_a_gripped_cube_moves_in_no_step(stiffness: float | None, time_step: float) -> None:
    scene = stiction.load_scene(find_scene_file("pinch"))
    material = {"stiffness": 2 * stiffness} if stiffness else {}
    sim = scene.make_simulator(
        "lagged",
        friction_law="elastic",
        time_step=time_step,
        properties={"materials": {"pad": material}, "geoms": {"*": "pad"}},
    )
    data = scene.make_data()
    slip = []
    while data.time < 4.5:
        scene.control_schedule(data)
        contacts = sim.step(data).contacts
        if data.time > 3.5:  # the arm has come to rest
            slip.append(np.linalg.norm(contacts.slip_velocity, axis=1).max())
    # 2e-10, 2e-13 and 2e-10 m/s at 1e6 N/m, 1e10 N/m and near-rigid.
    assert max(slip) <= (1e-12 if stiffness == 1e10 else 1e-9)


def test_a_spatula_between_bubbles_does_not_drift() -> None:
    scene = stiction.load_scene(find_scene_file("spatula"))
    sim = scene.make_simulator("lagged", friction_law="elastic")
    data = scene.make_data()
    mujoco.mj_resetDataKeyframe(scene.model, data, 0)
    data.ctrl[:] = 16
    places = []
    for _ in range(3):  # it swings to rest on the soft pads in the first minute
        sim.step(data, 1500)
        mujoco.mj_kinematics(scene.model, data)
        places.append(data.body("spatula").xpos - data.body("gripper").xpos)
    for before, after in itertools.pairwise(places):
        assert np.linalg.norm(after - before) <= 3e-7  # [m] in 60 s


def test_settled_clutter_takes_no_more_iterations_than_regularized_friction() -> None:
    rng = np.random.default_rng(3)
    bodies = "".join(
        f"<body pos='{rng.uniform(-0.1, 0.1)} {rng.uniform(-0.1, 0.1)} {0.1 + 0.12 * i}'>"
        f"<freejoint/><geom type='box' size='0.05 0.04 0.03' mass='0.3' friction='0.6'/></body>"
        for i in range(8)
    )
    model = mujoco.MjModel.from_xml_string(
        f"<mujoco><option timestep='0.005'/><worldbody><geom type='plane' size='5 5 1'/>"
        f"{bodies}</worldbody></mujoco>"
    )
    mean = {}
    for name, law in (("lagged", "elastic"), ("lagged_regularized", "soft")):
        sim = stiction.Simulator(model, name, friction_law=law)
        data = mujoco.MjData(model)
        sim.step(data, 1000)
        mean[law] = np.mean([sim.step(data).statistics.iterations for _ in range(400)])
    assert mean["elastic"] <= 1.2 * mean["soft"]


def make_unequal_heap(num_bodies: int) -> mujoco.MjModel:
    """Returns bodies that nearly touch, of which every fifth is ten thousand times as dense."""
    rng = np.random.default_rng(0)
    shapes = ("box", "sphere", "capsule", "cylinder")
    bodies = ""
    for i in range(num_bodies):
        x, y = 0.08 * np.array([i % 3 - 1, i // 3 % 3 - 1]) + rng.uniform(-0.01, 0.01, 2)
        pitch, roll = rng.uniform(0, 90, 2)
        bodies += f"""<body pos="{x} {y} {0.06 + 0.09 * (i // 9)}" euler="{pitch} {roll} 0"><freejoint/>
            <geom type="{shapes[i % 4]}" size="0.035 0.03 0.03" condim="3" friction="0.7"
                  density="{1e5 if i % 5 == 4 else 10}"/></body>"""
    walls = "".join(
        f'<geom type="plane" size="1 1 1" pos="{-0.18 * x} {-0.18 * y} 0" zaxis="{x} {y} 0"/>'
        for x, y in ((-1, 0), (1, 0), (0, -1), (0, 1))
    )
    return mujoco.MjModel.from_xml_string(
        f"""<mujoco><option timestep="1e-4"/><worldbody><geom type="plane" size="5 5 1"/>
        {walls}{bodies}</worldbody></mujoco>"""
    )


def test_springs_take_no_finer_bounds_of_friction() -> None:
    """Velocities are solved to a hundredth of the tolerance, for the springs. The bounds of light
    contacts in an island with heavy bodies cannot be resolved as well, and would take hundreds of rounds.
    """
    model = make_unequal_heap(90)
    data = mujoco.MjData(model)
    simulator = stiction.Simulator(model, contact_model="coulomb", friction_law="elastic")
    iterations = []
    for _ in range(100):
        report = simulator.step(data)
        iterations.append(report.statistics.iterations)
        assert report.certificate.coupling_error < 1e-3
    assert np.mean(iterations) < 100  # 50; with finer bounds 168
