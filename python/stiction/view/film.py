"""Frames of a run at a steady rate, from which a page is made."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import mujoco

from stiction._core import StepReport
from stiction.recording import format as fmt
from stiction.setup.properties import PropertiesLike
from stiction.simulator import Simulator
from stiction.view.frame import Frame, has_certificate, make_frame
from stiction.view.session import Session

FRAME_TIME = 0.04  # simulated time between two frames [s]


class Film:
    """Frames of a run. Steps that failed are always among them.

        film = Film("sap")
        report = film.step(simulator, data)         # in place of simulator.step(data)

    Args:
        name: name that the page shows, such as the contact model.
        frame_time: simulated time between two frames [s].

    Attributes:
        model: the model; it is known after the first step.
        properties: contact properties of geoms.
        frames: the frames.
        num_steps: number of steps, also of those without a frame.
        num_certified: number of these steps that have a certificate, whether it holds or not.
    """

    model: mujoco.MjModel

    def __init__(self, name: str, frame_time: float = FRAME_TIME) -> None:
        self.name = name
        self.properties: PropertiesLike = None
        self.frame_time = frame_time
        self.frames: list[Frame] = []
        self.num_steps = self.num_certified = 0
        self._end, self._shift = -math.inf, 0.0  # time after the last step, and Frame.shift [s]

    def step(self, simulator: Simulator, data: mujoco.MjData) -> StepReport:
        """Makes a step, and keeps it if a frame is due."""
        if not self.num_steps:
            self.model, self.properties = simulator.model, simulator.properties
        start = fmt.get_state(self.model, data)
        report = simulator.step(data)
        self.num_steps += 1
        self.num_certified += has_certificate(simulator.contact_model)
        end = fmt.get_state(self.model, data)
        # A program may reset its data between two steps.
        self._shift += max(float(self._end - start[0]), 0.0)
        self._end = float(end[0])
        if self._is_due(start[0] + self._shift) or report.status != "ok":
            frame = make_frame(
                self.model, self.num_steps, start, end, b"", report, simulator.contact_model
            )
            self.frames.append(replace(frame, shift=self._shift))
        return report

    def add(self, frame: Frame) -> None:
        """Keeps a frame if one is due."""
        self.num_steps += frame.index > 0
        self.num_certified += frame.index > 0 and frame.is_certified
        if self._is_due(frame.start_time) or not frame.is_good:
            self.frames.append(frame)

    def find_frame(self, time: float) -> Frame:
        """Returns the frame whose step starts nearest to a time [s]."""
        return min(self.frames, key=lambda frame: abs(frame.start_time - time))

    def _is_due(self, time: float) -> bool:
        # Rounding must not make every other frame late by a step.
        return not self.frames or time >= self.frames[-1].start_time + self.frame_time - 1e-9


def film_sessions(
    sessions: Sequence[Session],
    duration: float,
    frame_time: float = FRAME_TIME,
    tell: Callable[[float], None] = lambda time: None,
) -> list[Film]:
    """Runs sessions one after the other for a duration, and films them every frame_time [s]."""
    films = []
    for session in sessions:
        film = Film(session.name, frame_time)
        film.model, film.properties = session.model, session.properties
        end = session.time + duration
        film.add(session.frame)
        while session.time < end - 1e-9 and session.advance():
            film.add(session.frame)
            tell(session.time)
        films.append(film)
    return films
