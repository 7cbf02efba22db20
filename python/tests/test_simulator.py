"""Simulator replaces mj_step on the user's own model and data."""

from __future__ import annotations

import copy
import gc
import pickle
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import mujoco
import numpy as np
import pytest

import stiction
from stiction.inputs.names import find_models

OURS = find_models(lambda model: not (model.is_rigid or model.is_mj_step))

PILE = """
<mujoco>
  <worldbody>
    <geom type="plane" size="5 5 .1"/>
    <body pos="0 0 .12"><freejoint/><geom type="box" size=".1 .1 .1" friction=".7"/></body>
    <body pos=".05 .02 .34"><freejoint/><geom type="box" size=".1 .08 .1"/></body>
    <body pos="-.3 .1 .12"><freejoint/><geom type="capsule" size=".05 .1"/></body>
  </worldbody>
</mujoco>
"""

BALL = """
<mujoco>
  <worldbody>
    <geom type="plane" size="5 5 .1"/>
    <body pos="0 0 .105"><freejoint/><geom size=".1"/></body>
  </worldbody>
</mujoco>
"""

ARM = """
<mujoco>
  <option timestep=".002"/>
  <worldbody>
    <body pos="0 0 2"><joint name="a" axis="0 1 0"/><geom type="capsule" size=".04"
        fromto="0 0 0 .4 0 0"/>
      <body pos=".4 0 0"><joint name="b" type="ball"/><geom size=".1" pos=".2 0 0"/>
        <site name="tip" pos=".2 0 0"/></body></body>
    <body pos="0 3 2"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
  </worldbody>
  <actuator><motor joint="a" ctrlrange="-1 1"/></actuator>
  <sensor><framepos objtype="site" objname="tip"/><jointvel joint="a"/></sensor>
</mujoco>
"""


def make(xml: str) -> tuple[mujoco.MjModel, mujoco.MjData]:
    model = mujoco.MjModel.from_xml_string(xml)
    return model, mujoco.MjData(model)


def state_of(model: mujoco.MjModel, data: mujoco.MjData) -> np.ndarray:
    state = np.empty(mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_INTEGRATION))
    mujoco.mj_getState(model, data, state, mujoco.mjtState.mjSTATE_INTEGRATION)
    return state


def test_model_mujoco_is_mj_step_bit_for_bit():
    model, data = make(PILE)
    twin = mujoco.MjData(model)
    simulator = stiction.Simulator(model, "mujoco")
    for _ in range(200):
        simulator.step(data)
        mujoco.mj_step(model, twin)
    assert data.ncon > 0
    assert state_of(model, data).tobytes() == state_of(model, twin).tobytes()


@pytest.mark.parametrize("contact_model", OURS)
def test_motion_without_contact_matches_mj_step(contact_model):
    # The model has no dampers or springs: their implicit treatment would differ from Euler's.
    model, data = make(ARM)
    twin = mujoco.MjData(model)
    simulator = stiction.Simulator(model, contact_model)
    for i in range(300):
        data.ctrl[:] = twin.ctrl[:] = np.sin(0.02 * i)
        report = simulator.step(data)
        mujoco.mj_step(model, twin)
        assert report.time == data.time == twin.time
    np.testing.assert_allclose(data.qpos, twin.qpos, rtol=0, atol=1e-10)
    np.testing.assert_allclose(data.qvel, twin.qvel, rtol=0, atol=1e-10)
    np.testing.assert_allclose(data.sensordata, twin.sensordata, rtol=0, atol=1e-9)
    np.testing.assert_allclose(data.qacc, twin.qacc, rtol=0, atol=1e-7)
    assert np.abs(data.qvel).max() > 1


@pytest.mark.parametrize("contact_model", [*OURS, "mujoco"])
def test_one_call_of_many_steps_equals_many_calls(contact_model):
    model, data = make(PILE)
    twin = mujoco.MjData(model)
    simulator = stiction.Simulator(model, contact_model)
    report = simulator.step(data, 120)
    assert report.num_steps == 120
    for _ in range(120):
        simulator.step(twin)
    assert state_of(model, data).tobytes() == state_of(model, twin).tobytes()


