"""Recordings of runs, which can be repeated bit for bit. See docs/recordings.md."""

from stiction.recording.recorder import Recorder
from stiction.recording.recording import Recording
from stiction.recording.replay import Replay

__all__ = ["Recorder", "Recording", "Replay"]
