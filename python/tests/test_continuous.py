"""Tests ContinuousDynamics against closed forms, conservation laws and the steps of Simulator."""

from __future__ import annotations

import builtins
import math
from typing import Any

import mujoco
import numpy as np
import pytest

import stiction
from stiction import ContinuousDynamics, Error, Simulator

RADIUS, MODULUS, DEPTH = 0.1, 1e6, 0.01
DISSIPATION, FRICTION, STICTION_TOLERANCE = 5.0, 0.4, 1e-3


def make_ball(gravity: float = 0.0, more: str = "") -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(f"""
<mujoco>
  <option gravity="0 0 {-gravity}" timestep="0.001"/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 1"/>
    <body name="ball" pos="0 0 {RADIUS - DEPTH}">
      <freejoint/>
      <geom name="ball" size="{RADIUS}" mass="2"/>
    </body>
    {more}
  </worldbody>
</mujoco>""")


def make_properties(hint: float = 0.04, **changes: float) -> dict[str, Any]:
    soft = {
        "hydroelastic_modulus": MODULUS,
        "resolution_hint": hint,
        "dissipation": DISSIPATION,
        "friction": FRICTION,
        **changes,
    }
    rigid = {"rigid": True, "friction": soft["friction"]}
    return {
        "materials": {"soft": soft, "rigid": rigid},
        "geoms": {"ball": "soft", "floor": "rigid"},
    }


def make_dynamics(
    model: mujoco.MjModel, hint: float = 0.04, **changes: float
) -> ContinuousDynamics:
    return ContinuousDynamics(
        model, properties=make_properties(hint, **changes), stiction_tolerance=STICTION_TOLERANCE
    )


def calc_ball_force(velocity: tuple[float, float, float], hint: float = 0.04) -> np.ndarray:
    model = make_ball()
    data = mujoco.MjData(model)
    data.qvel[:3] = velocity
    return make_dynamics(model, hint).calc_forces(data)[:3]


def test_a_sphere_on_a_plane_has_the_force_of_the_closed_form() -> None:
    # F = pi E (a^2 - 2 (R^3 - (R - h)^3) / (3 R)), a^2 = R^2 - (R - h)^2: p = E (1 - r / R).
    rest = RADIUS - DEPTH
    exact = math.pi * MODULUS * (RADIUS**2 - rest**2 - 2 * (RADIUS**3 - rest**3) / (3 * RADIUS))
    assert exact == pytest.approx(293.215, abs=1e-3)
    coarse, fine = (exact - calc_ball_force((0, 0, 0), hint)[2] for hint in (0.01, 0.005))
    # The error is that of the inscribed mesh and of second order.
    assert 0 < fine < coarse < 0.05 * exact
    assert coarse / fine == pytest.approx(4, rel=0.1)


def test_dissipation_is_that_of_hunt_and_crossley() -> None:
    rest = calc_ball_force((0, 0, 0))[2]
    for v_n in (-0.3, -0.01, 0.05):
        assert calc_ball_force((0, 0, v_n))[2] / rest == pytest.approx(1 - DISSIPATION * v_n)
    assert calc_ball_force((0, 0, 0.21))[2] == 0.0  # the force never pulls


@pytest.mark.parametrize("speed", [1e-8, 3e-4, 0.05])
def test_friction_rises_with_slip_and_opposes_it(speed: float) -> None:
    direction = np.array([0.6, 0.8, 0.0])
    force = calc_ball_force(tuple(speed * direction))
    expected = 2 / math.pi * FRICTION * force[2] * math.atan(speed / STICTION_TOLERANCE)
    assert force[:2] == pytest.approx(-expected * direction[:2], rel=1e-9)


def test_without_dissipation_a_ball_rebounds_at_the_speed_of_its_impact() -> None:
    model = make_ball()
    data = mujoco.MjData(model)
    data.qpos[2], data.qvel[2] = RADIUS + 0.001, -0.2
    dynamics = make_dynamics(model, dissipation=0.0, friction=0.0)
    motion = dynamics.integrate(data, 0.1, relative_tolerance=1e-8)
    assert motion.qpos[:, 2].min() < RADIUS - 0.001
    assert data.qpos[2] > RADIUS
    assert data.qvel[2] == pytest.approx(0.2, rel=1e-5)
    assert data.time == pytest.approx(0.1)