def test_values_in_the_model_may_change_between_steps():
    model, data = make(ARM)
    simulator = stiction.Simulator(model)
    model.opt.gravity[:] = (0, 0, 3)
    model.opt.timestep = 0.01
    simulator.step(data)
    assert data.time == 0.01
    assert data.qvel[6] == pytest.approx(0.03, rel=1e-12)


def test_a_constant_model_gives_the_same_bits():
    model, data = make(PILE)
    twin = copy.copy(data)
    checked = stiction.Simulator(model)
    constant = stiction.Simulator(model, model_is_constant=True)
    for _ in range(100):
        checked.step(data)
        constant.step(twin)
    assert state_of(model, data).tobytes() == state_of(model, twin).tobytes()


def test_numbers_of_a_constant_model_are_not_checked_but_have_an_effect():
    model, _ = make(PILE)
    made = stiction.Simulator(model, model_is_constant=True)
    assert made.model_is_constant
    for simulator in (made, copy.copy(made), pickle.loads(pickle.dumps(made))):
        own = simulator.model
        own.geom_friction[0, 0] = -1  # below the other geom's, which decides
        simulator.step(mujoco.MjData(own))
        own.geom_friction[0, 0] = 1
        own.body_mass[1] = np.nan
        with pytest.raises(stiction.StepError, match="mass is nan"):  # the step fails by it
            simulator.step(mujoco.MjData(own))
        own.body_mass[1] = 1
        own.opt.gravity[2] = 0
        falling = mujoco.MjData(own)
        simulator.step(falling)
        assert falling.qvel[2] == 0
    with pytest.raises(stiction.Error, match="model_is_constant: is 'no', must be True or False"):
        stiction.Simulator(model, model_is_constant="no")


def test_one_simulator_steps_any_data_of_its_model():
    model, first = make(PILE)
    second = mujoco.MjData(model)
    simulator = stiction.Simulator(model)
    for _ in range(50):
        simulator.step(first)
        simulator.step(second)
    assert state_of(model, first).tobytes() == state_of(model, second).tobytes()
    simulator.step(copy.copy(first))


def test_a_simulator_neither_keeps_the_last_data_nor_takes_another_object_for_them():
    class MyData(mujoco.MjData):
        pass

    model, _ = make(ARM)
    simulator = stiction.Simulator(model)
    for kind in (mujoco.MjData, MyData, mujoco.MjData):
        # Without a strong reference Python gives the next object the memory of the last one.
        data = kind(model)
        alive = weakref.ref(data)
        for _ in range(3):
            simulator.step(data)
        assert data.time == pytest.approx(0.006)
        del data
        gc.collect()
        assert alive() is None
        for other in (None, model, 3):
            with pytest.raises(stiction.Error, match=r"not a mujoco\.MjData"):
                simulator.step(other)


# Reports and their arrays.


def test_a_contact_is_listed_before_it_touches():
    model, data = make(BALL)
    simulator = stiction.Simulator(model, "lagged")
    data.qvel[2] = -2  # 4 mm a step, from 5 mm
    assert len(simulator.step(data).contacts) == 0
    contacts = simulator.step(data).contacts
    assert len(contacts) == data.ncon == 1
    assert contacts.distance[0] == pytest.approx(1e-3, abs=1e-4)
    assert contacts.normal_impulse[0] > 0
    assert data.qpos[2] == pytest.approx(0.1, abs=1e-5)
    # The simulator widens the gaps during the step only.
    assert model.geom_gap.tolist() == [0, 0]


