"""The summary of a run: the cost of its steps, and the bounds on their errors."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator
from typing import Any

import mujoco
from rich.table import Table

from stiction._core import AdvanceReport, StepReport, contact_model_traits
from stiction.recording import format as fmt
from stiction.runs.step_costs import StepCosts
from stiction.simulator import Simulator
from stiction.tables.text_table import make_text_table


class _Mean:
    """The mean and maximum of the values added."""

    def __init__(self) -> None:
        self.count, self._sum, self._max = 0, 0, 0

    def add(self, value: int) -> None:
        self.count += 1
        self._sum += value
        self._max = max(self._max, value)

    def figures(self) -> dict[str, float | int | None]:
        if self.count == 0:
            return {"mean": None, "max": None}
        return {"mean": self._sum / self.count, "max": self._max}


class _Advances:
    """The steps of all calls of Simulator.advance."""

    def __init__(self) -> None:
        self._counts = dict.fromkeys(
            ("num_steps", "num_rejected", "num_failed", "num_not_extrapolated", "num_inaccurate"), 0
        )
        self._smallest, self._largest = math.inf, 0.0
        self._sum_of_errors = self._largest_error = 0.0
        self.simulated = 0.0  # [s]

    def add(self, report: AdvanceReport, duration: float) -> None:
        self.simulated += duration
        for name in self._counts:
            self._counts[name] += getattr(report, name)
        self._smallest = min(self._smallest, report.smallest_step)
        self._largest = max(self._largest, report.largest_step)
        self._sum_of_errors += report.sum_of_errors
        self._largest_error = max(self._largest_error, report.largest_error)

    def figures(self) -> dict[str, float | int] | None:
        """The figures by name; None if there was no such call. Lengths are in SI units."""
        if not self._counts["num_steps"]:
            return None
        return {
            **self._counts,
            "smallest_step": self._smallest,
            "largest_step": self._largest,
            "sum_of_errors": self._sum_of_errors,
            "largest_error": self._largest_error,
        }


class RunSummary:
    """Summarizes the reports of the steps of a run. The wall time counts from its construction.

    fallbacks: pairs of geoms that touched in points although one of them has a pressure field.
    """

    def __init__(self, contact_model: str, time_step: float) -> None:
        self.status, self.message = "ok", ""
        self.num_failed = 0
        self.fallbacks: set[tuple[int, int]] = set()
        self._is_certified = not contact_model_traits(contact_model).is_mj_step
        self._time_step = time_step
        self._costs, self._contacts, self._iterations = StepCosts(), _Mean(), _Mean()
        self._patches, self._faces = _Mean(), _Mean()
        self._events = self._halvings = self._parts = 0
        self._error_bound = self._velocity_bound = self._coupling_error = 0.0
        self._warnings: dict[str, int] = {}
        self._advance = _Advances()
        self._begin = self._end = time.perf_counter()

    def add(self, report: StepReport) -> None:
        """Adds the report of one step. A failed step adds only its status and warnings."""
        self._end = time.perf_counter()
        self.status, self.message = report.status, report.message
        if report.num_warnings:
            count = self._warnings.get(report.warning, 0)
            self._warnings[report.warning] = count + report.num_warnings
        if report.num_steps == 0:
            self.num_failed += 1
            return
        if report.advance is not None:
            self._advance.add(report.advance, report.time_step)
        self._costs.add(report.timings.total)
        self._contacts.add(report.statistics.num_contacts)
        self._iterations.add(report.statistics.iterations)
        self._events += report.statistics.num_events
        self._halvings += report.statistics.num_halvings
        self._parts += report.statistics.num_parts
        self._patches.add(len(report.patches))
        self._faces.add(report.patches.num_faces)
        if (fallback := report.contacts.is_fallback).any():
            self.fallbacks.update(map(tuple, report.contacts.geoms[fallback != 0].tolist()))
        self._error_bound = max(self._error_bound, report.certificate.error_bound)
        self._velocity_bound = max(self._velocity_bound, report.certificate.velocity_bound)
        self._coupling_error = max(self._coupling_error, report.certificate.coupling_error)

    @property
    def num_steps(self) -> int:
        """The number of completed steps, or of completed calls of Simulator.advance."""
        return self._contacts.count

    def warnings(self) -> list[str]:
        """MuJoCo's warnings, each with the number of times that it occurred."""
        return [f"{text} ({n} times)" if n > 1 else text for text, n in self._warnings.items()]

    def figures(self) -> dict[str, Any]:
        """The figures by name, fit for JSON. None means unknown. Units are SI, except us_per_step."""
        advance = self._advance.figures()
        simulated = self.num_steps * self._time_step if advance is None else self._advance.simulated
        wall_time = self._end - self._begin
        return {
            "status": self.status,
            "message": self.message,
            "num_steps": self.num_steps,
            "simulated_time": simulated,
            "wall_time": wall_time,
            "real_time_factor": simulated / wall_time if wall_time > 0 else None,
            "us_per_step": self._costs.figures(),
            "contacts": self._contacts.figures(),
            "patches": self._patches.figures(),
            "faces": self._faces.figures(),
            "iterations": self._iterations.figures(),
            "parts": self._parts,
            "events": self._events,
            "halvings": self._halvings,
            "advance": advance,
            "error_bound": self._report_bound(self._error_bound),
            "velocity_bound": self._report_bound(self._velocity_bound),
            "coupling_error": self._report_bound(self._coupling_error),
        }

    def _report_bound(self, value: float) -> float | None:
        return value if self._is_certified and self.num_steps and math.isfinite(value) else None


