"""Checks of the walks."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stiction.evidence.studies.checks import Checks
from stiction.evidence.studies.quadruped.footsteps import STEP_HEIGHT, Gait
from stiction.evidence.studies.quadruped.run import FOOT_RADIUS, TIME_STEP, PackageWalk, WalkRun
from stiction.evidence.studies.quadruped.terrain import Vector

# ---- Computes the figures of a walk --------------------------------------------------------------

LARGEST_COUNT = 30  # largest number of contacts in the paper
_STANDS = 1e-5  # a foot stands if its gap to the floor, whose roughness is 1e-6 m, is smaller [m]
_LANDED = 0.3  # time after which the robot has landed from its initial height of 9 mm [s]


def describe_walk(run: WalkRun) -> dict[str, Any]:
    """Returns the figures of a run, fit for JSON. They are NaN if the run ended too early."""
    standing = run.time > _LANDED
    last = run.time > _find_last_periods(run.time)
    height = run.base[standing, 2]
    lift = run.feet[last, :, 2] - FOOT_RADIUS  # height of each foot above the ground
    contacts, loaded = run.contacts[standing], run.loaded[standing]
    few = (contacts > 0) & (contacts <= LARGEST_COUNT)
    return {
        "steps": len(run.time),
        "failure": run.failure,
        "speed": _calc(np.mean, np.diff(run.base[last, 0]) / TIME_STEP),
        "command": _calc(np.mean, run.command[last]),
        "heights": [_calc(np.min, height), _calc(np.max, height)],
        "largest_tilt": _calc(np.max, np.abs(run.rpy[:, :2])),
        "largest_yaw": _calc(np.max, np.abs(run.rpy[:, 2])),
        "contacts": {
            "mean": _calc(np.mean, contacts),
            "deviation": _calc(np.std, contacts),
            "largest": _calc(np.max, contacts),
            "share_1_to_30": _calc(np.mean, few),
            "mean_loaded": _calc(np.mean, loaded),
            "largest_loaded": _calc(np.max, loaded),
            "mean_touching": _calc(np.mean, run.touching[standing]),
            "standing_feet": _calc(np.mean, _count_feet(run)[standing]),
            "histogram": np.bincount(contacts).tolist(),
        },
        "least_lift": _calc(np.min, np.max(lift, axis=0, initial=-math.inf)),
        "largest_slip": _calc(np.max, run.slip[standing]),
        "largest_torque": _calc(np.max, run.torque),
        "physics_s": run.physics_s,
        "controller_s": run.controller_s,
        "whole_s": run.physics_s + run.controller_s,
        "solve_us_per_step": _calc(np.mean, run.solve_us),
    }


def _count_feet(run: WalkRun) -> NDArray[np.int64]:
    """Returns the number of feet that stand on a flat floor, for each step."""
    heights = run.feet[:, :, 2] - FOOT_RADIUS
    feet: NDArray[np.int64] = np.count_nonzero(heights < _STANDS, axis=1)
    return feet


def _find_last_periods(time: Vector) -> float:
    """Returns the start of the last whole periods of the gait, without the first period [s]."""
    period = Gait().period
    end = float(time[-1]) if len(time) else 0.0
    return end - period * max(0, int(end / period + 1e-6) - 1) - TIME_STEP / 2


def _calc(function: Callable[..., Any], values: NDArray[Any]) -> float:
    """Applies a function to values. Returns NaN if there are no values."""
    return float(function(values)) if len(values) else math.nan


def describe_package(walk: PackageWalk) -> dict[str, Any]:
    """Returns the figures of a walk of dm_control's quadruped, fit for JSON."""
    landed = walk.time > 0.5
    return {
        "steps": len(walk.time),
        "failure": walk.failure,
        "travel": _calc(lambda base: np.linalg.norm(base[-1, :2] - base[0, :2]), walk.base),
        "least_upright": _calc(np.min, walk.upright),
        "least_height": _calc(np.min, walk.base[landed, 2]),
        "contacts": _calc(np.mean, walk.contacts),
        "physics_s": walk.physics_s,
    }


