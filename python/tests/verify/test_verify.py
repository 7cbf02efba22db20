"""Tests that a recording is verified without a solver, and that each check finds its fault.

A fault is put into a copy of one step of a good recording, as a solver or an editor could.
"""

from __future__ import annotations

import dataclasses
import io
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from rich.console import Console

import stiction
from stiction.analysis.artifacts.chord import _PLATE
from stiction.analysis.verify import Verification, verify_recording
from stiction.analysis.verify.springs import sum_springs
from stiction.analysis.verify.table import print_verification
from stiction.recording.step import Step

SCENES = Path(__file__).parents[3] / "scenes"
PROPERTIES = {
    "materials": {"soft": {"stiffness": 1e4, "dissipation": 5, "friction": 0.5}},
    "geoms": {"*": "soft"},
}
# A box slides, tips a little and comes to rest; a pendulum swings.
XML = """<mujoco><option timestep="0.002"/><worldbody><geom name="floor" type="plane" size="9 9 1"/>
<body name="box" pos="0 0 .05"><freejoint name="box"/>
<geom name="box" type="box" size=".05 .06 .05" mass="1"/></body>
<body pos="2 0 1"><joint name="swing" axis="0 1 0" damping=".1" stiffness="2" frictionloss=".01"/>
<geom type="capsule" fromto="0 0 0 .4 0 0" size=".02"/></body>
</worldbody><keyframe><key qpos="0 0 .051 1 0 0 0 .3" qvel="1 .3 0 0 0 2 0"/></keyframe></mujoco>"""


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., stiction.Recording]:
    """Returns a function that records a run of the box, and keeps it for equal arguments."""
    folder = tmp_path_factory.mktemp("recordings")
    scene = folder / "box.xml"
    scene.write_text(XML)

    def record_run(contact_model: str, **options: Any) -> stiction.Recording:
        path = folder / f"{contact_model}_{'_'.join(options)}.mcap"
        if not path.exists():
            loaded = stiction.load_scene(scene, options.pop("properties", None))
            simulator, data = loaded.make_simulator(contact_model, **options), loaded.make_data()
            with stiction.Recorder(path, simulator) as recorder:
                recorder.step(data, 250)
        return stiction.Recording(path)

    return record_run


def verify_changed(
    recording: stiction.Recording, change: Callable[[Step], None], monkeypatch: pytest.MonkeyPatch
) -> Verification:
    """Verifies the recording with a change of its step 30."""
    steps = list(recording.all_steps())
    changed = steps[29]
    changed.contacts, changed.state = changed.contacts.copy(), changed.state.copy()
    change(changed)

    def read(self: stiction.Recording) -> Iterator[Step]:
        return iter(steps)

    monkeypatch.setattr(stiction.Recording, "all_steps", read)
    return verify_recording(recording)


def find_pressed(step: Step) -> int:
    """Returns the contact with the largest impulse."""
    return int(np.argmax(np.linalg.norm(step.contacts["impulse"], axis=1)))


def expect_only(result: Verification, *names: str) -> None:
    """Expects that just these checks failed, and in step 30 or the one after it."""
    failed = {name for name, check in result.checks.items() if check.num_failed}
    assert failed == set(names)
    assert not result.ok
    assert all(result.checks[name].step in (30, 31) for name in names)


@pytest.mark.parametrize(
    "contact_model",
    ["sap", "lagged", "lagged_regularized", "similar", "tamsi", "coulomb", "no_slip", "viscous",
     "stewart_trinkle", "anitescu_potra", "drumwright_shell", "rigid_coulomb"],
)  # fmt: skip
def test_runs_of_every_model_are_verified(
    record: Callable[..., stiction.Recording], contact_model: str
) -> None:
    result = verify_recording(record(contact_model))
    assert result.ok, result.figures()
    assert result.num_steps == 250
    assert result.checks["momentum"].num_steps == 250
    assert result.known_dofs == 1  # nothing but the contacts acts on the scene
    assert not any(result.unknown.values())
    expected = {"adhesion", "energy"}
    if contact_model != "drumwright_shell":  # the energy of all its impulses together is least
        expected |= {"friction_work", "touch"}
    assert expected <= result.checks.keys()


