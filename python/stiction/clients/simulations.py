"""The simulations that a patch covers, and what Stiction has reported of them."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Mapping
from typing import Any

import mujoco

from stiction._core import ContactProperties, StepReport
from stiction.clients import routing
from stiction.clients.client import Client
from stiction.errors import StepError
from stiction.setup.defaults import builtin_defaults
from stiction.simulator import Simulator

# ---- One simulation of a client, and the Simulator that steps it ---------------------------------


class Binding:
    """The simulation of one owner, such as an environment, which is not kept alive.

    The owner may make its model and data again at any time. The Simulator follows: a new model gets
    a new one, and new or reset data begin without memory of former steps.
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


# ---- Any program that calls mujoco.mj_step on one MjData: viewers, scripts, other packages -------


def _find_owner(target: Any) -> mujoco.MjData | None:
    return target if isinstance(target, mujoco.MjData) else None


def _find_data(owner: mujoco.MjData) -> mujoco.MjData:
    return owner


MJDATA = Client("mujoco", "mujoco", _find_owner, _find_data)


class Simulations:
    """The simulations of one patch: that of an owner, or all that a package makes meanwhile.

    The counts are those of all simulations so far, those included that no longer exist.
    """

    def __init__(
        self,
        client: Client,
        owner: Any,
        properties: ContactProperties | None,
        options: Mapping[str, Any],
    ) -> None:
        self.report: StepReport | None = None
        self.simulator: Simulator | None = None
        self.num_covered = 0
        self.num_steps = 0
        self.warning_counts: dict[str, int] = {}
        self._client = client
        self._properties = properties
        self._options = dict(options)
        self._takes_new_owners = owner is None
        # Replaced as a whole under the lock, so that steps of other threads need no lock.
        self._bindings: tuple[Binding, ...] = ()
        self._lock = threading.RLock()
        self._substitutions = list(client.shims)
        self._watched: set[type] = set()
        if self._takes_new_owners:
            self._watched = {kind for kind, _ in client.list_constructors()}
            self._substitutions += routing.watch_constructors(client)
            return
        binding = self._bind(owner)
        # At once, because the model may be one that Stiction cannot step.
        if (data := client.find_data(owner)) is not None:
            self.simulator = binding.prepare(data.model, data)

    def __len__(self) -> int:
        """Returns the number of simulations that exist."""
        return len(self._bindings)

    def activate(self) -> None:
        """Begins to take the calls for the data of the simulations."""
        routing.activate(self, self._substitutions)

    def deactivate(self) -> None:
        """Undoes activate."""
        routing.deactivate(self, self._substitutions)

    def find(self, data: mujoco.MjData) -> Binding | None:
        """Returns the binding that covers data, or None."""
        return next((each for each in self._bindings if each.covers(data)), None)

    def adopt(self, kind: type, owner: Any) -> None:
        """Takes a new simulation, if all of the package are patched."""
        if kind in self._watched:
            self._bind(owner)

    def step(
        self, binding: Binding, model: mujoco.MjModel, data: mujoco.MjData, nstep: int
    ) -> None:
        """Takes steps in place of mj_step."""
        self.simulator = simulator = binding.prepare(model, data)
        try:
            report = simulator.step(data, nstep)
        except StepError as e:
            self._take(e.report)
            raise
        self._take(report)

    def forward(self, binding: Binding, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        """Computes forces and sensors in place of mj_forward."""
        self.simulator = simulator = binding.prepare(model, data)
        self._count_warnings(simulator.forward(data))

    def _take(self, report: StepReport) -> None:
        self.report = report
        self.num_steps += report.num_steps
        self._count_warnings(report)

    def _count_warnings(self, report: StepReport) -> None:
        if report.num_warnings:
            for kind, count in report.warning_counts.items():
                self.warning_counts[kind] = self.warning_counts.get(kind, 0) + count

    def _bind(self, owner: Any) -> Binding:
        with self._lock:
            for each in self._bindings:
                if each.owns(owner):
                    return each
            binding = Binding(self._client, owner, self._make_simulator, self._release)
            self._bindings = (*self._bindings, binding)
            self.num_covered += 1
            return binding

    def _release(self, binding: Binding) -> None:
        """Drops a simulation that no longer exists, and ends a patch of nothing else."""
        with self._lock:
            self._bindings = tuple(each for each in self._bindings if each is not binding)
        if not self._takes_new_owners:
            self.deactivate()

    def _make_simulator(self, model: mujoco.MjModel) -> Simulator:
        # The options have the chosen defaults of the time when the patch was made.
        with builtin_defaults():
            return Simulator(model, properties=self._properties, **self._options)
