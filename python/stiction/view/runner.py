"""The thread that moves all sessions on one clock.

It never waits for a browser. It publishes the newest frames, and whoever draws takes them when it can.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from stiction.errors import Error
from stiction.view.frame import Frame
from stiction.view.session import Session

_TICK = 1 / 30  # wall time between two frames [s]
_READ_AHEAD = 20  # steps of a recording that are read between two looks at the commands


@dataclass(frozen=True)
class Snapshot:
    """The frame of each session; `version` increases with each change, also of something else."""

    frames: tuple[Frame, ...]
    version: int


class Runner:
    """Moves sessions forward in step with the wall clock, at a speed that may be infinite.

    All sessions reach the same simulated time before the next frame is shown. If that takes longer
    than the wall clock allows, the run is slower than asked, and has_time is False.
    """

    def __init__(self, sessions: Sequence[Session], speed: float = 1.0) -> None:
        self.sessions = sessions
        self.speed = speed
        self.problem = ""
        self.has_time = True
        self._playing = False
        self._clock: float | None = None  # simulated time; None: that of the sessions
        self._single_steps = 0
        self._stopped = False
        self._commands: list[Callable[[], None]] = []
        self._condition = threading.Condition()
        self._snapshot = Snapshot(tuple(each.frame for each in sessions), 0)
        self._thread = threading.Thread(target=self._run, name="stiction-view", daemon=True)

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread and waits for it."""
        with self._condition:
            self._stopped = True
            self._condition.notify_all()
        self._thread.join()

    @property
    def is_playing(self) -> bool:
        """True while the clock runs."""
        return self._playing

    @property
    def time(self) -> float:
        """The time that is shown [s]."""
        return max(frame.time for frame in self._snapshot.frames)

    def play(self) -> None:
        """Lets the clock run."""
        self._set(playing=True)

    def pause(self) -> None:
        """Stops the clock."""
        self._set(playing=False)

    def step(self) -> None:
        """Makes one step of each session, and pauses."""
        self._set(playing=False, single_steps=1)

    def seek(self, moment: float) -> None:
        """Pauses at a time [s]."""

        def seek_all() -> None:
            for session in self.sessions:
                session.seek(moment)

        self.pause()
        self.submit(seek_all)

    def reset(self) -> None:
        """Goes back to the initial state."""

        def reset_all() -> None:
            for session in self.sessions:
                session.reset()

        self.submit(reset_all)

    def submit(self, command: Callable[[], None]) -> None:
        """Lets the thread run a command between two steps."""
        with self._condition:
            self._commands.append(command)
            self._condition.notify_all()

    def wait_for_change(self, version: int, timeout: float) -> Snapshot:
        """Returns what is to be shown, as soon as it is newer than a version, or after a time [s]."""
        with self._condition:
            self._condition.wait_for(
                lambda: self._stopped or self._snapshot.version > version, timeout
            )
            return self._snapshot

    def _set(self, *, playing: bool, single_steps: int = 0) -> None:
        with self._condition:
            self._playing = playing
            self._single_steps += single_steps
            self._condition.notify_all()

    def _run(self) -> None:
        due = time.perf_counter()
        while not self._stopped:
            changed = self._obey()
            reads = False
            try:
                changed |= self._move()
                reads = sum(session.read_ahead(_READ_AHEAD) for session in self.sessions) > 0
            except Exception as e:  # noqa: BLE001  # the page shows it, and its controls go on
                self._playing, changed = False, True
                self.problem = _describe(e)
            if changed or reads:
                self._publish()
            due = max(due + _TICK, time.perf_counter() - _TICK)
            self._wait(due, reads)

    def _obey(self) -> bool:
        """Runs the commands that have come. Returns True if there were any."""
        with self._condition:
            commands, self._commands = self._commands, []
        for command in commands:
            self._clock = None
            try:
                command()
                self.problem = ""
            except Exception as e:  # noqa: BLE001
                self.problem = _describe(e)
        return bool(commands)

    def _move(self) -> bool:
        """Makes a single step, or plays. Returns True if a session moved."""
        with self._condition:
            is_single = self._single_steps > 0
            self._single_steps -= is_single
        if is_single:
            self._clock = None
            return _advance_all(self.sessions)
        return self._playing and self._play_one_frame()

    def _play_one_frame(self) -> bool:
        """Moves all sessions to the time of the next frame. Returns False if none moved."""
        moved = self._play_freely() if self.speed == math.inf else self._play_on_clock()
        if not moved and all(session.is_at_end for session in self.sessions):
            self._playing = False
        return moved

    def _play_on_clock(self) -> bool:
        """Moves each session to the first step at or after the time of the clock."""
        if self._clock is None:
            self._clock = min(session.time for session in self.sessions)
        self._clock += self.speed * _TICK
        moved, due = False, self._clock - 1e-9
        late = [session for session in self.sessions if session.time < due]
        while late and not self._must_look_up():
            # The last ones step first, so that a pause finds all of them within one step.
            behind = min(session.time for session in late) + 1e-9
            for session in [each for each in late if each.time <= behind]:
                if session.advance():
                    moved = True
                else:
                    late.remove(session)
            late = [session for session in late if session.time < due]
        # A session that is ahead has steps that are longer than a frame.
        return moved or any(session.time >= due for session in self.sessions)

    def _play_freely(self) -> bool:
        """Steps as fast as possible for the time of one frame."""
        end, moved = time.perf_counter() + _TICK, False
        while time.perf_counter() < end and not self._must_look_up():
            behind = min(session.time for session in self.sessions)
            late = [session for session in self.sessions if session.time <= behind]
            if not _advance_all(late):
                break
            moved = True
        return moved

    def _must_look_up(self) -> bool:
        """True if there is something else to do than to step."""
        return bool(self._commands) or self._stopped or not self._playing

    def _wait(self, due: float, reads: bool) -> None:
        """Waits until the next frame is due or, while paused, until there is something to do."""
        left = due - time.perf_counter()
        self.has_time = not self._playing or (left > 0 and self.speed < math.inf)
        if reads or (self._playing and self.speed == math.inf):
            return
        with self._condition:
            was_playing = self._playing
            self._condition.wait_for(
                lambda: (
                    self._stopped
                    or bool(self._commands)
                    or self._single_steps > 0
                    or self._playing != was_playing
                ),
                max(left, 0) if was_playing else None,
            )

    def _publish(self) -> None:
        frames = tuple(session.frame for session in self.sessions)
        with self._condition:
            self._snapshot = Snapshot(frames, self._snapshot.version + 1)
            self._condition.notify_all()


def _describe(error: Exception) -> str:
    """Returns an error in words. Any but Error is a fault of a program, and has its type."""
    return str(error) if isinstance(error, Error) else f"{type(error).__name__}: {error}"


def _advance_all(sessions: Sequence[Session]) -> bool:
    """Moves each session by a step. Returns False if none moves."""
    return sum(session.advance() for session in sessions) > 0
