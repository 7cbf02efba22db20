"""Plugins for MuJoCo Studio 4: it steps with Stiction, and shows Stiction's contacts and patches.

    python -m stiction.studio scenes/pinch.xml              # a window
    python -m stiction.studio scenes/pinch.xml --web        # a page in the browser

or, in a program with plugins of its own,

    plugins = [studio_app.App(), *studio_app.SIM_PLUGINS, *stiction.studio.make_plugins()]

`StictionStepper` takes the place of MuJoCo's steps: it handles StepEvent before Studio's StepControl,
with the pause and the speed of Studio's own panel. `StictionPanel` draws contacts in place of MuJoCo's,
which Studio would compute anew, and has a panel for model, parameters and bound. Studio's interface is
documented in MuJoCo's documentation, chapter Studio.
"""

from __future__ import annotations

import dataclasses
import math
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

try:
    from mujoco.studio import messages, plugin, sim
    from mujoco.studio.dear_imgui import dear_imgui as imgui
except ImportError as e:
    raise ImportError(
        f"stiction.studio needs MuJoCo Studio of the same version as MuJoCo {mujoco.__version__} "
        f'({e}); install both: pip install "stiction[studio]"'
    ) from e

from stiction._core import StepReport, contact_models
from stiction.errors import Error
from stiction.options import OPTIONS
from stiction.properties import PropertiesLike, load_scene_properties
from stiction.simulator import Simulator

Vector = NDArray[np.float64]

_BUDGET = 1 / 60  # wall time of the steps of one StepEvent [s]
_MAX_LAG = 0.1  # wall time after which the pace begins anew [s]
_MAX_GEOMS = 2000  # that are drawn
_STICK, _SLIP = (0.1, 0.7, 0.3, 1.0), (0.9, 0.2, 0.1, 1.0)
_FORCE = (0.2, 0.4, 0.9, 1.0)
# The parameters of the panel; each is shown if the contact model reads it.
PARAMETERS = ("tolerance", "stiction_tolerance", "friction_regularization", "near_rigid_factor")


@dataclasses.dataclass(frozen=True)
class SettingsSnapshot(messages.Snapshot):  # type: ignore[misc]
    """What the panel asks of the stepper.

    Attributes:
        contact_model: name of the contact model.
        options: other options of Simulator, by name.
    """

    contact_model: str
    options: dict[str, float]


@dataclasses.dataclass(frozen=True, eq=False)
class ContactsSnapshot(messages.Snapshot):  # type: ignore[misc]
    """What the stepper shows of its last step.

    Attributes:
        contact_model: name of the contact model.
        message: why a setting was refused or a step failed; empty if all is well.
        point, normal: of the contacts that press, (n, 3).
        force: on the second body [N], (n, 3).
        slips: whether each slips, (n,).
        face: centers of the faces of patches, (m, 3).
        face_normal: (m, 3).
        face_radius: radius of a disk with the area of the face [m], (m,).
        pressure: [Pa], (m,).
        figures: lines of text: bound, residual, iterations, cost.
        parameters: values of PARAMETERS.
    """

    contact_model: str
    message: str
    point: Vector
    normal: Vector
    force: Vector
    slips: NDArray[np.bool_]
    face: Vector
    face_normal: Vector
    face_radius: Vector
    pressure: Vector
    figures: tuple[str, ...]
    parameters: dict[str, float]


