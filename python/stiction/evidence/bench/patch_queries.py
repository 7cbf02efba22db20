"""Times contact surfaces of pairs of overlapping shapes, per face and without steps, against Drake's."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

import stiction
from stiction.evidence.bench.timing import Runner, Timing, time_in_turns
from stiction.evidence.engines.drake_model import DrakeModel

Vector = NDArray[np.float64]

_BATCH = 4e-3  # approximate CPU time of one repeat [s]
DRIFT = 1e-5  # motion of geoms between two queries: 1 cm/s at 1 kHz [m]
_FEWEST_FACES = 10  # with fewer faces, the overhead of the call would dominate
WANTED = 1 / 3  # largest ratio to Drake that is required

KINDS = ("compliant-compliant", "rigid-compliant", "half space")

_RADIUS = 0.05  # [m]
_HINT = 0.01  # [m]
_SHAPES: dict[str, tuple[float, ...]] = {
    "sphere": (_RADIUS,),
    "ellipsoid": (0.06, 0.045, 0.03),
    "capsule": (0.03, 0.05),
    "cylinder": (0.04, 0.04),
    "box": (0.05, 0.04, 0.03),
}
_DEPTHS = (0.01, 0.02)  # [m]
_COMPLIANT = {"hydroelastic_modulus": 1e6, "resolution_hint": _HINT}
_RIGID = {"rigid": True, "resolution_hint": _HINT}
_PLANES = ({"hydroelastic_modulus": 1e6, "slab_thickness": 0.05}, {"rigid": True})


@dataclass(frozen=True)
class ShapePair:
    """A pair of overlapping geoms: 'A' belongs to the world and 'B' to a free body."""

    name: str
    kind: str  # one of KINDS
    # model, data: the model, and data with its kinematics computed.
    model: mujoco.MjModel
    data: mujoco.MjData
    materials: dict[str, dict[str, Any]]  # material of each geom by the geom's name

    @property
    def properties(self) -> dict[str, Any]:
        """The materials as the content of a file of contact properties."""
        return {"materials": self.materials, "geoms": {name: name for name in self.materials}}


def make_pairs(seed: int = 0) -> Iterator[ShapePair]:
    """Yields all pairs of five shapes, and each with a plane, of both materials at two depths."""
    rng = np.random.default_rng(seed)
    for a, b in combinations_with_replacement(_SHAPES, 2):
        for depth in _DEPTHS:
            yield _make_pair(KINDS[0], a, b, depth, (_COMPLIANT, _COMPLIANT), rng)
            yield _make_pair(KINDS[1], a, b, depth, (_RIGID, _COMPLIANT), rng)
    for b in _SHAPES:
        for depth in _DEPTHS:
            yield _make_pair(KINDS[2], "plane", b, depth, (_PLANES[0], _RIGID), rng)
            yield _make_pair(KINDS[2], "plane", b, depth, (_PLANES[1], _COMPLIANT), rng)


def _make_pair(
    kind: str,
    a: str,
    b: str,
    depth: float,
    materials: tuple[dict[str, Any], dict[str, Any]],
    rng: np.random.Generator,
) -> ShapePair:
    R_WB = _draw_rotation(rng)
    if a == "plane":
        R_WA, direction = np.eye(3), np.array([0.0, 0.0, 1.0])
    else:
        R_WA, direction = _draw_rotation(rng), rng.standard_normal(3)
        direction /= np.linalg.norm(direction)
    # Place B such that the shapes overlap by the depth along the direction.
    reach = _calc_support(a, R_WA.T @ direction) + _calc_support(b, -R_WB.T @ direction)
    position = (reach - depth) * direction
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><worldbody>
        <geom name="A" type="{a}" size="{_join(_SHAPES.get(a, (0, 0, 1)))}" quat="{_quaternion(R_WA)}"/>
        <body name="B" pos="{_join(position)}" quat="{_quaternion(R_WB)}"><freejoint/>
        <geom name="B" type="{b}" size="{_join(_SHAPES[b])}" mass="1"/></body>
        </worldbody></mujoco>"""
    )
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    name = f"{a}-{b} {1000 * depth:g} mm"
    return ShapePair(name, kind, model, data, dict(zip("AB", materials, strict=True)))


