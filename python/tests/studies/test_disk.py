"""Tests the parts of `stiction study disk`: theory, meshes and runs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from stiction.evidence.experiments.disk import (
    calc_final_ratio,
    calc_friction,
    calc_friction_of_points,
    calc_motion,
    calc_ring_ratio,
)
from stiction.evidence.studies.disk.attraction import _cut
from stiction.evidence.studies.disk.scene import (
    FAN_RADIUS,
    MASS,
    RADIUS,
    SPEED,
    THICKNESS,
    Disk,
    DiskRun,
    make_ring_mesh,
    run_steps,
    run_to_stop,
)
from stiction.evidence.studies.disk.springs import GRADING, SpringDisk, calc_spring_ratio


def make_grid(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns points of a disk of radius 1 and their fractions of its area."""
    rho = (np.arange(count) + 0.5) / count
    angle = (np.arange(4 * count) + 0.5) * (2 * math.pi / (4 * count))
    points = np.stack([np.outer(rho, np.cos(angle)), np.outer(rho, np.sin(angle))], axis=-1)
    weights = np.repeat(rho, 4 * count)
    return points.reshape(-1, 2), weights / weights.sum()


@pytest.mark.parametrize("ratio", [0.05, 0.4, 0.653, 0.97, 1.02, 2.0, 20.0])
def test_friction_is_the_sum_over_the_disk(ratio: float) -> None:
    assert calc_friction(ratio) == pytest.approx(
        calc_friction_of_points(ratio, *make_grid(400)), abs=2e-5
    )


def test_friction_has_its_limits() -> None:
    force, torque = calc_friction(1e-6)
    assert force == pytest.approx(1e-6, rel=1e-4)
    assert torque == pytest.approx(2 / 3)
    force, torque = calc_friction(1e3)
    assert force == pytest.approx(1, abs=1e-6)
    assert torque == pytest.approx(1 / 4e3, rel=1e-3)


def test_the_disk_stops_at_one_ratio() -> None:
    final = calc_final_ratio()
    assert final == pytest.approx(0.653, abs=3e-6)
    force, torque = calc_friction(final)
    assert force == pytest.approx(2 * final * torque, rel=1e-10)
    points = make_grid(150)
    of_grid = calc_final_ratio(lambda ratio: calc_friction_of_points(ratio, *points))
    assert of_grid == pytest.approx(final, rel=2e-4)
    assert calc_ring_ratio((2 / 3, 1.0)) == pytest.approx(0.644454, abs=1e-6)


@pytest.mark.parametrize("ratio", [0.2, 3.0])
def test_motion_is_that_of_small_steps_in_time(ratio: float) -> None:
    deceleration, step = 2.0, 1e-4
    spin = 0.3 / math.hypot(ratio, 1)
    v, time = ratio * spin, 0.0
    while math.hypot(v, spin) > 0.1:
        force, torque = calc_friction(v / spin)
        middle = (v - step / 2 * deceleration * force, spin - step * deceleration * torque)
        force, torque = calc_friction(middle[0] / middle[1])
        v, spin = v - step * deceleration * force, spin - 2 * step * deceleration * torque
        time += step
    fraction = math.hypot(v, spin) / 0.3
    exact = calc_motion(ratio, 0.3, deceleration, [1.0, 0.7, fraction])[-1]
    assert exact == pytest.approx([time, v, spin], rel=1e-6)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_the_ring_mesh_is_a_closed_disk(count: int) -> None:
    vertices, triangles = make_ring_mesh(RADIUS, THICKNESS, count)
    assert len(triangles) == 12 * count**2 + 12 * count
    edges = {(int(t[i]), int(t[(i + 1) % 3])) for t in triangles for i in range(3)}
    assert len(edges) == 3 * len(triangles)
    assert {(b, a) for a, b in edges} == edges
    a, b, c = (vertices[triangles[:, i]] for i in range(3))
    volume = np.einsum("ij,ij->", a, np.cross(b, c)) / 6
    rim = 6 * count
    area = rim / 2 * math.sin(2 * math.pi / rim) * RADIUS**2
    assert volume == pytest.approx(area * THICKNESS)


