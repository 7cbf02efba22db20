"""Work-precision of error control: Simulator.advance beside Drake's CENIC.

Each is compared with a run of its own at a far smaller accuracy, because their contact laws differ
in details, and on the incline with the law of the slip tolerance.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

import stiction
from stiction.errors import ignored_settings_are_fine
from stiction.evidence.bench.timing import Runner
from stiction.evidence.bench.work_precision import (
    Tell,
    Work,
    WorkCurves,
    choose_drake,
    measure,
    sort_points,
)
from stiction.evidence.engines.drake_model import DrakeModel
from stiction.inputs.package_scenes import find_scene_file
from stiction.scene import load_scene

Vector = NDArray[np.float64]

ACCURACIES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
QUICK_ACCURACIES = (1e-2, 1e-3)
_REFERENCE = 1e-7  # accuracy of the references
_QUICK_REFERENCE = 1e-5
_STICTION_TOLERANCE = 1e-4  # [m/s]
_NUM_SAMPLES = 10  # calls of a run


@dataclass(frozen=True)
class ControlScene:
    """A scene that both simulators run."""

    model: mujoco.MjModel
    # Contact properties of each geom by its name, as in a file of contact properties.
    materials: dict[str, dict[str, Any]]
    duration: float  # simulated time [s]
    columns: tuple[int, ...]  # the positions in qpos whose error is measured [m]
    # Times and controls that hold from then on, the first at 0; empty for no actuators.
    phases: tuple[tuple[float, tuple[float, ...]], ...] = ()
    velocity: tuple[float, ...] = ()  # initial qvel, or empty
    touches_in: str = "point"  # 'point' or 'hydroelastic', as Drake names it
    # Returns the motion since time 0 by theory at some times, or None. Runs are then compared from
    # their first sample on, when they have settled.
    law: Callable[[Vector], Vector] | None = None

    def sample_times(self) -> Vector:
        """Returns the ends of the calls of a run, which include the changes of controls."""
        changes = [start for start, _ in self.phases if start > 0]
        even = self.duration * np.arange(1, _NUM_SAMPLES + 1) / _NUM_SAMPLES
        return np.unique(np.concatenate([even, changes]))

    def find_controls(self, now: float) -> tuple[float, ...]:
        """Returns the controls at a time."""
        fitting = [controls for start, controls in self.phases if start <= now + 1e-12]
        return fitting[-1] if fitting else ()


def _make_sphere() -> ControlScene:
    """A sphere that is thrown, lands, slides and rolls: [castro2023] section IX.B."""
    model = mujoco.MjModel.from_xml_string("""<mujoco><option timestep="0.002"/><worldbody>
        <geom name="floor" type="plane" size="9 9 1" friction="0.5"/>
        <body name="ball" pos="0 0 0.075"><freejoint/><geom name="ball" size="0.025" mass="0.5"
              friction="0.5"/></body></worldbody></mujoco>""")
    material = {"stiffness": 2e7, "dissipation": 500.0, "friction": 0.5}
    return ControlScene(
        model, {"floor": material, "ball": material}, 0.3, (0, 2), velocity=(2.0, 0, 0, 0, 0, 0)
    )


def _make_incline() -> ControlScene:
    """A sphere that cannot turn, on an incline that uses half of its friction."""
    angle = math.atan(0.25)
    gravity = f"{9.81 * math.sin(angle)!r} 0 {-9.81 * math.cos(angle)!r}"
    model = mujoco.MjModel.from_xml_string(f"""<mujoco>
        <option timestep="0.002" gravity="{gravity}"/><worldbody>
        <geom name="floor" type="plane" size="9 9 1" friction="0.5"/>
        <body name="slider"><joint name="x" type="slide" axis="1 0 0"/>
          <inertial pos="0 0 0" mass="1e-6" diaginertia="1e-9 1e-9 1e-9"/>
          <body name="ball" pos="0 0 0.1"><joint name="z" type="slide" axis="0 0 1"/>
            <geom name="ball" size="0.1" mass="1" friction="0.5"/></body></body>
        </worldbody></mujoco>""")
    material = {"stiffness": 2e5, "dissipation": 10.0, "friction": 0.5}
    speed = _STICTION_TOLERANCE * 0.5 / math.sqrt(1 - 0.25)
    return ControlScene(
        model,
        {"floor": material, "ball": material},
        2.0,
        (0,),
        law=lambda times: speed * times[:, None],
    )


def _make_gripper() -> ControlScene:
    """Two fingers with three balls each close on a bar, lift it off a floor, and shake it."""
    pads = "".join(
        f'<geom name="{side}{i}" size="0.005" mass="0.02" pos="{x} {y} {z}" friction="1"/>'
        for side, y in (("l", -0.005), ("r", 0.005))
        for i, (x, z) in enumerate(((-0.01, -0.01), (0.01, -0.01), (0, 0.01)))
    )
    left = pads[: pads.index('<geom name="r')]
    right = pads[len(left) :]
    model = mujoco.MjModel.from_xml_string(f"""<mujoco><option timestep="0.002"/><worldbody>
        <body name="hand" pos="0 0 0.05"><joint name="lift" type="slide" axis="0 0 1"/>
          <inertial pos="0 0 0" mass="0.5" diaginertia="1e-3 1e-3 1e-3"/>
          <body name="left" pos="0 -0.022 0"><joint name="left" type="slide" axis="0 1 0"/>{left}</body>
          <body name="right" pos="0 0.022 0"><joint name="right" type="slide" axis="0 1 0"/>{right}</body>
        </body>
        <body name="bar" pos="0 0 0.05"><freejoint/>
          <geom name="bar" type="box" size="0.03 0.015 0.03" mass="0.1" friction="1"/></body>
        </worldbody><actuator><motor name="lift" joint="lift"/><motor name="left" joint="left"/>
        <motor name="right" joint="right"/></actuator></mujoco>""")
    weight = 9.81 * (0.5 + 6 * 0.02 + 0.1)
    phases = tuple(
        (start, (weight + force, grip, -grip))
        for start, force, grip in (
            (0.0, 0.0, 5.0), (0.2, 0.4, 20.0), (0.4, -0.4, 20.0), (0.6, 0.0, 20.0),
        )
    )  # fmt: skip
    material = {"stiffness": 2e5, "dissipation": 10.0, "friction": 1.0}
    names = [model.geom(i).name for i in range(model.ngeom)]
    return ControlScene(model, dict.fromkeys(names, material), 1.0, (3, 4, 5), phases=phases)


def _make_spatula() -> ControlScene:
    """The scene spatula: soft bubbles hold a spatula, and loosen their grip."""
    scene = load_scene(find_scene_file("spatula"))
    assert scene.properties is not None
    content: dict[str, Any] = scene.properties.content
    bubble, handle = content["materials"]["bubble"], content["materials"]["handle"]
    return ControlScene(
        scene.model,
        {"left_bubble": bubble, "right_bubble": bubble, "handle": handle},
        5.9,
        (2, 3, 4),
        phases=((0.0, (16.0, 16.0)), (4.5, (1.0, 1.0))),
        touches_in="hydroelastic",
    )


SCENES: dict[str, Callable[[], ControlScene]] = {
    "sphere": _make_sphere,
    "incline": _make_incline,
    "gripper": _make_gripper,
    "spatula": _make_spatula,
}


# Starts a simulator of a scene at an accuracy [m]. Returns a function that advances it from a time to
# a time [s], and returns qpos.
Start = Callable[[ControlScene, float], Callable[[float, float], Vector]]


def start_stiction(scene: ControlScene, accuracy: float) -> Callable[[float, float], Vector]:
    """Starts Simulator.advance under `coulomb`; see Start."""
    with ignored_settings_are_fine():
        simulator = stiction.Simulator(
            scene.model,
            "coulomb",
            properties=_make_properties(scene),
            friction_law="soft",
            stiction_tolerance=_STICTION_TOLERANCE,
        )
    data = _make_data(scene)

    def advance(now: float, until: float) -> Vector:
        data.ctrl[:] = scene.find_controls(data.time)
        simulator.advance(data, until, accuracy)
        return np.array(data.qpos)

    return advance


def start_cenic(scene: ControlScene, accuracy: float) -> Callable[[float, float], Vector]:
    """Starts Drake's CENIC; see Start."""
    peer = DrakeModel(
        scene.model,
        scene.materials,
        scheme="cenic",
        stiction_tolerance=_STICTION_TOLERANCE,
        touches_in=scene.touches_in,
        accuracy=accuracy,
    )
    data = _make_data(scene)
    data.ctrl[:] = scene.find_controls(0.0)
    peer.set_state(data)

    def advance(now: float, until: float) -> Vector:
        peer.set_controls(np.array(scene.find_controls(now)))
        peer.advance_to(until)
        return peer.get_positions()

    return advance


