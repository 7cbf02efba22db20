"""Tests `stiction check`: each finding, what it predicts, and the output."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

import stiction
from stiction.analysis.checks.contacts import check_initial_state
from stiction.analysis.checks.mass_ratio import calc_sink
from stiction.analysis.checks.row_deflection import find_pushed_limits, find_soft_rows
from stiction.analysis.checks.subject import Finding, Subject
from stiction.analysis.checks.table import CHECKS, check_scene
from stiction.analysis.checks.thin_geoms import check_thin_geoms

FLOOR = '<geom name="floor" type="plane" size="1 1 1"/>'


def write(tmp_path: Path, bodies: str, time_step: float = 0.01, further: str = "") -> Path:
    path = tmp_path / "scene.xml"
    option = f'<option timestep="{time_step}"/>'
    path.write_text(f"<mujoco>{option}<worldbody>{bodies}</worldbody>{further}</mujoco>")
    return path


def make_stack(heavy: float, size: float = 0.05) -> str:
    """Two boxes of `heavy` kg on 1 kg, with half sides `size`."""
    box = (
        '<body name="{name}" pos="0 0 {z}"><freejoint/>'
        '<geom type="box" size="{size} {size} {size}" mass="{mass}"/></body>'
    )
    light = box.format(name="light", z=size, size=size, mass=1)
    return FLOOR + light + box.format(name="heavy", z=3 * size, size=size, mass=heavy)


def make_robot(foot: float) -> str:
    """A trunk of 100 kg on a foot of another mass, which a spring holds on a slide."""
    return FLOOR + (
        '<body pos="0 0 .5"><freejoint/><geom type="box" size=".2 .2 .2" mass="100" contype="0" '
        'conaffinity="0"/><body name="foot" pos="0 0 -.45"><joint type="slide" axis="0 0 1" '
        'stiffness="1e6"/><geom name="sole" type="box" size=".05 .05 .05" '
        f'mass="{foot}"/></body></body>'
    )


def make_light_to_turn(inertia: float) -> str:
    """A box of 1 kg and 0.2 m whose inertia is a placeholder; a solid's is 6.7e-3 kg m^2."""
    return FLOOR + (
        '<body name="foot" pos="0 0 .1"><freejoint/><inertial pos="0 0 0" mass="1" '
        f'diaginertia="{inertia} {inertia} {inertia}"/><geom type="box" size=".1 .1 .1"/></body>'
    )


def make_pads(mass: float) -> str:
    """A robot of 100 kg on four pads on ball joints."""
    pads = "".join(
        f'<body pos="{x} {y} -.12"><joint type="ball" damping="1e-3"/><geom type="sphere" size=".01" '
        f'mass="{mass / 10}" contype="0" conaffinity="0"/><geom name="pad{x}{y}" type="cylinder" '
        f'size=".05 .005" pos="0 0 -.015" mass="{mass}"/></body>'
        for x in (-0.3, 0.3)
        for y in (-0.3, 0.3)
    )
    return FLOOR + (
        '<body pos="0 0 .14"><freejoint/><geom type="box" size=".35 .35 .1" mass="100" contype="0" '
        f'conaffinity="0"/>{pads}</body>'
    )


@pytest.mark.parametrize("contact_model", ["coulomb", "sap"])
@pytest.mark.parametrize(
    "bodies",
    [make_pads(10), make_pads(0.02), make_light_to_turn(1e-5), make_light_to_turn(5e-3)],
)
def test_bodies_that_sink_are_those_that_the_check_finds(
    tmp_path: Path, bodies: str, contact_model: str
) -> None:
    path = write(tmp_path, bodies, time_step=0.005)
    is_found = any(f.check == "mass_ratio" for f in find(path, contact_model=contact_model))
    scene = stiction.load_scene(path)
    simulator, data = scene.make_simulator(contact_model), scene.make_data()
    with pytest.warns(stiction.StepWarning) if is_found else contextlib.nullcontext():
        simulator.step(data, 400)
    assert ("penetration" in simulator.warning_counts) == is_found


