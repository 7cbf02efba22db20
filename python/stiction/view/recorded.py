"""A recording that the viewer plays."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import mujoco

from stiction.errors import Error, ignored_settings_are_fine
from stiction.recording import Recording
from stiction.recording import format as fmt
from stiction.recording.step import Step
from stiction.view.contact_arrays import NO_PATCHES, NO_POINTS
from stiction.view.frame import Frame, calc_shift, make_recorded_frame
from stiction.view.session import Session

_MAX_BYTES = 2 << 30  # of the steps that are kept


class RecordedRun(Session):
    """The steps of a recording, or Error if it cannot be shown.

    A step is read from the file when it is reached, or ahead of that by read_ahead. It is then kept
    in memory, so a long recording starts at once and can be scrubbed.
    """

    def __init__(self, path: Path) -> None:
        self.recording = Recording(path)
        with ignored_settings_are_fine():
            self._simulator = self.recording.make_simulator()
        name = f"{path.name}: {self._simulator.contact_model}"
        super().__init__(name, self.recording.model, self._simulator.properties)
        self._is_fallback = cache(self._explain_fallback)
        self._steps = self.recording.all_steps()
        first = next(self._steps, None)
        if first is None or first.start is None:
            raise Error("syntax", str(path), "has no whole step, so there is nothing to show")
        self._start_with([_make_initial_frame(self.model, first.start)])
        self._append(self._make_frame(first))
        self._cursor = 0
        if self.recording.damage:
            self.warnings["damage"] = f"{self.recording.damage}; the whole steps before are shown"

    @property
    def is_growing(self) -> bool:
        """True for a simulation."""
        return False

    def reset(self) -> None:
        """Goes back to the first frame."""
        self._cursor = 0

    def read_ahead(self, num_steps: int) -> bool:
        """Reads steps and stays at the cursor. Returns False if there are no more."""
        cursor, count = self._cursor, len(self._frames)
        while len(self._frames) < count + num_steps:
            frame = self._make_next()
            if frame is None:
                break
            self._append(frame)
        self._cursor = cursor
        return len(self._frames) > count

    def _make_next(self) -> Frame | None:
        if self.problem:
            return None
        if self._bytes > _MAX_BYTES:
            self.problem = (
                f"only the first {self._frames[-1].time:.4g} s are shown, because more steps do not "
                f"fit into {_MAX_BYTES >> 30} GiB"
            )
            return None
        step = next(self._steps, None)
        return None if step is None else self._make_frame(step)

    def _make_frame(self, step: Step) -> Frame:
        last = self._frames[-1]
        start = last.end if step.start is None else step.start
        return make_recorded_frame(
            self.model,
            step,
            start,
            self._simulator.time_step,
            self._is_fallback,
            self._simulator.contact_model,
            calc_shift(start, last),
        )

    def _make_room(self) -> None:
        """Keeps all frames, so that one can scrub through all of them."""

    def _explain_fallback(self, geom1: int, geom2: int) -> bool:
        """True if two geoms touch in points although one of them has a pressure field."""
        return self._simulator.explain(geom1, geom2)["why_points"] is not None


def check_same_scene(runs: Sequence[RecordedRun]) -> None:
    """Raises Error if recordings are of different scenes."""
    first = runs[0].recording
    for run in runs[1:]:
        other = run.recording
        if other.metadata["model_digest"] != first.metadata["model_digest"]:
            names = [each.metadata.get("scene") or "unknown" for each in (other, first)]
            raise Error(
                "invalid_value",
                str(other.path),
                f"is a recording of another scene ({names[0]}) than {first.path} ({names[1]}), or of "
                "a changed one; a page shows runs of one scene, so view each alone",
            )


def _make_initial_frame(model: mujoco.MjModel, start: fmt.Vector) -> Frame:
    return Frame(
        index=0,
        start=start,
        end=start,
        memory=b"",
        status="ok",
        message="",
        error_bound=float("nan"),
        iterations=0,
        read=lambda: (NO_PATCHES, NO_POINTS),
        model=model,
        size=start.nbytes,
    )
