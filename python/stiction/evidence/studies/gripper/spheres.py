"""Two spheres, of which one is free: the bodies of figures 2 to 4 of [masterjohn2022]."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import mujoco

import stiction

RADIUS = 0.1  # of both spheres [m]
FIXED, FREE = "fixed", "free"  # names of the geoms
_MODEL = f"""
<mujoco model="spheres">
  <worldbody>
    <geom name="{FIXED}" type="sphere" size="{RADIUS}"/>
    <body><freejoint/><geom name="{FREE}" type="sphere" size="{RADIUS}"/></body>
  </worldbody>
</mujoco>"""


@functools.cache
def load_spheres() -> mujoco.MjModel:
    """Returns the model of both spheres. The pose of the free one is `qpos`."""
    return mujoco.MjModel.from_xml_string(_MODEL)


def make_surfaces(
    moduli: Mapping[str, float], resolution: float, **options: Any
) -> stiction.ContactSurfaces:
    """Makes the contact surfaces of the spheres, both compliant.

    Args:
        moduli: hydroelastic moduli of FIXED and FREE [Pa].
        resolution: resolution hint of their meshes [m].
        **options: arguments of ContactSurfaces.
    """
    materials = {
        name: {"hydroelastic_modulus": modulus, "resolution_hint": resolution}
        for name, modulus in moduli.items()
    }
    properties = {"materials": materials, "geoms": {name: name for name in moduli}}
    return stiction.ContactSurfaces(load_spheres(), properties, **options)
