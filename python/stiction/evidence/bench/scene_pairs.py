"""Runners that compute a scene's contact surfaces, for all pairs of geoms or for one pair alone."""

from __future__ import annotations

import copy
from dataclasses import dataclass

import mujoco

import stiction
from stiction._core import ContactProperties
from stiction.evidence.bench.patch_queries import DRIFT
from stiction.evidence.bench.timing import Runner
from stiction.evidence.engines.drake_model import Surface


@dataclass(frozen=True)
class SurfaceRunner:
    """A runner with the mean number of faces of its queries.

    The number is taken from the queries themselves, because meshes that match in a symmetric state
    have several times as many faces as soon as they slide.
    """

    faces: float
    runner: Runner


def make_surface_runner(
    model: mujoco.MjModel,
    properties: ContactProperties | None,
    data: mujoco.MjData,
    tessellation: Surface,
    num_steps: int,
) -> SurfaceRunner:
    """Makes a runner for all pairs at the state of data, which is copied."""
    surfaces = stiction.ContactSurfaces(model, properties, tessellation=tessellation)
    copied = mujoco.MjData(model)
    mujoco.mj_copyData(copied, model, data)

    def advance(num_times: int) -> None:
        surfaces.calc(copied, num_times, DRIFT)

    # Queries alternate between the displaced and the original state.
    faces = [surfaces.calc(copied, num_times, DRIFT).num_faces for num_times in (1, 2)]
    return SurfaceRunner(sum(faces) / 2, Runner(lambda: None, advance, num_steps))


def make_pair_runners(
    model: mujoco.MjModel,
    properties: ContactProperties | None,
    data: mujoco.MjData,
    tessellation: Surface,
    num_steps: int,
) -> dict[str, SurfaceRunner]:
    """Makes a runner for each pair that touches at the state of data, by the names of its geoms."""
    patches = stiction.ContactSurfaces(model, properties, tessellation=tessellation).calc(data)
    runners = {}
    for patch in patches:
        A, B = patch.geoms
        alone = copy.copy(model)
        alone.geom_contype[:] = alone.geom_conaffinity[:] = 0
        alone.geom_contype[A] = alone.geom_conaffinity[B] = 1
        name = f"{model.geom(A).name}, {model.geom(B).name}"
        runners[name] = make_surface_runner(alone, properties, data, tessellation, num_steps)
    return runners
