"""Functions shared by all comparisons with Drake, which is an optional dependency."""

from __future__ import annotations

import logging
import warnings
from typing import Any


def is_installed() -> bool:
    """True if pydrake can be imported."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pydrake.all  # noqa: F401
    except ImportError:
        return False
    return True


def load() -> Any:
    """Returns pydrake.all with its warnings silenced: it warns about every half-space."""
    from pydrake import all as drake

    logging.getLogger("drake").setLevel(logging.ERROR)
    return drake


def make_properties(
    *, stiffness: float, dissipation: float, relaxation_time: float, friction: float
) -> Any:
    """Makes properties of a geometry such that two equal geometries have a contact with these values.

    Drake combines the stiffnesses of two geometries in series and adds their relaxation times.

    Args:
        stiffness: stiffness of the contact [N/m].
        dissipation: dissipation of the contact [s/m].
        relaxation_time: relaxation time of the contact [s].
        friction: friction coefficient [-].
    """
    drake = load()
    properties = drake.ProximityProperties()
    drake.AddContactMaterial(
        dissipation=dissipation,
        point_stiffness=2 * stiffness,
        friction=drake.CoulombFriction(friction, friction),
        properties=properties,
    )
    properties.AddProperty("material", "relaxation_time", relaxation_time / 2)
    return properties