def test_the_disk_rests_where_it_starts() -> None:
    disk = Disk(3)
    model = disk.make_model()
    data = disk.make_data(model, 1.0)
    data.qvel[:] = 0
    simulator = disk.make_simulator("lagged", 1e-5)
    height = float(data.qpos[2])
    for _ in range(20):
        report = simulator.step(data)
    assert report.patches[0].force[2] == pytest.approx(MASS * 9.81, rel=1e-6)
    assert data.qpos[2] == pytest.approx(height, abs=1e-9)
    assert model.body_mass[1] == MASS


def test_a_fan_has_centroids_on_one_ring() -> None:
    disk = Disk(tips=False)
    simulator = disk.make_simulator("lagged", 1e-9, 1e-5)
    patch = simulator.step(disk.make_data(simulator.model, 1.0)).patches[0]
    cap = np.abs(patch.face_normal[:, 2]) > 0.5
    assert cap.sum() == 152
    radii = np.linalg.norm(patch.face_center[cap, :2], axis=1) / FAN_RADIUS
    assert patch.face_area[cap].sum() == pytest.approx(math.pi * RADIUS**2, rel=1e-6)
    assert radii == pytest.approx(2 / 3 * math.cos(math.pi / 152), rel=1e-3)


def test_shrinking_steps_end_at_the_ring() -> None:
    run = run_to_stop(
        Disk(tips=False), "lagged", 1.0, to_fraction=1e-4, step_share=0.2, stiction_tolerance=1e-9
    )
    assert run.fraction[-1] <= 1e-4
    assert run.ratio_at(1e-3) == pytest.approx(calc_ring_ratio((2 / 3, 1.0)), rel=2e-3)
    assert math.isnan(run.ratio_at(1e-9))


def test_steps_of_one_size_follow_theory() -> None:
    run = run_steps(Disk(12, tips=False), "lagged", 0.25, 1e-3, 0.1, 1e-7)
    assert run.time[-1] == pytest.approx(0.1)
    _, v, spin = calc_motion(0.25, SPEED, Disk().deceleration, [float(run.fraction[-1])])[0]
    assert (run.v[-1], run.spin[-1]) == pytest.approx((v, spin), rel=5e-3)


def test_springs_carry_the_disk_at_the_centroids_of_its_faces() -> None:
    disk = SpringDisk(3, GRADING, tips=False)
    simulator = disk.make_simulator("lagged", 1e-6, 1e-5)
    data = disk.make_data(simulator.model, 1.0)
    report = simulator.step(data)
    centroids = disk.calc_centroids()
    assert len(report.contacts) == len(centroids) == 54
    load = report.contacts.normal_impulse / 1e-5
    # Each spring has the same load, whatever the area of its face. The start is that of the inscribed
    # polygon, whose area is 2 % smaller than the disk's.
    assert load == pytest.approx(np.full(54, load.mean()), rel=1e-3)
    assert load.sum() == pytest.approx(MASS * 9.81, rel=0.03)
    radii = np.linalg.norm(centroids, axis=1) / RADIUS
    assert radii.min() > 0.2
    assert radii.max() < 0.95


def test_springs_tend_to_the_ratio_of_their_own_load() -> None:
    # The number of springs within a radius r grows as r^(8/3).
    radii = np.linalg.norm(SpringDisk(30, GRADING).calc_centroids(), axis=1) / RADIUS
    assert (radii < 0.5).mean() == pytest.approx(0.5 ** (8 / 3), rel=0.05)
    assert calc_spring_ratio() == pytest.approx(0.8350, abs=1e-3)


def test_a_cut_run_ends_at_a_fraction_of_its_speed() -> None:
    speeds = [SPEED, SPEED / 10, SPEED / 100, SPEED / 1e3]
    run = DiskRun([0, 1, 2, 3], speeds, [0.0] * 4, [0.0] * 4)
    assert _cut(run, 0.05).time == [0, 1, 2]