def _calc_support(shape: str, u: Vector) -> float:
    """Returns the extent of a shape along a unit vector in its own frame [m]."""
    if shape == "plane":
        return 0.0
    size = np.array(_SHAPES[shape])
    match shape:
        case "sphere":
            return float(size[0])
        case "ellipsoid":
            return float(np.linalg.norm(size * u))
        case "capsule":
            return float(size[0] + size[1] * abs(u[2]))
        case "cylinder":
            return float(size[0] * np.hypot(u[0], u[1]) + size[1] * abs(u[2]))
        case _:
            return float(size @ np.abs(u))


def _draw_rotation(rng: np.random.Generator) -> Vector:
    quaternion = rng.standard_normal(4)
    R = np.empty(9)
    mujoco.mju_quat2Mat(R, quaternion / np.linalg.norm(quaternion))
    return R.reshape(3, 3)


def _quaternion(R: Vector) -> str:
    quaternion = np.empty(4)
    mujoco.mju_mat2Quat(quaternion, R.ravel())
    return _join(quaternion)


def _join(values: Any) -> str:
    return " ".join(repr(float(v)) for v in values)


@dataclass(frozen=True)
class QueryCase:
    """The result for one pair of shapes. Drake's values are None if it was not timed."""

    # name, kind: name and kind of the pair.
    name: str
    kind: str
    # faces, drake_faces: number of faces.
    faces: int
    # us, drake_us: CPU time of a query, minimum of the repeats [us].
    us: float
    drake_faces: int | None
    drake_us: float | None


@dataclass(frozen=True)
class QuerySummary:
    """The result for all pairs of a kind."""

    kind: str
    # pairs, faces: number of pairs, and of their faces.
    pairs: int
    faces: int
    # us_per_face, drake_us_per_face: 10th, 50th and 90th percentile of the CPU time per face [us].
    us_per_face: tuple[float, float, float]
    drake_us_per_face: tuple[float, float, float] | None
    ratio: float | None  # Stiction's time per face divided by Drake's, median of the pairs
    total_ratio: float | None  # ratio of the sums of all pairs' times
    wanted: float  # largest ratio that is required


def run_queries(num_repeats: int, with_drake: bool) -> list[QueryCase]:
    """Times all pairs of make_pairs that touch in at least _FEWEST_FACES faces."""
    cases = [_time_pair(pair, num_repeats, with_drake) for pair in make_pairs()]
    return [case for case in cases if case.faces >= _FEWEST_FACES]


def summarize(cases: list[QueryCase]) -> list[QuerySummary]:
    """Returns one summary for each kind that occurs."""
    of_kind = {kind: [case for case in cases if case.kind == kind] for kind in KINDS}
    return [_summarize(kind, members) for kind, members in of_kind.items() if members]


def _time_pair(pair: ShapePair, num_repeats: int, with_drake: bool) -> QueryCase:
    ours = stiction.ContactSurfaces(pair.model, pair.properties)
    runners = {"stiction": _make_runner(lambda n: ours.calc(pair.data, n, DRIFT))}
    peer = None
    if with_drake:
        peer = DrakeModel(pair.model, pair.materials)
        peer.set_state(pair.data)
        runners["drake"] = _make_runner(peer.query)
    times: dict[str, Timing] = time_in_turns(runners, num_repeats)
    return QueryCase(
        pair.name,
        pair.kind,
        ours.calc(pair.data).num_faces,
        times["stiction"].minimum,
        peer.count_faces() if peer else None,
        times["drake"].minimum if peer else None,
    )


def _make_runner(query: Callable[[int], object]) -> Runner:
    """Makes a runner whose repeats have as many queries as fit in the time _BATCH."""
    query(1)  # the first query allocates memory
    start = time.process_time()
    query(3)
    once = max((time.process_time() - start) / 3, 1e-7)
    return Runner(lambda: None, query, max(int(_BATCH / once), 3))


def _summarize(kind: str, cases: list[QueryCase]) -> QuerySummary:
    per_face = [case.us / case.faces for case in cases]
    of_drake = [
        case.drake_us / case.drake_faces for case in cases if case.drake_us and case.drake_faces
    ]
    both = len(of_drake) == len(cases) > 0
    return QuerySummary(
        kind,
        len(cases),
        sum(case.faces for case in cases),
        _find_percentiles(per_face),
        _find_percentiles(of_drake) if both else None,
        float(np.median(np.array(per_face) / of_drake)) if both else None,
        sum(case.us for case in cases) / sum(case.drake_us or 0 for case in cases)
        if both
        else None,
        WANTED,
    )


def _find_percentiles(values: list[float]) -> tuple[float, float, float]:
    low, median, high = np.percentile(values, [10, 50, 90])
    return float(low), float(median), float(high)
