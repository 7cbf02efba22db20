"""Runs all tasks of the scorecard in processes of their engines. Finished runs are kept. Engines
take turns, so that a busy machine affects all of them equally."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from stiction.analysis.doctor import describe_machine
from stiction.errors import Error
from stiction.evidence.engines.environments import WorkerProcess
from stiction.evidence.engines.world import to_plain
from stiction.evidence.scorecard.engine_table import Engine
from stiction.evidence.scorecard.results import ENDED
from stiction.evidence.scorecard.scene import Scene

# A run that takes longer is given up [s]. Genesis compiles for minutes when it first runs.
MAX_SECONDS = 600.0


@dataclass(frozen=True)
class Run:
    """One run of the scorecard."""

    engine: Engine
    scene: Scene
    time_step: float
    # 0, or 1 for a second run in another process, whose bits are compared with the first.
    repeat: int = 0

    def find_path(self, folder: Path) -> Path:
        """Returns the path of the run's files in the folder of raw data, without suffix."""
        name = f"{self.engine.name.replace(' ', '_')}-{1e6 * self.time_step:.0f}us-{self.repeat}"
        return folder / self.scene.name / name


def plan_runs(engines: Iterable[Engine], scenes: Iterable[Scene]) -> Iterator[Run]:
    """Yields all runs: each engine at each time step of a scene; the coarsest step twice."""
    engines = list(engines)
    for scene in scenes:
        for time_step in scene.steps:
            for engine in engines:
                if scene.needs_field and not engine.has_field:
                    continue
                yield Run(engine, scene, time_step)
                if time_step == scene.steps[0]:
                    yield Run(engine, scene, time_step, repeat=1)


class Campaign:
    """The processes of the engines, and the folder of raw data."""

    def __init__(self, out: Path, environments: Path, max_seconds: float = MAX_SECONDS) -> None:
        self._out, self._environments, self._max_seconds = out, environments, max_seconds
        self._processes: dict[tuple[str, int], WorkerProcess] = {}

    def __enter__(self) -> Campaign:
        return self

    def __exit__(self, *error: object) -> None:
        for process in self._processes.values():
            process.end()

    def run(self, run: Run) -> bool:
        """Makes a run unless its files exist. Returns whether it was made."""
        task = self._make_task(run)
        digest = hashlib.sha256(json.dumps(task, sort_keys=True).encode()).hexdigest()[:16]
        path = run.find_path(self._out)
        if _is_done(path, digest):
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        for suffix in (".npz", ".json"):
            path.with_suffix(suffix).unlink(missing_ok=True)
        about = {
            "engine": run.engine.name, "scene": run.scene.name, "time_step": run.time_step,
            "repeat": run.repeat, "settings": run.engine.settings_text,
            "date": date.today().isoformat(), "task": digest,
            "machine": describe_machine(),
        }  # fmt: skip
        with tempfile.TemporaryDirectory() as folder:
            forces = None
            if run.scene.make_forces is not None:
                forces = str(Path(folder) / "forces.npy")
                np.save(forces, run.scene.make_forces(run.time_step, task["num_steps"]))
            task |= {"forces": forces, "out": str(path.resolve()), "about": about}
            self._serve(run, task, path, about)
        return True

    def _make_task(self, run: Run) -> dict[str, Any]:
        return {
            "adapter": run.engine.adapter,
            "settings": run.engine.settings,
            "world": to_plain(run.scene.make_world()),
            "time_step": run.time_step,
            "num_steps": run.scene.count_steps(run.time_step),
            "settle": run.scene.settle,
        }

    def _serve(self, run: Run, task: dict[str, Any], path: Path, about: dict[str, Any]) -> None:
        key = (run.engine.environment.name, run.repeat)
        if key not in self._processes:
            self._processes[key] = WorkerProcess(run.engine.environment, self._environments)
        answer = self._processes[key].ask(task, self._max_seconds)
        if answer is None:  # it took too long, or the process died
            self._processes.pop(key).end()
            refused = f"{ENDED} {self._max_seconds:g} s, or the process died"
            result = {**about, "version": run.engine.name, "refused": refused}
            path.with_suffix(".json").write_text(json.dumps(result, indent=1) + "\n")
        elif "error" in answer:
            raise Error(
                "invalid_value", f"engine '{run.engine.name}', scene '{run.scene.name}'",
                f"the adapter failed: {answer['error']}",
            )  # fmt: skip


def _is_done(path: Path, digest: str) -> bool:
    """True if a run of the same task has its files."""
    try:
        stored = json.loads(path.with_suffix(".json").read_text())
    except (OSError, ValueError):
        return False
    return bool(stored.get("task") == digest)


def run_all(
    runs: Iterable[Run], campaign: Campaign, tell: Callable[[str], None], stop: Callable[[], bool]
) -> bool:
    """Makes all runs. Returns False if stop() became true."""
    for run in runs:
        if stop():
            return False
        tell(f"{run.scene.name}, {run.engine.name}, {1e3 * run.time_step:g} ms")
        campaign.run(run)
    return True
