"""A step as the viewer shows it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import mujoco

from stiction._core import StepReport, contact_model_traits
from stiction.recording import format as fmt
from stiction.recording.step import Step
from stiction.runs.run_summary import calc_energy
from stiction.view.contact_arrays import (
    PatchArrays,
    PointArrays,
    calc_creep,
    read_patches,
    read_points,
    read_recorded_patches,
    read_recorded_points,
)

_EMPTY_STEP = 2000  # estimate of the memory of a frame without contacts [bytes]


@dataclass(frozen=True, eq=False)
class Frame:
    """One step of a run, at the poses that it starts from, because its contacts are found there.

    index: index of the step, from 1; 0 for the initial state.
    start, end: components of mjSTATE_INTEGRATION before and after the step; equal if it failed.
    memory: Simulator.get_state() after the step; empty if it is not known.
    status: 'ok', or the reasons why the step or its certificate failed.
    error_bound: bound on the error of the velocities [sqrt(J)], or NaN.
    read: reads the contacts. They are not kept, because few frames are drawn more than once.
    size: estimate of the memory that the frame keeps [bytes].
    shift: time by which resets before this step set the clock of the scene back [s]. With it, the
        times of the frames of a run never fall.
    is_certified: False if the contact model is `mujoco`, whose steps have no certificate.
    """

    index: int
    start: fmt.Vector
    end: fmt.Vector
    memory: bytes
    status: str
    message: str
    error_bound: float
    iterations: int
    read: Callable[[], tuple[PatchArrays, PointArrays]]
    model: mujoco.MjModel
    size: int
    shift: float = 0.0
    is_certified: bool = True

    @property
    def start_time(self) -> float:
        """Time at the start of the step [s]."""
        return float(self.start[0]) + self.shift

    @property
    def time(self) -> float:
        """Time at the end of the step [s]."""
        return float(self.end[0]) + self.shift

    @property
    def is_good(self) -> bool:
        """True if the step was made, and its certificate holds if it has one."""
        return self.status == "ok"

    @property
    def has_figures(self) -> bool:
        """True if creep and energy were computed before."""
        return {"creep", "energy"} <= self.__dict__.keys()

    @cached_property
    def creep(self) -> float:
        """Largest slip speed of a contact that sticks [m/s]; NaN if no speed is known."""
        return calc_creep(*self.read())

    @cached_property
    def energy(self) -> float:
        """Potential and kinetic energy after the step, without that of contacts [J]."""
        parts = calc_energy(self.model, self.end)
        return parts["potential"] + parts["kinetic"]


def calc_shift(start: fmt.Vector, last: Frame | None) -> float:
    """Returns the shift of a step that starts from a state, after the last frame of its run."""
    if last is None:
        return 0.0
    return last.shift + max(float(last.end[0] - start[0]), 0.0)


def make_frame(
    model: mujoco.MjModel,
    index: int,
    start: fmt.Vector,
    end: fmt.Vector,
    memory: bytes,
    report: StepReport,
    contact_model: str,
) -> Frame:
    """Makes the frame of a step that was just made. It keeps the report."""
    bound = report.certificate.error_bound
    return Frame(
        index,
        start,
        end,
        memory,
        report.status,
        report.message,
        bound if math.isfinite(bound) else math.nan,
        report.statistics.iterations,
        lambda: (read_patches(report), read_points(report)),
        model,
        # A face has about 150 bytes, and five vertices of 32 bytes; a contact has about 200,
        # and a taxel 104.
        _EMPTY_STEP
        + 310 * report.patches.num_faces
        + 200 * len(report.contacts)
        + 104 * len(report.taxels.area)
        + start.nbytes
        + end.nbytes
        + len(memory),
        is_certified=has_certificate(contact_model),
    )


def has_certificate(contact_model: str) -> bool:
    """True if the steps of a contact model have certificates."""
    return not contact_model_traits(contact_model).is_mj_step


def make_recorded_frame(
    model: mujoco.MjModel,
    step: Step,
    start: fmt.Vector,
    time_step: float,
    is_fallback: Callable[[int, int], bool],
    contact_model: str,
    shift: float = 0.0,
) -> Frame:
    """Makes the frame of a recorded step; is_fallback tells if points of two geoms replace a patch."""
    report: dict[str, Any] = step.report
    bound = report.get("error_bound")
    return Frame(
        step.index,
        start,
        step.state,
        b"",
        str(report.get("status", "ok")),
        str(report.get("message", "")),
        math.nan if bound is None else float(bound),
        int(report.get("iterations", 0)),
        lambda: (
            read_recorded_patches(step.patches),
            read_recorded_points(step, time_step, is_fallback),
        ),
        model,
        _EMPTY_STEP
        + step.contacts.nbytes
        + sum(each.faces.nbytes + each.vertices.nbytes for each in step.patches),
        shift,
        has_certificate(contact_model),
    )
