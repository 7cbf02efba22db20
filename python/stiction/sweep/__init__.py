"""`stiction sweep`: runs scenes under all combinations of models, time steps and parameters."""

from stiction.sweep.config import SweepConfig, read_config
from stiction.sweep.plan import Plan, Unit, make_plan
from stiction.sweep.sweep import SweepResult, run_sweep

__all__ = ["Plan", "SweepConfig", "SweepResult", "Unit", "make_plan", "read_config", "run_sweep"]
