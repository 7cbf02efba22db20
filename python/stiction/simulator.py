"""Simulator: steps a MuJoCo model in place of mujoco.mj_step."""

from __future__ import annotations

import contextlib
import inspect
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Unpack

import mujoco
import numpy as np
from numpy.typing import NDArray

from stiction._core import ContactProperties, Stepper, StepReport, contact_model_traits
from stiction.errors import Error, StepError, StepWarning, StictionWarning, warn
from stiction.inputs.arguments import (
    check_data_type,
    check_flag,
    check_number,
    describe_type,
)
from stiction.inputs.names import find_geom
from stiction.setup.defaults import NOT_GIVEN
from stiction.setup.options import describe_options, describe_setup, make_parameters
from stiction.setup.properties import PropertiesLike
from stiction.setup.step_setup import StepSetup
from stiction.tables.contact_table import ANCHOR_TABLE, tabulate_anchors

if TYPE_CHECKING:
    from stiction._step_options import StepOptions  # a TypedDict that the build writes


class Simulator:
    """Steps a MuJoCo model under one of Stiction's contact models.

        sim = stiction.Simulator(model, contact_model="lagged")
        report = sim.step(data)            # in place of mujoco.mj_step(model, data)

    The model and data stay yours: nothing is copied, and values in the model (masses, friction,
    gains, options) may change between steps. All of its real numbers are checked at each call of step,
    and an error names the wrong one. Arrays of indices must not change. As for mj_step, call
    mujoco.mj_setConst after a change of masses or inertias.

    Args:
        model: the model, which is kept by reference.
        OPTIONS
        properties: contact properties of geoms: a file, its content as a dict, or None. For a scene
            that names its file, use stiction.load_scene.
        model_is_constant: True promises that no value of the model changes, and saves the check of
            its numbers at each call, 0.1 to 2 us. A value that changes all the same has an effect,
            but if it is out of range, no error names it unless the step fails by it, and trees that
            sleep do not wake by it. While MuJoCo's callbacks are set, each step checks the numbers.

    Raises:
        TypeError: there is no option of a name; the message suggests the nearest name.
        Error: an argument is out of range, or the model cannot be stepped.

    An option that is not given has its default, which stiction.set_default may change.

    Each setting that has no effect under the contact model gives an IgnoredSettingWarning.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        contact_model: str = NOT_GIVEN,
        *,
        properties: PropertiesLike = None,
        model_is_constant: bool = False,
        **options: Unpack[StepOptions],
    ) -> None:
        setup = StepSetup.make(model, contact_model, properties, options)
        self._model_is_constant = check_flag("model_is_constant", model_is_constant)
        self._properties = setup.properties
        self._model = model
        self._stepper = Stepper(
            model._address, setup.chosen, setup.properties or ContactProperties(), model
        )
        self._stepper.set_model_is_constant(self._model_is_constant)
        self._options = self._stepper.options
        self._warning_counts: dict[str, int] = {}
        setup.warn_of_ignored(self._stepper.ignored_settings, self._options)

    def __repr__(self) -> str:
        return f"Simulator({describe_setup(self._model, self._options, self.time_step)})"

    @property
    def model(self) -> mujoco.MjModel:
        """The model. To step another model, make another Simulator."""
        return self._model

    @property
    def contact_model(self) -> str:
        """The name of the contact model."""
        return str(self._options["contact_model"])

    @property
    def on_failure(self) -> str:
        """The reaction to a failed step: 'raise', 'stop' or 'keep_best'."""
        on_failure: str = self._options["on_failure"]
        return on_failure

    @property
    def time_step(self) -> float:
        """The time that a step takes [s]."""
        return self._stepper.time_step

    @property
    def model_is_constant(self) -> bool:
        """True if the check of the model's numbers is left out at each call."""
        return self._model_is_constant

    @property
    def options(self) -> dict[str, Any]:
        """The arguments of a Simulator that steps as this one does, by name; fit for JSON."""
        properties = None if self._properties is None else self._properties.content
        return {**self._options, "time_step": self.time_step, "properties": properties}

    @property
    def properties(self) -> ContactProperties | None:
        """The contact properties that the simulator was made with, or None."""
        return self._properties

    def explain(self, geom1: str | int, geom2: str | int) -> dict[str, Any]:
        """Explains which numbers a contact of two geoms uses, and where each comes from.

        Args:
            geom1, geom2: names, or ids as int or '#12'.

        Returns:
            A dict fit for JSON:
            `geoms`: name, body, material, and what selected the material, of each geom.
            `collides`, `reason`: whether the geoms collide, and why or why not.
            `touches_in`: 'patches' or 'points'; None if the geoms do not collide.
            `why_points`: why the geoms touch in points although one of them has a pressure field, or
            None.
            `contact_model`, `normal_law`, `friction_law`: the options.
            `limitation`: what the contact model gets wrong by design; empty if nothing is known.
            `numbers`: name, value in SI `unit`, `from`, `is_used` by the model, and `note` of each
            number. An infinite stiffness is near-rigid.

        Raises:
            Error: no geom has this name or id; the message suggests the nearest name.
        """
        ids = [find_geom(self.model, geom) for geom in (geom1, geom2)]
        explanation = self._stepper.explain(*ids)
        for geom in explanation["geoms"]:
            view = self.model.geom(geom["id"])
            geom["name"] = view.name
            geom["body"] = self.model.body(int(view.bodyid[0])).name
        names = ("contact_model", "normal_law", "friction_law")
        limitation = contact_model_traits(self._options["contact_model"]).limitation
        options = {name: self._options[name] for name in names}
        return {**options, "limitation": limitation, **explanation}

    def get_state(self, data: mujoco.MjData | None = None) -> bytes:
        """Returns what the simulator remembers of the last step, or of the last step of `data`.

        That is the active set of a rigid model, from which the next solve starts; for patches the
        position from which the force of a deep overlap goes on; the last poses of mocap bodies; the
        pairs of geoms that are deep in each other; the contact forces that bound the friction of
        lagged models; the springs of friction_law 'elastic'; and the length and the error of the last
        step of `advance`. Without them what is held yields once, and deep patches have other forces. A
        checkpoint of the bytes and of MuJoCo's state mjSTATE_INTEGRATION continues with the same bits:

            state = np.empty(mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_INTEGRATION))
            mujoco.mj_getState(model, data, state, mujoco.mjtState.mjSTATE_INTEGRATION)
            memory = sim.get_state()
        """
        if data is not None:
            self._stepper.turn_to(data)
        return self._stepper.get_state()

    def set_state(self, state: bytes) -> None:
        """Restores what get_state returned, also of another Simulator with the same arguments.

        Raises:
            Error: the bytes are those of a Simulator with another model, contact model or integrator.
        """
        if not isinstance(state, bytes):
            raise Error(
                "wrong_shape", "state", f"is {describe_type(state)}, must be bytes of get_state"
            )
        self._stepper.set_state(state)

    def save_anchors(self) -> bytes:
        """Returns the stretches of all contacts that stick under friction_law 'elastic'.

        They are those at the end of the last step, with a hash of its time and positions. A checkpoint
        with get_state has them, too.

        Raises:
            Error: the friction law is another one.
        """
        return self._stepper.save_anchors()

    def list_anchors(self, format: str = "numpy") -> Any:
        """Returns the springs of all contacts that pressed in the last step, as one table.

        The rows have the fields `bodies`, `geoms`, `elements` (those that meet in a face of a patch; -1
        for a contact point), `position` [m], `normal`, `stretch` [m], `twist` [rad], `force` of the
        spring on the second body [N], `stiffness` [N/m] and `slipping`. The stretches are those at the
        end of the step.

        Args:
            format: 'numpy' for a structured array, 'arrow' for a pyarrow.Table.

        Raises:
            Error: the friction law is not 'elastic', there is no such format, or pyarrow is missing.
        """
        rows = tabulate_anchors(self._stepper.list_anchors(), self.model.geom_bodyid)
        return ANCHOR_TABLE.convert(rows, format)

    def load_anchors(self, data: mujoco.MjData, anchors: bytes) -> None:
        """Lets the next step of data go on with the stretches that save_anchors returned.

        Raises:
            Error: the friction law is another one; or the anchors are those of another model, or of
                another time or other positions than data has.
        """
        check_data_type(data)
        if not isinstance(anchors, bytes):
            raise Error(
                "wrong_shape",
                "anchors",
                f"is {describe_type(anchors)}, must be bytes of save_anchors",
            )
        self._stepper.load_anchors(data, anchors)

    def forget_anchors(self) -> None:
        """Forgets the stretches of all contacts, so that those that stick begin again without one.

        What they hold yields by the deflection of their springs. Loads that the fingers of a grip
        keep against each other relax.

        Raises:
            Error: the friction law is another one.
        """
        self._stepper.forget_anchors()

    def __reduce__(self) -> tuple[Any, ...]:
        """Makes pickle and copy possible; the copy has the state of get_state."""
        options = {**self._options, "model_is_constant": self._model_is_constant}
        return _restore, (type(self), self.model, options, self._properties, self.get_state())

    def check_data(self, data: Any) -> None:
        """Raises Error if data is not an MjData of the model."""
        self._stepper.check_data(data)

    def calc_hessian(self) -> NDArray[np.float64]:
        """Computes the Hessian of the last step's cost at its solution, H = A + J^T G J, (nv, nv).

        The spectrum of H tells how hard the step is to solve. Steps do not form H, so they pay
        nothing for this method. Dofs are those of qvel, except that free bodies have [w; v] of the
        joint's frame in the world; this rotation does not change the spectrum.

        Raises:
            Error: there was no step yet, or the contact model has no such matrix.
        """
        return self._stepper.calc_hessian()

    def calc_condition_number(self) -> float:
        """Computes the largest eigenvalue of calc_hessian() over its smallest [-].

        Raises:
            Error: there was no step yet, or the contact model has no such matrix.
        """
        return self._stepper.calc_condition_number()

    def step(self, data: mujoco.MjData, nstep: int = 1) -> StepReport:
        """Advances data by nstep steps. The GIL is released meanwhile.

        Returns the report of the last step; it and its arrays stay valid as long as they are kept.

        Ctrl-C interrupts also a long step: it raises KeyboardInterrupt, and data are those of the
        last whole step.
        The first warning of each kind also gives a StepWarning.

        Raises:
            Error: data belongs to another model, nstep is below 1, or the call comes from a callback
                within a step of this Simulator.
            StepError: a step failed, and on_failure is 'raise'.
        """
        return self._stepper.step(self, data, nstep)

    def advance(
        self,
        data: mujoco.MjData,
        until: float,
        accuracy: float = 1e-4,
        *,
        max_time_step: float | None = None,
        first_step: float | None = None,
        last_error: float | None = None,
        extrapolate: bool = True,
    ) -> StepReport:
        """Advances data to a time by steps whose lengths follow from their errors. The GIL is released.

            while data.time < 10:
                data.ctrl[:] = controller(data)
                report = sim.advance(data, data.time + 0.01, accuracy=1e-4)

        Each step is taken once with its whole length and once in two halves. The distance of both
        results is the error of the step, as the largest displacement of a point of any geom. A step is
        taken again with a smaller length until its error is at most `accuracy`. Where contacts do not
        change, the error is extrapolated away; there the result is much more accurate than the bound.

        The call ends at `until` exactly. Controls and applied forces are held, so call it once in each
        control period. Mocap bodies move through the call at the velocity that their poses tell.
        Warnings, Ctrl-C and on_failure are as for `step`, and the limit max_seconds holds for the
        whole call. A call that fails leaves data as they were.

        What follows from the time step elsewhere (near-rigid stiffness, the stiffness of limits and
        equalities) follows from `time_step` at every length. The option friction_regularization counts
        as 0, so that friction creeps by stiction_tolerance alone. Trees do not sleep.

        Args:
            data: the state, which is advanced.
            until: the time at which the call ends [s]; not before data.time.
            accuracy: the largest local error of a step [m], at least 1e-9.
            max_time_step: the largest step [s], at least 1e-7; None for the whole call.
            first_step: the length of the first step [s]; None for the one that the last call proposed
                if data are as that call left them, and otherwise 1 ms.
            last_error: the error of the step before relative to its accuracy, in (0, 1], which the
                choice of the second step depends on; None for that of the last call, or 1. With
                report.advance.first_step and first_error of a call, the call repeats bit by bit.
            extrapolate: False to end each step with the result of its halves, so that every state is
                the solution of a contact problem with a certificate. Errors are then those of
                `accuracy`.

        Returns the report of the call. `report.advance` has the steps and the sum of their local
        errors. Contacts, forces and sensors of acceleration are averages over the call: a force is
        the sum of its impulses over the duration of the call. Poses and other sensors are those at
        `until`.
        Patches are those of the last half step. The certificate is the worst of all solves.

        Raises:
            Error: the contact model or the integrator does not fit (see Error.message for those that
                do), `until` is in the past, `accuracy` is below 1e-9 m, or data belongs to another
                model.
            StepError: a step failed at the least length, 1e-7 s, or was too short to advance the time,
                and on_failure is 'raise'.
        """
        check_data_type(data)
        return self._stepper.advance(
            self,
            data,
            check_number("until", until),
            check_number("accuracy", accuracy),
            _check_optional("max_time_step", max_time_step),
            _check_optional("first_step", first_step),
            _check_optional("last_error", last_error),
            check_flag("extrapolate", extrapolate),
        )

    def forward(self, data: mujoco.MjData) -> StepReport:
        """Computes forces, accelerations and sensors at the present state. The GIL is released.

        Use it in place of mujoco.mj_forward, which puts MuJoCo's own contact into data. It writes
        what a step would write: positions and velocities of bodies, contacts, constraint rows, qacc,
        qfrc_constraint and all sensors. It also fills the contacts' rows of efc_J, efc_vel and
        efc_b, which a step leaves at 0, so that J^T efc_force is qfrc_constraint.

        The state does not change, and the next step has the same bits as without this call.

        Contact forces are those of the step that would begin now: its impulses divided by
        `time_step`. A body that will land within this step already feels the impact, divided by the
        time step. The same holds for rigid contact models, whose forces are defined only as impulses
        of a step. Under the integrators 'event_driven' and 'rk4' the forces are those of the step's
        first solve.

        Returns the report of the step that would begin now; num_steps is 0. Its warnings are counted,
        and given once, as those of a step are.

        Raises:
            Error: data belongs to another model.
            StepError: the forces were not found, and on_failure is 'raise'.
        """
        return self._stepper.forward(self, data)

    @property
    def warning_counts(self) -> dict[str, int]:
        """The number of warnings of all steps by kind; see StepReport.warnings."""
        return dict(self._warning_counts)

    def _look_at(self, report: StepReport) -> None:
        """Acts on warnings and the failure of a call; the compiled module calls it if there are any."""
        if report.num_warnings:
            self._warn(report)
        if report.status_bits and self.on_failure == "raise":
            raise StepError(report)

    def _warn(self, report: StepReport) -> None:
        """Counts the warnings of a call, and gives a Python warning for each new kind."""
        for kind, count in report.warning_counts.items():
            is_new = kind not in self._warning_counts
            self._warning_counts[kind] = self._warning_counts.get(kind, 0) + count
            if is_new:
                warn(StepWarning(kind, report.warnings[kind][1]))


