"""Tests `stiction run` and `stiction replay` as processes: output, exit codes and Ctrl-C."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from types import SimpleNamespace

import mujoco
import numpy as np
import pytest

import stiction
from stiction import cli
from stiction.commands.output import Messages
from stiction.runs.controls import ControlsName, default_controls, make_controls
from stiction.scene import load_scene

STICTION = Path(sys.executable).parent / "stiction"

ARM = """
<mujoco>
  <worldbody>
    <body><joint name="j" axis="0 1 0" damping="1"/><geom size=".1" pos=".3 0 0"/></body>
  </worldbody>
  <actuator>
    <motor joint="j" ctrlrange="{range}"/>
    <motor joint="j" ctrllimited="false"/>
  </actuator>
  {keyframe}
</mujoco>
"""


def write_arm(tmp_path: Path, limits: str = "-2 5", keyframe: str = "") -> Path:
    path = tmp_path / "arm.xml"
    path.write_text(ARM.format(range=limits, keyframe=keyframe))
    return path


@pytest.mark.slow
def test_run_prints_a_table_and_nothing_on_standard_error(command, pile):
    result = command("run", pile, "--duration", "0.5s")
    assert (result.returncode, result.stderr) == (0, "")
    assert "pile.xml, coulomb, steps of 0.002 s" in result.stdout
    for text in ("steps           250", "0.5 s simulated", "sqrt(J)", "m/s", "J at the start"):
        assert text in result.stdout


@pytest.mark.slow
def test_json_is_the_only_text_on_standard_output(command, pile):
    result = command(
        "run", pile, "--json", "--contact-model", "sap", "--duration", "0.3", "--time-step", "1ms"
    )
    figures = json.loads(result.stdout)
    assert result.returncode == 0
    assert result.stderr.startswith("warning: condim of geom 4")  # sap has no rolling friction
    assert figures["contact_model"] == "sap"
    assert figures["status"] == "ok"
    assert figures["num_steps"] == figures["requested_steps"] == 300
    assert figures["simulated_time"] == pytest.approx(0.3)
    assert 0 < figures["us_per_step"]["min"] <= figures["us_per_step"]["median"]
    assert figures["contacts"]["max"] >= figures["contacts"]["mean"] > 0
    assert 0 < figures["velocity_bound"] < 1e-3
    assert figures["real_time_factor"] > 0


def test_energy_is_that_of_a_falling_ball(command, tmp_path):
    path = tmp_path / "ball.xml"
    path.write_text(
        "<mujoco><worldbody><body pos='0 0 5'><freejoint/><geom size='.1' mass='2'/></body>"
        "</worldbody></mujoco>"
    )
    figures = json.loads(command("run", path, "--json", "--duration", "0.4s").stdout)
    start, end = figures["energy"]["start"], figures["energy"]["end"]
    assert start == pytest.approx({"potential": 2 * 9.81 * 5, "kinetic": 0})
    # The fall of semi-implicit Euler is g t (t + dt) / 2, and its speed g t.
    assert end["potential"] == pytest.approx(2 * 9.81 * (5 - 9.81 * 0.4 * 0.402 / 2))
    assert end["kinetic"] == pytest.approx((9.81 * 0.4) ** 2)


@pytest.mark.slow
@pytest.mark.parametrize("contact_model", ["mujoco", "tamsi"])
def test_models_without_an_error_bound_show_none(command, pile, contact_model):
    options = ("--contact-model", contact_model, "--duration", "50ms")
    figures = json.loads(command("run", pile, "--json", *options).stdout)
    assert figures["error_bound"] is None
    assert figures["velocity_bound"] is None
    assert figures["num_steps"] == 25


@pytest.mark.slow
@pytest.mark.parametrize(
    ("duration", "num_steps"),
    [("2ms", 1), ("0.1", 50), ("1.9999 ms", 1), ("2.1ms", 2), ("5e4us", 25)],
)
def test_a_run_has_the_fewest_steps_that_reach_the_duration(command, pile, duration, num_steps):
    figures = json.loads(command("run", pile, "--json", "--duration", duration).stdout)
    assert figures["num_steps"] == num_steps


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--contact-model", "lagd"], "no contact model 'lagd' (did you mean 'lagged'?)"),
        (["--duration", "5parsecs"], "'5parsecs' is not a time; write a number of seconds"),
        (["--duration", "0"], "'0' is not a finite time above 0"),
        (["--time-step", "-1ms"], "'-1ms' is not a finite time above 0"),
        (["--tolerance", "1"], "is 1.0, must be in (0, 1)"),
        (["--num-threads", "0"], "--num-threads: is 0, must be in 1..1024"),
        (
            ["--set", "gap_corection=1"],
            "no setting 'gap_corection' (did you mean 'gap_correction'?)",
        ),
        (["--set", "gap_correction"], "'gap_correction' is not NAME=VALUE"),
        (["--set", "friction_directions=8.5"], "friction_directions is '8.5', must be an integer"),
        (["--set", "drop_separating=1"], "drop_separating is '1', must be true or false"),
        (["--controls", "foo"], "'foo' is not one of 'zero', 'random', 'keyframe'"),
        (["--nonsense"], "--nonsense"),
    ],
)
def test_usage_errors_exit_with_2(command, pile, arguments, message):
    result = command("run", pile, *arguments)
    assert result.returncode == 2
    assert message in result.stderr
    assert result.stdout == ""


@pytest.mark.slow
def test_set_gives_an_argument_of_simulator(command, pile):
    run = ("run", pile, "--json", "--duration", "20ms", "--contact-model")
    settings = ("--set", "drop_separating=false", "--set", "max_correction_speed=0.5")
    figures = json.loads(command(*run, "no_slip", *settings).stdout)
    assert figures["settings"] == {"drop_separating": False, "max_correction_speed": 0.5}
    result = command(*run, "stewart_trinkle", "--set", "friction_directions=7")
    assert result.returncode == 1
    assert "friction_directions" in result.stderr
    # A setting without effect gives a warning.
    result = command(*run, "lagged", "--set", "friction_directions=8")
    assert "friction_directions" in result.stderr


@pytest.mark.slow
def test_missing_scene_exits_with_2(command):
    result = command("run", "nosuch.xml")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("error: nosuch.xml: there is no such file; these scenes come")
    assert result.stderr.count("\n") == 1


@pytest.mark.slow
def test_control_that_is_not_finite_stops_the_run(command, tmp_path):
    arm = write_arm(tmp_path, keyframe="<keyframe><key ctrl='0 nan'/></keyframe>")
    result = command("run", arm, "--record", "arm.mcap")
    assert result.returncode == 1
    expected = (
        "error: step 1 failed (non_finite_input): ctrl[1] is nan at time 0, "
        "must be within [-1e10, 1e10]; the step was not"
    )
    assert expected in result.stderr

    recording = stiction.Recording(tmp_path / "arm.mcap")
    assert recording.damage is None
    assert len(recording) == 0
    assert recording.failures[0].report["status"] == "non_finite_input"
    result = command("replay", "arm.mcap", "--verify")
    assert result.returncode == 0
    assert "bit-exact: 0 steps; 1 failed, as recorded" in result.stdout


@pytest.mark.slow
def test_a_control_beyond_mujocos_limit_fails_the_step(command, tmp_path):
    """The first random control is finite, but larger than MuJoCo accepts."""
    arm = write_arm(tmp_path, limits="-1e300 1e300")
    result = command("run", arm, "--controls", "random", "--json")
    figures = json.loads(result.stdout)
    assert result.returncode == 1
    assert figures["status"] == "non_finite_input"
    assert figures["message"].startswith("ctrl[0] is")


def test_warnings_are_printed_on_standard_error_even_before_an_error(capsys):
    messages = Messages()

    def warn_and_fail() -> None:
        with messages.show_warnings():
            warnings.warn("solref has no effect", stiction.StictionWarning, stacklevel=1)
            warnings.warn("solref has no effect", stiction.StictionWarning, stacklevel=1)
            raise stiction.Error("invalid_value", "x", "is wrong")

    with pytest.raises(stiction.Error):
        warn_and_fail()
    assert capsys.readouterr() == ("", "warning: solref has no effect\n")


def test_failed_certificate_exits_with_3(monkeypatch, capsys, pile):
    """Replaces a report by one with a failed certificate, since no scene is known to fail it."""
    real_step = stiction.Simulator.step

    def step(self: stiction.Simulator, data: mujoco.MjData, nstep: int = 1) -> object:
        report = real_step(self, data, nstep)
        if data.time < 0.1:
            return report
        return SimpleNamespace(
            status="certificate_failed",
            status_bits=1,
            message="it is wrong",
            num_steps=0,
            num_warnings=0,
        )

    monkeypatch.setattr(stiction.Simulator, "step", step)
    monkeypatch.setattr(sys, "argv", ["stiction", "run", str(pile)])
    with pytest.raises(SystemExit) as exit_info:
        cli.main()
    assert exit_info.value.code == 3
    assert "error: step 50 failed (certificate_failed): it is wrong" in capsys.readouterr().err


@pytest.mark.slow
def test_recorded_run_replays_bit_for_bit(command, pile):
    result = command("run", pile, "--record", "a.mcap", "--duration", "0.4s", "--json")
    run = json.loads(result.stdout)
    assert run["recording"] == "a.mcap"
    result = command("replay", "a.mcap", "--verify")
    assert (result.returncode, result.stderr) == (0, "")
    assert "bit-exact: 200 steps" in result.stdout

    result = command("replay", "a.mcap", "--verify", "--json", "--from-step", "150")
    replay = json.loads(result.stdout)
    assert replay["bit_exact"] is True
    assert replay["num_steps"] == 50
    assert replay["difference"] is None
    replay = json.loads(command("replay", "a.mcap", "--json").stdout)
    assert replay["bit_exact"] is None  # --verify was not given
    for key in ("contacts", "iterations", "error_bound", "velocity_bound"):
        assert replay[key] == run[key]


@pytest.mark.slow
def test_record_overwrites_only_recordings(command, pile):
    text = pile.read_text()
    result = command("run", pile, "--record", "pile.xml")
    assert result.returncode == 1
    assert "pile.xml: exists and is not a recording; give another name" in result.stderr
    assert pile.read_text() == text
    for _ in range(2):
        assert command("run", pile, "--record", "a.mcap", "--duration", "4ms").returncode == 0


@pytest.mark.slow
def test_threads_give_the_same_digest(command, pile):
    digests = [
        json.loads(command("run", pile, "--json", "--num-threads", n).stdout)["state_digest"]
        for n in (1, 2)
    ]
    assert digests[0] == digests[1]


@pytest.mark.slow
def test_replay_of_another_simulator_differs(command, pile, tmp_path, monkeypatch, capsys):
    """Changes the last bit of a step's result, which the replay must find."""
    command("run", pile, "--record", "a.mcap", "--duration", "0.2s")
    real_step = stiction.Simulator.step

    def step(self: stiction.Simulator, data: mujoco.MjData, nstep: int = 1) -> object:
        report = real_step(self, data, nstep)
        if data.time > 0.1:
            data.qvel[2] = np.nextafter(data.qvel[2], 1)
        return report

    monkeypatch.setattr(stiction.Simulator, "step", step)
    path = str(tmp_path / "a.mcap")
    monkeypatch.setattr(sys, "argv", ["stiction", "replay", path, "--verify", "--json"])
    with pytest.raises(SystemExit) as exit_info:
        cli.main()
    output = capsys.readouterr()
    figures = json.loads(output.out)
    assert exit_info.value.code == 1
    assert figures["bit_exact"] is False
    assert figures["difference"]["step"] == 50
    assert figures["difference"]["field"] == "qvel[2]"
    assert figures["difference"]["num_entries"] == 1
    assert "step 50 (t = 0.1 s) differs: qvel[2] (joint 0) is" in output.err


