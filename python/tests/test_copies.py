"""Simulators and reports can be pickled and copied; checkpoints continue with the same bits."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import mujoco
import numpy as np
import pytest

import stiction
from stiction.errors import ignored_settings_are_fine

PILE = """
<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 .1"/>
    <body pos="0 0 .0999"><freejoint/><geom name="box" type="box" size=".1 .1 .1"/></body>
    <body pos=".05 .02 .3"><freejoint/><geom type="box" size=".1 .08 .1"/>
      <body pos=".3 0 0"><joint axis="0 1 0" range="-20 20"/><geom size=".05"/></body></body>
    <body pos="-.3 .1 .12"><freejoint/><geom type="capsule" size=".05 .1"/></body>
  </worldbody>
</mujoco>
"""
SOFT = {
    "materials": {"soft": {"hydroelastic_modulus": 1e5}, "hard": {"rigid": True}},
    "geoms": {"box": "soft", "floor": "hard"},
}
STATE = mujoco.mjtState.mjSTATE_INTEGRATION

COPIES = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    **{
        f"pickle {p}": (lambda x, p=p: pickle.loads(pickle.dumps(x, p)))
        for p in range(2, pickle.HIGHEST_PROTOCOL + 1)
    },
}


def make(**options: Any) -> tuple[stiction.Simulator, mujoco.MjData]:
    model = mujoco.MjModel.from_xml_string(PILE)
    data = mujoco.MjData(model)
    with ignored_settings_are_fine():
        return stiction.Simulator(model, **options), data


def read_state(data: mujoco.MjData) -> np.ndarray:
    state = np.empty(mujoco.mj_stateSize(data.model, STATE))
    mujoco.mj_getState(data.model, data, state, STATE)
    return state


def assert_equal(a: Any, b: Any) -> None:
    """Compares all public values of two objects, and those of their values."""
    assert type(a) is type(b)
    if isinstance(a, np.ndarray):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)
    elif isinstance(a, int | float | str):
        assert a == b or (a != a and b != b)
    else:
        if hasattr(a, "__getitem__") or isinstance(a, list):
            assert len(a) == len(b)
            for i in range(len(a)):
                assert_equal(a[i], b[i])
        names = [name for name in dir(a) if not name.startswith("_")]
        for name in names:
            if not callable(value := getattr(a, name)):
                assert_equal(value, getattr(b, name))


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("contact_model", stiction.contact_models())
def test_a_copied_simulator_continues_with_the_same_bits(contact_model: str, how: str) -> None:
    simulator, data = make(contact_model=contact_model, on_failure="stop")
    simulator.step(data, 30)
    twin = COPIES[how](simulator)
    assert twin.options == simulator.options
    other = mujoco.MjData(twin.model)
    mujoco.mj_setState(twin.model, other, read_state(data), STATE)
    for _ in range(30):
        report, again = simulator.step(data), twin.step(other)
        np.testing.assert_array_equal(read_state(data), read_state(other))
        np.testing.assert_array_equal(report.contacts.impulse, again.contacts.impulse)


@pytest.mark.parametrize("how", COPIES)
def test_reports_can_be_copied(how: str) -> None:
    simulator, data = make(properties=SOFT, trace=True)
    simulator.step(data, 20)
    report = simulator.step(data, 2)
    assert len(report.patches) and len(report.trace) and len(report.islands)
    twin = COPIES[how](report)
    assert twin is not report
    assert_equal(report, twin)
    for name in ("contacts", "patches", "trace", "certificate", "statistics", "timings"):
        assert_equal(getattr(report, name), COPIES[how](getattr(report, name)))


def test_a_copied_report_does_not_change() -> None:
    simulator, data = make()
    twin = copy.deepcopy(simulator.step(data, 20))
    kept = twin.contacts.point.copy()
    del data
    simulator.step(mujoco.MjData(simulator.model), 30)
    np.testing.assert_array_equal(twin.contacts.point, kept)


def test_damaged_pickles_of_reports_are_errors() -> None:
    simulator, data = make()
    content = simulator.step(data).__getstate__()
    for damaged in (content[:-1], content[: len(content) // 2], content + b"x", b""):
        with pytest.raises(stiction.Error, match="another version"):
            stiction.StepReport.__new__(stiction.StepReport).__setstate__(damaged)


def test_a_changed_byte_of_a_pickled_report_is_an_error_or_another_value() -> None:
    simulator, data = make()
    simulator.step(data)
    data.qvel[:] = np.nan
    simulator = stiction.Simulator(simulator.model, on_failure="stop")
    content = simulator.step(data).__getstate__()
    begin = content.index(b"qvel")  # of the message
    num_refused = 0
    for i in {*range(0, len(content), 41), *range(begin, begin + 9)}:
        report = stiction.StepReport.__new__(stiction.StepReport)
        try:
            report.__setstate__(content[:i] + b"\xff" + content[i + 1 :])
        except stiction.Error:
            num_refused += 1
        else:
            assert isinstance(report.message, str)
    assert num_refused >= 9


def test_properties_can_be_copied() -> None:
    simulator, _ = make(properties=SOFT)
    twin = pickle.loads(pickle.dumps(simulator.properties))
    assert twin.content == simulator.properties.content
    assert twin.origin == simulator.properties.origin
    assert copy.deepcopy(simulator).options == simulator.options


def test_errors_can_be_copied() -> None:
    simulator, data = make()
    data.qpos[0] = np.nan
    with pytest.raises(stiction.StepError) as failure:
        simulator.step(data)
    twin = pickle.loads(pickle.dumps(failure.value))
    assert str(twin) == str(failure.value)
    assert twin.report.status == failure.value.report.status == "non_finite_state"
    error = stiction.Error("syntax", "a.xml:1", "is wrong")
    twin = pickle.loads(pickle.dumps(error))
    assert (twin.code, twin.where, twin.message) == ("syntax", "a.xml:1", "is wrong")


@pytest.mark.parametrize("contact_model", stiction.contact_models())
def test_a_checkpoint_continues_with_the_same_bits(contact_model: str) -> None:
    simulator, data = make(contact_model=contact_model, on_failure="stop")
    for _ in range(3):
        simulator.step(data, 17)
        state, memory = read_state(data), simulator.get_state()
        ends = []
        for other in (simulator, make(contact_model=contact_model, on_failure="stop")[0]):
            other.set_state(memory)
            restored = mujoco.MjData(other.model)
            mujoco.mj_setState(other.model, restored, state, STATE)
            report = other.step(restored, 25)
            ends.append((read_state(restored), report.contacts.impulse.copy()))
        np.testing.assert_array_equal(ends[0][0], ends[1][0])
        np.testing.assert_array_equal(ends[0][1], ends[1][1])
        simulator.set_state(memory)


def test_states_of_other_simulators_are_refused() -> None:
    state = make(contact_model="no_slip")[0].get_state()
    with pytest.raises(stiction.Error, match="does not belong"):
        make(contact_model="viscous")[0].set_state(state)
    for wrong in (b"", b"123", state[:-8], state + state):
        with pytest.raises(stiction.Error):
            make(contact_model="no_slip")[0].set_state(wrong)
    with pytest.raises(stiction.Error, match="must be bytes"):
        make()[0].set_state("text")  # type: ignore[arg-type]


def test_flags_select_contacts_and_forces_are_means_over_the_step() -> None:
    simulator, data = make(time_step=0.004)
    data.qvel[0] = 1
    report = simulator.step(data)
    contacts = report.contacts
    assert contacts.slipping.dtype == contacts.is_fallback.dtype == bool
    assert contacts.slipping.any()
    assert len(contacts.normal_impulse[contacts.slipping]) == np.count_nonzero(contacts.slipping)
    assert report.time_step == contacts.time_step == 0.004
    np.testing.assert_allclose(contacts.force, contacts.impulse / 0.004, rtol=1e-15)


@pytest.mark.parametrize("option", ["max_seconds", "iteration_budget"])
def test_a_limited_step_fails_with_its_status(option: str) -> None:
    value, status = {
        "max_seconds": (1e-9, "out_of_time"),
        "iteration_budget": (1, "out_of_iterations"),
    }[option]
    simulator, data = make(on_failure="keep_best", **{option: value})
    data.qvel[0] = 1
    before = read_state(data)
    report = simulator.step(data)
    assert report.status == status and option in report.message
    np.testing.assert_array_equal(read_state(data), before)
    simulator, _ = make(**{option: value})
    with pytest.raises(stiction.StepError, match=status):
        simulator.step(data)
