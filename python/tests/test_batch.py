"""stiction.Batch and stiction.rollout: bits of a loop, MuJoCo's own tests, and what users get wrong."""

from __future__ import annotations

import ctypes
import functools
import json
import pickle
import re
import subprocess
import sys
import threading
import unittest
import warnings
from pathlib import Path
from typing import Any

import mujoco
import mujoco.batch
import numpy as np
import pytest

import stiction
import stiction.rollouts
import stiction.setup.properties
from stiction.batch import ARRAYS, BatchError, SimulationError

XML = """<mujoco>
  <option timestep="0.002"/>
  <worldbody>
    <geom name="floor" type="plane" size="3 3 .1"/>
    <body name="box" pos="0 0 .11"><freejoint name="root"/>
      <geom name="cube" type="box" size=".1 .1 .1" mass="1"/>
    </body>
    <body name="arm" pos=".5 0 .3"><joint name="hinge" axis="0 1 0" damping=".1"/>
      <geom type="capsule" size=".03" fromto="0 0 0 .2 0 0" mass=".2"/>
    </body>
  </worldbody>
  <actuator><motor joint="hinge"/></actuator>
  <sensor><framelinvel objtype="body" objname="box"/></sensor>
  <keyframe><key qpos="0 0 .2 1 0 0 0 .3"/></keyframe>
</mujoco>"""
NSIM = 5


@pytest.fixture
def model() -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(XML)


def make_pushes(nstep: int) -> np.ndarray:
    return np.random.default_rng(1).uniform(-1, 1, (nstep, NSIM, 1))


@pytest.mark.parametrize("contact_model", stiction.contact_models())
@pytest.mark.parametrize("nthread", [1, 3])
def test_gives_the_bits_of_a_loop(model, contact_model, nthread):
    pushes = make_pushes(40)
    batch = stiction.Batch(model, NSIM, nthread, contact_model=contact_model)
    qvel, ctrl, contacts = batch.bind("qvel"), batch.bind("ctrl"), batch.bind("contacts")
    bound, force = batch.bind("error_bound"), batch.bind("qfrc_constraint")
    qvel[:, 0] = np.linspace(0, 1, NSIM)
    assert np.isnan(bound).all()
    simulators = [stiction.Simulator(model, contact_model) for _ in range(NSIM)]
    datas = [mujoco.MjData(model) for _ in range(NSIM)]
    for data, v in zip(datas, qvel[:, 0], strict=True):
        data.qvel[0] = v
    for push in pushes:
        ctrl[:] = push
        batch.step()
        for i, (simulator, data) in enumerate(zip(simulators, datas, strict=True)):
            data.ctrl[:] = push[i]
            report = simulator.step(data)
            assert (qvel[i] == data.qvel).all()
            assert (force[i] == data.qfrc_constraint).all()
            assert bound[i] == report.error_bound
            assert batch.iterations[i] == report.statistics.iterations
            first, end = contacts.offsets[i : i + 2]
            assert (contacts.impulse[first:end] == report.contacts.impulse).all()
    assert len(contacts) > 0
    assert (batch.step_status == 0).all()


def make_mujoco_like(**options: Any) -> type[stiction.Batch]:
    """Returns a Batch with the signature of MuJoCo's, which steps as mj_step does."""

    class Like(stiction.Batch):
        def __init__(self, model: Any, nsim: int, nthread: int = 0, persistent: bool = False):
            super().__init__(model, nsim, nthread, persistent, contact_model="mujoco", **options)

    return Like


