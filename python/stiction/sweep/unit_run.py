"""The run of one unit: a function of plain data, the same in a process of a pool and on Ray."""

from __future__ import annotations

import functools
import math
import platform
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

import stiction._core as core
from stiction import StepReport
from stiction.errors import Error, IgnoredSettingWarning, StepError, StepWarning
from stiction.recording import format as fmt
from stiction.recording.writer import describe_environment
from stiction.runs.controls import ControlsName
from stiction.runs.held_body import Hold, find_held_body, find_hold_start, find_judged_start
from stiction.runs.run import Run, RunSettings, Step
from stiction.runs.run_summary import RunSummary, calc_energy
from stiction.scene import Scene
from stiction.setup.defaults import builtin_defaults
from stiction.setup.properties import make_properties
from stiction.simulator import Simulator
from stiction.sweep.parameters import change_model
from stiction.sweep.table import Row, make_empty_results


@functools.cache
def describe_software() -> dict[str, str]:
    """Returns the versions and the platform that results depend on, by name."""
    build = fmt.hash_bytes(Path(core.__file__).read_bytes()).hex()
    return {**describe_environment(), "build": build}


def run_unit(unit: Mapping[str, Any], model: bytes) -> Row:
    """Runs a unit of plain data and a model of mj_saveModel. Error: this process has other software."""
    _check_software(unit["software"])
    results = make_empty_results() | {"host": platform.node()}
    with builtin_defaults(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # The row counts the warnings of steps. Not every model uses all of the sweep's settings.
        warnings.simplefilter("ignore", StepWarning)
        warnings.simplefilter("ignore", IgnoredSettingWarning)
        results |= _run_to_end(unit, model)
    results["notes"] = list(dict.fromkeys(str(warning.message) for warning in caught))
    return results


def _run_to_end(unit: Mapping[str, Any], model: bytes) -> Row:
    run: UnitRun | None = None
    fault: Row = {}
    try:
        run = UnitRun(unit, _load_scene(unit, model))
        run.step()
    except (MemoryError, mujoco.FatalError) as e:
        fault = {"status": "error", "message": f"out of memory, or a fault of MuJoCo: {e}"}
    except (Error, ValueError) as e:
        fault = {"status": "error" if run else "refused", "message": str(e)}
    return (run.finish() if run else {"num_steps": 0}) | fault


def _check_software(planned: Mapping[str, str]) -> None:
    here = describe_software()
    for name in ("stiction_version", "mujoco_version", "architecture", "build"):
        if here[name] != planned[name]:
            raise Error(
                "version",
                platform.node(),
                f"has {name.replace('_', ' ')} {here[name]}, but the sweep was planned with "
                f"{planned[name]}; install the same wheel of stiction and the same MuJoCo everywhere",
            )


def _load_scene(unit: Mapping[str, Any], model: bytes) -> Scene:
    loaded = mujoco.MjModel.from_binary_path("model.mjb", {"model.mjb": model})
    for name, value in unit["changes"].items():
        change_model(loaded, name, value)
    return Scene(Path(unit["scene"]), loaded, make_properties(unit["properties"]))


class UnitRun:
    """Steps the scene of a unit, and measures what the row needs."""

    def __init__(self, unit: Mapping[str, Any], scene: Scene) -> None:
        settings = RunSettings(
            scene,
            unit["contact_model"],
            unit["time_step"],
            controls=ControlsName(unit["controls"]),
            seed=unit["seed"],
            options=unit["options"],
        )
        self._model = scene.model
        self._simulator = settings.make_simulator()
        self._drive = settings.make_controls()
        self._data = scene.make_data()
        # The sweep varies on_failure. The observer ends the run at a step that was not made.
        self._run = Run(
            self._simulator, self._data, unit["num_steps"], self._begin_step, goes_on=True
        )
        start = float(self._data.time)
        held = find_held_body(scene)
        hold_start = find_hold_start(scene, settings.find_controls())
        end = start + unit["num_steps"] * unit["time_step"]
        self._judged_start = find_judged_start(start, end, held, hold_start)
        self._held = held
        self._hold = Hold(held, hold_start) if held else None
        self._bodies = {
            name: mujoco.mj_name2id(self._model, _BODY, name) for name in unit["bodies"]
        }
        self._centers: np.ndarray | None = None  # at the start of the judged steps
        self._measures = _Measures(self._simulator)
        self._start_energy = self._calc_energy()

    def step(self) -> None:
        """Steps until the end or a failed step."""
        try:
            self._run.to_end(self._add)
        except StepError as e:
            self._measures.add(e.report, 0)

    def _begin_step(self, data: mujoco.MjData) -> None:
        if self._centers is None and data.time >= self._judged_start - 1e-9:
            self._centers = self._find_centers()
        self._drive(data)

    def _add(self, step: Step) -> bool:
        """Adds a step. Returns True if it was not made."""
        self._measures.add(step.report, step.cpu_ns)
        if step.report.num_steps == 0:
            return True
        if self._hold:
            self._hold.follow(step)
        return False

    def finish(self) -> Row:
        """Returns the results of the steps made."""
        measures = self._measures
        energy = self._calc_energy()
        state = fmt.get_state(self._model, self._data)
        return {
            **measures.figures(),
            "potential_energy_start": self._start_energy["potential"],
            "kinetic_energy_start": self._start_energy["kinetic"],
            "potential_energy_end": energy["potential"],
            "kinetic_energy_end": energy["kinetic"],
            **self._judge_hold(),
            **self._judge_drift(),
            "state_digest": fmt.hash_bytes(state.tobytes()).hex(),
        }

    def _calc_energy(self) -> dict[str, float]:
        return calc_energy(self._model, fmt.get_state(self._model, self._data))

    def _find_centers(self) -> np.ndarray:
        """Returns centers of mass at present, (n, 3) [m]; those in the data are older."""
        data = mujoco.MjData(self._model)
        data.qpos[:] = self._data.qpos
        data.mocap_pos[:], data.mocap_quat[:] = self._data.mocap_pos, self._data.mocap_quat
        mujoco.mj_kinematics(self._model, data)
        centers: np.ndarray = data.xipos[list(self._bodies.values())].copy()
        return centers

    def _judge_hold(self) -> Row:
        if self._hold is None or self._held is None:
            return {}
        found: Row = {"held": self._held.name, "dropped": self._hold.dropped_at is not None}
        if self._hold.report is None:
            return found
        found["slip"] = float(self._hold.find_judged(-math.inf)[1][-1])
        creep = self._hold.calc_creep(self._judged_start)
        return found if creep is None else {**found, "creep": creep}

    def _judge_drift(self) -> Row:
        if self._centers is None or not self._bodies:
            return {}
        moved = np.linalg.norm(self._find_centers() - self._centers, axis=1)
        if not np.isfinite(moved).all():
            return {}
        drifts = dict(zip(self._bodies, moved.tolist(), strict=True))
        worst = max(drifts, key=drifts.__getitem__)
        return {"drift": drifts[worst], "drift_body": worst, "drifts": drifts}


_BODY = mujoco.mjtObj.mjOBJ_BODY


class _Measures:
    """Totals of the reports of a run's steps."""

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator
        self._summary = RunSummary(simulator.contact_model, simulator.time_step)
        self._is_certified = not core.contact_model_traits(simulator.contact_model).is_mj_step
        self._status, self._message = "ok", ""
        self._cpu_ns = 0
        self._momentum_error = self._relative_residual = 0.0
        self._penetration = self._last_penetration = 0.0

    def add(self, report: StepReport, cpu_ns: int) -> None:
        """Adds a step that took this CPU time [ns]. The first fault of a step stays the status."""
        self._summary.add(report)
        if report.status_bits and self._status == "ok":
            self._status, self._message = report.status, report.message
        if report.num_steps == 0:
            return
        self._cpu_ns += cpu_ns
        self._momentum_error = max(self._momentum_error, report.momentum_error)
        residual = report.certificate.relative_residual
        self._relative_residual = max(self._relative_residual, residual)
        distance = report.contacts.distance
        self._last_penetration = max(0.0, -float(distance.min())) if len(distance) else 0.0
        self._penetration = max(self._penetration, self._last_penetration)

    def figures(self) -> Row:
        """The figures by name; None is unknown."""
        figures = self._summary.figures()
        num_steps = figures["num_steps"]
        counts = self._simulator.warning_counts
        found = {
            name: figures[name]
            for name in (
                *("num_steps", "simulated_time", "wall_time"),
                *("error_bound", "velocity_bound", "coupling_error"),
            )
        }
        return {
            **found,
            "status": self._status,
            "message": self._message,
            "cpu_time": self._cpu_ns * 1e-9,
            "cpu_us_per_step": self._cpu_ns * 1e-3 / num_steps if num_steps else None,
            "us_per_step": figures["us_per_step"]["median"],
            "min_us_per_step": figures["us_per_step"]["min"],
            "iterations": figures["iterations"]["mean"],
            "peak_iterations": figures["iterations"]["max"],
            "contacts": figures["contacts"]["mean"],
            "peak_contacts": figures["contacts"]["max"],
            "substeps": figures["parts"],
            "momentum_error": self._report(self._momentum_error),
            "relative_residual": self._report(self._relative_residual),
            "penetration": self._penetration if num_steps else None,
            "final_penetration": self._last_penetration if num_steps else None,
            "num_warnings": sum(counts.values()),
            "warnings": dict(sorted(counts.items())),
        }

    def _report(self, value: float) -> float | None:
        known = self._is_certified and self._summary.num_steps and math.isfinite(value)
        return value if known else None
