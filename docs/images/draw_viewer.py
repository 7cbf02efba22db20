"""Draws viewer.png: the page of `stiction view` with two contact models. `./dev figures` calls it.

It needs Debian's package chromium.
"""

from __future__ import annotations

import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

import stiction
from stiction.inputs.package_scenes import find_scene_file
from stiction.view.simulation import Simulation
from stiction.view.viewer import Viewer

_ARGUMENTS = ["--headless", "--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader"]
_TIME = 4.9  # at which the grip has just opened [s]


def main() -> None:
    """Writes viewer.png into the folder behind --out."""
    folder = Path(sys.argv[sys.argv.index("--out") + 1])
    folder.mkdir(parents=True, exist_ok=True)
    scene = stiction.load_scene(find_scene_file("spatula"))
    sessions = [Simulation(scene, name) for name in ("sap", "coulomb")]
    for session in sessions:
        while session.time < _TIME:
            session.advance()
    with Viewer(sessions) as viewer, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=_ARGUMENTS)
        page = browser.new_page(viewport={"width": 1070, "height": 640})
        page.goto(viewer.url)
        page.wait_for_selector("text=contact pressure", timeout=60_000)
        page.get_by_text("Software WebGL").locator("xpath=following::button[1]").click()
        page.wait_for_timeout(3000)
        page.screenshot(path=folder / "viewer.png")
        browser.close()


if __name__ == "__main__":
    main()
