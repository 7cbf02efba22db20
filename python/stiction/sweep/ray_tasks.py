"""Runs units as tasks of a Ray cluster. Ray schedules them, moves their data and watches processes."""

from __future__ import annotations

import contextlib
import logging
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from stiction.errors import Error
from stiction.sweep.plan import Unit
from stiction.sweep.pool import Finished, make_crash
from stiction.sweep.unit_run import run_unit

_POLL = 0.2  # time between two looks at Ctrl-C [s]
_PATIENCE = 10  # for the connection to a cluster [s]
# Tasks beyond the processors of the cluster, so that no processor waits and the cluster can grow.
_QUEUED_PER_CPU = 2


def import_ray() -> Any:
    """Imports Ray, or raises Error."""
    try:
        import ray
    except ImportError as e:
        raise Error(
            "unsupported",
            "--ray",
            f"Ray cannot be imported ({e}); run: pip install 'stiction[ray]'",
        ) from e
    return ray


def run_on_ray(
    units: Sequence[Unit],
    models: Mapping[str, bytes],
    address: str,
    max_tasks: int | None,
    is_interrupted: Callable[[], bool],
) -> Iterator[Finished]:
    """Yields the units as they finish, in any order, until is_interrupted(), which cancels all tasks.

    A cluster that this process has joined is used whatever the address is. Error: Ray is missing, there
    is no such cluster, or it has other software.
    """
    ray = import_ray()
    with _joined(ray, address):
        cpus = int(ray.cluster_resources().get("CPU", 1))
        limit = max_tasks or _QUEUED_PER_CPU * max(1, cpus)
        # A run that crashes is a row, and would crash again.
        task = ray.remote(max_retries=0)(run_unit)
        stored = {digest: ray.put(model) for digest, model in models.items()}
        pending: dict[Any, Unit] = {}
        waiting = list(reversed(units))
        try:
            while waiting or pending:
                while waiting and len(pending) < limit:
                    unit = waiting.pop()
                    cpus_of_unit = unit.options.get("num_threads", 1)
                    submit = task.options(num_cpus=cpus_of_unit)
                    pending[submit.remote(asdict(unit), stored[unit.model_digest])] = unit
                if is_interrupted():
                    return
                done, _ = ray.wait(list(pending), num_returns=1, timeout=_POLL)
                for reference in done:
                    yield Finished(pending.pop(reference), _get_results(ray, reference))
        finally:
            for reference in pending:
                ray.cancel(reference, force=True)


def _get_results(ray: Any, reference: Any) -> dict[str, Any]:
    try:
        results: dict[str, Any] = ray.get(reference)
        return results
    except ray.exceptions.RayTaskError as e:
        if isinstance(e.cause, Error):
            raise e.cause from e
        return make_crash(f"the task failed: {e.cause}")
    except ray.exceptions.RayError as e:
        reason = str(e).strip().splitlines()[0].rstrip(".")
        return make_crash(f"the process ended: {type(e).__name__}: {reason}")


@contextlib.contextmanager
def _joined(ray: Any, address: str) -> Iterator[None]:
    """A context in which this process is part of the cluster."""
    if ray.is_initialized():
        yield
        return
    _check_address(address)
    with _kept_handlers():
        try:
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
        except (ConnectionError, RuntimeError, ValueError) as e:
            raise _make_error(address, str(e).strip().splitlines()[0].rstrip(".")) from e
    try:
        yield
    finally:
        ray.shutdown()


def _check_address(address: str) -> None:
    """Raises Error at once if nothing listens at an address. Ray would try for minutes."""
    host, _, port = address.rpartition("://")[2].rpartition(":")
    if not host or not port.isdecimal():
        return  # 'auto' and other words
    try:
        socket.create_connection((host, int(port)), timeout=_PATIENCE).close()
    except (OSError, OverflowError) as e:
        raise _make_error(address, str(getattr(e, "strerror", None) or e)) from e


def _make_error(address: str, reason: str) -> Error:
    return Error(
        "unsupported",
        "--ray",
        f"cannot join the Ray cluster '{address}': {reason}; start one with `ray start --head`, or "
        "name its address with --ray-address HOST:PORT",
    )


@contextlib.contextmanager
def _kept_handlers() -> Iterator[None]:
    """A context that restores the handlers of signals, which Ray replaces."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    outer = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in outer.items():
            signal.signal(number, handler)