def find(path: Path, speed: float = 1, **arguments: Any) -> list[Finding]:
    return check_scene(Subject(stiction.load_scene(path), speed, **arguments))


def plate(thickness: float) -> str:
    return (
        f'<geom name="plate" type="box" size="1 1 {thickness / 2}"/><body pos="0 0 .5"><freejoint/>'
        '<geom name="disk" type="box" size=".05 .05 .001" mass=".1"/></body>'
    )


OVERLAP = FLOOR + (
    '<body pos="0 0 .04"><freejoint/><geom name="cube" type="box" size=".05 .05 .05"/></body>'
)


# A rigid tetrahedron lies on a compliant plane: its lower triangle is the only face.
PATCH = FLOOR + (
    '<body pos="0 0 -.0001"><freejoint/><geom name="tent" type="mesh" mesh="tent"/></body></worldbody>'
    '<asset><mesh name="tent" vertex=".1 0 0 -.1 .1 0 -.1 -.1 0 0 0 .1"/></asset><worldbody>'
)
SOFT = {
    "materials": {
        "soft": {"hydroelastic_modulus": 1e5, "slab_thickness": 0.1},
        "rigid": {"rigid": True},
    },
    "geoms": {"floor": "soft", "tent": "rigid"},
}
FRICTIONLESS = FLOOR.replace("size=", 'condim="1" friction=".4" size=') + (
    '<body pos="0 0 .1"><freejoint/><geom name="cube" condim="1" type="box" size=".1 .1 .1"/></body>'
)


def make_terrain(relief: float) -> str:
    """A foot on a height field with fine cells, whose peaks have this height [m]."""
    elevation = " ".join("10"[(row + column) % 2] for row in range(80) for column in range(80))
    if relief == 0:
        elevation = elevation.replace("1", "0")
    return (
        '<geom name="ground" type="hfield" hfield="h"/><body pos=".013 .021 '
        f'{0.05 + relief - 1e-6}"><freejoint/><geom name="foot" type="box" size=".12 .08 .05"/></body>'
        '</worldbody><asset><hfield name="h" nrow="80" ncol="80" '
        f'size="1 1 {relief or 1} .1" elevation="{elevation}"/></asset><worldbody>'
    )


# A mass hangs on a slide, 0.1 um above its limit, which gives by g tc^2 (1 - I).
LIMIT = (
    '<body><joint name="finger" type="slide" axis="0 0 -1" limited="true" range="-1 1e-7" '
    'solimplimit="IMP IMP .001"/><geom type="box" size=".05 .05 .05" mass="1"/></body>'
)

# A screw with the pitch 2 pi SLOPE, whose estimate of the mobility is (1 + 600) / (1 + 600 SLOPE^2).
SCREW = (
    '<body pos="0 0 1"><joint name="z" type="slide" axis="0 0 1"/><joint name="phi" axis="0 0 1" '
    'frictionloss=".2"/>'
    '<geom type="box" size=".05 .05 .05" mass="1"/></body></worldbody><equality><joint name="thread" '
    'joint1="z" joint2="phi" polycoef="0 SLOPE 0 0 0" solimp="IMP IMP .001"/></equality><worldbody>'
)

BOX_SIZE = 'type="box" size=".1 .1 .1" pos="0 0 .1"'
# By 1 + 50 mu at 1 m/s, which is worth a finding from 1.1 on.
STIFFENED = make_stack(1).replace("size=", 'friction="MU" size=')


