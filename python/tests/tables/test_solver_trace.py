"""Tests of the trace of Newton's method and its plot."""

from __future__ import annotations

import io

import mujoco
import numpy as np
import pytest

import stiction

_SCENE = """
<mujoco>
  <worldbody>
    <geom type="plane" size="1 1 .1"/>
    <body pos="0 0 .05"><freejoint/><geom type="box" size=".05 .05 .05" mass="1"/></body>
    <body pos=".5 0 .05"><freejoint/><geom type="box" size=".05 .05 .05" mass="1"/></body>
  </worldbody>
</mujoco>
"""


def _step(contact_model: str, *, trace: bool) -> tuple[mujoco.MjData, stiction.StepReport]:
    model = mujoco.MjModel.from_xml_string(_SCENE)
    data = mujoco.MjData(model)
    data.qvel[[0, 2, 6, 8]] = 0.5, -1, 0.2, -2
    simulator = stiction.Simulator(model, contact_model=contact_model, trace=trace)
    return data, simulator.step(data)


def _newton_models() -> list[str]:
    rigid = stiction.rigid_contact_models()
    return [m for m in stiction.contact_models() if m not in rigid and m != "mujoco"]


@pytest.mark.parametrize("contact_model", _newton_models())
def test_trace_has_an_entry_for_each_iterate_of_each_island(contact_model: str) -> None:
    _, report = _step(contact_model, trace=True)
    trace = report.trace
    assert set(trace.island) == {0, 1}
    assert np.count_nonzero(trace.step_length > 0) == report.statistics.iterations
    for island in (0, 1):
        first = (trace.island == island) & (trace.run == 0) & (trace.solve == 0)
        assert list(trace.iteration[first]) == list(range(np.count_nonzero(first)))
        last = np.flatnonzero(trace.island == island)[-1]
        assert trace.step_length[last] == 0
        assert trace.gradient_norm[last] == pytest.approx(report.islands[island].residual)


@pytest.mark.parametrize("contact_model", [m for m in _newton_models() if m != "tamsi"])
def test_cost_falls_in_every_run(contact_model: str) -> None:
    _, report = _step(contact_model, trace=True)
    trace = report.trace
    is_inside_run = trace.iteration[1:] > 0
    assert (np.diff(trace.cost)[is_inside_run] <= 0).all()
    assert trace.cost.min() < -0.1  # most of the 2.5 J of the impacts is lost


def test_a_model_without_cost_has_nan() -> None:
    _, report = _step("tamsi", trace=True)
    assert np.isnan(report.trace.cost[report.trace.iteration > 0]).all()


@pytest.mark.parametrize("contact_model", stiction.contact_models())
def test_trace_is_empty_when_off(contact_model: str) -> None:
    _, report = _step(contact_model, trace=False)
    assert len(report.trace) == 0
    assert report.trace.cost.shape == (0,)


@pytest.mark.parametrize("contact_model", _newton_models())
def test_trace_changes_no_result(contact_model: str) -> None:
    data, _ = _step(contact_model, trace=False)
    traced, _ = _step(contact_model, trace=True)
    assert (data.qvel == traced.qvel).all()


def test_trace_describes_the_last_step_of_a_call() -> None:
    model = mujoco.MjModel.from_xml_string(_SCENE)
    data = mujoco.MjData(model)
    simulator = stiction.Simulator(model, trace=True)
    trace = simulator.step(data, 5).trace
    assert trace.solve[0] == 0
    assert np.count_nonzero(trace.iteration == 0) == len(
        set(zip(trace.solve, trace.island, trace.run, strict=True))
    )


def test_plot_has_a_line_for_each_run() -> None:
    _, report = _step("lagged", trace=True)
    figure = stiction.plot_trace(report.trace)
    num_runs = np.count_nonzero(report.trace.iteration == 0)
    assert [len(axes.lines) for axes in figure.axes] == [num_runs] * 3


def test_plot_of_an_empty_trace_names_the_remedy() -> None:
    _, report = _step("lagged", trace=False)
    with pytest.raises(stiction.Error, match="trace=True"):
        stiction.plot_trace(report.trace)


@pytest.mark.parametrize("contact_model", _newton_models())
@pytest.mark.filterwarnings("error")
def test_a_plot_is_drawn_without_warnings(contact_model: str) -> None:
    _, report = _step(contact_model, trace=True)
    figure = stiction.plot_trace(report.trace)
    figure.savefig(io.BytesIO(), format="svg")
    cost, gradient, step = figure.axes
    assert cost.get_yscale() == ("linear" if contact_model == "tamsi" else "log")
    assert (gradient.get_yscale(), step.get_yscale()) == ("log", "linear")


def test_plot_of_a_report_names_its_trace() -> None:
    _, report = _step("lagged", trace=True)
    with pytest.raises(TypeError, match=r"trace is a StepReport.*pass report\.trace"):
        stiction.plot_trace(report)  # type: ignore[arg-type]
