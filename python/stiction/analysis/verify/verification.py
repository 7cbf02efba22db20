"""Verifies all steps of a recording, without a solver.

Nothing here calls the code that made the steps: momentum, Jacobians and energy are MuJoCo's, and the
laws of contact are written anew. Only the properties of pairs come from the tables that the step also
reads. A recording must contain the states, as float64, and the contacts of each step; what else a
step depends on and a recording lacks is listed in `unknown`.
"""

from __future__ import annotations

import dataclasses
import math
import warnings
from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stiction._core import contact_model_traits
from stiction.analysis.artifacts.budget import find_properties
from stiction.analysis.artifacts.predictions import PairProperties, is_linear_law
from stiction.analysis.verify import springs
from stiction.analysis.verify import step_checks as checks
from stiction.analysis.verify.contacts import StepContacts
from stiction.analysis.verify.impulses import StepStates, find_unknown_dofs
from stiction.errors import StictionWarning
from stiction.recording.recording import Recording
from stiction.recording.step import Step
from stiction.setup.options import OPTIONS
from stiction.simulator import Simulator

Vector = NDArray[np.float64]

# Rigid models drop rows that depend on others, which may keep this share of the largest speed of a
# contact, see docs/certificates.md [-].
_RIGID_ERROR = 1e-6

# The quantity that each check compares, and its unit.
CHECKS = {
    "digest": ("the state has its recorded hash", ""),
    "positions": ("q = q_0 + dt v", "m or rad"),
    "momentum": ("M (v - v_0) is the impulse of forces and contacts", "N s or N m s"),
    "adhesion": ("no contact pulls", "N s"),
    "cone": ("friction is within Coulomb's bound", "N s"),
    "friction_work": ("friction takes energy, or gives back that of springs", "J"),
    "touch": ("contacts that press are not apart", "m"),
    "law": ("normal impulses follow the law of Hunt and Crossley", "N s"),
    "energy": ("contacts add no energy beyond that of overlaps", "J"),
}


@dataclasses.dataclass
class CheckResult:
    """The result of one check over all steps.

    Attributes:
        name: name of the check.
        num_steps: number of steps that were checked.
        num_failed: number of steps in which it failed.
        share: largest violation over what is allowed; above 1 it failed.
        value: that violation, in the unit of the check.
        step: index of that step; 0 if nothing was violated.
        place: the joint or contact; may be empty.
    """

    name: str
    num_steps: int = 0
    num_failed: int = 0
    share: float = 0.0
    value: float = 0.0
    step: int = 0
    place: str = ""

    def add(self, violation: checks.Violation, step: int) -> None:
        """Adds the result of a step."""
        self.num_steps += 1
        self.num_failed += violation.share > 1
        if violation.share > self.share:
            self.share, self.value, self.place = violation.share, violation.value, violation.place
            self.step = step


@dataclasses.dataclass
class Verification:
    """The result of verify_recording.

    Attributes:
        recording: path of the recording.
        contact_model: name of the contact model.
        num_steps: number of completed steps that were read.
        num_failed_steps: number of steps that failed when they were recorded.
        checks: the results by name.
        known_dofs: mean share of the dofs whose balance of momentum was verified [-].
        unknown: what the recording lacks, with the number of steps in which it matters.
        damage: why the file could not be read to its end; empty if it could.
    """

    recording: str
    contact_model: str
    num_steps: int = 0
    num_failed_steps: int = 0
    checks: dict[str, CheckResult] = dataclasses.field(default_factory=dict)
    known_dofs: float = 0.0
    unknown: dict[str, int] = dataclasses.field(default_factory=dict)
    damage: str = ""

    @property
    def ok(self) -> bool:
        """True if no check failed and the whole file could be read."""
        return not self.damage and all(c.num_failed == 0 for c in self.checks.values())

    def figures(self) -> dict[str, Any]:
        """Everything by name, fit for JSON."""
        return {"ok": self.ok, **dataclasses.asdict(self)}


def verify_recording(recording: Recording, every: int = 1) -> Verification:
    """Verifies the steps of a recording from its states and contacts.

    Args:
        recording: the recording.
        every: 1 for all steps, n for each n-th.

    Raises:
        Error: the recording cannot be read, or was made with another version.
    """
    return _Verifier(recording, every).verify()