def test_report_holds_the_contacts():
    model, data = make(PILE)
    simulator = stiction.Simulator(model, "lagged")
    simulator.step(data, 500)
    report = simulator.step(data)
    contacts = report.contacts
    n = len(contacts)
    assert n == report.statistics.num_contacts > 4
    for name in ("point", "normal", "impulse", "slip_velocity", "torque_impulse"):
        assert getattr(contacts, name).shape == (n, 3), name
        assert getattr(contacts, name).dtype == np.float64
    for name in ("distance", "normal_impulse", "normal_velocity", "slipping"):
        assert getattr(contacts, name).shape == (n,), name
    assert contacts.bodies.shape == contacts.geoms.shape == (n, 2)
    np.testing.assert_array_equal(contacts.bodies, model.geom_bodyid[contacts.geoms])
    np.testing.assert_allclose(np.linalg.norm(contacts.normal, axis=1), 1, atol=1e-12)
    # At rest the floor carries the weight of all.
    on_floor = contacts.geoms[:, 0] == 0
    up = contacts.impulse[on_floor, 2].sum() / model.opt.timestep
    assert up == pytest.approx(9.81 * model.body_mass.sum(), rel=1e-3)


def test_arrays_are_read_only():
    model, data = make(PILE)
    impulse = stiction.Simulator(model).step(data, 100).contacts.impulse
    with pytest.raises(ValueError, match="read-only"):
        impulse[0, 0] = 1


def test_a_stored_report_does_not_change():
    model, data = make(PILE)
    simulator = stiction.Simulator(model)
    kept = []
    for _ in range(30):
        report = simulator.step(data, 10)
        kept.append((report, report.time, report.contacts.impulse.copy()))
    for report, at, impulse in kept:
        assert report.time == at
        np.testing.assert_array_equal(report.contacts.impulse, impulse)


def test_an_array_keeps_its_report_alive():
    model, data = make(PILE)
    simulator = stiction.Simulator(model)
    simulator.step(data, 100)
    views, copies = [], []
    for _ in range(20):
        views.append(simulator.step(data).contacts.impulse)
        copies.append(views[-1].copy())
    for view, expected in zip(views, copies, strict=True):
        np.testing.assert_array_equal(view, expected)


def test_reports_outlive_simulator_data_and_model():
    model, data = make(PILE)
    simulator = stiction.Simulator(model)
    report = simulator.step(data, 100)
    impulse = report.contacts.impulse
    certificate, contacts = report.certificate, report.contacts
    expected = impulse.copy()
    del report, simulator, data, model
    gc.collect()
    np.testing.assert_array_equal(impulse, expected)
    np.testing.assert_array_equal(contacts.impulse, expected)
    assert certificate.ok


def test_the_simulator_keeps_its_model_alive():
    model, data = make(PILE)
    simulator = stiction.Simulator(model)
    del model
    gc.collect()
    assert simulator.step(data, 10).ok


def test_printed_report_has_the_main_numbers():
    model, data = make(PILE)
    report = stiction.Simulator(model).step(data, 100)
    assert repr(report).startswith("StepReport(status='ok', time=0.2")
    assert f"contacts={len(report.contacts)}" in repr(report)
    assert repr(report.certificate).startswith("Certificate(ok=True, error_bound=")


# Failures.


@pytest.mark.parametrize("field", ["qpos", "qvel", "ctrl", "qfrc_applied", "xfrc_applied"])
@pytest.mark.parametrize("on_failure", ["raise", "stop", "keep_best"])
def test_values_that_are_not_finite_stop_the_step_and_change_nothing(field, on_failure):
    model, data = make(ARM)
    simulator = stiction.Simulator(model, on_failure=on_failure)
    simulator.step(data, 10)
    array = getattr(data, field).reshape(-1)
    good, array[-1] = array[-1], np.nan
    before = state_of(model, data)
    kind = "non_finite_state" if field in ("qpos", "qvel") else "non_finite_input"
    if on_failure == "raise":
        with pytest.raises(stiction.StepError, match=rf"{field}\[\d+\] is -?nan") as caught:
            simulator.step(data)
        assert caught.value.code == "step_failed"
        report = caught.value.report
    else:
        report = simulator.step(data)
    assert report.status == kind
    assert not report.ok
    assert report.num_steps == 0
    assert state_of(model, data).tobytes() == before.tobytes()

    array[-1] = good
    assert simulator.step(data).ok


