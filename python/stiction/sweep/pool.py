"""Runs units in processes of this machine. A process that ends costs its unit, and is replaced."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from multiprocessing.connection import Connection, wait
from typing import Any, NamedTuple

from stiction.binding.interrupts import FROM_TERMINAL
from stiction.errors import Error
from stiction.sweep.plan import Unit
from stiction.sweep.table import Row, make_empty_results
from stiction.sweep.unit_run import run_unit

_POLL = 0.2  # time between two looks at Ctrl-C [s]
_READY = "ready"


class Finished(NamedTuple):
    """A finished unit with its results."""

    unit: Unit
    results: Row


def make_crash(reason: str) -> Row:
    """Returns the results of a unit whose process ended."""
    return make_empty_results() | {
        "status": "crashed",
        "message": f"{reason}; if memory ran out, run fewer units at once with --jobs, and repeat "
        "those that crashed with --retry",
    }


def run_in_processes(
    units: Sequence[Unit],
    models: Mapping[str, bytes],
    num_jobs: int,
    is_interrupted: Callable[[], bool],
) -> Iterator[Finished]:
    """Yields the units as they finish, in any order, until is_interrupted(), which ends all processes.

    Error: a process cannot be started, or has other software than this one.
    """
    waiting = list(reversed(units))
    workers: list[_Worker] = []
    try:
        while waiting or any(worker.unit for worker in workers):
            while (
                waiting and len(workers) < num_jobs and len(workers) < _count_busy(workers, waiting)
            ):
                workers.append(_Worker())
            for worker in workers:
                if waiting and worker.is_ready and worker.unit is None:
                    worker.start(waiting.pop(), models)
            if is_interrupted():
                return
            by_connection = {worker.connection: worker for worker in workers}
            for connection in wait(list(by_connection), timeout=_POLL):
                worker = by_connection[connection]  # type: ignore[index]
                finished = worker.receive()
                if worker.has_ended:
                    workers.remove(worker)
                if finished:
                    yield finished
    finally:
        for worker in workers:
            worker.end()


def _count_busy(workers: list[_Worker], waiting: list[Unit]) -> int:
    """Returns the number of workers that the unfinished units can keep busy."""
    return len(waiting) + sum(worker.unit is not None for worker in workers)


class _Worker:
    """A process that runs one unit after another; `unit` is the one that it runs, or None."""

    def __init__(self) -> None:
        # A new interpreter shares nothing with this process: no threads, no locks, no open files.
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self.unit: Unit | None = None
        self.is_ready = self.has_ended = False
        with _ignored_interrupts():
            self._process.start()
        theirs.close()  # so that the end of the process closes the connection

    def start(self, unit: Unit, models: Mapping[str, bytes]) -> None:
        """Starts the run of a unit."""
        self.unit = unit
        with contextlib.suppress(OSError):  # the process has ended; receive() finds out
            self.connection.send((asdict(unit), models[unit.model_digest]))

    def receive(self) -> Finished | None:
        """Returns the unit with its results if it has finished or its process ended."""
        try:
            message = self.connection.recv()
        except (EOFError, OSError):
            return self._note_end()
        if message == _READY:
            self.is_ready = True
            return None
        if isinstance(message, Error):
            raise message
        assert self.unit
        finished, self.unit = Finished(self.unit, message), None
        return finished

    def end(self) -> None:
        """Ends the process and its run."""
        self.connection.close()
        self._process.kill()
        self._process.join()

    def _note_end(self) -> Finished | None:
        self.connection.close()
        self._process.join()
        self.has_ended = True
        reason = f"the process ended {_describe_end(self._process.exitcode)}"
        if not self.is_ready:
            raise Error(
                "unsupported",
                "sweep",
                f"{reason} before it could run anything; its message is above. A program that calls "
                "run_sweep needs `if __name__ == '__main__':` around its code",
            )
        return Finished(self.unit, make_crash(reason)) if self.unit else None


def _describe_end(code: int | None) -> str:
    if code is not None and code < 0:
        try:
            return f"by {signal.Signals(-code).name}"
        except ValueError:
            return f"by signal {-code}"
    return f"with exit code {code}"


@contextlib.contextmanager
def _ignored_interrupts() -> Iterator[None]:
    """Makes new processes ignore Ctrl-C and SIGHUP, which only this one shall react to."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may set handlers; _serve ignores both later
        return
    outer = {number: signal.signal(number, signal.SIG_IGN) for number in FROM_TERMINAL}
    try:
        yield
    finally:
        for number, handler in outer.items():
            signal.signal(number, handler)


def _serve(connection: Connection) -> None:
    """The program of a worker: runs units until the connection closes."""
    for number in FROM_TERMINAL:
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    connection.send(_READY)
    with contextlib.suppress(EOFError, OSError):
        while True:
            unit, model = connection.recv()
            connection.send(_run(unit, model))


def _run(unit: dict[str, Any], model: bytes) -> Row | Error:
    try:
        return run_unit(unit, model)
    except Error as e:
        return e


def _end_with_parent() -> None:
    """Ends this process, also within a run, when the process that started it was killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
