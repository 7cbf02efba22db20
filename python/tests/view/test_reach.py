"""Tests that the camera of a page sees bodies that move away, and otherwise stays where it is."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import stiction
from stiction.view.film import Film
from stiction.view.layout import find_reach, make_layout

SCENE = (
    "<mujoco><statistic center='0 0 .3' extent='1'/><worldbody><geom type='plane' size='9 9 .1'/>"
    "<body pos='0 0 .3'><freejoint/><geom size='.1'/></body></worldbody></mujoco>"
)


def film_ball(speed: float, model: mujoco.MjModel | None = None) -> Film:
    """Films a ball that flies for 1 s without weight."""
    model = model or mujoco.MjModel.from_xml_string(SCENE)
    model.opt.gravity[:] = 0
    data, film = mujoco.MjData(model), Film("sap")
    simulator = stiction.Simulator(model, "sap")
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
