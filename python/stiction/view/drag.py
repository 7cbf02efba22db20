"""Lets the mouse pull bodies of a simulation."""

from __future__ import annotations

from typing import Any

import numpy as np

from stiction.view.simulation import Simulation
from stiction.view.world import World


def connect_drag(world: World, simulation: Simulation) -> None:
    """Makes the bodies of a scene follow the mouse while its left button is down on them.

    Call it again after the nodes of the bodies were made anew.
    """
    for handle, bodies in world.bodies.list_handles():
        _connect(world, simulation, handle, bodies)


def _connect(world: World, simulation: Simulation, handle: Any, bodies: list[int]) -> None:
    # viser calls functions that are `async` in the order of the events.
    async def pull(event: Any) -> None:
        target = np.array(event.end_position) - world.offset
        if event.phase == "start":
            body = bodies[event.instance_index or 0]
            grabbed = np.array(event.start_position) - world.offset
            simulation.drag.grab(body, world.bodies.to_body(body, grabbed), target)
        elif event.phase == "update":
            simulation.drag.move(target)
        else:
            simulation.drag.release()

    handle.on_drag("left")(pull)
