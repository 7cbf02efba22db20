"""A gait that is planned under the default contact model, and replayed without feedback.

Every foot of dm_control's cheetah lands while it moves, so the gait lives on friction in impacts. A
plan is useful only if the way of the robot depends little on the contact model and on the time step.
"""

from __future__ import annotations

from collections.abc import Iterable

from stiction.evidence.experiments.real_scenes import load_real_scene
from stiction.evidence.studies.checks import Check, check_at_least, check_near
from stiction.evidence.studies.cheetah.plan import HOLD, Effort, Planner, Vector, replay
from stiction.evidence.studies.cheetah.plots import draw_ways
from stiction.evidence.studies.study import Settings, Study, StudyResult
from stiction.inputs.names import find_models
from stiction.setup.options import DEFAULTS

EFFORT, QUICK_EFFORT = Effort(3, 64, 10), Effort(2, 32, 8)
NUM_CONTROLS = 13  # number of planned controls; later the motion is chaotic [-]
STEPS = (1e-2, 2e-3, 5e-4)  # time steps [s]; with the first, the scene's, the gait is planned
LEAST_WAY = 0.5  # [m]

PLANNED_UNDER: str = DEFAULTS["contact_model"]
COUPLED = ("coulomb", "tamsi")  # friction uses the normal impulse of the step's end
LAGGED = ("lagged", "lagged_regularized")  # friction uses the normal impulse of the step before
GLIDING = ("sap", "similar")  # sliding bodies glide on a gap
UNLIMITED = ("coulomb", "rigid_coulomb", "stewart_trinkle")  # are also run without joint limits

Ways = dict[str, dict[float, Vector]]  # positions along x by contact model and time step
Ends = dict[str, dict[float, float]]  # positions along x at the end, likewise


def run_study(settings: Settings) -> StudyResult:
    """Plans the gait, and replays it under all models and with all time steps.

    Raises:
        Error: dm_control is not installed.
    """
    result = StudyResult()
    settings.tell(f"planning under {PLANNED_UNDER}")
    model = load_real_scene("cheetah").model
    planner = Planner(model, PLANNED_UNDER, QUICK_EFFORT if settings.quick else EFFORT)
    controls = planner.plan(NUM_CONTROLS)

    def replay_all(names: Iterable[str]) -> Ways:
        ways: Ways = {}
        for name in names:
            settings.tell(f"replaying under {name}")
            ways[name] = {step: replay(model, controls, name, step) for step in STEPS}
        return ways

    ways = replay_all(dict.fromkeys([PLANNED_UNDER, *settings.contact_models]))
    model.jnt_limited[:] = 0
    free = replay_all(settings.pick(*UNLIMITED))
    ends, free_ends = _find_ends(ways), _find_ends(free)
    result.figures = {
        "planned_under": PLANNED_UNDER,
        "controls": controls.tolist(),
        "way": ends,
        "way_without_joint_limits": free_ends,
    }
    result.checks = [*_check_ways(ends), *_check_free(free_ends)]
    shown = {name: {step: of[step] for step in STEPS[::2]} for name, of in ways.items()}
    result.plots = {"ways": draw_ways(shown, HOLD * STEPS[0], PLANNED_UNDER)}
    return result


def _find_ends(ways: Ways) -> Ends:
    """Returns the way at the end by contact model and time step [m]."""
    return {name: {step: float(way[-1]) for step, way in of.items()} for name, of in ways.items()}


def _check_ways(ends: Ends) -> list[Check]:
    """Compares the ways with that of the planning model at the smallest time step."""
    planned, expected = ends[PLANNED_UNDER][STEPS[0]], ends[PLANNED_UNDER][STEPS[-1]]
    checks = [check_at_least("planned way [m]", planned, LEAST_WAY, "the robot runs")]
    for name, of_steps in ends.items():
        for step, way in of_steps.items():
            what = f"way, {name}, {1e3 * step:g} ms [m]"
            relative, source = 0.35, "harder joint limits"
            if name in COUPLED:
                relative, source = 0.06, "friction of the step's end"
            elif name in LAGGED:
                relative, source = 0.15, "no friction in the first step of a contact"
            elif name in GLIDING:
                source = "glides on a gap"
            checks.append(check_near(what, way, expected, relative, source))
    return checks


def _check_free(ends: Ends) -> list[Check]:
    """Compares rigid Coulomb friction with `coulomb` without joint limits.

    The limits are soft under `coulomb` and rigid under the others.
    """
    if "coulomb" not in ends:
        return []
    return [
        check_near(
            f"way without joint limits, {name}, {1e3 * step:g} ms [m]",
            ends[name][step],
            ends["coulomb"][step],
            0.02,
            "coulomb",
        )
        for name in ends
        if name != "coulomb"
        for step in STEPS[1:]
    ]


STUDY = Study(
    name="cheetah",
    title="a gait that is planned under one contact model and replayed under others",
    run=run_study,
    plots=("ways",),
    contact_models=tuple(
        find_models(lambda model: model.uses_friction and model.name != "drumwright_shell")
    ),
)
