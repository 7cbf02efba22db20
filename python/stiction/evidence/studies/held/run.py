"""Runs a scene under a contact model, and measures how fast the held body moves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from stiction._core import contact_model_traits
from stiction.errors import Error, ignored_settings_are_fine
from stiction.evidence.studies.held.scenes import HeldScene
from stiction.simulator import Simulator

STEP = 2e-3  # [s]
_NOSLIP_ITERATIONS = 20


@dataclass(frozen=True)
class Variant:
    """A contact model with its friction law, or MuJoCo's with its remedy.

    contact_model: the model.
    is_elastic: whether contacts stick by springs.
    has_noslip: whether MuJoCo takes passes against slip.
    """

    contact_model: str
    is_elastic: bool = False
    has_noslip: bool = False

    @property
    def name(self) -> str:
        """The name in tables and plots."""
        suffix = ", elastic" if self.is_elastic else ", noslip" if self.has_noslip else ""
        return self.contact_model + suffix


def list_variants(contact_models: tuple[str, ...]) -> list[Variant]:
    """Returns the models, those with springs again with them, and MuJoCo again with its remedy."""
    variants = []
    for name in contact_models:
        traits = contact_model_traits(name)
        variants.append(Variant(name))
        if traits.takes_anchors:
            variants.append(Variant(name, is_elastic=True))
        if traits.is_mj_step:
            variants.append(Variant(name, has_noslip=True))
    return variants


def find_time_step(scene: HeldScene) -> float:
    """Returns the time step of a scene [s]. Scenes with patches have one of their own."""
    return float(scene.model.opt.timestep) if scene.has_patches else STEP


def measure_creep(
    variant: Variant,
    scene: HeldScene,
    time_step: float | None = None,
    stiffness: float | None = None,
) -> float | None:
    """Returns the speed of the held body in the frame of its holder [m/s].

    Args:
        variant: the contact model.
        scene: the scene.
        time_step: the time step [s]; None means find_time_step.
        stiffness: of all surfaces [N/m]; None: near-rigid.

    Returns:
        The displacement over the duration of the measurement, as a speed; None if the model cannot
        take the scene, or a step failed.
    """
    if time_step is None:
        time_step = find_time_step(scene)
    options: dict[str, Any] = {"friction_law": "elastic"} if variant.is_elastic else {}
    properties = scene.properties
    if properties is None and stiffness is not None:
        properties = {"materials": {"all": {"stiffness": 2 * stiffness}}, "geoms": {"*": "all"}}
    model = scene.model
    model.opt.noslip_iterations = _NOSLIP_ITERATIONS if variant.has_noslip else 0
    data = mujoco.MjData(model)
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    try:
        with ignored_settings_are_fine():
            simulator = Simulator(
                model,
                variant.contact_model,
                properties=properties,
                time_step=time_step,
                on_failure="stop",
                **options,
            )
    except Error:
        return None

    def take(duration: float) -> bool:
        for _ in range(round(duration / simulator.time_step)):
            scene.drive(data)
            if not simulator.step(data).ok:
                return False
        return True

    if not take(scene.settle):
        return None
    start, begin = scene.find_place(data), data.time
    if not take(scene.duration):
        return None
    way = float(np.linalg.norm(scene.find_place(data) - start))
    speed = way / (data.time - begin)
    return speed if math.isfinite(speed) else None