class StictionStepper(plugin.SimPlugin):  # type: ignore[misc]
    """Steps the model of Studio with Stiction.

    Args:
        contact_model: name of the contact model.
        properties: contact properties; None means those that the scene names.
        **options: other options of Simulator.
    """

    def __init__(
        self, contact_model: str = "coulomb", properties: PropertiesLike = None, **options: Any
    ) -> None:
        self._contact_model, self._given, self._options = contact_model, properties, options
        self._properties: PropertiesLike = None
        self._simulator: Simulator | None = None
        self._refused, self._fault = (
            "",
            "",
        )  # why a setting was refused, and why the last step failed
        self._is_paused, self._single_steps, self._speed = False, 0, 1.0
        self._anchor = (0.0, 0.0)  # a wall time and the simulated time that belongs to it [s]
        self._shown_time = float("nan")  # of the state whose contacts are shown [s]

    @messages.handler  # type: ignore[untyped-decorator]
    def on_post_model(self, event: messages.PostModelEvent) -> None:
        """Makes the simulator of a new model, with the properties that its file names."""
        self._simulator, self._fault = None, ""
        try:
            self._properties = self._given
            if self._given is None and event.path:
                self._properties = load_scene_properties(event.model, Path(event.path), None)
            self._make_simulator(event.model, self._contact_model, self._options)
        except Error as e:
            self._refused = str(e)
        self._shown_time = float("nan")
        self._set_pace(event.data)

    @messages.handler  # type: ignore[untyped-decorator]
    def on_settings(self, event: SettingsSnapshot) -> None:
        """Changes contact model and parameters. If they are refused, the old ones stay."""
        if self._handle is None or self.handle.model is None:
            return
        try:
            self._make_simulator(
                self.handle.model, event.contact_model, {**self._options, **event.options}
            )
        except Error as e:
            self._refused = str(e)
        self._shown_time = float("nan")

    @messages.handler  # type: ignore[untyped-decorator]
    def on_step_control(self, event: messages.StepControlSnapshot) -> None:
        """Follows pause and speed of Studio's panel, whose StepControl keeps them too."""
        self._is_paused = event.pause_state != sim.PauseState.UNPAUSED
        self._speed = event.speed / 100
        self._anchor = (0.0, float("nan"))

    @messages.handler  # type: ignore[untyped-decorator]
    def on_pause(self, event: messages.RequestPauseEvent) -> None:
        """Follows requests of other plugins to pause or to go on."""
        self._is_paused = event.pause_state != sim.PauseState.UNPAUSED
        self._anchor = (0.0, float("nan"))

    @messages.handler  # type: ignore[untyped-decorator]
    def on_single_step(self, _: messages.SingleStepEvent) -> None:
        """Takes one step at the next StepEvent."""
        self._single_steps += 1

    @messages.handler(priority=messages.Priority.USER)  # type: ignore[untyped-decorator]
    def on_step(self, event: messages.StepEvent) -> bool:
        """Steps at the pace of the panel. Returns True, so that StepControl does not step as well."""
        if self._simulator is None:
            if event.data.time != self._shown_time:  # the panel says why nothing moves
                self._shown_time = float(event.data.time)
                self.handle.send_to_viewer(make_empty_snapshot(self._contact_model, self._refused))
            time.sleep(0.001)
            return True
        report = None
        if not self._is_paused:
            report = self._advance(event.data)
        elif self._single_steps:
            report = self._step(event.data)
        self._single_steps = 0
        if report is None and event.data.time != self._shown_time:
            if not math.isnan(self._shown_time):
                self._fault = ""  # the state was reset, edited or scrubbed
            report = self._look(event.data)
        if report is not None:
            self._shown_time = float(event.data.time)
            self.handle.send_to_viewer(make_snapshot(report, self._simulator, self._describe()))
        time.sleep(0.001)  # leaves time to the viewer's thread, as StepControl does
        return True

    def _make_simulator(
        self, model: mujoco.MjModel, contact_model: str, options: dict[str, Any]
    ) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of settings that this model does not read
            self._simulator = Simulator(
                model, contact_model, properties=self._properties, on_failure="stop", **options
            )
        self._contact_model, self._options, self._refused = contact_model, options, ""

    def _describe(self) -> str:
        return "; ".join(filter(None, (self._refused, self._fault)))

    def _set_pace(self, data: mujoco.MjData) -> None:
        self._anchor = time.perf_counter(), float(data.time)

    def _advance(self, data: mujoco.MjData) -> StepReport | None:
        """Steps until the simulated time has caught up, or the budget is spent."""
        now = time.perf_counter()
        due = self._anchor[1] + self._speed * (now - self._anchor[0])
        # After a pause, a reset or a slow scene the pace begins anew.
        if not -_MAX_LAG <= (due - data.time) / max(self._speed, 1e-3) <= _MAX_LAG:
            self._set_pace(data)
            due = float(data.time) + 1e-9
        report = None
        while data.time < due and time.perf_counter() - now < _BUDGET and not self._is_paused:
            report = self._step(data)
        return report

    def _step(self, data: mujoco.MjData) -> StepReport:
        """Takes one step. A failed step pauses Studio, and the panel has the reason."""
        assert self._simulator is not None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            report = self._simulator.step(data)
        self._fault = ""
        if report.status_bits:
            self._fault = f"the step failed ({report.status}): {report.message}"
            self._is_paused = True
            self.handle.send_to_viewer(
                messages.RequestPauseEvent(pause_state=sim.PauseState.NORMAL_PAUSED)
            )
        return report

    def _look(self, data: mujoco.MjData) -> StepReport:
        """Computes the contacts of a state without a step."""
        assert self._simulator is not None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self._simulator.forward(data)


