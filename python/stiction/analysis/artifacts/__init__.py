"""The artifacts of contact models: what each gets wrong by design, predicted and measured."""

from stiction.analysis.artifacts.budget import ArtifactLog, PairBudget
from stiction.analysis.artifacts.predictions import (
    Artifacts,
    OperatingPoint,
    PairProperties,
    predict_artifacts,
)
from stiction.analysis.artifacts.probe import MeasuredArtifacts, measure_artifacts

__all__ = [
    "ArtifactLog",
    "Artifacts",
    "MeasuredArtifacts",
    "OperatingPoint",
    "PairBudget",
    "PairProperties",
    "measure_artifacts",
    "predict_artifacts",
]
