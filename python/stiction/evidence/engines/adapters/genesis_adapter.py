"""Genesis on the CPU: its rigid solver, which reads MJCF."""

from __future__ import annotations

from typing import Any

import genesis
import numpy as np

from stiction.evidence.engines.drive import State, StoppedError
from stiction.evidence.engines.mjcf import make_contact, make_mjcf
from stiction.evidence.engines.world import Vector, World

genesis.init(backend=genesis.cpu, precision="64", logging_level="error")  # once in a process


def describe_version() -> str:
    """Returns the engine's name and version."""
    return f"Genesis {genesis.__version__}"


class GenesisAdapter:
    """A Genesis scene of one entity as an Adapter.

    Settings: arguments of RigidOptions; an enumerator is given by its type and name, such as
        ["friction_cone", "elliptic"].
    """

    def __init__(self, world: World, time_step: float, settings: dict[str, Any]) -> None:
        options = {
            key: getattr(getattr(genesis, value[0]), value[1]) if isinstance(value, list) else value
            for key, value in settings.items()
        }
        self._scene = genesis.Scene(
            show_viewer=False,
            sim_options=genesis.options.SimOptions(dt=time_step, gravity=world.gravity),
            rigid_options=genesis.options.RigidOptions(**options),
        )
        xml = make_mjcf(world, time_step, contact=make_contact(world, time_step, is_direct=False))
        morph = genesis.morphs.MJCF(file=xml, default_armature=None)  # it adds 0.1 kg m^2 to joints
        self._entity = self._scene.add_entity(morph)
        self._scene.build()
        links = [self._entity.get_link(body.name) for body in world.bodies]
        self._links = [link.idx_local for link in links]
        self._set_start(world)

    def step(self, forces: Vector) -> None:
        try:
            if forces.any():
                self._entity.apply_links_external_wrench(forces, links_idx_local=self._links)
            self._scene.step()
        except genesis.GenesisException as e:
            raise StoppedError(" ".join(str(e).split())[:300]) from e

    def read(self) -> State:
        entity, links = self._entity, self._links
        tensors = (
            entity.get_links_pos(links), entity.get_links_quat(links),
            entity.get_links_vel(links), entity.get_links_ang(links),
        )  # fmt: skip
        pos, quat, velocity, spin = (each.numpy() for each in tensors)
        return pos, quat, velocity, spin

    def take_messages(self) -> list[str]:
        """Returns nothing: Genesis reports full buffers by an exception."""
        return []

    def _set_start(self, world: World) -> None:
        """Sets the velocities at the start."""
        rates = np.zeros(self._entity.n_dofs)
        for body in world.bodies:
            dofs = self._entity.get_joint(body.name).dofs_idx_local
            if body.joint is None:
                rates[dofs] = (*body.velocity, *body.spin)
            else:
                rates[dofs] = body.joint.velocity
        self._entity.set_dofs_velocity(rates)
