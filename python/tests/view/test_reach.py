"""Tests that the camera of a page sees what films are about, and otherwise stays where it is."""

from __future__ import annotations

import itertools

import mujoco
import numpy as np
import pytest

import stiction
from stiction.view.film import Film
from stiction.view.layout import find_reach, make_layout
from stiction.view.world import _PLANE

SCENE = (
    "<mujoco><statistic center='0 0 .3' extent='1'/><worldbody><geom type='plane' size='9 9 .1'/>"
    "<body pos='0 0 .3'><freejoint/><geom size='.1'/></body></worldbody></mujoco>"
)


def film_ball(speed: float, model: mujoco.MjModel | None = None) -> Film:
    """Films a ball that flies for 1 s without weight."""
    model = model or mujoco.MjModel.from_xml_string(SCENE)
    model.opt.gravity[:] = 0
    data, film = mujoco.MjData(model), Film("coulomb")
    simulator = stiction.Simulator(model, "coulomb")
    data.qvel[0] = speed
    while data.time < 1:
        film.step(simulator, data)
    return film


def test_the_reach_is_where_bodies_are() -> None:
    reach = find_reach([film_ball(1.0), film_ball(-2.0)])
    assert reach is not None
    # The last frames start less than two frame times before the end.
    assert reach.low == pytest.approx([-2, 0, 0.3], abs=0.17)
    assert reach.high == pytest.approx([1, 0, 0.3], abs=0.09)


@pytest.mark.parametrize("speed", [0.0, 0.5])
def test_the_camera_stays_if_bodies_stay_in_sight(speed: float) -> None:
    film = film_ball(speed)
    own, seen = make_layout(film.model, 1), make_layout(film.model, 1, find_reach([film]))
    assert np.array_equal(own.camera, seen.camera) and np.array_equal(own.look_at, seen.look_at)


def test_the_camera_follows_bodies_that_leave() -> None:
    film = film_ball(3.0)
    reach = find_reach([film])
    assert reach is not None
    layout = make_layout(film.model, 1, reach)
    assert layout.look_at == pytest.approx((reach.low + reach.high) / 2)
    # Both ends are within half of the angle that the camera sees.
    axis = layout.look_at - layout.camera
    for place in (reach.low, reach.high):
        ray = place - layout.camera
        cosine = axis @ ray / np.linalg.norm(axis) / np.linalg.norm(ray)
        assert np.arccos(cosine) < layout.fov / 2


def test_a_body_that_falls_out_of_the_scene_does_not_take_the_camera_along() -> None:
    film = film_ball(100.0)
    assert make_layout(film.model, 1, find_reach([film])).size == 1


def test_a_scene_in_which_nothing_moves_has_no_reach() -> None:
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><geom size='.1'/></worldbody></mujoco>"
    )
    data, film = mujoco.MjData(model), Film("sap")
    film.step(stiction.Simulator(model, "sap"), data)
    assert find_reach([film]) is None
    assert make_layout(model, 1, None).size == model.stat.extent


# A slow block on a long cart touches it, and a ball far away touches only the floor.
CART = (
    "<mujoco><option timestep='0.01'/><statistic center='0 0 1' extent='5'/><worldbody>"
    "<geom type='plane' size='9 9 .1'/><body pos='0 0 .1'><joint type='slide' axis='1 0 0'/>"
    "<geom type='box' size='.3 .1 .05' pos='0 .2 0' mass='5' contype='0' conaffinity='2'/></body>"
    "<body pos='0 .2 .199'><freejoint/><geom type='box' size='.05 .05 .05' euler='0 0 45' mass='1'"
    " contype='2' conaffinity='1'/></body>"
    "<body pos='3 0 .1'><freejoint/><geom size='.1'/></body></worldbody></mujoco>"
)


def test_the_camera_sees_the_bodies_that_touch_each_other() -> None:
    model = mujoco.MjModel.from_xml_string(CART)
    data, film = mujoco.MjData(model), Film("coulomb")
    simulator = stiction.Simulator(model)
    data.qvel[0] = 0.5
    while data.time < 1:
        film.step(simulator, data)
    reach = find_reach([film])
    assert reach is not None and reach.is_subject
    # The cart is 0.6 m long, moves 0.5 m less what the block takes, and carries a turned cube on top.
    assert reach.low == pytest.approx([-0.3, 0.1, 0.05], abs=2e-3)
    assert reach.high[0] == pytest.approx(0.3 + data.qpos[0], abs=0.02)
    assert reach.high[1:] == pytest.approx([0.3, 0.25], abs=2e-3)
    layout = make_layout(model, 1, reach)
    assert layout.look_at == pytest.approx((reach.low + reach.high) / 2)
    for corner in (reach.low, reach.high):
        axis, ray = layout.look_at - layout.camera, corner - layout.camera
        cosine = axis @ ray / np.linalg.norm(axis) / np.linalg.norm(ray)
        assert np.arccos(cosine) < layout.fov / 2
    # It fills a good part of the picture, where the model's own camera would see 5 m.
    half_height = np.linalg.norm(axis) * np.tan(layout.fov / 2)
    assert np.linalg.norm(reach.high - reach.low) / 2 > 0.6 * half_height


@pytest.mark.parametrize("count", [1, 2, 6])
def test_floors_of_scenes_side_by_side_do_not_overlap(count: int) -> None:
    model = mujoco.MjModel.from_xml_string(SCENE)
    for azimuth in (0, 20, 45, 140):
        model.vis.global_.azimuth = azimuth
        layout = make_layout(model, count)
        radius = _PLANE * layout.spacing / np.sqrt(2)  # from the center to a corner
        assert all(
            np.linalg.norm(b - a) > 2 * radius for a, b in itertools.pairwise(layout.offsets)
        )
