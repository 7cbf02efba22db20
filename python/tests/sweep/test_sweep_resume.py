"""Sweeps that end early: kills, Ctrl-C, full disks; and what the next one takes from them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import stiction
from stiction.sweep import make_plan, read_config, run_sweep
from stiction.sweep.journal import Journal, read_journal
from stiction.sweep.pool import make_crash

MakeConfig = Callable[..., Path]
Sweep = Callable[..., "subprocess.CompletedProcess[str]"]
Rows = list[dict[str, Any]]
ReadRows = Callable[[Path], Rows]
Count = Callable[[Path], int]
STICTION = Path(sys.executable).parent / "stiction"

# 24 runs of about 0.1 s.
CONFIG = """
scenes: slide.xml
contact_models: [lagged, sap, mujoco]
time_steps: [1ms, 0.5ms]
duration: 2s
grid:
  geom.*.friction: [0.2, 0.4, 0.6, 0.8]
"""


def start(folder: Path, *arguments: object) -> subprocess.Popen[str]:
    """Starts a sweep in a process group of its own."""
    return subprocess.Popen(
        [STICTION, "sweep", *map(str, arguments)],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip


def wait_until(is_done: Callable[[], bool], process: subprocess.Popen[str] | None = None) -> None:
    deadline = time.time() + 120
    while not is_done():
        assert time.time() < deadline
        assert process is None or process.poll() is None, process.communicate()
        time.sleep(0.01)


def find_children(pid: int) -> list[int]:
    """Returns the processes that a process has started."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid and fields[0] != "Z":
            found.append(int(status.parent.name))
    return found


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture
def uninterrupted(
    make_config: MakeConfig, tmp_path: Path, sweep: Sweep, read_rows: ReadRows
) -> Rows:
    result = sweep(make_config(CONFIG), "--out", "whole", "--jobs", 2)
    assert (result.returncode, result.stderr) == (0, "")
    rows = read_rows(tmp_path / "whole")
    assert len(rows) == 24
    assert {row["status"] for row in rows} == {"ok"}
    return rows


@pytest.mark.slow
def test_a_kill_of_all_processes_loses_no_finished_run(
    uninterrupted: Rows, tmp_path: Path, sweep: Sweep, read_rows: ReadRows, count_finished: Count
) -> None:
    out = tmp_path / "killed"
    finished = 0
    for at_least in (3, 9):  # two kills
        process = start(tmp_path, "slide.yaml", "--out", out, "--jobs", 2)
        wait_until(lambda n=at_least: count_finished(out) >= n, process)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        finished = count_finished(out)
        assert at_least <= finished < 24
        assert not (out / "sweep.parquet").exists()
    result = sweep("slide.yaml", "--out", out, "--json")
    assert (result.returncode, result.stderr) == (0, "")
    figures = json.loads(result.stdout)
    assert figures["num_reused"] == finished
    assert count_finished(out) == 24, "no finished run was repeated"
    assert read_rows(out) == uninterrupted


@pytest.mark.slow
def test_a_second_sweep_in_the_folder_is_refused(
    make_config: MakeConfig, tmp_path: Path, sweep: Sweep
) -> None:
    config = make_config("scenes: slide.xml\ncontact_models: lagged\nduration: 0.1s\n")
    out = tmp_path / "out"
    with Journal(out):
        result = sweep(config, "--out", out)
        assert result.returncode == 1
        assert "is in use by another sweep" in result.stderr
        assert "choose another folder with --out" in result.stderr.replace("\n", " ")
    assert not read_journal(out)
    assert sweep(config, "--out", out).returncode == 0
    assert len(read_journal(out)) == 1


