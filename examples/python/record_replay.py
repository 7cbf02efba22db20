"""Records a run of a quadruped in an MCAP file, and verifies that its replay is bit-exact.

Usage: python examples/python/record_replay.py [FILE]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import stiction
from stiction.inputs.package_scenes import find_scene_file

NUM_STEPS = 500


def record(path: Path) -> None:
    """Records a quadruped that stands and moves its legs at random."""
    scene = stiction.load_scene(find_scene_file("quadruped"))
    data = scene.make_data()
    standing = data.ctrl.copy()
    random = np.random.default_rng(seed=1)
    simulator = scene.make_simulator()
    with stiction.Recorder(path, simulator, scene=scene.path, notes={"seed": "1"}) as recorder:
        for _ in range(NUM_STEPS):
            data.ctrl[:] = standing + random.uniform(-0.1, 0.1, scene.model.nu)
            recorder.step(data)  # in place of simulator.step(data)


def verify(recording: stiction.Recording) -> None:
    """Repeats all steps with the recorded scene and inputs, and compares the states bit for bit."""
    for step in stiction.Replay(recording):
        difference = step.find_difference()
        if difference:
            sys.exit(f"error: {difference}")


def main() -> None:
    path = Path(sys.argv[1] if len(sys.argv) > 1 else "quadruped.mcap")
    record(path)
    recording = stiction.Recording(path)
    states, times = recording.states, recording.times
    print(f"{path}: {len(recording)} steps, {times[-1]:g} s, states of {states.shape[1]} numbers")
    verify(recording)
    print(f"the replay of {len(recording)} steps is bit-exact")


if __name__ == "__main__":
    main()
