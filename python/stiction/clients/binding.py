"""One simulation of a client, and the Simulator that steps it."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import mujoco

from stiction.clients.client import Client
from stiction.simulator import Simulator


class Binding:
    """The simulation of one owner, such as an environment.

    The owner may make its model and data again at any time. The Simulator follows: a new model gets
    a new one, and new or reset data begin without memory of former steps.

    Args:
        client: the package of the owner.
        owner: the object that has the data. It is not kept alive.
        make_simulator: makes a Simulator of a model.
        on_end: called when the owner ceases to exist.
    """

    def __init__(
        self,
        client: Client,
        owner: Any,
        make_simulator: Callable[[mujoco.MjModel], Simulator],
        on_end: Callable[[Binding], None],
    ) -> None:
        self._find_data = client.find_data
        self._owner = weakref.ref(owner, lambda _: on_end(self))
        self._make_simulator = make_simulator
        self._simulator: Simulator | None = None
        self._no_memory = b""
        self._last_data: weakref.ref[mujoco.MjData] | None = None  # an owner may be the data

    def owns(self, owner: Any) -> bool:
        """True if the simulation is that of this owner."""
        return self._owner() is owner

    def covers(self, data: mujoco.MjData) -> bool:
        """True if these are the owner's data at present."""
        owner = self._owner()
        return owner is not None and self._find_data(owner) is data

    def prepare(self, model: mujoco.MjModel, data: mujoco.MjData) -> Simulator:
        """Returns the Simulator for a step of these data."""
        if self._simulator is None or self._simulator.model is not model:
            self._simulator = self._make_simulator(model)
            self._no_memory = self._simulator.get_state()
        elif self._last_data is None or self._last_data() is not data:
            self.forget()
        self._last_data = weakref.ref(data)
        return self._simulator

    def forget(self) -> None:
        """Makes the next step independent of former ones, so that a reset repeats an episode."""
        if self._simulator is not None:
            self._simulator.set_state(self._no_memory)
