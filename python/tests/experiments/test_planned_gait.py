"""A gait of dm_control's cheetah, planned under `coulomb`, keeps its way under other contact models.

Every foot lands while it moves, so the gait lives on friction in impacts.
"""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from stiction.errors import ignored_settings_are_fine
from stiction.evidence.experiments.real_scenes import load_real_scene
from stiction.runs.run import Run, RunEnd, Strides
from stiction.simulator import Simulator

pytest.importorskip("dm_control")

HOLD = 0.04  # time for which a control is held [s]
# Planned by the cross-entropy method to get as far as possible in 0.52 s.
CONTROLS = np.array([
    [-20, -35, -4, -54, -22, 7], [-63, -67, 27, -75, 9, -68], [-4, -35, -64, -50, 8, 42],
    [80, 66, 21, -59, -76, 5], [66, 53, 73, 86, 85, 57], [91, 63, 67, 46, 82, 80],
    [93, -43, 96, 27, 39, 71], [48, -12, 70, -25, 35, 4], [26, -8, -27, 29, 35, 13],
    [3, 68, 37, 48, 23, -13], [-32, 7, -25, -4, -59, 27], [-45, -13, -59, -34, -38, -34],
    [-10, -66, -58, -79, -77, -74],
]) / 100  # fmt: skip


def replay(contact_model: str, time_step: float, *, has_limits: bool = True) -> float:
    """Returns the way along x under the controls, without feedback [m]."""
    model = load_real_scene("cheetah").model
    model.jnt_limited[:] &= has_limits
    with ignored_settings_are_fine():
        simulator = Simulator(model, contact_model, time_step=time_step, on_failure="stop")
    controls = iter(CONTROLS)

    def drive(data: mujoco.MjData) -> None:
        data.ctrl[:] = next(controls)

    data = mujoco.MjData(model)
    strides = Strides(len(CONTROLS), num_steps=round(HOLD / time_step))
    assert Run(simulator, data, strides, drive).to_end() == RunEnd.done
    return float(data.qpos[0])


@pytest.mark.parametrize("time_step", [1e-2, 2e-3])
def test_the_way_of_a_planned_gait_depends_little_on_the_model(time_step: float) -> None:
    expected = replay("coulomb", 5e-4)
    assert expected > 0.5
    # Friction of the step's end; none in the first step of a contact; a gap below sliding bodies.
    shares = {
        "coulomb": 0.06,
        "tamsi": 0.06,
        "lagged": 0.15,
        "similar": 0.35,
        "rigid_coulomb": 0.35,
    }
    for model, share in shares.items():
        assert replay(model, time_step) == pytest.approx(expected, rel=share), model
    # The joint limits are soft under `coulomb`, and rigid under the rigid models.
    free = [replay(model, 2e-3, has_limits=False) for model in ("coulomb", "rigid_coulomb")]
    assert free[1] == pytest.approx(free[0], rel=0.02)
