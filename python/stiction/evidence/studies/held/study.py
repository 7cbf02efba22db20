"""Bodies that are held: how fast they creep under every model, and under friction by springs."""

from __future__ import annotations

import math
from collections.abc import Iterable

from stiction._core import contact_model_traits
from stiction.evidence.studies.checks import Check, check_at_most, check_near
from stiction.evidence.studies.held import drake, newton, scenes
from stiction.evidence.studies.held.peers import Creep, add_peers
from stiction.evidence.studies.held.plots import draw_creep, draw_sweeps
from stiction.evidence.studies.held.run import Variant, list_variants, measure_creep
from stiction.evidence.studies.held.scenes import HeldScene
from stiction.evidence.studies.study import Settings, Study, StudyResult
from stiction.inputs.names import find_models
from stiction.setup.options import DEFAULTS

PEERS = (drake.PEER, newton.PEER)
SHARES, QUICK_SHARES = (0.1, 0.3, 0.5, 0.7, 0.9, 0.99), (0.3, 0.7)
STEPS, QUICK_STEPS = (1e-3, 2e-3, 5e-3, 1e-2), (2e-3, 1e-2)  # [s]
STIFFNESSES, QUICK_STIFFNESSES = (1e5, 1e6, 1e7, 1e8, 1e10, 1e12), (1e6, 1e10)  # [N/m]

# The largest creep under springs [m/s]. That of a solve's tolerance is below all of them.
_LIMITS = {
    "cube": 1e-9,
    "plate that turns": 1e-6,
    "wall": 1e-9,
    "stack": 1e-9,
    "vibration": 1e-8,
    # MuJoCo lists other contact points of these two from step to step.
    "can on a box": 1e-7,
    "mesh": 1e-8,
    "spatula": 1e-6 / 60,  # 1 um in a minute
}
_LAW = "[theory:anchors]: what sticks does not creep"
_CREEP = "[theory:creep]: v_s rho / sqrt(1 - rho^2)"
_CHORD = "omega^2 r dt / 2: a step moves a free body along a chord"

Sweep = dict[str, dict[float, float | None]]  # creep [m/s] by variant and value


def run_study(settings: Settings) -> StudyResult:
    """Measures the creep in all scenes, and over load, time step and stiffness."""
    variants = list_variants(settings.contact_models)
    all_scenes = (
        scenes.make_cube(),
        scenes.make_plate(),
        scenes.make_wall(),
        scenes.make_stack(),
        scenes.make_vibration(),
        scenes.make_can(),
        scenes.make_prism(),
        scenes.make_spatula(),
    )
    creep = {scene.name: _measure_all(scene, variants, settings) for scene in all_scenes}
    result = StudyResult()
    add_peers(PEERS, all_scenes, creep, result, settings)
    shown = [v for v in variants if v.contact_model in ("lagged", "sap") or v.is_elastic]
    loads = _sweep_load(shown, settings)
    steps = _sweep_step(shown, settings)
    stiffnesses = _sweep_stiffness([v for v in shown if v.is_elastic], settings)
    result.figures = {
        "creep": creep,
        "over_load": loads,
        "over_time_step": steps,
        "over_stiffness": stiffnesses,
    }
    result.checks = [
        *_check_springs(creep, variants),
        *_check_load(loads),
        *_check_chord(steps),
        *_check_stiffness(stiffnesses),
    ]
    result.plots = {
        "creep": draw_creep(creep),
        "sweeps": draw_sweeps(
            {
                "load / friction bound, wall: share [-]": loads,
                "time step, plate that turns [s]": steps,
                "stiffness, cube [N/m]": stiffnesses,
            }
        ),
    }
    return result


def _measure_all(
    scene: HeldScene, variants: Iterable[Variant], settings: Settings
) -> dict[str, float | None]:
    """Measures all variants that take the scene."""
    settings.tell(scene.name)
    speeds = {}
    for variant in variants:
        if scene.has_patches and not contact_model_traits(variant.contact_model).takes_patches:
            continue
        stiffness = 1e7 if scene.name == "stack" else None
        speeds[variant.name] = measure_creep(variant, scene, stiffness=stiffness)
    return speeds


def _sweep_load(variants: Iterable[Variant], settings: Settings) -> Sweep:
    settings.tell("over load")
    shares = QUICK_SHARES if settings.quick else SHARES
    v_s = DEFAULTS["stiction_tolerance"]
    sweep: Sweep = {"prediction": {s: v_s * s / math.sqrt(1 - s * s) for s in shares}}
    for variant in variants:
        sweep[variant.name] = {s: measure_creep(variant, scenes.make_wall(s)) for s in shares}
    return sweep


def _sweep_step(variants: Iterable[Variant], settings: Settings) -> Sweep:
    settings.tell("over time step")
    steps = QUICK_STEPS if settings.quick else STEPS
    sweep: Sweep = {"prediction": {dt: scenes.TURN_SPEED**2 * scenes.ARM * dt / 2 for dt in steps}}
    for variant in variants:
        sweep[variant.name] = {dt: measure_creep(variant, scenes.make_plate(), dt) for dt in steps}
    return sweep


def _sweep_stiffness(variants: Iterable[Variant], settings: Settings) -> Sweep:
    settings.tell("over stiffness")
    stiffnesses = QUICK_STIFFNESSES if settings.quick else STIFFNESSES
    return {
        variant.name: {
            k: measure_creep(variant, scenes.make_cube(), stiffness=k) for k in stiffnesses
        }
        for variant in variants
    }


def _check_springs(creep: Creep, variants: Iterable[Variant]) -> list[Check]:
    return [
        check_at_most(f"{scene}, {v.name}: creep [m/s]", creep[scene][v.name], limit, _LAW)
        for scene, limit in _LIMITS.items()
        for v in variants
        if v.is_elastic
    ]


def _check_load(loads: Sweep) -> list[Check]:
    return [
        check_near(
            f"wall at {share:g} of its capacity, lagged: creep [m/s]",
            speed,
            loads["prediction"][share] or 0.0,
            0.02,
            _CREEP,
        )
        for share, speed in loads.get("lagged", {}).items()
    ]


def _check_chord(steps: Sweep) -> list[Check]:
    return [
        check_near(
            f"plate that turns, lagged, {1e3 * dt:g} ms: drift [m/s]",
            speed,
            steps["prediction"][dt] or 0.0,
            0.15,
            _CHORD,
        )
        for dt, speed in steps.get("lagged", {}).items()
    ]


def _check_stiffness(stiffnesses: Sweep) -> list[Check]:
    return [
        check_at_most(f"cube of {k:g} N/m, {name}: creep [m/s]", speed, 1e-9, _LAW)
        for name, speeds in stiffnesses.items()
        for k, speed in speeds.items()
    ]


STUDY = Study(
    name="held",
    title="bodies that are held, and how fast they creep",
    run=run_study,
    plots=("creep", "sweeps"),
    contact_models=tuple(find_models(lambda model: model.name not in ("viscous", "tamsi"))),
)
