"""`stiction bench patches`: steps with pressure-field contact, in turns with Drake's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

import stiction
from stiction.bench.drake_model import DrakeModel, Scheme, Surface
from stiction.bench.mujoco_runners import make_stiction_runner
from stiction.bench.scene_pairs import make_pair_runners, make_surface_runner
from stiction.bench.timing import Runner, time_in_turns
from stiction.errors import ignored_settings_are_fine
from stiction.experiments import gripper
from stiction.experiments.spatula import EXAMPLE
from stiction.package_scenes import find_scene_file
from stiction.scene import Scene

_SETTLE_STEPS = 5  # by each stepper from the common state, not timed
_HOLD_TIME = 0.3  # by ours from the start to the common state [s]


@dataclass(frozen=True)
class PairTime:
    """Contact surface of a pair of geoms alone; CPU time of a query [us], the least of the repeats."""

    faces: float
    us: float


@dataclass(frozen=True)
class StepCase:
    """One state; times are CPU time per step [us], ratios ours to Drake's, of the minima: below 1 ours is
    faster. Drake's are None where it is not installed.

    faces: of the common state's next step; drake_faces: Drake's.
    query_us: of the contact surfaces alone, of geoms that slide to and fro; query_faces: of these, the
    mean. pairs: the same of each pair of geoms alone. solve_us: median wall time of the solver [us].
    drake_us: by scheme; drake_best_us: of the fastest; drake_query_us: of its contact surfaces alone.
    ratio: to the best of the schemes; wanted: what it is to be at most.
    """

    scene: str
    faces: int
    points: int
    us_per_step: float
    us_per_step_median: float
    iterations: float
    residual: float
    query_us: float
    query_faces: float
    pairs: dict[str, PairTime]
    solve_us: float
    drake_faces: int | None
    drake_us: dict[str, float]
    drake_us_median: dict[str, float]
    drake_best_us: float | None
    drake_query_us: float | None
    ratio: float | None
    wanted: float


def run_gripper_steps(
    contact_model: str, *, tessellation: Surface = "polygon", num_repeats: int, with_drake: bool
) -> list[StepCase]:
    """The gripper at rest, holding the spatula with the pancake, at all resolutions."""
    cases = []
    for resolution in gripper.RESOLUTIONS:
        scene = gripper.load_gripper(resolution)
        simulator = gripper.make_gripper_simulator(scene, contact_model, tessellation)
        start = scene.make_data()
        simulator.step(start, round(_HOLD_TIME / gripper.TIME_STEP))
        cases.append(
            _time_steps(
                f"gripper {resolution.name}",
                scene,
                simulator,
                start,
                schemes=("sap", "cenic") if with_drake else (),
                tessellation=tessellation,
                num_steps=20,
                num_repeats=num_repeats,
                wanted=1 / 4,
            )
        )
    return cases


def run_spatula_steps(contact_model: str, *, num_repeats: int, with_drake: bool) -> list[StepCase]:
    """The spatula of Drake's example in its tight and in its loose phase, at 40 ms."""
    scene = stiction.load_scene(find_scene_file("spatula"))
    with ignored_settings_are_fine():
        simulator = scene.make_simulator(contact_model)
    start = scene.make_data()
    cases = []
    for phase, force in (("tight", EXAMPLE.tight), ("loose", EXAMPLE.loose)):
        start.ctrl[:] = force
        simulator.step(start, round(_HOLD_TIME / simulator.time_step))
        cases.append(
            _time_steps(
                f"spatula {phase}",
                scene,
                simulator,
                start,
                schemes=("lagged",) if with_drake else (),
                tessellation="polygon",
                num_steps=20,
                num_repeats=num_repeats,
                wanted=1 / 5,
            )
        )
    return cases