@pytest.mark.slow
def test_replay_warns_of_another_environment(command, pile, tmp_path, monkeypatch):
    monkeypatch.setattr(mujoco, "__version__", "3.9.9")
    model = mujoco.MjModel.from_xml_path(str(pile))
    with stiction.Recorder(tmp_path / "a.mcap", stiction.Simulator(model)) as recorder:
        recorder.step(mujoco.MjData(model), 5)
    monkeypatch.undo()
    result = command("replay", "a.mcap", "--verify")
    assert result.returncode == 0
    expected = f"warning: recorded with mujoco version 3.9.9, but this is {mujoco.__version__}"
    assert result.stderr.startswith(expected)
    assert "bit-exact: 5 steps" in result.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["nosuch.mcap"], 2, "error: nosuch.mcap: there is no such file"),
        (["pile.xml"], 1, "error: pile.xml: is not an MCAP file"),
        (["a.mcap", "--from-step", "51"], 1, "error: a.mcap: has no step 51; it has 50 steps"),
        (["a.mcap", "--from-step", "-1"], 2, "--from-step"),
    ],
)
def test_replay_errors(command, pile, arguments, code, message):
    command("run", pile, "--record", "a.mcap", "--duration", "0.1s")
    result = command("replay", *arguments)
    assert result.returncode == code
    assert message in result.stderr
    assert result.stdout == ""


