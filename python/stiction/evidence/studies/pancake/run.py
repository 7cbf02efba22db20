"""A run of the task on a grid under a contact model, and its measurements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import mujoco
import numpy as np

import stiction
from stiction.errors import StepError, ignored_settings_are_fine
from stiction.evidence.studies.pancake.robot import Command, Pose, Robot, calc_rotation_vector
from stiction.evidence.studies.pancake.scene import (
    GRASP,
    GRIDS,
    make_pancake_model,
    make_pancake_properties,
)
from stiction.evidence.studies.pancake.task import X_SG, Task, TaskError
from stiction.runs.run import Run
from stiction.view.film import Film

_SAMPLED = (
    "time", "faces", "surfaces_us", "solve_us", "step_us", "iterations", "grip_force",
    "turn_deg", "pancake_height", "spatula_height", "slip", "slip_deg",
)  # fmt: skip


@dataclass
class PancakeRun:
    """The results of a run."""

    grid: int  # name of the grid
    # contact_model, tessellation: as in Simulator.
    contact_model: str
    tessellation: str
    # Values of each step by name, (num_steps,) each.
    samples: dict[str, Any] = field(default_factory=lambda: {name: [] for name in _SAMPLED})
    # Name and start of each phase [s].
    phases: list[tuple[str, float]] = field(default_factory=list)
    film: Film = field(default_factory=lambda: Film("pancake"))  # frames for a replay
    failure: str | None = None  # reason why the run ended early, or None
    lift: float = float("nan")  # height by which the spatula was lifted from the stand [m]
    # Upward force of the bubbles on the handle after the lift [N].
    handle_force: float = float("nan")
    # Speed of the pancake at the end: that of its center plus that of its rim [m/s].
    pancake_speed: float = float("nan")
    on_stove: bool = False  # whether the pancake touches the stove at the end

    def last(self, name: str) -> float:
        """Returns the last value of a sample, or NaN if no step was made."""
        return float(self.samples[name][-1]) if len(self.samples[name]) else float("nan")

    def mean(self, name: str) -> float:
        """Returns the mean of a sample over the steps with the spatula in the grip."""
        values = self.samples[name][self._held]
        return float(values.mean()) if len(values) else float("nan")

    def quiet(self, name: str) -> float:
        """Returns a robust mean of a wall time over the steps with the spatula in the grip. It
        is the mean of the lower quartiles of intervals of 0.5 s. Other programs on the machine
        make some steps longer, and disturb long steps more often than short ones."""
        held = self._held
        values, bins = self.samples[name][held], (2 * self.samples["time"][held]).astype(int)
        quartiles = [np.quantile(values[bins == i], 0.25) for i in np.unique(bins)]
        return float(np.mean(quartiles)) if quartiles else float("nan")

    def max(self, name: str) -> float:
        """Returns the maximum of a sample over the steps with the spatula in the grip, or NaN."""
        return float(np.max(self.samples[name][self._held])) if self.has_lifted else float("nan")

    @property
    def has_lifted(self) -> bool:
        """True if the run has steps with the spatula in the grip, over which means are taken."""
        return bool(self._held.any())

    @property
    def _held(self) -> Any:
        """Whether the spatula is in the grip, for each step."""
        return self.samples["time"] > self.find_start("lift")

    @property
    def pancake_height_raised(self) -> float:
        """The height of the pancake's center after the spatula has raised it [m]; NaN if never."""
        raised = np.asarray(self.samples["time"]) >= self.find_start("set down")
        return float(self.samples["pancake_height"][raised][0]) if raised.any() else float("nan")

    def find_start(self, phase: str) -> float:
        """Returns the start of a phase [s], or infinity if the phase was not reached."""
        return next((start for name, start in self.phases if name == phase), float("inf"))

    def describe(self) -> dict[str, Any]:
        """Returns the figures of the run, fit for JSON."""
        return {
            "grid": self.grid,
            "contact_model": self.contact_model,
            "tessellation": self.tessellation,
            "failure": self.failure,
            "duration": self.last("time"),
            "phases": dict(self.phases),
            "mean_faces": self.mean("faces"),
            "max_faces": float(np.max(self.samples["faces"], initial=0)),
            "surfaces_us": self.quiet("surfaces_us"),
            "solve_us": self.quiet("solve_us"),
            "step_us": self.quiet("step_us"),
            "mean_iterations": self.mean("iterations"),
            "lift": self.lift,
            "turn_deg": self.last("turn_deg"),
            "pancake_height": self.last("pancake_height"),
            "pancake_speed": self.pancake_speed,
            "grip_force": self.last("grip_force"),
            "handle_force": self.handle_force,
            "max_slip": self.max("slip"),
            "max_slip_deg": self.max("slip_deg"),
        }


