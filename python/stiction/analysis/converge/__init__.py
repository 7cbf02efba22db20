"""Convergence of a scene with the time step: observed order, and the step that an accuracy takes."""

from stiction.analysis.converge.convergence import (
    Convergence,
    ModelConvergence,
    measure_convergence,
)

__all__ = ["Convergence", "ModelConvergence", "measure_convergence"]
