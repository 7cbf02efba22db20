"""Sweeps on a local Ray cluster with two workers."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray", reason="needs ray: pip install 'stiction[ray]'")
pytest.importorskip("pyarrow", reason="needs pyarrow: pip install 'stiction[sweep]'")

MakeConfig = Callable[..., Path]
Sweep = Callable[..., "subprocess.CompletedProcess[str]"]
ReadRows = Callable[[Path], list[dict[str, Any]]]
STICTION = Path(sys.executable).parent / "stiction"

# A cluster of its own process, as a user's cluster is. It ends when its standard input is closed.
CLUSTER = """
import ray, sys
context = ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False)
print(context.address_info["gcs_address"], flush=True)
sys.stdin.read()
ray.shutdown()
"""
# A token of the test's own, as authentication is on in new versions of Ray.
AUTHENTICATION = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}


@pytest.fixture(autouse=True, scope="module")
def authentication() -> Iterator[None]:
    """Lets this process and those that it starts join the cluster."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in AUTHENTICATION.items():
            patch.setenv(name, value)
        yield


@pytest.fixture(scope="module")
def cluster(authentication: None) -> Iterator[str]:
    """The address of a Ray cluster with two workers."""
    with subprocess.Popen(
        [sys.executable, "-c", CLUSTER], text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        assert process.stdout
        address = process.stdout.readline().strip()
        assert address, "Ray has not started"
        yield address


def find_units() -> list[int]:
    """Returns the process ids of Ray's workers on this machine that run a unit."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            title = file.read_bytes()
        except OSError:
            continue
        if title.startswith(b"ray::run_unit"):
            found.append(int(file.parent.name))
    return found


def test_rows_have_the_same_bits_as_in_processes(
    make_config: MakeConfig, tmp_path: Path, sweep: Sweep, read_rows: ReadRows, cluster: str
) -> None:
    make_config()
    assert sweep("slide.yaml", "--out", "pool", "--jobs", 2).returncode == 0
    result = sweep("slide.yaml", "--out", "ray", "--ray-address", cluster)
    assert (result.returncode, result.stderr) == (0, "")
    rows = read_rows(tmp_path / "ray")
    assert len(rows) == 12
    assert rows == read_rows(tmp_path / "pool")


def test_a_sweep_goes_on_with_ray(
    make_config: MakeConfig, sweep: Sweep, cluster: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "scenes: slide.xml\ncontact_models: {}\nduration: 10ms\n"
    make_config(text.format("sap"))
    sweep("slide.yaml", "--jobs", 1)
    make_config(text.format("[sap, lagged]"))
    monkeypatch.setenv("RAY_ADDRESS", cluster)
    figures = json.loads(sweep("slide.yaml", "--json", "--ray").stdout)
    assert (figures["num_reused"], len(figures["rows"])) == (1, 2)


def test_a_dead_worker_costs_its_unit(
    make_config: MakeConfig, tmp_path: Path, cluster: str
) -> None:
    make_config("scenes: slide.xml\ncontact_models: [sap, lagged]\nduration: 10h\n")
    with subprocess.Popen(
        [STICTION, "sweep", "slide.yaml", "--ray-address", cluster, "--json"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:  # fmt: skip
        try:
            deadline = time.time() + 60
            while len(found := find_units()) < 2:
                assert time.time() < deadline and process.poll() is None
                time.sleep(0.1)
            for pid in found:
                os.kill(pid, signal.SIGKILL)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 1, err
    assert "error: slide.xml, sap, 0.002 s: crashed: the process ended: " in err
    rows = json.loads(out)["rows"]
    assert [row["status"] for row in rows] == ["crashed", "crashed"]
    assert "WorkerCrashedError" in rows[0]["message"]
    assert "--retry" in rows[0]["message"]


def test_ctrl_c_cancels_the_tasks(make_config: MakeConfig, tmp_path: Path, cluster: str) -> None:
    make_config("scenes: slide.xml\ncontact_models: [sap, lagged, similar]\nduration: 10h\n")
    with subprocess.Popen(
        [STICTION, "sweep", "slide.yaml", "--ray-address", cluster],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:  # fmt: skip
        try:
            deadline = time.time() + 60
            while not find_units():
                assert time.time() < deadline and process.poll() is None
                time.sleep(0.1)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 130
    assert err == "error: interrupted; 3 runs are left, and the same command goes on with them\n"
    deadline = time.time() + 30
    while find_units():
        assert time.time() < deadline, "a task still runs"
        time.sleep(0.1)


# Ray reads the token when it is loaded, so this is a process of its own.
OTHER_SOFTWARE = """
import dataclasses, sys
from stiction.sweep import make_plan, read_config
from stiction.sweep.ray_tasks import run_on_ray
plan = make_plan(read_config("slide.yaml"))
software = {**plan.units[0].software, "stiction_version": "9.9.9"}
units = [dataclasses.replace(plan.units[0], software=software)]
list(run_on_ray(units, plan.models, sys.argv[1], None, lambda: False))
"""


def test_other_software_on_a_worker_ends_the_sweep(
    make_config: MakeConfig, tmp_path: Path, cluster: str
) -> None:
    make_config("scenes: slide.xml\ncontact_models: sap\nduration: 10ms\n")
    result = subprocess.run(
        [sys.executable, "-c", OTHER_SOFTWARE, cluster],
        cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert result.returncode == 1
    last = result.stderr.splitlines()[-1]
    assert last.startswith("stiction.errors.Error: ")
    assert "but the sweep was planned with 9.9.9; install the same wheel" in last


def test_a_missing_cluster_is_an_error(make_config: MakeConfig, sweep: Sweep) -> None:
    make_config("scenes: slide.xml\ncontact_models: sap\nduration: 10ms\n")
    result = sweep("slide.yaml", "--ray-address", "127.0.0.1:1")
    assert result.returncode == 1
    assert "Traceback" not in result.stderr
    assert result.stderr.startswith("error: --ray: cannot join the Ray cluster '127.0.0.1:1': ")
    assert "start one with `ray start --head`" in result.stderr
