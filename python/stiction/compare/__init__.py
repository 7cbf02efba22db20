"""One scene under every contact model: what each does to a held body, and what it costs."""

from stiction.compare.comparison import compare_models
from stiction.compare.rows import Comparison, Row

__all__ = ["Comparison", "Row", "compare_models"]