def wait_for_size(path: Path, size: int) -> None:
    deadline = time.monotonic() + 60
    while not path.exists() or path.stat().st_size < size:
        assert time.monotonic() < deadline, "the file did not grow"
        time.sleep(0.01)


def start_endless_run(pile: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [STICTION, "run", pile, "--record", "a.mcap", "--duration", "24h"],
        cwd=pile.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for_size(pile.parent / "a.mcap", 100_000)
    return process


def test_interrupt_leaves_a_whole_recording(command, pile):
    process = start_endless_run(pile)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "error: interrupted after" in err
    assert "Traceback" not in err
    assert "steps " in out
    recording = stiction.Recording(pile.parent / "a.mcap")
    assert len(recording) > 0
    assert recording.damage is None
    result = command("replay", "a.mcap", "--verify")
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.slow
def test_the_recording_of_a_killed_run_replays_up_to_its_end(command, pile):
    process = start_endless_run(pile)
    process.kill()
    process.communicate(timeout=60)
    result = command("replay", "a.mcap", "--verify", "--json")
    figures = json.loads(result.stdout)
    assert result.returncode == 0
    assert figures["damage"]["is_truncated"]
    assert figures["num_steps"] == figures["recorded_steps"] > 0
    assert "the file is truncated;" in result.stderr


@pytest.mark.slow
def test_progress_is_shown_on_a_terminal(pile):
    """Standard error is a terminal, and standard output is not."""
    try:
        leader, follower = pty.openpty()
    except OSError as e:  # for example in a container without /dev/pts
        pytest.skip(f"needs a pseudo-terminal: {e}")
    process = subprocess.Popen(
        [STICTION, "run", pile, "--duration", "20s", "--json"],
        stdout=subprocess.PIPE,
        stderr=follower,
        env={**os.environ, "TERM": "xterm"},
    )
    os.close(follower)
    shown = b""
    while True:
        try:
            part = os.read(leader, 4096)
        except OSError:  # Linux raises it at the end of the output
            break
        if not part:
            break
        shown += part
    out, _ = process.communicate(timeout=60)
    os.close(leader)
    assert b"of 20.00 s" in shown
    assert json.loads(out)["num_steps"] == 10000


def test_controls_by_name(tmp_path):
    scene = load_scene(write_arm(tmp_path, keyframe="<keyframe><key ctrl='1.5 -3'/></keyframe>"))
    data = scene.make_data()
    make_controls(ControlsName.zero, scene)(data)
    assert list(data.ctrl) == [0, 0]
    make_controls(ControlsName.keyframe, scene)(data)
    assert list(data.ctrl) == [1.5, -3]
    assert default_controls(scene) == ControlsName.keyframe
    assert default_controls(load_scene(write_arm(tmp_path))) == ControlsName.zero


def test_random_controls_depend_on_seed_and_time_alone(tmp_path):
    scene = load_scene(write_arm(tmp_path))
    data = scene.make_data()

    def sample(seed: int, time_step: float) -> np.ndarray:
        controls, values = make_controls(ControlsName.random, scene, seed), []
        for i in range(round(5 / time_step)):
            data.time = i * time_step
            controls(data)
            values.append(data.ctrl.copy())
        return np.array(values)

    fine, coarse = sample(1, 1e-3), sample(1, 5e-3)
    assert np.array_equal(fine[::5], coarse)
    assert not np.array_equal(fine, sample(2, 1e-3))
    assert len(np.unique(fine[:, 0])) == 50  # drawn anew every 0.1 s
    low, high = fine.min(axis=0), fine.max(axis=0)
    assert np.all(low >= [-2, -1])
    assert np.all(high <= [5, 1])
    assert np.all(high - low > 0.8 * np.array([7, 2]))  # holds for the 50 draws of this seed


@pytest.mark.slow
def test_an_empty_scene_runs(command, tmp_path):
    (tmp_path / "empty.xml").write_text("<mujoco/>")
    result = command("run", "empty.xml", "--record", "a.mcap", "--controls", "random")
    assert (result.returncode, result.stderr) == (0, "")
    assert "bit-exact: 1000 steps" in command("replay", "a.mcap", "--verify").stdout


@pytest.mark.slow
def test_keyframe_controls_need_a_keyframe(command, pile):
    result = command("run", pile, "--controls", "keyframe")
    assert result.returncode == 1
    assert "pile.xml: has no <keyframe> to take controls from; use 'zero'" in result.stderr
