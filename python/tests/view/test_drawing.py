"""Tests what is drawn: cuts, discs, arrows, colored meshes and the scale of pressures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import stiction
from stiction.meshing.tet_mesh import TetMesh
from stiction.surfaces import ContactSurfaces
from stiction.tables.triangulation import triangulate_polygons
from stiction.view.arrows import (
    ARROW_KINDS,
    ArrowCount,
    add_counts,
    draw_discs,
    make_force_arrows,
    make_slip_arrows,
    make_traction_arrows,
)
from stiction.view.bodies import shade
from stiction.view.colored_mesh import (
    ColoredMesh,
    apply_tone_mapping,
    join_meshes,
    make_matte,
    make_translucent,
    pack_glb,
    to_glb,
    undo_tone_mapping,
    unpack_glb,
)
from stiction.view.contact_arrays import (
    NO_PATCHES,
    NO_POINTS,
    PointArrays,
    calc_creep,
    read_patches,
    read_points,
)
from stiction.view.cut import cut_mesh, draw_cut, draw_patches, find_largest_pressure
from stiction.view.legend import PressureScale, format_pressure, make_arrow_legend, make_legend
from stiction.view.palette import (
    FALLBACK,
    SLIP,
    STICK,
    color_pressures,
    make_css_gradient,
    parse_color,
)


def calc_area(mesh: ColoredMesh) -> float:
    a, b, c = (mesh.vertices[mesh.triangles[:, i]] for i in range(3))
    return float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2)


# ---- fields and cuts ------------------------------------------------------------------------------


def test_the_field_of_a_box_has_its_volume_and_its_modulus(scene: stiction.Scene) -> None:
    surfaces = ContactSurfaces(scene.model, scene.properties)
    field = surfaces.find_field("box")
    assert field is not None
    corners = field.vertices[field.tets]
    volume = np.linalg.det(corners[:, 1:] - corners[:, :1]).sum() / 6
    assert volume == pytest.approx(0.2 * 0.2 * 0.1)
    assert field.field.max() == pytest.approx(1e5)
    assert field.field.min() == 0
    assert surfaces.find_field("floor") is None  # rigid
    assert surfaces.find_field("ball") is None
    assert [surfaces.takes_part(name) for name in ("box", "floor", "ball")] == [True, True, False]
    with pytest.raises(stiction.Error, match="there is no 'bxo'"):
        surfaces.find_field("bxo")


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("share", [-0.9, 0.013, 0.5])
def test_a_cut_has_the_area_of_the_cross_section(
    scene: stiction.Scene, axis: int, share: float
) -> None:
    field = ContactSurfaces(scene.model, scene.properties).find_field("box")
    assert field is not None
    half = np.array([0.1, 0.1, 0.05])
    normal, offset = np.eye(3)[axis], share * half[axis]
    cut = draw_cut(field, normal, offset, 1e5)
    assert calc_area(cut) == pytest.approx(4 * np.prod(np.delete(half, axis)))
    vertices, values, _ = cut_mesh(field, normal, offset)
    assert vertices[:, axis] == pytest.approx(offset)
    # The field of a box is the modulus times the distance to the surface over its largest value.
    distance = np.min(half - np.abs(vertices), axis=1)
    assert values == pytest.approx(1e5 * distance / 0.05, abs=1e-6)


def test_a_cut_in_any_direction_is_flat() -> None:
    vertices = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    mesh = TetMesh(vertices, np.array([[0, 1, 2, 3]], np.int32), "pressure", vertices[:, 0])
    random = np.random.default_rng(1)
    for _ in range(50):
        normal = random.normal(size=3)
        normal /= np.linalg.norm(normal)
        points, values, starts = cut_mesh(mesh, normal, normal @ random.dirichlet(np.ones(3)) / 2)
        assert len(starts) <= 2
        assert values == pytest.approx(points[:, 0])
        if len(points) == 4:  # convex: the corners turn in one direction
            edges = np.roll(points, -1, axis=0) - points
            turns = np.cross(edges, np.roll(edges, -1, axis=0)) @ normal
            assert np.all(turns > 0) or np.all(turns < 0)


# ---- meshes ---------------------------------------------------------------------------------------


def test_polygons_become_fans_of_triangles() -> None:
    assert triangulate_polygons(np.array([0, 3, 8])).tolist() == [
        [0, 1, 2], [3, 4, 5], [3, 5, 6], [3, 6, 7],
    ]  # fmt: skip
    assert triangulate_polygons(np.array([0])).shape == (0, 3)
    assert triangulate_polygons(np.array([0, 2, 5])).tolist() == [[2, 3, 4]]  # an edge has no area


def test_joined_meshes_keep_their_triangles() -> None:
    one = ColoredMesh(np.eye(3), np.array([[0, 1, 2]]), np.full((3, 3), 0.5))
    both = join_meshes([one, ColoredMesh(), one])
    assert both.triangles.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert join_meshes([]).is_empty


def test_a_glb_has_the_vertices_and_indices() -> None:
    mesh = ColoredMesh(np.eye(3), np.array([[2, 1, 0]]), np.full((3, 3), 0.5))
    document, binary = unpack_glb(to_glb(mesh))
    accessors, views = document["accessors"], document["bufferViews"]
    assert np.frombuffer(binary, "<f4", 9).reshape(3, 3).tolist() == np.eye(3).tolist()
    assert np.frombuffer(binary, "<u4", 3, views[2]["byteOffset"]).tolist() == [2, 1, 0]
    assert accessors[0]["min"] == [0, 0, 0] and accessors[0]["max"] == [1, 1, 1]
    assert [a["count"] for a in accessors] == [3, 3, 3]
    matte, same = unpack_glb(make_matte(to_glb(mesh)))
    assert same == binary
    (material,) = matte["materials"]
    assert material["pbrMetallicRoughness"]["metallicFactor"] == 0
    assert len(material["pbrMetallicRoughness"]["baseColorFactor"]) == 4  # as before


def test_translucent_bodies_need_no_lights_and_are_shaded() -> None:
    plain = pack_glb({"meshes": [{"primitives": [{}, {}]}]}, b"1234")
    document, binary = unpack_glb(make_translucent(plain))
    assert binary == b"1234"
    assert document["extensionsUsed"] == ["KHR_materials_unlit"]
    for primitive in document["meshes"][0]["primitives"]:
        material = document["materials"][primitive["material"]]
        assert material["alphaMode"] == "BLEND"
        assert material["extensions"] == {"KHR_materials_unlit": {}}
    colors = np.tile(np.uint8([200, 100, 50, 80]), (3, 1))
    shaded = shade(colors, np.array([[0, 0, 1.0], [1, 0, 0], [0, 0, -1.0]]))
    assert shaded.dtype == np.uint8
    assert shaded[:, 0].tolist() == [200, 140, 80]
    assert (shaded[:, 3] == 80).all()


def test_the_colors_of_the_scale_appear_as_they_are() -> None:
    colors = color_pressures(np.linspace(0, 0.8, 50), 1.0)
    shown = apply_tone_mapping(undo_tone_mapping(colors))
    assert np.abs(shown - colors).max() < 0.01
    # The browser cannot show the most saturated yellows beyond; only their blue is too strong.
    last = color_pressures(np.array([1.0]), 1.0)
    assert apply_tone_mapping(undo_tone_mapping(last))[0, :2] == pytest.approx(
        last[0, :2], abs=0.01
    )


def test_pressures_have_the_colors_of_viridis() -> None:
    from matplotlib import colormaps

    share = np.linspace(0, 1, 101)
    wanted = colormaps["viridis"](share)[:, :3]
    # Between two of matplotlib's 256 colors ours are interpolated, and theirs jump.
    jump = np.abs(np.diff(colormaps["viridis"](np.arange(256))[:, :3], axis=0)).max()
    assert np.abs(color_pressures(2e4 * share, 2e4) - wanted).max() <= jump
    exact = np.array([0, 51, 102, 255]) / 255
    assert color_pressures(exact, 1.0) == pytest.approx(colormaps["viridis"](exact)[:, :3])
    gradient = make_css_gradient()
    assert gradient.count("#") == 17 and "#440154" in gradient and gradient.endswith("#fde725)")
    assert np.array_equal(color_pressures(np.array([5.0]), 1.0), color_pressures(np.ones(1), 1.0))
    assert len(color_pressures(np.zeros(0), 0.0)) == 0


# ---- contacts of a step ---------------------------------------------------------------------------


@pytest.fixture
def report(scene: stiction.Scene) -> stiction.StepReport:
    simulator, data = scene.make_simulator("sap"), scene.make_data()
    return simulator.step(data, nstep=60)


def test_a_patch_is_drawn_with_its_area_and_its_pressure(report: stiction.StepReport) -> None:
    patches = read_patches(report)
    mesh = draw_patches(patches, 1e3)
    assert calc_area(mesh) == pytest.approx(report.patches.area.sum())
    # The pressure carries the weight of the box. It is uniform except at the edges, where it is 0.
    pressure = 9.81 / 0.04
    assert find_largest_pressure(patches) == pytest.approx(pressure, rel=0.05)
    inner = np.abs(mesh.vertices[:, :2]).max(axis=1) < 0.09
    assert inner.any()
    wanted = color_pressures(np.array([pressure]), 1e3)
    assert mesh.colors[inner] == pytest.approx(np.repeat(wanted, inner.sum(), axis=0), abs=0.03)
    assert draw_patches(NO_PATCHES, 1e3).is_empty


def test_the_point_contact_of_the_ball_is_drawn_as_a_disc(report: stiction.StepReport) -> None:
    points = read_points(report)
    assert len(points.point) == 1  # those of the box are a patch
    disc = draw_discs(points, 0.01)
    # The floor has a pressure field, and the ball has none. So there is a ring around the disc.
    assert points.is_fallback.all()
    area = np.pi * 0.01**2 * (1 + 1.7**2 - 1.2**2)
    assert calc_area(disc) == pytest.approx(area, rel=0.02)
    assert disc.colors[0] == pytest.approx(parse_color(STICK))
    assert disc.vertices[:, 2] == pytest.approx(points.point[0, 2])
    arrow = make_force_arrows(points, 0.1).lines
    assert arrow[0, 1] - arrow[0, 0] == pytest.approx([0, 0, 0.1], abs=1e-3)  # against gravity
    assert calc_creep(read_patches(report), points) < 1e-3


def test_slip_and_fallback_have_their_own_colors() -> None:
    up = np.tile([0, 0, 1.0], (2, 1))
    points = PointArrays(
        np.zeros((2, 2), np.int32), up, up, up, 0.1 * up,
        np.array([True, False]), np.array([False, True]),
    )  # fmt: skip
    discs = draw_discs(points, 0.01)
    found = {tuple(color) for color in discs.colors.tolist()}
    assert found == {tuple(parse_color(color).tolist()) for color in (SLIP, STICK, FALLBACK)}
    assert calc_creep(NO_PATCHES, points) == pytest.approx(0.1)  # of the one that sticks
    assert np.isnan(calc_creep(NO_PATCHES, NO_POINTS))
    assert draw_discs(NO_POINTS, 0.01).is_empty
    # The largest of more than 300 forces are drawn.
    force = np.zeros((1500, 3))
    force[:, 2] = np.random.default_rng(1).permutation(np.linspace(1, 2, 1500))
    zero = np.zeros((1500, 3))
    flags = np.zeros(1500, bool)
    pair = np.zeros((1500, 2), np.int32)
    drawn = make_force_arrows(PointArrays(pair, zero, zero, force, zero, flags, flags), 1.0)
    lengths = np.sort(drawn.lines[:, 1, 2] - drawn.lines[:, 0, 2])
    assert lengths == pytest.approx(np.sort(force[:, 2])[-300:] / 2)
    assert drawn.count == ArrowCount(300, 1500, pytest.approx(2.0))
    none = make_slip_arrows(NO_PATCHES, 1.0)
    assert none.lines.shape == (0, 2, 3) and none.count == ArrowCount(0, 0, 0.0)


# ---- scale ----------------------------------------------------------------------------------------


def test_the_scale_grows_in_round_steps_and_never_shrinks() -> None:
    scale = PressureScale()
    assert scale.top == 1.0
    for pressure, top in ((240.0, 300), (10.0, 300), (301.0, 500), (500.0, 500), (1.4e4, 1.5e4)):
        scale.include(pressure)
        assert scale.top == pytest.approx(top)
    scale.include(float("nan"))
    assert scale.top == pytest.approx(1.5e4)
    scale.fixed = 123.0
    assert scale.top == 123.0


def test_the_legend_has_pressures_with_prefixes() -> None:
    assert [format_pressure(p) for p in (0, 750, 1.5e4, 2e6, 3e9)] == [
        "0",
        "750",
        "15k",
        "2M",
        "3G",
    ]
    legend = make_legend(pressure=3e4)
    assert "contact pressure [Pa]" in legend and ">15k<" in legend and "sticks" not in legend
    assert "sticks" in make_legend(with_points=True)
    cut = make_legend(cut=1e5)
    assert "the cut [Pa]" in cut and ">100k<" in cut and "contact pressure" not in cut


# ---- arrows ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("num_faces", [10, 300, 301, 1000])
def test_arrows_are_counted_with_those_that_are_left_out(num_faces: int) -> None:
    traction = np.tile([3.0, 0, 0], (num_faces, 1))
    traction[0] = [0, 30.0, 0]
    traction[1] = [0.5, 0, 0]  # too short
    traction[2] = 0  # no vector
    wide, flags = np.zeros((num_faces, 3)), np.ones(num_faces, bool)
    faces = replace(
        NO_PATCHES, center=wide, traction=traction, slip_velocity=traction, slipping=flags
    )
    for make in (make_traction_arrows, make_slip_arrows):
        arrows = make(faces, 1.0)
        assert arrows.count.drawn == len(arrows.lines) <= 300
        assert arrows.count.total == num_faces - 1
        assert arrows.count.largest == pytest.approx(30.0)
        assert np.linalg.norm(np.diff(arrows.lines, axis=1), axis=-1).max() == pytest.approx(1)
    assert len(arrows.lines) == {10: 8, 300: 298, 301: 299, 1000: 250}[num_faces]


def test_the_legend_of_arrows_has_their_color_their_number_and_the_largest() -> None:
    both = add_counts([ArrowCount(300, 856, 1200.0), ArrowCount(10, 10, 90.0)])
    assert both == ArrowCount(310, 866, 1200.0)
    legend = make_arrow_legend({"traction": both, "slip": ArrowCount()})
    assert "310 of 866 drawn, the longest is 1.2 kPa" in legend
    assert "slip velocity of the second body</span>: none" in legend
    for name in ("traction", "slip"):
        assert f"color:{ARROW_KINDS[name].color}" in legend
    assert ARROW_KINDS["forces"].color not in legend
    film = make_arrow_legend({"forces": ArrowCount(3, 4, 0.05)}, at_most=True)
    assert "at most 3 of 4 drawn, the longest is 50 mN" in film
    assert make_arrow_legend({}) == ""
