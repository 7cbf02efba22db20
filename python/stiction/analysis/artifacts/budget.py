"""The artifact budget of a run: what the contact model got wrong by design, pair by pair.

log = ArtifactLog(simulator)
for _ in range(1000):
    log.add(simulator.step(data))
for budget in log.calc_budgets():
    print(budget.geoms, budget.predicted.gliding_gap, budget.measured.gliding_gap)
"""

from __future__ import annotations

import dataclasses
import math
import time
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from stiction._core import StepReport, contact_model_traits
from stiction.analysis.artifacts.chord import calc_turning
from stiction.analysis.artifacts.displacement import CreepMeter, StuckContacts
from stiction.analysis.artifacts.predictions import (
    Artifacts,
    OperatingPoint,
    PairProperties,
    describe_stiffening,
    has_springs,
    predict_artifacts,
)
from stiction.analysis.artifacts.probe import MeasuredArtifacts, measure_artifacts
from stiction.simulator import Simulator

_MAX_PAIRS = 8  # of a budget; those with the largest impulses
_LARGEST_SHARE = 0.999  # of the friction bound at which creep is predicted [-]


@dataclasses.dataclass(frozen=True)
class PairBudget:
    """The artifacts of the contact of two geoms.

    Attributes:
        geoms: names of the geoms, or '#ID'.
        contact_model: name of the contact model.
        touches_in: 'points' or 'patches'.
        properties: properties of the contact.
        at: the state of the contact, a mean over the run.
        predicted: artifacts that theory gives at this state.
        measured: artifacts of a block with these properties in this state; all None if not measured.
        gap_in_run: mean gap of the contacts that slid in the run [m]; None if none slid.
        creep_in_run: mean slip speed of those that stuck [m/s]; None if none stuck. Under friction_law
            'elastic' it is that of their displacement, see artifacts.displacement.
        note: a sentence if slip stiffens the contact, or if entries could not be measured; else None.
    """

    geoms: tuple[str, str]
    contact_model: str
    touches_in: str
    properties: PairProperties
    at: OperatingPoint
    predicted: Artifacts
    measured: MeasuredArtifacts
    gap_in_run: float | None = None
    creep_in_run: float | None = None
    note: str | None = None

    def describe(self) -> str:
        """Returns the note with the names of the geoms; empty without a note."""
        return f"{self.geoms[0]} and {self.geoms[1]}: {self.note}" if self.note else ""

    def figures(self) -> dict[str, Any]:
        """Everything by name, fit for JSON."""
        return dataclasses.asdict(self)


class _Sums:
    """Sums over the contacts of one pair of geoms in a run."""

    def __init__(self) -> None:
        self.num = self.num_sliding = self.num_sticking = 0
        self.num_mobilities = 0  # of contacts whose mobility is known
        self.force = self.mobility = self.slip = self.distance = self.sliding_force = 0.0
        self.num_creeping, self.creep = 0, 0.0
        self.share = 0.0
        self.num_turning, self.turning = 0, 0.0


