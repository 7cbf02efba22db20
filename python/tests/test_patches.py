"""Tests the patches of pressure-field contact in Python."""

from __future__ import annotations

import json
from pathlib import Path

import mujoco
import numpy as np
import pytest
from typer.testing import CliRunner

import stiction
from stiction.cli import app

SCENE = """<mujoco><option timestep="0.002"/>
<worldbody><geom name="floor" type="plane" size="5 5 1"/>
<body name="ball" pos="0 0 0.048"><freejoint/><geom name="ball" size="0.05" mass="0.4"/></body>
<body name="post" pos="0.3 0 0.0499"><freejoint/>
<geom name="post" type="cylinder" size="0.03 0.05" mass="0.4"/></body>
</worldbody></mujoco>"""
PROPERTIES = {
    "materials": {
        "soft": {"hydroelastic_modulus": 1e6, "resolution_hint": 0.005, "dissipation": 10.0},
        "steel": {"rigid": True},
    },
    "geoms": {"ball": "soft", "floor": "steel", "post": "steel"},
}


def make_simulator(**options: object) -> tuple[stiction.Simulator, mujoco.MjData]:
    model = mujoco.MjModel.from_xml_string(SCENE)
    data = mujoco.MjData(model)
    return stiction.Simulator(model, "lagged", **{"properties": PROPERTIES, **options}), data


def test_arrays_of_a_patch_agree_with_each_other() -> None:
    sim, data = make_simulator()
    data.qvel[0] = 0.2
    report = sim.step(data)
    assert len(report.patches) == 1
    patch = report.patches[0]
    n = len(patch)
    assert n > 5 and patch.faces.shape == (n + 1,) and patch.faces[-1] == len(patch.vertices)
    assert patch.traction.shape == patch.face_center.shape == patch.slip_velocity.shape == (n, 3)
    assert patch.face_area.sum() == pytest.approx(patch.area, rel=1e-12)
    forces = patch.traction * patch.face_area[:, None]
    assert forces.sum(axis=0) == pytest.approx(patch.force, rel=1e-9)
    torque = np.cross(patch.face_center - patch.center, forces).sum(axis=0)
    assert torque == pytest.approx(patch.torque, abs=1e-9)
    normal = (patch.traction * patch.face_normal).sum(axis=1)
    assert normal == pytest.approx(patch.normal_traction, rel=1e-9)
    for i in range(n):
        corners = patch.vertices[patch.faces[i] : patch.faces[i + 1]]
        assert 3 <= len(corners) <= 8
        spokes = corners - corners[0]
        area = np.cross(spokes[1:-1], spokes[2:]).sum(axis=0) / 2
        assert area @ patch.face_normal[i] == pytest.approx(patch.face_area[i], rel=1e-9)
    rows = report.contacts.patch == 0
    assert report.contacts.impulse[rows].sum(axis=0) / sim.time_step == pytest.approx(patch.force)


def test_arrays_do_not_change_in_later_steps() -> None:
    sim, data = make_simulator()
    patch = sim.step(data).patches[0]
    pressure = patch.pressure
    copy = pressure.copy()
    for _ in range(20):
        sim.step(data)
    assert np.array_equal(pressure, copy)
    with pytest.raises(ValueError, match="read-only"):
        pressure[0] = 1
    with pytest.raises(IndexError):
        sim.step(data).patches[1]


def test_point_contacts_without_a_surface_have_a_reason() -> None:
    sim, data = make_simulator()
    report = sim.step(data)
    fallback = report.contacts.is_fallback.astype(bool)
    assert fallback.any() and np.all(report.contacts.patch[fallback] == -1)
    explanation = sim.explain("post", "floor")
    assert explanation["touches_in"] == "points" and "both are rigid" in explanation["why_points"]
    explanation = sim.explain("ball", "floor")
    assert explanation["touches_in"] == "patches" and explanation["why_points"] is None
    numbers = {number["name"]: number["value"] for number in explanation["numbers"]}
    assert numbers["hydroelastic_modulus, geom 'ball'"] == 1e6
    assert numbers["thickness, geom 'ball'"] == 0.1
    assert numbers["dissipation"] == 10