def impact() -> tuple[mujoco.MjModel, mujoco.MjData]:
    """A pile at rest that is struck: one Newton iteration is not enough."""
    model, data = make(PILE)
    stiction.Simulator(model).step(data, 200)
    data.qvel[2] = -1
    return model, data


def test_step_that_does_not_converge_leaves_the_state():
    model, data = impact()
    before = state_of(model, data)
    simulator = stiction.Simulator(model, max_iterations=1, tolerance=1e-12)
    message = "stopped after 1 iteration .* raise max_iterations, which allows 1 in each solve"
    with pytest.raises(stiction.StepError, match=message) as caught:
        simulator.step(data, 5)
    assert caught.value.report.status == "not_converged"
    assert state_of(model, data).tobytes() == before.tobytes()
    assert stiction.Simulator(model).step(data).ok


def test_keep_best_continues_and_reports_it():
    model, data = impact()
    simulator = stiction.Simulator(model, max_iterations=1, tolerance=1e-12, on_failure="keep_best")
    report = simulator.step(data, 3)
    assert report.num_steps == 3
    assert "not_converged" in report.status
    assert not report.certificate.ok


def test_data_of_another_model_is_refused():
    model, _ = make(PILE)
    _, other = make(ARM)
    with pytest.raises(stiction.Error, match="another model") as caught:
        stiction.Simulator(model).step(other)
    assert caught.value.code == "wrong_shape"


def test_other_objects_in_place_of_model_or_data_are_refused():
    model, data = make(ARM)
    with pytest.raises(stiction.Error, match=r"is an MjData, not a mujoco\.MjModel"):
        stiction.Simulator(data)
    simulator = stiction.Simulator(model)
    for call in (
        simulator.step,
        simulator.forward,
        lambda other: simulator.advance(other, 1),
        simulator.check_data,
    ):
        with pytest.raises(stiction.Error, match=r"is an MjModel, not a mujoco\.MjData") as caught:
            call(model)
        assert (caught.value.code, caught.value.where) == ("wrong_shape", "data")
    with pytest.raises(stiction.Error, match="data: is None"):
        simulator.step(None, 0)  # the first wrong argument
    with pytest.raises(stiction.Error, match=r"nstep: is 0, must be in 1\."):
        simulator.step(data, 0)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("contact_model", "laged"),
        ("on_failure", "ignore"),
        ("time_step", -1e-3),
        ("time_step", float("nan")),
        ("tolerance", 0),
        ("tolerance", 1),
        ("max_iterations", 0),
        ("num_threads", 0),
        ("stiction_tolerance", 0),
        ("friction_regularization", -1),
        ("near_rigid_factor", float("inf")),
    ],
)
def test_options_out_of_range_are_refused_by_name(option, value):
    model, _ = make(ARM)
    with pytest.raises(stiction.Error) as caught:
        stiction.Simulator(model, **{option: value})
    assert option in str(caught.value)
    assert str(value)[:3] in str(caught.value)


# Callbacks.


@pytest.fixture
def set_control() -> Iterator[Callable[[object], None]]:
    yield mujoco.set_mjcb_control
    mujoco.set_mjcb_control(None)


@pytest.mark.parametrize("contact_model", ["lagged", "mujoco"])
def test_control_callback_is_called_once_a_step(set_control, contact_model):
    model, data = make(ARM)
    times = []

    def control(_: mujoco.MjModel, at: mujoco.MjData) -> None:
        times.append(at.time)
        at.ctrl[0] = 0.5

    set_control(control)
    stiction.Simulator(model, contact_model).step(data, 5)
    np.testing.assert_allclose(times, 0.002 * np.arange(5), atol=1e-15)
    assert data.actuator_force[0] == 0.5


