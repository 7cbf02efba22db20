"""Simulator.advance: steps whose lengths follow from their errors."""

from __future__ import annotations

import copy
import pickle

import mujoco
import numpy as np
import pytest

import stiction
from stiction.errors import Error, StepError

_BALL = """<mujoco><option timestep="0.002"/><worldbody>
<geom type="plane" size="9 9 1"/><body pos="0 0 0.3"><freejoint/><geom size="0.1" mass="1"/></body>
</worldbody></mujoco>"""


@pytest.fixture
def model() -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(_BALL)


@pytest.fixture
def data(model: mujoco.MjModel) -> mujoco.MjData:
    return mujoco.MjData(model)


def test_a_call_ends_at_its_time(model: mujoco.MjModel, data: mujoco.MjData) -> None:
    simulator = stiction.Simulator(model)
    report = simulator.advance(data, 0.7, 1e-4)
    assert data.time == 0.7
    assert report.time == 0.7
    steps = report.advance
    assert steps is not None
    assert steps.until == 0.7
    assert steps.accuracy == 1e-4
    assert steps.num_steps == report.num_steps > 3
    assert steps.accuracy_reached
    assert 0 < steps.largest_error <= 1e-4
    assert steps.num_not_extrapolated > 0  # the landing
    assert report.time_step == pytest.approx(0.7)
    assert data.qpos[2] == pytest.approx(0.1, abs=1e-4)
    assert simulator.step(data).advance is None
    # Reports of calls that are kept do not change.
    assert steps.until == 0.7


def test_reports_are_copied_and_converted(model: mujoco.MjModel, data: mujoco.MjData) -> None:
    report = stiction.Simulator(model).advance(data, 0.3)
    for twin in (copy.copy(report), pickle.loads(pickle.dumps(report))):
        assert twin.to_dict() == report.to_dict()
    assert report.advance is not None
    assert report.to_dict()["advance"]["num_steps"] == report.advance.num_steps
    assert repr(report.advance).startswith("AdvanceReport(num_steps=")


def test_bad_input_is_named(model: mujoco.MjModel, data: mujoco.MjData) -> None:
    simulator = stiction.Simulator(model)
    data.time = 1
    with pytest.raises(
        Error, match="until: is 0.5, must be finite and not before the time of the data, 1 s"
    ):
        simulator.advance(data, 0.5)
    with pytest.raises(Error, match="accuracy: is 1e-12, must be finite and at least 1e-09 m"):
        simulator.advance(data, 2, 1e-12)
    with pytest.raises(Error, match="max_time_step: is -1"):
        simulator.advance(data, 2, max_time_step=-1)
    for name, value in (
        ("until", None),
        ("accuracy", "x"),
        ("max_time_step", [1]),
        ("first_step", True),
        ("last_error", "1"),
    ):
        with pytest.raises(Error, match=f"{name}: is .*, must be a number"):
            simulator.advance(data, **{"until": 2.0, name: value})  # type: ignore[arg-type]
    with pytest.raises(Error, match="extrapolate: is 3, must be True or False"):
        simulator.advance(data, 2, extrapolate=3)  # type: ignore[arg-type]
    with pytest.raises(Error, match="data: belongs to another model"):
        simulator.advance(mujoco.MjData(mujoco.MjModel.from_xml_string("<mujoco/>")), 2)
    assert data.time == 1


@pytest.mark.parametrize("contact_model", ["sap", "similar", "no_slip", "rigid_coulomb", "mujoco"])
def test_models_that_do_not_fit_are_named(
    contact_model: str, model: mujoco.MjModel, data: mujoco.MjData
) -> None:
    simulator = stiction.Simulator(model, contact_model=contact_model)
    with pytest.raises(Error, match=f"'{contact_model}'.*choose one of these: lagged.*coulomb"):
        simulator.advance(data, 1)


def test_a_call_that_is_too_short_to_advance_the_time_says_so(
    model: mujoco.MjModel, data: mujoco.MjData
) -> None:
    simulator = stiction.Simulator(model)
    with pytest.raises(stiction.StepError, match="1e-300 s is too short to advance the time"):
        simulator.advance(data, 1e-300)
    assert data.time == 0
    assert simulator.advance(data, 1e-12).ok


def test_infinite_ranges_of_joints_are_no_limits() -> None:
    xml = """<mujoco><worldbody><geom type="plane" size="5 5 .1"/><body pos="0 0 .1"><joint type="slide"
axis="1 0 0" {0}/><joint type="slide" axis="0 0 1" {0}/><geom size=".1" friction=".1"/>
<body pos="0 0 .3"><joint axis="0 1 0" {0}/><geom type="capsule" size=".02 .1" mass=".1"/></body></body>
</worldbody></mujoco>"""
    ends = {
        (contact_model, limit): run_range(xml.format(limit), contact_model)
        for contact_model in ("coulomb", "rigid_coulomb")
        for limit in ("", 'range="-inf inf"', 'range="-inf inf" limited="false"')
    }
    for (contact_model, _), end in ends.items():
        np.testing.assert_array_equal(end, ends[contact_model, ""])
    upper = run_range(xml.format('range="-inf 0.02"'), "coulomb")
    assert upper[0] < 0.03 < ends["coulomb", ""][0]


