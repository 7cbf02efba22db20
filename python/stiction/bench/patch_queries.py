"""Time of contact surfaces per face, without a step, in turns with Drake's."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import stiction
from stiction.bench.drake_model import DrakeModel
from stiction.bench.patch_pairs import KINDS, ShapePair, make_pairs
from stiction.bench.timing import Runner, Timing, time_in_turns

_BATCH = 4e-3  # CPU time of one repeat [s]
DRIFT = 1e-5  # of geoms between two queries: 1 cm/s at 1 kHz [m]
_FEWEST_FACES = 10  # of pairs with fewer the call is what is timed
WANTED = 1 / 3


@dataclass(frozen=True)
class QueryCase:
    """One pair of shapes; CPU time of a query [us], the least of the repeats; Drake's None without it."""

    name: str
    kind: str
    faces: int
    us: float
    drake_faces: int | None
    drake_us: float | None


@dataclass(frozen=True)
class QuerySummary:
    """Of all pairs of a kind: CPU time per face [us] at the 10th, 50th and 90th percentile.

    ratio: ours to Drake's, median of the pairs; wanted: what it is to be at most.
    total_ratio: of the sums of all pairs' times.
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
    """All of make_pairs that touch in _FEWEST_FACES or more."""
    cases = [_time_pair(pair, num_repeats, with_drake) for pair in make_pairs()]
    return [case for case in cases if case.faces >= _FEWEST_FACES]


def summarize(cases: list[QueryCase]) -> list[QuerySummary]:
    """One row for each kind that there is."""
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
    """With as many queries in a repeat as _BATCH has room for."""
    query(1)  # what the first one allocates
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
