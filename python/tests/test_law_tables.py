"""Tests normal laws and friction laws of a user: NormalLaw, FrictionLaw, and the properties file."""

from __future__ import annotations

import json
import math
import pickle
import warnings
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

import stiction

SCENE = """<mujoco><option timestep="0.001"/><worldbody>
  <geom name="floor" type="plane" size="5 5 1" friction="0.5"/>
  <body pos="0 0 0.0999"><freejoint/>
    <geom name="box" type="box" size="0.1 0.1 0.1" mass="2" friction="0.5"/></body>
</worldbody></mujoco>"""
WEIGHT = 2 * 9.81
MODELS = [
    m
    for m in stiction.contact_models()
    if m in ("lagged", "lagged_regularized", "similar", "coulomb")
]


def slide(contact_model: str, properties: Any = None, **options: Any) -> np.ndarray:
    """Returns the box's state after it was pushed over the floor for 0.2 s."""
    model = mujoco.MjModel.from_xml_string(SCENE)
    data = mujoco.MjData(model)
    data.qvel[0] = 0.5
    simulator = stiction.Simulator(model, contact_model, properties=properties, **options)
    simulator.step(data, 200)
    return np.concatenate([data.qpos, data.qvel])


@pytest.mark.parametrize("contact_model", MODELS)
def test_a_table_of_a_built_in_law_moves_as_the_law_does(contact_model: str) -> None:
    k, d = 1e5, 5.0
    steel = {"materials": {"m": {"stiffness": 2 * k, "dissipation": d}}, "geoms": {"*": "m"}}
    built_in = slide(contact_model, steel, friction_law="quadratic")
    law = stiction.NormalLaw([0, 1e-3 * k], penetration=[0, 1e-3], dissipation=d)
    friction = stiction.FrictionLaw(lambda s: s * (2 - s), max_slip=1)
    table = slide(contact_model, normal_law=law, friction_law=friction)
    # Near-rigid contacts are corrected when they overlap, tables are not; the floor touches here.
    np.testing.assert_allclose(table, built_in, atol=2e-7)


@pytest.mark.parametrize("contact_model", MODELS)
def test_a_body_rests_where_the_law_carries_it(contact_model: str) -> None:
    model = mujoco.MjModel.from_xml_string(SCENE)
    data = mujoco.MjData(model)
    law = stiction.NormalLaw(lambda x: 1e8 * max(x, 0.0) ** 2, max_penetration=0.01, dissipation=20)
    simulator = stiction.Simulator(model, contact_model, normal_law=law)
    simulator.step(data, 2000)
    assert 0.1 - data.qpos[2] == pytest.approx(math.sqrt(WEIGHT / 4 / 1e8), rel=1e-4)


def test_a_law_that_acts_before_touch_keeps_bodies_apart() -> None:
    model = mujoco.MjModel.from_xml_string(SCENE)
    data = mujoco.MjData(model)
    data.qpos[2] = 0.12
    law = stiction.NormalLaw(
        [0, 20, 2000], penetration=[-0.01, 0, 0.01], rate=[-1, 0, 1], factor=[0, 1, 5]
    )
    simulator = stiction.Simulator(model, normal_law=law)
    simulator.step(data, 3000)
    assert 0 < data.qpos[2] - 0.1 < 0.01
    # The tolerance of the Simulator is 1e-5.
    assert law.calc_force(0.1 - data.qpos[2]) == pytest.approx(WEIGHT / 4, rel=1e-5)


def test_a_sampled_function_has_the_error_that_it_reports() -> None:
    def hertz(x: float) -> float:
        return 1e8 * max(x, 0.0) ** 1.5

    def damping(xdot: float) -> float:
        return math.exp(min(xdot, 1.0))

    law = stiction.NormalLaw(
        hertz, max_penetration=0.01, factor=damping, max_rate=2.0, tolerance=1e-5
    )
    size = hertz(0.01)
    assert 0 < law.max_error <= 1e-5 * size
    for x in np.linspace(-0.001, 0.01, 977):
        assert abs(law.calc_force(x) - hertz(x)) <= 2 * law.max_error + 1e-5 * hertz(x)
    for xdot in (-1.7, -0.3, 0.6, 1.5):
        assert law.calc_force(0.005, xdot) == pytest.approx(hertz(0.005) * damping(xdot), rel=1e-4)
    # The derivatives are those of the force.
    h = 1e-7
    df_dx, df_dxdot = law.calc_derivatives(0.004, 0.2)
    slope = (law.calc_force(0.004 + h, 0.2) - law.calc_force(0.004 - h, 0.2)) / (2 * h)
    assert df_dx == pytest.approx(slope, rel=1e-5)
    slope = (law.calc_force(0.004, 0.2 + h) - law.calc_force(0.004, 0.2 - h)) / (2 * h)
    assert df_dxdot == pytest.approx(slope, rel=1e-5)
    friction = stiction.FrictionLaw(math.tanh, max_slip=20)
    assert friction.max_error < 2e-6
    assert friction.calc_share(0.7) == pytest.approx(math.tanh(0.7), abs=2e-6)
    assert friction.calc_share(1e9) == 1


