"""Tests `stiction mesh`: tet meshes of surfaces, and reports of tet meshes."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import stiction
from stiction.meshing import TetMesh, make_report, read_surface, tetrahedralize

CORNERS = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
QUADS = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
TRIANGLES = [(a, b, c) for a, b, c, _ in QUADS] + [(a, c, d) for a, _, c, d in QUADS]

needs_pytetwild = pytest.mark.skipif(
    importlib.util.find_spec("pytetwild") is None, reason="pip install 'stiction[mesh]'"
)


def write_obj(path: Path, faces: list[tuple[int, ...]], scale: float = 0.1) -> Path:
    lines = ["# a cube", "o cube"]
    lines += [f"v {x} {y} {z}" for x, y, z in CORNERS * scale]
    lines += ["f " + " ".join(f"{i + 1}/1/1" for i in face) for face in faces]
    path.write_text("\n".join(lines))
    return path


def make_cube(inside: tuple[float, float, float] = (0.5, 0.5, 0.5)) -> TetMesh:
    """Makes the unit cube from 12 tets about a point."""
    tets = [(8, a, b, c) for a, b, c in TRIANGLES]
    return TetMesh(np.vstack([CORNERS, inside]), np.array(tets, dtype=np.int32))


def run(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [Path(sys.executable).parent / "stiction", "mesh", *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


# ---- surfaces -----------------------------------------------------------------------------------


def test_obj_and_stl_give_the_same_surface(tmp_path: Path) -> None:
    corners = CORNERS[np.array(TRIANGLES)]
    ascii_stl = tmp_path / "ascii.stl"
    ascii_stl.write_text(
        "solid cube\n"
        + "".join(
            "facet normal 0 0 0\nouter loop\n"
            + "".join(f"vertex {x} {y} {z}\n" for x, y, z in triangle)
            + "endloop\nendfacet\n"
            for triangle in corners
        )
        + "endsolid cube\n"
    )
    binary_stl = tmp_path / "binary.STL"
    record = np.zeros(12, [("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
    record["corners"] = corners
    header = b"solid: a binary file may begin so, too".ljust(80)
    binary_stl.write_bytes(header + (12).to_bytes(4, "little") + record.tobytes())
    backwards = tmp_path / "backwards.obj"
    backwards.write_text(
        "\n".join(f"v {x} {y} {z}" for x, y, z in CORNERS)
        + "\n"
        + "\n".join("f " + " ".join(str(i - 8) for i in quad) for quad in QUADS)
    )
    for path in (ascii_stl, binary_stl, write_obj(tmp_path / "cube.obj", QUADS, 1), backwards):
        surface = read_surface(path)
        assert surface.vertices.shape == (8, 3)
        assert surface.triangles.shape == (12, 3)
        assert surface.find_fault() == ""
        assert surface.calc_volume() == pytest.approx(1, abs=1e-15)


def test_an_open_surface_is_found(tmp_path: Path) -> None:
    surface = read_surface(write_obj(tmp_path / "open.obj", QUADS[:5]))
    assert "is open" in surface.find_fault()
    inward = read_surface(write_obj(tmp_path / "inward.obj", [quad[::-1] for quad in QUADS]))
    assert "volume" in inward.find_fault()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.obj", b"v 0 0\n", r"a\.obj:1: expected numbers, found 'v 0 0'"),
        ("a.obj", b"v 0 0 0\nf 1 1 2\n", r"a\.obj:2: .* does not exist; there are 1 so far"),
        ("a.obj", b"v 0 0 0\nf 1 1\n", r"a\.obj:2: a face has 2 vertices"),
        ("a.obj", b"v 0 0 nan\nf 1 1 1\n", r"a\.obj: vertex 0 is not finite"),
        ("a.obj", b"\xff\xfe", r"a\.obj: has no triangles"),
        ("a.stl", b"solid\nvertex 0 0 x\n", r"a\.stl:2: expected .*, found 'vertex 0 0 x'"),
        ("a.stl", b"solid\nvertex 0 0 0\n", r"a\.stl: has 1 vertices, which is not 3 for each"),
        ("a.stl", b"\0" * 80 + b"\xff\xff\xff\xff", r"a\.stl: is not an STL file"),
        ("a.stl", b"", r"a\.stl: is not an STL file"),
    ],
)
def test_faults_of_surfaces_are_errors(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(stiction.Error, match=message):
        read_surface(tmp_path / name)


# ---- tet meshes ---------------------------------------------------------------------------------


def test_the_report_of_a_cube(tmp_path: Path) -> None:
    mesh = make_cube()
    mesh.check("cube")
    mesh.set_field(None)
    report = make_report(mesh)
    assert report["num_vertices"] == 9 and report["num_interior_vertices"] == 1
    assert report["num_tets"] == 12 and report["num_tets_on_boundary"] == 0
    assert report["volume"] == pytest.approx(1)
    assert report["greatest_distance"] == pytest.approx(0.5)
    assert report["speed_limit"] == pytest.approx(250)
    # A tet has edges 1, 1, sqrt(2) and three of sqrt(3)/2. Its quality is 6 sqrt(2) / 12 over the
    # cube of the root mean square of the edges.
    assert report["min_quality"] == pytest.approx(2**0.5 / 2 / ((4 + 9 / 4) / 6) ** 1.5)
    assert report["field"] == {"kind": "extent", "min": 0, "max": 1}
    assert report["warnings"] == []


def test_a_written_mesh_is_read_back_exactly(tmp_path: Path) -> None:
    mesh = make_cube((1 / 3, 0.5, 0.7))
    mesh.set_field(2e5)
    mesh.write(tmp_path / "cube.vtk")
    again = TetMesh.read(tmp_path / "cube.vtk")
    assert (again.vertices == mesh.vertices).all() and (again.tets == mesh.tets).all()
    assert again.field_kind == "pressure" and again.field.max() == 2e5
    assert (again.field == mesh.field).all()
    with pytest.raises(stiction.Error, match="already has a pressure field"):
        again.set_field(1e5)


def test_flat_tets_and_tets_without_pressure_give_warnings() -> None:
    tets = np.vstack([make_cube().tets, [[9, 1, 3, 7]]]).astype(np.int32)
    ear = TetMesh(np.vstack([make_cube().vertices, [0.5, 0.5, 1.01]]), tets)
    ear.tets[-1] = [1, 7, 3, 9]
    ear.check("ear")
    ear.set_field(None)
    first, second = make_report(ear)["warnings"]
    assert "tet 12 has a quality of 0.0" in first
    assert "1 of 13 tets have all vertices on the boundary" in second


def test_the_command_checks_a_mesh(tmp_path: Path) -> None:
    make_cube().write(tmp_path / "bare.vtk")
    result = run(tmp_path, "bare.vtk", "-o", "full.vtk", "--modulus", "1e6", "--json")
    assert (result.returncode, result.stderr) == (0, "")
    report = json.loads(result.stdout)
    assert report["source"] == "bare.vtk" and report["output"] == "full.vtk"
    assert report["field"] == {"kind": "pressure", "min": 0, "max": 1e6}
    result = run(tmp_path, "full.vtk", "--report")
    assert result.returncode == 0
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["full.vtk:", "9", "vertices,", "12", "tets"] in lines
    assert ["vertices", "inside", "1"] in lines
    assert ["pressure", "0", "to", "1e+06", "Pa"] in lines


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["none.vtk"], 2, "none.vtk: there is no such tet mesh file"),
        (["flat.vtk"], 1, "flat.vtk"),
        (["flat.vtk", "--edge-length", "1"], 2, "applies to surfaces"),
        (["flat.vtk", "--modulus", "-1"], 2, "is not a finite number above 0"),
        (["flat.vtk", "-o", "a.obj"], 1, "a.obj: must be a .vtk file"),
        (["a.step"], 1, "a.step: must be an .obj, .stl or .vtk file"),
    ],
)
def test_faults_are_errors(tmp_path: Path, arguments: list[str], code: int, message: str) -> None:
    make_cube((0.5, 0.5, 1)).write(tmp_path / "flat.vtk")
    result = run(tmp_path, *arguments)
    assert (result.returncode, result.stdout) == (code, "")
    assert message in result.stderr


def test_without_pytetwild_the_error_has_the_command_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    surface = read_surface(write_obj(tmp_path / "cube.obj", QUADS))
    monkeypatch.setitem(sys.modules, "pytetwild", None)
    with pytest.raises(stiction.Error, match=r"pip install 'stiction\[mesh\]'"):
        tetrahedralize(surface)


@needs_pytetwild
def test_a_surface_becomes_a_mesh(tmp_path: Path) -> None:
    write_obj(tmp_path / "cube.obj", QUADS)
    result = run(tmp_path, "cube.obj", "-o", "cube.vtk", "--edge-length", "0.03", "--json")
    assert result.returncode == 0, result.stderr
    report = json.loads(result.stdout)
    assert report["surface"]["is_watertight"] is True
    assert report["surface"]["volume"] == pytest.approx(1e-3)
    # fTetWild stays within a thousandth of the diagonal of the surface.
    assert report["volume"] == pytest.approx(1e-3, abs=6e-2 * 1e-3 * 0.1 * 3**0.5)
    mesh = TetMesh.read(tmp_path / "cube.vtk")
    mesh.check("cube")
    assert mesh.field_kind == "extent" and mesh.field.max() == 1
    assert {path.name for path in tmp_path.iterdir()} == {"cube.obj", "cube.vtk"}


@needs_pytetwild
@pytest.mark.parametrize(("scale", "edge_length"), [(1e-6, None), (1e-8, None), (0.1, 10)])
def test_any_size_becomes_a_mesh(tmp_path: Path, scale: float, edge_length: float | None) -> None:
    # Without scaling, fTetWild crashes at 1e-8 and does not terminate in the other cases.
    write_obj(tmp_path / "cube.obj", QUADS, scale)
    size = [] if edge_length is None else ["--edge-length", edge_length]
    result = run(tmp_path, "cube.obj", "--json", *size)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["volume"] == pytest.approx(scale**3, rel=1e-2)


@needs_pytetwild
def test_a_surface_that_encloses_nothing_is_an_error(tmp_path: Path) -> None:
    write_obj(tmp_path / "flat.obj", QUADS[:1])
    result = run(tmp_path, "flat.obj", "-o", "flat.vtk")
    assert result.returncode == 1
    assert "flat.obj" in result.stderr and not (tmp_path / "flat.vtk").exists()