@pytest.mark.parametrize(
    ("check", "bodies", "contact_model", "text"),
    [
        ("unused_settings", make_stack(1).replace("size=", 'condim="6" size='), "sap", "condim"),
        ("initial_state", OVERLAP, "coulomb", "overlap by 0.01 m"),
        ("mass_ratio", make_stack(1000), "sap", "rests about 0.075 m deep"),
        ("mass_ratio", make_stack(1e5), "stewart_trinkle", "ratio of 1e+04"),
        ("contact_list", make_terrain(2e-5), "coulomb", "'foot' touch at 50 points or more"),
        ("soft_rows", LIMIT.replace("IMP", ".9"), "coulomb", "'finger' gives by 0.00039 m"),
        ("thin_geoms", plate(0.004), "coulomb", "from 0.3 m/s on"),
        ("patch_faces", PATCH, "coulomb", "a patch with one face"),
        ("friction_dimension", FRICTIONLESS, "coulomb", "touch without friction, because both"),
        ("slip_stiffening", make_stack(1), "similar", "51 times as stiff"),
    ],
)
def test_each_check_finds_its_fault(
    tmp_path: Path, check: str, bodies: str, contact_model: str, text: str
) -> None:
    path = write(tmp_path, bodies)
    arguments = {"properties": SOFT} if check == "patch_faces" else {}
    findings = find(path, contact_model=contact_model, **arguments)
    messages = {finding.check: finding.message for finding in findings}
    assert set(messages) == {check}
    assert text in messages[check]


def test_a_mobility_that_mujoco_overestimates_is_found_where_it_acts(tmp_path: Path) -> None:
    def check(slope: float, **arguments: Any) -> tuple[list[str], str]:
        bodies = SCREW.replace("SLOPE", str(slope)).replace("IMP", ".9999")
        subject = Subject(stiction.load_scene(write(tmp_path, bodies)), 1, **arguments)
        (entry,) = (entry for entry in CHECKS if entry.name == "soft_rows")
        return [f.message for f in entry.find(subject)], entry.describe_success(subject)

    # The estimate is three times too large at a slope of 0.577.
    for arguments in ({"exact_mobility": False}, {"contact_model": "mujoco"}):
        assert "3.1 times as soft as its solref" in check(0.57, **arguments)[0][0]
        assert check(0.58, **arguments)[0] == []
    found, text = check(0.57)
    assert found == []
    assert "mobility of equality 'thread' is 3.1 times too large, and the step takes" in text
    assert "too large" not in check(0.58)[1]


PUSHED = (
    '<body pos="0 0 .2"><joint name="j" type="slide" axis="1 0 0" range="0 .04"/>'
    '<geom type="box" size=".1 .1 .2" mass="1"/></body>'
)


@pytest.mark.parametrize(
    ("actuator", "force"),
    [
        ('<motor joint="j" ctrlrange="-200 100"/>', 200),
        ('<motor joint="j" gear="-2" forcerange="-50 60"/>', 120),
        ('<position joint="j" kp="1000" ctrlrange="0 .3"/>', 260),  # at .04
        ('<motor joint="j"/>', 0),
    ],
)
def test_limits_give_as_predicted_under_their_actuators(
    tmp_path: Path, actuator: str, force: float
) -> None:
    path = write(tmp_path, PUSHED, 0.002, f"<actuator>{actuator}</actuator>")
    scene = stiction.load_scene(path)
    subject = Subject(scene, 1)
    rows = find_pushed_limits(subject)
    assert [row.force for row in rows] == ([force] if force else [])
    if not rows:
        return
    (entry,) = (entry for entry in CHECKS if entry.name == "soft_rows")
    assert list(entry.find(subject)) == []
    # A thousandth of the extent is 0.6 mm.
    assert ("push against it" in entry.describe_success(subject)) == (
        rows[0].deflection > 1e-3 * scene.model.stat.extent
    )
    scene.model.actuator_gainprm[:] = scene.model.actuator_biasprm[:] = 0
    data, simulator = scene.make_data(), scene.make_simulator()
    data.qfrc_applied[0] = -force
    simulator.step(data, 3000)
    assert rows[0].deflection == pytest.approx(-data.qpos[0], rel=0.01)


WELD = (
    '<body pos="0 0 1"><freejoint/><geom type="box" size=".2 .05 .05" pos=".3 0 0" mass="1"/></body>'
    '</worldbody><equality><weld body1="1" anchor="0 0 1" solimp="IMP IMP .001"/></equality><worldbody>'
).replace("<body pos", '<body name="1" pos')


