"""Times contact surfaces per face, without simulation steps, against Drake's."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import stiction
from stiction.evidence.bench.patch_pairs import KINDS, ShapePair, make_pairs
from stiction.evidence.bench.timing import Runner, Timing, time_in_turns
from stiction.evidence.engines.drake_model import DrakeModel

_BATCH = 4e-3  # approximate CPU time of one repeat [s]
DRIFT = 1e-5  # motion of geoms between two queries: 1 cm/s at 1 kHz [m]
_FEWEST_FACES = 10  # with fewer faces, the overhead of the call would dominate
WANTED = 1 / 3  # largest ratio to Drake that is required


@dataclass(frozen=True)
class QueryCase:
    """The result for one pair of shapes.

    name, kind: name and kind of the pair.
    faces, drake_faces: number of faces.
    us, drake_us: CPU time of a query, minimum of the repeats [us].

    Drake's values are None if it was not timed.
    """

    name: str
    kind: str
    faces: int
    us: float
    drake_faces: int | None
    drake_us: float | None


@dataclass(frozen=True)
class QuerySummary:
    """The result for all pairs of a kind.

    kind: kind of the pairs.
    pairs, faces: number of pairs, and of their faces.
    us_per_face, drake_us_per_face: 10th, 50th and 90th percentile of the CPU time per face [us].
    ratio: Stiction's time per face divided by Drake's, median of the pairs.
    total_ratio: ratio of the sums of all pairs' times.
    wanted: largest ratio that is required.
    """

    kind: str
    pairs: int
    faces: int
    us_per_face: tuple[float, float, float]
    drake_us_per_face: tuple[float, float, float] | None
    ratio: float | None
    total_ratio: float | None
    wanted: float


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
    return Runner(lambda: None, lambda n: _discard(query(n)), max(int(_BATCH / once), 3))


def _discard(_: object) -> None:
    return None


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
