"""Tests `stiction converge`: its norm, its order, its errors against exact ones, and chaos."""

from __future__ import annotations

import io
import itertools
import json
import math
import subprocess
import sys
from pathlib import Path

import mujoco
import numpy as np
import pytest
import rich.console

import stiction
from stiction.analysis.converge import Convergence, convergence, measure_convergence
from stiction.analysis.converge.analysis import calc_order, estimate_finest_error, find_step
from stiction.analysis.converge.norm import calc_distances, calc_levers, judge_sensitivity
from stiction.analysis.converge.table import make_table

FLOOR = '<geom name="floor" type="plane" size="9 9 1"/>'
OSCILLATOR = (
    '<body><joint type="slide" stiffness="100"/><geom size=".1" mass="1"/></body>'
    '</worldbody><keyframe><key qpos="0.1"/></keyframe>'
)
PENDULA = (
    '<body><joint type="hinge" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 -.3" size=".02"/>'
    '<body pos="0 0 -.3"><joint type="hinge" axis="0 1 0"/>'
    '<geom type="capsule" fromto="0 0 0 0 0 -.3" size=".02"/></body></body>'
    '</worldbody><keyframe><key qpos="2.8 0.5"/></keyframe>'
)
BALL = (
    FLOOR + '<body pos="0 0 .05"><freejoint/><geom name="ball" size=".05" mass="1"/></body>'
    '</worldbody><keyframe><key qvel="1 0 0 0 0 0"/></keyframe>'
)


def write(tmp_path: Path, bodies: str, option: str = "") -> Path:
    end = "" if "</worldbody>" in bodies else "</worldbody>"
    path = tmp_path / "scene.xml"
    path.write_text(f"<mujoco><option {option}/><worldbody>{bodies}{end}</mujoco>")
    return path


def measure(path: Path, *models: str, **arguments: float) -> Convergence:
    return measure_convergence(stiction.load_scene(path), models, **arguments)


def follow_spring(x: float, v: float, time: float) -> tuple[float, float]:
    """Returns the exact x and v of x'' = -1000 x - 50 v after a time [s]."""
    w = math.sqrt(1000 - 25**2)
    decay, c, s = math.exp(-25 * time), math.cos(w * time), math.sin(w * time)
    b = (v + 25 * x) / w
    return decay * (x * c + b * s), decay * ((b * w - 25 * x) * c - (x * w + 25 * b) * s)


def test_the_errors_of_a_power_of_the_step_are_found() -> None:
    for order in (1.0, 2.0, 3.0):
        errors = [0.4 * 0.5 ** (order * i) for i in range(5)]
        differences = [a - b for a, b in itertools.pairwise(errors)]
        assert calc_order(differences, 2) == pytest.approx(order)
        assert estimate_finest_error(differences, order, 2) == pytest.approx(errors[-1])


def test_runs_that_do_not_approach_each_other_have_no_error() -> None:
    assert calc_order([1e-3, 1e-3], 2) == 0
    assert estimate_finest_error([1e-3, 1e-3], 0.0, 2) is None
    assert calc_order([0.0, 0.0], 2) is None
    assert estimate_finest_error([1e-14, 1e-14], None, 2) == 1e-14


def test_the_step_of_an_accuracy_is_interpolated_or_extrapolated() -> None:
    steps, errors = [0.4, 0.2, 0.1], [1.6, 0.4, 0.1]  # 10 h^2
    assert find_step(steps, errors, 2.0, 2.0) == 0.4
    assert find_step(steps, errors, 0.9, 2.0) == pytest.approx(0.3)
    assert find_step(steps, errors, 0.001, 2.0) == pytest.approx(0.01)
    assert find_step(steps, errors, 0.001, None) is None


def test_levers_are_meters() -> None:
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><body><joint type="slide"/><joint type="hinge" axis="0 1 0"/>'
        '<geom size=".1" pos=".5 0 0"/><body pos="1 0 0"><joint type="ball"/><geom size=".2"/></body>'
        '</body><body><freejoint/><geom type="box" size=".3 .4 1.2"/></body></worldbody></mujoco>'
    )
    expected = [1, 1.2, *[0.2] * 3, *[1] * 3, *[1.3] * 3]
    assert calc_levers(model) == pytest.approx(expected)


def test_distances_are_those_of_points() -> None:
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><body><freejoint/><geom size='.5'/></body></worldbody></mujoco>"
    )
    levers = calc_levers(model)
    start = np.array([[0, 0, 0, 1, 0, 0, 0]], float)
    moved = np.array([[0, 0.25, 0, 1, 0, 0, 0]], float)
    angle = 0.1
    turned = np.array([[0, 0, 0, math.cos(angle / 2), 0, 0, math.sin(angle / 2)]])
    assert calc_distances(model, levers, start, moved) == pytest.approx([0.25])
    assert calc_distances(model, levers, start, turned) == pytest.approx([0.5 * angle])