@pytest.mark.parametrize("tessellation", stiction.tessellations())
@pytest.mark.parametrize("quadrature", stiction.quadratures())
def test_force_does_not_depend_on_how_faces_are_cut(tessellation: str, quadrature: str) -> None:
    # For approaching bodies without dissipation and friction, the law is linear, so that its sum over
    # a face is exact.
    smooth = {
        name: {**material, "dissipation": 0.0, "friction": 0.0}
        for name, material in PROPERTIES["materials"].items()
    }
    properties = {"materials": smooth, "geoms": PROPERTIES["geoms"]}
    forces = []
    for options in ({}, {"tessellation": tessellation, "quadrature": quadrature}):
        sim, data = make_simulator(tolerance=1e-10, properties=properties, **options)
        data.qvel[2] = -0.1
        forces.append(sim.step(data).patches[0].force[2])
    assert forces[1] == pytest.approx(forces[0], rel=1e-6)


def test_laws_for_points_are_refused() -> None:
    with pytest.raises(stiction.Error, match="hertz.*contact points only.*patches"):
        make_simulator(normal_law="hertz")
    with pytest.raises(stiction.Error, match="moment_exact"):
        make_simulator(quadrature="moment_exactly")


def test_recordings_keep_patches(tmp_path: Path) -> None:
    sim, data = make_simulator()
    with stiction.Recorder(tmp_path / "ball.mcap", sim) as recorder:
        reports = [recorder.step(data) for _ in range(5)]
    for step, report in zip(stiction.Recording(tmp_path / "ball.mcap"), reports, strict=True):
        assert len(step.patches) == 1
        recorded, patch = step.patches[0], report.patches[0]
        assert recorded.patch["force"] == pytest.approx(patch.force, rel=1e-6)
        assert recorded.faces["pressure"] == pytest.approx(patch.pressure, rel=1e-6)
        assert np.array_equal(recorded.faces["num_vertices"], np.diff(patch.faces))
        assert recorded.vertices["vertices"] == pytest.approx(patch.vertices, abs=1e-7)


def test_run_reports_patches_and_fallbacks(tmp_path: Path) -> None:
    scene = tmp_path / "ball.xml"
    scene.write_text(SCENE)
    properties = tmp_path / "ball.contact.yaml"
    properties.write_text(json.dumps(PROPERTIES))
    arguments = ["run", str(scene), "--properties", str(properties), "--duration", "20ms"]
    result = CliRunner().invoke(app, [*arguments, "--json", "--quadrature", "moment_exact"])
    assert result.exit_code == 0, result.output
    figures = json.loads(result.stdout)
    assert figures["patches"]["max"] == 1 and figures["faces"]["mean"] > 5
    assert figures["contacts"]["max"] > figures["faces"]["max"]
    (fallback,) = figures["point_fallbacks"]
    assert set(fallback["geoms"]) == {"post", "floor"} and "rigid" in fallback["reason"]


CUBE = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float) * 0.05
QUADS = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
TRIANGLES = np.array([t for a, b, c, d in QUADS for t in ((a, b, c), (a, c, d))])


def make_cube_scene(
    triangles: np.ndarray, scale: float = 1.0, corners: np.ndarray = CUBE
) -> mujoco.MjModel:
    vertices = " ".join(map(str, (corners / scale).ravel()))
    faces = " ".join(map(str, triangles.ravel()))
    return mujoco.MjModel.from_xml_string(f"""<mujoco><option timestep="0.002"/><asset>
        <mesh name="cube" vertex="{vertices}" face="{faces}" scale="{scale} {scale} {scale}"
              inertia="shell"/></asset><worldbody>
        <geom name="floor" type="plane" size="5 5 1"/>
        <body pos="0 0 0.049"><freejoint/><geom name="cube" type="mesh" mesh="cube"/></body>
        </worldbody></mujoco>""")


# In the last case each triangle has its own vertices, as in many OBJ files.
@pytest.mark.parametrize(
    ("triangles", "corners"),
    [
        (TRIANGLES, CUBE),
        (TRIANGLES[:, ::-1], CUBE),
        (np.arange(36).reshape(12, 3), CUBE[TRIANGLES.ravel()]),
    ],
)
def test_the_force_of_a_rigid_mesh_does_not_depend_on_its_triangles(
    triangles: np.ndarray, corners: np.ndarray
) -> None:
    model = make_cube_scene(triangles, corners=corners)
    properties = {
        "materials": {
            "ground": {"hydroelastic_modulus": 1e6, "slab_thickness": 0.05, "dissipation": 0.0},
            "steel": {"rigid": True},
        },
        "geoms": {"floor": "ground", "cube": "steel"},
    }
    surfaces = stiction.ContactSurfaces(model, properties)
    (patch,) = surfaces.calc(mujoco.MjData(model))
    assert patch.force[2] == pytest.approx(1e6 * 0.001 / 0.05 * 0.1**2, rel=1e-5)


