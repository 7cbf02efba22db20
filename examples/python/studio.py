"""Steps a scene with Stiction in the web page of MuJoCo Studio 4.

Usage: python examples/python/studio.py [SCENE]; Ctrl-C ends it.

It needs `pip install stiction mujoco-studio`. Studio listens on all addresses of this machine,
without a password. `stiction view` listens on 127.0.0.1, and shows contacts and patches too.
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path

import mujoco
from mujoco.studio import app, launch_web, messages, plugin, sim

import stiction
from stiction.inputs.package_scenes import find_scene

PATIENCE = 1 / 30  # wall time of the steps between two pictures [s]


class StictionStepper(plugin.SimPlugin):
    """Handles Studio's steps before Studio's own StepControl, with its pause and its speed."""

    def __init__(self, contact_model: str = "coulomb") -> None:
        self.contact_model = contact_model
        self.simulator: stiction.Simulator | None = None
        self.is_paused, self.speed = False, 1.0
        self.lag, self.last = 0.0, time.perf_counter()  # simulated time that is due, wall time [s]

    @messages.handler
    def on_post_model(self, event: messages.PostModelEvent) -> None:
        """Makes the simulator of a new model, with the contact properties that its file names."""
        if event.model.nkey:  # scenes start at their first keyframe, as in Stiction's commands
            mujoco.mj_resetDataKeyframe(event.model, event.data, 0)
        properties = stiction.load_scene(event.path).properties if event.path else None
        self.simulator = stiction.Simulator(event.model, self.contact_model, properties=properties)

    @messages.handler
    def on_step_control(self, event: messages.StepControlSnapshot) -> None:
        self.is_paused = event.pause_state != sim.PauseState.UNPAUSED
        self.speed = event.speed / 100

    @messages.handler
    def on_pause(self, event: messages.RequestPauseEvent) -> None:
        self.is_paused = event.pause_state != sim.PauseState.UNPAUSED

    @messages.handler
    def on_single_step(self, _: messages.SingleStepEvent) -> None:
        if self.simulator and self.is_paused:
            self.lag = self.simulator.time_step

    @messages.handler(priority=messages.Priority.USER)
    def on_step(self, event: messages.StepEvent) -> bool:
        """Takes the steps that are due. Returns True, so that StepControl does not step as well."""
        now, simulator = time.perf_counter(), self.simulator
        if simulator is not None:
            if not self.is_paused:
                most = max(self.speed * PATIENCE, simulator.time_step)
                self.lag = min(self.lag + self.speed * (now - self.last), most)
            while self.lag >= simulator.time_step and time.perf_counter() < now + PATIENCE:
                self.lag -= simulator.time_step
                try:
                    simulator.step(event.data)
                except stiction.Error as e:
                    self._pause(str(e))
        self.last = now
        time.sleep(0.001)  # leaves time to the thread of the page, as StepControl does
        return True

    def _pause(self, problem: str) -> None:
        print(problem, file=sys.stderr)
        self.is_paused, self.lag = True, 0.0
        pause = messages.RequestPauseEvent(pause_state=sim.PauseState.NORMAL_PAUSED)
        self.handle.send_to_viewer(pause)


def main() -> None:
    path = find_scene(Path(sys.argv[1] if len(sys.argv) > 1 else "gripper"))
    warnings.simplefilter("ignore", stiction.StictionWarning)
    plugins = [app.App(), *app.SIM_PLUGINS, StictionStepper()]
    launch_web.run(model_path=str(path), plugins=plugins)


if __name__ == "__main__":
    main()
