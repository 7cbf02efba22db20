"""Tests the parts of the study of held bodies that run Drake and Newton."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import mujoco
import numpy as np
import pytest

from stiction.errors import StepWarning
from stiction.evidence.engines import drake_peer
from stiction.evidence.engines.adapters.stiction_adapter import StictionAdapter
from stiction.evidence.engines.drive import drive
from stiction.evidence.engines.mjcf import make_mjcf
from stiction.evidence.engines.process import WorkerProcess
from stiction.evidence.engines.world import from_plain, to_plain
from stiction.evidence.studies.held import drake, newton, scenes, worlds
from stiction.evidence.studies.held import study as held
from stiction.evidence.studies.held.drake_points import DrakePoints
from stiction.evidence.studies.held.peers import Creep, Measure, Peer, RefusedError, add_peers
from stiction.evidence.studies.held.plots import draw_creep
from stiction.evidence.studies.held.run import Variant, find_time_step, measure_creep
from stiction.evidence.studies.held.scenes import HeldScene
from stiction.evidence.studies.study import Settings, StudyResult
from stiction.setup.options import DEFAULTS
from stiction.simulator import Simulator

SETTINGS = Settings(quick=True, contact_models=("lagged",))
STEP = 2e-3
CHORD = scenes.TURN_SPEED**2 * scenes.ARM * STEP / 2
MAKERS = (
    scenes.make_cube,
    scenes.make_plate,
    scenes.make_wall,
    scenes.make_stack,
    scenes.make_vibration,
    scenes.make_can,
)
needs_drake = pytest.mark.skipif(not drake_peer.is_installed(), reason="Drake is not installed")


# ---- the scenes ----------------------------------------------------------------------------------


@pytest.mark.parametrize("make_scene", [scenes.make_can, scenes.make_prism])
@pytest.mark.parametrize("contact_model", ["lagged", "coulomb"])
def test_a_can_and_a_mesh_lose_springs_from_step_to_step(
    make_scene: Callable[[], HeldScene], contact_model: str
) -> None:
    model = make_scene().model
    simulator = Simulator(model, contact_model, time_step=STEP, friction_law="elastic")
    data = mujoco.MjData(model)
    with pytest.warns(StepWarning, match="may creep"):
        lost = [simulator.step(data).num_anchors_lost for _ in range(1000)]
    # Measured: in 56 and 58 % of the steps of the can, and in all of the mesh.
    assert np.count_nonzero(lost) > 400


# ---- the table of simulators ---------------------------------------------------------------------


def test_without_peers_the_result_says_so() -> None:
    result = StudyResult()
    creep: Creep = {"cube": {}}
    missing = [dataclasses.replace(peer, is_installed=lambda: False) for peer in held.PEERS]
    add_peers(missing, [scenes.make_cube()], creep, result, SETTINGS)
    assert creep == {"cube": {}}
    assert result.notes == [
        "not compared with Drake, which is not installed; run pip install drake",
        "not compared with Newton, which is not installed; run stiction scorecard --install newton",
    ]


def test_a_scene_that_a_simulator_refuses_is_in_the_notes() -> None:
    steps: list[float] = []

    def measure(scene: HeldScene, time_step: float) -> float | None:
        steps.append(time_step)
        if scene.has_patches:
            raise RefusedError("it has no pressure fields")
        return 1e-5

    @contextmanager
    def start() -> Iterator[dict[str, Measure]]:
        yield {"Other, rigid": measure}

    result = StudyResult()
    creep: Creep = {"cube": {}, "spatula": {}}
    peers = [Peer("Other", "pip install other", lambda: True, start)]
    add_peers(peers, [scenes.make_cube(), scenes.make_spatula()], creep, result, SETTINGS)
    assert creep == {"cube": {"Other, rigid": 1e-5}, "spatula": {}}
    assert result.notes == ["spatula: not run in Other, rigid: it has no pressure fields"]
    assert steps == [STEP, 0.04]


# ---- Drake ---------------------------------------------------------------------------------------


@needs_drake
@pytest.mark.parametrize("make_scene", [scenes.make_cube, scenes.make_wall])
def test_drakes_lagged_model_creeps_by_the_slip_tolerance(
    make_scene: Callable[[], HeldScene],
) -> None:
    creep = drake.measure_creep(make_scene(), STEP, "lagged")
    law = DEFAULTS["stiction_tolerance"] * 0.5 / math.sqrt(1 - 0.5**2)
    assert creep == pytest.approx(law, rel=1e-3)


@needs_drake
def test_a_plate_that_turns_drifts_along_chords_in_drake() -> None:
    assert drake.measure_creep(scenes.make_plate(), STEP, "sap") == pytest.approx(CHORD, rel=0.03)


@needs_drake
@pytest.mark.parametrize("make_scene", [*MAKERS, scenes.make_prism])
def test_drake_has_the_places_of_the_scene(make_scene: Callable[[], HeldScene]) -> None:
    scene = make_scene()
    at_start = scene.find_place(mujoco.MjData(scene.model))
    built = DrakePoints(scene, "sap", STEP)
    assert built.find_place() == pytest.approx(at_start, abs=1e-15)
    # Nothing falls, slides or tips; surfaces yield by 2 mm.
    built.advance(0.1)
    assert built.find_place() == pytest.approx(at_start, abs=3e-3)


@needs_drake
def test_the_wrist_turns_in_drake_as_its_servo_says() -> None:
    built = DrakePoints(scenes.make_plate(), "sap", STEP)
    built.advance(1.0)
    (speed,) = [
        joint.GetOneVelocity(built._context)
        for _, joint, _ in built._actuators
        if joint.type_name() == "revolute"
    ]
    assert speed == pytest.approx(scenes.TURN_SPEED, rel=1e-3)


@needs_drake
def test_a_failed_solve_gives_no_creep(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: DrakePoints, time: float) -> None:
        raise RuntimeError("failed to converge")

    monkeypatch.setattr(DrakePoints, "advance", fail)
    assert drake.measure_creep(scenes.make_cube(), STEP, "sap") is None


@needs_drake
def test_drake_holds_the_spatula_in_patches_as_the_same_model_does() -> None:
    """Drake's lagged approximation is `lagged_regularized`; both discretize the same fields."""
    short = dataclasses.replace(scenes.make_spatula(), settle=4.0, duration=8.0)
    ours = measure_creep(Variant("lagged_regularized"), short)
    theirs = drake.measure_creep(short, find_time_step(short), "lagged")
    assert ours is not None and ours > 1e-5
    assert theirs == pytest.approx(ours, rel=0.1)


