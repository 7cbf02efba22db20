"""A world as MJCF."""

from __future__ import annotations

from collections.abc import Iterable

from stiction.evidence.engines.world import Body, Geom, World, find_pose_in_parent


def make_mjcf(
    world: World, time_step: float, *, option: str = "", flag: str = "", contact: str = ""
) -> str:
    """Returns the MJCF of a world. The ground's geoms are 'ground0' and so on; those of body B are
    'B0' and so on. `option` and `contact` are attributes of <option> and of every geom, and `flag`
    is content of <option>."""
    ground = "".join(_make_geom(geom, f"ground{i}") for i, geom in enumerate(world.ground))
    roots = "".join(_make_body(world, body) for body in world.bodies if body.parent is None)
    return (
        '<mujoco model="scorecard"><compiler angle="radian" autolimits="true"/>'
        f'<option timestep="{time_step!r}" gravity="{_join(world.gravity)}" {option}>{flag}</option>'
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
