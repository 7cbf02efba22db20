"""Runs a sample of other packages' models: those that `./dev corpus` downloaded or pip installed."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
CORPUS = ROOT / "build" / "corpus"
NUM_MODELS = 20

# ./dev setup installs these packages; an environment of another version of MuJoCo may lack them.
HAVE_MODELS = all(map(importlib.util.find_spec, ("dm_control", "gymnasium_robotics")))


@pytest.mark.slow
@pytest.mark.skipif(not HAVE_MODELS, reason="needs dm_control and gymnasium-robotics")
def test_a_sample_of_models_runs_to_its_end() -> None:
    command = [sys.executable, ROOT / "tools/corpus.py", "--offline", "--sample", str(NUM_MODELS)]
    done = subprocess.run(
        [*command, "--failures", CORPUS / "sample.json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert f"of which {NUM_MODELS} were run" in done.stdout, done.stderr
    # In so few runs, the targets allow no run that ends badly.
    assert done.returncode == 0, done.stdout + (CORPUS / "sample.json").read_text()