@pytest.mark.parametrize("bodies", [LIMIT, SCREW.replace("SLOPE", ".01"), WELD])
@pytest.mark.parametrize("arguments", [{}, {"exact_mobility": False}, {"contact_model": "mujoco"}])
def test_soft_rows_give_as_predicted(
    tmp_path: Path, bodies: str, arguments: dict[str, Any]
) -> None:
    scene = stiction.load_scene(write(tmp_path, bodies.replace("IMP", ".9"), time_step=0.002))
    rows = find_soft_rows(Subject(scene, 1, **arguments))
    data, simulator = scene.make_data(), scene.make_simulator(**arguments)
    for _ in range(5000):
        simulator.step(data)
    measured = np.abs(data.efc_pos)
    sizes = [measured[0]] if len(rows) == 1 else np.linalg.norm(measured.reshape(2, 3), axis=1)
    assert [row.deflection for row in rows] == pytest.approx(sizes, rel=0.01)


@pytest.mark.parametrize(
    ("check", "faulty", "good", "contact_model"),
    [
        (
            "unused_settings",
            make_stack(1).replace("size=", 'condim="4" size='),
            make_stack(1).replace("size=", 'condim="3" size='),
            "sap",
        ),
        ("initial_state", OVERLAP, OVERLAP.replace(".04", ".0405"), "coulomb"),
        # A depth of 7.5e-5 m/kg, and a tenth of the thickness of 0.1 m.
        ("mass_ratio", make_stack(138), make_stack(130), "sap"),
        # Within one tree: 1.45 g m / foot, and a tenth of the thickness of 0.1 m.
        ("mass_ratio", make_robot(foot=0.143), make_robot(foot=0.147), "coulomb"),
        # A quarter of the mobility of a corner, with a diagonal inertia: 2.64e-7 m / inertia, and 20 mm.
        ("mass_ratio", make_light_to_turn(1.25e-5), make_light_to_turn(1.4e-5), "sap"),
        ("mass_ratio", make_stack(1.01e4), make_stack(0.99e4), "stewart_trinkle"),
        ("contact_list", make_terrain(2e-5), make_terrain(0), "coulomb"),
        # 177 and 169 um, and a thousandth of the extent is 173 um.
        ("soft_rows", LIMIT.replace("IMP", ".955"), LIMIT.replace("IMP", ".957"), "coulomb"),
        # At 10 ms and 1 m/s, both thicknesses together may be 20 mm.
        ("thin_geoms", plate(0.0179), plate(0.0181), "coulomb"),
        ("patch_faces", PATCH, PATCH.replace('type="mesh" mesh="tent"', BOX_SIZE), "coulomb"),
        ("friction_dimension", FRICTIONLESS, FRICTIONLESS.replace("1", "3", 1), "coulomb"),
        (
            "slip_stiffening",
            STIFFENED.replace("MU", ".0021"),
            STIFFENED.replace("MU", ".0019"),
            "similar",
        ),
    ],
)
def test_each_check_is_silent_on_the_other_side_of_its_limit(
    tmp_path: Path, check: str, faulty: str, good: str, contact_model: str
) -> None:
    arguments = {"properties": SOFT} if check == "patch_faces" else {}
    found = [
        {f.check for f in find(write(tmp_path, scene), contact_model=contact_model, **arguments)}
        for scene in (faulty, good)
    ]
    assert found == [{check}, set()]


def test_every_check_has_a_test() -> None:
    for test in (
        test_each_check_finds_its_fault,
        test_each_check_is_silent_on_the_other_side_of_its_limit,
    ):
        rows = test.pytestmark[0].args[1]  # type: ignore[attr-defined]
        assert {row[0] for row in rows} == {check.name for check in CHECKS}


def test_the_scenes_of_the_package_run_as_checked() -> None:
    for name in ("pinch", "quadruped", "trotter"):
        path = Path(__file__).parents[3] / "scenes" / f"{name}.xml"
        assert find(path) == [], name