def test_workers_end_when_only_their_parent_is_killed(
    make_config: MakeConfig, tmp_path: Path, count_finished: Count
) -> None:
    make_config("scenes: slide.xml\ncontact_models: [sap, lagged]\nduration: 10h\n")
    process = start(tmp_path, "slide.yaml", "--out", "out", "--jobs", 2)
    # Two workers, and the tracker of resources of Python's multiprocessing.
    wait_until(lambda: len(find_children(process.pid)) >= 3, process)
    time.sleep(1)
    children = find_children(process.pid)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()  # until the workers have closed standard error, too
    wait_until(lambda: not any(map(is_alive, children)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)],
    ids=["INT", "TERM", "HUP"],
)
def test_an_interrupt_leaves_the_table_of_the_finished_runs(
    uninterrupted: Rows,
    tmp_path: Path,
    sweep: Sweep,
    read_rows: ReadRows,
    count_finished: Count,
    number: int,
    code: int,
) -> None:
    out = tmp_path / "interrupted"
    process = start(tmp_path, "slide.yaml", "--out", out, "--jobs", 2)
    wait_until(lambda: count_finished(out) >= 3, process)
    if number != signal.SIGTERM:
        os.killpg(process.pid, number)  # a terminal sends it to all processes
    else:
        os.kill(process.pid, number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == code, err
    finished = count_finished(out)
    message = f"interrupted; {24 - finished} runs are left, and the same command goes on with them"
    assert err == f"error: {message}\n"
    assert len(read_rows(out)) == finished
    assert sweep("slide.yaml", "--out", out).returncode == 0
    assert read_rows(out) == uninterrupted


@pytest.mark.slow
def test_a_second_sweep_runs_nothing(make_config: MakeConfig, tmp_path: Path) -> None:
    path = make_config(CONFIG.replace("2s", "10ms"))
    config = read_config(path)
    plan = make_plan(config)
    first = run_sweep(config, plan, tmp_path / "out", num_jobs=2)
    assert (first.num_units, first.num_reused, first.num_stale) == (24, 0, 0)
    second = run_sweep(config, plan, tmp_path / "out")
    assert second.num_reused == 24
    assert second.rows == first.rows, "with all times"


@pytest.mark.slow
def test_stale_results_are_not_used(
    make_config: MakeConfig, tmp_path: Path, sweep: Sweep, read_rows: ReadRows
) -> None:
    text = "scenes: slide.xml\ncontact_models: [sap, lagged]\nduration: {}ms\n"
    make_config(text.format(10))
    assert sweep("slide.yaml").returncode == 0
    first = read_rows(tmp_path / "out" / "sweep_slide")
    make_config(text.format(20))
    result = sweep("slide.yaml", "--json")
    assert result.returncode == 0
    assert "warning: 2 results in out/sweep_slide are not used" in result.stderr
    figures = json.loads(result.stdout)
    assert (figures["num_reused"], figures["num_stale"], len(figures["rows"])) == (0, 2, 2)
    make_config(text.format(10))  # the first configuration again, whose results are still there
    figures = json.loads(sweep("slide.yaml", "--json").stdout)
    assert (figures["num_reused"], figures["num_stale"]) == (2, 2)
    assert read_rows(tmp_path / "out" / "sweep_slide") == first


@pytest.mark.slow
def test_more_values_run_only_the_new_units(make_config: MakeConfig, sweep: Sweep) -> None:
    text = "scenes: slide.xml\ncontact_models: {}\nduration: 10ms\n"
    make_config(text.format("sap"))
    sweep("slide.yaml")
    make_config(text.format("[lagged, sap]"))
    figures = json.loads(sweep("slide.yaml", "--json").stdout)
    assert (figures["num_reused"], figures["num_stale"], figures["num_units"]) == (1, 0, 2)


@pytest.mark.slow
def test_crashed_units_run_again_on_request(make_config: MakeConfig, tmp_path: Path) -> None:
    config = read_config(
        make_config("scenes: slide.xml\ncontact_models: [sap, lagged]\nduration: 10ms")
    )
    plan = make_plan(config)
    with Journal(tmp_path / "out") as journal:
        journal.add(plan.units[0], make_crash("the process ended by SIGKILL"))
    first = run_sweep(config, plan, tmp_path / "out", num_jobs=1)
    assert [row["status"] for row in first.rows] == ["crashed", "ok"]
    second = run_sweep(config, plan, tmp_path / "out", num_jobs=1, retry=True)
    assert second.num_reused == 1
    assert [row["status"] for row in second.rows] == ["ok", "ok"]


# ---- the journal ---------------------------------------------------------------------------------


def test_a_cut_line_is_ignored_and_ended(make_config: MakeConfig, tmp_path: Path) -> None:
    plan = make_plan(read_config(make_config(CONFIG)))
    first, second, third = plan.units[:3]
    with Journal(tmp_path) as journal:
        journal.add(first, {"status": "ok"})
        journal.add(second, {"status": "ok"})
    path = tmp_path / "rows.jsonl"
    whole = path.read_bytes()
    for size in range(2, 200, 7):
        path.write_bytes(whole[:-size])
        assert list(read_journal(tmp_path)) == [first.key]
    with Journal(tmp_path) as journal:
        journal.add(third, {"status": "ok"})
    assert list(read_journal(tmp_path)) == [first.key, third.key]


@pytest.mark.parametrize("text", [b"", b"\n\n", b"\x00\xff\n", b"[]\n", b"{}\n", b'{"key": 1}\n'])
def test_lines_that_are_no_results_are_ignored(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "rows.jsonl").write_bytes(text)
    assert read_journal(tmp_path) == {}


@pytest.mark.slow
def test_a_disk_that_becomes_full_keeps_the_finished_runs(
    uninterrupted: Rows, tmp_path: Path, sweep: Sweep, read_rows: ReadRows, count_finished: Count
) -> None:
    # The shell's limit of 10 kB for any file stands for the full disk. It has room for a few rows.
    line = f"ulimit -f 10; exec {STICTION} sweep slide.yaml --out full --jobs 2"
    result = subprocess.run(
        ["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert result.returncode == 1
    assert "full/rows.jsonl: cannot be written: File too large; make room" in result.stderr
    assert len(result.stderr.splitlines()) == 1
    finished = count_finished(tmp_path / "full")
    assert 0 < finished < 24
    figures = json.loads(sweep("slide.yaml", "--out", "full", "--json").stdout)
    assert figures["num_reused"] == finished
    assert read_rows(tmp_path / "full") == uninterrupted


@pytest.mark.parametrize("name", ["out", "out/deeper"])
def test_a_folder_that_cannot_be_made_is_an_error(
    make_config: MakeConfig, tmp_path: Path, sweep: Sweep, name: str
) -> None:
    make_config("scenes: slide.xml\ncontact_models: sap\nduration: 10ms\n")
    (tmp_path / "out").write_text("a file")
    result = sweep("slide.yaml", "--out", name)
    assert result.returncode in (1, 2)
    assert "Traceback" not in result.stderr
    assert "out" in result.stderr


def test_a_table_that_cannot_be_written_keeps_the_journal(
    make_config: MakeConfig, tmp_path: Path, count_finished: Count
) -> None:
    config = read_config(make_config("scenes: slide.xml\ncontact_models: sap\nduration: 10ms\n"))
    (tmp_path / "out" / "sweep.parquet" / "a").mkdir(parents=True)
    with pytest.raises(
        stiction.Error, match="sweep.parquet: cannot be written.*kept in the journal"
    ):
        run_sweep(config, make_plan(config), tmp_path / "out", num_jobs=1)
    assert count_finished(tmp_path / "out") == 1
