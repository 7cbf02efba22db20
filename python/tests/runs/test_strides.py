"""The calls in which a run advances."""

from __future__ import annotations

import mujoco
import pytest

import stiction
from stiction.runs.run import Strides


@pytest.fixture
def simulator() -> stiction.Simulator:
    model = mujoco.MjModel.from_xml_string("""<mujoco><option timestep="0.01"/><worldbody>
        <body><freejoint/><geom size="0.1"/></body></worldbody></mujoco>""")
    return stiction.Simulator(model)


@pytest.mark.parametrize(
    ("period", "length", "count"),
    [(None, 0.1, 10), (0.3, 0.3, 4), (3.0, 1.0, 1), (1e9, 1.0, 1), (0.25, 0.25, 4)],
)
def test_the_last_call_ends_with_the_run(
    simulator: stiction.Simulator, period: float | None, length: float, count: int
) -> None:
    strides = Strides.make(simulator, 0.5, 1.0, 1e-3, period)
    assert (strides.length, strides.count) == (pytest.approx(length), count)
    data = mujoco.MjData(simulator.model)
    data.time = 0.5
    times = []
    for i in range(strides.count):
        assert strides.take(simulator, data, i).ok
        times.append(data.time)
    assert times[-1] == 1.5
    assert times[:-1] == pytest.approx([0.5 + (i + 1) * length for i in range(count - 1)])


def test_steps_of_one_length_reach_the_end(simulator: stiction.Simulator) -> None:
    strides = Strides.make(simulator, 0.0, 0.025)
    assert (strides.length, strides.count) == (0.01, 3)


def test_a_period_needs_an_accuracy(simulator: stiction.Simulator) -> None:
    with pytest.raises(stiction.Error, match="period: needs an accuracy"):
        Strides.make(simulator, 0.0, 1.0, period=0.1)
