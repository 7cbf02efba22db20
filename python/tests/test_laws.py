"""Normal laws and friction laws as options: Simulator, recordings, command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import mujoco
import numpy as np
import pytest

import stiction
from stiction.analysis.artifacts.creep import solve_creep

SCENE = """
<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 .1"/>
    <body name="ball" pos="0 0 .105"><freejoint/>
      <geom name="ball" size=".1" mass="2" friction=".5"/></body>
  </worldbody>
</mujoco>
"""
STEEL = {
    "materials": {
        "steel": {
            "stiffness": 1e6,
            "hertz_stiffness": 2e9,
            "barrier_stiffness": 1e6,
            "barrier_thickness": 1e-4,
        }
    },
    "geoms": {"*": "steel"},
}
WEIGHT = 2 * 9.81

pytestmark = pytest.mark.filterwarnings("ignore::stiction.IgnoredSettingWarning")


def settle(**options: object) -> float:
    """Step until the ball rests, and return the height of its lowest point above the floor [m]."""
    model = mujoco.MjModel.from_xml_string(SCENE)
    data = mujoco.MjData(model)
    simulator = stiction.Simulator(model, properties=STEEL, **options)
    simulator.step(data, 3000)
    return float(data.qpos[2]) - 0.1


def test_names_are_listed() -> None:
    assert stiction.normal_laws() == [
        "hunt_crossley", "linear", "hertz", "log_barrier", "ipc_barrier",
    ]  # fmt: skip
    assert stiction.friction_laws() == ["soft", "quadratic", "arctan", "elastic"]


def test_ball_rests_where_the_law_carries_its_weight() -> None:
    # Two equal surfaces combine to half the stiffness and twice the thickness; Hertz's law
    # divides the compression between them.
    k, k_h, d = 0.5e6, 2e9 / 2**1.5, 2e-4
    expected = {
        "hunt_crossley": -WEIGHT / k,
        "linear": -WEIGHT / k,
        "hertz": -((WEIGHT / k_h) ** (2 / 3)),
        "log_barrier": k * d * d / WEIGHT,
    }
    for law, height in expected.items():
        assert settle(normal_law=law) == pytest.approx(height, rel=1e-3), law
    s = settle(normal_law="ipc_barrier") / d
    force = k * d * (1 - s) * ((1 - s) / s - 2 * np.log(s))
    assert 0 < s < 1
    assert force == pytest.approx(WEIGHT, rel=1e-2)


def test_near_rigid_barriers_hold_bodies_just_apart() -> None:
    for law, thickness in (("log_barrier", 1e-6), ("ipc_barrier", 1e-3)):
        model = mujoco.MjModel.from_xml_string(SCENE)
        data = mujoco.MjData(model)
        simulator = stiction.Simulator(model, "lagged", normal_law=law)
        simulator.step(data, 3000)
        assert 0 < data.qpos[2] - 0.1 < 2 * thickness


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("normal_law", "hunt-crossley", "did you mean 'hunt_crossley'?"),
        ("normal_law", "custom", "normal_law: there is no 'custom'"),
        ("friction_law", "sof", "did you mean 'soft'?"),
        ("friction_law", 3, "friction_law: is 3, must be a name, a stiction.FrictionLaw"),
    ],
)
def test_unknown_names_are_errors(option: str, value: object, message: str) -> None:
    model = mujoco.MjModel.from_xml_string(SCENE)
    with pytest.raises(stiction.Error) as error:
        stiction.Simulator(model, **{option: value})
    assert message in str(error.value)


def test_options_and_explanation_have_the_laws() -> None:
    model = mujoco.MjModel.from_xml_string(SCENE)
    simulator = stiction.Simulator(
        model, normal_law="hertz", friction_law="arctan", properties=STEEL
    )
    assert simulator.options["normal_law"] == "hertz"
    assert simulator.options["friction_law"] == "arctan"
    again = stiction.Simulator(model, **simulator.options)
    assert again.options == simulator.options
    explanation = simulator.explain("ball", "floor")
    assert (explanation["normal_law"], explanation["friction_law"]) == ("hertz", "arctan")
    numbers = {number["name"]: number for number in explanation["numbers"]}
    assert numbers["hertz_stiffness"]["value"] == pytest.approx(2e9 / 2**1.5)
    assert numbers["hertz_stiffness"]["is_used"]
    assert not numbers["stiffness"]["is_used"]
    assert numbers["barrier_thickness"]["value"] == 2e-4


@pytest.mark.slow
def test_recordings_replay_with_their_laws(tmp_path: Path) -> None:
    scene = tmp_path / "scene.xml"
    scene.write_text(SCENE)
    path = tmp_path / "ball.mcap"
    result = run(
        "run", scene, "--normal-law", "ipc_barrier", "--friction-law", "quadratic",
        "--duration", "0.2s", "--record", path, "--json",
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    figures = json.loads(result.stdout)
    assert (figures["normal_law"], figures["friction_law"]) == ("ipc_barrier", "quadratic")
    assert stiction.Recording(path).options["normal_law"] == "ipc_barrier"
    replay = run("replay", path)
    assert replay.returncode == 0, replay.stdout + replay.stderr


def test_command_line_names_the_nearest_law(tmp_path: Path) -> None:
    scene = tmp_path / "scene.xml"
    scene.write_text(SCENE)
    result = run("run", scene, "--normal-law", "herz")
    assert result.returncode == 2
    assert "did you mean 'hertz'?" in result.stderr


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [Path(sys.executable).parent / "stiction", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("law", ["soft", "quadratic", "arctan"])
def test_creep_is_where_friction_carries_the_load(law: str) -> None:
    f = {
        "soft": lambda s: s / np.sqrt(1 + s * s),
        "quadratic": lambda s: np.where(s < 1, 1 - (1 - s) ** 2, 1),
        "arctan": lambda s: np.arctan(s) * 2 / np.pi,
    }[law]
    bound, eps = np.array([1.0, 2.0, 0.5]), np.array([1e-4, 3e-4, 1e-5])
    for load in (0.1, 1.5, 3.2):
        v = solve_creep(bound, eps, load, law)
        assert np.sum(bound * f(v / eps)) == pytest.approx(load, rel=1e-9)
