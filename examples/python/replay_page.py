"""Writes a page that replays a run with its contact patches, without a server and without a network.

Usage: python examples/python/replay_page.py [FILE.html]; it needs pip install "stiction[view]"
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import stiction
from stiction.inputs.package_scenes import find_scene_file
from stiction.view.film import Film
from stiction.view.page import make_page


def film(scene: stiction.Scene, contact_model: str, duration: float) -> Film:
    """Runs a scene, and keeps 25 frames per simulated second."""
    data, simulator = scene.make_data(), scene.make_simulator(contact_model)
    film = Film(contact_model)
    while data.time < duration:
        scene.control_schedule(data)
        film.step(simulator, data)  # in place of simulator.step(data)
    return film


def main() -> None:
    # The scene has properties for several contact models, and each model reads some of them.
    warnings.simplefilter("ignore", stiction.IgnoredSettingWarning)
    path = Path(sys.argv[1] if len(sys.argv) > 1 else "spatula.html")
    scene = stiction.load_scene(find_scene_file("spatula"))
    films = [film(scene, name, duration=6) for name in ("sap", "coulomb")]
    path.write_text(make_page(films, title="A spatula in a soft grip"), encoding="utf-8")
    frames = len(films[0].frames)
    print(f"{path}: {frames} frames of two contact models, {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