def run_tests_of_mujoco(module: str, different: dict[str, str]) -> None:
    """Runs a module of MuJoCo's tests, and expects that all but those in `different` pass."""
    pytest.importorskip("absl.testing")
    tests = unittest.defaultTestLoader.loadTestsFromName(f"mujoco.{module}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = tests.run(unittest.TestResult())
    assert result.testsRun > 50
    failed = {
        str(test).split()[0].split(".")[-1]: text for test, text in result.errors + result.failures
    }
    unexpected = {name: text for name, text in failed.items() if name not in different}
    assert not unexpected, "\n".join(f"{name}:\n{text}" for name, text in unexpected.items())
    assert set(failed) == set(different), "a test that should fail passed; remove it from the list"


def test_passes_the_tests_of_mujocos_batch(monkeypatch):
    monkeypatch.setattr(mujoco.batch, "Batch", make_mujoco_like())
    run_tests_of_mujoco(
        "batch_test",
        {
            "test_warning_counters_and_rollout_stop": "a step from a bad state fails, without a reset",
            "test_error_messages": "one message of the private binding is our own",
            "test_rollout_checks_buffers": "types of records are checked by rollout(), not privately",
        },
    )


@pytest.mark.slow
def test_passes_the_tests_of_mujocos_rollout(monkeypatch):
    options: Any = {"contact_model": "mujoco", "on_failure": "stop"}

    class Like(stiction.Rollout):
        def __init__(self, *, nthread: int | None = None):
            super().__init__(nthread=nthread, **options)

    monkeypatch.setattr(mujoco.rollout, "Rollout", Like)
    monkeypatch.setattr(mujoco.rollout, "rollout", functools.partial(stiction.rollout, **options))
    run_tests_of_mujoco(
        "rollout_test",
        {
            "test_data_sizes": "the messages are our own",
            "test_nstep_zero_and_negative": "the message is our own",
            "test_chunk_size_validation": "the message is our own",
            "test_threadpool_rejected": "data is not used, so its thread pool does not matter",
            "test_intercept_mj_errors": "with on_failure='stop' an error does not raise",
        },
    )


def test_rollout_is_a_loop_of_steps(model):
    control = make_pushes(15).transpose(1, 0, 2)
    physics = mujoco.mjtState.mjSTATE_FULLPHYSICS
    start = np.zeros((NSIM, mujoco.mj_stateSize(model, physics)))
    data = mujoco.MjData(model)
    for i in range(NSIM):
        data.qvel[1] = 0.1 * i
        mujoco.mj_getState(model, data, start[i], physics)
    threads = [mujoco.MjData(model) for _ in range(3)]
    for persistent_pool in (False, True, True):
        state, sensordata = stiction.rollout(
            model, threads, start, control, contact_model="lagged", persistent_pool=persistent_pool
        )
        assert state.shape == (NSIM, 15, start.shape[1])
        assert sensordata.shape == (NSIM, 15, 3)
        for i in range(NSIM):
            simulator = stiction.Simulator(model, "lagged")
            data = mujoco.MjData(model)
            mujoco.mj_setState(model, data, start[i], physics)
            end = np.empty(start.shape[1])
            for k in range(15):
                data.ctrl[:] = control[i, k]
                simulator.step(data)
                mujoco.mj_getState(model, data, end, physics)
                assert (state[i, k] == end).all()
                assert (sensordata[i, k] == data.sensordata).all()


def slide(model: mujoco.MjModel, properties: Any, persistent_pool: bool) -> float:
    """Returns how far the box slides that is thrown along the floor."""
    physics = mujoco.mjtState.mjSTATE_FULLPHYSICS
    start = np.zeros((1, mujoco.mj_stateSize(model, physics)))
    data = mujoco.MjData(model)
    data.qvel[0] = 1
    mujoco.mj_getState(model, data, start[0], physics)
    state, _ = stiction.rollout(
        model, data, start, nstep=100, properties=properties, persistent_pool=persistent_pool
    )
    return float(state[0, -1, 1])


@pytest.mark.parametrize("kind", ["dict", "file", "object"])
def test_a_kept_pool_has_the_properties_of_its_call(model, kind, tmp_path):
    path = tmp_path / "p.contact.yaml"
    distances: dict[float, float] = {}
    for persistent_pool in (False, True):
        for friction in (1.0, 0.05, 1.0):
            content = {"materials": {"s": {"friction": friction}}, "geoms": {"*": "s"}}
            properties: Any = content
            if kind == "object":
                properties = stiction.setup.properties.make_properties(content)
            elif kind == "file":
                path.write_text(json.dumps(content))
                properties = path
            distance = slide(model, properties, persistent_pool)
            assert distances.setdefault(friction, distance) == distance
    assert distances[0.05] > 1.2 * distances[1.0]


def test_kept_pools_follow_defaults_and_are_few(model):
    with stiction.set_default(contact_model="mujoco"):
        first = slide(model, None, True)
    with stiction.set_default(contact_model="coulomb"):
        assert slide(model, None, True) != first
    for tolerance in np.linspace(1e-6, 1e-5, 9):
        with stiction.set_default(tolerance=tolerance):
            slide(model, None, True)
    assert 1 <= len(stiction.rollouts._pools._pools) <= 4
    stiction.rollouts.shutdown_persistent_pool()
    assert len(stiction.rollouts._pools._pools) == 0
    slide(model, None, True)


def test_a_rollout_of_no_simulations_is_empty(model):
    size = mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    state, sensordata = stiction.rollout(model, mujoco.MjData(model), np.zeros((0, size)), nstep=3)
    assert state.shape == (0, 3, size)
    assert sensordata.shape == (0, 3, 3)


# A model that the caller changes between calls counts with its new values.
def test_rollout_follows_the_model(model):
    data = mujoco.MjData(model)
    start = np.zeros((1, mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    mujoco.mj_getState(model, data, start[0], mujoco.mjtState.mjSTATE_FULLPHYSICS)
    with stiction.Rollout(contact_model="lagged") as pool:
        before, _ = pool.rollout(model, data, start, nstep=20)
        model.opt.gravity[2] = -1
        after, _ = pool.rollout(model, data, start, nstep=20)
    assert (before != after).any()
    again, _ = stiction.rollout(model, data, start, nstep=20, contact_model="lagged")
    assert (after == again).all()


def test_failed_simulations_are_named_and_restored(model):
    batch = stiction.Batch(model, NSIM, 2)
    batch.step(nstep=3)
    before = batch.state.copy()
    batch.ctrl[[1, 3]] = np.nan
    with pytest.raises(
        SimulationError, match=r"2 of 5 simulations \(1, 3\).*ctrl\[0\] is nan"
    ) as e:
        batch.step()
    assert list(e.value.ids) == [1, 3]
    assert isinstance(e.value, mujoco.batch.SimulationError)
    assert isinstance(e.value, stiction.Error)
    again = pickle.loads(pickle.dumps(e.value))
    assert str(again) == str(e.value) and list(again.ids) == [1, 3]
    assert list(np.flatnonzero(batch.status)) == [1, 3]
    assert "ctrl[0] is nan" in batch.error(1) and batch.error(0) == ""
    assert (batch.qvel[[1, 3]] == before[[1, 3], batch._component(4)[0]][:, None]).any()
    assert (batch.time == [0.008, 0.006, 0.008, 0.006, 0.008]).all()
    batch.ctrl = 0
    batch.step([1, 3])
    assert np.allclose(batch.time, 0.008, atol=1e-15)


def test_the_documented_shapes_are_those_of_the_arrays(model):
    batch = stiction.Batch(model, 3, 1)
    page = (Path(__file__).parents[2] / "docs" / "batch.md").read_text()
    for name in ARRAYS:
        shape = str(batch.bind(name).shape).replace("3,", "nsim,", 1)
        row = re.search(rf"^\| `{name}` \|.*", page, re.MULTILINE)[0]
        entry = re.search(rf"- `{name}`: (.|\n)*?(?=- `|\n\n)", stiction.Batch.__doc__)[0]
        for text in (row, entry):
            assert re.findall(r"\(nsim,.*?\)", text) == [shape], (name, text)


def test_stop_reports_failures_without_an_exception(model):
    batch = stiction.Batch(model, 2, 1, on_failure="stop")
    batch.ctrl[1] = np.inf
    batch.step()
    assert list(batch.status) == [0, 1]
    assert batch.step_status[1] != 0
    assert batch.error_bound[0] < 1 and batch.error_bound[1] == np.inf
    simulator, data = stiction.Simulator(model, on_failure="stop"), mujoco.MjData(model)
    data.qpos[0] = np.nan
    report = simulator.step(data)
    assert not report.certificate.ok and report.error_bound == np.inf


def test_warnings_are_given_once_and_counted():
    ball = """<mujoco><worldbody><geom type="plane" size="1 1 .1"/>
      <body pos="0 0 .15"><freejoint/><geom size=".1"/></body></worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(ball)
    # This contact model does not see a gap that closes within the step.
    batch = stiction.Batch(model, 3, 1, contact_model="anitescu_potra")
    batch.qvel[1, 2] = -60
    with pytest.warns(stiction.StepWarning, match="simulation 1"):
        batch.step(nstep=30)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        batch.step()
    assert batch.step_warnings.shape == (3, 13)
    assert batch.step_warnings[1].sum() > 0 and batch.step_warnings[0].sum() == 0


def test_reset_and_keyframes(model):
    batch = stiction.Batch(model, 3, 1)
    batch.step(nstep=10)
    batch.reset([1], keyframe=0)
    assert batch.qpos[1, 2] == 0.2 and batch.time[1] == 0 and batch.time[0] > 0
    fresh = stiction.Batch(model, 1, 1)
    fresh.reset(keyframe=0)
    batch.step([1], nstep=50)
    fresh.step(nstep=50)
    assert (batch.qpos[1] == fresh.qpos[0]).all()


@pytest.mark.parametrize("contact_model", ["mujoco", "coulomb"])
def test_forces_on_bodies_are_computed_if_they_are_bound(model, contact_model):
    batch = stiction.Batch(model, 2, 1, contact_model=contact_model)
    forces = batch.bind("cfrc_ext")
    batch.step(nstep=99)
    assert (forces[:, 1, 5] > 0).all()  # the floor carries the box
    again = batch.rollout(1, record=["cfrc_ext"])["cfrc_ext"]
    data = mujoco.MjData(model)
    stiction.Simulator(model, contact_model).step(data, 100)
    mujoco.mj_rnePostConstraint(model, data)
    assert (again[:, 0] == data.cfrc_ext).all()
    assert (forces == data.cfrc_ext).all()


def test_patches_of_all_simulations(model):
    soft = {
        "materials": {
            "soft": {"hydroelastic_modulus": 1e5},
            "ground": {"hydroelastic_modulus": 1e6, "slab_thickness": 0.05},
        },
        "geoms": {"cube": "soft", "floor": "ground"},
    }
    batch = stiction.Batch(model, 2, 1, properties=soft)
    patches = batch.bind("patches")
    batch.step(nstep=40)
    simulator = stiction.Simulator(model, properties=soft)
    report = simulator.step(mujoco.MjData(model), 40)
    n = len(report.patches)
    assert n > 0
    assert list(patches.offsets) == [0, n, 2 * n]
    assert (patches.force[n:] == report.patches.force).all()
    kept = patches.force
    value = kept.copy()
    batch.step()
    assert (kept == value).all()  # an array that is kept does not change
    assert patches.force is not kept


def test_named_views_and_expanded_fields(model):
    batch = stiction.Batch(model, 3, 1)
    batch.geom("cube").friction = [[1, 0, 0], [0.5, 0, 0], [0.01, 0, 0]]
    batch.geom("floor").friction = [[0.01, 0, 0]] * 3
    batch.joint("root").qvel[:, 0] = 1
    batch.step(nstep=200)
    speed = batch.joint("root").qvel[:, 0]
    assert speed[0] < speed[1] < speed[2]
    assert batch.get_model(2).geom("cube").friction[0] == 0.01


def test_arguments_are_checked(model):
    with pytest.raises(BatchError, match=r"nsim: is 0, must be"):
        stiction.Batch(model, 0)
    with pytest.raises(BatchError, match=r"num_threads: is 2, but a batch has nthread"):
        stiction.Batch(model, 2, num_threads=2)
    with pytest.raises(BatchError, match="there is no 'coulom'"):
        stiction.Batch(model, 2, contact_model="coulom")
    batch = stiction.Batch(model, 2, 1)
    for name, hint in (
        ("error_bounds", r"did you mean 'error_bound'"),
        ("contact", "contacts"),
        ("qpso", r"did you mean 'qpos'"),
        ("foo", "nor one of error_bound"),
        ("geom_friction", "use expand"),
    ):
        with pytest.raises(BatchError, match=hint) as e:
            batch.bind(name)
        assert str(e.value).count("did you mean") <= 1 and len(str(e.value)) < 200
    for name in ("error_bound", "iterations", "contacts", "patches"):
        with pytest.raises(BatchError, match=f"{name}: is what the steps report"):
            setattr(batch, name, 3)
    with pytest.raises(stiction.Error, match=r"stage: is 7, must be mjSTAGE_NONE"):
        batch.step(stage=7)
    with pytest.raises(stiction.Error, match=r"nstep: is 0, must be"):
        batch.step(nstep=0)
    with pytest.raises(stiction.Error, match=r"nstep: is 0, must be"):
        batch.rollout(0)
    with pytest.raises(BatchError, match=r"models: is an int, must be"):
        batch.set_models(3)
    state = np.zeros((2, mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    with pytest.raises(BatchError, match=r"data: is None, must be"):
        stiction.rollout(model, None, state)
    with pytest.raises(ValueError, match="sorted and unique"):
        batch.step([1, 0])
    with pytest.raises(BatchError, match=r"models: has 1 models"):
        batch.set_models([model])
    with pytest.raises(BatchError, match="record: has 8 numbers or bytes, must have 48"):
        batch._b.rollout(None, 3, None, 0, [("time", 0, np.zeros(1))])


class _Callback:
    def __call__(self, m: mujoco.MjModel, d: mujoco.MjData) -> None:
        pass

    method = __call__


@pytest.mark.parametrize(
    "callback",
    [
        lambda m, d: None,
        functools.partial(lambda x, m, d: None, 1),
        _Callback(),
        _Callback().method,
    ],
)
def test_python_callbacks_are_refused(model, callback):
    batch = stiction.Batch(model, 2, 1)
    mujoco.set_mjcb_passive(callback)
    try:
        with pytest.raises(BatchError, match="mjcb_passive: is a Python function") as e:
            batch.step()
        assert isinstance(e.value, ValueError)
    finally:
        mujoco.set_mjcb_passive(None)
    batch.step()


def test_callbacks_in_c_are_called(model):
    @ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
    def count(m, d):
        calls.append(1)

    calls: list[int] = []
    batch = stiction.Batch(model, 2, 1)
    mujoco.set_mjcb_passive(count)
    try:
        batch.step(nstep=3)
    finally:
        mujoco.set_mjcb_passive(None)
    assert len(calls) >= 6


FORK = """
import os, sys, mujoco, stiction
batch = stiction.Batch(mujoco.MjModel.from_xml_string(sys.argv[1]), 4, 2)
batch.step()
child = os.fork()
if child == 0:
    if sys.argv[2] == "delete":
        del batch
    sys.exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
batch.step()
"""


@pytest.mark.parametrize("how", ["delete", "exit"])
def test_a_forked_process_does_not_wait_for_threads_that_it_lacks(how):
    subprocess.run([sys.executable, "-c", FORK, XML, how], check=True, timeout=100)


def test_a_reset_without_a_stage_leaves_no_results_of_the_old_episode(model):
    theirs = mujoco.batch.Batch(model, 2, 1)
    ours = stiction.Batch(model, 2, 1)
    fields = ["xpos", "sensordata", "ncon", "qfrc_constraint"]
    contacts = ours.bind("contacts")
    for batch in (theirs, ours):
        for field in fields:
            batch.bind(field)
        batch.step(nstep=100)
        assert (batch.bind("ncon") > 0).all()
        batch.reset([1], stage=mujoco.mjtStage.mjSTAGE_NONE)
    for field in fields:
        assert (ours.bind(field)[1] == theirs.bind(field)[1]).all(), field
        assert (ours.bind(field)[1] == 0).all(), field
    assert contacts.offsets[1] > 0 and contacts.offsets[2] == contacts.offsets[1]
    assert np.isnan(ours.error_bound[1]) and ours.error_bound[0] < 1


def test_several_python_threads_may_call(model):
    batch = stiction.Batch(model, 4, 2)
    threads = [threading.Thread(target=batch.step, kwargs={"nstep": 20}) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert np.allclose(batch.time, 4 * 20 * 0.002)


def test_options_are_those_of_a_simulator(model):
    with stiction.set_default(contact_model="sap"):
        batch = stiction.Batch(model, 1, 1, tolerance=1e-8)
    assert batch.options["contact_model"] == "sap"
    assert batch.options["tolerance"] == 1e-8
    with pytest.warns(stiction.IgnoredSettingWarning):
        stiction.Batch(model, 1, 1, contact_model="no_slip", stiction_tolerance=1e-3)