def run_range(xml: str, contact_model: str) -> np.ndarray:
    """Returns the positions at the end of a run, which `advance` ends if it can."""
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    data.qvel[:] = 1, 0, 3
    simulator = stiction.Simulator(model, contact_model)
    simulator.step(data, 100)
    if contact_model == "coulomb":
        simulator.advance(data, 0.4)
    return data.qpos.copy()


def test_a_state_set_by_hand_is_named(model: mujoco.MjModel, data: mujoco.MjData) -> None:
    simulator = stiction.Simulator(model)
    simulator.advance(data, 0.1)
    assert simulator.advance(data, 0.2).missing_memory == ()
    data.qvel[0] = 1
    assert simulator.advance(data, 0.3).missing_memory == ("step_length",)


def test_a_copy_goes_on_with_the_same_bits(model: mujoco.MjModel, data: mujoco.MjData) -> None:
    simulator = stiction.Simulator(model)
    simulator.advance(data, 0.1)
    twin, twin_data = copy.copy(simulator), copy.copy(data)
    simulator.advance(data, 0.5)
    assert twin.advance(twin_data, 0.5).missing_memory == ()
    assert np.array_equal(data.qpos, twin_data.qpos)


def test_a_failure_raises_and_leaves_data(model: mujoco.MjModel, data: mujoco.MjData) -> None:
    simulator = stiction.Simulator(model, max_seconds=1e-9)
    with pytest.raises(StepError, match="max_seconds"):
        simulator.advance(data, 1)
    assert data.time == 0
    report = stiction.Simulator(model, max_seconds=1e-9, on_failure="stop").advance(data, 1)
    assert report.status == "out_of_time"


def test_every_state_is_certified_without_extrapolation(
    model: mujoco.MjModel, data: mujoco.MjData
) -> None:
    simulator = stiction.Simulator(model)
    plain = simulator.advance(data, 0.5, extrapolate=False)
    assert plain.advance is not None
    assert plain.advance.num_not_extrapolated == 0
    assert plain.certificate.ok
    # Semi-implicit Euler falls too fast by g h T / 2.
    fall = mujoco.MjData(model)
    simulator.advance(fall, 0.1, extrapolate=False)
    exact = 0.3 - 9.81 * 0.1**2 / 2
    assert fall.qpos[2] < exact - 1e-4
    fall = mujoco.MjData(model)
    simulator.advance(fall, 0.1)
    assert fall.qpos[2] == pytest.approx(exact, abs=1e-12)


def run_pid(config: str, steps: float | None, accuracy: float = 1e-5) -> np.ndarray:
    """Turns an arm by a PID plugin, and returns its angle every 20 ms.

    Args:
        config: further settings of the plugin.
        steps: the fixed time step [s], or None for error control.
        accuracy: of error control [m].
    """
    num_states = 1 + ("slewmax" in config)
    model = mujoco.MjModel.from_xml_string(f"""<mujoco><option timestep="{steps or 1e-3}"/><extension>
        <plugin plugin="mujoco.pid"><instance name="pid"><config key="kp" value="200"/>
        <config key="ki" value="300"/><config key="kd" value="20"/>{config}</instance></plugin>
        </extension><worldbody><body><joint name="j" axis="0 1 0" damping="0.2"/>
        <geom type="capsule" fromto="0 0 0 .5 0 0" size="0.03" mass="1"/></body></worldbody><actuator>
        <plugin joint="j" plugin="mujoco.pid" instance="pid" actdim="{num_states}"/>
        </actuator></mujoco>""")
    data = mujoco.MjData(model)
    simulator = stiction.Simulator(model)
    angles = []
    for period in range(30):
        data.ctrl[0] = 0.5 if period < 15 else -0.3
        if steps:
            mujoco.mj_step(model, data, round(0.02 / steps))
        else:
            simulator.advance(data, 0.02 * (period + 1), accuracy)
        angles.append(data.qpos[0])
    return np.array(angles)


@pytest.mark.parametrize("config", ["", '<config key="slewmax" value="2"/>'])
def test_a_plugin_that_depends_on_the_time_step_converges(config: str) -> None:
    """With a slew rate, the force of the plugin depends on the time step and on the last control."""
    coarse, fine = run_pid(config, 2e-5), run_pid(config, 1e-5)
    reference = 2 * fine - coarse  # of second order
    # Measured: 1.9e-3 and 7e-5 at most. Forces that are shared by steps of two lengths give 0.26.
    assert np.abs(run_pid(config, None, 1e-4) - reference).max() < 4e-3
    assert np.abs(run_pid(config, None, 1e-6) - reference).max() < 2e-4