def test_tables_are_in_options_pickles_and_recordings(tmp_path: Path) -> None:
    model = mujoco.MjModel.from_xml_string(SCENE)
    law = stiction.NormalLaw(lambda x: 1e6 * x + 1e9 * x * x, max_penetration=0.003, dissipation=3)
    friction = stiction.FrictionLaw([0, 0.7, 1], slip=[0, 0.5, 1])
    simulator = stiction.Simulator(model, normal_law=law, friction_law=friction)
    assert simulator.options["normal_law"] == law.content
    assert simulator.options["friction_law"] == friction.content
    again = stiction.Simulator(model, **json.loads(json.dumps(simulator.options)))
    assert again.options == simulator.options
    assert pickle.loads(pickle.dumps(simulator)).options == simulator.options
    assert pickle.loads(pickle.dumps(law)) == law
    assert pickle.loads(pickle.dumps(friction)) == friction

    data = mujoco.MjData(model)
    data.qvel[0] = 1
    path = tmp_path / "run.mcap"
    with stiction.Recorder(path, simulator) as recorder:
        for _ in range(30):
            recorder.step(data)
    recording = stiction.Recording(path)
    assert recording.options["normal_law"] == law.content
    assert not any(step.find_difference() for step in stiction.Replay(recording))


def test_the_properties_file_may_have_laws(tmp_path: Path) -> None:
    path = tmp_path / "laws.contact.yaml"
    path.write_text(
        "normal_law: {penetration: [0, 1e-3], force: [0, 100], dissipation: 5}\n"
        "friction_law: {slip: [0, 0.5, 1], friction: [0, 0.75, 1]}\n"
    )
    model = mujoco.MjModel.from_xml_string(SCENE)
    simulator = stiction.Simulator(model, properties=path)
    assert simulator.options["normal_law"]["force"] == [0, 100]
    assert simulator.options["properties"]["friction_law"]["slip"] == [0, 0.5, 1]
    np.testing.assert_array_equal(
        slide("coulomb", path),
        slide(
            "coulomb",
            normal_law=stiction.NormalLaw([0, 100], penetration=[0, 1e-3], dissipation=5),
            friction_law=stiction.FrictionLaw([0, 0.75, 1], slip=[0, 0.5, 1]),
        ),
    )
    # A name replaces the file's law.
    assert (
        stiction.Simulator(model, properties=path, normal_law="linear").options["normal_law"]
        == "linear"
    )
    explained = simulator.explain("box", "floor")
    numbers = {entry["name"]: entry for entry in explained["numbers"]}
    assert numbers["normal law"]["value"] == 2
    assert "100 N at 0.001 m" in numbers["normal law"]["note"]
    assert numbers["friction law"]["value"] == 3
    json.dumps(explained)


