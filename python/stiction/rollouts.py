"""rollout: open-loop trajectories from many initial states, as mujoco.rollout computes them."""

from __future__ import annotations

import atexit
import functools
import json
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

import mujoco
import mujoco.rollout
import numpy as np
from numpy.typing import NDArray

from stiction._core import ContactProperties
from stiction.batch import Batch, BatchError
from stiction.inputs.arguments import describe_type
from stiction.setup.defaults import NOT_GIVEN, get_chosen_defaults
from stiction.setup.properties import PropertiesLike, make_properties

if TYPE_CHECKING:
    from stiction._step_options import StepOptions

_PHYSICS = mujoco.mjtState.mjSTATE_FULLPHYSICS.value
_WARMSTART = mujoco.mjtState.mjSTATE_WARMSTART.value
_CTRL = mujoco.mjtState.mjSTATE_CTRL.value


class Rollout(mujoco.rollout.Rollout):  # type: ignore[misc]
    """Computes rollouts on threads that it keeps.

    The arguments and results of its method `rollout` are those of mujoco.rollout.Rollout.

    Args:
        nthread: number of threads; 0 or None: the calling thread alone.
        contact_model, properties, options: as those of Simulator.
    """

    def __init__(
        self,
        *,
        nthread: int | None = None,
        contact_model: str = NOT_GIVEN,
        properties: PropertiesLike = None,
        **options: Unpack[StepOptions],
    ) -> None:
        super().__init__(nthread=0)
        self.nthread = 0 if nthread is None else nthread
        make = functools.partial(
            Batch, nthread=max(1, self.nthread), contact_model=contact_model, properties=properties
        )
        self.rollout_: _Runner | None = _Runner(self.nthread, functools.partial(make, **options))

    def close(self) -> None:
        """Ends the threads."""
        self.rollout_ = None


class _Runner:
    """Rolls out simulations of a batch, which it keeps for further calls of the same size."""

    def __init__(self, nthread: int, make_batch: functools.partial[Batch]) -> None:
        self._nthread = nthread
        self._make_batch = make_batch
        self._lock = threading.Lock()  # of the batch, for calls from several threads
        self._batch: Batch | None = None
        self._model: mujoco.MjModel | None = None  # for which the batch was made

    def rollout(
        self,
        models: Sequence[mujoco.MjModel],
        data: Sequence[mujoco.MjData],
        nstep: int,
        control_spec: int,
        initial_state: NDArray[np.float64],
        initial_warmstart: NDArray[np.float64] | None,
        control: NDArray[np.float64] | None,
        state: NDArray[np.float64] | None,
        sensordata: NDArray[np.float64] | None,
        chunk_size: int | None,
    ) -> None:
        """Has the arguments of MuJoCo's compiled function, which stiction.rollout documents."""
        self._check(data, chunk_size)
        nbatch = len(initial_state)
        if nbatch == 0:
            return
        wanted: dict[Any, Any] = {_PHYSICS: state, "sensordata": sensordata}
        out = {item: array for item, array in wanted.items() if array is not None}
        with self._lock:
            batch = self._find_batch(models[0], nbatch)
            batch.set_models(models[:nbatch])  # the caller's, with the values that they have now
            batch.reset(stage=mujoco.mjtStage.mjSTAGE_NONE.value)
            _set_state(batch, _PHYSICS, initial_state)
            if initial_warmstart is not None:
                _set_state(batch, _WARMSTART, initial_warmstart)
            batch.rollout(nstep, control, control_spec, record=list(out), out=out)

    def _check(self, data: Sequence[mujoco.MjData], chunk_size: int | None) -> None:
        """Checks what MuJoCo's compiled function checks, although a batch does not use it."""
        if not data or (self._nthread > 0 and len(data) != self._nthread):
            raise BatchError(
                "wrong_shape",
                "data",
                f"has {len(data)} instances of MjData, must have one per thread, {self._nthread or 1}",
            )
        if chunk_size is not None and chunk_size <= 0:
            raise BatchError("invalid_value", "chunk_size", f"is {chunk_size}, must be at least 1")

    def _find_batch(self, model: mujoco.MjModel, nsim: int) -> Batch:
        if self._batch is None or self._model is not model or self._batch.nsim != nsim:
            self._batch = self._make_batch(model, nsim)
            self._model = model
        return self._batch


def _set_state(batch: Batch, spec: int, values: NDArray[np.float64]) -> None:
    """Writes the components in `spec` of all simulations, in the order of mj_setState."""
    first = 0
    for i in range(mujoco.mjtState.mjNSTATE.value):
        if spec >> i & 1:
            offset, size = batch._component(1 << i)
            batch.state[:, offset : offset + size] = values[:, first : first + size]
            first += size


