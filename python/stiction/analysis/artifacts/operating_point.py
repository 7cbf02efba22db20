"""Estimates the state of a contact of two geoms that may not touch yet."""

from __future__ import annotations

import math

import mujoco

from stiction.analysis.artifacts.predictions import OperatingPoint


def estimate_operating_point(
    model: mujoco.MjModel,
    geom1: int,
    geom2: int,
    *,
    slip_speed: float,
    normal_force: float | None = None,
    load_share: float = 0.2,
) -> OperatingPoint:
    """Returns the state of one contact of two geoms.

    The mobility is that of the bodies' centers in the model's reference pose: with W = w0 I it is
    w = |W|_F / 3 = w0 / sqrt(3), where w0 is the sum of body_invweight0 [castro2022].

    Args:
        model: the model.
        geom1, geom2: ids of the geoms.
        slip_speed: [m/s].
        normal_force: [N]; None means the weight of the lighter body that moves, or 1 N without gravity.
        load_share: tangential load over the friction bound, in [0, 1) [-].
    """
    bodies = [int(model.geom_bodyid[geom]) for geom in (geom1, geom2)]
    moving = [body for body in bodies if model.body_weldid[body] != 0]
    if normal_force is None:
        gravity = math.hypot(*model.opt.gravity)
        mass = min((float(model.body_subtreemass[body]) for body in moving), default=0.0)
        normal_force = mass * gravity or 1.0
    mobility = sum(float(model.body_invweight0[body, 0]) for body in bodies) / math.sqrt(3)
    return OperatingPoint(slip_speed, normal_force, mobility, load_share)
