"""The command `stiction sweep`: output, table and plot."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from stiction.sweep import make_plan, read_config, run_sweep
from stiction.sweep.plots import _find_middle, _Summary, draw_summary
from stiction.sweep.table import INPUTS, RESULTS, make_empty_results, write_table

MakeConfig = Callable[..., Path]
Sweep = Callable[..., "subprocess.CompletedProcess[str]"]

SMALL = "scenes: slide.xml\ncontact_models: [sap, mujoco]\ntime_steps: [2ms, 1ms]\nduration: 20ms\n"


def test_the_command_prints_a_table_and_writes_files(
    make_config: MakeConfig, sweep: Sweep, tmp_path: Path
) -> None:
    make_config(SMALL)
    result = sweep("slide.yaml")
    assert (result.returncode, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[0].strip() == "4 of 4 runs, 0 from before; medians"
    rows = [line.split() for line in lines[3:7]]
    assert [row[:4] for row in rows] == [
        ["slide.xml", model, step, "1"] for model in ("sap", "mujoco") for step in ("2", "1")
    ]
    assert all(float(row[-1]) > 0 for row in rows)
    out = tmp_path / "out" / "sweep_slide"
    assert lines[7] == "table: out/sweep_slide/sweep.parquet, plot: out/sweep_slide/sweep.png"
    assert {path.name for path in out.iterdir()} == {
        "rows.jsonl",
        "sweep.lock",
        "sweep.parquet",
        "sweep.png",
    }
    assert (out / "sweep.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_json_has_all_rows(make_config: MakeConfig, sweep: Sweep) -> None:
    make_config(SMALL)
    figures = json.loads(sweep("slide.yaml", "--json", "--out", "o", "--jobs", 1).stdout)
    assert figures["num_units"] == len(figures["rows"]) == 4
    assert figures["table"] == "o/sweep.parquet"
    for row in figures["rows"]:
        assert list(row) == [column.name for column in (*INPUTS, *RESULTS)]
        assert row["cpu_us_per_step"] > 0
        assert row["cpu_time"] == pytest.approx(1e-6 * row["cpu_us_per_step"] * row["num_steps"])


@pytest.mark.slow
def test_a_dry_run_lists_the_units_and_runs_nothing(
    make_config: MakeConfig, sweep: Sweep, tmp_path: Path
) -> None:
    make_config(SMALL + "grid: {friction_directions: [4, 8]}\n")
    result = sweep("slide.yaml", "--dry-run")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines()[-1] == (
        "4 units, 4 to run; 4 other combinations are the same runs"
    )
    assert not (tmp_path / "out").exists()
    make_config(SMALL)
    sweep("slide.yaml")
    make_config(SMALL.replace("[2ms", "[3ms, 2ms"))
    units = json.loads(sweep("slide.yaml", "--dry-run", "--json").stdout)["units"]
    assert [unit["finished"] for unit in units] == [False, True, True, False, True, True]
    assert len({unit["key"] for unit in units}) == 6


@pytest.mark.slow
def test_failed_runs_are_listed_and_give_exit_code_1(make_config: MakeConfig, sweep: Sweep) -> None:
    # No model of compliant contact has the integrator.
    steps = ", ".join(f"{i}ms" for i in range(1, 7))
    make_config(SMALL.replace("[2ms, 1ms]", f"[{steps}]") + "grid: {integrator: [euler, rk4]}\n")
    result = sweep("slide.yaml")
    assert result.returncode == 1
    lines = result.stderr.splitlines()
    assert lines[0].startswith(
        "error: slide.xml, sap, 0.001 s, integrator=rk4: refused: integrator: is 'rk4', which needs"
    )
    assert lines[-1] == "error: 12 of 24 runs failed (12 refused); see the table"
    assert len(lines) == 11


@pytest.mark.slow
def test_bad_usage_has_exit_code_2_and_a_fault_one_line(
    make_config: MakeConfig, sweep: Sweep
) -> None:
    make_config(SMALL + "jobs: 3\n")
    assert sweep("slide.yaml", "--jobs", "0").returncode == 2
    assert sweep().returncode == 2
    result = sweep("slide.yaml")
    assert result.returncode == 2
    assert re.fullmatch(r"error: slide.yaml:5: there is no key 'jobs' \(.*\)\n", result.stderr)
    result = sweep("slide.yaml", "--json")
    assert json.loads(result.stdout)["error"]["where"] == "slide.yaml:5"


@pytest.mark.parametrize(
    ("package", "arguments", "extra"), [("pyarrow", (), "sweep"), ("ray", ("--ray",), "ray")]
)
def test_a_missing_package_is_told_before_anything_runs(
    make_config: MakeConfig, tmp_path: Path, package: str, arguments: tuple[str, ...], extra: str
) -> None:
    make_config(SMALL)
    code = f"import sys; sys.modules['{package}'] = None; from stiction.cli import main; main()"
    result = subprocess.run(
        [sys.executable, "-c", code, "sweep", "slide.yaml", *arguments],
        cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert result.returncode == 1
    assert len(result.stderr.splitlines()) == 1
    assert f"run: pip install 'stiction[{extra}]'" in result.stderr
    assert not list(tmp_path.glob("out/*/sweep.parquet"))


@pytest.mark.slow
def test_progress_is_shown_on_a_terminal(make_config: MakeConfig, tmp_path: Path) -> None:
    make_config(SMALL)
    master, slave = os.openpty()
    process = subprocess.Popen(
        [Path(sys.executable).parent / "stiction", "sweep", "slide.yaml"],
        cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=slave,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
    )  # fmt: skip
    os.close(slave)
    terminal = b""
    try:
        while chunk := os.read(master, 4096):
            terminal += chunk
    except OSError:  # the process has closed its end
        pass
    assert process.wait(timeout=60) == 0
    assert b"of 4 runs" in re.sub(rb"\x1b\[[\d;?]*[a-zA-Z]", b"", terminal)
    assert terminal.rfind(b"\x1b[?25h") >= terminal.rfind(b"\x1b[?25l"), "the cursor stays hidden"


# ---- the table -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_table_has_types_units_and_the_configuration(
    make_config: MakeConfig, tmp_path: Path
) -> None:
    pq = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    text = (
        SMALL
        + "grid:\n  geom.*.friction: [1, [0.5, 0.1]]\n  tolerance: 1e-6\n  gap_correction: 0.1\n"
    )
    config = read_config(make_config(text))
    sweep = run_sweep(config, make_plan(config), tmp_path / "out", num_jobs=2)
    table = pq.read_table(sweep.table)
    parameters = ["geom.*.friction", "tolerance", "gap_correction"]
    names = [column.name for column in INPUTS]
    assert table.column_names == names + parameters + [column.name for column in RESULTS]
    assert table.schema.field("error_bound").metadata[b"unit"] == b"sqrt(J)"
    assert table.schema.metadata[b"configuration"].decode() == text
    assert b"stiction_version" in table.schema.metadata
    assert set(table["geom.*.friction"].to_pylist()) == {"1", "[0.5, 0.1]"}
    assert set(table["tolerance"].to_pylist()) == {1e-6}
    assert set(map(str, table["gap_correction"].to_pylist())) <= {"0.1", "None"}
    for row, written in zip(sweep.rows, table.to_pylist(), strict=True):
        assert dict(written["drifts"]) == row["drifts"]
        assert written["state_digest"] == row["state_digest"]
        assert written["num_steps"] == row["num_steps"]


def test_a_table_without_rows_has_all_columns(tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    table = pq.read_table(write_table([], ["tolerance"], {}, tmp_path))
    assert table.num_rows == 0
    assert len(table.column_names) == len(INPUTS) + 1 + len(RESULTS)


# ---- the plot ------------------------------------------------------------------------------------


def make_row(**values: object) -> dict[str, object]:
    inputs = {"scene": "a.xml", "contact_model": "sap", "time_step": 1e-3}
    run = {"status": "ok", "num_steps": 10, "simulated_time": 1e-2, "cpu_time": 1e-4}
    return {**inputs, **make_empty_results(), **run, **values}


def test_the_plot_has_a_line_for_each_model_and_parameter() -> None:
    rows = [
        make_row(contact_model=model, time_step=step, drift=1e-6 * step, tolerance=tolerance)
        for model in ("sap", "lagged")
        for step in (1e-3, 2e-3)
        for tolerance in (1e-3, 1e-6)
    ]
    figure = _Summary(rows, ["tolerance"]).draw(["a.xml"])
    left, right = figure.axes
    assert left.get_ylabel() == "largest drift of a body [µm]"
    lines = [line for line in left.lines if len(line.get_xdata()) == 2]
    assert len(lines) == 4
    for line in lines:
        assert list(line.get_xdata()) == pytest.approx([10, 10])  # 1e-4 s for 1e-2 s, in ms
        assert list(line.get_ydata()) == pytest.approx([1e-3, 2e-3])  # um
    assert right.get_title("right") == "no bound: sap, lagged"
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == [
        "sap", "lagged", "1 ms", "2 ms", "tolerance 0.001", "tolerance 1e-06",
    ]  # fmt: skip


def test_many_parameters_share_the_line_of_their_medians() -> None:
    rows = [make_row(drift=d, a=i) for i, d in enumerate((1e-6, 1e-5, 1e-4, 1e-3, 1e-2))]
    left, _ = _Summary(rows, ["a"]).draw(["a.xml"]).axes
    sizes = sorted(len(line.get_xdata()) for line in left.lines)
    assert sizes == [1, 1, 5]  # the median, its line, and all runs
    assert _find_middle([(1, 1), (100, 10000)]) == (pytest.approx(10), pytest.approx(100))


@pytest.mark.slow
def test_the_plot_shows_creep_where_a_body_is_held(tmp_path: Path) -> None:
    rows = [
        make_row(scene="held.xml", creep=-1e-6, velocity_bound=1e-6),
        make_row(scene="held.xml", contact_model="viscous", dropped=True, drift=1.0),
        make_row(scene="free.xml", drift=0.0, velocity_bound=1e-6, cpu_time=1.0),
        make_row(
            scene="free.xml", drift=1e-3, velocity_bound=0.0, time_step=2e-3, status="not_converged"
        ),
        make_row(scene="refused.xml", num_steps=0, status="refused"),
    ]
    figure = _Summary(rows, []).draw(["held.xml", "free.xml"])
    held, _, free, bound = figure.axes
    assert held.get_ylabel() == "creep of the held body [µm/s]"
    assert held.get_title("left") == "held.xml: 2 runs, 1 dropped"
    assert held.get_title("right") == "no creep: viscous"
    assert free.get_title("left") == "free.xml: 2 runs, 1 failed"
    points = [line for line in bound.lines if line.get_marker() in ("o", "s")]
    assert min(line.get_ydata()[0] for line in points) == pytest.approx(1e-6), (
        "zero is drawn at the floor"
    )
    assert any(text.get_text() == "real time" for text in free.texts)
    assert draw_summary(rows, [], tmp_path / "a.png") == tmp_path / "a.png"
    assert draw_summary(rows[-1:], [], tmp_path / "b.png") is None