class ArtifactLog:
    """Collects the state of all contacts of a run.

    Args:
        simulator: the simulator that makes the steps.
        turning_stride: number of calls of add of which one looks at the curvature of paths.
    """

    def __init__(self, simulator: Simulator, turning_stride: int = 10) -> None:
        self._simulator, self._turning_stride = simulator, turning_stride
        self._sums: dict[tuple[int, int], _Sums] = {}
        self._options = simulator.options
        self._num_steps = 0
        self._has_chords = True
        # Springs keep the place of a contact, whatever its velocity at the end of a step.
        has_meter = has_springs(self._options)
        self._meter = CreepMeter(simulator.model) if has_meter else None
        traits = contact_model_traits(simulator.contact_model)
        has_tolerance = traits.uses_stiction_tolerance and not has_meter
        self._slip_tolerance = self._options["stiction_tolerance"] if has_tolerance else math.inf

    def add(self, report: StepReport, data: mujoco.MjData | None = None) -> None:
        """Adds the contacts of a step that have a normal impulse.

        Args:
            report: the report of the step.
            data: the data after the step, which tell how paths curve; None if the budgets need no chord
                drift, and under friction_law 'elastic' no creep of the run.
        """
        contacts = report.contacts
        if report.advance is not None:  # Simulator.advance does not regularize friction
            self._options = {**self._options, "friction_regularization": 0.0}
            self._has_chords = False
        if len(contacts) == 0:
            return
        loaded = np.flatnonzero(np.asarray(contacts.normal_impulse) > 0)
        if len(loaded) == 0:
            return
        geoms = np.asarray(contacts.geoms)[loaded]
        pairs, pair_of = np.unique(geoms, axis=0, return_inverse=True)
        rows = _Rows(report, loaded, self._slip_tolerance)
        turns = data is not None and self._num_steps % self._turning_stride == 0
        self._num_steps += 1
        for index, pair in enumerate(pairs):
            sums = self._sums.setdefault((int(pair[0]), int(pair[1])), _Sums())
            own = pair_of.reshape(-1) == index
            rows.add_to(sums, own)
            if self._meter is None:
                rows.add_creep(sums, own)
            if turns:
                rows.add_turning(sums, own, data)
        if self._meter is not None and turns:
            self._add_displacements(self._meter, rows.find_stuck(), data)

    def _add_displacements(
        self, meter: CreepMeter, contacts: StuckContacts, data: mujoco.MjData
    ) -> None:
        """Adds the creep of contacts since the last look."""
        geoms, creep = meter.look(data, contacts)
        for (first, second), speed in zip(geoms.tolist(), creep, strict=True):
            sums = self._sums[first, second]
            sums.num_creeping += 1
            sums.creep += float(speed)

    def calc_budgets(
        self,
        max_pairs: int = _MAX_PAIRS,
        *,
        measures: bool = True,
        max_seconds: float = math.inf,
    ) -> list[PairBudget]:
        """Returns the budgets of the pairs with the largest impulses, the largest first.

        Args:
            max_pairs: largest number of pairs.
            measures: True: the artifacts are also measured, on a block for each pair.
            max_seconds: wall time of all measurements [s]. Those that need more are left out, with a
                note.
        """
        order = sorted(self._sums, key=lambda pair: -self._sums[pair].force)
        end = time.monotonic() + max_seconds
        return [
            self._make_budget(pair, measures, max(end - time.monotonic(), 0.0))
            for pair in order[:max_pairs]
        ]

    def _make_budget(self, pair: tuple[int, int], measures: bool, max_seconds: float) -> PairBudget:
        sums = self._sums[pair]
        explanation = self._simulator.explain(*pair)
        at = OperatingPoint(
            slip_speed=sums.slip / max(sums.num_sliding, 1),
            normal_force=sums.force / sums.num,
            mobility=sums.mobility / max(sums.num_mobilities, 1),
            load_share=min(sums.share / max(sums.num_sticking, 1), _LARGEST_SHARE),
            turning=sums.turning / max(sums.num_turning, 1) if self._has_chords else 0.0,
        )
        budget = make_budget(
            self._simulator,
            explanation,
            at,
            measures=measures,
            options=self._options,
            max_seconds=max_seconds,
        )
        return dataclasses.replace(
            budget,
            gap_in_run=self._calc_gap(sums, budget),
            creep_in_run=sums.creep / sums.num_creeping if sums.num_creeping else None,
        )

    def _calc_gap(self, sums: _Sums, budget: PairBudget) -> float | None:
        """Returns the mean distance of point contacts that slid, without their sinking [m]."""
        if not sums.num_sliding or budget.touches_in == "patches":
            return None
        stiffness = budget.predicted.stiffness
        sinks = sums.sliding_force / stiffness if stiffness else 0.0
        return (sums.distance + sinks) / sums.num_sliding