def test_an_oscillator_converges_with_order_1_to_its_exact_motion(tmp_path: Path) -> None:
    path = write(tmp_path, OSCILLATOR, 'timestep="0.004" gravity="0 0 0"')
    result = measure(path, "coulomb", duration=0.5, accuracy=1e-3, num_steps=4)
    (model,) = result.models
    assert model.status == "ok" and model.order == pytest.approx(1, abs=0.1)
    scene = stiction.load_scene(path)
    for step, error in zip(result.time_steps, model.errors, strict=True):
        data, simulator = scene.make_data(), scene.make_simulator("coulomb", time_step=step)
        squares = []
        for i in range(1, round(0.5 / step) + 1):
            simulator.step(data)
            if i % round(0.004 / step) == 0:
                squares.append((data.qpos[0] - 0.1 * math.cos(10 * data.time)) ** 2)
        assert error == pytest.approx(math.sqrt(np.mean(squares)), rel=0.1)
    # At the step that is reported, the error is the accuracy.
    again = measure(path, "coulomb", time_step=model.accurate_step, duration=0.5, num_steps=4)
    assert again.models[0].errors[0] == pytest.approx(1e-3, rel=0.1)


def test_a_sliding_ball_converges_and_sap_goes_elsewhere(tmp_path: Path) -> None:
    path = write(tmp_path, BALL, 'timestep="0.004"')
    result = measure(path, "coulomb", "sap", duration=0.3, accuracy=1e-4)
    coulomb, sap = result.models
    assert result.reference == "coulomb" and coulomb.limit_distance == 0
    assert coulomb.order == pytest.approx(1, abs=0.2) and coulomb.status == "ok"
    assert coulomb.accurate_step is not None and coulomb.accurate_step > 1e-5
    # sap glides on mu tau |v_t| = 2 cm at 1 m/s, which no step removes.
    assert sap.limit_distance > 1e-3
    assert sap.limit_distance > 10 * coulomb.errors[-1]


# A motor follows a ramp of 0.2 m/s and moves nothing that touches, so its motion has no error of contact.
RAMP = """
<body><joint name="slide" type="slide" axis="1 0 0" damping="50"/><geom size=".1" mass="1"/></body>
</worldbody>
<actuator><position joint="slide" kp="1000"/></actuator>
<custom><text name="stiction_controls" data="start end"/></custom>
<keyframe><key name="start" time="0" ctrl="0"/><key name="end" time="0.4" ctrl="0.08"/></keyframe>
"""


