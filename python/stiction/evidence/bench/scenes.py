"""The scenes of all benchmarks, and `stiction bench scenes`, which times any scene against mj_step."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any, TypeVar

import mujoco
import numpy as np

from stiction.errors import Error, ignored_settings_are_fine
from stiction.evidence.bench.timing import Runner, time_in_turns
from stiction.evidence.experiments.clutter import (
    TIME_STEP,
    make_clutter,
    make_mjcf,
    make_properties,
)
from stiction.evidence.experiments.real_scenes import load_real_scene, scene_names
from stiction.recording import format as fmt
from stiction.runs.controls import ControlsName, make_controls
from stiction.scene import Scene, load_scene
from stiction.setup.options import DEFAULTS
from stiction.simulator import Simulator

T = TypeVar("T")
Advance = Callable[[mujoco.MjData], object]

_DROP_STEPS = 1000  # steps of mj_step from the drop of a pile to its common state
_PITCH = 0.2  # distance between the columns of a heap [m]
_LEVELS = 10
_MAX_BODIES = 10_000

_STATE_TIMES = (0.5, 1.0, 1.5, 2.0)  # times of the common states in mj_step's run [s]
_SETTLE_STEPS = 50  # untimed steps from a common state: depths of contacts differ between steppers
_STEPS_PER_STATE = 50
_STRIDE = 10  # steps between updates of the controls


@dataclass(frozen=True)
class BenchScene:
    """A scene of a benchmark."""

    model: mujoco.MjModel
    properties: dict[str, Any] | None  # content of its contact properties, or None
    start: mujoco.MjData  # the state from which all steppers start

    def make_simulator(self, contact_model: str, **options: Any) -> Simulator:
        """Returns a simulator of the scene."""
        with ignored_settings_are_fine():
            return Simulator(self.model, contact_model, properties=self.properties, **options)

    def advance_mujoco(self, num_steps: int) -> None:
        """Takes num_steps steps of mj_step from `start`, which it advances."""
        mujoco.mj_step(self.model, self.start, num_steps)

    def find_materials(self) -> dict[str, Any]:
        """Returns the material of all geoms by their name; a pile has one for all of them."""
        (material,) = self.properties["materials"].values() if self.properties else ({},)
        return {self.model.geom(i).name: material for i in range(self.model.ngeom)}


def load_pile(
    num_bodies: int, *, rolling_friction: float = 0.0, has_fallen: bool = True
) -> BenchScene:
    """Returns the clutter, if has_fallen in the state that mj_step reaches 2 s after the drop."""
    mjcf = make_mjcf(make_clutter(num_bodies), rolling_friction=rolling_friction)
    model = mujoco.MjModel.from_xml_string(mjcf)
    scene = BenchScene(model, make_properties(), mujoco.MjData(model))
    if has_fallen:
        scene.advance_mujoco(_DROP_STEPS)
    return scene


def make_heap(num_bodies: int) -> BenchScene:
    """Returns a dense heap before its fall: alternating spheres and boxes of 10 cm with mu = 1.
    The scene uses elliptic cones and a time step of 2 ms. Nearly all bodies form one island,
    which is the worst case for a solver that divides a problem into islands."""
    if not 1 <= num_bodies <= _MAX_BODIES:
        raise Error(
            "out_of_range", "bodies", f"is {num_bodies}; must be between 1 and {_MAX_BODIES}"
        )
    columns = max(4, num_bodies // _LEVELS)
    grid = math.ceil(math.sqrt(columns))
    half = 0.4 * max(1.0, grid / 2)
    rng = random.Random(1)
    parts = [
        f'<mujoco><option timestep="{TIME_STEP}" cone="elliptic"/><worldbody>'
        f'<geom type="box" size="{half} {half} .1" pos="0 0 -.1"/>'
    ]
    for sign in (1, -1):
        parts.append(f'<geom type="box" size=".1 {half} .4" pos="{sign * (half + 0.1)} 0 .4"/>')
        parts.append(f'<geom type="box" size="{half} .1 .4" pos="0 {sign * (half + 0.1)} .4"/>')
    for i in range(num_bodies):
        column, level = divmod(i, _LEVELS)
        x = (column % grid - (grid - 1) / 2) * _PITCH + 0.001 + rng.uniform(-0.01, 0.01)
        y = (column // grid - (grid - 1) / 2) * _PITCH + rng.uniform(-0.01, 0.01)
        shape = (
            'type="sphere" size=".05" mass="0.524"'
            if i % 2
            else 'type="box" size=".05 .05 .05" mass="1"'
        )
        parts.append(
            f'<body pos="{x} {y} {0.1 + 0.13 * level}"><freejoint/><geom {shape} friction="1"/></body>'
        )
    model = mujoco.MjModel.from_xml_string("".join([*parts, "</worldbody></mujoco>"]))
    return BenchScene(model, None, mujoco.MjData(model))


@dataclass(frozen=True)
class SceneCase:
    """The result for one scene. Times are CPU times per step [us]. The ratio is Stiction's
    minimum divided by mj_step's: below 1, Stiction is faster."""

    scene: str
    dofs: int  # number of degrees of freedom
    # contacts, mujoco_contacts: mean number of contacts per step.
    contacts: float
    mujoco_contacts: float
    us_per_step: float
    us_per_step_median: float
    mujoco_us_per_step: float
    mujoco_us_per_step_median: float
    ratio_to_mujoco: float
    iterations: float  # Newton iterations per step, summed over islands, mean of the steps
    residual: float  # largest relative residual [-]


