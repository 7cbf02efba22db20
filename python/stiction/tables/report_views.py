"""Other forms of a report: one contact by its index, plain values for logs and JSON, and HTML for
notebooks. The classes of reports call these functions.
"""

from __future__ import annotations

import html
import operator
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from stiction import _core

if TYPE_CHECKING:
    from stiction._core import ContactReport, StepReport

Vector = NDArray[np.float64]

_CONTACTS_SHOWN = 10  # rows of the table in a notebook
_PLAIN = (bool, int, float, str, type(None))


@dataclass(frozen=True, eq=False)  # arrays have no truth value to compare by
class Contact:
    """One contact of a step: a row of the arrays of ContactReport, which describe each field.

    Attributes:
        bodies, geoms: ids of the first and the second body and geom.
        point, normal: contact point [m], and unit normal from the first into the second body, (3,).
        distance: signed distance at the start of the step; negative is penetration [m].
        impulse, force: impulse [N s] and mean force [N] on the second body, (3,).
        torque_impulse: torque impulse of torsional and rolling friction [N m s], (3,).
        normal_impulse: normal part of the impulse [N s].
        normal_velocity: normal velocity after the step; positive is separation [m/s].
        slip_velocity: tangential velocity after the step [m/s], (3,).
        slipping: True if the contact slips.
        friction: coefficient of sliding friction [-].
        delassus: mobility of the contact point [1/kg]; NaN for 'mujoco'.
        is_fallback: True for a point contact of a geom with a pressure field.
        patch: index of the contact's patch; -1 for a point contact.
    """

    bodies: tuple[int, int]
    geoms: tuple[int, int]
    point: Vector
    normal: Vector
    distance: float
    impulse: Vector
    force: Vector
    torque_impulse: Vector
    normal_impulse: float
    normal_velocity: float
    slip_velocity: Vector
    slipping: bool
    friction: float
    delassus: float
    is_fallback: bool
    patch: int

    def to_dict(self) -> dict[str, Any]:
        """Returns the fields by name as numbers and lists, fit for JSON."""
        return {name: to_dict(getattr(self, name)) for name in _NAMES}


_PAIRS = ("bodies", "geoms")
_NAMES = tuple(field.name for field in fields(Contact))


def find_contacts(contacts: ContactReport, index: Any) -> Contact | list[Contact]:
    """Returns contact `index`, where a negative index counts from the end, or the contacts of a slice.

    Raises:
        IndexError: there is no such contact.
        TypeError: the index is neither an integer nor a slice.
    """
    if isinstance(index, slice):
        return [_find_contact(contacts, i) for i in range(len(contacts))[index]]
    try:
        return _find_contact(contacts, operator.index(index))
    except TypeError as e:
        raise TypeError(
            f"contacts take an integer or a slice, not {index!r}; to choose contacts by a mask, apply it "
            "to an array, such as contacts.force[mask]"
        ) from e


def _find_contact(contacts: ContactReport, index: int) -> Contact:
    count = len(contacts)
    if not -count <= index < count:
        raise IndexError(f"there is no contact {index}; the step had {count} contacts")
    row = index % count
    values: dict[str, Any] = {}
    for name in _NAMES:
        value = contacts.force[row] if name == "force" else getattr(contacts, name)[row]
        if name in _PAIRS:
            value = (int(value[0]), int(value[1]))
        elif np.ndim(value) == 0:
            value = value.item()
        values[name] = value
    return Contact(**values)


def to_dict(report: Any) -> Any:
    """Converts a report, or a part of one, to dicts, lists, numbers and strings.

    The keys are the names of the attributes. Arrays become nested lists.
    """
    if isinstance(report, _PLAIN):
        return report
    if isinstance(report, np.ndarray):
        return report.tolist()
    if isinstance(report, dict):
        return {key: to_dict(value) for key, value in report.items()}
    if isinstance(report, list | tuple | _core.PatchReport | _core.TaxelReport):
        return [to_dict(each) for each in report]
    return {name: to_dict(getattr(report, name)) for name in _find_attributes(type(report))}


def _find_attributes(kind: type) -> list[str]:
    """Returns the names of the read-only attributes of a class of reports."""
    return [
        name
        for name, member in vars(kind).items()
        if not name.startswith("_") and hasattr(type(member), "__get__") and not callable(member)
    ]


def to_html(report: StepReport) -> str:
    """Renders a report as HTML: its status, error bound and first contacts."""
    bound = report.certificate
    rows = [
        ("status", report.status),
        ("message", report.message),
        ("time", f"{report.time:g} s"),
        ("contacts", str(len(report.contacts))),
        ("patches", str(len(report.patches))),
        ("iterations", str(report.statistics.iterations)),
        ("error bound", f"{bound.error_bound:.2e} √J"),
        ("velocity bound", f"{bound.velocity_bound:.2e} m/s"),
        ("wall time", f"{report.timings.total:.1f} µs"),
        *((f"warnings: {kind}", f"{n}: {text}") for kind, (n, text) in report.warnings.items()),
    ]
    cells = "".join(
        f"<tr><th style='text-align:left'>{html.escape(name)}</th><td>{html.escape(value)}</td></tr>"
        for name, value in rows
        if value
    )
    return f"<table>{cells}</table>{to_table(report.contacts)}"


def to_table(contacts: ContactReport) -> str:
    """Renders the first contacts as an HTML table; an empty text if there are none."""
    if not len(contacts):
        return ""
    head = "".join(
        f"<th>{name}</th>" for name in ("", "bodies", "distance [m]", "force [N]", "state")
    )
    lines = []
    for i in range(min(len(contacts), _CONTACTS_SHOWN)):
        contact = _find_contact(contacts, i)
        force = float(np.linalg.norm(contact.force))
        state = "open" if force == 0 else "slips" if contact.slipping else "sticks"
        cells = (
            str(i),
            "{}, {}".format(*contact.bodies),
            f"{contact.distance:.3e}",
            f"{force:.4g}",
        )
        lines.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in (*cells, state)) + "</tr>")
    left = len(contacts) - len(lines)
    more = f"<p>and {left} more</p>" if left else ""
    return f"<table><tr>{head}</tr>{''.join(lines)}</table>{more}"