def test_a_tumbling_body_keeps_its_angular_momentum() -> None:
    # The moments of inertia differ, so that the angular velocity in the body frame is not constant.
    model = make_ball(
        more='<body pos="0 0 3"><freejoint/><geom type="box" size=".1 .2 .4" mass="1"/></body>'
    )
    data = mujoco.MjData(model)
    data.qpos[2] = 1
    data.qvel[9:12] = [3, 2, -1]
    inertia = model.body_inertia[2]

    def calc_momentum(qpos: np.ndarray, qvel: np.ndarray) -> np.ndarray:
        out, turn = np.zeros(3), np.zeros(4)
        mujoco.mju_mulQuat(turn, qpos[10:14], model.body_iquat[2])
        local = np.zeros(3)
        mujoco.mju_rotVecQuat(local, qvel[9:12], _conjugate(model.body_iquat[2]))
        mujoco.mju_rotVecQuat(out, inertia * local, turn)
        return out

    motion = make_dynamics(model).integrate(data, 2.0, relative_tolerance=1e-9)
    start = calc_momentum(motion.qpos[0], motion.qvel[0])
    for qpos, qvel in zip(motion.qpos, motion.qvel, strict=True):
        assert calc_momentum(qpos, qvel) == pytest.approx(start, rel=1e-6, abs=1e-7)
    assert np.ptp(motion.qvel[:, 9]) > 0.1
    assert np.linalg.norm(motion.qpos[:, 10:14], axis=1) == pytest.approx(1.0)


def _conjugate(quaternion: np.ndarray) -> np.ndarray:
    return quaternion * [1, -1, -1, -1]


def test_steps_converge_to_the_continuous_motion_at_first_order() -> None:
    model = make_ball(gravity=9.81)

    def make_start() -> mujoco.MjData:
        data = mujoco.MjData(model)
        data.qpos[2] = RADIUS - 0.002
        data.qvel[0] = 1.0
        return data

    data = make_start()
    make_dynamics(model).integrate(data, 0.04, relative_tolerance=1e-9)
    errors = []
    for step in (1e-3, 5e-4, 2.5e-4):
        stepped = make_start()
        simulator = Simulator(
            model,
            "lagged",
            time_step=step,
            properties=make_properties(),
            stiction_tolerance=STICTION_TOLERANCE,
            tessellation="triangle",
            quadrature="moment_exact",
            friction_law="arctan",
            tolerance=1e-10,
        )
        for _ in range(round(0.04 / step)):
            simulator.step(stepped)
        errors.append(np.abs(stepped.qvel - data.qvel).max())
    assert errors[0] / errors[1] == pytest.approx(2, rel=0.15)
    assert errors[1] / errors[2] == pytest.approx(2, rel=0.15)


def test_accelerations_include_gravity_and_applied_forces() -> None:
    model = make_ball(gravity=9.81)
    dynamics, data = make_dynamics(model), mujoco.MjData(model)
    data.qfrc_applied[1] = 3.0
    forces = dynamics.calc_forces(data)
    acceleration = dynamics.calc_acceleration(data)
    assert acceleration[2] == pytest.approx(forces[2] / 2 - 9.81)
    assert acceleration[1] == pytest.approx(1.5)
    assert data.qfrc_applied.tolist() == [0, 3.0, 0, 0, 0, 0]


def test_forces_of_two_bodies_are_opposite() -> None:
    model = make_ball(
        more='<body pos="0.1 0.05 1.12"><freejoint/><geom name="other" size=".1" mass="1"/></body>'
    )
    properties = make_properties()
    properties["geoms"]["other"] = "soft"
    data = mujoco.MjData(model)
    data.qpos[2] = 1.0
    data.qvel[:] = [0.1, -0.2, 0.05, 3, -1, 2, -0.3, 0.1, 0, 1, 1, -4]
    forces = ContinuousDynamics(model, properties=properties).calc_forces(data)
    first, second = forces[:3], forces[6:9]
    assert np.linalg.norm(first) > 10
    assert second == pytest.approx(-first, rel=1e-12)
    assert np.dot(second, data.qpos[7:10] - data.qpos[:3]) > 0
    # The bodies are not rotated, so the torques about their centers are in world axes.
    moment = forces[3:6] + forces[9:12]
    moment += np.cross(data.qpos[:3], first) + np.cross(data.qpos[7:10], second)
    assert moment == pytest.approx(np.zeros(3), abs=1e-12 * np.linalg.norm(first))