def make_snapshot(report: StepReport, simulator: Simulator, message: str = "") -> ContactsSnapshot:
    """Copies what the viewer draws from the report of a step."""
    contacts = report.contacts
    presses = np.flatnonzero((contacts.normal_impulse > 0) & (contacts.patch < 0))
    patches = list(report.patches)
    empty = np.zeros((0, 3))
    bound = report.certificate
    unknown = simulator.contact_model == "mujoco"
    figures = (
        "error bound: none" if unknown else f"error bound: {bound.error_bound:.2e} sqrt(J)",
        "velocity bound: none" if unknown else f"velocity bound: {bound.velocity_bound:.2e} m/s",
        f"contacts: {len(contacts)}, patches: {len(patches)}, faces: {report.patches.num_faces}",
        f"iterations: {report.statistics.iterations}, {report.timings.total:.0f} us per step",
    )
    return ContactsSnapshot(
        contact_model=simulator.contact_model,
        message=message,
        point=contacts.point[presses],
        normal=contacts.normal[presses],
        force=contacts.force[presses],
        slips=contacts.slipping[presses].astype(bool),
        face=np.concatenate([empty, *(patch.face_center for patch in patches)]),
        face_normal=np.concatenate([empty, *(patch.face_normal for patch in patches)]),
        face_radius=np.sqrt(np.concatenate([[], *(patch.face_area for patch in patches)]) / np.pi),
        pressure=np.concatenate([[], *(patch.pressure for patch in patches)]),
        figures=figures,
        parameters={name: float(simulator.options[name]) for name in PARAMETERS},
    )


def make_empty_snapshot(contact_model: str, message: str) -> ContactsSnapshot:
    """Returns what the viewer draws while there is no simulator: the reason for that."""
    wide, flat = np.zeros((0, 3)), np.zeros(0)
    empty = (wide, wide, wide, np.zeros(0, bool), wide, wide, flat, flat)
    return ContactsSnapshot(contact_model, message, *empty, figures=(), parameters={})


class StictionPanel(plugin.ViewerPlugin):  # type: ignore[misc]
    """Draws contacts and patches, and has a panel for model, parameters and bound."""

    def __init__(self) -> None:
        self._snapshot: ContactsSnapshot | None = None
        self._own: list[Any] = []  # the geoms in viewer.extra_geoms that are ours
        self._edited: dict[str, float] = {}  # parameters that the stepper has not yet taken
        self._shows_forces = True

    @messages.handler  # type: ignore[untyped-decorator]
    def on_contacts(self, event: ContactsSnapshot) -> None:
        """Keeps what the stepper shows."""
        self._snapshot = event
        if event.message:
            self._edited = {}  # they were refused
        taken = event.parameters
        self._edited = {name: v for name, v in self._edited.items() if v != taken.get(name)}

    @messages.handler  # type: ignore[untyped-decorator]
    def on_post_model(self, _: messages.PostModelEvent) -> None:
        """Forgets the contacts of the last model."""
        self._snapshot, self._own, self._edited = None, [], {}

    @messages.handler  # type: ignore[untyped-decorator]
    def on_update(self, _: messages.UpdateEvent) -> None:
        """Puts the geoms of the contacts in place of MuJoCo's."""
        flags = self.viewer.vis_options.flags
        for flag in ("mjVIS_CONTACTPOINT", "mjVIS_CONTACTFORCE", "mjVIS_CONTACTSPLIT"):
            flags[int(getattr(mujoco.mjtVisFlag, flag))] = 0
        geoms = self.viewer.extra_geoms
        own = {id(geom) for geom in self._own}
        geoms[:] = [geom for geom in geoms if id(geom) not in own]
        self._own = []
        if self._snapshot is not None:
            self._own = make_geoms(self._snapshot, self.viewer.model, self._shows_forces)
            geoms.extend(self._own)

    @messages.handler  # type: ignore[untyped-decorator]
    def on_build_gui(self, _: messages.BuildGuiEvent) -> None:
        """Builds the panel, and sends what was changed in it."""
        imgui.Begin("Stiction")
        shown = self._snapshot
        if shown is None:
            imgui.TextUnformatted("no step yet")
        else:
            names = list(contact_models())
            changed, index = imgui.Combo("contact model", names.index(shown.contact_model), names)
            for name in PARAMETERS:
                readers = OPTIONS[name].contact_models
                if shown.contact_model not in readers or name not in shown.parameters:
                    continue
                value = self._edited.get(name, shown.parameters[name])
                edited, value = imgui.InputDouble(name, value, 0.0, 0.0, "%.3g")
                if edited:
                    self._edited[name], changed = value, True
            _, self._shows_forces = imgui.Checkbox("forces", self._shows_forces)
            for line in (*shown.figures, *filter(None, [shown.message])):
                imgui.TextUnformatted(line)
            if changed:
                self.viewer.send_to_sim(SettingsSnapshot(names[index], dict(self._edited)))
        imgui.End()


