"""Tests the parts of the study of held bodies that run Drake and Newton."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path

import mujoco
import numpy as np
import pytest

from stiction.engines.adapters.stiction_adapter import StictionAdapter
from stiction.engines.drive import drive
from stiction.engines.process import WorkerProcess
from stiction.engines.world import from_plain, to_plain
from stiction.options import DEFAULTS
from stiction.studies.held import drake, newton, scenes, worlds
from stiction.studies.held import study as held
from stiction.studies.held.plots import draw_creep
from stiction.studies.held.scenes import HeldScene
from stiction.studies.study import Settings, StudyResult

SETTINGS = Settings(quick=True, contact_models=("lagged",))
STEP = 2e-3
CHORD = scenes.TURN_SPEED**2 * scenes.ARM * STEP / 2
MAKERS = (
    scenes.make_cube,
    scenes.make_plate,
    scenes.make_wall,
    scenes.make_stack,
    scenes.make_vibration,
)
needs_drake = pytest.mark.skipif(not drake.is_installed(), reason="Drake is not installed")


def test_without_peers_the_result_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drake, "is_installed", lambda: False)
    monkeypatch.setattr(newton, "is_installed", lambda: False)
    result = StudyResult()
    creep: dict[str, dict[str, float | None]] = {"cube": {}}
    held._add_drake([scenes.make_cube()], creep, result, SETTINGS)
    held._add_newton([scenes.make_cube()], creep, result, SETTINGS)
    assert creep == {"cube": {}}
    assert result.notes == [
        "not compared with Drake, which is not installed; run pip install drake",
        "not compared with Newton, which is not installed; run stiction scorecard --install newton",
    ]


# ---- Drake ---------------------------------------------------------------------------------------


@needs_drake
@pytest.mark.parametrize("make_scene", [scenes.make_cube, scenes.make_wall])
def test_drakes_lagged_model_creeps_by_the_slip_tolerance(
    make_scene: Callable[[], HeldScene],
) -> None:
    creep = drake.measure_creep(make_scene(), "lagged", STEP)
    law = DEFAULTS["stiction_tolerance"] * 0.5 / math.sqrt(1 - 0.5**2)
    assert creep == pytest.approx(law, rel=1e-3)


@needs_drake
def test_a_plate_that_turns_drifts_along_chords_in_drake() -> None:
    assert drake.measure_creep(scenes.make_plate(), "sap", STEP) == pytest.approx(CHORD, rel=0.03)


@needs_drake
@pytest.mark.parametrize("make_scene", MAKERS)
def test_drake_has_the_places_of_the_scene(make_scene: Callable[[], HeldScene]) -> None:
    scene = make_scene()
    at_start = scene.find_place(mujoco.MjData(scene.model))
    built = drake.DrakeScene(scene, "sap", STEP)
    assert built.find_place() == pytest.approx(at_start, abs=1e-15)
    # Nothing falls, slides or tips; surfaces yield by 2 mm.
    built.advance(0.1)
    assert built.find_place() == pytest.approx(at_start, abs=3e-3)


@needs_drake
def test_the_wrist_turns_in_drake_as_its_servo_says() -> None:
    built = drake.DrakeScene(scenes.make_plate(), "sap", STEP)
    built.advance(1.0)
    (speed,) = [
        joint.GetOneVelocity(built._context)
        for _, joint, _ in built._actuators
        if joint.type_name() == "revolute"
    ]
    assert speed == pytest.approx(scenes.TURN_SPEED, rel=1e-3)


@needs_drake
def test_a_failed_solve_gives_no_creep(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: drake.DrakeScene, time: float) -> None:
        raise RuntimeError("failed to converge")

    monkeypatch.setattr(drake.DrakeScene, "advance", fail)
    assert drake.measure_creep(scenes.make_cube(), "sap", STEP) is None


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
    assert newton.measure_creep(worker, scenes.make_cube(), STEP) is None


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[WorkerProcess]:
    monkeypatch.chdir(Path(__file__).parents[3])
    if not newton.is_installed():
        pytest.skip("Newton is not installed")
    with newton.start_worker() as process:
        yield process


def test_newtons_anchors_hold_a_cube(worker: WorkerProcess) -> None:
    creep = newton.measure_creep(worker, scenes.make_cube(), STEP)
    assert creep is not None and creep < 1e-7  # the rounding of single numbers


# ---- plots ---------------------------------------------------------------------------------------


def test_the_plot_names_each_variant_once() -> None:
    creep = {"cube": {"lagged": 1e-5, "lagged, elastic": 0.0, "Drake, sap": None}, "wall": {}}
    (axes,) = draw_creep(creep).axes
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == list(creep["cube"])
    speeds = [float(x) for line in axes.lines for x in np.asarray(line.get_xdata())]
    assert speeds == pytest.approx([1e-5, 1e-18])