def _time_steps(
    name: str,
    scene: Scene,
    simulator: stiction.Simulator,
    start: mujoco.MjData,
    *,
    schemes: tuple[Scheme, ...],
    tessellation: Surface,
    num_steps: int,
    num_repeats: int,
    wanted: float,
) -> StepCase:
    ours, summary = make_stiction_runner(simulator, start, _SETTLE_STEPS, num_steps)
    asked = (scene.model, simulator.properties, start, tessellation, num_steps)
    query, pairs = make_surface_runner(*asked), make_pair_runners(*asked)
    runners = {"stiction": ours, "query": query.runner}
    runners |= {name: pair.runner for name, pair in pairs.items()}
    peers = {
        scheme: _make_drake(scene, simulator, start, scheme, tessellation) for scheme in schemes
    }
    for scheme, peer in peers.items():
        runners[scheme] = Runner(peer.reset, peer.advance, num_steps)
    if peers:
        first = peers[schemes[0]]
        runners["drake_query"] = Runner(first.reset, lambda n: _discard(first.query(n)), num_steps)
    times = time_in_turns(runners, num_repeats)
    us, query_us = times.pop("stiction"), times.pop("query").minimum
    pair_times = {
        name: PairTime(pair.faces, times.pop(name).minimum) for name, pair in pairs.items()
    }
    drake_query = times.pop("drake_query", None)
    best = min((timing.minimum for timing in times.values()), default=None)
    report = simulator.step(_copy(scene.model, start))
    return StepCase(
        scene=name,
        faces=report.patches.num_faces,
        points=len(report.contacts),
        us_per_step=us.minimum,
        us_per_step_median=us.median,
        iterations=summary.iterations,
        residual=summary.residual,
        query_us=query_us,
        query_faces=query.faces,
        pairs=pair_times,
        solve_us=summary.stages_us["solve"],
        drake_faces=first.count_faces() if peers else None,
        drake_us={scheme: timing.minimum for scheme, timing in times.items()},
        drake_us_median={scheme: timing.median for scheme, timing in times.items()},
        drake_best_us=best,
        drake_query_us=drake_query.minimum if drake_query else None,
        ratio=us.minimum / best if best else None,
        wanted=wanted,
    )


def _discard(_: object) -> None:
    return None


def _make_drake(
    scene: Scene,
    simulator: stiction.Simulator,
    start: mujoco.MjData,
    scheme: Scheme,
    tessellation: Surface,
) -> DrakeModel:
    peer = DrakeModel(
        scene.model,
        find_materials(scene.model, simulator),
        scheme=scheme,
        surface=tessellation,
        stiction_tolerance=simulator.options["stiction_tolerance"],
    )
    peer.set_state(start)
    peer.advance(_SETTLE_STEPS)
    peer.mark()
    return peer


def find_materials(
    model: mujoco.MjModel, simulator: stiction.Simulator
) -> dict[str, dict[str, Any]]:
    """Of all geoms that have one, by the geoms' names."""
    content: Any = simulator.properties.content if simulator.properties else {}
    found = {}
    for geom in range(model.ngeom):
        material = simulator.explain(geom, geom)["geoms"][0]["material"]
        if material:
            found[model.geom(geom).name] = content["materials"][material]
    return found


def _copy(model: mujoco.MjModel, data: mujoco.MjData) -> mujoco.MjData:
    copied = mujoco.MjData(model)
    mujoco.mj_copyData(copied, model, data)
    return copied


@dataclass(frozen=True)
class Exponent:
    """How a time grows with the number of faces, over the gripper's resolutions; wanted: at most."""

    time: str
    ours: float | None
    drake: float | None
    wanted: float = 1.05


_GROWTH = 4  # of a pair's faces: with less there is no slope to speak of


def fit_exponents(cases: list[StepCase]) -> list[Exponent]:
    """Of the query over its own faces, of the whole step, and of the query of each pair that touches at
    all resolutions and grows; Drake's step is the best of its schemes.
    """
    faces: list[float] = [case.faces for case in cases]
    queries = [case.drake_query_us for case in cases if case.drake_query_us is not None]
    steps = [case.drake_best_us for case in cases if case.drake_best_us is not None]
    exponents = [
        Exponent(
            "query",
            _fit([case.query_faces for case in cases], [case.query_us for case in cases]),
            _fit(faces, queries),
        ),
        Exponent("step", _fit(faces, [c.us_per_step for c in cases]), _fit(faces, steps)),
    ]
    for name in cases[0].pairs:
        pairs = [case.pairs[name] for case in cases if name in case.pairs]
        if len(pairs) < len(cases) or pairs[-1].faces < _GROWTH * pairs[0].faces:
            continue
        fitted = _fit([pair.faces for pair in pairs], [pair.us for pair in pairs])
        exponents.append(Exponent(f"query of {name}", fitted, None))
    return exponents


def _fit(faces: list[float], us: list[float]) -> float | None:
    """Slope of the logarithms, least squares; None without times."""
    if len(us) != len(faces):
        return None
    return float(np.polyfit(np.log(faces), np.log(us), 1)[0])
