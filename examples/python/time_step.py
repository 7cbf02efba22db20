"""Finds the time step that a scene needs for an accuracy, under two contact models.

Usage: python examples/python/time_step.py

`stiction converge SCENE` does the same for all contact models.
"""

from __future__ import annotations

import stiction
from stiction.analysis.converge import measure_convergence
from stiction.inputs.package_scenes import find_scene_file

ACCURACY = 1e-4  # [m]


def main() -> None:
    scene = stiction.load_scene(find_scene_file("spatula"))
    found = measure_convergence(
        scene, ["coulomb", "sap"], time_step=0.01, num_steps=4, duration=0.5, accuracy=ACCURACY
    )
    for model in found.models:
        print(f"{model.contact_model}, {model.status}:")
        for step, error in zip(found.time_steps, model.errors, strict=True):
            print(f"  {1e3 * step:6.2f} ms: error {error:.1e} m")
        print(f"  order {model.order:.2f}; {1e3 * model.accurate_step:.2f} ms reach {ACCURACY:g} m")


if __name__ == "__main__":
    main()
