"""How safely a body is held: slip margin, creep and torsional limit under each contact model."""

from stiction.analysis.grasp.grasp import Grasp, GraspRow, measure_grasp

__all__ = ["Grasp", "GraspRow", "measure_grasp"]