def test_a_first_step_that_fails_is_found(tmp_path: Path) -> None:
    keyframe = '<keyframe><key qpos="0 0 1e11 1 0 0 0"/></keyframe>'
    (finding,) = find(write(tmp_path, OVERLAP, further=keyframe))
    assert finding.check == "initial_state"
    assert "the first step fails: non_finite_state: qpos[2] is 1e+11" in finding.message


SPHERE = FLOOR + '<body pos="0 0 .1"><freejoint/><geom name="ball" size=".1" mass="{mass}"/></body>'


# The formula takes the mobility of the body's center. That of a contact depends on the shape: the
# four contacts of a face give 0.65 of the depth, and the one of a sphere 1.72 of it.
@pytest.mark.parametrize(
    ("contact_model", "bodies", "load", "share"),
    [
        ("sap", make_stack(50), 51, 0.645),
        ("sap", make_stack(4), 5, 0.65),
        ("coulomb", make_stack(1000), 1001, 0.65),
        ("similar", make_stack(300), 301, 0.65),
        ("lagged", make_stack(4), 5, 0.65),
        ("coulomb", SPHERE.format(mass=1), 1, 1.72),
    ],
)
def test_bodies_rest_as_deep_as_predicted(
    tmp_path: Path, contact_model: str, bodies: str, load: float, share: float
) -> None:
    scene = stiction.load_scene(write(tmp_path, bodies))
    subject = Subject(scene, 1, contact_model=contact_model)
    numbers = subject.explain(1, 0)
    assert numbers is not None
    predicted = calc_sink(subject, load, 1, numbers)
    data = scene.make_data()
    height = data.qpos[2]
    subject.simulator.step(data, 200)
    assert (height - data.qpos[2]) / predicted == pytest.approx(share, rel=0.03)


def test_geoms_part_on_the_far_side_beyond_half_their_thickness(tmp_path: Path) -> None:
    path = write(tmp_path, plate(0.004), time_step=0.005)
    finding = find(path)[0]
    depth = finding.values["speed"] * 0.005  # of an overlap that a step made
    assert finding.values["speed"] == pytest.approx((0.002 + 0.004) / 2 / 0.005)
    scene = stiction.load_scene(path)
    signs = []
    for share in (0.9, 1.1):
        data = scene.make_data()
        data.qpos[2] = 0.003 - share * depth
        mujoco.mj_forward(scene.model, data)
        signs.append(np.sign(data.contact.frame[0, 2]))
    assert signs[0] == -signs[1]


def test_a_known_largest_speed_hides_what_is_slower(tmp_path: Path) -> None:
    path = write(tmp_path, plate(0.004), time_step=0.005)
    assert find(path, speed=0.5) == []
    assert len(find(path, speed=0.7)) == 1


FILTERS = """<mujoco><option><flag {flag}/></option>
<asset><hfield name="h" nrow="2" ncol="2" size="1 1 1 .1"/></asset>
<worldbody>
 <geom name="floor" type="plane" size="1 1 1"/><geom name="wall" size=".1"/>
 <geom name="relief" type="hfield" hfield="h"/>
 <geom name="ghost" size=".1" contype="0" conaffinity="0"/>
 <body name="hand" mocap="true"><geom name="palm" size=".1"/><geom name="tray" type="plane" size="1 1 1"/>
  <body><joint type="hinge"/><geom name="finger" size=".1"/></body></body>
 <body name="fixed"><geom name="post" size=".1"/>
  <body name="door"><joint type="hinge"/><geom name="leaf" size=".1"/></body></body>
 <body name="trunk"><freejoint/><geom name="t1" size=".1"/><geom name="t2" size=".1" contype="2"/>
  <body name="plate"><geom name="board" type="box" size=".1 .1 .1"/></body>
  <body name="upper"><joint type="hinge"/><geom name="u" size=".1"/>
   <body><geom name="cuff" size=".1"/>
    <body name="lower"><joint type="hinge"/><geom name="l" size=".1"/></body></body></body></body>
 <body name="stone"><freejoint/><geom name="s" size=".1"/></body>
 <body name="pebble"><freejoint/><geom name="p" size=".1" contype="4" conaffinity="4"/></body>
</worldbody>
<contact>
 <exclude body1="trunk" body2="stone"/><exclude body1="world" body2="stone"/>
 <exclude body1="hand" body2="door"/>
 <pair geom1="s" geom2="t2"/><pair geom1="u" geom2="t1"/><pair geom1="t1" geom2="board"/>
 <pair geom1="p" geom2="ghost"/><pair geom1="wall" geom2="post"/>
</contact></mujoco>"""


