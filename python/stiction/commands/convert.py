"""`stiction convert`: writes a recording for Foxglove, Rerun and other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stiction.commands.app import app
from stiction.commands.options import Json, RecordingFile
from stiction.commands.output import Messages, print_json, print_text
from stiction.recording import Recording


@app.command()
def convert(
    file: RecordingFile,
    out: Annotated[Path, typer.Option(metavar="FILE", help="MCAP file to write.")],
    as_json: Json = False,
) -> None:
    """Write poses, contact wrenches and patches of a recording with schemas of Foxglove and ROS 2.

    Exit codes: 0 success, 1 failure, 2 wrong usage.
    """
    from stiction.recording.conversion import convert_to_foxglove  # it imports matplotlib

    messages = Messages()
    recording = Recording(file)
    if recording.damage:
        messages.warn(f"{file}: {recording.damage}; the whole steps before are converted")
    num_frames = convert_to_foxglove(recording, out)
    figures = {
        "recording": str(file),
        "out": str(out),
        "steps": len(recording),
        "frames": num_frames,
    }
    if as_json:
        print_json(figures)
    else:
        print_text(f"{out}: {num_frames} frames of {len(recording)} steps")
