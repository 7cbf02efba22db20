"""Tests the exact answers of the scorecard's scenes by means other than their derivations."""

from __future__ import annotations

import math

import numpy as np
import pytest

from stiction.evidence.engines.adapters.stiction_adapter import StictionAdapter
from stiction.evidence.engines.drive import drive
from stiction.evidence.scorecard.scene import Measurement, Scene, cut
from stiction.evidence.scorecard.scene_table import SCENES
from stiction.evidence.scorecard.scenes import capstan, conveyor, depths, dominoes, wedge


def integrate(rate: float, start: float, stop: float) -> tuple[float, float]:
    """Returns time and distance until a speed that changes at a constant rate reaches `stop`."""
    time = (stop - start) / rate
    return time, (start + stop) / 2 * time


def test_stopping_distance_is_the_integral_of_the_speed() -> None:
    _, distance = integrate(-0.5 * 9.81, 1.0, 0.0)
    assert SCENES["stopping_distance"].exact == pytest.approx(1e3 * distance)


def test_bowling_conserves_the_angular_momentum_about_the_line_of_contact() -> None:
    # v + (2/5) R w is constant, so rolling ends at 5/7 of the speed.
    time, distance = integrate(-0.2 * 9.81, 2.0, 10 / 7)
    assert SCENES["bowling"].exact == pytest.approx(1e3 * (distance + 10 / 7 * (0.6 - time)))


def test_rolling_sphere_conserves_energy() -> None:
    # The kinetic energy of a rolling sphere is 7/10 m v^2, and v = 2 x / t from rest.
    distance = SCENES["rolling_sphere"].exact / 1e3
    speed = 2 * distance / 1.0
    assert 0.7 * speed**2 == pytest.approx(9.81 * math.sin(math.radians(20)) * distance)


def test_conveyor_path_solves_the_equation_of_motion() -> None:
    """Steps of 10 us of Coulomb's law in one dimension agree with the piecewise solution."""
    dt = 1e-5
    count = round(conveyor.DURATION / dt)
    belt = conveyor.AMPLITUDE * conveyor.OMEGA * np.sin(conveyor.OMEGA * dt * np.arange(count + 1))
    most = conveyor.FRICTION * 9.81 * dt
    v, x, path = 0.0, 0.0, [0.0]
    for kick in -np.diff(belt):
        v += kick
        v -= math.copysign(min(abs(v), most), v)
        x += v * dt
        path.append(x)
    exact = conveyor.calc_path(dt * np.arange(count + 1))
    assert np.ptp(exact) > 0.01
    # First order: the largest speed is below 0.2 m/s, so a step moves by 2 um.
    np.testing.assert_allclose(path, exact, atol=2e-5)


def test_capstan_of_many_beads_is_eulers(monkeypatch: pytest.MonkeyPatch) -> None:
    euler = capstan.HOLD * math.exp(capstan.FRICTION * capstan.WRAP)
    errors = []
    for count in (50, 100):
        monkeypatch.setattr(capstan, "NUM_BEADS", count)
        monkeypatch.setattr(capstan, "_TURN", capstan.WRAP / (count - 1))
        errors.append(abs(capstan.calc_load(0.0) / euler - 1))
    assert errors[1] < 1e-4
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.1)  # second order in the turn


def test_wedge_without_friction_and_at_the_locking_limit() -> None:
    # Without friction, energy gives M g t x = (m + M t^2) v^2 / 2 with v^2 = 2 a x.
    t, big, small = wedge.TANGENT, wedge.BLOCK_MASS, wedge.WEDGE_MASS
    assert wedge.calc_acceleration(0.0) == pytest.approx(big * 9.81 * t / (small + big * t**2))
    assert wedge.calc_acceleration(t) == 0
    assert wedge.calc_acceleration(t - 1e-9) == pytest.approx(0, abs=1e-7)


def test_domino_constraint_holds_and_one_domino_falls_as_a_pendulum() -> None:
    follower, rate = dominoes.find_follower(0.2)
    # The corner of the follower touches the back of the domino in front.
    b, h = dominoes.HALF_THICKNESS, dominoes.HEIGHT
    corner = np.array(
        [
            b * math.cos(follower) + h * math.sin(follower) - dominoes.DISTANCE,
            h * math.cos(follower) - b * math.sin(follower),
        ]
    )
    forward = np.array([math.cos(0.2), -math.sin(0.2)])
    assert corner @ forward == pytest.approx(-b, abs=1e-12)
    slope = (dominoes.find_follower(0.2 + 1e-6)[0] - dominoes.find_follower(0.2 - 1e-6)[0]) / 2e-6
    assert rate == pytest.approx(slope, rel=1e-6)
    # A single domino is an upright pendulum: w' = m g h/2 sin(t) / I, in steps of 1 us.
    moment = dominoes.MASS * ((2 * b) ** 2 / 12 + h**2 / 3)
    angle, spin, time, dt = 0.0, dominoes.START_SPIN, 0.0, 1e-5
    while angle < dominoes.END_ANGLE:
        spin += dt * dominoes.MASS * 9.81 * h / 2 * math.sin(angle) / moment
        angle, time = angle + dt * spin, time + dt
    assert dominoes.calc_fall_time(1) == pytest.approx(time, rel=1e-3)


