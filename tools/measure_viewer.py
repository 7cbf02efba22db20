#!/usr/bin/env python3
"""Measures the viewer in Debian's Chromium without a GPU, and the cost of browsers to the simulation.

    measure_viewer.py [--seconds S]

prints one line per figure:

- the time from opening the page to the first picture of a scene;
- pictures per second of the browser, and new frames per second, with about 1,800 faces of contact;
- the size of a page of 10 s of scenes/spatula.xml;
- what a browser, a slow one, one that has stalled, and a client that never reads cost the simulation: the
  time for which other threads of the process run, and the speed relative to that without any. Runs take
  turns, and medians count. Only a fast browser may cost more than 2 %.

Other programs on the machine make all of these worse, so the load is printed too.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import shutil
import statistics
import sys
import time
import warnings
from collections.abc import Iterator
from typing import Any

from playwright.sync_api import sync_playwright
from viewer_client import RawClient, SlowClient

import stiction
from stiction.evidence.experiments.gripper import RESOLUTIONS, load_gripper
from stiction.inputs.package_scenes import find_scene_file
from stiction.view.film import film_sessions
from stiction.view.page import make_page
from stiction.view.simulation import Simulation
from stiction.view.viewer import Viewer

_ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader"]
_ROUNDS = 9  # of runs without and with a browser
_COUNT_PICTURES = """() => {
  window.pictures = 0;
  const count = () => { window.pictures++; requestAnimationFrame(count); };
  count();
}"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=4.0, help="length of a run")
    seconds = parser.parse_args().seconds
    chromium = shutil.which("chromium")
    if not chromium:
        print("Debian's package chromium is not installed", file=sys.stderr)
        return 1
    warnings.simplefilter("ignore", stiction.StepWarning)
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    measure_page()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=_ARGUMENTS)
        measure_pictures(browser, seconds)
        measure_slowdown(browser, seconds)
        browser.close()
    print(f"load of the machine: {os.getloadavg()[0]:.1f}")
    return 0


def measure_page() -> None:
    scene = stiction.load_scene(find_scene_file("spatula"))
    page = make_page(film_sessions([Simulation(scene, "coulomb")], 10.0), title="spatula")
    print(f"page of 10 s of the spatula: {len(page) / 1e6:.1f} MB")


def measure_pictures(browser: Any, seconds: float) -> None:
    """Measures the first picture, and pictures per second with many faces."""
    resolution = next(each for each in RESOLUTIONS if each.name == "1800")
    session = Simulation(load_gripper(resolution), "coulomb")
    for _ in range(30):
        session.advance()
    with Viewer([session], speed=0.25) as viewer:
        page = browser.new_page(viewport={"width": 1000, "height": 640})
        begin = time.perf_counter()
        page.goto(viewer.url)
        # A frame that is taken was drawn by the browser.
        while not viewer._readers._taken:
            page.wait_for_timeout(10)
        print(f"first picture: {time.perf_counter() - begin:.2f} s after opening the page")
        page.wait_for_timeout(3000)
        page.evaluate(_COUNT_PICTURES)
        viewer.runner.play()
        page.wait_for_timeout(1000)
        pictures, frames = page.evaluate("pictures"), viewer._readers._sent
        begin = time.perf_counter()
        page.wait_for_timeout(1000 * seconds)
        elapsed = time.perf_counter() - begin
        faces = session.frame.read()[0].num_faces
        print(
            f"{faces} faces: {(page.evaluate('pictures') - pictures) / elapsed:.1f} pictures/s, "
            f"{(viewer._readers._sent - frames) / elapsed:.1f} new frames/s"
        )
        page.close()


def measure_slowdown(browser: Any, seconds: float) -> None:
    """Measures what browsers cost the simulation, against runs without any just before and after.

    The other threads of the process can hold up the simulation for at most the time that they run,
    while they have Python's lock. This share hardly depends on other programs, unlike the speed.
    """
    session = Simulation(stiction.load_scene(find_scene_file("spatula")), "coulomb")
    kinds = {
        "a browser": open_page,
        "a slow browser": open_slow_client,
        "a stalled browser": stall_page,
        "a client that never reads": open_client,
    }
    ratios: dict[str, list[float]] = {name: [] for name in kinds}
    shares: dict[str, list[float]] = {name: [] for name in kinds}
    with Viewer([session], speed=math.inf) as viewer:
        for _ in range(_ROUNDS):
            for name, open_reader in kinds.items():
                before, idle = run_for(viewer, session, seconds / 4)
                with open_reader(browser, viewer):
                    during, share = run_for(viewer, session, seconds / 4)
                after, idle_after = run_for(viewer, session, seconds / 4)
                ratios[name].append(2 * during / (before + after))
                shares[name].append(share - (idle + idle_after) / 2)
    for name in kinds:
        spread = statistics.quantiles(ratios[name], n=4)
        print(
            f"{name}: other threads run for {100 * statistics.median(shares[name]):.2f} % of the time; "
            f"speed {statistics.median(ratios[name]):.3f} of that without "
            f"(quartiles {spread[0]:.3f}, {spread[2]:.3f})"
        )


def run_for(viewer: Viewer, session: Simulation, seconds: float) -> tuple[float, float]:
    """Returns steps per second of processor time of the simulation, and the share of other threads."""
    viewer.runner.reset()
    time.sleep(0.1)
    viewer.runner.play()
    time.sleep(0.2)
    clock = time.pthread_getcpuclockid(viewer.runner._thread.ident or 0)
    steps, begin = session.frame.index, time.perf_counter()
    cpu, total = time.clock_gettime(clock), time.process_time()
    time.sleep(seconds)
    steps, cpu = session.frame.index - steps, time.clock_gettime(clock) - cpu
    others = time.process_time() - total - cpu
    elapsed = time.perf_counter() - begin
    viewer.runner.pause()
    return steps / cpu, others / elapsed


@contextlib.contextmanager
def open_page(browser: Any, viewer: Viewer) -> Iterator[None]:
    page = browser.new_page(viewport={"width": 600, "height": 400})
    page.goto(viewer.url)
    page.wait_for_selector("text=Contact model")
    yield
    page.close()


@contextlib.contextmanager
def stall_page(browser: Any, viewer: Viewer) -> Iterator[None]:
    """A page whose script is busy, as that of a browser that hangs."""
    page = browser.new_page(viewport={"width": 600, "height": 400})
    page.goto(viewer.url)
    page.wait_for_selector("text=Contact model")
    session = page.context.new_cdp_session(page)
    session.send("Debugger.enable")
    session.send("Debugger.pause")
    time.sleep(0.3)
    yield
    session.send("Debugger.disable")
    page.close()


@contextlib.contextmanager
def open_client(browser: Any, viewer: Viewer) -> Iterator[None]:
    """A client that says that it is there, and then reads nothing."""
    client = RawClient(viewer.server.get_port())
    time.sleep(0.3)
    yield
    client.close()


@contextlib.contextmanager
def open_slow_client(browser: Any, viewer: Viewer) -> Iterator[None]:
    """A client that takes a third of a second for each frame."""
    client = SlowClient(viewer.server.get_port(), delay=0.33)
    time.sleep(0.3)
    yield
    client.close()


if __name__ == "__main__":
    sys.exit(main())
