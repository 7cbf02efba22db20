"""MotrixSim, which reads MJCF."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import motrixsim
import numpy as np

from stiction.evidence.engines.drive import State
from stiction.evidence.engines.mjcf import make_contact, make_mjcf
from stiction.evidence.engines.world import Vector, World, invert, rotate

motrixsim.init_thread_pool(1)  # once in a process, before a model; all engines have one thread


def describe_version() -> str:
    """Returns the engine's name and version."""
    return f"MotrixSim {version('motrixsim')}"


class MotrixAdapter:
    """A MotrixSim model as an Adapter.

    Settings: `solver`, a name of SolverType; `iterations` and `tolerance` of the solver.
    """

    def __init__(self, world: World, time_step: float, settings: dict[str, Any]) -> None:
        xml = make_mjcf(world, time_step, contact=make_contact(world, time_step))
        built = motrixsim.msd.from_str(xml)
        option = built.simulate_option
        option.solver_type = getattr(motrixsim.msd.SolverType, settings["solver"])
        option.constraint_solver_iterations = settings["iterations"]
        option.constraint_solver_tolerance = settings["tolerance"]
        self._model = built.build()
        self._data = motrixsim.SceneData(self._model)
        self._links = [self._model.get_link(body.name) for body in world.bodies]
        self._indices = [link.index for link in self._links]
        self._set_start(world)

    def step(self, forces: Vector) -> None:
        for link, force in zip(self._links, forces.astype(np.float32), strict=True):
            if force.any():
                link.add_external_force(self._data, force, local=False)  # for one step
        self._model.step(self._data)

    def read(self) -> State:
        """Returns the state. MotrixSim's numbers are single."""
        self._model.forward_kinematic(self._data)
        states = self._model.get_link_states(self._data, self._indices, "wxyz")
        pos, quat, velocity, spin = (np.asarray(a, dtype=np.float64) for a in states)
        return pos, quat, velocity, spin

    def take_messages(self) -> list[str]:
        """Returns nothing: MotrixSim reports no failures."""
        return []

    def _set_start(self, world: World) -> None:
        """Sets the velocities at the start. The spin of a free body is in its own frame."""
        rates = np.zeros(self._model.num_dof_vel, dtype=np.float32)
        for body, link in zip(world.bodies, self._links, strict=True):
            if body.joint is None:
                first = link.body.floatingbase.dof_vel_start
                spin = rotate(invert(body.quat), body.spin)
                rates[first : first + 6] = (*body.velocity, *spin)
            else:
                rates[self._model.get_joint(body.name).dof_vel_index] = body.joint.velocity
        self._data.set_dof_vel(rates)
        self._model.forward_kinematic(self._data)
