"""Tests that a Recording reads what a Recorder wrote."""

from __future__ import annotations

import copy
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import mcap.reader
import mujoco
import numpy as np
import pytest

import stiction

INTEGRATION = int(mujoco.mjtState.mjSTATE_INTEGRATION)


def make_arm(scenes) -> tuple[mujoco.MjModel, mujoco.MjData, stiction.Simulator]:
    model = mujoco.MjModel.from_xml_string(scenes["activation"])
    return model, mujoco.MjData(model), stiction.Simulator(model, "lagged")


def get_state(model: mujoco.MjModel, data: mujoco.MjData) -> np.ndarray:
    state = np.zeros(mujoco.mj_stateSize(model, INTEGRATION))
    mujoco.mj_getState(model, data, state, INTEGRATION)
    return state


def test_recorder_steps_as_its_simulator_does(scenes, tmp_path):
    model, data, simulator = make_arm(scenes)
    plain = mujoco.MjData(model)
    with stiction.Recorder(tmp_path / "a.mcap", simulator) as recorder:
        for _ in range(20):
            data.ctrl[:] = plain.ctrl[:] = 0.5
            report = recorder.step(data, nstep=3)
            simulator.step(plain, 3)
    assert report.num_steps == 1
    assert recorder.num_steps == 60
    assert np.array_equal(get_state(model, data), get_state(model, plain))


def test_arrays_are_those_of_the_simulation(scenes, tmp_path):
    model, data, simulator = make_arm(scenes)
    before, states, controls = [], [], []
    with stiction.Recorder(tmp_path / "a.mcap", simulator) as recorder:
        for i in range(25):
            data.ctrl[:] = [0.01 * i, -0.02 * i, 0.5]
            before.append(get_state(model, data))
            recorder.step(data)
            states.append(get_state(model, data))
            controls.append(data.ctrl.copy())

    recording = stiction.Recording(tmp_path / "a.mcap")
    assert len(recording) == 25
    assert np.array_equal(recording.states, states)
    assert np.array_equal(recording.controls, controls)
    assert np.allclose(recording.times, 0.002 * np.arange(1, 26), rtol=1e-14)
    assert np.array_equal(recording.state_at(0), before[0])
    assert np.array_equal(recording.state_at(25), states[24])
    assert recording.damage is None
    assert [step.index for step in recording] == list(range(1, 26))
    assert all(step.is_intact for step in recording)


@pytest.mark.parametrize("scene", ["pile", "activation", "mocap", "delays"])
def test_layout_names_the_components_of_mujoco_s_state(record_run, scene):
    recording = record_run(scene, num_steps=3)
    model = recording.model
    state = recording.states[-1]
    data = recording.make_data(3)
    for name, field in {
        "qpos": data.qpos,
        "qvel": data.qvel,
        "act": data.act,
        "history": data.history,
        "plastic": data.plastic,
        "ctrl": data.ctrl,
        "xfrc_applied": data.xfrc_applied.ravel(),
        "eq_active": data.eq_active,
        "mocap_quat": data.mocap_quat.ravel(),
        "userdata": data.userdata,
        "warmstart": data.qacc_warmstart,
    }.items():
        assert np.array_equal(state[recording.layout[name]], field), name
    assert max(part.stop for part in recording.layout.values()) == mujoco.mj_stateSize(
        model, INTEGRATION
    )


def test_step_holds_report_and_contacts(record_run):
    steps = list(record_run("pile", num_steps=80))
    last = steps[-1]
    assert last.report["status"] == "ok"
    assert last.report["num_contacts"] == len(last.contacts) > 0
    assert last.report["time"] == last.time
    assert 0 <= last.report["velocity_bound"] < 1e-3
    assert np.allclose(np.linalg.norm(last.contacts["normal"], axis=1), 1, atol=1e-6)
    # The impulses of the floor carry the weights of the bodies.
    assert np.abs(last.contacts["impulse"]).max() > 1e-3


def test_options_make_an_equal_simulator(record_run):
    recording = record_run("pile", "sap", 5, time_step=1e-3, tolerance=1e-7, num_threads=2)
    simulator = recording.make_simulator()
    assert simulator.contact_model == "sap"
    assert simulator.options == recording.options
    assert recording.options["tolerance"] == 1e-7
    assert recording.make_simulator(num_threads=1).options["num_threads"] == 1


def test_scene_is_embedded_with_the_text_of_its_files(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "ball.xml").write_text(
        "<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>"
    )
    scene = tmp_path / "main.xml"
    scene.write_text("<mujoco><!-- ours --><include file='parts/ball.xml'/></mujoco>")
    model = mujoco.MjModel.from_xml_path(str(scene))
    simulator = stiction.Simulator(model, "lagged")
    path = tmp_path / "a.mcap"
    with stiction.Recorder(path, simulator, scene=scene, notes={"who": "µ"}) as recorder:
        recorder.step(mujoco.MjData(model))

    recording = stiction.Recording(path)
    assert "<!-- ours -->" in recording.scene_files["main.xml"]
    assert "size='.1'" in recording.scene_files["parts/ball.xml"]
    assert recording.notes == {"who": "µ"}
    assert recording.metadata["mujoco_version"] == mujoco.__version__
    assert recording.metadata["stiction_version"] == stiction.__version__
    assert recording.model.nv == 6