def test_the_period_of_controls_is_no_error_of_the_step(tmp_path: Path) -> None:
    path = write(tmp_path, RAMP, 'timestep="0.004" gravity="0 0 0"')
    # With these controls the exact motion is that of a spring and a damper in each period.
    for period, held in ((None, 1), (0.02, 5)):
        result = measure(path, "coulomb", num_steps=5, period=period)
        (model,) = result.models
        assert result.period == pytest.approx(0.004 * held)
        x = v = 0.0
        exact = [x]
        for i in range(100):
            target = 0.2 * 0.004 * held * (i // held)
            x, v = follow_spring(x - target, v, 0.004)
            x += target
            exact.append(x)
        scene = stiction.load_scene(path)
        data, simulator = scene.make_data(), scene.make_simulator("coulomb", time_step=0.004)
        squares = []
        for i in range(100):
            data.ctrl[0] = 0.2 * 0.004 * held * (i // held)
            simulator.step(data)
            squares.append((data.qpos[0] - exact[i + 1]) ** 2)
        assert model.errors[0] == pytest.approx(math.sqrt(np.mean(squares)), rel=0.05)
        assert model.order == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("period", [0.0, 0.002, 0.006, -0.004])
def test_a_period_that_no_run_can_have_is_refused(tmp_path: Path, period: float) -> None:
    path = write(tmp_path, RAMP, 'timestep="0.004"')
    with pytest.raises(stiction.Error, match=r"period: is .* give a multiple of 0\.004 s"):
        measure(path, "coulomb", period=period)


def test_a_run_that_does_not_converge_has_no_error_of_its_finest_step(tmp_path: Path) -> None:
    result = measure(
        write(tmp_path, BALL, 'timestep="0.004"'), "coulomb", duration=0.3, num_steps=3
    )
    (model,) = result.models
    differences = [4e-4, 3e-4]  # of an order of 0.4
    positions = [np.zeros((3, 7)) for _ in range(3)]
    for q in positions:
        q[:, 3] = 1
    positions[1][:, 0], positions[2][:, 0] = differences[0], sum(differences)
    scene = stiction.load_scene(tmp_path / "scene.xml")
    convergence._judge(model, scene.model, np.ones(6), positions, result)
    assert model.status == "not_converging" and model.finest_error is None
    assert model.errors == pytest.approx([7e-4, 3e-4])
    text = io.StringIO()
    rich.console.Console(file=text, width=200).print(make_table(result))
    assert text.getvalue().count("3.00e-04") == 1


@pytest.mark.slow
def test_a_double_pendulum_is_chaotic_and_an_oscillator_is_not(tmp_path: Path) -> None:
    (chaotic,) = measure(write(tmp_path, PENDULA), "coulomb", duration=6, num_steps=3).models
    assert chaotic.status == "chaotic" and chaotic.growth > 1e3
    assert 0.01 < chaotic.folding_time < 1
    assert chaotic.judged_time < 6
    assert "compare averages" in chaotic.message
    (calm,) = measure(write(tmp_path, OSCILLATOR), "coulomb", duration=6, num_steps=3).models
    assert calm.status == "ok" and calm.growth < 3 and calm.folding_time is None


def test_a_jump_is_no_chaos() -> None:
    time = np.linspace(0, 1, 100)
    jump = 1e-4 * (time > 0.5)
    small, large = 1e-8 + jump, 1e-6 + jump
    assert not judge_sensitivity([small, large], 0.01).is_chaotic
    grown = judge_sensitivity([1e-8 * np.exp(15 * time), 1e-6 * np.exp(15 * time)], 1 / 99)
    assert grown.is_chaotic and grown.folding_time == pytest.approx(1 / 15, rel=0.01)


def test_models_that_fail_say_so_and_the_others_run(tmp_path: Path) -> None:
    path = write(tmp_path, OSCILLATOR.replace("slide", 'slide" frictionloss=".1'))
    scene = stiction.load_scene(path)
    result = measure_convergence(
        scene, ["no_slip", "coulomb"], duration=0.02, options={"lcp_solver": "active_set"}
    )
    no_slip, coulomb = result.models
    assert no_slip.status in ("refused", "failed") and no_slip.message
    assert coulomb.errors


def test_models_without_springs_keep_their_own_friction(tmp_path: Path) -> None:
    path = write(tmp_path, BALL, 'timestep="0.004"')
    arguments = {"duration": 0.1, "num_steps": 3}
    scene = stiction.load_scene(path)
    models = ["lagged", "similar"]
    soft = measure_convergence(scene, models, **arguments)
    elastic = measure_convergence(scene, models, friction_law="elastic", **arguments)
    assert [model.label for model in elastic.models] == ["lagged", "similar, own friction"]
    assert elastic.models[1].errors == soft.models[1].errors
    assert elastic.models[0].errors != soft.models[0].errors
    assert elastic.models[1].status == "ok"


def test_wrong_arguments_are_errors(tmp_path: Path) -> None:
    scene = stiction.load_scene(write(tmp_path, OSCILLATOR))
    with pytest.raises(stiction.Error, match="needs runs with at least 3 steps"):
        measure_convergence(scene, ["coulomb"], num_steps=2)
    with pytest.raises(stiction.Error, match="accuracy: is 0 m, must be above 0"):
        measure_convergence(scene, ["coulomb"], accuracy=0.0)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    code = "from stiction.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_the_command_prints_the_table_and_its_exit_code_is_that_of_the_accuracy(
    tmp_path: Path,
) -> None:
    path = str(write(tmp_path, OSCILLATOR, 'timestep="0.004" gravity="0 0 0"'))
    arguments = (
        "converge",
        path,
        "--contact-model",
        "lagged",
        "--duration",
        "200ms",
        "--steps",
        "3",
    )
    good = run(*arguments, "--accuracy", "1e-2")
    assert good.returncode == 0, good.stderr
    assert "[m]" in good.stdout and ">= 4 ms" in good.stdout
    figures = json.loads(run(*arguments, "--json").stdout)
    assert figures["models"][0]["order"] == pytest.approx(1, abs=0.1)
    assert figures["time_steps"] == [0.004, 0.002, 0.001]
    wrong = run(*arguments, "--accuracy", "0")
    assert wrong.returncode == 2 and "is 0, must be above 0" in wrong.stderr
    assert figures["period"] == 0.004
    held = json.loads(run(*arguments, "--period", "20ms", "--json").stdout)
    assert held["period"] == 0.02
    quiet = run(*arguments, "--quiet")
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", "")


@pytest.mark.slow
def test_a_run_that_reaches_no_accuracy_exits_with_1(tmp_path: Path) -> None:
    path = str(write(tmp_path, BALL.replace("key qvel", 'key qpos="0 0 .3 1 0 0 0" qvel')))
    result = run(
        "converge", path, "--contact-model", "sap", "--steps", "3", "--duration", "1s",
        "--accuracy", "1e-12", "--time-step", "20ms",
    )  # fmt: skip
    figures = result.stdout.split()
    assert (result.returncode == 1) == ("none" in figures)
