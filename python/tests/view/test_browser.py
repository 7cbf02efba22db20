"""Tests the page in Debian's Chromium: colors of pixels, controls, the mouse, and the written page."""

from __future__ import annotations

import importlib.util
import io
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stiction
from stiction.view.arrows import make_traction_arrows
from stiction.view.cut import find_largest_pressure
from stiction.view.film import film_sessions
from stiction.view.layout import Layout, make_layout, move_back
from stiction.view.page import make_page, write_page
from stiction.view.palette import Style, color_pressures
from stiction.view.readers import can_view
from stiction.view.recorded import RecordedRun
from stiction.view.session import Session
from stiction.view.simulation import Simulation
from stiction.view.viewer import Viewer

_CHROMIUM = shutil.which("chromium")
_MISSING = [
    name
    for name, is_there in (
        ("Debian's package chromium", _CHROMIUM),
        ("playwright", importlib.util.find_spec("playwright")),
        ("viser and mjviser", can_view()),
    )
    if not is_there
]
pytestmark = pytest.mark.skipif(bool(_MISSING), reason=f"not installed: {', '.join(_MISSING)}")

_SIZE = {"width": 720, "height": 420}
_ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader"]
_BARE = Style(opacity=0.0, points=False, forces=False)  # only the patch, so that its color is pure
_TIMEOUT = 15.0  # of a page on a busy machine [s]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=_CHROMIUM, args=_ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture
def open_page(browser: Any) -> Iterator[Callable[[str], Any]]:
    """Returns a function that opens a page. Requests to elsewhere are refused, and fail the test."""
    foreign: list[str] = []
    context = browser.new_context(viewport=_SIZE)

    def open_at(url: str) -> Any:
        page = context.new_page()
        page.set_default_timeout(1000 * _TIMEOUT)
        page.on("request", lambda request: _note_foreign(request.url, foreign))
        page.goto(url)
        page.wait_for_selector("canvas")
        return page

    yield open_at
    context.close()
    assert foreign == []


def _note_foreign(url: str, foreign: list[str]) -> None:
    if not url.startswith(("http://127.0.0.1:", "file:", "data:", "blob:")):
        foreign.append(url)


def advance(session: Session, steps: int) -> Session:
    for _ in range(steps):
        assert session.advance()
    return session


def find_pressure(session: Session) -> float:
    return find_largest_pressure(session.frame.read()[0])


def read_pixels(page: Any) -> np.ndarray:
    """Returns the pixels of the page, (height, width, 3) in 0..255."""
    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB")).astype(int)


def project(page: Any, layout: Layout, point: Any) -> tuple[int, int]:
    """Returns the pixel of a point in the world, as the camera of the layout sees it."""
    box = page.locator("canvas").first.bounding_box()
    forward = layout.look_at - layout.camera
    forward /= np.linalg.norm(forward)
    right = np.cross(forward, [0, 0, 1])
    right /= np.linalg.norm(right)
    away = np.asarray(point) - layout.camera
    scale = box["height"] / 2 / np.tan(layout.fov / 2) / (away @ forward)
    x = box["x"] + box["width"] / 2 + scale * (away @ right)
    y = box["y"] + box["height"] / 2 - scale * (away @ np.cross(right, forward))
    return round(x), round(y)


def wait_for(is_true: Callable[[], bool], what: str | Callable[[], str]) -> None:
    end = time.monotonic() + _TIMEOUT
    while not is_true():
        assert time.monotonic() < end, what if isinstance(what, str) else what()
        time.sleep(0.05)


def expect_text(locator: Any, text: str) -> None:
    """Waits until an element has a text."""
    wait_for(
        lambda: text in locator.inner_text(), lambda: f"{text!r} not in {locator.inner_text()!r}"
    )


def wait_for_color(page: Any, pixel: tuple[int, int], wanted: np.ndarray) -> None:
    """Waits until a pixel has a color, sRGB in [0, 1]."""
    seen: list[Any] = []

    def is_there() -> bool:
        seen.append(read_pixels(page)[pixel[1], pixel[0]].tolist())
        return bool(np.abs(np.array(seen[-1]) - 255 * wanted).max() < 6)

    wait_for(is_there, lambda: f"no color {(255 * wanted).round()}, but {seen[-1:]} at {pixel}")


def is_gray(page: Any, pixel: tuple[int, int]) -> bool:
    """True if a pixel is that of the floor, whose lines are gray."""
    return bool(np.ptp(read_pixels(page)[pixel[1], pixel[0]]) < 4)