class _Rows:
    """The loaded contacts of a step as arrays."""

    def __init__(self, report: StepReport, loaded: NDArray[np.intp], slip_tolerance: float) -> None:
        contacts = report.contacts
        dt = contacts.time_step

        def take(name: str) -> NDArray[np.float64]:
            values: NDArray[np.float64] = np.asarray(getattr(contacts, name))[loaded]
            return values

        impulse = take("normal_impulse")
        self._force = impulse / dt
        # The contacts of a call of Simulator.advance are those of its last half step.
        rest = dt if report.advance is None else 0.0
        self._distance = take("distance") + rest * take("normal_velocity")
        self._slip = np.linalg.norm(take("slip_velocity"), axis=1)
        self._mobility = take("delassus")
        # A contact whose slip exceeds the tolerance slides, even below the friction bound.
        self._slides = take("slipping").astype(bool) | (self._slip > slip_tolerance)
        tangential = take("impulse") - impulse[:, None] * take("normal")
        bound = take("friction") * impulse
        self._has_bound = bound > 0
        self._share = np.linalg.norm(tangential, axis=1) / np.where(self._has_bound, bound, 1)
        self._geoms = take("geoms").astype(np.int32)
        self._bodies, self._points = take("bodies").astype(int), take("point")
        self._normals = take("normal")

    def add_to(self, sums: _Sums, own: NDArray[np.bool_]) -> None:
        """Adds the contacts of one pair to its sums."""
        slides, sticks = own & self._slides, own & ~self._slides & self._has_bound
        sums.num += int(own.sum())
        sums.force += float(self._force[own].sum())
        known = own & np.isfinite(self._mobility)
        sums.num_mobilities += int(known.sum())
        sums.mobility += float(self._mobility[known].sum())
        sums.num_sliding += int(slides.sum())
        sums.slip += float(self._slip[slides].sum())
        sums.distance += float(self._distance[slides].sum())
        sums.sliding_force += float(self._force[slides].sum())
        sums.num_sticking += int(sticks.sum())
        sums.share += float(self._share[sticks].sum())

    def add_creep(self, sums: _Sums, own: NDArray[np.bool_]) -> None:
        """Adds the slip speeds of those contacts of one pair that stick."""
        sticks = own & ~self._slides & self._has_bound
        sums.num_creeping += int(sticks.sum())
        sums.creep += float(self._slip[sticks].sum())

    def find_stuck(self) -> StuckContacts:
        """Returns the contacts of geoms of which no contact slides."""
        pairs, pair_of = np.unique(self._geoms, axis=0, return_inverse=True)
        slides = np.bincount(pair_of.reshape(-1), self._slides, len(pairs))[pair_of.reshape(-1)]
        stuck = (slides == 0) & self._has_bound
        return StuckContacts(self._geoms[stuck], self._points[stuck], self._normals[stuck])

    def add_turning(self, sums: _Sums, own: NDArray[np.bool_], data: mujoco.MjData) -> None:
        """Adds the acceleration of the first contact of a pair that sticks."""
        sticking = np.flatnonzero(own & ~self._slides & self._has_bound)
        if len(sticking) == 0:
            return
        i = int(sticking[0])
        bodies = (int(self._bodies[i, 0]), int(self._bodies[i, 1]))
        sums.num_turning += 1
        sums.turning += calc_turning(data, bodies, self._points[i], self._normals[i])


def make_budget(
    simulator: Simulator,
    explanation: dict[str, Any],
    at: OperatingPoint,
    *,
    measures: bool = True,
    options: dict[str, Any] | None = None,
    max_seconds: float = math.inf,
) -> PairBudget:
    """Makes the budget of a pair from Simulator.explain; None means the simulator's options."""
    pair = find_properties(explanation)
    options = simulator.options if options is None else options
    first, second = (geom["name"] or f"#{geom['id']}" for geom in explanation["geoms"])
    predicted = predict_artifacts(options, pair, at)
    measured = MeasuredArtifacts()
    if measures:
        measured = measure_artifacts(options, pair, at, max_seconds=max_seconds)
    notes = [
        describe_stiffening(options, pair, at.slip_speed),
        _describe_missing(predicted, measured) if measures else None,
    ]
    return PairBudget(
        geoms=(first, second),
        contact_model=simulator.contact_model,
        touches_in=explanation["touches_in"],
        properties=pair,
        at=at,
        predicted=predicted,
        measured=measured,
        note="; ".join(note for note in notes if note) or None,
    )


def _describe_missing(predicted: Artifacts, measured: MeasuredArtifacts) -> str | None:
    """Returns a sentence if artifacts that are predicted could not be measured, else None."""
    missing = [
        field.name.replace("_", " ")
        for field in dataclasses.fields(Artifacts)
        if getattr(predicted, field.name) is not None and getattr(measured, field.name) is None
    ]
    reason = measured.not_measured
    return f"{', '.join(missing)} could not be measured: {reason}" if missing and reason else None


def find_properties(explanation: dict[str, Any]) -> PairProperties:
    """Returns the properties of a contact from Simulator.explain. Unused properties are left out."""
    used = {n["name"]: float(n["value"]) for n in explanation["numbers"] if n["is_used"]}
    tangents = [
        used[n] for n in ("friction, first tangent", "friction, second tangent") if n in used
    ]
    friction = used.get("friction", sum(tangents) / len(tangents) if tangents else 0.0)
    return PairProperties(
        friction=friction,
        stiffness=used.get("stiffness"),
        dissipation=used.get("dissipation", 0.0),
        relaxation_time=used.get("relaxation_time", 0.0),
        static_friction=used.get("static_friction"),
    )
