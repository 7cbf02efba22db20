"""The settings of a run of the clutter: contact model, time step, stiffness and scene."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

import stiction
from stiction._core import contact_model_traits
from stiction.errors import ignored_settings_are_fine
from stiction.evidence.experiments.clutter import (
    STIFFNESS,
    TIME_STEP,
    make_clutter,
    make_mjcf,
    make_properties,
)
from stiction.setup.options import DEFAULTS

NUM_BODIES = 40
STICTION_TOLERANCE = 1e-4  # v_s [m/s]
REGULARIZATION = 1e-3  # sigma [-]

# A geom's gap divided by the time step [m/s]. The gaps of two geoms add up to the distance that a
# body travels in a step at 5 m/s, the speed of a fall from the top.
_GAP_SPEED = 2.5


@dataclass(frozen=True)
class ClutterCase:
    """The settings of a run. The defaults are those of figure 14."""

    contact_model: str
    time_step: float = TIME_STEP  # [s]
    stiffness: float = STIFFNESS  # stiffness of a contact [N/m]
    seed: int = 0  # seed of the scene
    tolerance: float = DEFAULTS["tolerance"]  # relative tolerance of the solver
    stiction_tolerance: float = STICTION_TOLERANCE  # v_s [m/s]
    friction_regularization: float = REGULARIZATION  # sigma [-]
    near_rigid_factor: float = 1.0  # beta of 'sap' [-]; 0 means that the stiffness has no limit

    def make_simulator(self) -> stiction.Simulator:
        """Makes a simulator of the scene."""
        scene = make_clutter(NUM_BODIES, self.seed)
        text = make_mjcf(scene, self.time_step, self.stiffness, _GAP_SPEED * self.time_step)
        with ignored_settings_are_fine():
            return stiction.Simulator(
                mujoco.MjModel.from_xml_string(text),
                self.contact_model,
                properties=make_properties(self.stiffness),
                tolerance=self.tolerance,
                stiction_tolerance=self.stiction_tolerance,
                friction_regularization=self.friction_regularization,
                near_rigid_factor=self.near_rigid_factor,
                on_failure="keep_best",
            )


# The paper's 'similar' has the slip tolerance v_s. Stiction's default also has sigma, as in (44).
PLAIN_SIMILAR = "similar, sigma = 0"
# The paper's 'sap' has beta = 1, which limits the stiffness to about that of a time step.
STIFF_SAP = "sap, beta = 0"
VARIANTS = {
    PLAIN_SIMILAR: ClutterCase("similar", friction_regularization=0.0),
    STIFF_SAP: ClutterCase("sap", near_rigid_factor=0.0),
}


def calc_stiction_speed(case: ClutterCase, contacts: stiction.ContactReport) -> float:
    """Returns the slip speed below which a contact sticks, as the mean of the loaded contacts [m/s].

    It is NaN if no contact is loaded or the model has no such speed. With the normal impulse
    gamma_n of this step, which the lagged models replace by that of the previous step,

        sap                                      sigma w mu gamma_n
        lagged, tamsi                            v_s
        lagged_regularized, similar, coulomb     max(v_s, sigma w mu gamma_n)

    Source: [castro2023] section VIII.
    """
    normal = contacts.normal_impulse
    loaded = normal > 0
    traits = contact_model_traits(case.contact_model)
    if traits.is_mj_step or not loaded.any():
        return float("nan")
    if not traits.uses_friction_regularization:
        return case.stiction_tolerance
    w, mu = contacts.delassus[loaded], contacts.friction[loaded]
    speed = case.friction_regularization * w * mu * normal[loaded]
    if traits.uses_stiction_tolerance:
        speed = np.maximum(case.stiction_tolerance, speed)
    return float(np.mean(speed))
