"""stiction.patch: lets environments of other packages step with Stiction in place of mj_step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stiction._core import StepReport
from stiction.clients import routing
from stiction.clients.client import Client
from stiction.clients.packages import find_client
from stiction.clients.simulations import Simulations
from stiction.errors import Error, StictionWarning, warn
from stiction.setup.defaults import NOT_GIVEN, check_values, get_chosen_defaults
from stiction.setup.properties import PropertiesLike, make_properties
from stiction.simulator import Simulator

if TYPE_CHECKING:
    from typing import Self, Unpack

    from stiction._step_options import StepOptions  # a TypedDict that the build writes


class Patch:
    """A patch of one simulation, or of a whole package; stiction.patch makes it.

    As a context manager, it restores everything at the end of the block, also after an exception.
    """

    def __init__(
        self, client: Client, owner: Any, properties: PropertiesLike, options: Mapping[str, Any]
    ) -> None:
        self._name = client.name
        self._is_in_block = False
        self._simulations = Simulations(client, owner, make_properties(properties), options)
        self._simulations.activate()

    @property
    def is_active(self) -> bool:
        """True until restore, the end of the `with` block, or the end of the patched object."""
        return routing.is_active(self._simulations)

    @property
    def report(self) -> StepReport | None:
        """The report of the last step, which may have failed; None before the first."""
        return self._simulations.report

    @property
    def simulator(self) -> Simulator | None:
        """The Simulator that was used last.

        None if the patch is that of a package, and none of its simulations has taken a step.
        """
        return self._simulations.simulator

    @property
    def num_steps(self) -> int:
        """The number of steps that Stiction has taken in place of mj_step."""
        return self._simulations.num_steps

    @property
    def warning_counts(self) -> dict[str, int]:
        """The number of warnings by kind, of all simulations; see StepReport.warnings."""
        return dict(self._simulations.warning_counts)

    def restore(self) -> None:
        """Ends the patch: its simulations step with MuJoCo again. A second call does nothing.

        The simulations keep their state. Patches may be restored in any order.
        """
        self._simulations.deactivate()

    def __enter__(self) -> Self:
        if not self.is_active:
            raise self._make_block_error("has been restored, so the block would run with MuJoCo")
        if self._is_in_block:
            raise self._make_block_error("is in a block already, whose rest would run with MuJoCo")
        self._is_in_block = True
        return self

    def _make_block_error(self, problem: str) -> Error:
        text = f"of {self._name} {problem}; call stiction.patch again"
        return Error("unsupported", "patch", text)

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        self.restore()
        if self._simulations.num_covered == 0 and error is None:
            warn(
                StictionWarning(
                    f"the patch of {self._name} has covered no simulation, because a patch of a "
                    "package covers those that are made while it is active; make the environment "
                    "within the block, or patch the environment itself"
                )
            )

    def __repr__(self) -> str:
        model = self.simulator.contact_model if self.simulator else "no step yet"
        state = "active" if self.is_active else "restored"
        return f"<stiction patch of {self._name}: {state}, {model}, {self.num_steps} steps>"


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
        contact_model: as for Simulator, with the default of stiction.set_default.
        properties: as for Simulator.
        options: other options of Simulator, except `time_step`, which stays that of the model.

    Returns:
        A handle with `restore`, and with the report of the last step. As a context manager, it
        restores at the end of the block, also after an exception.

    Raises:
        TypeError: as for Simulator.
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