class _Verifier:
    def __init__(self, recording: Recording, every: int) -> None:
        self._recording, self._every = recording, every
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", StictionWarning)
            self._simulator: Simulator = recording.make_simulator()
        self._options = self._simulator.options
        self._traits = contact_model_traits(self._simulator.contact_model)
        self._states = StepStates.make(recording.model)
        self._pairs: dict[tuple[int, int], PairProperties | None] = {}
        self._unknown: Counter[str] = Counter()
        self._known_dofs: list[float] = []
        self._has_springs = self._options["friction_law"] == "elastic"
        self._spring_shares: dict[tuple[int, int], float] = {}
        # The last step, which has the springs at its end, and the state at its start; None if unknown.
        self._last: Step | None = None
        self._last_start: Vector | None = None
        self._polygon_factor = _calc_polygon_factor(self._options)
        self._out = Verification(str(recording.path), self._simulator.contact_model)

    def verify(self) -> Verification:
        recording, out = self._recording, self._out
        last: Vector | None = None
        for step in recording.all_steps():
            before = step.start if step.start is not None else last
            if not step.completed:
                out.num_failed_steps += 1
                continue
            out.num_steps += 1
            self._add("digest", _check_digest(step), step)
            if step.start is not None:
                self._last_start = None  # springs may belong to another state
            if before is not None and (step.index - 1) % self._every == 0:
                self._verify_step(step, before)
            # The last part of a divided step begins at an unknown state.
            self._last_start = None if step.advance else before
            self._last = step
            last = step.state
        out.damage = str(recording.damage or "")
        out.unknown = dict(self._unknown)
        out.known_dofs = float(np.mean(self._known_dofs)) if self._known_dofs else 0.0
        return out

    def _add(self, name: str, violation: checks.Violation, step: Step) -> None:
        self._out.checks.setdefault(name, CheckResult(name)).add(violation, step.index)

    def _verify_step(self, step: Step, before: Vector) -> None:
        states, dt = self._states, float(self._options["time_step"])
        states.load(self._recording.layout, before, step.state)
        model, traits = states.model, self._traits
        if traits.is_mj_step:
            self._unknown["implicit terms of the equations of 'mujoco'"] += 1
            return
        if step.advance:
            self._unknown[
                "forces of single steps within calls of 'advance', only their averages"
            ] += 1
            return
        if self._options["integrator"] != "euler" or self._is_divided(step):
            self._unknown["parts of divided steps"] += 1
            return
        contacts = StepContacts(model, states.start, step.contacts)
        self._add("positions", checks.check_positions(states, dt), step)
        unknown = find_unknown_dofs(
            model,
            states.start,
            states.end,
            contacts,
            dt,
            takes_torsion=traits.takes_laws,
            is_complementary=traits.is_complementary,
        )
        known = np.ones(model.nv, bool)
        for reason, dofs in unknown.items():
            self._unknown[reason] += int(np.any(dofs))
            known &= ~dofs
        self._known_dofs.append(float(np.mean(known)) if model.nv else 1.0)
        error = float(step.report.get("momentum_error") or 0.0)
        momentum = checks.check_momentum(
            states, contacts, dt, error, known, limits_act=not traits.is_rigid
        )
        self._add("momentum", momentum, step)
        if len(contacts):
            self._verify_contacts(step, contacts, dt, bool(np.all(known)))

    def _verify_contacts(
        self, step: Step, contacts: StepContacts, dt: float, all_known: bool
    ) -> None:
        options, traits = self._options, self._traits
        pairs = [self._find_pair(int(a), int(b)) for a, b in contacts.geoms]
        self._add("adhesion", checks.check_adhesion(contacts), step)
        if self._has_coulomb_bound():
            friction = np.array(
                [np.nan if p is None else p.static_friction or p.friction for p in pairs]
            )
            friction *= self._polygon_factor
            coupling = float(step.report.get("coupling_error") or 0.0)
            momentum = checks.calc_momentum_size(self._states)
            self._add("cone", checks.check_cone(contacts, friction, coupling, momentum), step)
        if self._has_moving_surfaces(contacts):
            self._unknown["velocities of moving surfaces and mocap bodies"] += 1
            return
        end = contacts.calc_velocities(self._states.end.qvel)
        rounding = contacts.calc_velocity_errors(self._states.end.qvel)
        tolerance = float(step.report.get("velocity_bound") or 0.0) + rounding
        if traits.is_rigid:  # which have no error bound
            tolerance += _RIGID_ERROR * np.linalg.norm(end, axis=1).max(initial=0.0)
        self._verify_energy(step, contacts, end, tolerance + 1e-6, all_known)
        if not traits.is_complementary:
            return
        if traits.takes_laws and options["normal_law"] != "hunt_crossley":
            return
        slips = np.linalg.norm(contacts.project(end), axis=1)
        gap = np.array([self._calc_gap(p, s) for p, s in zip(pairs, slips, strict=True)])
        ahead = np.array([p.relaxation_time if p and traits.acts_ahead else 0.0 for p in pairs])
        self._add("touch", checks.check_touch(contacts, end, tolerance, gap, ahead, dt), step)
        if not traits.is_rigid and not traits.acts_ahead:
            self._add("law", checks.check_law(contacts, end, tolerance, pairs, options), step)

    def _verify_energy(
        self,
        step: Step,
        contacts: StepContacts,
        velocity: Vector,
        tolerance: Vector,
        all_known: bool,
    ) -> None:
        dt = float(self._options["time_step"])
        returned = 0.0
        if not self._has_springs:
            work = checks.check_friction_work(contacts, velocity, tolerance)
        else:
            start = self._carry_springs(contacts, dt)
            if start is None:
                self._unknown["springs at the start of the step"] += 1
                return
            stiffness = self._calc_stiffness(step.anchors)
            end = springs.sum_springs(step.anchors, stiffness)
            returned = float(start.energy.sum() - end.energy.sum())
            if not np.isfinite(returned):
                self._unknown["springs of friction that depends on the direction"] += 1
            arcs = springs.find_arcs(contacts, velocity, dt).find(contacts.geoms)
            slip = velocity + contacts.project(arcs) / dt
            work = springs.check_spring_work(contacts, slip, tolerance, start, end)
        if self._traits.is_complementary:
            self._add("friction_work", work, step)
        if all_known and np.isfinite(returned):
            energy = checks.check_energy(self._states, contacts, velocity, dt, returned)
            self._add("energy", energy, step)

    def _carry_springs(self, contacts: StepContacts, dt: float) -> springs.Springs | None:
        """Returns the springs at the start of the step; None if they are unknown."""
        if self._last is None or self._last_start is None:
            return None
        now = self._states.start
        last = self._states.load_start(self._recording.layout, self._last_start, now.qvel)
        anchors = self._last.anchors
        touching = StepContacts(last.model, last, self._last.contacts)
        arcs = springs.find_arcs(touching, touching.calc_velocities(now.qvel), dt)
        stiffness = self._calc_stiffness(anchors)
        return springs.carry_springs(anchors, stiffness, last, now, contacts, arcs, dt)

    def _calc_stiffness(self, anchors: NDArray[np.void]) -> Vector:
        """Returns the stiffness of springs along the surface [N/m]; NaN if it is unknown, (n,)."""
        for a, b in np.unique(anchors["geoms"], axis=0).tolist():
            if (a, b) not in self._spring_shares:
                explanation = self._simulator.explain(a, b)
                self._spring_shares[a, b] = springs.calc_spring_share(explanation)
        shares = [self._spring_shares[a, b] for a, b in anchors["geoms"].tolist()]
        return np.asarray(anchors["stiffness"].astype(float) * np.array(shares, float))

    def _is_divided(self, step: Step) -> bool:
        """True if `tamsi` may have divided the step. The report does not say what it did."""
        is_tamsi = not (self._traits.takes_laws or self._traits.is_rigid or self._traits.acts_ahead)
        return is_tamsi and step.report.get("iterations", 0) > 20

    def _has_coulomb_bound(self) -> bool:
        """True if friction is bounded by the normal impulse of the same step."""
        name = self._simulator.contact_model
        return self._traits.uses_friction and not name.startswith("lagged")

    def _has_moving_surfaces(self, contacts: StepContacts) -> bool:
        model = self._states.model
        moves = np.any(model.geom_surfacevel != 0, axis=1)
        mocap = np.asarray(model.body_mocapid)[contacts.bodies] >= 0
        return bool(np.any(moves[contacts.geoms]) or np.any(mocap))

    def _find_pair(self, geom1: int, geom2: int) -> PairProperties | None:
        """Returns the properties of a pair; None if it touches in patches."""
        key = (geom1, geom2)
        if key not in self._pairs:
            explanation = self._simulator.explain(geom1, geom2)
            known = explanation["touches_in"] == "points"
            self._pairs[key] = find_properties(explanation) if known else None
        return self._pairs[key]

    def _calc_gap(self, pair: PairProperties | None, slip: float) -> float:
        """Returns the largest gap on which the contact may slide [m]; NaN for patches.

        The slip that lifts a body is regularized by properties of the step, and is at most the slip.
        """
        if pair is None:
            return float("nan")
        if not self._traits.lifts_sliding:
            return 0.0
        delay = pair.relaxation_time if is_linear_law(self._options) else 0.0
        return pair.friction * (float(self._options["time_step"]) + delay) * slip


def _calc_polygon_factor(options: dict[str, Any]) -> float:
    """Returns 1 / cos(pi / n), by which a polygon may exceed Coulomb's circle [theory:polygon-error]."""
    if options["contact_model"] not in OPTIONS["friction_directions"].contact_models:
        return 1.0
    return 1 / math.cos(math.pi / int(options["friction_directions"]))


def _check_digest(step: Step) -> checks.Violation:
    return checks.Violation() if step.is_intact else checks.Violation(np.inf, 1.0, "the state")
