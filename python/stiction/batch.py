"""Batch: many simulations of one model, which step with our contact on a thread pool."""

from __future__ import annotations

import ctypes
import difflib
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar, Unpack

import mujoco
import mujoco.batch
import numpy as np
from numpy.typing import NDArray

from stiction._core import BatchSimulations, ContactProperties, ContactReport, PatchReport
from stiction.errors import Error, StepWarning, warn
from stiction.inputs.arguments import (
    check_data_type,
    check_flag,
    check_integer,
    check_model_type,
    describe_type,
)
from stiction.setup.defaults import NOT_GIVEN
from stiction.setup.options import describe_setup
from stiction.setup.properties import PropertiesLike
from stiction.setup.step_setup import StepSetup

if TYPE_CHECKING:
    from stiction._step_options import StepOptions  # a TypedDict that the build writes

    # An index, a sequence of them, or a mask; None: all simulations.
    Ids = Any

# The arrays of bind() beside the fields of mjData.
ARRAYS = ("error_bound", "iterations", "step_status", "step_warnings")
LISTS = ("contacts", "patches")

Report = TypeVar("Report", ContactReport, PatchReport)


class BatchError(Error, ValueError, IndexError, mujoco.FatalError):  # type: ignore[misc]
    """A wrong argument of a Batch, or an error of MuJoCo: also of the types that MuJoCo raises."""


class SimulationError(mujoco.batch.SimulationError, Error):  # type: ignore[misc]
    """A step failed in some simulations of a call. They kept the state from before the call.

    Attributes:
        ids: the simulations, ascending, int32.
        code, where, message: as those of stiction.Error, of the first of them.
    """

    def __init__(self, ids: NDArray[np.int32], message: str, num_called: int) -> None:
        shown = ", ".join(map(str, ids[:5])) + (", ..." if len(ids) > 5 else "")
        where = f"failed in {len(ids)} of {num_called} simulations ({shown})"
        Error.__init__(self, "step_failed", "", f"{where}; simulation {ids[0]}: {message}")
        self.ids = ids
        self._arguments = (ids, message, num_called)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._arguments


class Ragged(Generic[Report]):
    """The contacts or patches of all simulations after the last call, as arrays without gaps.

    The attributes are those of ContactReport or PatchReport, with the entries of one simulation after
    those of the one before. The entries of simulation i are [offsets[i], offsets[i + 1]).

        contacts = batch.bind("contacts")
        batch.step()
        normal_impulses = np.add.reduceat(contacts.normal_impulse, contacts.offsets[:-1])

    An array that is kept does not change; read the attribute again after the next call.
    """

    def __init__(self, merge: Callable[[], tuple[Report, NDArray[np.int32]]]) -> None:
        self._merge: Callable[[], tuple[Report, NDArray[np.int32]]] = merge
        self._last: tuple[Report, NDArray[np.int32]] | None = None

    @property
    def offsets(self) -> NDArray[np.int32]:
        """The first entry of each simulation, and the end; (nsim + 1,)."""
        return self._read()[1]

    @property
    def report(self) -> Report:
        """All entries as one report."""
        return self._read()[0]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._read()[0], name)

    def __len__(self) -> int:
        """The number of contacts or patches of all simulations."""
        return len(self._read()[0])

    def _read(self) -> tuple[Report, NDArray[np.int32]]:
        if self._last is None:
            self._last = self._merge()
        return self._last

    def _forget(self) -> None:
        self._last = None


