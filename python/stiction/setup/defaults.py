"""Defaults of step options that a program chooses for its own Simulators and patches."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import mujoco

from stiction._core import ContactProperties, Stepper
from stiction.errors import Error
from stiction.setup.options import DEFAULTS, check_options

if TYPE_CHECKING:
    from typing import Self, Unpack

    from stiction._step_options import StepOptions  # a TypedDict that the build writes


class _NotGiven:
    """Stands for a contact model that was not given. None would be an error, as for other options."""

    def __repr__(self) -> str:
        return "<default>"  # in signatures of the documentation


NOT_GIVEN: Any = _NotGiven()

# The chosen defaults, in the order of the calls of set_default. The tuple is replaced as a whole, so
# that a thread which reads it needs no lock.
_active: tuple[ChosenDefaults, ...] = ()
_lock = threading.RLock()

# True within builtin_defaults. Other threads do not see it.
_ignored: ContextVar[bool] = ContextVar("ignored", default=False)


class ChosenDefaults:
    """The defaults of one call of set_default, until `restore` or the end of a `with` block.

    Calls may be nested, and restored in any order: of the calls that are still active, the latest
    one that names an option decides.

    Attributes:
        options: the chosen defaults by name.
    """

    def __init__(self, options: Mapping[str, Any]) -> None:
        self.options = dict(options)

    def restore(self) -> None:
        """Takes these defaults back. A second call does nothing."""
        global _active
        with _lock:
            _active = tuple(each for each in _active if each is not self)

    def __enter__(self) -> Self:
        if not any(each is self for each in _active):
            raise Error(
                "unsupported",
                "set_default",
                "has been restored, so the block would have other defaults; call "
                "stiction.set_default again",
            )
        return self

    def __exit__(self, *_: object) -> None:
        self.restore()

    def __repr__(self) -> str:
        options = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        state = "" if any(each is self for each in _active) else ", restored"
        return f"<stiction defaults: {options}{state}>"


def set_default(contact_model: str = NOT_GIVEN, **options: Unpack[StepOptions]) -> ChosenDefaults:
    """Sets the options that Simulators and patches take when an option is not given.

        stiction.set_default(contact_model="lagged", on_failure="keep_best")   # until the end

        with stiction.set_default(contact_model="sap"):                        # for a block
            simulator = stiction.Simulator(model)

    The defaults hold for every Simulator that is made from then on, also by Scene.make_simulator,
    and for stiction.patch, as if they were written there. They hold in all threads of the process.
    A Simulator or a patch that exists keeps its options.

    They do not change what must give the same result everywhere: recordings and their replay,
    stiction.compare, studies, benchmarks and the program `stiction` use the built-in defaults. A
    patch leaves the time step to the model, whatever the default of `time_step` is.

    Args:
        contact_model: as for Simulator.
        options: other options of Simulator by name, except `properties`, which belong to a scene.

    Returns:
        A handle with `restore`. As a context manager, it restores at the end of the block.

    Raises:
        Error: a value is out of range, or no Simulator can have these defaults.
        TypeError: there is no option of this name.
    """
    global _active
    given: dict[str, Any] = dict(options)
    if contact_model is not NOT_GIVEN:
        given["contact_model"] = contact_model
    with _lock:
        check_values({**_collect_chosen(), **given})
        chosen = ChosenDefaults(check_options(given))
        _active = (*_active, chosen)
    return chosen


def get_default() -> dict[str, Any]:
    """Returns the value of each option that a Simulator takes if the option is not given."""
    return {**DEFAULTS, **get_chosen_defaults()}


def get_chosen_defaults() -> dict[str, Any]:
    """Returns the defaults that differ from the built-in ones because set_default chose them."""
    return {} if _ignored.get() else _collect_chosen()


@contextlib.contextmanager
def builtin_defaults() -> Iterator[None]:
    """Ignores the chosen defaults in this thread, so that results do not depend on them."""
    token = _ignored.set(True)
    try:
        yield
    finally:
        _ignored.reset(token)


def check_values(options: Mapping[str, Any]) -> None:
    """Checks options as a Simulator does, without a scene."""
    model = _make_empty_model()
    Stepper(model._address, check_options(options), ContactProperties(), model)


def _collect_chosen() -> dict[str, Any]:
    return {name: value for each in _active for name, value in each.options.items()}


@functools.cache
def _make_empty_model() -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string("<mujoco/>")
