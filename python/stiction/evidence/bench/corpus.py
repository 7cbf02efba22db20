"""`stiction bench corpus`: times other people's models against mj_step."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np

from stiction.errors import Error, StepError, StictionWarning
from stiction.evidence.experiments.real_scenes import find_named_files
from stiction.recording import format as fmt
from stiction.runs.controls import make_slow_controls
from stiction.simulator import Simulator

PACKAGES = ("dm_control", "gymnasium", "gymnasium_robotics")  # those that the tests install
CONTACT_MODELS = ("lagged_regularized", "coulomb", "sap", "no_slip")
SLOW_US = 20.0  # models whose mj_step takes longer have columns of their own

STRIDE = 10  # steps between updates of the controls
_RUN_SECONDS = 10.0  # CPU time after which a run ends early
_STEP_SECONDS = 20.0  # wall time after which a step fails


@dataclass(frozen=True)
class CorpusCase:
    """The result of one model file under one contact model. Times are CPU times per step [us],
    the mean over the run of each stride's minimum. Times and ratios are None if not even the
    first stride succeeded."""

    file: str
    contact_model: str
    dofs: int  # number of degrees of freedom
    # contacts, mujoco_contacts: mean number of contacts.
    contacts: float
    mujoco_contacts: float
    # Number of timed steps; fewer than asked for if a step failed or the run took too long.
    num_steps: int
    us_per_step: float | None
    mujoco_us_per_step: float | None
    # Stiction's time divided by that of mj_step's first num_steps steps.
    ratio_to_mujoco: float | None
    median_ratio: float | None  # the same from the medians of the repeats instead of the minima
    failure: str  # status of the step that failed; empty if none did


@dataclass(frozen=True)
class CorpusSummary:
    """Percentiles of ratio_to_mujoco under one contact model, without the runs that failed. The
    values whose names begin with `slow` are those of the models whose mj_step takes more than
    SLOW_US."""

    contact_model: str
    models: int
    failed: int
    median: float
    p95: float
    largest: float
    slow_models: int
    slow_median: float | None
    slow_p95: float | None


def run_corpus(
    names: Sequence[str] = PACKAGES,
    contact_models: Sequence[str] = CONTACT_MODELS,
    *,
    num_steps: int = 200,
    num_repeats: int = 3,
    on_file: Callable[[Path], None] = lambda _: None,
) -> Iterator[CorpusCase]:
    """Times the models of files, folders and packages. Yields a case per file and contact model.
    Steppers start alike, have the same slow controls, and take turns every ten steps. A file is
    left out if it does not load, nothing moves, bodies deform, or mj_step warns."""
    num_strides = -(-num_steps // STRIDE)
    is_any = False
    outer = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda text: None)  # a file with warnings is left out anyway
    try:
        for file in find_named_files(names):
            on_file(file)
            model = load_steady_model(file, num_strides)
            if model is not None:
                is_any = True
                yield from _run_file(file, model, contact_models, num_strides, num_repeats)
    finally:
        mujoco.set_mju_user_warning(outer)
    if not is_any:
        raise Error(
            "invalid_value",
            ", ".join(names),
            "has no model that moves and that mj_step runs without a warning; name other files",
        )


class StrideRuns:
    """Repeated runs of one stepper with slow controls and one step a call, and the CPU time of each
    stride. A run ends early if a step fails, whose status is `failure`, or after max_seconds of CPU time;
    later runs then end there too."""

    def __init__(
        self,
        model: mujoco.MjModel,
        step: Callable[[mujoco.MjData], object],
        num_strides: int,
        max_seconds: float,
    ) -> None:
        self.data = mujoco.MjData(model)
        self.num_strides = num_strides
        self.failure = ""
        self._model, self._step, self._max_us = model, step, 1e6 * max_seconds
        self._controls = make_slow_controls(model)
        self._start = fmt.get_state(model, self.data)
        self._times: list[list[float]] = []  # [us], by run and stride
        self._contacts: list[int] = []

    def start(self) -> None:
        """Starts the next run."""
        mujoco.mj_setState(self._model, self.data, self._start, fmt.INTEGRATION)
        self._times.append([])

    def advance(self) -> None:
        """Takes a stride, unless the run has ended."""
        times = self._times[-1]
        if len(times) >= self.num_strides:
            return
        self.data.ctrl[:] = self._controls(self.data.time)
        start = time.process_time()
        try:
            for _ in range(STRIDE):
                self._step(self.data)
        except StepError as e:
            self.failure = e.report.status
            self.num_strides = len(times)
            return
        times.append(1e6 * (time.process_time() - start))
        self._contacts.append(self.data.ncon)
        if sum(times) > self._max_us:
            self.num_strides = len(times)

    def calc_contacts(self) -> float:
        """Returns the mean number of contacts at the ends of strides."""
        return float(np.mean(self._contacts)) if self._contacts else 0.0

    def calc_us(self, num_strides: int, choose: Callable[..., np.ndarray] = np.min) -> float:
        """Returns the time per step over the first strides [us]."""
        times = np.array([run[:num_strides] for run in self._times])
        return float(choose(times, axis=0).mean()) / STRIDE


def summarize(cases: Sequence[CorpusCase]) -> list[CorpusSummary]:
    """Returns one summary for each contact model that has a run without a failure."""
    names = dict.fromkeys(case.contact_model for case in cases)
    groups = [[case for case in cases if case.contact_model == name] for name in names]
    return [_summarize_model(group) for group in groups if not all(c.failure for c in group)]


def find_worst(cases: Sequence[CorpusCase], count: int) -> list[CorpusCase]:
    """Returns the cases with the largest ratios, the largest first."""
    return sorted(cases, key=lambda case: -(case.ratio_to_mujoco or 0))[:count]


def load_steady_model(file: Path, num_strides: int) -> mujoco.MjModel | None:
    """Loads a model and runs it with mj_step. Returns None if it must be left out."""
    try:
        model = mujoco.MjModel.from_xml_path(str(file))
    except ValueError:
        return None
    if model.nv == 0 or model.nflex:
        return None
    run = _make_mujoco_runs(model, num_strides)
    run.start()
    try:
        for _ in range(num_strides):
            run.advance()
    except mujoco.FatalError:
        return None
    is_steady = not run.data.warning.number.any() and np.isfinite(run.data.qvel).all()
    return model if is_steady else None


def _make_mujoco_runs(model: mujoco.MjModel, num_strides: int) -> StrideRuns:
    return StrideRuns(model, lambda d: mujoco.mj_step(model, d), num_strides, _RUN_SECONDS)


def _make_runs(model: mujoco.MjModel, contact_model: str, num_strides: int) -> StrideRuns:
    """Makes the runs of a contact model. They end at once if it refuses the model."""
    try:
        simulator = Simulator(model, contact_model, max_seconds=_STEP_SECONDS)
    except Error:
        runs = StrideRuns(model, lambda d: None, 0, _RUN_SECONDS)
        runs.failure = "refused"
        return runs
    return StrideRuns(model, simulator.step, num_strides, _RUN_SECONDS)


def _run_file(
    file: Path,
    model: mujoco.MjModel,
    contact_models: Sequence[str],
    num_strides: int,
    num_repeats: int,
) -> Iterator[CorpusCase]:
    peer = _make_mujoco_runs(model, num_strides)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StictionWarning)
        ours = {name: _make_runs(model, name, num_strides) for name in contact_models}
        for _ in range(num_repeats):
            _take_turns([peer, *ours.values()], num_strides)
    for name, runs in ours.items():
        yield _make_case(file, name, model.nv, runs, peer)


def _take_turns(steppers: list[StrideRuns], num_strides: int) -> None:
    for runs in steppers:
        runs.start()
    for _ in range(num_strides):
        for runs in steppers:
            runs.advance()


def _make_case(
    file: Path, contact_model: str, dofs: int, ours: StrideRuns, peer: StrideRuns
) -> CorpusCase:
    n = min(ours.num_strides, peer.num_strides)
    us, mujoco_us = (runs.calc_us(n) if n else None for runs in (ours, peer))
    medians = [runs.calc_us(n, np.median) for runs in (ours, peer)] if n else None
    return CorpusCase(
        file=str(file),
        contact_model=contact_model,
        dofs=dofs,
        contacts=ours.calc_contacts(),
        mujoco_contacts=peer.calc_contacts(),
        num_steps=n * STRIDE,
        us_per_step=us,
        mujoco_us_per_step=mujoco_us,
        ratio_to_mujoco=us / mujoco_us if us and mujoco_us else None,
        median_ratio=medians[0] / medians[1] if medians else None,
        failure=ours.failure,
    )


def _summarize_model(cases: Sequence[CorpusCase]) -> CorpusSummary:
    good = [case for case in cases if not case.failure]
    ratios = np.array([case.ratio_to_mujoco for case in good])
    slow = ratios[[(case.mujoco_us_per_step or 0) > SLOW_US for case in good]]
    median, p95, largest = np.percentile(ratios, [50, 95, 100])
    slow_median, slow_p95 = np.percentile(slow, [50, 95]) if len(slow) else (None, None)
    return CorpusSummary(
        contact_model=cases[0].contact_model,
        models=len(good),
        failed=len(cases) - len(good),
        median=median,
        p95=p95,
        largest=largest,
        slow_models=len(slow),
        slow_median=slow_median,
        slow_p95=slow_p95,
    )