def test_a_start_state_is_recorded_only_if_it_was_set_by_hand(scenes, tmp_path):
    model, data, simulator = make_arm(scenes)
    with stiction.Recorder(tmp_path / "a.mcap", simulator) as recorder:
        recorder.step(data, 5)
        data.ctrl[:] = 0.3  # new inputs do not make a new state
        recorder.step(data, 5)
        data.qpos[0] = 0.4
        recorder.step(data, 5)
        other = copy.copy(data)  # another MjData in the same state does not, either
        recorder.step(other, 5)
        mujoco.mj_resetData(model, other)
        recorder.step(other, 5)

    steps = list(stiction.Recording(tmp_path / "a.mcap"))
    assert [s.index for s in steps if s.start is not None] == [1, 11, 21]
    assert steps[10].start[1] == 0.4  # qpos[0] after time
    assert steps[20].start[0] == 0


def test_a_failed_step_is_recorded_and_the_recording_continues(scenes, tmp_path):
    _, data, simulator = make_arm(scenes)
    with stiction.Recorder(tmp_path / "a.mcap", simulator) as recorder:
        recorder.step(data, 4)
        data.ctrl[1] = np.nan
        with pytest.raises(stiction.StepError, match=r"non_finite_input: ctrl\[1\] is nan"):
            recorder.step(data)
        data.ctrl[1] = 0
        recorder.step(data, 4)

    recording = stiction.Recording(tmp_path / "a.mcap")
    assert len(recording) == 8
    (failure,) = recording.failures
    assert failure.index == 5
    assert failure.report["status"] == "non_finite_input"
    assert np.isnan(failure.state[recording.layout["ctrl"]][1])
    assert list(recording)[4].start is None  # the failed step left the state as it was
    assert all(step.find_difference() is None for step in stiction.Replay(recording))


def test_a_call_of_several_steps_ends_at_a_failed_step(scenes, tmp_path):
    model, data, _ = make_arm(scenes)
    simulator = stiction.Simulator(model, "lagged", on_failure="stop")
    data.ctrl[0] = np.inf
    with stiction.Recorder(tmp_path / "a.mcap", simulator) as recorder:
        report = recorder.step(data, 10)
    assert report.status == "non_finite_input"
    recording = stiction.Recording(tmp_path / "a.mcap")
    assert len(recording) == 0
    assert len(recording.failures) == 1
    assert recording.controls.shape == (0, 3)


def test_exception_in_the_loop_leaves_a_whole_recording(scenes, tmp_path):
    _, data, simulator = make_arm(scenes)

    def loop() -> None:
        with stiction.Recorder(tmp_path / "a.mcap", simulator) as recorder:
            recorder.step(data, 7)
            raise RuntimeError("user's")

    with pytest.raises(RuntimeError, match="user's"):
        loop()
    recording = stiction.Recording(tmp_path / "a.mcap")
    assert (len(recording), recording.damage) == (7, None)


def test_a_changed_model_gives_a_warning(scenes, tmp_path):
    model, data, simulator = make_arm(scenes)
    recorder = stiction.Recorder(tmp_path / "a.mcap", simulator)
    recorder.step(data)
    model.body_mass[1] *= 2
    with pytest.warns(stiction.StictionWarning, match="values of the model changed"):
        recorder.close()
    recorder.close()  # a second call gives no warning


def test_equal_runs_give_equal_files(scenes, tmp_path):
    for name in ("a.mcap", "b.mcap"):
        _, data, simulator = make_arm(scenes)
        with stiction.Recorder(tmp_path / name, simulator) as recorder:
            recorder.step(data, 50)
    assert (tmp_path / "a.mcap").read_bytes() == (tmp_path / "b.mcap").read_bytes()


def test_other_readers_can_use_the_schemas(record_run):
    """Reads a recording with only the mcap package and NumPy, as docs/recordings.md describes."""
    recording = record_run("mocap", num_steps=5)
    with recording.path.open("rb") as file:
        reader = mcap.reader.make_reader(file, validate_crcs=True)
        for schema, channel, message in reader.iter_messages(log_time_order=False):
            if schema.encoding == "jsonschema":
                assert set(json.loads(schema.data)["properties"]) >= set(json.loads(message.data))
                continue
            fields = [(name, kind, tuple(shape)) for name, kind, shape in json.loads(schema.data)]
            records = np.frombuffer(message.data, np.dtype(fields))
            if channel.topic == "/step":
                expected = recording.states[message.sequence - 1]
                assert np.array_equal(records[0]["qpos"], expected[recording.layout["qpos"]])
            elif channel.topic == "/contacts":
                assert len(records) > 0
        assert next(reader.iter_metadata()).name == "stiction"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((None,), "data: is None, not a mujoco.MjData"),
        (("other",), "data: belongs to another model"),
        (("data", 0), "nstep: is 0, must be in 1.."),
        (("data", 1.5), "nstep: is 1.5, must be"),
    ],
)
def test_wrong_arguments_of_a_step_are_errors(scenes, tmp_path, arguments, message):
    _, data, simulator = make_arm(scenes)
    other = mujoco.MjData(mujoco.MjModel.from_xml_string(scenes["pile"]))
    values = [{"data": data, "other": other}.get(a, a) for a in arguments]
    with (
        stiction.Recorder(tmp_path / "a.mcap", simulator) as recorder,
        pytest.raises(stiction.Error, match=message),
    ):
        recorder.step(*values)
    assert len(stiction.Recording(tmp_path / "a.mcap")) == 0


