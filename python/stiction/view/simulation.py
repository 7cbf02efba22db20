"""A scene that is simulated while the viewer shows it."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import Any

import mujoco
import numpy as np

from stiction.errors import Error, ignored_settings_are_fine
from stiction.recording import format as fmt
from stiction.runs.controls import Controls, ControlsName, default_controls, make_controls
from stiction.scene import Scene
from stiction.simulator import Simulator
from stiction.view.drag_force import DragForce
from stiction.view.frame import Frame, make_frame
from stiction.view.session import Session
from stiction.view.world import World

# ---- Lets the mouse pull bodies of a simulation --------------------------------------------------


def connect_drag(world: World, simulation: Simulation) -> None:
    """Makes bodies follow the mouse while its left button is down; new nodes need another call."""
    for handle, bodies in world.bodies.list_handles():
        _connect(world, simulation, handle, bodies)


def _connect(world: World, simulation: Simulation, handle: Any, bodies: list[int]) -> None:
    # viser calls functions that are `async` in the order of the events.
    async def pull(event: Any) -> None:
        target = np.array(event.end_position) - world.offset
        if event.phase == "start":
            body = bodies[event.instance_index or 0]
            grabbed = np.array(event.start_position) - world.offset
            simulation.drag.grab(body, world.bodies.to_body(body, grabbed), target)
        elif event.phase == "update":
            simulation.drag.move(target)
        else:
            simulation.drag.release()

    handle.on_drag("left")(pull)


class Simulation(Session):
    """A simulation of a scene under one contact model.

    Args:
        scene: the scene. Several simulations may share it, because none changes the model.
        contact_model: name of the contact model.
        controls: controls of the actuators; None means the scene's own.
        seed: seed of random controls.
        **options: arguments of Simulator.

    Raises:
        Error: as Simulator.
    """

    def __init__(
        self,
        scene: Scene,
        contact_model: str,
        *,
        controls: ControlsName | None = None,
        seed: int = 0,
        **options: Any,
    ) -> None:
        super().__init__(contact_model, scene.model, scene.properties)
        self.scene = scene
        self.drag = DragForce()
        self._controls, self._seed = controls or default_controls(scene), seed
        self._options = {"on_failure": "stop", **options}
        self.simulator = self._make_simulator(contact_model, self._options)
        self._data = scene.make_data()
        self._drive = self._make_drive()
        self.reset()

    @property
    def contact_model(self) -> str:
        """Name of the contact model."""
        return self.simulator.contact_model

    @property
    def is_growing(self) -> bool:
        """True for a simulation."""
        return True

    def reset(self) -> None:
        """Goes back to the initial state. Frames are forgotten."""
        self.problem, self.warnings = "", {}
        self.simulator = self._make_simulator(self.contact_model, self._options)
        self._data = self.scene.make_data()
        self._drive = self._make_drive()
        state = fmt.get_state(self.model, self._data)
        memory = self.simulator.get_state()
        report = self.simulator.forward(self._data)
        self._restore(state, memory)
        frame = make_frame(
            self.model, 0, state, state, memory, report, self.simulator.contact_model
        )
        self._start_with([replace(frame, status="ok", message="")])  # no step was made

    def change(self, contact_model: str | None = None, **options: Any) -> None:
        """Continues from the frame at the cursor with another model or options; Error changes nothing."""
        options = {**self._options, **options}
        simulator = self._make_simulator(contact_model or self.contact_model, options)
        self.simulator, self._options = simulator, options
        self.name = simulator.contact_model
        self._rewind()

    def advance(self) -> bool:
        """Goes to the next frame. While a body is dragged, the frame is always a new one."""
        if self.drag.is_active and not self.is_at_end:
            self._rewind()
        return super().advance()

    def _make_next(self) -> Frame | None:
        if self.problem:
            return None
        index = self._frames[-1].index + 1
        start = fmt.get_state(self.model, self._data)
        try:
            self._drive(self._data)
            with self.drag.applied(self.model, self._data, self.simulator.time_step):
                report = self.simulator.step(self._data)
            self.warnings |= {kind: text for kind, (_, text) in report.warnings.items()}
        except Error as e:
            self.problem = str(e)
            return None
        if report.num_steps == 0:
            self.problem = f"step {index} failed ({report.status}): {report.message}"
        end = fmt.get_state(self.model, self._data)
        memory = self.simulator.get_state()
        return make_frame(
            self.model, index, start, end, memory, report, self.simulator.contact_model
        )

    def _rewind(self) -> None:
        """Takes the state of the frame at the cursor, and forgets later frames."""
        self._restore(self.frame.end, self.frame.memory)
        self._forget_later_frames()
        self.problem = ""

    def _restore(self, state: fmt.Vector, memory: bytes) -> None:
        mujoco.mj_setState(self.model, self._data, np.asarray(state), fmt.INTEGRATION)
        with contextlib.suppress(Error):  # another contact model has no use for the memory
            self.simulator.set_state(memory)

    def _make_drive(self) -> Controls:
        return make_controls(self._controls, self.scene, self._seed)

    def _make_simulator(self, contact_model: str, options: dict[str, Any]) -> Simulator:
        with ignored_settings_are_fine():
            return self.scene.make_simulator(contact_model, **options)
