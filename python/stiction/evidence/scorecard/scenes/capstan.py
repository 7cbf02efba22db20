"""A chain around a drum, 5 % below and 5 % above the load that friction can hold.

The chain is a discrete capstan. Its beads touch the drum at their hinges, so friction has no moment
about them. On the drum each link turns by delta, so a bead between the tensions T and T' presses
with N = (T + T') sin(delta/2), and slips with the acceleration a if

    (T' - T) cos(delta/2) = mu N + m a.

At the first and last bead on the drum one link is tangent. From the hold T0 at one end this
recursion gives the load at the other end, linear in a. Without slip, a = 0; with many beads, the
load is T0 exp(mu angle), Euler's capstan. Until the contacts have settled the load is T0.
"""

from __future__ import annotations

import math

from stiction.evidence.engines.world import Body, Geom, Joint, Trajectory, Vec, World
from stiction.evidence.scorecard.scene import (
    SETTLE,
    Measurement,
    Scene,
    calc_speed_at_end,
    load_later,
)

RADIUS, FRICTION, MASS, HOLD = 0.1, 0.5, 5.0, 10.0  # of the drum [m], [-], of a bead [kg], T0 [N]
NUM_BEADS, WRAP = 7, math.radians(120)  # beads on the drum, angle between the first and the last
SHARE = {"holds": 0.95, "slides": 1.05}  # load over the largest load that friction holds
DURATION = 0.2
_TURN = WRAP / (NUM_BEADS - 1)
_END, _BEAD = 0.05, 0.002  # length of the free ends, radius of a bead [m]
# The moment of a bead [kg m^2]. It is 30 times as small as that of its mass at the next hinge, so
# that the turning of links needs less than 0.1 % of the load, and not smaller, because single
# numbers would not resolve it.
_MOMENT = 2e-4


def calc_load(acceleration: float, friction: float = FRICTION) -> float:
    """Returns the load under which a sliding chain has this acceleration [N]."""
    tension = HOLD + MASS * acceleration
    for i in range(NUM_BEADS):
        before = 0.0 if i == 0 else _TURN / 2
        after = 0.0 if i == NUM_BEADS - 1 else _TURN / 2
        pull = tension * (math.cos(before) + friction * math.sin(before)) + MASS * acceleration
        tension = pull / (math.cos(after) - friction * math.sin(after))
    return tension + MASS * acceleration


LARGEST_LOAD = calc_load(0.0)
ACCELERATION = (SHARE["slides"] - 1) * LARGEST_LOAD / (calc_load(1.0) - LARGEST_LOAD)


def make_world() -> World:
    """Returns the scene without gravity: spheres as drums, and chains in planes y = const."""
    bodies: list[Body] = []
    drums = []
    for y, (name, share) in zip((-0.5, 0.5), SHARE.items(), strict=True):
        bodies += _make_chain(name, y, share * LARGEST_LOAD)
        drums.append(Geom("sphere", (RADIUS,), FRICTION, pos=(0.0, y, 0.0)))
    return World(bodies=tuple(bodies), ground=tuple(drums), gravity=(0.0, 0.0, 0.0))


def _make_chain(name: str, y: float, load: float) -> list[Body]:
    """Returns the beads from the held end to the loaded end, each a child of the one before."""
    angles = [-WRAP / 2 + i * _TURN for i in range(NUM_BEADS)]
    first, last = _tangent(angles[0]), _tangent(angles[-1])
    points = [(RADIUS * math.sin(a), y, RADIUS * math.cos(a)) for a in angles]
    start = tuple(p - _END * t for p, t in zip(points[0], first, strict=True))
    end = tuple(p + _END * t for p, t in zip(points[-1], last, strict=True))
    centers = [start, *points, end]
    bodies = []
    for i, center in enumerate(centers):
        geoms: tuple[Geom, ...] = ()
        if 0 < i <= NUM_BEADS:  # the sphere stands on the drum, and the hinge is at its foot
            out = tuple(_BEAD * x for x in _outward(angles[i - 1]))
            geoms = (Geom("sphere", (_BEAD,), FRICTION, pos=out),)
        joint, force = None, (0.0, 0.0, 0.0)
        if i:
            back = tuple(a - b for a, b in zip(centers[i - 1], center, strict=True))
            joint = Joint("hinge", (0.0, 1.0, 0.0), pos=back)
        else:
            force = tuple(-HOLD * t for t in first)  # type: ignore[assignment]
        if i == NUM_BEADS + 1:
            force = tuple(load * t for t in last)  # type: ignore[assignment]
        parent = f"{name}{i - 1}" if i else None
        bodies.append(
            Body(
                f"{name}{i}", center, MASS, (_MOMENT,) * 3, geoms, joint=joint, parent=parent,
                force=force,
            )
        )  # fmt: skip
    return bodies


def _outward(angle: float) -> Vec:
    return (math.sin(angle), 0.0, math.cos(angle))


def _tangent(angle: float) -> Vec:
    return (math.cos(angle), 0.0, -math.sin(angle))


def measure(run: Trajectory) -> Measurement:
    """Measures the loaded end's acceleration in the second half, and the other chain's creep."""
    along = _tangent(WRAP / 2)
    half = len(run.time) // 2
    speed = run.velocity[:, run.find(f"slides{NUM_BEADS + 1}")] @ along
    found = float((speed[-1] - speed[half]) / (run.time[-1] - run.time[half]))
    held = run.pos[:, run.find(f"holds{NUM_BEADS + 1}")] @ along
    creep = calc_speed_at_end(run.time, held)
    error = abs(found / ACCELERATION - 1) + creep / (ACCELERATION * DURATION)
    return Measurement(found, error, creep)


_EARLY = {f"{name}{NUM_BEADS + 1}": tuple(HOLD * t for t in _tangent(WRAP / 2)) for name in SHARE}

SCENE = Scene(
    name="capstan",
    title="Chains around a drum, 5 % below and above the capstan's load",
    quantity="acceleration of the sliding chain [m/s^2]",
    error="relative to the acceleration, plus the other chain's speed over the final speed",
    exact=ACCELERATION,
    make_world=make_world,
    steps=(2e-3, 1e-3, 5e-4),
    duration=DURATION + SETTLE,
    measure=measure,
    energy_scale=LARGEST_LOAD * ACCELERATION * DURATION**2 / 2,
    settle=SETTLE,
    make_forces=load_later(make_world, _EARLY),
    derivation=__doc__,
)