@contextlib.contextmanager
def keep_turn(simulator: Simulator, function: str) -> Iterator[None]:
    """A context in which this thread alone uses a simulator, over several calls. Other threads wait.

    Raises:
        Error: the call comes from a callback within a step of the simulator; `function` names it.
    """
    simulator._stepper.keep_turn(function)
    try:
        yield
    finally:
        simulator._stepper.end_turn()


def _restore(
    kind: type[Simulator],
    model: mujoco.MjModel,
    options: dict[str, Any],
    properties: ContactProperties | None,
    state: bytes,
) -> Simulator:
    """Makes a copy of a Simulator, for pickle and copy."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StictionWarning)  # the original has warned
        simulator = kind(model, properties=properties, **options)
    simulator.set_state(state)
    return simulator


def _document_options() -> None:
    """Adds all options to the signature and the documentation of Simulator."""
    model, *others = [
        parameter
        for name, parameter in inspect.signature(Simulator).parameters.items()
        if name not in ("contact_model", "options")
    ]
    parameters = [model, *make_parameters(), *others]
    setattr(Simulator, "__signature__", inspect.Signature(parameters))  # noqa: B010
    if Simulator.__doc__:  # python -OO removes docstrings
        Simulator.__doc__ = Simulator.__doc__.replace("OPTIONS", describe_options(indent=8))


_document_options()


def _check_optional(name: str, value: Any) -> float | None:
    """Returns a number or None."""
    return None if value is None else check_number(name, value)
