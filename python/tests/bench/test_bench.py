"""Tests `stiction bench`: its output, and that steppers do the same work from the same states."""

from __future__ import annotations

import json
from pathlib import Path

import mujoco
import numpy as np
import pytest
from typer.testing import CliRunner

import stiction
from stiction import Error
from stiction.cli import app
from stiction.evidence.bench.batches import run_batch
from stiction.evidence.bench.patch_queries import KINDS, make_pairs, summarize
from stiction.evidence.bench.piles import run_clutter, run_sleeping
from stiction.evidence.bench.programs import run_lcp, run_rigid
from stiction.evidence.bench.scenes import run_scene
from stiction.evidence.bench.timing import Runner, time_in_turns
from stiction.evidence.experiments.clutter import make_clutter, make_mjcf

PINCH = Path(__file__).parents[3] / "scenes" / "pinch.xml"
CONTRACT = {
    "bodies",
    "contacts",
    "us_per_step",
    "ratio_to_mujoco",
    "ratio_to_drake_sap",
    "iterations",
    "residual",
}


def run_json(*arguments: str) -> dict:
    result = CliRunner().invoke(app, ["bench", *arguments, "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_clutter_prints_all_promised_fields() -> None:
    out = run_json("clutter", "--bodies", "10", "--repeats", "1", "--no-drake")
    (case,) = out["cases"]
    assert case.keys() >= CONTRACT
    assert case["bodies"] == 10
    assert case["start"] == "mj_step"
    assert case["contacts"] > 10
    assert case["ratio_to_drake_sap"] is None
    assert 0 < case["residual"] <= 1.01e-5
    assert 0 < case["stages_us"]["solve"] < case["us_per_step"]
    assert case["ratio_to_mujoco"] == pytest.approx(
        case["us_per_step"] / case["mujoco_us_per_step"]
    )


def test_clutter_starts_from_a_common_state(tmp_path: Path) -> None:
    model = mujoco.MjModel.from_xml_string(make_mjcf(make_clutter(10)))
    data = mujoco.MjData(model)
    data.qpos[2] = 5.0
    np.savez(tmp_path / "state_10_t2.npz", qpos=data.qpos, qvel=data.qvel)
    (case,) = run_clutter([10], num_repeats=1, states=tmp_path, with_drake=False)
    assert case.start == "state_10_t2.npz"

    (tmp_path / "state_10_t2.npz").write_bytes(b"no arrays")
    with pytest.raises(stiction.Error, match="state_10_t2.npz"):
        run_clutter([10], num_repeats=1, states=tmp_path, with_drake=False)


def test_sleeping_times_a_settled_pile() -> None:
    (case,) = run_sleeping([10], num_repeats=1, sleep_tolerances=[2e-2], settle_steps=1500)
    assert case.sleep_tolerance == 2e-2
    assert 0 < case.asleep <= 10 and 0 <= case.mujoco_asleep <= 10
    assert case.ratio_to_mujoco == case.us_per_step / case.mujoco_us_per_step
    assert case.ratio_to_mujoco_sleep == case.us_per_step / case.mujoco_us_per_step_sleep
    assert 0 < case.sleep_bound < 0.1


def test_scenes_times_a_scene_file() -> None:
    case = run_scene(str(PINCH), num_repeats=1)
    assert case.dofs == 9
    assert 0 < case.contacts <= 8
    assert case.ratio_to_mujoco == pytest.approx(case.us_per_step / case.mujoco_us_per_step)
    assert case.residual <= 1.01e-5


def test_batch_times_a_scene_file() -> None:
    case = run_batch(str(PINCH), num_sims=2, num_repeats=1)
    assert case.us_per_step > 0 and case.mujoco_us_per_step > 0
    assert case.speed == case.mujoco_us_per_step / case.us_per_step
    assert case.contacts > 0 and 0 < case.certificate < 1 and case.efficiency > 0


def test_an_unknown_scene_gives_the_list_of_scenes() -> None:
    with pytest.raises(stiction.Error, match=r"humanoid"):
        run_scene("humanoidd", num_repeats=1)


def test_runners_take_turns_and_are_reset() -> None:
    calls: list[str] = []

    def make(name: str) -> Runner:
        return Runner(
            lambda: calls.append(f"{name} reset"), lambda n: calls.append(f"{name} {n}"), 7
        )

    times = time_in_turns({"a": make("a"), "b": make("b")}, 2)
    assert calls == ["a reset", "a 7", "b reset", "b 7"] * 2
    assert times["a"].minimum <= times["a"].median


def test_heap_falls_under_every_stepper() -> None:
    cases = {
        case["stepper"]: case for case in run_json("heap", "-n", "40", "--duration", "0.4")["cases"]
    }
    assert list(cases) == ["coulomb", "mj_step newton", "mj_step cg"]
    ours = cases["coulomb"]
    assert ours["ratio"] == 1
    assert ours["residual"] <= 1.1e-5
    for case in cases.values():
        assert len(case["ms_by_interval"]) == 2
        assert case["contacts"] > 0
        mean = sum(case["ms_by_interval"]) / 2
        assert case["ms_per_step"] == pytest.approx(mean)
        assert case["ratio"] == pytest.approx(ours["ms_per_step"] / case["ms_per_step"])


@pytest.mark.filterwarnings("ignore::stiction.StepWarning")
def test_patches_prints_all_promised_fields() -> None:
    out = run_json("patches", "--repeats", "1", "--no-drake")
    scenes = {case["scene"]: case for case in out["steps"]}
    assert list(scenes) == [
        *(f"gripper {faces}" for faces in (230, 500, 1200, 1800)),
        "spatula tight",
        "spatula loose",
    ]
    for name, case in scenes.items():
        assert case["ratio"] is None
        assert 0 < case["residual"] <= 1.01e-5
        assert case["points"] == case["faces"]
        if name.startswith("gripper"):
            assert case["faces"] == pytest.approx(int(name.split()[1]), rel=0.1)
            assert sum(pair["faces"] for pair in case["pairs"].values()) == case["query_faces"]
    assert {row["kind"] for row in out["queries"]} == set(KINDS)
    for row in out["queries"]:
        low, middle, high = row["us_per_face"]
        assert 0 < low <= middle <= high
    bubbles = ["left_bubble, right_bubble", "left_bubble, handle", "right_bubble, handle"]
    assert [exponent["time"] for exponent in out["exponents"]] == [
        "query",
        "step",
        *(f"query of {pair}" for pair in bubbles),
    ]


def test_pairs_overlap_by_the_depth() -> None:
    pairs = [pair for pair in make_pairs() if pair.kind == "half space"]
    assert len(pairs) == 20
    for pair in pairs:
        depth = -mujoco.mj_geomDistance(pair.model, pair.data, 0, 1, 1.0, None)
        wanted = 1e-3 * float(pair.name.split()[-2])
        assert depth == pytest.approx(wanted, rel=1e-6)


def test_no_queries_have_no_summary() -> None:
    assert summarize([]) == []


def write_program(path: Path, out: dict) -> str:
    """Writes a program that prints an object as JSON, and returns its path."""
    path.write_text(f"#!/bin/sh\necho '{json.dumps(out)}'\n")
    path.chmod(0o755)
    return str(path)


def test_lcp_prints_the_programs_results(tmp_path: Path) -> None:
    row = {"variant": "no joint", "median_us": 3, "pivots": 9, "residual": 1e-16, "solved": True}
    rows = [
        {**row, "solver": "ppm_ratio, in factors", "us": 2.0},
        {**row, "solver": "ppm_ratio, dense", "us": 1.0},
        {**row, "solver": "lemke", "us": 20.0},
    ]
    program = write_program(tmp_path / "lcp_bench", {"cases": rows})
    out = run_json("lcp", "--program", program)
    assert [case["ratio"] for case in out["cases"]] == [1, 2, 0.1]
    assert [case["ratio_dense"] for case in out["cases"]] == [0.5, 1, 0.05]


def test_a_missing_lcp_program_gives_the_command_that_builds_it(tmp_path: Path) -> None:
    with pytest.raises(Error, match="--target lcp_bench"):
        run_lcp(tmp_path / "lcp_bench")


def test_rigid_prints_the_programs_results(tmp_path: Path) -> None:
    row = {"scene": "no joint", "contacts": 36, "median_us": 3, "pivots": 9, "solved": True}
    rows = [
        {**row, "model": "no_slip", "us": 20.0},
        {**row, "model": "stewart_trinkle", "us": 800.0},
        {**row, "scene": "box", "model": "no_slip", "us": 2.0},
    ]
    fit = {"exponent": 0.9, "rest_pivots": 0.005, "rest_slip": 1e-13}
    program = write_program(tmp_path / "rigid_bench", {"cases": rows, **fit})
    out = run_json("rigid", "--program", program)
    assert [case["ratio_to_stewart_trinkle"] for case in out["cases"]] == [0.025, 1, None]
    assert {name: out[name] for name in fit} == fit
    result = CliRunner().invoke(app, ["bench", "rigid", "--program", program])
    assert "number of contacts to the power 0.90" in result.stdout


def test_a_missing_rigid_program_gives_the_command_that_builds_it(tmp_path: Path) -> None:
    with pytest.raises(Error, match="--target rigid_bench"):
        run_rigid(tmp_path / "rigid_bench")
