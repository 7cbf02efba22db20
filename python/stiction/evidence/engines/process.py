"""A process that runs tasks in the environment of an engine."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import threading
from pathlib import Path
from typing import Any

from stiction.evidence.engines import worker
from stiction.evidence.engines.environments import Environment


class WorkerProcess:
    """A worker. Its answers come through a thread, so that waiting for them can end."""

    def __init__(self, environment: Environment, folder: Path) -> None:
        variables = dict(os.environ) | {"OMP_NUM_THREADS": "1"}
        if environment.packages:
            variables["STICTION_BARE"] = "1"
            variables.pop("PYTHONPATH", None)
        self._process = subprocess.Popen(
            [str(environment.find_python(folder)), str(Path(worker.__file__).resolve())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=variables,
        )
        self._answers: queue.Queue[str] = queue.Queue()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def ask(self, task: dict[str, Any], max_seconds: float) -> dict[str, Any] | None:
        """Returns the answer to a task, or None if there is none in time."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(task) + "\n")
            self._process.stdin.flush()
            answer: dict[str, Any] = json.loads(self._answers.get(timeout=max_seconds))
        except (OSError, queue.Empty, ValueError):
            return None
        return answer

    def end(self) -> None:
        """Ends the process."""
        self._process.kill()
        self._process.wait()
        self._listener.join()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):  # what was not yet sent cannot be sent any more
                    pipe.close()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._answers.put(line)
        self._answers.put("")  # the process has ended
