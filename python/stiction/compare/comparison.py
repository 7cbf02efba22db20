"""Runs a scene under several contact models and collects the results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from stiction.binding.interrupts import AfterStep
from stiction.compare.cases import CaseRun, choose_filmed, make_cases
from stiction.compare.rows import Comparison
from stiction.runs.controls import ControlsName
from stiction.runs.held_body import find_held_body, find_hold_start, find_judged_start
from stiction.runs.run import RunSettings
from stiction.scene import Scene
from stiction.setup.defaults import builtin_defaults
from stiction.setup.options import DEFAULTS


@builtin_defaults()
def compare_models(
    scene: Scene,
    contact_models: Sequence[str] | None = None,
    *,
    normal_law: str = DEFAULTS["normal_law"],
    friction_law: str = DEFAULTS["friction_law"],
    settings: Mapping[str, Any] | None = None,
    time_step: float | None = None,
    duration: float | None = None,
    tolerance: float = DEFAULTS["tolerance"],
    controls: ControlsName | None = None,
    seed: int = 0,
    accuracy: float | None = None,
    period: float | None = None,
    after_step: AfterStep = lambda: False,
) -> Comparison:
    """Runs a scene from its initial state under each contact model.

    If a model fails, its row has the reason, and the other models still run.

    Args:
        scene: the scene, as load_scene returns it.
        contact_models: names of contact models; None means all. 'mujoco' runs with its remedies
            against creep too: larger values of impratio, and the noslip solver.
        normal_law, friction_law: as in Simulator, for the models that use laws. A model that refuses
            the friction law, as most do 'elastic', runs with its own friction; its label says so.
        settings: other arguments of Simulator, such as friction_directions. A model ignores those
            that it does not use.
        time_step: [s]; None means the scene's.
        duration: [s]; None means to the end of the scene's schedule of controls, or 2 s.
        tolerance: relative tolerance of models that Newton's method solves, in (0, 1) [-].
        controls: what drives the actuators, as in `stiction run`. None means the scene's schedule
            of controls; without one, the controls of the first keyframe; without any, zero.
        seed: seed of the random controls, at least 0.
        accuracy: adds a run under error control to each model with which a simulator can advance
            [m]; None means no such runs.
        period: time between two controls of these runs [s]; None means 10 time steps.
        after_step: called after each step; the comparison stops if it returns True.

    Raises:
        Error: an argument is out of range, or a declaration in the scene is invalid.
    """
    cases = make_cases(scene, contact_models, accuracy, friction_law)
    held = find_held_body(scene)
    run_settings = RunSettings(
        scene,
        time_step=time_step,
        duration=duration,
        controls=controls,
        seed=seed,
        options={"tolerance": tolerance, **(settings or {})},
    )
    chosen, step = run_settings.find_controls(), run_settings.find_time_step()
    start, length = float(scene.make_data().time), run_settings.count_steps() * step
    hold_start = find_hold_start(scene, chosen)
    comparison = Comparison(
        scene=str(scene.path),
        held=held.name if held else None,
        normal_law=normal_law,
        friction_law=friction_law,
        settings=dict(settings or {}),
        time_step=step,
        duration=length,
        tolerance=tolerance,
        controls=chosen.value,
        seed=seed,
        hold_start=hold_start,
        judged_from=find_judged_start(start, start + length, held, hold_start),
        accuracy=accuracy,
        period=period,
    )
    # All cases end at the same time, also those under error control.
    run_settings = replace(run_settings, time_step=step, duration=length)
    filmed = choose_filmed(cases)
    for case in cases:
        run = CaseRun(case, run_settings, held, comparison, case.label in filmed)
        run.step(after_step)
        comparison.rows.append(run.finish())
        comparison.traces.append(run.trace)
        if run.film.frames:
            comparison.films.append(run.film)
        if comparison.interrupted:
            break
    return comparison
