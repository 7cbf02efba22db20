"""Fixtures that tests share."""

from __future__ import annotations

import math
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import h5py
import mujoco
import numpy as np
import pytest
from scipy import sparse


def pytest_configure() -> None:
    """Lets the programs that tests start end at SIGHUP, also under nohup, which ignores it.

    A program inherits an ignored signal, but not a handler.
    """
    if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: None)


@pytest.fixture(autouse=True)
def interruptible() -> Iterator[None]:
    """Makes Ctrl-C raise KeyboardInterrupt, also if a shell runs the tests as a background job."""
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, previous)


@pytest.fixture(autouse=True)
def no_process_outlives_its_test(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Ends the programs that a failed test left running, so that they do not disturb the next one."""
    started: list[subprocess.Popen[Any]] = []
    start = subprocess.Popen.__init__

    def start_and_note(process: subprocess.Popen[Any], *arguments: Any, **options: Any) -> None:
        start(process, *arguments, **options)
        started.append(process)

    monkeypatch.setattr(subprocess.Popen, "__init__", start_and_note)
    yield
    for process in started:
        if process.poll() is None:
            process.kill()
            process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()


@pytest.fixture
def read_fclib() -> Callable[[Path], dict[str, np.ndarray]]:
    """Returns a function that reads the matrices and vectors of an FCLIB problem."""
    return _read_fclib


def _read_fclib(path: Path) -> dict[str, np.ndarray]:
    with h5py.File(path) as file:
        group = file[next(name for name in file if name.startswith("fclib_"))]
        matrices = {name: _read_matrix(group[name]) for name in ("M", "H", "W") if name in group}
        vectors = {name: group["vectors"][name][:] for name in group["vectors"]}
        return matrices | vectors


def _read_matrix(group: h5py.Group) -> np.ndarray:
    """Reads triplets, compressed columns (nz = -1) or compressed rows (nz = -2)."""
    shape = int(group["m"][0]), int(group["n"][0])
    x, i, p, nz = group["x"][:], group["i"][:], group["p"][:], int(group["nz"][0])
    if nz == -1:
        return sparse.csc_matrix((x, i, p), shape).toarray()
    if nz == -2:
        return sparse.csr_matrix((x, i, p), shape).toarray()
    return sparse.coo_matrix((x[:nz], (i[:nz], p[:nz])), shape).toarray()


@pytest.fixture(scope="session")
def make_slope() -> Callable[..., mujoco.MjModel]:
    """Returns a function that compiles a box of 1 kg, with friction 0.5, on a slope."""

    def make(angle: float, more_bodies: str = "") -> mujoco.MjModel:
        gravity = f"{9.81 * math.sin(angle)} 0 {-9.81 * math.cos(angle)}"
        return mujoco.MjModel.from_xml_string(f"""
<mujoco>
  <option timestep="0.002" gravity="{gravity}"/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 1" friction="0.5"/>
    <body name="box" pos="0 0 0.05">
      <freejoint/>
      <geom name="box" type="box" size="0.1 0.1 0.05" mass="1" friction="0.5"/>
    </body>
    {more_bodies}
  </worldbody>
</mujoco>""")

    return make
