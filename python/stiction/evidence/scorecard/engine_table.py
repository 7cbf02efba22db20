"""The engines of the scorecard, each at its documented best settings. The page says which of them were
changed after results had been seen.

To add an engine, write an adapter in adapters/, name it in worker.ADAPTERS, and add a row here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from stiction import contact_models
from stiction._core import contact_model_traits
from stiction.errors import Error
from stiction.evidence.engines.environments import ENVIRONMENTS, STEEL, WARP, Environment
from stiction.inputs.names import suggest_name


@dataclass(frozen=True)
class Engine:
    """An engine with its settings."""

    name: str  # name on the command line and in tables
    adapter: str  # a name in worker.ADAPTERS
    environment: Environment  # the environment in which it runs
    settings: dict[str, Any]  # settings of the adapter
    settings_text: str  # the settings, for the page
    source: str  # where the settings are recommended
    has_field: bool = False  # True if it has pressure fields
    # True if the engine is made for GPUs. All engines run on the CPU here.
    is_made_for_gpu: bool = False
    family: str = field(default="", kw_only=True)  # a key of page.REPORTS, for groups


# Settings of Stiction, their text, and where they are recommended.
_Choice = tuple[dict[str, Any], str, str]
_DEFAULTS: _Choice = ({}, "defaults", "docs/contact_models.md")
_LOW_TOLERANCE: _Choice = (
    {"friction_law": "soft", "stiction_tolerance": 1e-6},
    "stiction_tolerance 1e-6 m/s",
    'docs/contact_models.md, "Stiction creeps, by a known amount": lower v_s',
)
_ELASTIC: _Choice = (
    {"friction_law": "elastic"},
    'friction_law "elastic"',
    "docs/anchors.md: for things that are held",
)
_SOFT: _Choice = ({"friction_law": "soft"}, 'friction_law "soft"', "docs/creep.md")
# More rows of a model, by the word that their names add to it.
_MORE: dict[str, dict[str, _Choice]] = {
    "lagged": {"defaults": _DEFAULTS},
    "coulomb": {"soft": _SOFT, "elastic": _ELASTIC},
}


def _make_stiction_engines() -> list[Engine]:
    engines = []
    for model in contact_models():
        traits = contact_model_traits(model)
        if traits.is_mj_step:
            continue
        has_field = not traits.is_rigid
        # sap has no v_s. At a small v_s steps of tamsi may fail (docs/models/tamsi.md), so it keeps
        # its default.
        lowered = has_field and traits.uses_stiction_tolerance and model != "tamsi"
        choices = [("", _LOW_TOLERANCE if lowered else _DEFAULTS)]
        choices += [(f" {word}", choice) for word, choice in _MORE.get(model, {}).items()]
        for suffix, (options, text, source) in choices:
            settings = {"contact_model": model, "options": options}
            engines.append(
                Engine(
                    f"stiction {model}{suffix}", "stiction", ENVIRONMENTS["stiction"], settings,
                    text, source, has_field=has_field, family="stiction",
                )
            )  # fmt: skip
    return engines


_MUJOCO_DOCS = (
    'MuJoCo, modeling, "Solver settings": elliptic cones, large impratio, Newton with a small '
    "tolerance"
)
_CARDS = "MuJoCo's model/cards/house_of_cards.xml"
_SURFACE = 'solref "2 dt 1", solimp "0.95 0.99 1e-4"'


def _make_mujoco_engines() -> list[Engine]:
    elliptic = 'cone="elliptic" impratio="100" tolerance="1e-10" iterations="200"'
    cards = 'cone="elliptic" impratio="10" tolerance="1e-10" iterations="200" noslip_iterations="2"'
    rows = (
        ("elliptic", elliptic, "elliptic, impratio 100, tolerance 1e-10", _MUJOCO_DOCS),
        (
            "pyramidal",
            'tolerance="1e-10" iterations="200"',
            "pyramidal, tolerance 1e-10",
            'MuJoCo, XML reference, impratio: no large value with pyramids; the rest as "elliptic"',
        ),
        ("noslip", cards, "elliptic, impratio 10, noslip_iterations 2, tolerance 1e-10", _CARDS),
        (
            "discrete",
            f'{elliptic} integrator="discrete"',
            "elliptic, impratio 100, tolerance 1e-10, integrator discrete",
            _MUJOCO_DOCS,
        ),
    )
    return [
        Engine(
            f"mujoco {name}", "mujoco", ENVIRONMENTS["stiction"], {"option": option},
            f"{text}; {_SURFACE}", f"{source}; surface: {_CARDS}", family="mujoco",
        )
        for name, option, text, source in rows
    ]  # fmt: skip


_DRAKE_SOURCE = (
    "Drake, MultibodyPlant.set_stiction_tolerance: the slip that you allow; stiffness, modulus and "
    "dissipation of DefaultProximityProperties; relaxation time: [castro2022], section V.B"
)


def _make_drake_engines() -> list[Engine]:
    # TAMSI keeps the tolerance at which its Newton method is known to converge.
    rows = (
        ("sap", "sap", "point", 1e-6),
        ("lagged", "lagged", "point", 1e-6),
        ("similar", "similar", "point", 1e-6),
        ("tamsi", "tamsi", "point", 1e-4),
        ("hydroelastic", "lagged", "hydroelastic_with_fallback", 1e-6),
    )
    return [
        Engine(
            f"drake {name}", "drake", ENVIRONMENTS["drake"],
            {
                "approximation": approximation, "contact_model": contact,
                "stiction_tolerance": tolerance, "stiffness": 5e5, "dissipation": 50.0,
                "modulus": 1e7,
            },
            f"{approximation}, {contact}, stiction_tolerance {tolerance:g} m/s, "
            + ("modulus 1e7 Pa" if name == "hydroelastic" else "point_stiffness 1e6 N/m")
            + ", dissipation 50 s/m, relaxation time of a pair: one step",
            _DRAKE_SOURCE,
            has_field=name == "hydroelastic", family="drake",
        )
        for name, approximation, contact, tolerance in rows
    ]  # fmt: skip


def _make_newton_engines() -> list[Engine]:
    return [
        Engine(
            "newton mujoco", "newton", ENVIRONMENTS["newton"],
            {"solver": "mujoco", "options": WARP},
            f"MuJoCo Warp, elliptic, impratio 10, 100 iterations, tolerance 1e-8; {_SURFACE}",
            f"as mujoco elliptic; impratio of {_CARDS}, because its numbers are single",
            is_made_for_gpu=True, family="newton",
        ),
        Engine(
            "newton steel", "newton", ENVIRONMENTS["newton"], {"solver": "steel", "options": STEEL},
            "friction patches with anchors (default), 100 iterations instead of 12, "
            "articulation_constraint_max 4096",
            "SolverSteel, class documentation: anchors hold without creep; its warning on dropped rows "
            "asks for a larger capacity",
            is_made_for_gpu=True, family="newton",
        ),
    ]  # fmt: skip


def _make_bullet_engines() -> list[Engine]:
    return [
        Engine(
            "pybullet", "bullet", ENVIRONMENTS["bullet"],
            {
                "engine": {
                    "numSolverIterations": 200,
                    "solverResidualThreshold": 0.0,
                    "restitutionVelocityThreshold": 0.0,
                },
                "dynamics": {"frictionAnchor": 1},
            },
            "200 iterations, frictionAnchor, no damping, no residual or restitution threshold",
            "PyBullet quickstart guide: changeDynamics (frictionAnchor corrects drift) and "
            "setPhysicsEngineParameter",
            family="bullet",
        )
    ]  # fmt: skip


def _make_genesis_engines() -> list[Engine]:
    return [
        Engine(
            "genesis", "genesis", ENVIRONMENTS["genesis"],
            {
                "friction_cone": ["friction_cone", "elliptic"],
                "contact_resolution": ["contact_resolution", "signorini"],
                "integrator": ["integrator", "implicitfast"],
                "iterations": 100,
                "constraint_timeconst": None,
                # Bodies touch at the start, in one entity; and room for all their contacts.
                "enable_neutral_collision": True,
                "max_collision_pairs": 1000,
            },
            "elliptic, signorini, impratio 100 (its default), double numbers, tolerance 1e-8 (its "
            f"default), 100 iterations instead of 25, implicitfast; {_SURFACE}",
            "Genesis, RigidOptions: signorini 'whenever sliding contact matters', more iterations buy "
            "accuracy, the default integrator is 'wrong in theory', a shorter time constant is "
            f"stiffer; surface: {_CARDS}, because it reads MJCF",
            is_made_for_gpu=True, family="genesis",
        )
    ]  # fmt: skip


def _make_motrix_engines() -> list[Engine]:
    return [
        Engine(
            name, "motrix", ENVIRONMENTS["motrix"],
            {"solver": solver, "iterations": 200, "tolerance": 1e-7},
            f"{solver}, 200 iterations instead of 100, tolerance 1e-7; {_SURFACE}",
            "MotrixSim, msd.SimulateOption: the solver stops when its residual is below the tolerance; "
            f"{source}; surface: {_CARDS}, because its impedance is that of MuJoCo",
            family="motrix",
        )
        for name, solver, source in (
            ("motrixsim", "PGS", "its default solver"),
            ("motrixsim newton", "Newton", "its Newton method in velocities"),
        )
    ]  # fmt: skip


def _make_pinocchio_engines() -> list[Engine]:
    tolerances = {
        f"{kind}_{of}_tol": 1e-9
        for kind in ("absolute", "relative")
        for of in ("feasibility", "complementarity")
    }
    return [
        Engine(
            "pinocchio admm", "pinocchio", ENVIRONMENTS["pinocchio"],
            {"solver": tolerances, "margin": 0.01, "correction": 0.2},
            "ADMM with Coulomb's law (default), tolerances 1e-9 instead of 1e-6, 1000 iterations "
            "(default); coal's contact patches at gaps below 10 mm; a step removes 0.2 of a penetration",
            "Pinocchio, ADMMSolverSettings; it has no step of its own and by default no correction of "
            "penetrations, so the share 0.2 is that of Bullet",
            family="pinocchio",
        )
    ]  # fmt: skip


ENGINES: dict[str, Engine] = {
    engine.name: engine
    for engine in (
        *_make_stiction_engines(),
        *_make_mujoco_engines(),
        *_make_drake_engines(),
        *_make_newton_engines(),
        *_make_bullet_engines(),
        *_make_genesis_engines(),
        *_make_motrix_engines(),
        *_make_pinocchio_engines(),
    )
}


def find_engine(name: str) -> Engine:
    """Returns an engine."""
    if name not in ENGINES:
        message = f"there is no engine '{name}' {suggest_name(name, list(ENGINES))}"
        raise Error("unknown_name", "engine", message)
    return ENGINES[name]
