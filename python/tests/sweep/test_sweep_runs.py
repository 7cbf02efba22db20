"""Runs of units: what a row says, and that it says the same wherever the unit ran."""

from __future__ import annotations

import dataclasses
import json
import math
import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

import stiction
from stiction.compare import compare_models
from stiction.inputs.package_scenes import find_scene_file
from stiction.recording import format as fmt
from stiction.scene import load_scene
from stiction.sweep import Plan, SweepConfig, Unit, make_plan, read_config
from stiction.sweep.pool import run_in_processes
from stiction.sweep.table import RESULTS, Row, select_repeatable
from stiction.sweep.unit_run import run_unit

MakeConfig = Callable[..., Path]
PlanSweep = Callable[..., tuple[SweepConfig, Plan]]
STICTION = Path(sys.executable).parent / "stiction"
HEAD = "scenes: slide.xml\ncontact_models: sap\nduration: 0.1s\n"


def run_serially(plan: Plan) -> list[Row]:
    return [run_unit(dataclasses.asdict(u), plan.models[u.model_digest]) for u in plan.units]


def run_in_pool(plan: Plan, num_jobs: int) -> list[Row]:
    found = {
        finished.unit.key: finished.results
        for finished in run_in_processes(plan.units, plan.models, num_jobs, lambda: False)
    }
    return [found[unit.key] for unit in plan.units]


def run_one(plan: Plan) -> Row:
    (row,) = run_serially(plan)
    return row


def test_rows_have_the_same_bits_in_any_number_of_processes(plan_sweep: PlanSweep) -> None:
    _, plan = plan_sweep()
    serial = run_serially(plan)
    assert {row["status"] for row in serial} == {"ok"}
    assert len({row["state_digest"] for row in serial}) == len(serial)
    for num_jobs in (1, 3):
        pooled = run_in_pool(plan, num_jobs)
        assert [select_repeatable(row) for row in pooled] == [
            select_repeatable(row) for row in serial
        ]


def test_a_unit_and_its_row_are_plain_data(plan_sweep: PlanSweep) -> None:
    _, plan = plan_sweep()
    unit = dataclasses.asdict(plan.units[0])
    assert json.loads(json.dumps(unit)) == unit
    row = run_unit(json.loads(json.dumps(unit)), plan.models[unit["model_digest"]])
    assert json.loads(json.dumps(row)) == row
    assert list(row) == [column.name for column in RESULTS]


