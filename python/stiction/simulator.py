"""Simulator: a drop-in for mujoco.mj_step."""

from __future__ import annotations

import warnings
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from stiction._core import ContactProperties, Stepper, StepReport
from stiction.arguments import (
    check_data_type,
    check_flag,
    check_integer,
    check_model_type,
    check_name,
    check_number,
)
from stiction.custom_text import PROPERTIES, read_text
from stiction.errors import Error, IgnoredSettingWarning, StepError, StictionWarning
from stiction.names import find_geom
from stiction.properties import PropertiesLike, make_properties

_ON_FAILURE = ("raise", "stop", "keep_best")


class Simulator:
    """Steps a MuJoCo model with contact by one of Stiction's models.

        sim = stiction.Simulator(model, contact_model="lagged")
        report = sim.step(data)            # in place of mujoco.mj_step(model, data)

    The model and data stay yours: nothing is copied, and values in the model (masses, friction,
    gains, options) may change between steps. Masses, inertias, friction, armature and the time step
    are checked before each step; other values when a step fails, whose message then names the one
    at fault. As for mj_step, call mujoco.mj_setConst after a change of masses or inertias.

    Args:
        model: kept by reference.
        contact_model: 'sap', 'lagged', 'lagged_regularized', 'similar', 'tamsi', 'coulomb',
            the rigid 'no_slip', 'viscous', 'stewart_trinkle', 'anitescu_potra' and
            'drumwright_shell', or 'mujoco' (mj_step itself).
        integrator: 'euler' (one solve a step), 'event_driven' (semi-implicit Euler, divided where
            geoms come to touch; of rigid models) or 'rk4' (of 'viscous', between impacts).
        time_step: [s]; None: model.opt.timestep.
        tolerance: relative tolerance of the convex models, in (0, 1).
        max_iterations: Newton iterations per island and problem solved on the way, at least 1.
        num_threads: threads that share the islands of a step; results do not depend on it.
        stiction_tolerance: v_s [m/s]; slip below it is stiction.
        friction_regularization: sigma [-]; 0 gives the papers' unregularized models.
        near_rigid_factor: beta [-] of 'sap'; 0: stiffness is never reduced.
        normal_law: 'hunt_crossley', 'linear', 'hertz', 'log_barrier' or 'ipc_barrier'; of the lagged
            models and 'similar'.
        tessellation: faces of pressure-field contact: 'polygon' (one where two elements meet) or
            'triangle' (a fan about its center, smooth in time).
        quadrature: 'centroid' (one point a face) or 'moment_exact' (three, exact for force and moment
            of a linear pressure).
        friction_law: how friction rises with slip, 'soft', 'quadratic' or 'arctan'; of the same.
        lcp_solver: of 'no_slip' and 'viscous': 'ppm_ratio', 'ppm', 'lemke' or 'active_set'.
        friction_directions: edges of a friction polygon, even, 4..64; of rigid models with Coulomb's
            friction.
        gap_correction: share of an overlap, a violated limit or an open equality that rigid models
            correct in a step, in [0, 1].
        max_correction_speed: that such a correction has at most [m/s, rad/s].
        drop_separating: 'no_slip' holds only contacts that press, or would without friction; else
            every contact that touches when the step begins, as published: two contacts of a foot
            whose normals differ then hold it down.
        properties: contact properties of geoms: a file, its content as a dict, or None. Scenes that
            name their file are for stiction.load_scene.
        on_failure: what a step does that cannot be made, or does not converge: 'raise' StepError,
            'stop' and say so in the report, or 'keep_best' (advance with the solution found; inputs
            that are not finite still stop). Except with 'keep_best' the state is left as it was.

    Raises:
        Error: an argument out of range, or a model that is not taken.

    Settings that have no effect under the contact model give an IgnoredSettingWarning each.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        contact_model: str = "lagged_regularized",
        *,
        integrator: str = "euler",
        time_step: float | None = None,
        tolerance: float = 1e-5,
        max_iterations: int = 100,
        num_threads: int = 1,
        stiction_tolerance: float = 1e-4,
        friction_regularization: float = 1e-3,
        near_rigid_factor: float = 1.0,
        normal_law: str = "hunt_crossley",
        friction_law: str = "soft",
        tessellation: str = "polygon",
        quadrature: str = "centroid",
        lcp_solver: str = "ppm_ratio",
        friction_directions: int = 4,
        gap_correction: float = 0.1,
        max_correction_speed: float = 0.1,
        drop_separating: bool = True,
        properties: PropertiesLike = None,
        on_failure: str = "raise",
    ) -> None:
        check_model_type(model)
        self._properties = make_properties(properties)
        if properties is None and contact_model != "mujoco":
            _warn_of_custom_text(model)
        self.model = model
        self.contact_model = check_name("contact_model", contact_model)
        self.on_failure = check_name("on_failure", on_failure, _ON_FAILURE)
        self._options: dict[str, Any] = {
            "contact_model": contact_model,
            "integrator": check_name("integrator", integrator),
            "tolerance": check_number("tolerance", tolerance),
            "max_iterations": check_integer("max_iterations", max_iterations, 1),
            "num_threads": check_integer("num_threads", num_threads, 1),
            "stiction_tolerance": check_number("stiction_tolerance", stiction_tolerance),
            "friction_regularization": check_number(
                "friction_regularization", friction_regularization
            ),
            "near_rigid_factor": check_number("near_rigid_factor", near_rigid_factor),
            "normal_law": check_name("normal_law", normal_law),
            "friction_law": check_name("friction_law", friction_law),
            "tessellation": check_name("tessellation", tessellation),
            "quadrature": check_name("quadrature", quadrature),
            "lcp_solver": check_name("lcp_solver", lcp_solver),
            "friction_directions": check_integer(
                "friction_directions", friction_directions, 4, 64, even=True
            ),
            "gap_correction": check_number("gap_correction", gap_correction),
            "max_correction_speed": check_number("max_correction_speed", max_correction_speed),
            "drop_separating": check_flag("drop_separating", drop_separating),
        }
        self._stepper = Stepper(
            model._address,
            time_step=0.0 if time_step is None else _positive("time_step", time_step),
            keep_best=on_failure == "keep_best",
            properties=self._properties or ContactProperties(),
            **self._options,
        )
        self._options["on_failure"] = on_failure
        for text in self._stepper.ignored_settings:
            warnings.warn(text, IgnoredSettingWarning, stacklevel=2)

    @property
    def time_step(self) -> float:
        """The step taken [s]."""
        return self._stepper.time_step

    @property
    def options(self) -> dict[str, Any]:
        """Simulator(model, **options) steps as this one does; fit for JSON."""
        properties = None if self._properties is None else self._properties.content
        return {**self._options, "time_step": self.time_step, "properties": properties}

    @property
    def properties(self) -> ContactProperties | None:
        """Contact properties of geoms, as given."""
        return self._properties

    def explain(self, geom1: str | int, geom2: str | int) -> dict[str, Any]:
        """What a contact of two geoms uses, and where each number comes from.

        Args:
            geom1, geom2: names, or ids as int or '#12'.

        Returns:
            A dict fit for JSON: `geoms` (name, body, material, what selected it), `collides` and the
            `reason`, `touches_in` ('patches' or 'points'; None if they do not) and `why_points` where
            a geom takes part in pressure-field contact, `contact_model`, `normal_law`,
            `friction_law`, and `numbers`: name, value in SI `unit`, `from`, `is_used` by the model,
            `note`. An infinite stiffness is near-rigid.

        Raises:
            Error: a name or id that no geom has; with the nearest name.
        """
        ids = [find_geom(self.model, geom) for geom in (geom1, geom2)]
        explanation = self._stepper.explain(*ids)
        for geom in explanation["geoms"]:
            view = self.model.geom(geom["id"])
            geom["name"] = view.name
            geom["body"] = self.model.body(int(view.bodyid[0])).name
        names = ("contact_model", "normal_law", "friction_law")
        return {**{name: self._options[name] for name in names}, **explanation}

    def check_data(self, data: Any) -> None:
        """Raises Error if data is no MjData, or that of another model."""
        check_data_type(data)
        self._stepper.check_data(data._address)

    def calc_hessian(self) -> NDArray[np.float64]:
        """The Hessian of the last step's cost at its solution, H = A + J^T G J, (nv, nv).

        For the study of its spectrum; steps do not form it, and pay nothing for this method. Dofs are
        those of qvel but for free bodies, which have [w; v] of the joint's frame in the world: a
        rotation, which leaves the spectrum as it is.

        Raises:
            Error: before the first step; with 'mujoco', and other models that have no such matrix.
        """
        return self._stepper.calc_hessian()

    def calc_condition_number(self) -> float:
        """Of the matrix of calc_hessian: its largest eigenvalue over its smallest [-].

        Raises:
            Error: as calc_hessian.
        """
        return self._stepper.calc_condition_number()

    def step(self, data: mujoco.MjData, nstep: int = 1) -> StepReport:
        """Advances data by nstep steps. The GIL is released meanwhile.

        Returns the report of the last step; it and its arrays stay valid as long as they are kept.

        Raises:
            Error: data of another model, or nstep below 1.
            StepError: a step could not be made, with on_failure='raise'.
        """
        check_data_type(data)
        if nstep != 1 or type(nstep) is not int:
            nstep = check_integer("nstep", nstep, 1)
        report = self._stepper.step(data._address, nstep)
        if report.status_bits and self.on_failure == "raise":
            raise StepError(report)
        return report


def _positive(name: str, value: float) -> float:
    number = check_number(name, value)
    if not number > 0:
        raise Error("invalid_value", name, f"is {value}, must be above 0")
    return number


def _warn_of_custom_text(model: mujoco.MjModel) -> None:
    """A model does not know where its file was, so its contact properties cannot be found."""
    if (text := read_text(model, PROPERTIES)) is not None:
        warnings.warn(
            f"the scene names contact properties, '{text}', which a Simulator does not read by "
            "itself: make it with stiction.load_scene(path).make_simulator(), or give properties=",
            StictionWarning,
            stacklevel=3,
        )
