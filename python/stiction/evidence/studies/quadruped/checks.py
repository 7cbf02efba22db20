"""Checks of the walks."""

from __future__ import annotations

import itertools
from typing import Any

from stiction.evidence.studies.checks import Check, check_at_least, check_at_most, check_between
from stiction.evidence.studies.quadruped.footsteps import STEP_HEIGHT


def check_whole(figures: dict[str, Any], name: str, tilt: float) -> list[Check]:
    """Checks that a walk was completed and that the robot stayed upright."""
    return [
        check_at_most(
            f"{name}: failures", bool(figures["failure"]), 0, "the whole run is completed"
        ),
        check_at_most(
            f"{name}: largest roll or pitch [rad]", figures["largest_tilt"], tilt, "upright"
        ),
    ]


def check_steps(figures: dict[str, Any], name: str) -> Check:
    """Checks that all feet leave the ground."""
    source = f"steps are {1e3 * STEP_HEIGHT:g} mm high"
    return check_at_least(
        f"{name}: smallest lift of a foot [m]", figures["least_lift"], 5e-3, source
    )


def check_in_place(figures: dict[str, dict[str, Any]], where: str) -> list[Check]:
    """Checks the walks in place.

    Args:
        figures: results of describe_walk by place and contact model.
        where: the place.
    """
    checks = []
    for name, walk in figures[where].items():
        label = f"{where}, {name}"
        drift = abs(walk["speed"] - walk["command"])
        checks += [
            *check_whole(walk, label, 0.05),
            check_at_most(
                f"{label}: difference of speed and command [m/s]", drift, 0.01, "published rule"
            ),
            check_steps(walk, label),
            check_between(
                f"{label}: smallest height [m]", walk["heights"][0], 0.13, 0.15, "the robot stands"
            ),
        ]
        # mujoco is not checked, because the number of its contacts depends on their penetration.
        if name != "mujoco":
            share = walk["contacts"]["share_1_to_30"]
            checks.append(
                check_at_least(
                    f"{label}: fraction of steps with 1 to 30 contacts", share, 0.99, "paper"
                )
            )
        if name == "no_slip":
            slip = walk["largest_slip"]
            checks.append(
                check_at_most(f"{label}: largest slip [m/s]", slip, 1e-9, "no-slip model")
            )
    return checks


def check_counts(figures: dict[float, dict[str, Any]]) -> list[Check]:
    """Checks what determines the number of contacts: the grid of the floor, within a step's reach.

    Args:
        figures: results of describe_walk by distance of the floor's heights [m].
    """
    checks = []
    for pitch, walk in figures.items():
        counts = walk["contacts"]
        checks.append(
            check_between(
                f"touching contacts of a standing foot, grid of {1e3 * pitch:.3g} mm",
                counts["mean_touching"] / counts["standing_feet"],
                1.0,
                1.5,
                "a sphere touches one face, two at an edge",
            )
        )
    means = [figures[pitch]["contacts"]["mean"] for pitch in sorted(figures)]
    return [
        *checks,
        *(
            check_at_least(
                "ratio of the numbers of contacts, grid of half the size",
                finer / coarser,
                1.5,
                "contacts within the reach of a step; at most 4",
            )
            for finer, coarser in itertools.pairwise(means)
        ),
    ]


def check_ahead(figures: dict[str, dict[str, Any]], where: str) -> list[Check]:
    """Checks the forward walks on flat ground.

    Args:
        figures: results of describe_walk by place and contact model.
        where: the place.
    """
    checks = []
    for name, walk in figures[where].items():
        label, ratio = f"{where}, {name}", walk["speed"] / walk["command"]
        checks += [
            *check_whole(walk, label, 0.1),
            check_steps(walk, label),
            check_between(
                f"{label}: ratio of speed to command", ratio, 0.7, 1.0, "footsteps alone: 0.74"
            ),
        ]
        if name == "no_slip":
            slip = walk["largest_slip"]
            checks.append(
                check_at_most(f"{label}: largest slip [m/s]", slip, 1e-9, "no-slip model")
            )
    return checks


def check_hills(figures: dict[str, dict[str, Any]]) -> list[Check]:
    """Checks the walks over hills.

    Args:
        figures: results of describe_walk by contact model.
    """
    checks = []
    for name, walk in figures.items():
        checks += [
            *check_whole(walk, f"hills, {name}", 0.2),
            check_between(
                f"hills, {name}: ratio of speed to command",
                walk["speed"] / walk["command"],
                0.5,
                1.1,
                "on the floor: 0.83; slopes change it",
            ),
        ]
    return checks