def test_depths_carry_their_loads() -> None:
    for load in (1.0, 100.0):
        depth = depths.calc_hertz_depth(load)
        force = 4 / 3 * depths.HERTZ_MODULUS * math.sqrt(0.05) * depth**1.5
        assert force == pytest.approx(load)
        # The pressure under the sphere, summed over rings of the circle of touch.
        d = depths.calc_slab_depth(load)
        rim = math.sqrt(2 * 0.05 * d - d**2)
        r = (np.arange(100_000) + 0.5) * rim / 100_000
        below = d - 0.05 + np.sqrt(0.05**2 - r**2)
        pressure = depths.SLAB_MODULUS * below / depths.SLAB_THICKNESS
        assert (pressure * 2 * math.pi * r).sum() * rim / 100_000 == pytest.approx(load, rel=1e-6)


@pytest.mark.parametrize(
    ("name", "model", "share"),
    [
        ("friction_angle", "stewart_trinkle", 0.02),
        ("rolling_sphere", "stewart_trinkle", 0.02),
        ("bowling", "stewart_trinkle", 0.005),
        ("grip_threshold", "rigid_coulomb", 0.011),
        ("fast_slide", "rigid_coulomb", 0.009),
        ("conveyor", "stewart_trinkle", 0.02),
        ("rod_jam", "stewart_trinkle", 0.05),
        ("capstan", "stewart_trinkle", 0.005),
        ("wedge", "stewart_trinkle", 0.02),
        ("dominoes", "coulomb", 0.005),
        ("cradle", "rigid_coulomb", 1e-9),
        ("hertz", "coulomb", 1e-9),
    ],
)
def test_a_simulation_agrees_with_the_answer(name: str, model: str, share: float) -> None:
    """Integrating each scene in time, without its derivation, gives its answer."""
    assert measure_error(SCENES[name], model, 0) < share


def test_errors_fall_with_the_step() -> None:
    errors = [measure_error(SCENES["stopping_distance"], "rigid_coulomb", i) for i in range(3)]
    assert errors[0] > errors[1] > errors[2]
    assert errors[0] / errors[2] == pytest.approx(10, rel=0.1)  # first order


HELD = ("held_cube", "wall_cube", "turning_grip", "stack", "shaken_box", "can", "grip_threshold")
TURN = (4.0, 0.06)  # speed and arm of the turning grip [rad/s], [m]


@pytest.mark.filterwarnings("ignore:geom 'can0'.*may creep:stiction.StepWarning")
@pytest.mark.parametrize("name", HELD)
@pytest.mark.parametrize("model", ["lagged", "coulomb"])
def test_springs_hold_what_is_held(name: str, model: str) -> None:
    found = measure(SCENES[name], model, 2, friction_law="elastic")
    assert found.creep is not None
    # MuJoCo lists other contact points of the can from step to step; the cubes are still settling.
    assert found.creep < {"can": 1e-7, "turning_grip": 1e-6}.get(name, 2e-9)


@pytest.mark.parametrize("model", ["lagged", "coulomb"])
@pytest.mark.parametrize("index", range(3))
def test_every_grip_is_right_at_its_threshold(model: str, index: int) -> None:
    found = measure(SCENES["grip_threshold"], model, index, friction_law="elastic")
    assert found.value == 6
    assert found.creep is not None and found.creep < 1e-10


@pytest.mark.parametrize("model", ["no_slip", "viscous"])
def test_grips_that_all_hold_or_all_slip_are_half_wrong(model: str) -> None:
    assert measure(SCENES["grip_threshold"], model, 2).value == 3


@pytest.mark.parametrize("model", ["lagged", "coulomb"])
def test_a_fast_cube_stops_where_it_should(model: str) -> None:
    """The bound is 0.1 %, of which a rise of 3.7 mm would be all."""
    assert measure_error(SCENES["fast_slide"], model, 2) < 1e-3


def test_without_springs_a_wall_cube_creeps_by_the_law() -> None:
    """The slip speed of [theory:creep] is v_s rho / sqrt(1 - rho^2)."""
    found = measure(SCENES["wall_cube"], "lagged", 2)
    assert found.creep == pytest.approx(1e-4 * 0.5 / math.sqrt(1 - 0.25), rel=0.02)


@pytest.mark.parametrize("index", range(3))
def test_without_springs_a_turning_grip_drifts_by_the_chord(index: int) -> None:
    """A step moves a free body along a chord, by omega^2 r dt / 2 from the arc."""
    scene = SCENES["turning_grip"]
    found = measure(scene, "no_slip", index)
    assert found.creep == pytest.approx(TURN[0] ** 2 * TURN[1] * scene.steps[index] / 2, rel=0.2)


@pytest.mark.parametrize("name", ["stack", "shaken_box", "can"])
def test_without_slip_nothing_creeps(name: str) -> None:
    found = measure(SCENES[name], "no_slip", 2)
    assert found.creep is not None and found.creep < 1e-8


def measure_error(scene: Scene, model: str, index: int) -> float:
    """Returns the error of a scene at one of its steps."""
    return measure(scene, model, index).error


def measure(scene: Scene, model: str, index: int, **options: object) -> Measurement:
    """Runs a scene at one of its steps, and measures it."""
    step, world = scene.steps[index], scene.make_world()
    count = scene.count_steps(step)
    forces = scene.make_forces(step, count) if scene.make_forces else None
    adapter = StictionAdapter(world, step, {"contact_model": model, "options": options})
    run = drive(adapter, world, step, count, forces)
    assert not run.stopped
    return scene.measure(cut(run.trajectory, scene.settle))