@pytest.mark.parametrize(
    "flag", ['filterparent="enable"', 'filterparent="disable"', 'contact="disable"']
)
def test_geoms_may_touch_that_mujoco_collides(tmp_path: Path, flag: str) -> None:
    path = tmp_path / "scene.xml"
    path.write_text(FILTERS.format(flag=flag))
    subject = Subject(stiction.load_scene(path), 1)
    geoms = range(subject.model.ngeom)
    may_touch = subject.may_touch(np.array(geoms))
    collides = [[subject.simulator.explain(a, b)["collides"] for b in geoms] for a in geoms]
    different = np.argwhere(may_touch != np.array(collides))
    names = [[subject.name_geom(geom) for geom in pair] for pair in different]
    assert names == []
    assert np.any(may_touch) == ("contact" not in flag)


@pytest.mark.parametrize("contact_model", ["sap", "stewart_trinkle"])
def test_the_load_is_of_a_body_that_may_touch(tmp_path: Path, contact_model: str) -> None:
    box = '<body name="{}" pos="{} 0 1"><freejoint/><geom size=".05" mass="{}"/></body>'
    names = {"light": 1, "heavy": 1e5, "heaviest": 1e6}
    bodies = "".join(box.format(name, i, mass) for i, (name, mass) in enumerate(names.items()))
    exclude = '<contact><exclude body1="light" body2="heav{}"/></contact>'
    for further, loads in (
        ("", {"heaviest", "heavy"}),
        (exclude.format("iest"), {"heavy"}),
        (exclude.format("y"), {"heaviest"}),
    ):
        path = write(tmp_path, bodies, further=further)
        messages = [f.message for f in find(path, contact_model=contact_model)]
        light = [m for m in messages if m.startswith("body 'light' may carry body 'heav")]
        assert len(light) == 1, messages
        assert any(f"'{load}'" in light[0] for load in loads), further
    further = exclude.format("iest") + exclude.format("y")
    findings = find(write(tmp_path, bodies, further=further), contact_model=contact_model)
    assert not any("'light'" in finding.message for finding in findings)


def test_an_overlap_without_thickness_hides_no_other(tmp_path: Path) -> None:
    flat = '<body pos="2 0 {}"><freejoint/><geom name="flat" size=".1"/></body>'
    for height, overlapping in ((0.1, "cube"), (0.099, "flat")):
        scene = stiction.load_scene(write(tmp_path, OVERLAP + flat.format(height)))
        scene.model.geom_aabb[scene.model.geom("flat").id, 5] = 0
        (finding,) = check_initial_state(Subject(scene, 1))
        assert f"and geom '{overlapping}' overlap by" in finding.message


def test_thin_pairs_are_counted(tmp_path: Path) -> None:
    plates = "".join(
        f'<body pos="0 0 {i}"><freejoint/><geom type="box" size=".1 .1 {0.001 + 1e-5 * i}"/></body>'
        for i in range(20)
    )
    for count, text in ((2, ""), (3, "(2 more pairs are"), (20, "(at least 99 more pairs are")):
        bodies = "".join(f"{part}</body>" for part in plates.split("</body>")[:count])
        (finding,) = find(write(tmp_path, bodies))
        assert text in finding.message
        assert ("more pair" in finding.message) == bool(text)
        assert finding.values["geoms"] == [0, 1]


