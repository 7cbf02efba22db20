"""stiction.patch: lets environments of other packages step with Stiction in place of mj_step."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any

import mujoco

from stiction._core import StepReport
from stiction.clients import routing
from stiction.clients.binding import Binding
from stiction.clients.client import Client
from stiction.clients.table import find_client
from stiction.defaults import NOT_GIVEN, builtin_defaults, check_values, get_chosen_defaults
from stiction.errors import Error, StepError
from stiction.properties import PropertiesLike, make_properties
from stiction.simulator import Simulator

if TYPE_CHECKING:
    from typing import Self, Unpack

    from stiction._step_options import StepOptions  # a TypedDict that the build writes


class Patch:
    """An active or restored patch; stiction.patch makes it."""

    def __init__(
        self, client: Client, owner: Any, properties: PropertiesLike, options: Mapping[str, Any]
    ) -> None:
        self._client = client
        self._takes_new_owners = owner is None
        self._properties = make_properties(properties)
        self._options = dict(options)
        # Replaced as a whole under the lock, so that steps of other threads need no lock.
        self._bindings: tuple[Binding, ...] = ()
        self._lock = threading.RLock()
        self._simulator: Simulator | None = None
        self._report: StepReport | None = None
        self._num_steps = 0
        self._warning_counts: dict[str, int] = {}
        self._substitutions = list(client.shims)
        if self._takes_new_owners:
            self._substitutions += routing.watch_constructors(client)
        else:
            self._bind(owner)
            # At once, because the model may be one that Stiction cannot step.
            data = client.find_data(owner)
            if data is not None:
                self._simulator = self._bindings[0].prepare(data.model, data)
        routing.activate(self, self._substitutions)

    @property
    def is_active(self) -> bool:
        """True until restore, the end of the `with` block, or the end of the patched object."""
        return routing.is_active(self)

    @property
    def report(self) -> StepReport | None:
        """The report of the last step, which may have failed; None before the first."""
        return self._report

    @property
    def simulator(self) -> Simulator | None:
        """The Simulator that a patch of one simulation has, or that of the last step.

        None if the patch is that of a package, and none of its simulations has taken a step.
        """
        return self._simulator

    @property
    def num_steps(self) -> int:
        """The number of steps that Stiction has taken in place of mj_step."""
        return self._num_steps

    @property
    def warning_counts(self) -> dict[str, int]:
        """The number of warnings by kind, of all steps; see StepReport.warnings."""
        return dict(self._warning_counts)

    def restore(self) -> None:
        """Ends the patch: all of its simulations step with MuJoCo again. A second call does nothing.

        The simulations keep their state. Patches may be restored in any order.
        """
        routing.deactivate(self, self._substitutions)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.restore()

    def __repr__(self) -> str:
        model = self._simulator.contact_model if self._simulator else "no step yet"
        state = "active" if self.is_active else "restored"
        return f"<stiction patch of {self._client.name}: {state}, {model}, {self.num_steps} steps>"

    # What the routing calls.

    def find(self, data: mujoco.MjData) -> Binding | None:
        """Returns the binding that covers data, or None."""
        return next((each for each in self._bindings if each.covers(data)), None)

    def adopt(self, client: Client, owner: Any) -> None:
        """Takes a new simulation, if the patch is that of the whole package."""
        if self._takes_new_owners and client is self._client:
            self._bind(owner)

    def step(
        self, binding: Binding, model: mujoco.MjModel, data: mujoco.MjData, nstep: int
    ) -> None:
        """Takes steps in place of mj_step."""
        self._simulator = binding.prepare(model, data)
        try:
            report = self._simulator.step(data, nstep)
        except StepError as e:
            self._take(e.report)
            raise
        self._take(report)

    def forward(self, binding: Binding, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        """Computes forces and sensors in place of mj_forward."""
        self._simulator = binding.prepare(model, data)
        self._count_warnings(self._simulator.forward(data))

    def _take(self, report: StepReport) -> None:
        self._report = report
        self._num_steps += report.num_steps
        self._count_warnings(report)

    def _count_warnings(self, report: StepReport) -> None:
        if report.num_warnings:
            for kind, (count, _) in report.warnings.items():
                self._warning_counts[kind] = self._warning_counts.get(kind, 0) + count

    def _bind(self, owner: Any) -> None:
        with self._lock:
            if not any(each.owns(owner) for each in self._bindings):
                binding = Binding(self._client, owner, self._make_simulator, self._release)
                self._bindings = (*self._bindings, binding)

    def _release(self, binding: Binding) -> None:
        """Drops a simulation that no longer exists, and ends a patch of nothing else."""
        with self._lock:
            self._bindings = tuple(each for each in self._bindings if each is not binding)
        if not self._takes_new_owners:
            self.restore()

    def _make_simulator(self, model: mujoco.MjModel) -> Simulator:
        # The options have the chosen defaults of the time when the patch was made.
        with builtin_defaults():
            return Simulator(model, properties=self._properties, **self._options)


def patch(
    target: Any,
    contact_model: str = NOT_GIVEN,
    *,
    properties: PropertiesLike = None,
    **options: Unpack[StepOptions],
) -> Patch:
    """Lets environments of other packages step with Stiction in place of mujoco.mj_step.

        env = gymnasium.make("Ant-v5")
        stiction.patch(env)                            # until the environment ends

        with stiction.patch(env, contact_model="lagged") as patch:
            env.reset(seed=0)
            env.step(env.action_space.sample())
            print(patch.report)                        # then env is as before

        with stiction.patch("dm_control"):             # every simulation that is made in the block
            env = suite.load("cheetah", "run")

    While a patch is active, mujoco.mj_step, mj_step2, mj_forward, mj_forwardSkip, mj_fwdConstraint and
    the functions mj_resetData* are replaced by functions that look at the data. The data of the
    target go to Simulator.step and Simulator.forward; all other data go to MuJoCo. Nothing in the
    target is changed. If it makes its model or data again, the patch follows.

    Patches may be nested. Of several that cover the same data, the last one steps.

    Args:
        target: an environment of Gymnasium or gymnasium-robotics, with or without wrappers; an
            environment or a Physics of dm_control; a mujoco.MjData, for any other program in Python;
            or 'gymnasium', 'gymnasium_robotics' or 'dm_control' for every simulation that the
            package makes while the patch is active.
        contact_model, **options: as for Simulator, with the defaults of stiction.set_default. The
            time step stays that of the model.
        properties: as for Simulator.

    Returns:
        A handle with `restore`, and with the report of the last step. As a context manager, it
        restores at the end of the block, also after an exception.

    Raises:
        Error: the target cannot be patched, an option is out of range, or Stiction cannot step the
            model.
    """
    given: dict[str, Any] = dict(options)
    if contact_model is not NOT_GIVEN:
        given["contact_model"] = contact_model
    if given.get("time_step") is not None:
        raise Error(
            "unsupported",
            "time_step",
            "cannot be chosen in a patch, because the target computes times from the time step of "
            "its model; set model.opt.timestep instead",
        )
    chosen = {**get_chosen_defaults(), **given, "time_step": None}
    check_values(chosen)
    client, owner = find_client(target)
    return Patch(client, owner, properties, chosen)
