"""The report on a tet mesh: its quality, volume, field and limits."""

from __future__ import annotations

from typing import Any

import stiction._core as _core
from stiction.meshing.surface_file import Surface
from stiction.meshing.tet_mesh import TetMesh

_TYPICAL_TIME_STEP = 2e-3  # MuJoCo's default [s]
POOR_QUALITY = 0.05  # 1 is a regular tet, and 0 a flat one


def make_report(mesh: TetMesh, surface: Surface | None = None) -> dict[str, Any]:
    """Makes the report of `stiction mesh`.

    Args:
        mesh: a mesh that passed its check and has a field.
        surface: the surface that the mesh was made from, if any.

    Returns:
        A dict fit for JSON, in SI units: the counts of elements; `min_quality` in (0, 1] and
        `worst_tet`; `volume`; `greatest_distance` of a vertex from the boundary; `speed_limit`,
        above which another body can pass the deepest points within a step of 2 ms; kind and range
        of the `field`; `warnings`; and for a surface `is_watertight` with its `volume`, or with its
        `fault`.
    """
    report: dict[str, Any] = {**_core.summarize_tet_mesh(mesh.vertices, mesh.tets)}
    report["greatest_distance"] = report["thickness"] / 2
    report["speed_limit"] = report["greatest_distance"] / _TYPICAL_TIME_STEP
    report["field"] = {
        "kind": mesh.field_kind,
        "min": float(mesh.field.min()),
        "max": float(mesh.field.max()),
    }
    report["surface"] = None
    if surface is not None:
        fault = surface.find_fault()
        report["surface"] = {
            "num_triangles": len(surface.triangles),
            "is_watertight": not fault,
            "fault": fault or None,
            "volume": None if fault else surface.calc_volume(),
        }
    report["warnings"] = _find_warnings(report)
    return report


def _find_warnings(report: dict[str, Any]) -> list[str]:
    warnings = []
    if report["surface"] and not report["surface"]["is_watertight"]:
        warnings.append(
            "the surface is not watertight, so its inside had to be guessed; look at the mesh, or "
            "close the surface"
        )
    if report["min_quality"] < POOR_QUALITY:
        warnings.append(
            f"tet {report['worst_tet']} has a quality of {report['min_quality']:.2g}; the pressure "
            "changes steeply in such flat tets"
        )
    if count := report["num_tets_on_boundary"]:
        warnings.append(
            f"{count} of {report['num_tets']} tets have all vertices on the boundary and so no "
            "pressure; contact begins only below them; a smaller --edge-length makes them thinner"
        )
    return warnings