def make_geoms(
    shown: ContactsSnapshot, model: mujoco.MjModel, shows_forces: bool = True
) -> list[Any]:
    """Makes the geoms of contacts: disks that are green if they stick and red if they slip, arrows of
    forces, and disks for the faces of patches, from blue to red with the pressure.
    """
    size = 0.05 * float(model.stat.meansize)
    gravity = float(np.linalg.norm(model.opt.gravity)) or 9.81
    per_newton = float(model.stat.meansize) / max(float(model.stat.meanmass) * gravity, 1e-12)
    geoms = []
    for point, normal, slips in zip(shown.point, shown.normal, shown.slips, strict=True):
        geoms.append(_make_disk(point, normal, size, _SLIP if slips else _STICK))
    for point, force in zip(shown.point, shown.force, strict=True) if shows_forces else ():
        arrow = _make_geom(mujoco.mjtGeom.mjGEOM_ARROW, np.zeros(3), point, np.eye(3), _FORCE)
        mujoco.mjv_connector(
            arrow, int(mujoco.mjtGeom.mjGEOM_ARROW), size / 4, point, point + per_newton * force
        )
        geoms.append(arrow)
    highest = float(shown.pressure.max(initial=0.0)) or 1.0
    rows = zip(shown.face, shown.face_normal, shown.face_radius, shown.pressure, strict=True)
    for center, normal, radius, pressure in rows:
        share = float(np.clip(pressure / highest, 0, 1))
        geoms.append(_make_disk(center, normal, radius, (share, 0.2, 1 - share, 0.9)))
    return geoms[:_MAX_GEOMS]


def _make_disk(
    center: Vector, normal: Vector, radius: float, rgba: tuple[float, ...]
) -> mujoco.MjvGeom:
    """Makes a flat cylinder about a normal."""
    rotation = np.zeros(9)
    quaternion = np.zeros(4)
    mujoco.mju_quatZ2Vec(quaternion, normal)
    mujoco.mju_quat2Mat(rotation, quaternion)
    size = np.array([radius, radius, 0.05 * radius])
    return _make_geom(mujoco.mjtGeom.mjGEOM_CYLINDER, size, center, rotation, rgba)


def _make_geom(
    kind: Any, size: Vector, position: Vector, rotation: Vector, rgba: tuple[float, ...]
) -> mujoco.MjvGeom:
    geom = mujoco.MjvGeom()
    color = np.array(rgba, np.float32)
    mujoco.mjv_initGeom(geom, int(kind), size, position, rotation.flatten(), color)
    return geom


def make_plugins(
    contact_model: str = "coulomb", properties: PropertiesLike = None, **options: Any
) -> list[Any]:
    """Returns the plugins, with the arguments of StictionStepper. Add them to Studio's own."""
    return [StictionStepper(contact_model, properties, **options), StictionPanel()]


def launch(scene: str | Path, contact_model: str = "coulomb", web: bool = False) -> None:
    """Opens a scene in Studio, and returns when it is closed.

    Args:
        scene: file of the scene.
        contact_model: name of the contact model.
        web: True: a page in the browser; False: a window.
    """
    from mujoco.studio import app as studio_app
    from mujoco.studio import launch_native, launch_web

    plugins = [studio_app.App(), *studio_app.SIM_PLUGINS, *make_plugins(contact_model)]
    run = launch_web.run if web else launch_native.run
    run(model_path=str(scene), plugins=plugins)


def main(arguments: list[str]) -> str | None:
    """Opens the scene of a command line. Returns how to use it if there is something wrong with that."""
    scenes = [argument for argument in arguments if not argument.startswith("-")]
    unknown = [a for a in arguments if a.startswith("-") and a != "--web"]
    if unknown or len(scenes) != 1:
        problem = f"unknown option {unknown[0]}\n" if unknown else ""
        return f"{problem}usage: python -m stiction.studio SCENE [--web]"
    launch(scenes[0], web="--web" in arguments)
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