# ---- patches --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_patches_side_by_side_have_the_color_of_their_pressure(
    scene: stiction.Scene, open_page: Callable[[str], Any]
) -> None:
    """Also tests that the second scene stands beside the first."""
    sessions = [advance(Simulation(scene, name), 60) for name in ("sap", "coulomb")]
    layout = make_layout(scene.model, 2)
    with Viewer(sessions, style=_BARE) as viewer:
        viewer.scale.fixed = 2 * find_pressure(sessions[0])
        viewer.redraw()
        page = open_page(viewer.url)
        wanted = color_pressures(np.array([0.5]), 1.0)[0]
        for offset in layout.offsets:
            wait_for_color(page, project(page, layout, offset), wanted)
        viewer.scale.fixed = 5 * find_pressure(sessions[0])
        viewer.redraw()
        darker = color_pressures(np.array([0.2]), 1.0)[0]
        for offset in layout.offsets:
            wait_for_color(page, project(page, layout, offset), darker)
        page.get_by_role("checkbox", name="Patches", exact=True).uncheck()
        wait_for(lambda: is_gray(page, project(page, layout, layout.offsets[0])), "no patch")


@pytest.mark.slow
@pytest.mark.parametrize(("size", "count"), [((1280, 800), 6), ((1280, 1500), 2)])
def test_all_scenes_are_in_the_picture(
    scene: stiction.Scene, open_page: Callable[[str], Any], size: tuple[int, int], count: int
) -> None:
    """Six in an ordinary window, and two in an upright one, in which the camera moves back."""
    sessions = [advance(Simulation(scene, "sap"), 60) for _ in range(count)]
    layout = make_layout(scene.model, count)
    with Viewer(sessions, style=_BARE) as viewer:
        viewer.scale.fixed = 2 * find_pressure(sessions[0])
        viewer.redraw()
        page = open_page(viewer.url)
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.reload()  # the camera is chosen for the window of a new page
        page.wait_for_selector("canvas")
        box = page.locator("canvas").first.bounding_box()
        camera = move_back(layout, box["width"] / box["height"])
        seen = replace(layout, camera=camera)
        wanted = color_pressures(np.array([0.5]), 1.0)[0]
        for offset in (layout.offsets[0], layout.offsets[-1]):
            x, y = project(page, seen, offset)
            # A scene reaches half the distance of two scenes to each side.
            half = abs(
                project(page, seen, layout.offsets[1])[0]
                - project(page, seen, layout.offsets[0])[0]
            )
            assert box["x"] + 0.4 * half < x < box["x"] + box["width"] - 0.4 * half
            wait_for_color(page, (x, y), wanted)


# ---- controls -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_contact_model_and_parameters_are_changed_on_the_page(
    scene: stiction.Scene, open_page: Callable[[str], Any]
) -> None:
    session = advance(Simulation(scene, "sap"), 3)
    with Viewer([session]) as viewer:
        page = open_page(viewer.url)
        page.get_by_label("Contact model").click()
        page.get_by_role("option", name="lagged", exact=True).click()
        page.wait_for_selector("text=lagged: step 3")
        assert session.contact_model == "lagged"
        page.get_by_text("Parameters").click()
        # viser's inputs of texts have no label of their own.
        tolerance = page.locator("xpath=//label[.='tolerance']/following::input[1]")
        tolerance.fill("-1")
        page.get_by_role("button", name="Apply").click()
        page.wait_for_selector("text=tolerance: is -1, must be in (0, 1)")
        tolerance.fill("1e-7")
        page.get_by_role("button", name="Apply").click()
        wait_for(lambda: session.simulator.options["tolerance"] == 1e-7, "tolerance")
        page.get_by_role("button", name="Step", exact=True).click()
        page.wait_for_selector("text=lagged: step 4")
        page.get_by_role("button", name="Play", exact=True).click()
        wait_for(lambda: session.frame.index > 20, "play")
        page.get_by_role("button", name="Reset", exact=True).click()
        page.get_by_role("button", name="Pause", exact=True).click()
        wait_for(lambda: not viewer.runner.is_playing, "pause")


@pytest.mark.slow
def test_one_scrubs_through_a_recording_with_its_patches(
    recording: Path, scene: stiction.Scene, open_page: Callable[[str], Any]
) -> None:
    run = RecordedRun(recording)
    layout = make_layout(scene.model, 1)
    with Viewer([run], style=_BARE) as viewer:
        viewer.scale.fixed = 600.0
        page = open_page(viewer.url)
        wait_for(lambda: is_gray(page, project(page, layout, (0, 0, 0))), "no patch at the start")
        slider = page.get_by_role("slider").first
        box = slider.locator("xpath=ancestor::*[contains(@class, 'Slider-trackContainer')]")
        for share in (0.5, 0.25):
            place = box.bounding_box()
            page.mouse.click(place["x"] + share * place["width"], place["y"] + 3)
            step = round(40 * share)
            wait_for(lambda step=step: abs(run.frame.index - step) <= 2, f"step {step}")
            page.wait_for_selector(f"text=step {run.frame.index}")
            wanted = color_pressures(np.array([find_pressure(run)]), 600.0)[0]
            wait_for_color(page, project(page, layout, (0, 0, 0)), wanted)


