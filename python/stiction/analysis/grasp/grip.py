"""The contacts that press on a held body, from the report of a step."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from stiction import StepReport
from stiction._core import contact_model_traits
from stiction.analysis.artifacts.creep import find_elliptic_law
from stiction.analysis.grasp import limits
from stiction.analysis.grasp.limits import Flags, GraspContacts, Vector
from stiction.runs.held_body import HeldBody
from stiction.simulator import Simulator


@dataclass(frozen=True)
class Grip:
    """The contacts that press on the held body.

    contacts: all of them, `fixed` with bodies that are fixed to the world.
    indices: of the contacts in the report, (n,).
    at_bound: which of them have friction at its bound, (n,).
    center: center of mass of the body [m], (3,).
    """

    held: HeldBody
    contacts: GraspContacts
    fixed: Flags
    indices: NDArray[np.intp]
    at_bound: Flags
    center: Vector

    def calc_margin(self, *, by_grippers: bool = False) -> float:
        """Returns the share of friction that the weight leaves [-], with or without `fixed`."""
        contacts = self.contacts.select(~self.fixed) if by_grippers else self.contacts
        return limits.calc_slip_margin(contacts, self.held.down, self.held.load, self.center)

    def calc_fixed_load(self) -> float:
        """Returns the force with which bodies that are fixed to the world carry the body [N]."""
        return -float(self.contacts.select(self.fixed).total_force @ self.held.down)

    def calc_gripper_force(self) -> float:
        """Returns the sum of the normal forces of all other bodies [N]."""
        return float(self.contacts.force[~self.fixed].sum())


class GripReader:
    """Reads grips from reports; asks the simulator for coefficients of torsion once a pair."""

    def __init__(self, simulator: Simulator, held: HeldBody) -> None:
        self._simulator, self._held, self._model = simulator, held, simulator.model
        traits = contact_model_traits(simulator.contact_model)
        self._uses_friction = traits.uses_friction
        self._takes_torsion = traits.takes_laws or traits.is_mj_step
        self._torsion: dict[tuple[int, int], tuple[float, float]] = {}

    def read(self, report: StepReport, center: Vector) -> Grip:
        """Returns the grip in a step with the center of mass of the body [m], (3,)."""
        contacts, held = report.contacts, self._held
        own, signs = held.find_contacts(contacts), held.find_signs(contacts)
        presses = np.asarray(contacts.normal_impulse)[own] > 0
        fixed = held.find_fixed(contacts, self._model)[presses]
        own, signs = own[presses], signs[presses, None]
        impulse, normal = signs * contacts.impulse[own], signs * contacts.normal[own]
        normal_impulse = contacts.normal_impulse[own]
        torsion = [self._find_torsion(int(a), int(b)) for a, b in contacts.geoms[own]]
        found = GraspContacts(
            point=contacts.point[own],
            normal=normal,
            force=normal_impulse / contacts.time_step,
            friction=contacts.friction[own] if self._uses_friction else np.ones(len(own)),
            torsion=np.array([t for t, _ in torsion]),
            rolling=np.array([r for _, r in torsion]),
            tangential=(impulse - normal_impulse[:, None] * normal) / contacts.time_step,
            torque=signs * contacts.torque_impulse[own] / contacts.time_step,
        )
        at_bound = np.asarray(contacts.slipping, bool)[own]
        return Grip(held, found, fixed, own, at_bound, center)

    def _find_torsion(self, geom1: int, geom2: int) -> tuple[float, float]:
        """Returns the coefficients of torsional and rolling friction that the model uses [m]."""
        if not self._takes_torsion:
            return 0.0, 0.0
        if (geom1, geom2) not in self._torsion:
            numbers = self._simulator.explain(geom1, geom2)["numbers"]
            used = {n["name"]: float(n["value"]) for n in numbers if n["is_used"]}
            names = ("torsional friction", "rolling friction")
            self._torsion[geom1, geom2] = (used.get(names[0], 0.0), used.get(names[1], 0.0))
        return self._torsion[geom1, geom2]


def predict_turning(
    grip: Grip, report: StepReport, data: mujoco.MjData, simulator: Simulator
) -> float | None:
    """Predicts the speed at which a held body turns by torsional friction [rad/s].

    It is the mean over the contacts with such friction, by their bounds; None if there are none.
    """
    options, traits = simulator.options, contact_model_traits(simulator.contact_model)
    bound = grip.contacts.torsion * grip.contacts.force
    if not traits.takes_laws or not bound.sum() > 0:
        return None
    if options["friction_law"] == "elastic":  # springs carry the load
        return 0.0
    shares, of_torsion = limits.calc_shares(grip.contacts)
    speeds = np.zeros(len(bound))
    for i in np.flatnonzero((bound > 0) & (shares < 1)):
        law = find_elliptic_law(simulator.model, data, report.contacts.geoms[grip.indices[i]])
        if law is not None:
            speeds[i] = law.calc_rotation(
                shares[i], of_torsion[i], options["stiction_tolerance"], options["friction_law"]
            )
    return float(np.average(speeds, weights=bound))