def run_control(scene: ControlScene, advance: Callable[[float, float], Vector]) -> Vector:
    """Runs a scene from its start. Returns the positions at the sample times, (n, columns) [m]."""
    positions, now = [], 0.0
    for until in scene.sample_times().tolist():
        positions.append(advance(now, until)[list(scene.columns)])
        now = until
    return np.array(positions)


class _TimedRun:
    """Runs that are timed, without their start; `positions` of the last one, None if it failed."""

    def __init__(self, start: Start, scene: ControlScene, accuracy: float) -> None:
        self._start, self._scene, self._accuracy = start, scene, accuracy
        self.positions: Vector | None = None

    def reset(self) -> None:
        self._advance = self._start(self._scene, self._accuracy)

    def run(self, _: int) -> None:
        try:
            self.positions = run_control(self._scene, self._advance)
        except RuntimeError:  # Drake raises it if a step fails
            self.positions = None

    def calc_error(self, reference: Vector) -> float | None:
        if self.positions is None:
            return None
        distance = self.positions - reference
        if self._scene.law is not None:  # compared from the first sample on
            distance -= distance[0]
        return float(np.sqrt(np.mean(np.sum(distance**2, axis=1))))

    def make_work(self, stepper: str, reference: Vector) -> Work:
        runner = Runner(self.reset, self.run, 1)
        return Work(stepper, "accuracy", self._accuracy, runner, lambda: self.calc_error(reference))