def test_faults_of_tables_name_the_entry(tmp_path: Path) -> None:
    def error_of(make: Any) -> str:
        with pytest.raises(stiction.Error) as info:
            make()
        return str(info.value)

    assert "force: entry 2 is 1, must be at least" in error_of(
        lambda: stiction.NormalLaw([0, 2, 1], penetration=[0, 1, 2])
    )
    assert "force[0]: is 3, must be 0" in error_of(
        lambda: stiction.NormalLaw([3, 4], penetration=[0, 1])
    )
    assert "max_penetration: is None" in error_of(lambda: stiction.NormalLaw(lambda x: x))
    assert "penetration: is None" in error_of(lambda: stiction.NormalLaw([0, 1]))
    assert "must not decrease" in error_of(
        lambda: stiction.NormalLaw(lambda x: math.sin(1000 * x), max_penetration=0.01)
    )
    assert "must be 1 within 0.001" in error_of(lambda: stiction.FrictionLaw(math.atan, max_slip=3))
    assert "f / s must not increase" in error_of(
        lambda: stiction.FrictionLaw([0, 0.1, 1], slip=[0, 1, 2])
    )
    assert "force: jumps from 0 to 100 at" in error_of(
        lambda: stiction.NormalLaw(lambda x: 100.0 * (x > 0.003), max_penetration=0.01)
    )
    model = mujoco.MjModel.from_xml_string(SCENE)
    assert "must be a name, a stiction.NormalLaw" in error_of(
        lambda: stiction.Simulator(model, normal_law=3)
    )
    assert "unexpected keyword" in error_of(
        lambda: stiction.Simulator(model, normal_law={"forces": [0]})
    )
    path = tmp_path / "laws.contact.yaml"
    path.write_text("normal_law:\n  penetraton: [0, 1]\n  force: 3\n")
    message = error_of(lambda: stiction.Simulator(model, properties=path))
    assert "laws.contact.yaml:2: normal_law: there is no list 'penetraton' (did you mean" in message
    assert "laws.contact.yaml:3: normal_law: force is '3', must be a list of numbers" in message
    path.write_text("friction_law: {slip: [0, 1], friction: [0, 0.5]}\n")
    message = error_of(lambda: stiction.Simulator(model, properties=path))
    assert "laws.contact.yaml:1: friction_law: friction[-1]: is 0.5, must be 1" in message


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"force": [0, 1], "penetration": [0, 1], "reach": 0.1}, "reach: has no meaning"),
        ({"force": [0, 1], "penetration": [0, 1], "max_penetration": 1}, "max_penetration: has no"),
        ({"force": [0, 1], "penetration": [0, 1], "rate": [0, 1]}, "rate: has no meaning"),
        ({"force": [0, 1], "penetration": [0, 1], "max_rate": 1}, "max_rate: has no meaning"),
        ({"force": abs, "penetration": [0, 1]}, "penetration: has no meaning"),
        ({"force": abs, "max_penetration": math.nan}, "max_penetration: is nan, must be finite"),
        ({"force": abs, "max_penetration": -0.0}, "max_penetration: is 0, must be .* above 0$"),
        ({"force": abs, "max_penetration": math.inf}, "max_penetration: is inf, must be finite"),
        (
            {"force": abs, "max_penetration": 5e-324},
            "max_penetration: is 4.94066e-324, must be finite and above 0 by more than round-off",
        ),
        (
            {"force": abs, "max_penetration": math.nextafter(-1, 0), "reach": 1.0},
            "max_penetration: is -1, must be finite and above -1 by more than round-off",
        ),
        (
            {"force": abs, "max_penetration": -1.0},
            "max_penetration: is -1, must be finite and above",
        ),
        ({"force": abs, "max_penetration": 1, "reach": math.nan}, "reach: is nan, must be finite"),
        ({"force": abs, "max_penetration": 1, "reach": -1.0}, "reach: is -1, must be finite"),
    ],
)
def test_arguments_without_meaning_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(stiction.Error, match=message):
        stiction.NormalLaw(**arguments)


def test_a_law_that_replaces_that_of_the_properties_is_said() -> None:
    model = mujoco.MjModel.from_xml_string(SCENE)
    properties = {"normal_law": {"penetration": [0, 1e-3], "force": [0, 100]}}
    with pytest.warns(stiction.IgnoredSettingWarning, match="remove one of them"):
        stiction.Simulator(model, properties=properties, normal_law="hertz")
    options = stiction.Simulator(model, properties=properties).options
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert stiction.Simulator(model, **options).options == options


def test_models_without_laws_say_that_the_table_has_no_effect() -> None:
    model = mujoco.MjModel.from_xml_string(SCENE)
    law = stiction.NormalLaw([0, 1], penetration=[0, 1])
    for contact_model in ("sap", "tamsi", "no_slip"):
        with pytest.warns(stiction.IgnoredSettingWarning, match="normal_law has no effect"):
            stiction.Simulator(model, contact_model, normal_law=law)
    soft = {"materials": {"s": {"hydroelastic_modulus": 1e6}, "r": {"rigid": True}},
            "geoms": {"box": "s", "floor": "r"}}  # fmt: skip
    with pytest.raises(stiction.Error, match=r"normal_law.*custom"):
        stiction.Simulator(model, normal_law=law, properties=soft)