def test_equal_states_have_equal_forces() -> None:
    model = make_ball()
    dynamics, data = make_dynamics(model), mujoco.MjData(model)
    first = dynamics.calc_forces(data)
    data.qpos[2] += 0.004
    assert dynamics.calc_forces(data)[2] < first[2]
    data.qpos[2] -= 0.004
    data.qpos[2] = RADIUS - DEPTH
    assert np.array_equal(dynamics.calc_forces(data), first)


def test_samples_are_at_the_given_times() -> None:
    model = make_ball(gravity=9.81)
    data = mujoco.MjData(model)
    data.qpos[2], data.time = 1.0, 5.0
    motion = make_dynamics(model).integrate(data, 0.2, times=[0, 0.1, 0.2])
    assert motion.time == pytest.approx([5, 5.1, 5.2])
    assert motion.qpos[:, 2] == pytest.approx(1 - 9.81 / 2 * np.array([0, 0.01, 0.04]))
    assert motion.num_evaluations > 0


def test_geoms_that_touch_in_points_are_refused() -> None:
    model = make_ball(more='<body pos="1 0 0.05"><freejoint/><geom name="peg" size=".1"/></body>')
    with pytest.raises(Error, match="in points"):
        make_dynamics(model).calc_forces(mujoco.MjData(model))


def test_a_model_without_patches_is_refused() -> None:
    with pytest.raises(Error, match="no two geoms can touch in a patch"):
        ContinuousDynamics(make_ball(), properties=None)


def test_arguments_out_of_range_are_refused() -> None:
    model = make_ball()
    with pytest.raises(Error, match="stiction_tolerance"):
        ContinuousDynamics(model, properties=make_properties(), stiction_tolerance=0.0)
    dynamics, data = make_dynamics(model), mujoco.MjData(model)
    with pytest.raises(Error, match="method"):
        dynamics.integrate(data, 0.1, method="rk4")


@pytest.mark.parametrize(
    ("duration", "changes", "message"),
    [
        *((x, {}, "duration: is .*, must be finite") for x in (0.0, -1.0, math.inf, math.nan)),
        *(
            (0.1, {name: x}, f"{name}: is .*, must be finite")
            for name in ("relative_tolerance", "absolute_tolerance")
            for x in (0.0, -1.0, math.inf, math.nan)
        ),
        *(
            (0.1, {"times": times}, r"times: are .*, must be at least one, .* within 0\.\.0\.1")
            for times in ([], [math.nan], [5.0], [-0.1], [0.1, 0.0], [0.05, 0.05])
        ),
        (0.1, {"times": 0.1}, "times: has shape"),
        (0.1, {"times": ["a"]}, "times: is not an array of real numbers"),
        (0.1, {"relative_tolerance": "a"}, "relative_tolerance: is 'a', must be a number"),
    ],
)
def test_arguments_of_integrate_out_of_range_are_refused(
    duration: float, changes: dict[str, Any], message: str
) -> None:
    model = make_ball()
    data = mujoco.MjData(model)
    before = data.qpos.copy()
    with pytest.raises(Error, match=message):
        make_dynamics(model).integrate(data, duration, **changes)
    assert np.array_equal(data.qpos, before) and data.time == 0


@pytest.mark.parametrize("method", ["RK45", "Radau", "LSODA"])
def test_an_integration_that_fails_leaves_data_as_before(method: str) -> None:
    """Numbers that are not finite would keep SciPy's integrators busy for ever."""
    model = make_ball(more='<body pos="1 0 .2"><freejoint/><geom name="peg" size=".1"/></body>')
    data = mujoco.MjData(model)
    data.qvel[8] = -1.0  # the peg lands at 0.1 s, and touches in points
    before = data.qpos.copy()
    with pytest.raises(Error, match="in points"):
        make_dynamics(model).integrate(data, 0.2, method=method)
    assert np.array_equal(data.qpos, before) and data.time == 0
    data.qfrc_applied[0] = math.nan
    with pytest.raises(Error, match="stopped at 0 s, because an acceleration is not finite"):
        make_dynamics(model).integrate(data, 0.2, method=method)
    data.qvel[0] = math.nan
    with pytest.raises(Error, match="data: have a position or velocity that is not finite"):
        make_dynamics(model).integrate(data, 0.2, method=method)


def test_without_scipy_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    actual = builtins.__import__

    def refuse(name: str, *arguments: Any, **more: Any) -> Any:
        if name.startswith("scipy"):
            raise ImportError(name)
        return actual(name, *arguments, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    model = make_ball()
    with pytest.raises(stiction.Error, match=r"stiction\[studies\]"):
        make_dynamics(model).integrate(mujoco.MjData(model), 0.1)
