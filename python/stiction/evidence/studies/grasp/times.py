"""CPU times of LCP solvers on the same LCPs of the grasp."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from stiction import lcp
from stiction.evidence.studies.grasp.lcp import GraspLcp, make_coulomb_lcp
from stiction.evidence.studies.grasp.scene import GraspCase, find_contacts, make_start

_REPEATS = 5


def time_solvers(problems: Sequence[GraspLcp], case: GraspCase) -> dict[str, float]:
    """Times the solvers. They take turns.

    All solvers get the same LCPs without slip and start cold; 'warm' starts from the active
    contacts of the first solution. A solver that does not solve the first LCP is left out.

    Args:
        problems: LCPs without slip.
        case: the case, for an LCP with friction.

    Returns:
        CPU time of an LCP including the call from Python, minimum of five rounds [us].
    """
    start = make_start(case)
    coulomb = make_coulomb_lcp(case, start, find_contacts(case, start), 1.0)
    zeros = np.zeros(len(problems[0].N))
    active = list(lcp.solve_gram(problems[0].N, zeros, problems[0].u_hat).active)
    calls: dict[str, tuple[int, Callable[[], Any]]] = {}
    for solver in lcp.lcp_solvers():
        if (
            lcp.solve_gram(problems[0].N, zeros, problems[0].u_hat, solver=solver).status
            != "solved"
        ):
            continue
        calls[f"no_slip, {solver}"] = (len(problems), partial(_solve_all, problems, solver))
    calls["no_slip, ppm_ratio, warm"] = (
        len(problems),
        partial(_solve_all, problems, "ppm_ratio", active),
    )
    calls["stewart_trinkle, lemke"] = (1, lambda: lcp.solve(coulomb.Q, coulomb.r, solver="lemke"))
    calls["call"] = (100, lambda: [lcp.solve([[1.0]], [1.0]) for _ in range(100)])
    least = dict.fromkeys(calls, float("inf"))
    for _ in range(_REPEATS):
        for name, (count, call) in calls.items():
            begin = time.process_time()
            call()
            least[name] = min(least[name], 1e6 * (time.process_time() - begin) / count)
    return least


def _solve_all(
    problems: Sequence[GraspLcp], solver: str, guess: Sequence[int] | None = None
) -> None:
    for p in problems:
        lcp.solve_gram(p.N, np.zeros(len(p.N)), p.u_hat, solver=solver, guess=guess)
