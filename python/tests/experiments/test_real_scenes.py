"""Tests that scenes of other packages run under every convex contact model."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from stiction.evidence.experiments.real_scenes import load_real_scene, scene_names
from stiction.inputs.names import find_models
from stiction.runs.controls import RandomControls
from stiction.scene import Scene

MODELS = find_models(lambda model: model.has_error_bound and not model.is_rigid)
DURATION = 2.0  # [s]

pytest.importorskip("dm_control", reason="scenes of dm_control are not installed")


@pytest.fixture(scope="module", params=scene_names())
def scene(request: pytest.FixtureRequest) -> Scene:
    return load_real_scene(request.param)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::stiction.StictionWarning")
@pytest.mark.parametrize("contact_model", MODELS)
def test_random_controls_give_finite_certified_steps(scene: Scene, contact_model: str) -> None:
    simulator = scene.make_simulator(contact_model, on_failure="stop")
    data = scene.make_data()
    controls = RandomControls(scene.model, seed=1)
    for _ in range(round(DURATION / simulator.time_step)):
        controls(data)
        report = simulator.step(data)
        assert report.ok, f"t = {data.time:.4f}: {report.status}: {report.message}"
        assert report.certificate.ok
        # If all forces vanish, the tolerance is absolute, 1e-14 sqrt(J).
        certificate = report.certificate
        assert certificate.relative_residual <= 1e-5 or certificate.error_bound <= 1e-13
    assert np.isfinite(data.qpos).all()
    assert np.isfinite(data.qvel).all()
    assert data.warning.number.sum() == 0
    assert data.time == pytest.approx(DURATION, abs=simulator.time_step)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::stiction.StictionWarning")
def test_tamsi_gives_certified_steps_or_stops_with_a_message(scene: Scene) -> None:
    """Not every step converges: humanoid stops at 0.21 s and 22_humanoids at 0.18 s."""
    simulator = scene.make_simulator("tamsi", on_failure="stop")
    data = scene.make_data()
    controls = RandomControls(scene.model, seed=1)
    num_steps = 0
    while data.time < DURATION:
        controls(data)
        before = data.qpos.copy()
        report = simulator.step(data)
        if not report.ok:
            assert report.status == "not_converged"
            assert "tamsi found no solution" in report.message
            assert np.array_equal(data.qpos, before)
            break
        assert report.certificate.ok
        assert report.certificate.error_bound == np.inf
        num_steps += 1
    assert num_steps > 30


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::stiction.StictionWarning")
@pytest.mark.parametrize("contact_model", MODELS)
def test_energy_does_not_grow_when_undriven(scene: Scene, contact_model: str) -> None:
    model = scene.model
    disabled, enabled = model.opt.disableflags, model.opt.enableflags
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_ACTUATION
    model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    try:
        simulator = scene.make_simulator(contact_model)
        data = scene.make_data()
        mujoco.mj_forward(model, data)
        energy = [data.energy.sum()]
        num_steps = round(DURATION / simulator.time_step)
        for _ in range(num_steps):
            simulator.step(data)
            energy.append(data.energy.sum())
    finally:
        model.opt.disableflags, model.opt.enableflags = disabled, enabled

    # Some scenes start with violated limits or contacts, which release energy first: the ankles of
    # ant are off by 0.5 rad. After that nothing drives the scenes. A first-order step conserves the
    # energy of free motion only to O(dt): with mj_step itself, the humanoid gains 0.97 J in one step
    # of 5 ms while it falls by 258 J. The gain is proportional to the time step.
    range_of_energy = max(energy) - min(energy)
    free = np.array(energy[num_steps // 8 :])
    assert free.max() <= free[0] + 1e-3 * range_of_energy + 1e-9
    assert (free - np.minimum.accumulate(free)).max() <= 0.02 * range_of_energy + 1e-9
