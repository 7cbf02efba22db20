"""A study of one step in free fall."""

from __future__ import annotations

import mujoco
from matplotlib.figure import Figure

from stiction.evidence.studies.checks import check_near
from stiction.evidence.studies.study import Settings, Study, StudyResult
from stiction.simulator import Simulator

_SCENE = "<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>"


def run_study(settings: Settings) -> StudyResult:
    """Checks the speed after one step under each model."""
    result = StudyResult()
    for name in settings.contact_models:
        model = mujoco.MjModel.from_xml_string(_SCENE)
        data = mujoco.MjData(model)
        Simulator(model, name).step(data)
        speed = float(data.qvel[2])
        result.figures[name] = speed
        result.checks.append(
            check_near(f"speed [m/s], {name}", speed, -9.81 * 2e-3, 1e-12, "free fall")
        )
    result.plots["speed"] = Figure()
    return result


STUDY = Study("dummy_study", "A body falls for one step", run_study, plots=("speed",))
