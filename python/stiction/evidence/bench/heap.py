"""`stiction bench heap`: times a falling heap of touching columns against MuJoCo's solvers.

Nearly all bodies form one island. This is the worst case for a solver that divides a problem into
islands.
"""

from __future__ import annotations

import math
import random
import time
from dataclasses import dataclass

import mujoco

import stiction
from stiction.errors import Error, ignored_settings_are_fine
from stiction.setup.options import DEFAULTS

NUM_BODIES = 640
DURATION = 2.4  # [s]

_TIME_STEP = 2e-3  # [s]
_INTERVAL = 0.2  # simulated time of one mean [s]
_PITCH = 0.2  # distance between columns [m]
_LEVELS = 10
_MAX_BODIES = 10_000

MUJOCO_SOLVERS = {"newton": mujoco.mjtSolver.mjSOL_NEWTON, "cg": mujoco.mjtSolver.mjSOL_CG}


@dataclass(frozen=True)
class HeapCase:
    """The fall under one stepper.

    stepper: name of the stepper.
    contacts: number of contacts at the end.
    ms_per_step: CPU time per step, mean of the whole fall [ms].
    ms_by_interval: CPU time per step, means over intervals of 0.2 s [ms].
    ratio: Stiction's mean divided by this stepper's; below 1, Stiction is faster.
    residual: largest relative residual [-]; None for MuJoCo, which has another measure.
    """

    stepper: str
    contacts: int
    ms_per_step: float
    ms_by_interval: list[float]
    ratio: float
    residual: float | None


def make_heap_mjcf(num_bodies: int = NUM_BODIES) -> str:
    """Returns the MJCF of the heap: alternating spheres and boxes of 10 cm with mu = 1.

    The scene uses elliptic cones and a time step of 2 ms.

    Raises:
        Error: num_bodies is not between 1 and 10000.
    """
    if not 1 <= num_bodies <= _MAX_BODIES:
        raise Error(
            "out_of_range", "bodies", f"is {num_bodies}; must be between 1 and {_MAX_BODIES}"
        )
    columns = max(4, num_bodies // _LEVELS)
    grid = math.ceil(math.sqrt(columns))
    half = 0.4 * max(1.0, grid / 2)
    rng = random.Random(1)
    parts = [
        f'<mujoco><option timestep="{_TIME_STEP}" cone="elliptic"/><worldbody>'
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
    return "".join([*parts, "</worldbody></mujoco>"])


class _Faller:
    """A heap of its own that mj_step steps. `seconds` has the CPU time per step of each interval [s]."""

    def __init__(self, xml: str) -> None:
        self.model = mujoco.MjModel.from_xml_string(xml)
        self.data = mujoco.MjData(self.model)
        self.seconds: list[float] = []
        self.residual: float | None = None

    def advance(self, num_steps: int) -> None:
        """Takes num_steps steps."""
        mujoco.mj_step(self.model, self.data, num_steps)

    def fall(self, num_steps: int) -> None:
        """Takes num_steps steps and stores their CPU time."""
        start = time.process_time()
        self.advance(num_steps)
        self.seconds.append((time.process_time() - start) / num_steps)


class _StictionFaller(_Faller):
    """A heap of its own that Stiction steps."""

    def __init__(self, xml: str, contact_model: str, tolerance: float, num_threads: int) -> None:
        super().__init__(xml)
        with ignored_settings_are_fine():
            self._simulator = stiction.Simulator(
                self.model, contact_model, tolerance=tolerance, num_threads=num_threads
            )
        self.residual = 0.0

    def advance(self, num_steps: int) -> None:
        report = self._simulator.step(self.data, num_steps)
        assert self.residual is not None
        self.residual = max(self.residual, report.statistics.residual)


def run_heap(
    num_bodies: int = NUM_BODIES,
    contact_model: str = DEFAULTS["contact_model"],
    *,
    duration: float = DURATION,
    tolerance: float = DEFAULTS["tolerance"],
    num_threads: int = DEFAULTS["num_threads"],
    solvers: tuple[str, ...] = ("newton", "cg"),
) -> list[HeapCase]:
    """Lets the heap fall under Stiction and under mj_step with each solver; they take turns of 0.2 s.

    A heap is chaotic, so the trajectories diverge with time. The number of contacts stays about the
    same.

    Args:
        num_bodies: number of bodies, between 1 and 10000.
        contact_model, tolerance, num_threads: as in Simulator.
        duration: simulated time from the drop, rounded to whole intervals of 0.2 s [s].
        solvers: names in MUJOCO_SOLVERS.

    Raises:
        Error: num_bodies is out of range.
    """
    xml = make_heap_mjcf(num_bodies)
    fallers: dict[str, _Faller] = {
        contact_model: _StictionFaller(xml, contact_model, tolerance, num_threads)
    }
    for solver in solvers:
        faller = _Faller(xml)
        faller.model.opt.solver = MUJOCO_SOLVERS[solver]
        fallers[f"mj_step {solver}"] = faller
    for _ in range(max(1, round(duration / _INTERVAL))):
        for faller in fallers.values():
            faller.fall(round(_INTERVAL / _TIME_STEP))
    means = {name: sum(f.seconds) / len(f.seconds) for name, f in fallers.items()}
    return [
        HeapCase(
            stepper=name,
            contacts=faller.data.ncon,
            ms_per_step=1e3 * means[name],
            ms_by_interval=[1e3 * s for s in faller.seconds],
            ratio=means[contact_model] / means[name],
            residual=faller.residual,
        )
        for name, faller in fallers.items()
    ]
