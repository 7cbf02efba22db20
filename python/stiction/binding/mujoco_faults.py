"""Known faults of releases of MuJoCo, for users of the contact model `mujoco`."""

from __future__ import annotations

import mujoco

from stiction.errors import StepWarning, warn

# MuJoCo's issue 3767: the sparse Cholesky factor of the Newton solver's Hessian is wrong. Corrected in
# MuJoCo 4.0.1. Stiction's own contact models do not call this solver.
WRONG_HESSIAN = "4.0.0"


def warn_of_faults(model: mujoco.MjModel) -> None:
    """Gives a StepWarning if the installed MuJoCo may solve the contacts of the model wrongly.

    Args:
        model: the model, with the options that mj_step will read.
    """
    if mujoco.__version__ != WRONG_HESSIAN:
        return
    if model.opt.solver == mujoco.mjtSolver.mjSOL_NEWTON and mujoco.mj_isSparse(model):
        warn(
            StepWarning(
                "mujoco",
                f"MuJoCo {WRONG_HESSIAN} may compute wrong accelerations or diverge under the contact "
                "model 'mujoco', because its Newton solver factors the Hessian wrongly if the constraint "
                'Jacobian is sparse (issue 3767 of MuJoCo); set <option jacobian="dense"/>, or take '
                'another contact model, or pip install "mujoco-core>=4.0.1,<4.1" (pip then reports that '
                "the package mujoco 4.0.0 pins another version)",
            )
        )