def test_open_rigid_meshes_touch_in_points_with_the_open_edge_as_reason() -> None:
    model = make_cube_scene(TRIANGLES[1:])
    materials = {
        "ground": {"hydroelastic_modulus": 1e6, "slab_thickness": 0.05},
        "steel": {"rigid": True},
    }
    properties = {"materials": materials, "geoms": {"cube": "steel", "floor": "ground"}}
    sim = stiction.Simulator(model, properties=properties)
    report = sim.step(mujoco.MjData(model))
    assert len(report.patches) == 0 and report.contacts.is_fallback.all()
    why = sim.explain("cube", "floor")["why_points"]
    assert why.startswith("geom 'cube' is rigid, but its mesh does not enclose a volume: edge (")


@pytest.mark.parametrize("x", [0.0, 0.6])
def test_a_body_that_passes_a_plate_in_one_step_gives_a_warning(x: float) -> None:
    model = mujoco.MjModel.from_xml_string(f"""<mujoco><option timestep="0.002" gravity="0 0 0"/>
        <worldbody><geom name="plate" type="box" size="1 1 0.001"/><body pos="{x} 0 0.01"><freejoint/>
        <geom name="ball" type="sphere" size="0.002"/></body></worldbody></mujoco>""")
    properties = {
        "materials": {"soft": {"hydroelastic_modulus": 1e6}, "steel": {"rigid": True}},
        "geoms": {"plate": "soft", "ball": "steel"},
    }
    data = mujoco.MjData(model)
    data.qvel[2] = -10  # the ball moves from 10 mm above to 10 mm below
    with pytest.warns(stiction.StepWarning, match="approach each other"):
        report = stiction.Simulator(model, properties=properties).step(data)
    assert len(report.patches) == 0 and data.qpos[2] == pytest.approx(-0.01)
    assert "'plate' and geom 'ball' approach each other" in report.warning


def write_cube_field(path: Path, size: float) -> None:
    points = np.vstack([CUBE * size, np.zeros(3)])
    tets = [[4, 8, *t] for t in TRIANGLES.tolist()]
    path.write_text(
        "# vtk DataFile Version 4.2\ncube\nASCII\nDATASET UNSTRUCTURED_GRID\n"
        f"POINTS 9 double\n{' '.join(map(str, points.ravel()))}\n"
        f"CELLS 12 60\n{' '.join(str(i) for tet in tets for i in tet)}\n"
        f"CELL_TYPES 12\n{' '.join(['10'] * 12)}\n"
    )


def test_a_field_away_from_its_mesh_is_refused(tmp_path: Path) -> None:
    write_cube_field(tmp_path / "cube.vtk", 1.0)
    vertices = " ".join(map(str, (CUBE + 0.1).ravel()))
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><asset><mesh name="cube" vertex="{vertices}" refpos="0.1 0.1 0.1"/></asset>
        <worldbody><body><freejoint/><geom name="cube" type="mesh" mesh="cube"/></body></worldbody>
        </mujoco>"""
    )
    soft = {"hydroelastic_modulus": 1e6, "pressure_field": str(tmp_path / "cube.vtk")}
    properties = {"materials": {"soft": soft}, "geoms": {"cube": "soft"}}
    stiction.ContactSurfaces(model, properties)  # refpos moves the mesh to the field
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><asset><mesh name="cube" vertex="{vertices}"/></asset>
        <worldbody><body><freejoint/><geom name="cube" type="mesh" mesh="cube"/></body></worldbody>
        </mujoco>"""
    )
    with pytest.raises(stiction.Error, match=r"^geom 'cube': its pressure_field is 0.*away from"):
        stiction.ContactSurfaces(model, properties)


