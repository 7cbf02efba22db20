"""Comparison of contact models on one scene: creep of a held body, penetration, error and cost."""

from stiction.compare.comparison import compare_models
from stiction.compare.rows import Comparison, Row

__all__ = ["Comparison", "Row", "compare_models"]
