"""The contact parameters of MuJoCo that give the surface of a world."""

from __future__ import annotations

from stiction.evidence.engines.world import World

_MAX_IMPEDANCE = 0.9999  # the largest that MuJoCo accepts
# The impedance of MuJoCo's own model house_of_cards.xml, which stands by friction alone.
_CARDS = "0.95 0.99 0.0001 0.5 2"


def make_contact(world: World, time_step: float) -> str:
    """Returns the attributes of geoms that give the surface of a world.

    Rigid contact has the shortest time constant that MuJoCo's documentation allows (modeling,
    solver parameters), two time steps, and the impedance of MuJoCo's model house_of_cards.xml.

    A stiffness k is a direct solref "-K -B" with a constant impedance d. A mass m that moves
    without load feels the stiffness m K. The same mass at rest under its weight has the depth m g
    (1 - d) / (m K). So k gives K = k / m for a collision, with half the mass of two equal bodies,
    and K = k (1 - d) / m for the load of a calibration.
    """
    surface = world.surface
    if surface.kind == "elastic":
        stiffness, damping = surface.stiffness / (world.bodies[0].mass / 2), 0.0
        return _make_direct(stiffness, damping, _MAX_IMPEDANCE)
    if surface.kind == "hertz":
        impedance = 0.95
        stiffness = surface.stiffness * (1 - impedance) / (surface.load / 9.81)
        return _make_direct(stiffness, 2 * stiffness**0.5, impedance)
    return f'solref="{2 * time_step!r} 1" solimp="{_CARDS}"'


def _make_direct(stiffness: float, damping: float, impedance: float) -> str:
    return f'solref="{-stiffness!r} {-damping!r}" solimp="{impedance} {impedance} 0.001 0.5 2"'