def test_a_field_is_scaled_like_its_mesh(tmp_path: Path) -> None:
    model = make_cube_scene(TRIANGLES, scale=0.001)
    properties = {
        "materials": {
            "soft": {"hydroelastic_modulus": 1e6, "pressure_field": str(tmp_path / "cube.vtk")},
            "steel": {"rigid": True},
        },
        "geoms": {"floor": "steel", "cube": "soft"},
    }
    write_cube_field(tmp_path / "cube.vtk", 1000.0)
    (patch,) = stiction.ContactSurfaces(model, properties).calc(mujoco.MjData(model))
    depth, side = 0.001, 0.1  # the pressure of the cube rises by E over half its side
    expected = 1e6 / 0.05 * (side**2 * depth - 2 * side * depth**2 + 4 / 3 * depth**3)
    assert patch.force[2] == pytest.approx(expected, rel=1e-4)
    write_cube_field(tmp_path / "cube.vtk", 1.0)  # in m, while the mesh is in mm
    with pytest.raises(stiction.Error, match=r"^geom 'cube': its pressure_field.*the same unit"):
        stiction.ContactSurfaces(model, properties)
    model = mujoco.MjModel.from_xml_string(  # the size of a primitive is checked, too
        "<mujoco><worldbody><geom name='floor' type='plane' size='1 1 1'/><body>"
        "<freejoint/><geom name='cube' type='box' size='50 50 50'/></body></worldbody></mujoco>"
    )
    with pytest.raises(stiction.Error, match=r"^geom 'cube': its pressure_field is 0.001"):
        stiction.ContactSurfaces(model, properties)


def test_a_changed_shape_is_refused_with_its_values() -> None:
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><geom name='floor' type='plane' size='1 1 1'/><body pos='0 0 0.05'>"
        "<freejoint/><geom name='ball' size='0.05'/></body></worldbody></mujoco>"
    )
    properties = {
        "materials": {"soft": {"hydroelastic_modulus": 1e5}, "hard": {"rigid": True}},
        "geoms": {"ball": "soft", "floor": "hard"},
    }
    simulator, data = stiction.Simulator(model, properties=properties), mujoco.MjData(model)
    simulator.step(data)
    model.geom_size[1, 0] = 0.1
    with pytest.raises(stiction.StepError, match=r"'ball': geom_size\[0\] was 0.05 .* is 0.1") as e:
        simulator.step(data)
    assert e.value.report.status == "model_changed"


def test_max_seconds_also_ends_the_search_for_a_fine_patch() -> None:
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><geom name='a' size='.1'/><body pos='0 0 .19'><freejoint/>"
        "<geom name='b' size='.1'/></body></worldbody></mujoco>"
    )
    soft = {"hydroelastic_modulus": 1e5, "resolution_hint": 2e-3}
    properties = {"materials": {"soft": soft}, "geoms": {"a": "soft", "b": "soft"}}
    limited = stiction.Simulator(model, properties=properties, max_seconds=1e-3, on_failure="stop")
    data = mujoco.MjData(model)
    report = limited.step(data)
    assert report.status == "out_of_time" and data.time == 0
    # The search that was given up leaves nothing behind.
    free = stiction.Simulator(model, properties=properties)
    free.set_state(limited.get_state())
    assert len(free.step(data).patches) == 1


@pytest.mark.parametrize(
    ("shape", "most"),
    [
        ("type='sphere' size='.1'", 6.13e-4),
        ("type='ellipsoid' size='.1 .05 .05'", 6.13e-4),
        ("type='capsule' size='.1 .1'", 8.9e-4),
        ("type='cylinder' size='.1 .1'", 6.28e-6),
    ],
)
def test_a_resolution_hint_below_the_finest_mesh_is_refused(shape: str, most: float) -> None:
    model = mujoco.MjModel.from_xml_string(
        f"<mujoco><worldbody><geom type='plane' size='1 1 .1'/><body><freejoint/><geom name='a' {shape}/>"
        "</body></worldbody></mujoco>"
    )
    soft = {"hydroelastic_modulus": 1e5, "resolution_hint": 1e-9}
    with pytest.raises(stiction.Error, match="resolution_hint .* is 1e-09 m, .* edges of") as e:
        stiction.Simulator(model, properties={"materials": {"m": soft}, "geoms": {"a": "m"}})
    length = float(str(e.value).split("edges of ")[1].split(" m")[0])
    assert length == pytest.approx(most, rel=0.01)