class Batch(mujoco.batch.Batch):  # type: ignore[misc]
    """nsim simulations of a copy of model, which step with our contact on nthread threads.

    This is mujoco.batch.Batch with our step: all of its methods, arrays and named views are here, with
    the same names, shapes and meanings.

        batch = stiction.Batch(model, nsim=1024, nthread=8, contact_model="coulomb")
        qpos, ctrl = batch.bind("qpos"), batch.bind("ctrl")
        bound = batch.bind("error_bound")
        for _ in range(1000):
            ctrl[:] = policy(qpos)
            batch.step()

    The results of a simulation have the same bits as those of a Simulator with an MjData of its own, at
    any number of threads and beside any other simulations. bind() also gives:

    - `error_bound`: the bound of the error of the call's steps, the largest one [sqrt(J)], (nsim,);
      NaN if it took none, and infinity if it failed. See StepReport.error_bound.
    - `iterations`: of the solver in the last step, int32 (nsim,).
    - `step_status`: bits of StepStatus, 0 for 'ok', uint32 (nsim,).
    - `step_warnings`: number of warnings of each kind since the batch was made, int32 (nsim, 13), in the
      order of StepReport.warnings.
    - `contacts`, `patches`: those of the last step of all simulations, see Ragged.

    If `cacc`, `cfrc_int` or `cfrc_ext` is bound, each step also computes these forces on bodies, as
    mj_rnePostConstraint does. In mujoco.batch.Batch they hold anything unless a sensor needs them.

    A simulation in which a step fails keeps the state that it had before the call, and the others go
    on. Then SimulationError is raised if on_failure is 'raise'; with 'stop' see `status` and error().
    The first warning of each kind gives a StepWarning.

    Differences: step() with a stage computes that stage, but the next step does not continue from it;
    mjSTAGE_ACC is Simulator.forward. Trees do not sleep,
    and the flag gives a warning.

    Args:
        model: the model, which is copied.
        nsim: number of simulations, at least 1.
        nthread: number of threads; 0: all processors.
        persistent: keep one MjData per simulation instead of one per thread.
        contact_model, options: as those of Simulator; num_threads must be 1.
        properties: as that of Simulator.

    Raises:
        TypeError: as for Simulator.
        BatchError: an argument of this constructor or of a method is wrong, or the model cannot be
            stepped. It is an Error, and of the types that MuJoCo raises.
    """

    _b: _Simulations

    def __init__(
        self,
        model: mujoco.MjModel,
        nsim: int,
        nthread: int = 0,
        persistent: bool = False,
        contact_model: str = NOT_GIVEN,
        *,
        properties: PropertiesLike = None,
        **options: Unpack[StepOptions],
    ) -> None:
        setup = _raise_batch_error(StepSetup.make, model, contact_model, properties, options)
        if (num_threads := setup.chosen.get("num_threads", 1)) != 1:
            raise BatchError(
                "unsupported",
                "num_threads",
                f"is {num_threads}, but a batch has nthread threads, each of which steps one "
                "simulation at a time; leave num_threads at 1",
            )
        _raise_batch_error(_check_callbacks)
        count = _check_count("nsim", nsim, 1)
        num_threads = _raise_batch_error(check_integer, "nthread", nthread)
        is_persistent = _raise_batch_error(check_flag, "persistent", persistent)
        super().__init__(model, 1, 1, True)  # makes the attributes; its one simulation is not used
        self._b = _raise_batch_error(
            _Simulations,
            model._address,
            count,
            num_threads,
            is_persistent,
            setup.chosen,
            setup.properties or ContactProperties(),
        )
        setup.warn_of_ignored(self._b.ignored_settings, self._b.options)
        self.state = self._b.state()
        self.warning = self._b.warning()
        self.status = self._b.status()
        self.status.flags.writeable = False
        self._lists: dict[str, Ragged[Any]] = {}
        self._warned: set[str] = set()

    def __repr__(self) -> str:
        setup = describe_setup(self.model, self.options, float(self.model.opt.timestep))
        return f"Batch({len(self.state)} simulations of {setup})"

    @property
    def options(self) -> dict[str, Any]:
        """The options of the steps, by name."""
        return self._b.options

    def bind(self, name: str) -> Any:
        """Returns a live array over a field of MjData, or what our steps report; see Batch.

        Raises:
            ValueError: there is no such field.
        """
        if name in LISTS:
            if name not in self._lists:
                getattr(self._b, f"keep_{name}")()
                self._lists[name] = Ragged(getattr(self._b, f"merge_{name}"))
            return self._lists[name]
        if name in ARRAYS:
            return getattr(self._b, name)
        try:
            return super().bind(name)
        except ValueError as e:
            raise BatchError("unknown_name", "bind", _describe_unknown(str(e), name)) from None

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ARRAYS or name in LISTS:
            raise BatchError(
                "invalid_value", name, "is what the steps report, and cannot be written"
            )
        super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        if name in ARRAYS or name in LISTS:
            return self.bind(name)
        return super().__getattr__(name)

    def step(
        self, ids: Ids = None, nstep: int = 1, stage: int = mujoco.mjtStage.mjSTAGE_NONE.value
    ) -> None:
        """Advances each simulation by nstep steps, then computes stages up to `stage`."""
        super().step(ids, _check_count("nstep", nstep, 1), _check_stage(stage))

    def forward(self, ids: Ids = None, stage: int = mujoco.mjtStage.mjSTAGE_ACC.value) -> None:
        """Computes the stages up to `stage`; all of them as Simulator.forward does."""
        super().forward(ids, _check_stage(stage))

    def reset(
        self, ids: Ids = None, keyframe: Any = -1, stage: int = mujoco.mjtStage.mjSTAGE_ACC.value
    ) -> None:
        """Resets to the model's defaults or to keyframes, then computes stages up to `stage`."""
        super().reset(ids, keyframe, _check_stage(stage))

    def set_models(self, models: mujoco.MjModel | Iterable[mujoco.MjModel] | None) -> None:
        """Runs simulation i on models[i], or all on one model; None: on the batch's model."""
        if models is not None and not isinstance(models, mujoco.MjModel | Iterable):
            raise BatchError(
                "wrong_shape",
                "models",
                f"is {describe_type(models)}, must be a mujoco.MjModel, a list of one per "
                "simulation, or None",
            )
        super().set_models(models)

    def rollout(self, nstep: int, *args: Any, **kwargs: Any) -> Any:
        """Advances each simulation by nstep steps, with controls before and records after each."""
        return super().rollout(_check_count("nstep", nstep, 1), *args, **kwargs)

    def _check(self, ids: NDArray[np.int32] | None, nfail: int) -> None:
        """Is called after each call: gives new warnings, and raises the error of a failure."""
        for each in self._lists.values():
            each._forget()
        for kind, (sim, text) in self._b.list_warnings().items():
            if kind not in self._warned:
                self._warned.add(kind)
                warn(StepWarning(kind, f"simulation {sim}: {text}"))
        if not nfail or self.options["on_failure"] == "stop":
            return
        called = np.arange(self.nsim, dtype=np.int32) if ids is None else ids
        failed = called[self.status[called] != 0]
        raise SimulationError(failed, self.error(int(failed[0])), len(called))


