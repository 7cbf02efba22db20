"""The table of all checks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from stiction.analysis.checks import mass_ratio, soft_rows
from stiction.analysis.checks.contacts import (
    check_contact_list,
    check_initial_state,
    check_patch_faces,
    check_slip_stiffening,
)
from stiction.analysis.checks.properties import check_friction_dimension, check_unused_properties
from stiction.analysis.checks.subject import Finding, Subject
from stiction.analysis.checks.thin_geoms import check_thin_geoms


class Check(NamedTuple):
    """A check of a scene."""

    name: str
    find: Callable[[Subject], Iterator[Finding]]
    otherwise: str | Callable[[Subject], str]  # what holds if it finds nothing
    covers: Callable[[Subject], bool] = lambda subject: True  # False: nothing is known

    def describe_success(self, subject: Subject) -> str:
        """Returns what holds if the check finds nothing."""
        return self.otherwise if isinstance(self.otherwise, str) else self.otherwise(subject)


def _find_unused_settings(subject: Subject) -> Iterator[Finding]:
    """Yields the settings that have no effect under the contact model, or on any contact."""
    for text in subject.ignored_settings:
        yield Finding("unused_settings", text)
    yield from check_unused_properties(subject)


CHECKS = (
    Check("unused_settings", _find_unused_settings, "all settings have an effect"),
    Check("initial_state", check_initial_state, "the first step succeeds, and no overlap is deep"),
    Check(
        "contact_list", check_contact_list, "MuJoCo lists all contacts of each pair at the start"
    ),
    Check(
        "mass_ratio",
        mass_ratio.check,
        "no body sinks by a tenth of its thickness under a heavier one",
        mass_ratio.covers,
    ),
    Check("soft_rows", soft_rows.check, soft_rows.describe_rows),
    Check("thin_geoms", check_thin_geoms, "no geom is too thin for the time step and the speed"),
    Check(
        "patch_faces", check_patch_faces, "every patch presses at three points or more at the start"
    ),
    Check(
        "friction_dimension",
        check_friction_dimension,
        "condim takes away no friction that was given",
    ),
    Check("slip_stiffening", check_slip_stiffening, "slip makes no contact stiffer"),
)


def check_scene(subject: Subject) -> list[Finding]:
    """Returns the findings of all checks that cover the scene, in the order of the table."""
    return [finding for check in CHECKS if check.covers(subject) for finding in check.find(subject)]
