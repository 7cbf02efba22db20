"""A world as MJCF."""

from __future__ import annotations

from collections.abc import Iterable

from stiction.evidence.engines.world import Body, Geom, World, find_pose_in_parent


def make_mjcf(world: World, time_step: float, *, option: str = "", contact: str = "") -> str:
    """Returns the MJCF of a world. The ground's geoms are 'ground0' and so on; those of body B are
    'B0' and so on. `option` and `contact` are attributes of <option> and of every geom."""
    ground = "".join(_make_geom(geom, f"ground{i}") for i, geom in enumerate(world.ground))
    roots = "".join(_make_body(world, body) for body in world.bodies if body.parent is None)
    return (
        '<mujoco model="scorecard"><compiler angle="radian" autolimits="true"/>'
        f'<option timestep="{time_step!r}" gravity="{_join(world.gravity)}" {option}></option>'
        f"<default><geom {contact}/></default>"
        f"<worldbody>{ground}{roots}</worldbody></mujoco>"
    )


def _make_body(world: World, body: Body) -> str:
    pos, quat = find_pose_in_parent(world, body)
    joint = f'<freejoint name="{body.name}"/>'
    if body.joint is not None:
        joint = (
            f'<joint name="{body.name}" type="{body.joint.kind}" axis="{_join(body.joint.axis)}" '
            f'pos="{_join(body.joint.pos)}" damping="0" limited="false"/>'
        )
    geoms = "".join(_make_geom(geom, f"{body.name}{i}") for i, geom in enumerate(body.geoms))
    children = "".join(_make_body(world, each) for each in world.bodies if each.parent == body.name)
    return (
        f'<body name="{body.name}" pos="{_join(pos)}" quat="{_join(quat)}">{joint}'
        f'<inertial pos="0 0 0" mass="{body.mass!r}" diaginertia="{_join(body.inertia)}"/>'
        f"{geoms}{children}</body>"
    )


def _make_geom(geom: Geom, name: str) -> str:
    size = (*geom.size, 1.0) if geom.kind == "plane" and len(geom.size) == 2 else geom.size
    condim = 3 if geom.friction else 1  # MuJoCo Warp refuses a cone without friction
    return (
        f'<geom name="{name}" type="{geom.kind}" size="{_join(size)}" pos="{_join(geom.pos)}" '
        f'quat="{_join(geom.quat)}" condim="{condim}" friction="{geom.friction!r} 0.005 0.0001"/>'
    )


def _join(numbers: Iterable[float]) -> str:
    return " ".join(repr(float(x)) for x in numbers)


# ---- The contact parameters of MuJoCo that give the surface of a world ---------------------------

_MAX_IMPEDANCE = 0.9999  # the largest that MuJoCo accepts
# The impedance of MuJoCo's own model house_of_cards.xml, which stands by friction alone.
_CARDS = "0.95 0.99 0.0001 0.5 2"


def make_contact(world: World, time_step: float, *, is_direct: bool = True) -> str:
    """Returns the attributes of geoms that give the surface of a world. Engines that take no direct
    solref get the same stiffness and damping as a time constant and a damping ratio.

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
        return _make_spring(stiffness, damping, _MAX_IMPEDANCE, is_direct)
    if surface.kind == "hertz":
        impedance = 0.95
        stiffness = surface.stiffness * (1 - impedance) / (surface.load / 9.81)
        return _make_spring(stiffness, 2 * stiffness**0.5, impedance, is_direct)
    return f'solref="{2 * time_step!r} 1" solimp="{_CARDS}"'


def _make_spring(stiffness: float, damping: float, impedance: float, is_direct: bool) -> str:
    first, second = -stiffness, -damping
    if not is_direct:
        first = 2 / max(damping, 1e-6)  # 23 days are no damping
        second = 1 / (first * stiffness**0.5)
    return f'solref="{first!r} {second!r}" solimp="{impedance} {impedance} 0.001 0.5 2"'
