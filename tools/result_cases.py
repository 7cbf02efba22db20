"""The cases that same_results.py records: runs of scenes by name, and the studies."""

from __future__ import annotations

from pathlib import Path

import gymnasium
import gymnasium_robotics

import stiction
from stiction.setup.options import DEFAULTS, OPTIONS

SETTINGS = (
    "gap_correction=0.3",
    "max_correction_speed=0.01",
    "friction_directions=8",
    "drop_separating=false",
    "near_rigid_factor=0",
    "stiction_tolerance=1e-5",
    "friction_regularization=1e-2",
    "lcp_solver=lemke",
)


def find_scenes() -> dict[str, str]:
    """Returns scene files by a short name: scenes of this package, and some of other packages."""
    gym = Path(gymnasium.__file__).parent / "envs/mujoco/assets"
    robots = Path(gymnasium_robotics.__file__).parent / "envs/assets"
    own = {
        name: f"scenes/{name}.xml" for name in ("pinch", "gripper", "spatula", "quadruped", "grasp")
    }
    return own | {
        "humanoid": str(gym / "humanoid.xml"),
        "ant": str(gym / "ant.xml"),
        "hand_block": str(robots / "hand/manipulate_block.xml"),
        "fetch": str(robots / "fetch/pick_and_place.xml"),
    }


def make_run_cases() -> dict[str, list[str]]:
    """Returns the arguments of `stiction run` by the name of the case."""
    scenes = find_scenes()
    random = ["--controls", "random"]
    ant = scenes["ant"]
    cases = _make_scene_cases(scenes)
    for model in stiction.rigid_contact_models():
        cases[f"event-{model}"] = [ant, "--contact-model", model, "--integrator", "event_driven"]
        cases[f"event-{model}"] += ["--duration", "0.3s", *random]
    rk4 = ["--contact-model", "viscous", "--integrator", "rk4", "--duration"]
    cases["rk4-ant"] = [ant, *rk4, "0.3s"]
    cases["rk4-pinch"] = [scenes["pinch"], *rk4, "0.1s"]
    normal_laws = [law for law in OPTIONS["normal_law"].choices if law != DEFAULTS["normal_law"]]
    for normal in normal_laws:
        for friction in OPTIONS["friction_law"].choices:
            laws = [
                "--normal-law",
                normal,
                "--friction-law",
                friction,
                "--duration",
                "0.15s",
                *random,
            ]
            for model in OPTIONS["normal_law"].contact_models:
                cases[f"law-{normal}-{friction}-{model}"] = [ant, "--contact-model", model, *laws]
    for tessellation in OPTIONS["tessellation"].choices:
        for quadrature in OPTIONS["quadrature"].choices:
            options = [
                "--tessellation",
                tessellation,
                "--quadrature",
                quadrature,
                "--duration",
                "0.05s",
            ]
            cases[f"surface-{tessellation}-{quadrature}"] = [scenes["spatula"], *options]
    cases["threads"] = [scenes["humanoid"], "--num-threads", "3", "--duration", "0.2s", *random]
    for k, option in enumerate(SETTINGS):
        for model in ("no_slip", "stewart_trinkle", "sap", "lagged"):
            options = ["--contact-model", model, "--set", option, "--duration", "0.1s", *random]
            cases[f"set-{k}-{model}"] = [ant, *options]
    return cases


def _make_scene_cases(scenes: dict[str, str]) -> dict[str, list[str]]:
    """Returns a run of every scene under every contact model."""
    durations = {"humanoid": "0.6s", "ant": "0.8s", "spatula": "0.15s"}
    durations |= dict.fromkeys(("hand_block", "fetch", "gripper"), "0.2s")
    cases = {}
    for scene, file in scenes.items():
        duration = durations.get(scene, "0.5s")
        controls = ["--controls", "random", "--seed", "3"] if scene in ("humanoid", "ant") else []
        for model in stiction.contact_models():
            arguments = [file, "--contact-model", model, "--duration", duration, *controls]
            cases[f"{scene}-{model}"] = arguments
    return cases