def test_a_row_agrees_with_stiction_run(make_config: MakeConfig, tmp_path: Path) -> None:
    config = make_config(
        "scenes: slide.xml\ncontact_models: coulomb\nduration: 0.3s\ncontrols: random\nseeds: 5\n"
        "time_steps: 1ms\ngrid: {tolerance: 1e-7}\n"
    )
    row = run_one(make_plan(read_config(config)))
    arguments = ("slide.xml", "--json", "--contact-model", "coulomb", "--duration", "0.3s",
                 "--controls", "random", "--seed", "5", "--time-step", "1ms",
                 "--tolerance", "1e-7")  # fmt: skip
    result = subprocess.run(
        [STICTION, "run", *arguments], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    figures = json.loads(result.stdout)
    assert row["num_steps"] == figures["num_steps"] == 300
    assert row["state_digest"] == figures["state_digest"]
    assert row["error_bound"] == figures["error_bound"] > 0
    assert row["velocity_bound"] == figures["velocity_bound"]
    assert row["coupling_error"] == figures["coupling_error"]
    assert row["iterations"] == figures["iterations"]["mean"]
    assert row["peak_contacts"] == figures["contacts"]["max"]
    for when in ("start", "end"):
        for kind in ("potential", "kinetic"):
            assert row[f"{kind}_energy_{when}"] == figures["energy"][when][kind]


@pytest.mark.slow
def test_a_row_agrees_with_stiction_compare(tmp_path: Path) -> None:
    path = tmp_path / "pinch.yaml"
    path.write_text("scenes: pinch\ncontact_models: [lagged, viscous, mujoco]\nduration: 2.2s\n")
    rows = run_serially(make_plan(read_config(path)))
    comparison = compare_models(
        load_scene(find_scene_file("pinch")), ["lagged", "viscous", "mujoco"], duration=2.2
    )
    for row, other in zip(rows, comparison.rows, strict=False):
        assert row["creep"] == other.creep_measured
        assert row["dropped"] == other.dropped
        assert row["error_bound"] == other.error_bound
        assert row["held"] == "cube"
    lagged, viscous, mujoco_row = rows
    assert viscous["dropped"] and viscous["slip"] is None and viscous["creep"] is None
    assert lagged["slip"] == pytest.approx(0.4 * lagged["creep"], rel=0.5)
    assert mujoco_row["velocity_bound"] is mujoco_row["momentum_error"] is None


def test_the_drift_of_a_sliding_body_is_its_path(plan_sweep: PlanSweep) -> None:
    # Friction 0.5 stops the slider after v / (mu g) = 0.204 s, and the path left at a time t before
    # that is mu g t^2 / 2. The judged steps are the second half of 0.2 s.
    text = HEAD.replace("0.1s", "0.2s").replace("sap", "rigid_coulomb")
    _, plan = plan_sweep(text + "time_steps: 0.1ms\ngrid: {geom.*.friction: 0.5}\n")
    row = run_one(plan)
    stop = 1 / (0.5 * 9.81)
    path = 0.25 * 9.81 * ((stop - 0.1) ** 2 - (stop - 0.2) ** 2)
    assert row["drifts"]["slider"] == pytest.approx(path, rel=0.002)  # first order in the time step
    assert set(row["drifts"]) == {"slider", "ball"}
    assert row["drift_body"] == "slider"
    assert row["drift"] == row["drifts"]["slider"]


def test_parameters_of_the_model_reach_the_step(plan_sweep: PlanSweep) -> None:
    grid = (
        "grid:\n  opt.gravity: [[0, 0, -1]]\n  body.slider.mass: 3\n  geom.box.friction: 0.2\n"
        "  geom.box.condim: 4\n  opt.impratio: 7\n"
    )
    config, plan = plan_sweep(HEAD + grid)
    row = run_one(plan)
    model = load_scene(config.scenes[0].path).model
    model.opt.gravity[:] = 0, 0, -1
    model.body("slider").mass[0] = 3
    model.geom("box").friction[0] = 0.2
    model.geom("box").condim[0] = 4
    model.opt.impratio = 7
    mujoco.mj_setConst(model, mujoco.MjData(model))
    assert row["state_digest"] == step_directly(model, 50)


def test_properties_of_materials_reach_the_step(plan_sweep: PlanSweep) -> None:
    base = {"materials": {"rubber": {"friction": 0.8, "stiffness": 1e5}}, "geoms": {"*": "rubber"}}
    text = f"properties: {json.dumps(base)}\ngrid: {{materials.rubber.stiffness: [1e5, .inf]}}\n"
    config, plan = plan_sweep(HEAD + text)
    rows = run_serially(plan)
    for row, stiffness in zip(rows, (1e5, math.inf), strict=True):
        model = load_scene(config.scenes[0].path).model
        base["materials"]["rubber"]["stiffness"] = ".inf" if math.isinf(stiffness) else stiffness
        assert row["state_digest"] == step_directly(model, 50, base)
    assert rows[0]["state_digest"] != rows[1]["state_digest"]


def step_directly(model: mujoco.MjModel, num_steps: int, properties: Any = None) -> str:
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    simulator = stiction.Simulator(model, "sap", properties=properties)
    simulator.step(data, num_steps)
    return fmt.hash_bytes(fmt.get_state(model, data).tobytes()).hex()


def test_chosen_defaults_change_no_row(plan_sweep: PlanSweep) -> None:
    _, plan = plan_sweep(HEAD)
    first = run_one(plan)
    with stiction.set_default(tolerance=1e-12, gap_correction=0.9):
        assert select_repeatable(run_one(plan)) == select_repeatable(first)


def test_options_that_do_not_fit_together_give_a_row(plan_sweep: PlanSweep) -> None:
    _, plan = plan_sweep(HEAD + "grid: {integrator: [euler, rk4]}\n")
    fine, refused = run_serially(plan)
    assert fine["status"] == "ok"
    assert refused["status"] == "refused"
    assert "'rk4', which needs forces that are smooth between impacts" in refused["message"]
    assert refused["num_steps"] == 0


def test_a_failed_step_is_a_row_with_the_steps_before(
    make_config: MakeConfig, tmp_path: Path
) -> None:
    # One iteration is enough for the slider alone, but not for the first touch of the ball, which
    # falls for 0.06 s.
    config = make_config(HEAD + "grid: {max_iterations: 1, tolerance: 1e-12}\n")
    scene = tmp_path / "slide.xml"
    scene.write_text(scene.read_text().replace("0 1 .05 1 0 0 0", "0 1 .07 1 0 0 0"))
    row = run_one(make_plan(read_config(config)))
    assert row["status"] == "not_converged"
    assert "max_iterations" in row["message"]
    assert 0 < row["num_steps"] < 50


@pytest.mark.parametrize("method", ["step", "__init__"])
def test_a_lack_of_memory_is_a_row(
    plan_sweep: PlanSweep, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise MemoryError("no room")

    _, plan = plan_sweep(HEAD)
    monkeypatch.setattr(stiction.Simulator, method, fail)
    row = run_one(plan)
    assert row["status"] == "error"
    assert row["message"] == "out of memory, or a fault of MuJoCo: no room"
    assert row["num_steps"] == 0


def test_warnings_are_counted_by_kind(plan_sweep: PlanSweep) -> None:
    _, plan = plan_sweep(
        HEAD + "grid: {body.slider.pos: [[0, 0, 0.049]], opt.gravity: [[0, 0, -1e5]]}"
    )
    row = run_one(plan)
    assert row["num_warnings"] == sum(row["warnings"].values())
    assert row["num_warnings"] > 0


# ---- processes -----------------------------------------------------------------------------------


def kill_once(number: int) -> Callable[[], bool]:
    """Returns a function that sends a signal to one process of the pool, the first time."""
    killed: list[int] = []

    def kill() -> bool:
        children = [child for child in multiprocessing.active_children() if child.pid]
        if not killed and children and kill.count > 10:  # type: ignore[attr-defined]
            killed.append(children[0].pid)
            os.kill(children[0].pid, number)
        kill.count += 1  # type: ignore[attr-defined]
        return False

    kill.count = 0  # type: ignore[attr-defined]
    return kill


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_a_dead_process_costs_its_unit_and_is_replaced(
    plan_sweep: PlanSweep, number: signal.Signals
) -> None:
    # The first unit would run for hours, so the signal comes while it runs.
    _, plan = plan_sweep("scenes: slide.xml\ncontact_models: [sap, lagged]\nduration: 0.1s\n")
    first = dataclasses.replace(plan.units[0], num_steps=10**10)
    units = [first, plan.units[1]]
    found = {
        finished.unit.key: finished.results
        for finished in run_in_processes(units, plan.models, 1, kill_once(number))
    }
    crashed, fine = (found[unit.key] for unit in units)
    assert crashed["status"] == "crashed"
    assert f"the process ended by {number.name}; if memory ran out" in crashed["message"]
    assert fine["status"] == "ok"
    assert not multiprocessing.active_children()


def test_an_interrupt_ends_the_processes(plan_sweep: PlanSweep) -> None:
    _, plan = plan_sweep(HEAD)
    endless = [dataclasses.replace(plan.units[0], num_steps=10**10)]
    calls = iter([False] * 8)
    assert list(run_in_processes(endless, plan.models, 2, lambda: next(calls, True))) == []
    assert not multiprocessing.active_children()


def test_no_more_processes_than_units(plan_sweep: PlanSweep) -> None:
    _, plan = plan_sweep(HEAD)
    most = 0

    def count() -> bool:
        nonlocal most
        most = max(most, len(multiprocessing.active_children()))
        return False

    assert len(list(run_in_processes(plan.units, plan.models, 8, count))) == 1
    assert most == 1


def test_other_software_in_a_process_ends_the_sweep(plan_sweep: PlanSweep) -> None:
    _, plan = plan_sweep(HEAD)
    software = {**plan.units[0].software, "mujoco_version": "4.0.99"}
    units: list[Unit] = [dataclasses.replace(plan.units[0], software=software)]
    with pytest.raises(stiction.Error, match="planned with 4.0.99; install the same wheel"):
        list(run_in_processes(units, plan.models, 1, lambda: False))
    assert not multiprocessing.active_children()


@pytest.mark.slow
def test_a_program_without_a_guard_is_told_so(make_config: MakeConfig, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    body = (
        f"config = read_config('{make_config(HEAD)}')\n"
        "run_sweep(config, make_plan(config), Path('out'), num_jobs=1)\n"
    )
    head = (
        "from pathlib import Path\nfrom stiction.sweep import make_plan, read_config, run_sweep\n"
    )
    program.write_text(head + body)

    def run() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, program], cwd=tmp_path, capture_output=True, text=True, timeout=120
        )  # fmt: skip

    result = run()
    assert result.returncode == 1
    assert "needs `if __name__ == '__main__':`" in result.stderr.splitlines()[-1]
    guarded = body.replace("\n", "\n    ")
    program.write_text(f"{head}if __name__ == '__main__':\n    {guarded}")
    result = run()
    assert (result.returncode, result.stderr) == (0, "")
    assert (tmp_path / "out" / "sweep.parquet").exists()


def test_rows_of_numbers_are_pythons_own(plan_sweep: PlanSweep) -> None:
    row = run_one(plan_sweep(HEAD)[1])
    for value in row.values():
        assert not isinstance(value, np.generic)