def explain_fallbacks(
    simulator: Simulator, pairs: Iterable[tuple[int, int]]
) -> list[dict[str, Any]]:
    """Returns the names of some pairs of geoms, and why each touched in points, fit for JSON."""
    out = []
    for pair in sorted(pairs):
        explanation = simulator.explain(*pair)
        names = [geom["name"] or f"#{geom['id']}" for geom in explanation["geoms"]]
        out.append({"geoms": names, "reason": explanation["why_points"]})
    return out


def calc_energy(model: mujoco.MjModel, state: fmt.Vector) -> dict[str, float]:
    """Computes the potential energy of gravity and springs and the kinetic energy of a state [J]."""
    data = mujoco.MjData(model)
    mujoco.mj_setState(model, data, state, fmt.INTEGRATION)
    mujoco.mj_fwdKinematics(model, data)
    mujoco.mj_makeM(model, data)
    mujoco.mj_energyPos(model, data)
    mujoco.mj_energyVel(model, data)
    return {"potential": float(data.energy[0]), "kinetic": float(data.energy[1])}


def make_table(title: str, figures: dict[str, Any]) -> Table:
    """Makes a table of the figures for the terminal."""
    table = make_text_table(["", ""], list(_list_rows(figures)), title=title)
    table.columns[0].style = "bold"
    return table


def _list_rows(figures: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yields name and value of each row."""
    costs, contacts, iterations = (figures[k] for k in ("us_per_step", "contacts", "iterations"))
    advance = figures["advance"]
    yield ("steps" if advance is None else "periods"), str(figures["num_steps"])
    yield (
        "time",
        f"{figures['simulated_time']:.6g} s simulated in {figures['wall_time']:.3g} s, "
        f"{_format(figures['real_time_factor'])} times real time",
    )
    if advance is not None:
        yield (
            "error control",
            f"{advance['num_steps']} steps of {_format(advance['smallest_step'])} to "
            f"{_format(advance['largest_step'])} s, {advance['num_rejected']} rejected",
        )
        yield (
            "local errors",
            f"{_format(advance['largest_error'])} m max, {_format(advance['sum_of_errors'])} m in sum",
        )
    yield (
        f"cost of a {'step' if advance is None else 'period'}",
        f"{_format(costs['median'])} us median, {_format(costs['min'])} us min",
    )
    rows = [("contacts", contacts), ("iterations", iterations)]
    if figures["patches"]["max"]:
        rows += [("patches", figures["patches"]), ("faces", figures["faces"])]
    if advance is None and figures["parts"] > figures["num_steps"]:
        yield (
            "substeps",
            f"{figures['parts']}, {figures['events']} events, {figures['halvings']} halvings",
        )
    for name, values in rows:
        yield name, f"{_format(values['mean'])} mean, {_format(values['max'])} max"
    for name, key, unit in (
        ("error bound", "error_bound", "sqrt(J)"),
        ("velocity bound", "velocity_bound", "m/s"),
    ):
        bound = figures[key]
        yield name, "none" if bound is None else f"{_format(bound)} {unit}"
    for fallback in figures.get("point_fallbacks", []):
        names = " and ".join(f"'{name}'" for name in fallback["geoms"])
        yield "point contact", f"{names}: {fallback['reason']}"
    if "energy" in figures:
        start, end = (sum(figures["energy"][k].values()) for k in ("start", "end"))
        yield "energy", f"{_format(start)} J at the start, {_format(end)} J at the end"


def _format(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"