def test_thin_pairs_of_many_geoms_take_little_memory(tmp_path: Path) -> None:
    spheres = "".join(f'<geom pos="{i} 0 0" size=".1"/>' for i in range(3000))
    body = '<body pos="0 0 5"><freejoint/><geom type="box" size=".05 .05 .001"/></body>'
    subject = Subject(stiction.load_scene(write(tmp_path, spheres + body + plate(0.004))), 1)
    tracemalloc.start()
    findings = list(check_thin_geoms(subject))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(findings) == 1
    assert peak < 3000**2


def test_geoms_that_cannot_touch_are_not_reported(tmp_path: Path) -> None:
    path = write(tmp_path, plate(0.004).replace("mass=", 'contype="0" conaffinity="0" mass='))
    assert find(path) == []


def run(*arguments: Any) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).parent / "stiction"
    command = [program, "check", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.slow
def test_the_exit_code_says_whether_something_was_found(tmp_path: Path) -> None:
    path = write(tmp_path, make_stack(1000))
    clean = run(path)
    assert (clean.returncode, clean.stderr) == (0, "")
    assert "all settings have an effect" in clean.stdout
    found = run(path, "--contact-model", "sap")
    assert found.returncode == 1
    assert "body 'light' may carry body 'heavy'" in found.stdout
    assert "unknown under 'mujoco'" in run(path, "--contact-model", "mujoco").stdout
    missing = run(tmp_path / "none.xml", "--json")
    assert missing.returncode == 2
    assert "there is no such file" in missing.stderr
    assert json.loads(missing.stdout)["error"]["code"] == "file_not_found"
    assert run(path, "--contact-model", "sapp").returncode == 2


@pytest.mark.slow
def test_json_has_the_numbers_of_each_finding(tmp_path: Path) -> None:
    result = run(write(tmp_path, make_stack(1000)), "--contact-model", "sap", "--json")
    values = json.loads(result.stdout)
    assert values["checks"] == [check.name for check in CHECKS]
    assert values["findings"][0]["check"] == "mass_ratio"
    assert values["findings"][0]["values"]["depth"] == pytest.approx(0.0746, rel=1e-3)


BALL_ON_FLOOR = (
    '<geom name="floor" type="plane" size="1 1 1"/><body name="ball" pos="0 0 .1"><freejoint/>'
    '<geom name="ball" size=".1"/></body>'
)


@pytest.mark.parametrize(
    ("materials", "geoms", "expected"),
    [
        ({"soft": {"hydroelastic_modulus": 1e5}}, {"ball": "soft"}, ["geom 'ball', which touches all"]),
        ({"soft": {"hydroelastic_modulus": 1e5}, "hard": {"rigid": True}},
         {"ball": "soft", "floor": "hard"}, []),
        ({"soft": {"hydroelastic_modulus": 1e5}, "hard": {"rigid": True}}, {"ball": "soft"},
         ["material 'hard' (properties) belongs to no geom", "geom 'ball', which touches all"]),
        ({"spare": {"friction": 0.3}}, {}, ["material 'spare' (properties) belongs to no geom"]),
    ],
)  # fmt: skip
def test_properties_that_nothing_reads_are_found(
    materials: dict[str, Any], geoms: dict[str, str], expected: list[str], tmp_path: Path
) -> None:
    scene = stiction.load_scene(
        write(tmp_path, BALL_ON_FLOOR), {"materials": materials, "geoms": geoms}
    )
    subject = Subject(scene, 1, contact_model="coulomb")
    found = [each.message for each in check_scene(subject) if each.check == "unused_settings"]
    assert len(found) == len(expected), found
    for message, part in zip(found, expected, strict=True):
        assert part in message


def test_the_start_of_a_scene_counts_as_a_speed(tmp_path: Path) -> None:
    """A scene that starts faster than the speed that was named is checked at its own speed."""
    fast = plate(0.02) + "</worldbody><keyframe><key qvel='0 0 -20 0 0 0'/></keyframe><worldbody>"
    slow = write(tmp_path, plate(0.02), time_step=0.002)
    assert not [each for each in find(slow) if each.check == "thin_geoms"]
    assert [each for each in find(write(tmp_path, fast, 0.002), contact_model="mujoco")
            if each.check == "thin_geoms"]  # fmt: skip