def run_pancake(
    grid: int, contact_model: str, *, tessellation: str = "polygon", only_grab: bool = False
) -> PancakeRun:
    """Runs the task, or only the grabbing, until a step fails or a phase waits too long."""
    return _Runner(grid, contact_model, tessellation).run(only_grab)


class _Runner:
    """Runs the task and measures every step."""

    def __init__(self, grid: int, contact_model: str, tessellation: str) -> None:
        self._model = make_pancake_model()
        self._data = mujoco.MjData(self._model)
        with ignored_settings_are_fine():
            self._simulator = stiction.Simulator(
                self._model,
                contact_model,
                tessellation=tessellation,
                properties=make_pancake_properties(GRIDS[grid]),
                # The paper's laws. At 10 ms the blade overlaps by millimeters while it turns, and a
                # correction of these overlaps would push the pancake off it.
                max_correction_speed=0,
            )
        time_step = self._simulator.time_step
        self._robot = Robot(self._model, self._data, time_step)
        spatula, pancake = self._find("spatula"), self._find("pancake")
        self._task = Task(self._robot, time_step, spatula, pancake.p)
        # The spatula's pose in the grip and its height when the grasp is complete.
        self._held, self._grasped_at = spatula, spatula.p[2]
        self._up = pancake.R[:, 2]
        self._run = PancakeRun(grid, contact_model, tessellation, film=Film(contact_model))
        # The task chooses the next command by the last step, and ends the run.
        self._steps = Run(partial(self._run.film.step, self._simulator), self._data, 0)

    def run(self, only_grab: bool) -> PancakeRun:
        run = self._run
        try:
            for command in self._list_commands(only_grab):
                self._enter(self._task.phase)
                self._robot.obey(command)
                self._sample(self._steps.step().report)
        except (TaskError, StepError) as e:
            run.failure = f"{self._task.phase}: {e}"
        run.samples = {name: np.array(values) for name, values in run.samples.items()}
        return run

    def _list_commands(self, only_grab: bool) -> Iterator[Command]:
        yield from self._task.grab()
        self._run.lift = float(self._find("spatula").p[2] - self._grasped_at)
        self._run.handle_force = float(self._robot.handle_force[2])
        if not only_grab:
            yield from self._task.flip()
            self._run.pancake_speed = self._calc_pancake_speed()

    def _enter(self, phase: str) -> None:
        """Records the start of a new phase."""
        phases = self._run.phases
        if not phases or phases[-1][0] != phase:
            phases.append((phase, self._robot.time))
            if phase == "lift":
                self._held, self._grasped_at = self._find_in_grip(), self._find("spatula").p[2]

    def _sample(self, report: stiction.StepReport) -> None:
        """Appends the measurements of a step to the samples."""
        mujoco.mj_kinematics(self._model, self._data)
        self._robot.feel(report)
        pancake, spatula, in_grip = (
            self._find("pancake"),
            self._find("spatula"),
            self._find_in_grip(),
        )
        self._run.on_stove = self._touches(report, "pancake", "stove")
        values = (
            self._robot.time,
            report.patches.num_faces,
            report.timings.surfaces,
            report.timings.solve,
            report.timings.total,
            report.statistics.iterations,
            self._robot.grip_force,
            np.degrees(np.arccos(np.clip(pancake.R[:, 2] @ self._up, -1, 1))),
            pancake.p[2],
            spatula.p[2],
            float(np.linalg.norm((in_grip @ X_SG).p - (self._held @ X_SG).p)),
            np.degrees(np.linalg.norm(calc_rotation_vector(in_grip.R @ self._held.R.T))),
        )
        for name, value in zip(_SAMPLED, values, strict=True):
            self._run.samples[name].append(value)

    def _touches(self, report: stiction.StepReport, *names: str) -> bool:
        ids = {self._model.geom(name).id for name in names}
        return any(set(pair) == ids for pair in report.contacts.geoms.tolist())

    def _find(self, body: str) -> Pose:
        """Returns the pose X_WB of a body after the last step."""
        frame = self._data.body(body)
        return Pose(frame.xmat.reshape(3, 3).copy(), frame.xpos.copy())

    def _find_in_grip(self) -> Pose:
        """Returns the pose X_GS of the spatula in the frame of the grasp site."""
        site = self._data.site(GRASP)
        X_WG = Pose(site.xmat.reshape(3, 3), site.xpos)
        return X_WG.inverse() @ self._find("spatula")

    def _calc_pancake_speed(self) -> float:
        velocity = self._data.qvel[self._model.joint("pancake").dofadr[0] :][:6]
        radius = self._model.geom("pancake").size[0]
        return float(np.linalg.norm(velocity[:3]) + radius * np.linalg.norm(velocity[3:]))
