"""What all uses of Drake as a peer share. It is optional."""

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
    """pydrake.all, told to be silent about what is meant: it warns of every half-space."""
    from pydrake import all as drake

    logging.getLogger("drake").setLevel(logging.ERROR)
    return drake


def make_properties(
    *, stiffness: float, dissipation: float, relaxation_time: float, friction: float
) -> Any:
    """Of each of two geometries whose contact is to have these: Drake puts stiffnesses in series and adds
    relaxation times.

    Args:
        stiffness: [N/m]. dissipation: [s/m]. relaxation_time: [s]. friction: [-].
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
