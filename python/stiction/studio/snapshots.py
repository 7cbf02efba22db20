"""Messages between the stepper, on the thread of the simulation, and the panel, on that of the viewer."""

from __future__ import annotations

import dataclasses

import numpy as np
from mujoco.studio import messages
from numpy.typing import NDArray

from stiction._core import StepReport
from stiction.simulator import Simulator

Vector = NDArray[np.float64]

# The parameters of the panel; each is shown if the contact model reads it.
PARAMETERS = ("tolerance", "stiction_tolerance", "friction_regularization", "near_rigid_factor")


@dataclasses.dataclass(frozen=True)
class SettingsSnapshot(messages.Snapshot):  # type: ignore[misc]
    """What the panel asks of the stepper.

    Attributes:
        contact_model: name of the contact model.
        options: other options of Simulator, by name.
    """

    contact_model: str
    options: dict[str, float]


@dataclasses.dataclass(frozen=True, eq=False)
class ContactsSnapshot(messages.Snapshot):  # type: ignore[misc]
    """What the stepper shows of its last step.

    Attributes:
        contact_model: name of the contact model.
        message: why a setting was refused or a step failed; empty if all is well.
        point, normal: of the contacts that press, (n, 3).
        force: on the second body [N], (n, 3).
        slips: whether each slips, (n,).
        face: centers of the faces of patches, (m, 3).
        face_normal: (m, 3).
        face_radius: radius of a disk with the area of the face [m], (m,).
        pressure: [Pa], (m,).
        figures: lines of text: bound, residual, iterations, cost.
        parameters: values of PARAMETERS.
    """

    contact_model: str
    message: str
    point: Vector
    normal: Vector
    force: Vector
    slips: NDArray[np.bool_]
    face: Vector
    face_normal: Vector
    face_radius: Vector
    pressure: Vector
    figures: tuple[str, ...]
    parameters: dict[str, float]


def make_snapshot(report: StepReport, simulator: Simulator, message: str = "") -> ContactsSnapshot:
    """Copies what the viewer draws from the report of a step."""
    contacts = report.contacts
    presses = np.flatnonzero((contacts.normal_impulse > 0) & (contacts.patch < 0))
    patches = list(report.patches)
    empty = np.zeros((0, 3))
    bound = report.certificate
    unknown = simulator.contact_model == "mujoco"
    figures = (
        "error bound: none" if unknown else f"error bound: {bound.error_bound:.2e} sqrt(J)",
        "velocity bound: none" if unknown else f"velocity bound: {bound.velocity_bound:.2e} m/s",
        f"contacts: {len(contacts)}, patches: {len(patches)}, faces: {report.patches.num_faces}",
        f"iterations: {report.statistics.iterations}, {report.timings.total:.0f} us per step",
    )
    return ContactsSnapshot(
        contact_model=simulator.contact_model,
        message=message,
        point=contacts.point[presses],
        normal=contacts.normal[presses],
        force=contacts.force[presses],
        slips=contacts.slipping[presses].astype(bool),
        face=np.concatenate([empty, *(patch.face_center for patch in patches)]),
        face_normal=np.concatenate([empty, *(patch.face_normal for patch in patches)]),
        face_radius=np.sqrt(np.concatenate([[], *(patch.face_area for patch in patches)]) / np.pi),
        pressure=np.concatenate([[], *(patch.pressure for patch in patches)]),
        figures=figures,
        parameters={name: float(simulator.options[name]) for name in PARAMETERS},
    )


def make_empty_snapshot(contact_model: str, message: str) -> ContactsSnapshot:
    """Returns what the viewer draws while there is no simulator: the reason for that."""
    wide, flat = np.zeros((0, 3)), np.zeros(0)
    empty = (wide, wide, wide, np.zeros(0, bool), wide, wide, flat, flat)
    return ContactsSnapshot(contact_model, message, *empty, figures=(), parameters={})
