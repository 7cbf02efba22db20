"""The table of all checks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from stiction.analysis.checks import (
    friction_dimension,
    initial_state,
    mass_ratio,
    patch_faces,
    slip_stiffening,
    thin_geoms,
    unused_properties,
)
from stiction.analysis.checks.subject import Finding, Subject


class Check(NamedTuple):
    """A check of a scene."""

    name: str
    find: Callable[[Subject], Iterator[Finding]]
    otherwise: str  # what holds if it finds nothing
    covers: Callable[[Subject], bool] = lambda subject: True  # False: nothing is known


def _find_unused_settings(subject: Subject) -> Iterator[Finding]:
    """Yields the settings that have no effect under the contact model, or on any contact."""
    for text in subject.ignored_settings:
        yield Finding("unused_settings", text)
    yield from unused_properties.check(subject)


CHECKS = (
    Check("unused_settings", _find_unused_settings, "all settings have an effect"),
    Check(
        "initial_state",
        initial_state.check,
        "the first step succeeds, and no overlap is deep",
    ),
    Check(
        "mass_ratio",
        mass_ratio.check,
        "no body sinks by a tenth of its thickness under a heavier one",
        mass_ratio.covers,
    ),
    Check("thin_geoms", thin_geoms.check, "no geom is too thin for the time step and the speed"),
    Check(
        "patch_faces", patch_faces.check, "every patch presses at three points or more at the start"
    ),
    Check(
        "friction_dimension",
        friction_dimension.check,
        "condim takes away no friction that was given",
    ),
    Check("slip_stiffening", slip_stiffening.check, "slip makes no contact stiffer"),
)


def check_scene(subject: Subject) -> list[Finding]:
    """Returns the findings of all checks that cover the scene, in the order of the table."""
    return [finding for check in CHECKS if check.covers(subject) for finding in check.find(subject)]
