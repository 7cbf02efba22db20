"""Other forms of a report: plain values for logs and JSON, and HTML for notebooks."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import numpy as np

from stiction import _core

if TYPE_CHECKING:
    from stiction._core import ContactReport, StepReport

_CONTACTS_SHOWN = 10  # rows of the table in a notebook
_MAX_VALUES = 9  # of an array that is shown
_PLAIN = (bool, int, float, str, type(None))


def describe(report: Any) -> str:
    """Returns the representation of a part of a report: its counts, or all of its values."""
    kind = type(report)
    values: dict[str, Any]
    if isinstance(report, _core.ContactReport):
        closed, slipping = report.normal_impulse > 0, report.slipping
        flags = {"sticking": closed & ~slipping, "slipping": closed & slipping, "open": ~closed}
        values = {name: int(np.count_nonzero(flag)) for name, flag in flags.items()}
    elif isinstance(report, _core.PatchReport):
        values = {"patches": len(report), "faces": report.num_faces}
    elif isinstance(report, _core.TaxelReport):
        values = {name: len(report[name]) for name in report.names}
    else:
        values = {name: getattr(report, name) for name in _find_attributes(kind)}
    return f"{kind.__name__}({', '.join(f'{k}={_describe_value(v)}' for k, v in values.items())})"


def _describe_value(value: Any) -> str:
    """Returns the representation of a value; of a long array its shape."""
    if isinstance(value, np.ndarray) and value.size > _MAX_VALUES:
        return f"<{value.dtype} array {value.shape}>"
    return f"{value:.6g}" if isinstance(value, float) else repr(value)


def to_dict(report: Any) -> Any:
    """Converts a report, or a part of one, to dicts by attribute, nested lists, numbers and strings."""
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
        contact = contacts[i]
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