def load(name: str) -> Scene:
    """Loads a scene of experiments/real_scenes.py by its name, or a scene as load_scene does."""
    if name in scene_names():
        return load_real_scene(name)
    return load_scene(Path(name))


def run_scene(
    name: str,
    contact_model: str = DEFAULTS["contact_model"],
    *,
    num_threads: int = DEFAULTS["num_threads"],
    num_repeats: int = 5,
) -> SceneCase:
    """Times one scene, one step a call, from states of a run of mj_step, with the controls of its
    first keyframe or, if these are zero, random ones. Each stepper takes some untimed steps from
    each state first."""
    scene = load(name)
    model = scene.model
    with ignored_settings_are_fine():
        simulator = scene.make_simulator(contact_model, num_threads=num_threads)
    course = _Course(scene)
    ours = course.make_runner(simulator.step)
    peer = course.make_runner(lambda data: mujoco.mj_step(model, data))
    times = time_in_turns({"stiction": ours, "mujoco": peer}, num_repeats)
    us, mj = times["stiction"], times["mujoco"]
    reports = course.collect(lambda data: simulator.step(data))
    statistics = [r.statistics for r in reports]
    mujoco_contacts = course.collect(lambda data: _count_mujoco_contacts(model, data))
    return SceneCase(
        scene=name,
        dofs=model.nv,
        contacts=mean(s.num_contacts for s in statistics),
        mujoco_contacts=mean(mujoco_contacts),
        us_per_step=us.minimum,
        us_per_step_median=us.median,
        mujoco_us_per_step=mj.minimum,
        mujoco_us_per_step_median=mj.median,
        ratio_to_mujoco=us.minimum / mj.minimum,
        iterations=mean(s.iterations for s in statistics),
        residual=max(s.residual for s in statistics),
    )


class _Course:
    """The sequence of states and controls that every stepper runs through."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._model = scene.model
        start = scene.make_data()
        self._controls = ControlsName.keyframe if start.ctrl.any() else ControlsName.random
        self._states = self._make_states(start)

    def make_runner(self, step: Advance) -> Runner:
        """Makes a runner of a stepper with one step a call, after its untimed steps."""
        data = mujoco.MjData(self._model)

        def advance_some(d: mujoco.MjData) -> None:
            for _ in range(_STRIDE):
                step(d)

        starts = self._settle(data, advance_some, _STRIDE)
        return Runner(
            lambda: None,
            lambda _: self._drive(data, starts, advance_some, _STRIDE),
            len(starts) * _STEPS_PER_STATE,
        )

    def collect(self, step: Callable[[mujoco.MjData], T]) -> list[T]:
        """Runs through the course and returns the results of `step` for all steps."""
        results: list[T] = []
        data = mujoco.MjData(self._model)
        starts = self._settle(data, step, 1)
        self._drive(data, starts, lambda d: results.append(step(d)), 1)
        return results

    def _settle(self, data: mujoco.MjData, advance: Advance, stride: int) -> list[np.ndarray]:
        starts = []
        for seed, state in enumerate(self._states):
            mujoco.mj_setState(self._model, data, state, fmt.INTEGRATION)
            self._advance(data, seed, advance, _SETTLE_STEPS // stride)
            starts.append(fmt.get_state(self._model, data))
        return starts

    def _drive(
        self, data: mujoco.MjData, starts: list[np.ndarray], advance: Advance, stride: int
    ) -> None:
        for seed, state in enumerate(starts):
            mujoco.mj_setState(self._model, data, state, fmt.INTEGRATION)
            self._advance(data, seed, advance, _STEPS_PER_STATE // stride)

    def _advance(self, data: mujoco.MjData, seed: int, advance: Advance, num_strides: int) -> None:
        controls = make_controls(self._controls, self._scene, seed)
        for _ in range(num_strides):
            controls(data)
            advance(data)

    def _make_states(self, data: mujoco.MjData) -> list[np.ndarray]:
        states = []
        controls = make_controls(self._controls, self._scene, len(_STATE_TIMES))
        for time in _STATE_TIMES:
            while data.time < time:
                controls(data)
                mujoco.mj_step(self._model, data)
            states.append(fmt.get_state(self._model, data))
        return states


def _count_mujoco_contacts(model: mujoco.MjModel, data: mujoco.MjData) -> int:
    mujoco.mj_step(model, data)
    return int(data.ncon)
