"""Draws studio.png: MuJoCo Studio in the browser with the plug-ins of Stiction. `./dev figures` calls it.

It needs Debian's package chromium, and an environment with stiction[studio].
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

_ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
]
_SIZE = {"width": 1280, "height": 800}
_TURN = (150.0, 60.0)  # how far the mouse turns the camera, to the right and down [pixel]
_CLOSER = 3  # steps of the mouse wheel


def main() -> None:
    """Writes studio.png into the folder behind --out."""
    folder = Path(sys.argv[sys.argv.index("--out") + 1])
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as home:
        command = [sys.executable, "-u", "-m", "stiction.studio", "gripper", "--web"]
        environment = {**os.environ, "HOME": home}  # Studio keeps the places of its panels there
        log = Path(home) / "log"
        with log.open("w") as output:
            server = subprocess.Popen(command, stdout=output, stderr=output, env=environment)
        try:
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(
                    executable_path="/usr/bin/chromium", args=_ARGUMENTS
                )
                page = browser.new_page(viewport=_SIZE, color_scheme="light")
                page.goto(_find_address(log))
                _look(page)
                page.screenshot(path=folder / "studio.png")
                browser.close()
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(timeout=30)


def _find_address(log: Path) -> str:
    """Waits for the address that Studio prints."""
    for _ in range(300):
        found = re.search(r"http://localhost:\d+/", log.read_text())
        if found:
            return found[0]
        time.sleep(0.2)
    raise SystemExit(f"error: Studio printed no address:\n{log.read_text()}")


def _look(page: Page) -> None:
    """Moves the camera near the grip, and waits until the picture is drawn."""
    page.wait_for_timeout(15_000)
    x, y = _SIZE["width"] * 0.6, _SIZE["height"] * 0.7
    page.mouse.move(x, y)
    for _ in range(abs(_CLOSER)):
        page.mouse.wheel(0, 100 * _CLOSER / abs(_CLOSER))
        page.wait_for_timeout(300)
    page.mouse.down()
    page.mouse.move(x + _TURN[0], y + _TURN[1], steps=8)
    page.mouse.up()
    page.wait_for_timeout(8000)


if __name__ == "__main__":
    main()
