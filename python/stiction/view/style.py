"""What the page shows of each scene."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Style:
    """What is drawn.

    patches, traction, slip: patches, and the arrows on their faces.
    points, forces: contact points, and the arrows of their forces.
    opacity: of geoms with pressure fields, in [0, 1]. A patch lies inside them.
    cut_geom: id of the geom that is cut open, or None.
    cut_axis: axis of the geom's frame that is normal to the cut, 0 to 2.
    cut_place: place of the cut, from -1 to 1 through the geom.
    """

    patches: bool = True
    traction: bool = False
    slip: bool = False
    points: bool = True
    forces: bool = True
    opacity: float = 0.3
    cut_geom: int | None = None
    cut_axis: int = 0
    cut_place: float = 0.0