@pytest.mark.parametrize("use", ["step", "set_state"])
def test_memory_that_others_change_is_recorded(scenes, tmp_path, use):
    """Also where the recorded data goes on from its own last step."""
    model = mujoco.MjModel.from_xml_string(scenes["pile"])
    simulator = stiction.Simulator(model, friction_law="elastic")
    data, other = mujoco.MjData(model), mujoco.MjData(model)
    other.qpos[2] += 0.01
    memory = simulator.get_state()
    with stiction.Recorder(tmp_path / "a.mcap", simulator) as recorder:
        for _ in range(50):
            recorder.step(data, 4)
            if use == "step":
                simulator.step(other)
            else:
                simulator.set_state(memory)
    steps = list(stiction.Replay(stiction.Recording(tmp_path / "a.mcap")))
    assert [step.find_difference() for step in steps] == 200 * [None]


def test_threads_that_share_a_recorder_wait_for_each_other(scenes, tmp_path):
    """Also a step of the simulator itself must not come between what is recorded and the step."""
    model = mujoco.MjModel.from_xml_string(scenes["pile"])
    simulator = stiction.Simulator(model)
    path = tmp_path / "threads.mcap"

    def run(step, height):
        data = mujoco.MjData(model)
        data.qpos[2] += height
        for _ in range(100):
            step(data)

    with stiction.Recorder(path, simulator) as recorder, ThreadPoolExecutor(3) as pool:
        steps = (recorder.step, recorder.step, simulator.step)
        for done in [pool.submit(run, step, 0.01 * i) for i, step in enumerate(steps)]:
            done.result()
    replayed = list(stiction.Replay(stiction.Recording(path)))
    assert len(replayed) == 200
    assert [step.find_difference() for step in replayed] == 200 * [None]


def test_a_callback_within_a_step_cannot_record_another(scenes, tmp_path):
    model, data, simulator = make_arm(scenes)
    inner = mujoco.MjData(model)
    recorder = stiction.Recorder(tmp_path / "run.mcap", simulator)
    mujoco.set_mjcb_control(lambda *_: recorder.step(inner))
    try:
        with pytest.raises(
            stiction.Error, match="Recorder: was called by a callback within a step"
        ):
            recorder.step(data)
    finally:
        mujoco.set_mjcb_control(None)
    recorder.step(data)
    recorder.close()
    assert [s.find_difference() for s in stiction.Replay(stiction.Recording(recorder.path))] == [
        None
    ]


def test_two_recorders_do_not_share_a_file(scenes, tmp_path):
    _, data, simulator = make_arm(scenes)
    path = tmp_path / "run.mcap"
    with stiction.Recorder(path, simulator) as first:
        first.step(data)
        alias = tmp_path / "alias.mcap"
        alias.symlink_to(path)
        for name in (path, alias):
            with pytest.raises(
                stiction.Error, match="is written by another Recorder; close that one"
            ):
                stiction.Recorder(name, simulator)
    assert len(stiction.Recording(path)) == 1
    stiction.Recorder(path, simulator).close()


def test_path_that_cannot_be_written_is_an_error(scenes, tmp_path):
    _, _, simulator = make_arm(scenes)
    with pytest.raises(stiction.Error, match=r"no/a\.mcap: cannot be written: No such file"):
        stiction.Recorder(tmp_path / "no" / "a.mcap", simulator)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_full_disk_is_an_error(scenes):
    _, data, simulator = make_arm(scenes)

    def fill() -> None:
        with stiction.Recorder("/dev/full", simulator) as recorder:
            recorder.step(data, 2000)

    with pytest.raises(stiction.Error, match="/dev/full: cannot be written: No space left"):
        fill()


def test_a_closed_recorder_refuses_steps(scenes, tmp_path):
    _, data, simulator = make_arm(scenes)
    recorder = stiction.Recorder(tmp_path / "a.mcap", simulator)
    recorder.close()
    with pytest.raises(stiction.Error, match="the recording is closed"):
        recorder.step(data)


def test_unknown_step_is_an_error(record_run):
    recording = record_run("pile", num_steps=3)
    with pytest.raises(stiction.Error, match="has no step 4; it has 3 steps"):
        recording.make_data(4)
