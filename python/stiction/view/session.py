"""A run with a cursor: what a simulation and a recording have in common for the viewer.

A session is a list of frames and the place of the frame that is shown. Going forward from the last
frame makes a new one, which a recording reads and a simulation steps. So one can go back in a
simulation too, and continue it from there.
"""

from __future__ import annotations

import abc
from bisect import bisect_left
from collections.abc import Sequence

import mujoco

from stiction.errors import Error
from stiction.setup.properties import PropertiesLike
from stiction.view.frame import Frame

MAX_SESSIONS = 6  # on one page

_MAX_BYTES = 512 << 20  # of the frames that a session keeps
_MAX_FRAMES = 20_000


class Session(abc.ABC):
    """A run with a cursor. One thread moves it; others may read `frames`, `frame` and `time` meanwhile.

    problem: why the run cannot go on; empty if it can.
    warnings: the last warning of each kind.
    """

    def __init__(self, name: str, model: mujoco.MjModel, properties: PropertiesLike) -> None:
        self.name = name
        self.model = model
        self.properties = properties
        self.problem = ""
        self.warnings: dict[str, str] = {}
        self._frames: list[Frame] = []
        self._cursor = 0
        self._bytes = 0

    @property
    def frames(self) -> Sequence[Frame]:
        """The frames that are known, in order of time."""
        return self._frames

    @property
    def frame(self) -> Frame:
        """The frame at the cursor."""
        frames = self._frames
        return frames[min(self._cursor, len(frames) - 1)]

    @property
    def time(self) -> float:
        """Time of the frame at the cursor [s]."""
        return self.frame.time

    @property
    def is_at_end(self) -> bool:
        """True if the frame at the cursor is the last known one."""
        return self._cursor == len(self._frames) - 1

    def advance(self) -> bool:
        """Goes to the next frame, and makes it if needed. Returns False if there is none."""
        if self.is_at_end:
            frame = self._make_next()
            if frame is None:
                return False
            self._append(frame)
        else:
            self._cursor += 1
        return True

    def seek(self, time: float) -> None:
        """Goes to the first known frame at or after a time, or to the last one."""
        place = bisect_left(self._frames, time - 1e-9, key=lambda frame: frame.time)
        self._cursor = min(place, len(self._frames) - 1)

    @abc.abstractmethod
    def reset(self) -> None:
        """Goes back to the initial state."""

    @property
    @abc.abstractmethod
    def is_growing(self) -> bool:
        """True if new frames are made for as long as one plays, as in a simulation."""

    def read_ahead(self, num_steps: int) -> bool:
        """Makes frames that are known in advance. Returns False if there are none."""
        return False

    @abc.abstractmethod
    def _make_next(self) -> Frame | None:
        """Makes the frame after the last one, or returns None if there is none."""

    def _append(self, frame: Frame) -> None:
        """Appends a frame and goes to it."""
        self._frames.append(frame)
        self._bytes += frame.size
        self._make_room()
        self._cursor = len(self._frames) - 1

    def _make_room(self) -> None:
        """Removes the oldest tenth of the frames if there are too many."""
        if self._bytes > _MAX_BYTES or len(self._frames) > _MAX_FRAMES:
            drop = len(self._frames) // 10
            self._bytes -= sum(frame.size for frame in self._frames[:drop])
            self._frames = self._frames[drop:]  # not in place, because others may read the list

    def _start_with(self, frames: list[Frame]) -> None:
        """Replaces all frames, and goes to the first."""
        self._cursor = 0
        self._frames = frames
        self._bytes = sum(frame.size for frame in frames)

    def _forget_later_frames(self) -> None:
        """Removes the frames after the cursor."""
        self._bytes -= sum(frame.size for frame in self._frames[self._cursor + 1 :])
        self._frames = self._frames[: self._cursor + 1]


def check_count(count: int) -> None:
    """Raises Error if one page cannot show this number of runs."""
    if not 1 <= count <= MAX_SESSIONS:
        raise Error(
            "invalid_value",
            "view",
            f"{count} scenes do not fit on a page; name 1 to {MAX_SESSIONS} contact models or "
            "recordings",
        )