_FALL = """
<mujoco><option timestep="0.005"/><worldbody>
  <geom type="plane" size="1 1 .1" euler="0 10 0"/>
  <body pos="0 0 .12" euler="0 10 0"><freejoint/><geom type="box" size=".05 .05 .05" mass="1"/></body>
</worldbody></mujoco>
"""

# Limits of each plot, and how many of its pixels have a strong color, as curves do.
_LOOK_AT_PLOTS = """() => Object.values(window.__viserTestpoints?.uplots ?? {}).map(({chart}) => {
  const {width, height} = chart.ctx.canvas;
  const pixels = chart.ctx.getImageData(0, 0, width, height).data;
  let colored = 0;
  for (let i = 0; i < pixels.length; i += 4) {
    const rgb = [pixels[i], pixels[i + 1], pixels[i + 2]];
    if (pixels[i + 3] > 200 && Math.max(...rgb) - Math.min(...rgb) > 80) colored += 1;
  }
  return {title: chart.root.innerText, limits: [chart.scales.y.min, chart.scales.y.max], colored};
})"""


@pytest.mark.slow
def test_plots_draw_a_run_that_begins_in_flight(
    tmp_path: Path, open_page: Callable[[str], Any]
) -> None:
    (tmp_path / "fall.xml").write_text(_FALL)
    scene = stiction.load_scene(tmp_path / "fall.xml")
    # mj_step has no error bound at all.
    sessions = [advance(Simulation(scene, name), 80) for name in ("coulomb", "mujoco")]
    assert np.isnan(sessions[0].frames[1].creep) and sessions[0].frames[-1].creep > 0
    with Viewer(sessions) as viewer:
        page = open_page(viewer.url)
        wait_for(lambda: viewer._plots.is_complete, "plots of all steps")
        wait_for(lambda: len(page.evaluate(_LOOK_AT_PLOTS)) == 4, "four plots")

        def are_drawn() -> bool:
            plots = page.evaluate(_LOOK_AT_PLOTS)
            return all(None not in each["limits"] and each["colored"] > 100 for each in plots)

        wait_for(are_drawn, lambda: f"a plot is empty: {page.evaluate(_LOOK_AT_PLOTS)}")


def fail_once(scene: stiction.Scene) -> Simulation:
    """Returns a simulation of 30 steps, of which the 21st has failed, at its start."""
    session = Simulation(scene, "sap")
    advance(session, 20)
    session.change(max_seconds=1e-9)
    advance(session, 1)
    session.change(max_seconds=None)
    advance(session, 9)
    session.seek(0.0)
    return session


@pytest.mark.slow
def test_the_mark_of_a_failed_step_leads_to_it(
    scene: stiction.Scene, open_page: Callable[[str], Any]
) -> None:
    session = fail_once(scene)
    with Viewer([session]) as viewer:
        page = open_page(viewer.url)
        page.wait_for_selector("text=certificates of 30 steps: 1 failed")
        wait_for(lambda: viewer._plots.is_complete, "plots of all steps")  # a few at a time
        assert all(frame.has_figures for frame in session.frames)
        assert page.locator(".stiction-bad").count() == 1
        bar, track = page.locator(".stiction-strip"), page.locator(".mantine-Slider-track").first
        mark = page.locator(".stiction-bad").bounding_box()
        share = (mark["x"] - bar.bounding_box()["x"]) / bar.bounding_box()["width"]
        place = track.bounding_box()
        page.mouse.click(place["x"] + share * place["width"] + 2, place["y"] + place["height"] / 2)
        wait_for(lambda: session.time == pytest.approx(0.2), "the failed step")


@pytest.mark.slow
def test_the_legend_explains_arrows_and_the_cut(
    scene: stiction.Scene, open_page: Callable[[str], Any]
) -> None:
    session = advance(Simulation(scene, "sap"), 60)
    patches, points = session.frame.read()
    traction = make_traction_arrows(patches, 1.0).count
    assert 0 < traction.drawn <= traction.total == patches.num_faces
    with Viewer([session]) as viewer:
        page = open_page(viewer.url)
        legend = page.locator(".stiction-arrows")
        expect_text(legend, f"force on the second body: {len(points.point)} of 1 drawn")
        assert "traction" not in legend.inner_text()
        page.get_by_role("checkbox", name="Traction", exact=True).check()
        expect_text(legend, f"traction on the second body: {traction.drawn} of {traction.total}")
        page.get_by_role("checkbox", name="Slip", exact=True).check()
        expect_text(legend, "slip velocity of the second body: none")  # it rests
        page.get_by_role("checkbox", name="Point forces", exact=True).uncheck()
        wait_for(lambda: "force on" not in legend.inner_text(), "no legend of forces")
        colors = page.locator(".stiction-legend")
        assert "cut" not in colors.inner_text()
        viewer.style.cut_geom = scene.model.geom("box").id
        viewer.redraw()
        expect_text(colors, "pressure of the field in the cut [Pa]")
        expect_text(colors, "100k")  # the modulus, at the middle of the box


