"""Tet meshes for pressure fields: made from surfaces, checked, and written."""

from stiction.meshing.surface_file import Surface, read_surface
from stiction.meshing.tet_mesh import TetMesh, make_report, tetrahedralize

__all__ = ["Surface", "TetMesh", "make_report", "read_surface", "tetrahedralize"]
