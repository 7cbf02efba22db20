"""A callback of MuJoCo that calls MuJoCo's functions on the data of a step does not change the step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import mujoco
import numpy as np
import pytest

import stiction
from stiction.inputs.names import find_models

BOXES = """
<mujoco><option timestep=".002"/>
<worldbody><geom name="floor" type="plane" size="5 5 .1" friction=".3"/>
<body pos="0 0 .1"><freejoint/><geom name="g0" type="box" size=".1 .1 .1"/></body>
<body pos=".01 0 .31"><freejoint/><geom name="g1" type="box" size=".1 .1 .1"/></body>
<body pos="1 0 .2"><freejoint/><geom size=".1"/></body>
<body pos="0 2 .5"><joint name="a" axis="0 1 0" range="-90 20" damping=".1"/>
  <geom type="capsule" size=".04" fromto="0 0 0 .4 0 0"/></body>
</worldbody>
<actuator><motor joint="a" gear="2"/></actuator>
<sensor><jointvel joint="a"/><touch site="s"/></sensor>
</mujoco>
""".replace('<body pos="1 0', '<site name="s" size="9"/><body pos="1 0')
ADHESION = """
<mujoco><worldbody><geom type="plane" size="1 1 .1" pos="0 0 1" euler="180 0 0"/>
<body name="cup" pos="0 0 .899"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>
</worldbody><actuator><adhesion body="cup" ctrlrange="0 1" gain="12"/></actuator></mujoco>
"""
SLEEP = BOXES.replace("/>\n<worldbody", "><flag sleep='enable'/></option>\n<worldbody", 1)
PATCHES = {
    "materials": {"soft": {"hydroelastic_modulus": 1e5}, "hard": {"rigid": True}},
    "geoms": {"g0": "soft", "g1": "soft", "floor": "hard"},
}
FUNCTIONS = [
    "mj_forward",
    "mj_inverse",
    "mj_collision",
    "mj_fwdPosition",
    "mj_makeConstraint",
    "mj_fwdVelocity",
]
COMPLIANT = find_models(lambda m: not (m.is_rigid or m.is_mj_step))
OURS = find_models(lambda m: not m.is_mj_step)
RIGID = [name for name in OURS if name not in COMPLIANT]
CASES: list[tuple[str, str, dict[str, Any]]] = [
    *((BOXES, name, {}) for name in OURS),
    *((BOXES, name, {"properties": PATCHES}) for name in ("coulomb", "lagged")),
    *((ADHESION, name, {}) for name in ("coulomb", "rigid_coulomb")),
    *((SLEEP, name, {}) for name in ("lagged", "rigid_coulomb")),
    *((BOXES, name, {"integrator": "event_driven"}) for name in RIGID),
    (BOXES, "viscous", {"integrator": "rk4"}),
]


@pytest.fixture(autouse=True)
def restore_callbacks() -> Iterator[None]:
    yield
    mujoco.set_mjcb_control(None)
    mujoco.set_mjcb_passive(None)
    mujoco.set_mjcb_sensor(None)


def calls(function: Callable[[mujoco.MjModel, mujoco.MjData], None]) -> Callable[..., None]:
    """Makes a callback that sets a control and calls a function, in which it does not call itself."""
    is_busy = False

    def control(model: mujoco.MjModel, data: mujoco.MjData, *_: int) -> None:
        nonlocal is_busy
        if not is_busy:
            is_busy = True
            data.ctrl[0] = 0.5 * np.sin(9 * data.time) if model.nq > 7 else 1
            function(model, data)
            is_busy = False

    return control


def run(
    case: tuple[str, str, dict[str, Any]], name: str | None, num_steps: int = 60
) -> dict[str, bytes]:
    """Returns what a run leaves in the data and the report, with a callback that calls a function."""
    xml, contact_model, options = case
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    data.qvel[0] = 1 if model.nq > 7 else 0
    simulator = stiction.Simulator(model, contact_model, **options)
    mujoco.set_mjcb_control(calls(getattr(mujoco, name) if name else lambda *_: None))
    for _ in range(num_steps):
        report = simulator.step(data)
    mujoco.set_mjcb_control(None)
    state = np.empty(mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS))
    mujoco.mj_getState(model, data, state, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    return {
        "state": state.tobytes(),
        "qacc": data.qacc.tobytes(),
        "sensordata": data.sensordata.tobytes(),
        "qfrc_constraint": data.qfrc_constraint.tobytes(),
        "impulse": report.contacts.impulse.tobytes(),
        "tree_asleep": data.tree_asleep.tobytes(),
    }


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c[1]}-{'-'.join(c[2]) or 'points'}")
def test_control_callbacks_may_call_functions_of_mujoco(
    case: tuple[str, str, dict[str, Any]],
) -> None:
    expected = run(case, None)
    for name in FUNCTIONS:
        got = run(case, name)
        assert [key for key in expected if got[key] != expected[key]] == [], name


@pytest.mark.parametrize("name", FUNCTIONS)
def test_sleeping_trees_stay_asleep_beside_such_a_callback(name: str) -> None:
    case = (SLEEP.replace('friction=".3"', 'friction="2"'), "lagged", {})
    expected = run(case, None, 1000)
    assert np.frombuffer(expected["tree_asleep"], np.int32).max() >= 0
    assert run(case, name, 1000) == expected


@pytest.mark.parametrize("set_callback", [mujoco.set_mjcb_passive, mujoco.set_mjcb_sensor])
@pytest.mark.parametrize("name", ["mj_forward", "mj_collision"])
def test_other_callbacks_that_replace_the_contacts_fail_by_name(
    set_callback: Callable[[Any], None], name: str
) -> None:
    model = mujoco.MjModel.from_xml_string(BOXES.replace("<touch", '<user dim="1"/><touch'))
    data = mujoco.MjData(model)
    before = data.qpos.copy()
    simulator = stiction.Simulator(model)
    set_callback(calls(getattr(mujoco, name)))
    kind = set_callback.__name__.removeprefix("set_")
    with pytest.raises(stiction.StepError, match=f"callback {kind} .*replaced.*another mjData"):
        simulator.step(data)
    np.testing.assert_array_equal(data.qpos, before)
    set_callback(calls(lambda *_: None))
    assert simulator.step(data).ok
