"""How a user of each family of engines learns that a step is wrong."""

from __future__ import annotations

REPORTS = {
    "stiction": "the status and the warnings of each step; the certificate bounds the error of convex "
    "models, and checks the laws of all",
    "mujoco": "counters of warnings in mjData for bad states, full buffers and singular inertia; "
    "statistics of the solver without a bound",
    "drake": "an exception if the solver of a step fails",
    "newton": "flags and printed warnings for full buffers; no residual",
    "bullet": "nothing",
}