def run_error_control(
    name: str,
    *,
    quick: bool = False,
    num_repeats: int = 3,
    with_drake: bool | None = None,
    tell: Tell = lambda text: None,
) -> WorkCurves:
    """Times a scene at each accuracy, and measures its error. Drake runs if it is installed."""
    scene = SCENES[name]()
    notes: list[str] = []
    starts: dict[str, Start] = {"coulomb": start_stiction}
    if choose_drake(with_drake, "CENIC is", notes):
        starts["drake cenic"] = start_cenic
    references = {}
    for stepper, start in starts.items():
        tell(f"{name}, reference of {stepper}")
        references[stepper] = (
            scene.law(scene.sample_times())
            if scene.law
            else run_control(scene, start(scene, _QUICK_REFERENCE if quick else _REFERENCE))
        )
    points = []
    for accuracy in QUICK_ACCURACIES if quick else ACCURACIES:
        tell(f"{name} at {accuracy:g}")
        works = [
            _TimedRun(start, scene, accuracy).make_work(stepper, references[stepper])
            for stepper, start in starts.items()
        ]
        points += measure(works, num_repeats)
    return WorkCurves(
        scene=name,
        error="RMS error of positions [m]",
        work="CPU time of the run [ms]",
        floor=None,
        points=sort_points(points, starts),
        notes=notes,
    )


def calc_advantages(curves: WorkCurves) -> dict[float, float]:
    """Returns by accuracy how many times the error of CENIC times its CPU time is ours."""
    ours = {point.setting: point for point in curves.of_stepper("coulomb")}
    out = {}
    for point in curves.of_stepper("drake cenic"):
        own = ours[point.setting]
        if point.error is None or point.cpu_ms is None or own.error is None or own.cpu_ms is None:
            continue
        out[point.setting] = point.error * point.cpu_ms / (own.error * own.cpu_ms)
    return out


def _make_data(scene: ControlScene) -> mujoco.MjData:
    """Makes the state at the start of a scene."""
    data = mujoco.MjData(scene.model)
    if scene.model.nkey:
        mujoco.mj_resetDataKeyframe(scene.model, data, 0)
    if scene.velocity:
        data.qvel[:] = scene.velocity
    return data


def _make_properties(scene: ControlScene) -> dict[str, Any]:
    return {
        "materials": {f"of_{name}": material for name, material in scene.materials.items()},
        "geoms": {name: f"of_{name}" for name in scene.materials},
    }