@pytest.mark.slow
def test_the_mouse_pulls_a_body(scene: stiction.Scene, open_page: Callable[[str], Any]) -> None:
    session = Simulation(scene, "sap")
    layout = make_layout(scene.model, 1)
    with Viewer([session]) as viewer:
        page = open_page(viewer.url)
        x, y = project(page, layout, (0.2, 0, 0.03))
        # The ball is dark, and the floor is bright.
        wait_for(lambda: read_pixels(page)[y - 5 : y + 5, x - 5 : x + 5].max() < 225, "the ball")
        viewer.runner.play()
        # The browser finds the body under the pointer only between two pictures.
        page.mouse.move(x - 2, y)
        time.sleep(0.5)
        page.mouse.move(x, y)
        time.sleep(0.5)
        page.mouse.down()
        for lift in range(10, 70, 10):
            page.mouse.move(x, y - lift)
            time.sleep(0.2)
        height = scene.model.jnt_qposadr[1] + 2
        wait_for(lambda: session.frame.end[1 + height] > 0.045, "the ball is lifted")
        page.mouse.up()
        wait_for(lambda: not session.drag.is_active, "the ball is let go")
        wait_for(lambda: session.frame.end[1 + height] < 0.035, "the ball falls")


# ---- the written page -----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("slowdown", [1.0, 5.0])
def test_a_mark_of_the_written_page_leads_to_its_step(
    scene: stiction.Scene, browser: Any, tmp_path: Path, slowdown: float
) -> None:
    films = film_sessions([fail_once(scene)], 0.29)
    assert [frame.index for frame in films[0].frames if not frame.is_good] == [21]
    write_page(tmp_path / "box.html", make_page(films, title="box", slowdown=slowdown))
    context = browser.new_context(viewport=_SIZE, offline=True)
    page = context.new_page()
    page.set_default_timeout(1000 * _TIMEOUT)
    page.goto((tmp_path / "box.html").as_uri())
    page.wait_for_selector("text=certificates of 30 steps: 1 failed (click a mark to go there)")
    time_field = page.locator(".mantine-NumberInput-input")
    mark = page.locator(".stiction-bad").bounding_box()
    page.mouse.click(mark["x"] + 40, mark["y"] + 5)  # too far from the mark
    before = time_field.input_value()
    wait_for(lambda: time_field.input_value() != before, "the page plays on")
    page.mouse.click(mark["x"] + 6, mark["y"] + 5)
    # The step starts at 0.2 s; the page shows it and stops.
    wanted = pytest.approx(0.2 * slowdown, abs=1e-3)
    wait_for(lambda: float(time_field.input_value()) == wanted, time_field.input_value)
    time.sleep(0.5)
    assert float(time_field.input_value()) == wanted
    context.close()


def test_the_written_page_plays_without_a_network(
    scene: stiction.Scene, browser: Any, tmp_path: Path
) -> None:
    sessions = [Simulation(scene, name) for name in ("sap", "coulomb")]
    films = film_sessions(sessions, 0.6)
    write_page(tmp_path / "box.html", make_page(films, title="a box & a ball", style=_BARE))
    context = browser.new_context(viewport=_SIZE, offline=True)
    foreign: list[str] = []
    page = context.new_page()
    page.set_default_timeout(1000 * _TIMEOUT)
    page.on("request", lambda request: _note_foreign(request.url, foreign))
    page.goto((tmp_path / "box.html").as_uri())
    page.wait_for_selector("text=contact pressure [Pa]")
    assert page.title() == "a box & a ball"
    page.evaluate("document.getElementById('stiction').remove()")  # it covers a part of the scene
    layout = make_layout(scene.model, 2)
    largest = max(find_largest_pressure(f.read()[0]) for film in films for f in film.frames)
    last = find_largest_pressure(films[0].frames[-1].read()[0])
    top = next(m for m in (300.0, 500.0, 700.0, 1000.0, 1500.0) if m >= largest)
    wanted = color_pressures(np.array([last]), top)[0]
    for offset in layout.offsets:  # the film plays again and again
        wait_for_color(page, project(page, layout, offset), wanted)
    context.close()
    assert foreign == []