# ---- Newton --------------------------------------------------------------------------------------


@pytest.mark.parametrize("make_scene", MAKERS)
def test_a_world_holds_what_the_scene_holds(make_scene: Callable[[], HeldScene]) -> None:
    """Runs a world under a rigid model, whose creep is that of the chord alone."""
    scene = make_scene()
    world = worlds.make_world(scene)
    assert from_plain(to_plain(world)) == world
    num_steps = round((scene.settle + scene.duration) / STEP)
    forces = worlds.make_forces(scene, STEP, num_steps)
    adapter = StictionAdapter(world, STEP, {"contact_model": "no_slip", "options": {}})
    trajectory = drive(adapter, world, STEP, num_steps, forces).trajectory
    creep = newton.calc_creep(scene, trajectory)
    assert creep is not None
    if scene.holder == "world":
        assert creep < 1e-8
    else:
        assert creep == pytest.approx(CHORD, rel=0.05)


def test_forces_are_those_of_motors_and_loads() -> None:
    forces = worlds.make_forces(scenes.make_cube(), STEP, 2)
    pressing = scenes.GRAVITY * 0.2 / (2 * 0.8 * 0.5)
    np.testing.assert_allclose(forces[0], [[0, -pressing, 0], [0, pressing, 0], [0, 0, 0]])
    scene = scenes.make_vibration(0.3)
    forces = worlds.make_forces(scene, STEP, 20)  # a period
    assert forces[:, 0, 2].mean() == pytest.approx(0, abs=1e-12)
    assert forces[:, 0, 2].max() == pytest.approx(
        0.3 * scenes.GRAVITY * math.cos(math.atan(0.25)), rel=1e-3
    )


