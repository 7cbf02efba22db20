"""One scene under every contact model: what each does to a held body, and what it costs."""

from stiction.compare.comparison import Comparison, Row, compare_models

__all__ = ["Comparison", "Row", "compare_models"]
