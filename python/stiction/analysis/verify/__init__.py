"""Verifies the steps of a recording anew, with MuJoCo's functions and NumPy, and without a solver."""

from stiction.analysis.verify.verification import Verification, verify_recording

__all__ = ["Verification", "verify_recording"]