def check_whole(figures: dict[str, Any], name: str, tilt: float) -> Checks:
    """Checks that a walk was completed and that the robot stayed upright."""
    checks = Checks()
    checks.at_most(f"{name}: failures", bool(figures["failure"]), 0, "the whole run is completed")
    checks.at_most(f"{name}: largest roll or pitch [rad]", figures["largest_tilt"], tilt, "upright")
    return checks


def check_steps(figures: dict[str, Any], name: str) -> Checks:
    """Checks that all feet leave the ground."""
    checks = Checks()
    source = f"steps are {1e3 * STEP_HEIGHT:g} mm high"
    checks.at_least(f"{name}: smallest lift of a foot [m]", figures["least_lift"], 5e-3, source)
    return checks


def check_in_place(figures: dict[str, dict[str, Any]], where: str) -> Checks:
    """Checks the walks in place."""
    checks = Checks()
    for name, walk in figures[where].items():
        label = f"{where}, {name}"
        checks += check_whole(walk, label, 0.05)
        what = f"{label}: difference of speed and command [m/s]"
        checks.at_most(what, abs(walk["speed"] - walk["command"]), 0.01, "published rule")
        checks += check_steps(walk, label)
        what = f"{label}: smallest height [m]"
        checks.between(what, walk["heights"][0], 0.13, 0.15, "the robot stands")
        # mujoco is not checked, because the number of its contacts depends on their penetration.
        if name != "mujoco":
            what = f"{label}: fraction of steps with 1 to 30 contacts"
            checks.at_least(what, walk["contacts"]["share_1_to_30"], 0.99, "paper")
        if name == "no_slip":
            what = f"{label}: largest slip [m/s]"
            checks.at_most(what, walk["largest_slip"], 1e-9, "no-slip model")
    return checks


def check_counts(figures: dict[float, dict[str, Any]]) -> Checks:
    """Checks that the contacts are those that a step can close, whatever the floor's grid."""
    checks = Checks()
    for pitch, walk in figures.items():
        counts = walk["contacts"]
        what = f"touching contacts of a standing foot, grid of {1e3 * pitch:.3g} mm"
        source = "a sphere touches one face, two at an edge"
        checks.between(what, counts["mean_touching"] / counts["standing_feet"], 1.0, 1.5, source)
    means = [figures[pitch]["contacts"]["mean"] for pitch in sorted(figures)]
    for finer, coarser in itertools.pairwise(means):
        what = "ratio of the numbers of contacts, grid of half the size"
        source = "a step closes few contacts of a foot; 4 if it kept all within its reach"
        checks.between(what, finer / coarser, 0.9, 1.5, source)
    return checks


def check_ahead(figures: dict[str, dict[str, Any]], where: str) -> Checks:
    """Checks the forward walks on flat ground."""
    checks = Checks()
    for name, walk in figures[where].items():
        label, ratio = f"{where}, {name}", walk["speed"] / walk["command"]
        checks += check_whole(walk, label, 0.1)
        checks += check_steps(walk, label)
        what = f"{label}: ratio of speed to command"
        checks.between(what, ratio, 0.7, 1.0, "footsteps alone: 0.74")
        if name == "no_slip":
            what = f"{label}: largest slip [m/s]"
            checks.at_most(what, walk["largest_slip"], 1e-9, "no-slip model")
    return checks


def check_hills(figures: dict[str, dict[str, Any]]) -> Checks:
    """Checks the walks over hills."""
    checks = Checks()
    for name, walk in figures.items():
        checks += check_whole(walk, f"hills, {name}", 0.2)
        what = f"hills, {name}: ratio of speed to command"
        source = "on the floor: 0.83; slopes change it"
        checks.between(what, walk["speed"] / walk["command"], 0.5, 1.1, source)
    return checks
