"""Compares how fast a held cube creeps out of a gripper under several contact models.

Usage: python examples/python/compare_models.py

`stiction compare SCENE` does the same for all contact models, and writes a report with plots.
"""

from __future__ import annotations

import stiction
from stiction.compare import compare_models
from stiction.inputs.package_scenes import find_scene_file

CONTACT_MODELS = ["coulomb", "sap", "lagged", "similar", "tamsi", "no_slip", "mujoco"]


def in_microns(value: float | None) -> str:
    """Formats a speed [m/s] in um/s. None means that the value is unknown."""
    return "-" if value is None else f"{1e6 * value:.4g}"


def main() -> None:
    # The scene declares that the cube is held, and from which time on.
    scene = stiction.load_scene(find_scene_file("pinch"))
    comparison = compare_models(scene, CONTACT_MODELS, duration=3.0)

    print(f"creep of '{comparison.held}' from {comparison.judged_from:g} s on")
    print("contact model               measured [um/s]  predicted [um/s]  error bound [um/s]")
    for row in comparison.rows:
        print(
            f"{row.label:28}{in_microns(row.creep_measured):>15}"
            f"{in_microns(row.creep_predicted):>18}{in_microns(row.velocity_bound):>20}"
        )


if __name__ == "__main__":
    main()