@pytest.mark.parametrize("contact_model", ["lagged", "mujoco"])
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_exception_in_a_callback_comes_through(set_control, contact_model, error):
    model, data = make(PILE)
    simulator = stiction.Simulator(model, contact_model, on_failure="stop")
    simulator.step(data, 50)

    def control(_: mujoco.MjModel, at: mujoco.MjData) -> None:
        if at.time > 0.105:
            raise error("mine")

    set_control(control)
    with pytest.raises(error, match="mine"):
        simulator.step(data, 50)
    # The steps before the exception were made, its own step was not, and later steps work.
    set_control(None)
    twin = mujoco.MjData(model)
    simulator.step(twin, 53)
    assert state_of(model, data).tobytes() == state_of(model, twin).tobytes()
    assert simulator.step(data, 10).ok


# Threads and signals.


def test_gil_is_released():
    # While one thread is inside a single call of many steps, another runs Python.
    model, data = make(PILE)
    simulator = stiction.Simulator(model)
    is_stepping = threading.Event()

    def work() -> None:
        is_stepping.set()
        simulator.step(data, 20000)

    worker = threading.Thread(target=work)
    worker.start()
    is_stepping.wait()
    count = 0
    while worker.is_alive():
        count += 1
        time.sleep(0.001)
    worker.join()
    assert data.time == pytest.approx(40)
    assert count > 10


_UNCAUGHT = """
import ctypes, mujoco, stiction
model = stiction.load_scene("pinch").model
simulator = stiction.Simulator(model, max_seconds=1e-9, on_failure="stop")
report = simulator.step(mujoco.MjData(model))
ctypes.pythonapi.Py_IncRef(ctypes.py_object(report))  # as an exception that is never released
raise stiction.StepError(report)
"""


def test_an_uncaught_error_is_all_that_a_program_prints() -> None:
    """Objects that an exception keeps to the end are no leaks, which the binding library would list."""
    run = subprocess.run(
        [sys.executable, "-c", _UNCAUGHT], capture_output=True, text=True, check=False
    )
    assert run.returncode == 1
    assert "StepError: out_of_time" in run.stderr.splitlines()[-1]
    assert "leak" not in run.stderr


def test_threads_may_share_a_simulator():
    # Each thread waits for the other, and gets the result that it would get alone.
    model, alone = make(PILE)
    simulator = stiction.Simulator(model)
    simulator.step(alone, 500)
    datas = [mujoco.MjData(model) for _ in range(3)]

    def work(data: mujoco.MjData) -> None:
        for _ in range(10):
            report = simulator.step(data, 50)
            assert report.ok
            assert report.time == data.time

    with ThreadPoolExecutor(3) as pool:
        for done in [pool.submit(work, data) for data in datas]:
            done.result()
    for data in datas:
        assert state_of(model, data).tobytes() == state_of(model, alone).tobytes()


def test_threads_of_one_step_do_not_change_a_bit():
    model, one = make(PILE)
    two = mujoco.MjData(model)
    stiction.Simulator(model).step(one, 300)
    stiction.Simulator(model, num_threads=3).step(two, 300)
    assert state_of(model, one).tobytes() == state_of(model, two).tobytes()


def test_interrupt_comes_between_steps():
    model, data = make(PILE)
    simulator = stiction.Simulator(model)

    timer = threading.Timer(0.05, signal.raise_signal, (signal.SIGINT,))

    def step_for_ever() -> None:
        timer.start()
        while True:
            simulator.step(data, 50)

    with pytest.raises(KeyboardInterrupt):
        step_for_ever()
    timer.join()
    # Only whole steps were made: the same number of steps without an interrupt gives the same
    # bits.
    twin = mujoco.MjData(model)
    simulator.step(twin, round(data.time / model.opt.timestep))
    assert state_of(model, data).tobytes() == state_of(model, twin).tobytes()


