"""Conversion of a recording to a file for Foxglove and other programs."""

from __future__ import annotations

from pathlib import Path

import mujoco
from mcap.writer import Writer

from stiction.errors import Error
from stiction.recording import format as fmt
from stiction.recording.foxglove import FoxgloveChannels
from stiction.recording.foxglove_patches import join_recorded
from stiction.recording.recording import Recording
from stiction.recording.state_names import tabulate_step
from stiction.recording.writer import open_file
from stiction.version import __version__


def convert_to_foxglove(recording: Recording, path: Path) -> int:
    """Writes poses, contact wrenches and patches of a recording with the schemas of Foxglove and ROS 2.

    Colors of patches have one scale, up to the largest pressure of the run.

    Args:
        recording: the recording.
        path: the file. An older MCAP file there is overwritten, but no other file.

    Returns:
        The number of frames.

    Raises:
        Error: the file cannot be written, or foxglove-sdk is not installed.
    """
    if path.exists() and path.samefile(recording.path):
        raise Error("invalid_value", str(path), "is the recording itself; give another name")
    channels = FoxgloveChannels(recording.model, _find_largest_pressure(recording))
    try:
        with open_file(path) as file:
            writer = Writer(file)
            writer.start("", f"stiction {__version__}")
            num_frames = _write_frames(recording, channels, writer)
            writer.finish()  # type: ignore[no-untyped-call]
    except OSError as e:
        raise Error("invalid_value", str(path), f"cannot be written: {e.strerror or e}") from e
    return num_frames


def _find_largest_pressure(recording: Recording) -> float:
    """Returns the largest pressure of a vertex of any patch [Pa]."""
    pressures = (
        float(patch.vertices["vertex_pressure"].max())
        for step in recording
        for patch in step.patches
        if len(patch.vertices)
    )
    return max(pressures, default=0.0)


def _write_frames(recording: Recording, channels: FoxgloveChannels, writer: Writer) -> int:
    data = mujoco.MjData(recording.model)
    before: fmt.Vector | None = None
    num_frames = num_steps = 0
    for step in recording:
        start = before if step.start is None else step.start
        time_ns = round(num_steps * recording.time_step * 1e9)
        num_steps += 1
        before = step.state
        if start is None or not channels.wants(time_ns):
            continue
        mujoco.mj_setState(recording.model, data, start, fmt.INTEGRATION)
        mujoco.mj_kinematics(recording.model, data)
        rows = tabulate_step(step, recording.model.geom_bodyid, recording.time_step)
        channels.write(writer, time_ns, data, rows, join_recorded(step.patches))
        num_frames += 1
    return num_frames