@pytest.mark.slow
def test_the_law_of_a_given_stiffness_is_verified(
    record: Callable[..., stiction.Recording], monkeypatch: pytest.MonkeyPatch
) -> None:
    for contact_model in ("coulomb", "lagged", "tamsi", "similar"):
        good = verify_recording(record(contact_model, properties=PROPERTIES))
        assert good.ok, good.figures()
        assert good.checks["law"].num_steps > 200

    def stiffen(step: Step) -> None:
        step.contacts["impulse"] *= 1.02

    result = verify_changed(record("coulomb", properties=PROPERTIES), stiffen, monkeypatch)
    assert result.checks["law"].num_failed == 1 and result.checks["momentum"].num_failed == 1


def test_an_impulse_that_is_wrong_by_a_thousandth_breaks_the_balance(
    record: Callable[..., stiction.Recording], monkeypatch: pytest.MonkeyPatch
) -> None:
    def change(step: Step) -> None:
        step.contacts["impulse"][:] *= 1.001

    expect_only(verify_changed(record("coulomb"), change, monkeypatch), "momentum")


def test_an_impulse_at_the_wrong_point_breaks_the_balance(
    record: Callable[..., stiction.Recording], monkeypatch: pytest.MonkeyPatch
) -> None:
    def change(step: Step) -> None:
        step.contacts["point"][find_pressed(step), 1] += 1e-3

    assert verify_changed(record("coulomb"), change, monkeypatch).checks["momentum"].num_failed == 1


def test_a_contact_that_pulls_is_found(
    record: Callable[..., stiction.Recording], monkeypatch: pytest.MonkeyPatch
) -> None:
    def change(step: Step) -> None:
        step.contacts["impulse"][find_pressed(step)] *= -1

    assert verify_changed(record("coulomb"), change, monkeypatch).checks["adhesion"].num_failed == 1


def test_friction_beyond_its_bound_is_found(
    record: Callable[..., stiction.Recording], monkeypatch: pytest.MonkeyPatch
) -> None:
    def change(step: Step) -> None:
        normal = step.contacts["normal"]
        impulse = step.contacts["impulse"]
        along = np.sum(impulse * normal, axis=1, keepdims=True) * normal
        step.contacts["impulse"] = along + 1.01 * (impulse - along)

    result = verify_changed(record("coulomb"), change, monkeypatch)
    assert result.checks["cone"].num_failed == 1 and result.checks["momentum"].num_failed == 1
    assert result.checks["cone"].place.startswith("contact ")


def test_friction_that_drives_is_found(
    record: Callable[..., stiction.Recording], monkeypatch: pytest.MonkeyPatch
) -> None:
    def change(step: Step) -> None:
        normal = step.contacts["normal"]
        impulse = step.contacts["impulse"]
        along = np.sum(impulse * normal, axis=1, keepdims=True) * normal
        step.contacts["impulse"] = along - (impulse - along)

    result = verify_changed(record("coulomb"), change, monkeypatch)
    assert result.checks["friction_work"].num_failed == 1
    assert result.checks["cone"].num_failed == 0


def test_a_force_at_a_distance_is_found(
    record: Callable[..., stiction.Recording], monkeypatch: pytest.MonkeyPatch
) -> None:
    def change(step: Step) -> None:
        step.contacts["distance"] += 1e-3

    expect_only(verify_changed(record("coulomb"), change, monkeypatch), "touch")


def test_a_changed_state_is_found(
    record: Callable[..., stiction.Recording], monkeypatch: pytest.MonkeyPatch
) -> None:
    recording = record("coulomb")

    def move(step: Step) -> None:
        step.state[recording.layout["qpos"]][0] += 1e-6

    result = verify_changed(recording, move, monkeypatch)
    assert result.checks["digest"].num_failed == 1
    assert result.checks["positions"].num_failed == 2  # the step to the state and the one from it