class _Pools:
    """The pools that rollout() keeps for its next calls: those used last, by what makes them."""

    _MOST = 4  # each has threads, and a batch of simulations

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pools: OrderedDict[str, Rollout] = OrderedDict()

    def find(self, key: str, make: functools.partial[Rollout]) -> Rollout:
        with self._lock:
            pool = self._pools.pop(key, None) or make()
            self._pools[key] = pool
            while len(self._pools) > self._MOST:
                self._pools.popitem(last=False)  # it ends with the last call that still uses it
            return pool

    def close(self) -> None:
        with self._lock:
            self._pools.clear()


_pools = _Pools()


@atexit.register
def shutdown_persistent_pool() -> None:
    """Ends the threads that rollout(persistent_pool=True) keeps, and frees their simulations.

    Python calls it at its end.
    """
    _pools.close()


def _make_key(
    nthread: int,
    contact_model: str,
    properties: ContactProperties | None,
    options: Mapping[str, Any],
) -> str:
    """Describes all that the simulations of a pool follow from, apart from the model."""
    given = {} if contact_model is NOT_GIVEN else {"contact_model": contact_model}
    chosen = {**get_chosen_defaults(), **given, **options}
    content = None if properties is None else json.dumps(properties.content, sort_keys=True)
    return repr((nthread, sorted(chosen.items()), content))


def _list_data(data: Any) -> list[mujoco.MjData]:
    """Returns the instances of MjData of a call, or raises BatchError."""
    datas = [data] if isinstance(data, mujoco.MjData) else data
    if isinstance(datas, Sequence) and all(isinstance(d, mujoco.MjData) for d in datas):
        return list(datas)
    raise BatchError(
        "wrong_shape",
        "data",
        f"is {describe_type(data)}, must be a mujoco.MjData, or a list of one per thread",
    )


def rollout(
    model: mujoco.MjModel | Sequence[mujoco.MjModel],
    data: mujoco.MjData | Sequence[mujoco.MjData],
    initial_state: Any,
    control: Any = None,
    *,
    control_spec: int = _CTRL,
    skip_checks: bool = False,
    nstep: int | None = None,
    initial_warmstart: Any = None,
    state: Any = None,
    sensordata: Any = None,
    chunk_size: int | None = None,
    persistent_pool: bool = False,
    contact_model: str = NOT_GIVEN,
    properties: PropertiesLike = None,
    **options: Unpack[StepOptions],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Rolls out open-loop trajectories from initial states with our contact.

    The arguments and results are those of mujoco.rollout.rollout, and those of Simulator after them:

        state, sensordata = stiction.rollout(model, data, initial_state, control, contact_model="sap")

    Args:
        model: a model, or one per trajectory, with the same sizes.
        data: an MjData, or a list of them. Their number is the number of threads; their content is
            neither read nor written.
        initial_state: mjSTATE_FULLPHYSICS, ([nbatch or 1] x nstate).
        control: inputs for each step, ([nbatch or 1] x [nstep or 1] x ncontrol), or None.
        control_spec: mjtState bits of `control`.
        skip_checks: use the arguments as they are, without copies and new arrays.
        nstep: number of steps, if `control`, `state` and `sensordata` do not tell.
        initial_warmstart: initial qacc_warmstart, ([nbatch or 1] x nv), or None.
        state, sensordata: arrays for the results, or None.
        chunk_size: has no effect; threads take one trajectory at a time.
        persistent_pool: keep the threads, and the batch of simulations, for the next call with the
            same number of threads, properties and options; shutdown_persistent_pool() ends them.
        contact_model, properties, options: as those of Simulator.

    Returns:
        state: (nbatch x nstep x nstate) after each step.
        sensordata: (nbatch x nstep x nsensordata).

    Raises:
        ValueError: an array has a wrong shape.
        TypeError: as for Simulator.
        Error: an argument of ours is out of range, or the model cannot be stepped.
        SimulationError: a step failed in some trajectories. They repeat their last step from there on
            in `state` and `sensordata`, if these were given; on_failure='stop' returns them.
    """
    datas = _list_data(data)
    nthread = len(datas) if len(datas) > 1 else 0
    made = make_properties(properties)
    make = functools.partial(
        Rollout, nthread=nthread, contact_model=contact_model, properties=made, **options
    )
    if persistent_pool:
        pool = _pools.find(_make_key(nthread, contact_model, made, options), make)
    else:
        pool = make()
    result: tuple[NDArray[np.float64], NDArray[np.float64]] = pool.rollout(
        model,
        datas,
        initial_state,
        control,
        control_spec=control_spec,
        skip_checks=skip_checks,
        nstep=nstep,
        initial_warmstart=initial_warmstart,
        state=state,
        sensordata=sensordata,
        chunk_size=chunk_size,
    )
    return result
