"""Tests that no honest recording is refused, and that impulses wrong by a thousandth are found.

The runs are those of all scenes of the package under random controls, and of small scenes with each
kind of smooth force.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import mujoco
import numpy as np
import pytest

import stiction
from stiction.analysis.verify import Verification, verify_recording
from stiction.analysis.verify.contacts import SINGLE
from stiction.recording.step import Step
from stiction.runs.controls import ControlsName
from stiction.runs.run import RunEnd, RunSettings

SCENES = sorted((Path(__file__).parents[3] / "scenes").glob("*.xml"))
# Random controls throw bodies about.
pytestmark = pytest.mark.filterwarnings("ignore::stiction.errors.StictionWarning")
MODELS = [name for name in stiction.contact_models() if name != "mujoco"]
FALSE = 1.001  # factor of normal impulses
FOUND = 0.95  # share of the steps with contact in which it is found


@dataclasses.dataclass
class Falsified:
    """A recording with false normal impulses: its verification, and its steps with contact.

    A step counts if it was completed and not divided by `tamsi`, as the check verifies no others, and
    if a thousandth of its normal impulses is above what single precision resolves.
    """

    result: Verification
    num_contact_steps: int

    @property
    def found(self) -> float:
        """Share of the steps with contact whose balance of momentum fails; 1 without such steps."""
        if not self.num_contact_steps:
            return 1.0
        return self.result.checks["momentum"].num_failed / self.num_contact_steps


def falsify(recording: stiction.Recording, monkeypatch: pytest.MonkeyPatch) -> Falsified:
    """Verifies a recording with all normal impulses multiplied by FALSE."""
    num_contact_steps = 0

    def read(self: stiction.Recording) -> Iterator[Step]:
        nonlocal num_contact_steps
        for step in all_steps(self):
            contacts = step.contacts.copy()
            normal, impulse = contacts["normal"].astype(float), contacts["impulse"].astype(float)
            pressing = np.sum(impulse * normal, axis=1)
            contacts["impulse"] = impulse + (FALSE - 1) * pressing[:, None] * normal
            resolved = 10 * SINGLE * np.linalg.norm(impulse, axis=1).sum() + 1e-12
            is_verified = step.completed and not (is_tamsi and step.report["iterations"] > 20)
            num_contact_steps += bool(is_verified and (FALSE - 1) * pressing.sum() > resolved)
            step.contacts = contacts
            yield step

    is_tamsi = recording.make_simulator().contact_model == "tamsi"
    all_steps = stiction.Recording.all_steps
    with monkeypatch.context() as patch:
        patch.setattr(stiction.Recording, "all_steps", read)
        result = verify_recording(recording)
    return Falsified(result, num_contact_steps)


def record(
    path: Path, scene: Path, contact_model: str, seconds: float, seed: int, **options: object
) -> stiction.Recording:
    """Records a run of a scene with random controls; a step that fails ends it."""
    settings = RunSettings(
        stiction.load_scene(scene),
        contact_model,
        duration=seconds,
        controls=ControlsName.random,
        seed=seed,
        options=options,
    )
    simulator = settings.make_simulator()
    run = settings.make_run(simulator)
    with stiction.Recorder(path, simulator) as recorder:
        run.stepper = recorder
        assert run.to_end() in (RunEnd.done, RunEnd.failed)
    return stiction.Recording(path)


# Here only bodies touch whose joints have limits that may act, and a recording has no impulses of
# limits: bubbles that touch at the end of their range, and fingers under a model whose limits act at
# any distance.
UNSEEN = {("bubble_gripper", model) for model in MODELS} | {("spatula", "drumwright_shell")}


def expect_honest_and_watchful(
    recording: stiction.Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = verify_recording(recording)
    assert honest.ok, {k: c for k, c in honest.figures()["checks"].items() if c["num_failed"]}
    if (recording.path.stem, honest.contact_model) not in UNSEEN:
        falsified = falsify(recording, monkeypatch)
        assert falsified.found >= FOUND, (falsified.num_contact_steps, falsified.result.figures())


QUICK = [(scene, "coulomb") for scene in SCENES]
QUICK += [
    (s, m) for m in ("lagged", "rigid_coulomb") for s in SCENES if s.stem in ("pinch", "quadruped")
]


@pytest.mark.parametrize(("scene", "contact_model"), QUICK, ids=lambda x: getattr(x, "stem", x))
def test_random_controls_are_honest(
    scene: Path, contact_model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording = record(tmp_path / f"{scene.stem}.mcap", scene, contact_model, 0.15, seed=1)
    expect_honest_and_watchful(recording, monkeypatch)


# With more than a hundred contacts, the pivots of Lemke's method take seconds in each step.
CROWDED = {"arch", "cards"}
PIVOTING = {"stewart_trinkle", "anitescu_potra", "drumwright_shell"}
ALL = [(s, m) for s in SCENES for m in MODELS if s.stem not in CROWDED or m not in PIVOTING]


@pytest.mark.slow
@pytest.mark.parametrize(("scene", "contact_model"), ALL, ids=lambda x: getattr(x, "stem", x))
def test_random_controls_are_honest_under_all_models(
    scene: Path, contact_model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in (0, 1):
        recording = record(tmp_path / f"{scene.stem}.mcap", scene, contact_model, 0.6, seed)
        expect_honest_and_watchful(recording, monkeypatch)


# Impacts and reversals change the arcs of bodies, which springs expect from the steps before.
@pytest.mark.parametrize("contact_model", ["coulomb", "lagged"])
@pytest.mark.parametrize("scene", SCENES, ids=lambda path: path.stem)
def test_springs_under_random_controls_are_honest(
    scene: Path, contact_model: str, tmp_path: Path
) -> None:
    path = tmp_path / f"{scene.stem}.mcap"
    result = verify_recording(
        record(path, scene, contact_model, 0.15, seed=1, friction_law="elastic")
    )
    assert result.ok, {k: c for k, c in result.figures()["checks"].items() if c["num_failed"]}


@pytest.mark.slow
@pytest.mark.parametrize("contact_model", ["coulomb", "lagged", "lagged_regularized"])
@pytest.mark.parametrize("scene", SCENES, ids=lambda path: path.stem)
def test_random_controls_are_honest_on_springs(
    scene: Path, contact_model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"{scene.stem}.mcap"
    recording = record(path, scene, contact_model, 1.0, 3, friction_law="elastic")
    expect_honest_and_watchful(recording, monkeypatch)


# ---- Each kind of smooth force -----------------------------------------------------------------------

ARM = (
    '<body pos="0 0 .1"><joint name="j" axis="0 1 0"/>'
    '<geom type="capsule" fromto="0 0 0 .35 0 0" size=".03"/>{}</body>'
)
FOREARM = (
    '<body pos=".35 0 0"><joint name="k" axis="0 1 0" {}/>'
    '<geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/></body>'
)
PLATE = '<geom type="box" size=".02 .1 .3" mass="1" pos=".05 .02 .1"/>'
CUBE = '<geom type="box" size=".1 .1 .1" mass="1"/>'
FLUID = '<option density="100" viscosity=".5"/>'

# Bodies, and other elements: of a scene on a floor.
FORCES = {
    "a plate that turns freely": (f'<body pos="0 0 .3"><freejoint/>{PLATE}</body>', ""),
    "a plate on a spring": (
        f'<body pos="0 0 .4"><joint type="free" stiffness="20" damping=".3"/>{PLATE}</body>',
        "",
    ),
    "pendulums on ball joints": (
        f'<body pos="0 0 .22"><joint type="ball" stiffness="2" damping=".05"/>{PLATE}</body>'
        f'<body pos="1 0 .4"><joint type="ball"/>{PLATE}'
        f'<body pos="0 0 .6"><joint type="ball" stiffness="1"/>{PLATE}</body></body>',
        "",
    ),
    "springs and dampers that are not linear": (
        ARM.replace("/>", ' stiffness=".2 .3 .5" damping=".1 .2 .3"/>', 1).format(""),
        "",
    ),
    "an arm in a fluid": (ARM.format(FOREARM.format("")), FLUID),
    "a cube in a fluid": (f'<body pos="0 0 .3"><freejoint/>{CUBE}</body>', FLUID),
    "a tendon between two cubes": (
        f'<body pos="0 0 .1"><freejoint/>{CUBE}<site name="a" pos="0 0 .1"/></body>'
        f'<body pos=".5 0 .1"><freejoint/>{CUBE}<site name="b" pos="0 .1 .1"/></body>',
        '<tendon><spatial stiffness="200" damping="3" springlength=".3"><site site="a"/>'
        '<site site="b"/></spatial></tendon>',
    ),
    "servos with limits of their own and of their joint": (
        ARM.format(FOREARM.format('actuatorfrcrange="-3 3" actuatorgravcomp="true"')),
        '<actuator><position joint="j" kp="50" kv="2" forcerange="-5 5"/><position joint="k" '
        'kp="100" kv="1"/><velocity joint="k" kv="3" forcerange="-1 1"/></actuator>',
    ),
    "servos that share the limit of a tendon": (
        ARM.format(FOREARM.format("")),
        '<tendon><fixed name="t" actuatorfrcrange="-3 3"><joint joint="j" coef="1"/>'
        '<joint joint="k" coef="-.5"/></fixed></tendon><actuator>'
        '<position tendon="t" kp="30" kv="1"/><velocity tendon="t" kv="2"/></actuator>',
    ),
    "actuators with activations": (
        ARM.format("").replace("<body ", '<body gravcomp=".5" '),
        '<actuator><position joint="j" kp="20" kv="1" timeconst=".05"/>'
        '<general joint="j" dyntype="integrator" biastype="affine" biasprm="0 -3 -.2" '
        'gainprm="3" actrange="-1 1" actlimited="true" actearly="true"/>'
        '<intvelocity joint="j" kp="5" actrange="-1 1"/>'
        '<damper joint="j" kv="2" ctrlrange="0 1"/><dcmotor joint="j" motorconst=".5" '
        'resistance="1"/></actuator>',
    ),
    "a muscle": (
        ARM.format('<site name="tip" pos=".2 0 .03"/>') + '<site name="base" pos="-.2 0 .3"/>',
        '<tendon><spatial name="t"><site site="base"/><site site="tip"/></spatial></tendon>'
        '<actuator><muscle tendon="t" force="50" lengthrange=".2 .5"/></actuator>',
    ),
    "a slider and a crank": (
        ARM.format('<site name="pin" pos=".1 0 0"/>')
        + '<site name="slider" pos="-.3 0 .3" euler="0 90 0"/>',
        '<actuator><position cranksite="pin" slidersite="slider" cranklength=".4" kp="500" '
        'kv="5"/></actuator>',
    ),
}
# Gyroscopic moments under drag or servos, and forces on ellipsoids in a fluid, are not known.
UNKNOWN_FORCES = {
    "a plate in a fluid": (f'<body pos="0 0 .3"><freejoint/>{PLATE}</body>', FLUID),
    "a plate on a servo": (
        f'<site name="w" pos="0 0 .2"/><body pos="0 0 .3"><freejoint/>{PLATE}<site name="s"/></body>',
        '<actuator><position site="s" refsite="w" gear="0 0 1 0 0 0" kp="100" kv="5"/></actuator>',
    ),
    "an ellipsoid in a fluid": (
        '<body pos="0 0 .3"><joint axis="0 1 0"/><geom type="ellipsoid" fluidshape="ellipsoid" '
        'size=".02 .1 .2" mass="1" pos=".1 0 0"/></body>',
        FLUID,
    ),
}


def record_forces(path: Path, scene: tuple[str, str], contact_model: str) -> stiction.Recording:
    bodies, others = scene
    xml = (
        '<mujoco><option timestep="0.005"/><worldbody><geom type="plane" size="9 9 1"/>'
        f"{bodies}</worldbody>{others}</mujoco>"
    )
    model = mujoco.MjModel.from_xml_string(xml)
    data, random = mujoco.MjData(model), np.random.default_rng(0)
    data.qvel[:] = 3 * random.standard_normal(model.nv)
    simulator = stiction.Simulator(model, contact_model, friction_law="soft")
    with stiction.Recorder(path, simulator) as recorder:
        for i in range(150):
            if i % 20 == 0:
                data.ctrl[:] = random.uniform(-1, 1, model.nu)
                data.qfrc_applied[:] = 0.1 * random.standard_normal(model.nv)
                data.xfrc_applied[1:, 2] = random.uniform(-1, 0)
            recorder.step(data)
    return stiction.Recording(path)


@pytest.mark.parametrize(
    "contact_model", ["coulomb", pytest.param("rigid_coulomb", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("scene", FORCES.values(), ids=FORCES)
def test_the_impulse_of_each_force_is_known(
    scene: tuple[str, str], contact_model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recording = record_forces(tmp_path / "run.mcap", scene, contact_model)
    honest = verify_recording(recording)
    assert honest.ok and honest.known_dofs == 1, honest.figures()
    falsified = falsify(recording, monkeypatch)
    assert falsified.num_contact_steps >= 5 and falsified.found >= FOUND


@pytest.mark.parametrize("scene", UNKNOWN_FORCES.values(), ids=UNKNOWN_FORCES)
def test_forces_that_are_not_known_are_left_out(scene: tuple[str, str], tmp_path: Path) -> None:
    result = verify_recording(record_forces(tmp_path / "run.mcap", scene, "coulomb"))
    assert result.ok, result.figures()
    assert result.known_dofs < 1
    assert any(name.startswith("forces of fluids") and n for name, n in result.unknown.items())
