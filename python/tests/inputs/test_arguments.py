"""Wrong arguments raise an Error that names them, and change nothing."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

import stiction
from stiction.inputs.arguments import describe_type

SCENE = """
<mujoco>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <body pos="0 0 1"><freejoint/><geom size=".1"/></body>
  </worldbody>
</mujoco>
"""


@pytest.fixture
def model() -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(SCENE)


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("contact_model", "laged", "unknown_name"),
        ("contact_model", 3, "wrong_shape"),
        ("contact_model", None, "wrong_shape"),
        ("time_step", "0.1", "wrong_shape"),
        ("time_step", math.nan, "invalid_value"),
        ("time_step", math.inf, "invalid_value"),
        ("time_step", 0, "invalid_value"),
        ("time_step", -1e-3, "invalid_value"),
        ("time_step", [1e-3], "wrong_shape"),
        ("time_step", 10**400, "invalid_value"),
        ("tolerance", math.nan, "invalid_value"),
        ("tolerance", 0, "invalid_value"),
        ("tolerance", 1, "invalid_value"),
        ("tolerance", None, "wrong_shape"),
        ("tolerance", True, "wrong_shape"),
        ("max_iterations", 0, "invalid_value"),
        ("max_iterations", 2**40, "invalid_value"),
        ("max_iterations", 10.0, "wrong_shape"),
        ("num_threads", 0, "invalid_value"),
        ("num_threads", 10**6, "invalid_value"),
        ("num_threads", "2", "wrong_shape"),
        ("stiction_tolerance", 0, "invalid_value"),
        ("stiction_tolerance", -math.inf, "invalid_value"),
        ("friction_regularization", -1e-3, "invalid_value"),
        ("friction_regularization", 1j, "wrong_shape"),
        ("near_rigid_factor", math.nan, "invalid_value"),
        ("near_rigid_factor", np.zeros(3), "wrong_shape"),
        ("integrator", "rk5", "unknown_name"),
        ("lcp_solver", "simplex", "unknown_name"),
        ("lcp_solver", None, "wrong_shape"),
        ("friction_directions", 3, "invalid_value"),
        ("friction_directions", 66, "invalid_value"),
        ("friction_directions", -4, "invalid_value"),
        ("friction_directions", 10**9, "invalid_value"),
        ("friction_directions", 2.5, "wrong_shape"),
        ("gap_correction", 1.5, "invalid_value"),
        ("max_correction_speed", math.inf, "invalid_value"),
        ("max_memory_gb", 0, "invalid_value"),
        ("max_memory_gb", 16.5, "invalid_value"),
        ("drop_separating", "no", "invalid_value"),
        ("on_failure", "ignore", "unknown_name"),
        ("on_failure", ["stop"], "wrong_shape"),
    ],
)
def test_a_simulator_names_the_argument(
    model: mujoco.MjModel, name: str, value: Any, code: str
) -> None:
    with pytest.raises(stiction.Error) as caught:
        stiction.Simulator(model, **{name: value})
    assert (caught.value.code, caught.value.where) == (code, name)
    assert "must be" in caught.value.message or code != "invalid_value" or name == "time_step"


@pytest.mark.parametrize("value", [3, 5, 0, -4, 2, 66, 10**9, 2**40])
def test_friction_directions_outside_the_range_are_refused(
    model: mujoco.MjModel, value: int
) -> None:
    with pytest.raises(
        stiction.Error, match=f"^friction_directions: is {value}, must be even, in 4..64"
    ):
        stiction.Simulator(model, friction_directions=value)


def test_an_integer_that_is_too_large_names_the_largest(model: mujoco.MjModel) -> None:
    with pytest.raises(stiction.Error, match="must be at least 0, and at most 2147483647"):
        stiction.Simulator(model, iteration_budget=2**40)


@pytest.mark.parametrize("value", [None, "scene.xml", 3, mujoco.MjData])
def test_another_object_in_place_of_the_model_is_refused(value: Any) -> None:
    with pytest.raises(stiction.Error, match=r"^model: is (None|an? \w+), not a mujoco.MjModel"):
        stiction.Simulator(value)


def test_numpy_numbers_are_accepted(model: mujoco.MjModel) -> None:
    simulator = stiction.Simulator(
        model, time_step=np.float32(0.25), tolerance=np.float64(1e-6), num_threads=np.int64(1)
    )
    assert simulator.time_step == 0.25
    assert type(simulator.options["tolerance"]) is float
    assert type(simulator.options["num_threads"]) is int
    assert simulator.step(mujoco.MjData(model), np.int32(3)).num_steps == 3


@pytest.mark.parametrize(
    ("nstep", "code"),
    [
        (0, "invalid_value"),
        (-1, "invalid_value"),
        (2**31, "invalid_value"),
        (1.0, "wrong_shape"),
        (True, "wrong_shape"),
        ("2", "wrong_shape"),
        (None, "wrong_shape"),
    ],
)
def test_nstep_must_be_a_whole_number(model: mujoco.MjModel, nstep: Any, code: str) -> None:
    data = mujoco.MjData(model)
    with pytest.raises(stiction.Error) as caught:
        stiction.Simulator(model).step(data, nstep)
    assert (caught.value.code, caught.value.where) == (code, "nstep")
    assert data.time == 0


def test_a_number_too_long_to_print_is_refused(model: mujoco.MjModel) -> None:
    with pytest.raises(stiction.Error, match="nstep: is a huge int"):
        stiction.Simulator(model).step(mujoco.MjData(model), 10**5000)


def test_data_must_be_of_the_model(model: mujoco.MjModel) -> None:
    simulator = stiction.Simulator(model)
    other = mujoco.MjModel.from_xml_string(
        SCENE.replace("</worldbody>", "<geom size='.2'/></worldbody>")
    )
    for data in (None, model, mujoco.MjData(other)):
        with pytest.raises(stiction.Error, match=r"^data: ") as caught:
            simulator.step(data)  # type: ignore[arg-type]
        assert caught.value.code == "wrong_shape"


def test_data_of_another_size_is_refused_without_a_signature(model: mujoco.MjModel) -> None:
    def reload(text: str) -> mujoco.MjModel:
        source = mujoco.MjModel.from_xml_string(text)
        buffer = np.zeros(mujoco.mj_sizeModel(source), np.uint8)
        mujoco.mj_saveModel(source, None, buffer)
        return mujoco.MjModel.from_binary_path("m.mjb", {"m.mjb": buffer.tobytes()})

    small = reload(SCENE)
    large = reload(SCENE.replace("</worldbody>", "<body><geom size='1'/></body></worldbody>"))
    assert small.signature == large.signature == 0
    simulator = stiction.Simulator(small)
    with pytest.raises(stiction.Error, match="belongs to another model"):
        simulator.step(mujoco.MjData(large))
    assert simulator.step(mujoco.MjData(small)).ok


def test_a_model_that_cannot_be_simulated_is_refused_with_all_its_faults(
    model: mujoco.MjModel,
) -> None:
    model.body_mass[1] = math.nan
    model.geom_friction[0, 0] = -1
    with pytest.raises(stiction.Error) as caught:
        stiction.Simulator(model)
    assert caught.value.code == "invalid_value"
    assert "body 1: mass is nan" in str(caught.value)
    assert "geom 0: friction is -1" in str(caught.value)


@pytest.mark.parametrize(
    ("path", "code"),
    [
        (None, "wrong_shape"),
        (b"x", "wrong_shape"),
        (3, "wrong_shape"),
        ("a\0b", "invalid_value"),
        ("a\udcff", "invalid_value"),
        ("n" * 300, "invalid_value"),
        ("n" * 5000, "invalid_value"),
    ],
)
def test_every_path_argument_refuses_other_objects(path: Any, code: str) -> None:
    simulator = stiction.Simulator(mujoco.MjModel.from_xml_string("<mujoco/>"))
    for open_it in (
        stiction.load_scene,
        stiction.Recording,
        lambda x: stiction.Recorder(x, simulator),
        lambda x: stiction.Simulator(simulator.model, properties=x or 3),
    ):
        with pytest.raises(stiction.Error) as caught:
            open_it(path)
        assert caught.value.code == code


def test_a_recorder_needs_a_simulator(tmp_path: Path) -> None:
    with pytest.raises(stiction.Error, match="is None, must be a stiction.Simulator") as caught:
        stiction.Recorder(tmp_path / "x.mcap", None)  # type: ignore[arg-type]
    assert (caught.value.code, caught.value.where) == ("wrong_shape", "simulator")
    assert not (tmp_path / "x.mcap").exists()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "an int"),
        ([], "a list"),
        (None, "None"),
        ("", "a str"),
        ({}, "a dict"),
        (1.0, "a float"),
    ],
)
def test_types_have_their_article(value: object, text: str) -> None:
    assert describe_type(value) == text
    assert describe_type(mujoco.MjModel.from_xml_string("<mujoco/>")) == "an MjModel"


def test_no_message_writes_an_article_before_a_type_of_any_kind() -> None:
    """'is a int' comes from such a line; describe_type has the article."""
    package = Path(stiction.__file__).parent
    wrong = re.compile(r"\b(is|are) an? \{type\(")
    assert [p.name for p in package.rglob("*.py") if wrong.search(p.read_text())] == []
