"""The settings of Newton's solvers that their documentation recommends."""

from __future__ import annotations

from typing import Any

WARP: dict[str, Any] = {
    "cone": "elliptic",
    "impratio": 10.0,
    "iterations": 100,
    "ls_iterations": 50,
    "tolerance": 1e-8,
}
# Anchors are the default of this solver. Its warning on dropped rows asks for the larger capacity.
STEEL: dict[str, Any] = {"iterations": 100, "articulation_constraint_max": 512}