def test_a_run_that_ends_early_has_no_creep() -> None:
    scene = scenes.make_vibration()
    world = worlds.make_world(scene)
    adapter = StictionAdapter(world, STEP, {"contact_model": "no_slip", "options": {}})
    assert newton.calc_creep(scene, drive(adapter, world, STEP, 100).trajectory) is None


class SilentWorker:
    """A process that ends before it answers."""

    def ask(self, task: object, max_seconds: float) -> None:
        return None


def test_a_worker_that_ends_gives_no_creep() -> None:
    worker: WorkerProcess = SilentWorker()  # type: ignore[assignment]
    assert newton.measure_creep(scenes.make_cube(), STEP, worker) is None


def test_a_mesh_is_refused() -> None:
    with pytest.raises(RefusedError, match="the geom 'prism' is a mesh"):
        worlds.make_world(scenes.make_prism())


def test_a_world_has_the_poses_of_the_spatulas_scene() -> None:
    scene = scenes.make_spatula()
    world = worlds.make_world(scene)
    assert [body.name for body in world.bodies] == ["left_finger", "right_finger", "spatula"]
    model = mujoco.MjModel.from_xml_string(make_mjcf(world, 0.04))
    data, expected = mujoco.MjData(model), mujoco.MjData(scene.model)
    mujoco.mj_resetDataKeyframe(scene.model, expected, 0)
    for each, every in ((model, data), (scene.model, expected)):
        mujoco.mj_kinematics(each, every)
        mujoco.mj_comPos(each, every)
    for name in ("left_finger", "right_finger", "spatula"):
        np.testing.assert_allclose(data.body(name).xipos, expected.body(name).xipos, atol=1e-12)
    for name, geom in (("left_finger0", "left_bubble"), ("spatula0", "handle")):
        np.testing.assert_allclose(data.geom(name).xpos, expected.geom(geom).xpos, atol=1e-12)
        np.testing.assert_allclose(data.geom(name).xmat, expected.geom(geom).xmat, atol=1e-12)
    forces = worlds.make_forces(scene, 0.04, 1)
    np.testing.assert_allclose(forces[0].sum(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(forces[0], axis=1), [16, 16, 0])


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[WorkerProcess]:
    monkeypatch.chdir(Path(__file__).parents[3])
    if not newton.is_installed():
        pytest.skip("Newton is not installed")
    with newton.start_worker() as process:
        yield process


def test_newtons_anchors_hold_a_cube(worker: WorkerProcess) -> None:
    creep = newton.measure_creep(scenes.make_cube(), STEP, worker)
    assert creep is not None and creep < 1e-7  # the rounding of single numbers


def test_newton_has_no_pressure_fields_on_the_cpu(worker: WorkerProcess) -> None:
    with pytest.raises(RefusedError, match="requires a CUDA-capable GPU device"):
        newton.measure_creep(scenes.make_spatula(), 0.04, worker)


# ---- plots ---------------------------------------------------------------------------------------


def test_the_plot_names_each_variant_once() -> None:
    creep = {"cube": {"lagged": 1e-5, "lagged, elastic": 0.0, "Drake, sap": None}, "wall": {}}
    (axes,) = draw_creep(creep).axes
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == list(creep["cube"])
    speeds = [float(x) for line in axes.lines for x in np.asarray(line.get_xdata())]
    assert speeds == pytest.approx([1e-5, 1e-18])