def test_energy_from_nowhere_is_found(
    record: Callable[..., stiction.Recording], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The box is thrown up by consistent impulses, as by a spring that no law has."""
    recording = record("coulomb")

    def throw(step: Step) -> None:
        step.state[recording.layout["qvel"]][2] += 0.5
        step.contacts["impulse"] += 0.5 / len(step.contacts) * step.contacts["normal"]

    result = verify_changed(recording, throw, monkeypatch)
    assert result.checks["energy"].num_failed >= 1


# Blocks that stick, swing on soft springs without much damping, roll and slide, pushed to and fro.
SPRINGS_XML = """<mujoco><option timestep="0.002"/><worldbody>
<geom name="floor" type="plane" size="9 9 1"/>
<body name="block" pos="0 0 .05"><freejoint/>
<geom name="block" type="box" size=".1 .1 .05" mass="1"/></body>
<body name="ball" pos="1 0 .05"><freejoint/><geom name="ball" size=".05" mass=".5"/></body>
<body name="wheel" pos="2 0 .05" euler="90 0 0"><freejoint/>
<geom name="wheel" type="cylinder" size=".05 .02" mass=".5"/></body>
<body name="soft" pos="3 0 .049"><freejoint/><geom name="soft" size=".05" mass=".5"/></body>
</worldbody></mujoco>"""
SPRINGS = {
    "materials": {
        "hard": {"stiffness": 1e6, "tangential_stiffness": 2e4, "tangential_damping": 0.05},
        "soft": {"hydroelastic_modulus": 1e6, "dissipation": 10, "tangential_damping": 0.05},
        "floor": {"stiffness": 1e6, "tangential_stiffness": 2e4, "rigid": True},
    },
    "geoms": {"*": "hard", "soft": "soft", "floor": "floor"},
}


@pytest.fixture(scope="module")
def record_springs(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., stiction.Recording]:
    """Returns a function that records blocks on springs, and keeps the run for equal arguments."""
    folder = tmp_path_factory.mktemp("springs")
    model = mujoco.MjModel.from_xml_string(SPRINGS_XML)

    def record_run(contact_model: str, advances: bool = False) -> stiction.Recording:
        path = folder / f"{contact_model}_{advances}.mcap"
        if not path.exists():
            simulator = stiction.Simulator(
                model, contact_model, friction_law="elastic", properties=SPRINGS
            )
            data = mujoco.MjData(model)
            data.qvel[6:12] = [0.5, 0, 0, 0, 0, 8]  # the ball rolls a little and spins
            data.qvel[12:15] = [0.6, 0, 0]
            with stiction.Recorder(path, simulator) as recorder:
                for i in range(300):
                    push = 1.0 if i // 50 % 2 else -1.0
                    data.xfrc_applied[1:, 0] = (push, 0, 0, push)
                    if advances and i % 20 == 10:
                        recorder.advance(data, data.time + 0.01, 1e-4)
                    else:
                        recorder.step(data)
        return stiction.Recording(path)

    return record_run


@pytest.mark.slow
@pytest.mark.parametrize("contact_model", ["lagged", "coulomb"])
def test_springs_that_give_energy_back_are_honest(
    record_springs: Callable[..., stiction.Recording], contact_model: str
) -> None:
    recording = record_springs(contact_model)
    stored = np.array(
        [sum_springs(s.anchors, s.anchors["stiffness"]).energy.sum() for s in recording]
    )
    assert np.sum(np.diff(stored) < -0.1 * stored[:-1]) > 20  # the springs do give back
    result = verify_recording(recording)
    assert result.ok, result.figures()
    assert result.checks["friction_work"].num_steps == 299
    assert result.unknown["springs at the start of the step"] == 1


@pytest.mark.slow
def test_friction_that_gives_back_more_than_its_springs_hold_is_found(
    record_springs: Callable[..., stiction.Recording], monkeypatch: pytest.MonkeyPatch
) -> None:
    recording = record_springs("lagged")

    def drive(step: Step) -> None:
        slip, normal = step.contacts["slip_velocity"], step.contacts["normal"]
        slip = slip - np.sum(slip * normal, axis=1, keepdims=True) * normal
        speed = np.linalg.norm(slip, axis=1, keepdims=True)
        size = np.linalg.norm(step.contacts["impulse"], axis=1, keepdims=True)
        step.contacts["impulse"] += 0.1 * size * slip / np.maximum(speed, 1e-12)

    result = verify_changed(recording, drive, monkeypatch)
    assert result.checks["friction_work"].num_failed == 1
    assert result.checks["friction_work"].place.startswith("geoms ")


def test_springs_that_hold_more_than_they_got_are_found(
    record_springs: Callable[..., stiction.Recording], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stretch(step: Step) -> None:
        step.anchors = step.anchors.copy()
        step.anchors["stretch"] *= 1.05

    recording = record_springs("lagged")
    expect_only(verify_changed(recording, stretch, monkeypatch), "friction_work")


def print_text(result: Verification) -> str:
    """Returns what the command prints of a verification."""
    console = Console(file=io.StringIO(), width=10_000)
    print_verification(result, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_text_counts_steps_and_names_what_is_missing(
    record: Callable[..., stiction.Recording],
) -> None:
    result = verify_recording(record("mujoco"))
    assert re.search(
        r"has no implicit terms of the equations of 'mujoco': \d+ steps\.\n", print_text(result)
    )
    for count, steps in ((1, "1 step"), (2, "2 steps")):
        result.num_failed_steps = count
        result.unknown = dict.fromkeys(result.unknown, count)
        text = print_text(result)
        assert (
            f"'mujoco': {steps}.\n" in text and f"\n{steps} failed in the recorded run.\n" in text
        )


@pytest.mark.slow
def test_of_calls_of_advance_only_the_digest_is_verified(
    record_springs: Callable[..., stiction.Recording], monkeypatch: pytest.MonkeyPatch
) -> None:
    recording = record_springs("coulomb", advances=True)
    result = verify_recording(recording)
    assert result.ok, result.figures()
    assert result.checks["digest"].num_steps == 300
    assert result.checks["momentum"].num_steps == 285
    assert {reason: n for reason, n in result.unknown.items() if "'advance'" in reason} == {
        "forces of single steps within calls of 'advance', only their averages": 15
    }
    assert (
        "Not verified, because the recording has no forces of single steps within calls of 'advance', "
        "only their averages: 15 steps.\n"
    ) in print_text(result)
    assert "has no springs at the start of the step: 16 steps.\n" in print_text(result)
    # The first step, and those after a call.
    assert result.unknown["springs at the start of the step"] == 16

    def fall(step: Step) -> None:  # step 31 is a call
        step.state[recording.layout["qpos"]][2] -= 1e-6

    changed = verify_changed(recording, fall, monkeypatch)
    assert changed.checks["digest"].num_failed == 1 and changed.checks["positions"].num_failed == 1


def test_springs_of_a_turning_gripper_are_verified(tmp_path: Path) -> None:
    """Bodies that are held move along arcs, which is the work of no force."""
    model = mujoco.MjModel.from_xml_string(_PLATE.format(step=0.01, r=0.06))
    simulator = stiction.Simulator(model, "lagged", friction_law="elastic")
    data = mujoco.MjData(model)
    data.ctrl[:] = [20, 20, 4]
    path = tmp_path / "run.mcap"
    with stiction.Recorder(path, simulator) as recorder:
        recorder.step(data, 200)
    result = verify_recording(stiction.Recording(path))
    assert result.ok, result.figures()
    assert result.checks["friction_work"].num_steps > 190


def test_limits_and_torsion_are_unknown(tmp_path: Path) -> None:
    scene = tmp_path / "scene.xml"
    scene.write_text(
        XML.replace('mass="1"', 'mass="1" condim="4"').replace(
            'frictionloss=".01"', 'range="-17 17"'
        )
    )
    loaded = stiction.load_scene(scene)
    path = tmp_path / "run.mcap"
    with stiction.Recorder(path, loaded.make_simulator("coulomb")) as recorder:
        recorder.step(loaded.make_data(), 100)
    result = verify_recording(stiction.Recording(path))
    assert result.ok, result.figures()
    assert result.unknown["torques of torsional and rolling friction"] > 50
    assert result.unknown["impulses of limits"] > 0
    assert 0.3 < result.known_dofs < 1
    # Without torsion, the model `sap` leaves nothing open but the limit.
    with stiction.Recorder(path, loaded.make_simulator("sap")) as recorder:
        recorder.step(loaded.make_data(), 100)
    assert (
        verify_recording(stiction.Recording(path)).unknown[
            "torques of torsional and rolling friction"
        ]
        == 0
    )


@pytest.mark.parametrize("law", ["soft", "elastic"])
@pytest.mark.parametrize("name", ["pinch", "spatula", "trotter", "quadruped"])
def test_scenes_with_robots_are_verified(name: str, law: str, tmp_path: Path) -> None:
    scene = stiction.load_scene(SCENES / f"{name}.xml")
    path = tmp_path / "run.mcap"
    data = scene.make_data()
    simulator = scene.make_simulator("coulomb", friction_law=law)
    with stiction.Recorder(path, simulator) as recorder:
        for _ in range(250 if (name, law) == ("pinch", "elastic") else 40):
            if scene.control_schedule:
                scene.control_schedule(data)
            recorder.step(data)
    result = verify_recording(stiction.Recording(path))
    assert result.ok, result.figures()
    assert result.checks["momentum"].num_steps == result.num_steps


def test_moving_surfaces_are_left_out(tmp_path: Path) -> None:
    scene = tmp_path / "scene.xml"
    scene.write_text(XML.replace('type="plane"', 'type="plane" surfacevel=".2 0 0 0 0 0"'))
    loaded = stiction.load_scene(scene)
    path = tmp_path / "run.mcap"
    with stiction.Recorder(path, loaded.make_simulator("coulomb")) as recorder:
        recorder.step(loaded.make_data(), 20)
    result = verify_recording(stiction.Recording(path), every=5)
    assert result.ok
    assert result.num_steps == 20 and result.checks["momentum"].num_steps == 4
    assert result.unknown["velocities of moving surfaces and mocap bodies"] > 0
    assert "friction_work" not in result.checks


def test_results_are_fit_for_json(record: Callable[..., stiction.Recording]) -> None:
    result = verify_recording(record("coulomb"), every=50)
    assert json.loads(json.dumps(result.figures()))["ok"] is True
    assert dataclasses.asdict(result)["checks"]["momentum"]["num_failed"] == 0


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    code = "from stiction.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_check_takes_a_recording(record: Callable[..., stiction.Recording], tmp_path: Path) -> None:
    path = str(record("coulomb").path)
    good = run("check", path)
    assert good.returncode == 0, good.stderr
    assert "momentum" in good.stdout and "without a solver" in good.stdout
    figures = json.loads(run("check", path, "--json").stdout)
    assert figures["ok"] and figures["checks"]["momentum"]["num_steps"] == 250
    wrong = run("check", path, "--contact-model", "sap")
    assert wrong.returncode == 2 and "--contact-model" in wrong.stderr
    # A file that was cut off is a finding.
    cut = tmp_path / "cut.mcap"
    cut.write_bytes(Path(path).read_bytes()[:-20_000])
    result = run("check", str(cut))
    assert result.returncode == 1 and "truncated" in result.stderr + result.stdout
    missing = run("check", str(tmp_path / "no.mcap"))
    assert missing.returncode == 2 and "there is no such file" in missing.stderr
