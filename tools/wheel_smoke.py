"""Tries the installed package: a step under each contact model, the command line, and recordings.

    python wheel_smoke.py SCENE [RECORDING...]

Each step must be certified, and each recording, which another build has made, must replay with the same
bits. Prints 'ok' at the end.
"""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import stiction
from stiction.recording import Recording, Replay


def try_model(scene: Path, model: str) -> None:
    """Takes steps of the scene, and looks at the certificate of the last."""
    loaded = stiction.load_scene(scene)
    report = loaded.make_simulator(model).step(loaded.make_data(), 20)
    assert report.status == "ok", f"{model}: {report.message}"
    assert report.certificate.ok, f"{model}: {report.certificate}"


def try_recording(path: Path) -> None:
    """Replays a recording, and compares each step with it."""
    for step in Replay(Recording(path)):
        difference = step.find_difference()
        assert difference is None, f"{path.name}: {difference}"


def main() -> None:
    # All models get the same settings, and not every model uses each of them.
    warnings.simplefilter("ignore", stiction.IgnoredSettingWarning)
    scene, *recordings = map(Path, sys.argv[1:])
    for model in stiction.contact_models():
        try_model(scene, model)
    for path in recordings:
        try_recording(path)
    program = Path(sys.executable).with_name("stiction")
    subprocess.run([program, "--help"], stdout=subprocess.DEVNULL, check=True)
    print("ok")


if __name__ == "__main__":
    main()