def test_hessian_of_a_resting_ball_is_the_closed_form() -> None:
    mass, radius, k, mu, dt = 2.0, 0.1, 1e5, 0.5, 1e-3
    sag = mass * 9.81 / k
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><option timestep="{dt}" gravity="0 0 -9.81"/>
        <default><geom friction="{mu} 0 0"/></default><worldbody>
        <geom type="plane" size="1 1 1"/><body pos="0 0 {radius - sag}"><freejoint/>
        <geom size="{radius}" mass="{mass}"/></body></worldbody></mujoco>"""
    )
    properties = {
        "materials": {"ball": {"stiffness": 2 * k, "dissipation": 0}},
        "geoms": {"*": "ball"},
    }
    simulator = stiction.Simulator(model, "lagged", properties=properties)
    with pytest.raises(stiction.Error, match="take a step first"):
        simulator.calc_hessian()
    simulator.step(mujoco.MjData(model))
    # One contact below: G_t = mu m g dt / v_s, G_n = dt^2 k; dofs are [w; v].
    inertia = 0.4 * mass * radius**2
    tangent, normal = mu * mass * 9.81 * dt / 1e-4, dt**2 * k
    expected = np.diag([inertia] * 3 + [mass] * 3)
    expected[[0, 1], [0, 1]] += radius**2 * tangent
    expected[[3, 4], [3, 4]] += tangent
    expected[[0, 4], [4, 0]] = radius * tangent
    expected[[1, 3], [3, 1]] = -radius * tangent
    expected[5, 5] += normal
    H = simulator.calc_hessian()
    assert H == pytest.approx(expected, rel=1e-2, abs=1e-9)
    eigenvalues = np.linalg.eigvalsh(H)
    assert simulator.calc_condition_number() == pytest.approx(eigenvalues[-1] / eigenvalues[0])


def test_model_mujoco_has_no_hessian() -> None:
    model = mujoco.MjModel.from_xml_string("<mujoco/>")
    simulator = stiction.Simulator(model, "mujoco")
    simulator.step(mujoco.MjData(model))
    with pytest.raises(stiction.Error, match="'mujoco' has no Hessian"):
        simulator.calc_condition_number()


@pytest.mark.filterwarnings("ignore:overlaps, limits or equalities:stiction.StepWarning")
@pytest.mark.parametrize("quat", ["1 0 0 0", "4.63268e-5 0 0 1", "0.3 0 0 1", "0.9 0.2 -0.1 0.3"])
@pytest.mark.parametrize("tilt", [0, 1e-9, 1e-6, 2.4e-4, 0.1])
def test_a_drawer_that_moves_only_along_a_normal_is_pushed_out(quat: str, tilt: float) -> None:
    """The tangents of its contacts are round-off, which the certificate took for constraints. Those of
    a tilted wall hold the drawer, in conflict with the overlap."""
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><worldbody><body quat="{quat}">
        <geom type="box" size=".3 .015 .1" pos="0 .3149996 0" euler="{tilt} 0 0"/>
        <body gravcomp="1"><joint type="slide" axis="0 1 0" damping="10"/>
        <geom type="box" size=".2 .3 .05" mass="1"/></body></body></worldbody></mujoco>"""
    )
    data = mujoco.MjData(model)
    report = stiction.Simulator(model, "no_slip").step(data)
    assert report.ok
    if tilt < 1e-5:
        assert data.qvel[0] == pytest.approx(-2e-5, rel=1e-6)  # a tenth of the overlap in a step


def test_islands_in_contact_space_are_counted() -> None:
    """A chain of ten links on the floor has few impulses beside its dofs, and hardly ever leaves."""
    links = ""
    for i in range(10):
        joint = "<freejoint/>" if i == 0 else f"<joint axis='0 {i % 2} {1 - i % 2}'/>"
        links += f"<body pos='{0.2 * (i > 0)} 0 {0.1 * (i == 0)}'>{joint}"
        links += "<geom type='sphere' size='.04' pos='.1 0 0'/>"
    model = mujoco.MjModel.from_xml_string(
        f"<mujoco><worldbody><geom type='plane' size='5 5 1'/>{links}{'</body>' * 10}"
        "</worldbody></mujoco>"
    )
    data = mujoco.MjData(model)
    data.qvel[6:] = np.random.default_rng(0).uniform(-3, 3, model.nv - 6)
    simulator = stiction.Simulator(model)
    used = left = 0
    for _ in range(400):
        statistics = simulator.step(data).statistics
        used += statistics.num_contact_space
        left += statistics.num_left_contact_space
    assert 50 <= used <= 400
    assert left <= 0.02 * used
