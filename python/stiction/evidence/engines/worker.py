"""Runs tasks in the environment of an engine. `python worker.py` reads a task as JSON from each
line of its input.

A task has `adapter`, `settings`, `world`, `time_step`, `num_steps`, `forces` (a file of numpy, or
null) and `out`, a path without suffix. It gives OUT.npz, the trajectory, and then OUT.json, the
rest. The answer is a line of JSON: `{"done": true}`, or `error`.

This environment may have no Stiction. So the first lines put an empty package in its place, whose
modules are those beside this file.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import types
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    _folder = Path(__file__).resolve().parents[1]
    sys.path.pop(0)
    if os.environ.get("STICTION_BARE") == "1":
        package = types.ModuleType("stiction")
        package.__path__ = [str(_folder.parent)]
        sys.modules["stiction"] = package

import numpy as np

from stiction.evidence.engines.drive import Adapter, StoppedError, drive
from stiction.evidence.engines.world import from_plain

ADAPTERS = {
    "stiction": "stiction_adapter.StictionAdapter",
    "mujoco": "mujoco_adapter.MujocoAdapter",
    "drake": "drake_adapter.DrakeAdapter",
    "newton": "newton_adapter.NewtonAdapter",
    "bullet": "bullet_adapter.BulletAdapter",
    "motrix": "motrix_adapter.MotrixAdapter",
    "genesis": "genesis_adapter.GenesisAdapter",
    "pinocchio": "pinocchio_adapter.PinocchioAdapter",
}


def run_task(task: dict[str, Any]) -> None:
    """Runs a task and writes its files."""
    module_name, class_name = ADAPTERS[task["adapter"]].split(".")
    module = importlib.import_module(f"stiction.evidence.engines.adapters.{module_name}")
    world = from_plain(task["world"])
    forces = None if task["forces"] is None else np.load(task["forces"])
    result: dict[str, Any] = {"version": module.describe_version()}
    out = Path(task["out"])

    def build() -> Adapter:
        made: Adapter = getattr(module, class_name)(world, task["time_step"], task["settings"])
        return made

    try:
        # Two steps of a first copy load and compile what the engine needs, which is not a cost of
        # steps.
        drive(build(), world, task["time_step"], min(2, task["num_steps"]), forces)
        adapter = build()
    except (StoppedError, RuntimeError, ValueError, NotImplementedError) as e:
        result |= {"refused": " ".join(str(e).split())[:300]}
    else:
        data = drive(adapter, world, task["time_step"], task["num_steps"], forces)
        data.trajectory.save(out.with_suffix(".npz"))
        result |= {
            "cpu_us_per_step": 1e6 * data.cpu_seconds / max(1, data.num_steps),
            "num_steps": data.num_steps,
            "messages": data.messages,
            "stopped": data.stopped,
            "digest": data.digest,
        }
    # The JSON file comes last and at once, so a run that was killed has none.
    partial = out.with_suffix(".partial")
    partial.write_text(json.dumps({**task.get("about", {}), **result}, indent=1) + "\n")
    partial.replace(out.with_suffix(".json"))


def main() -> None:
    """Serves tasks until the input ends. What engines print goes to standard error."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    for line in sys.stdin:
        try:
            run_task(json.loads(line))
            answer: dict[str, Any] = {"done": True}
        except Exception as e:  # noqa: BLE001  # one bad task must not end the worker
            answer = {"error": f"{type(e).__name__}: {e}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