class _Simulations(BatchSimulations):
    """Our simulations with the signatures of mujoco._batch.Batch."""

    def error(self, sim: int) -> str:
        return super().error(self._check_sim(sim))

    def get_model(self, sim: int, model: mujoco.MjModel) -> None:
        check_model_type(model)
        self.get_model_at(self._check_sim(sim), model._address)

    def get_data(self, sim: int, data: mujoco.MjData) -> None:
        check_data_type(data)
        self.get_data_at(self._check_sim(sim), data._address)

    def set_models(self, models: mujoco.MjModel | Sequence[mujoco.MjModel] | None) -> None:
        if models is None:
            self.set_model_addresses([])
            return
        given = [models] * self.nsim if isinstance(models, mujoco.MjModel) else models
        if len(given) != self.nsim:
            raise Error(
                "wrong_shape",
                "models",
                f"has {len(given)} models, must have one per simulation, {self.nsim}, or be a model "
                "for all of them",
            )
        for model in given:
            check_model_type(model)
        self.set_model_addresses([model._address for model in given])

    def _check_sim(self, sim: Any) -> int:
        return check_integer(
            "sim", sim, 0, self.nsim - 1, wanted=f"in [0, {self.nsim}), got {sim!r}"
        )


def _raise_batch_error(function: Callable[..., Any], *args: Any) -> Any:
    """Calls a function, and raises BatchError in place of Error."""
    try:
        return function(*args)
    except Error as e:
        raise BatchError(e.code, e.where, e.message) from None


def _raise_batch_errors(name: str, checks_callbacks: bool) -> None:
    """Lets a method of _Simulations raise BatchError in place of Error."""
    method = getattr(_Simulations, name)

    @functools.wraps(method)
    def call(*args: Any) -> Any:
        if checks_callbacks:
            _raise_batch_error(_check_callbacks)
        return _raise_batch_error(method, *args)

    setattr(_Simulations, name, call)


for _name in ("step", "forward", "reset", "rollout", "set_const", "jac", "ray"):
    _raise_batch_errors(_name, checks_callbacks=True)
for _name in ("expand", "expanded", "error", "get_model", "get_data", "set_models"):
    _raise_batch_errors(_name, checks_callbacks=False)


def _describe_unknown(message: str, name: str) -> str:
    """Returns MuJoCo's message about a name that bind() does not know, with our names among its hints."""
    if "use expand" in message:
        return message
    ours = [*ARRAYS, *LISTS]
    message = message.partition(" (did you mean")[0]
    if near := difflib.get_close_matches(name, [*ours, *mujoco.batch.DATA_FIELDS], n=1):
        return f"{message} (did you mean '{near[0]}'?)"
    return f"{message}, nor one of {', '.join(ours)}"


def _check_count(name: str, value: Any, least: int) -> int:
    count: int = _raise_batch_error(check_integer, name, value, least)
    return count


def _check_stage(stage: Any) -> int:
    if stage in range(mujoco.mjtStage.mjSTAGE_ACC.value + 1):
        return int(stage)
    raise BatchError(
        "invalid_value",
        "stage",
        f"is {stage!r}, must be mjSTAGE_NONE, mjSTAGE_POS, mjSTAGE_VEL or mjSTAGE_ACC of "
        "mujoco.mjtStage",
    )


_C_FUNCTION: type = ctypes.CFUNCTYPE(None).__mro__[1]  # the base of all functions of ctypes
_CALLBACKS = [name for name in dir(mujoco) if name.startswith("get_mjcb_")]


def _check_callbacks() -> None:
    """Raises Error if a callback is a Python function, which threads could only call in turn."""
    for name in _CALLBACKS:
        # MuJoCo returns None for C functions, except for those that were set as objects of ctypes.
        if isinstance(getattr(mujoco, name)(), _C_FUNCTION | None):
            continue
        raise Error(
            "unsupported",
            name.removeprefix("get_"),
            "is a Python function, and a batch takes only C functions: uninstall it by "
            f"mujoco.{name.replace('get_', 'set_')}(None), or step with a Simulator",
        )
