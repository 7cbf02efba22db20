"""Tests `stiction compare`: rows of all models, table, JSON, report and errors."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import stiction
from stiction._core import contact_model_traits
from stiction.commands import compare as command
from stiction.commands import options
from stiction.compare import Comparison, compare_models
from stiction.compare.cases import choose_filmed, make_cases
from stiction.compare.report import make_report
from stiction.compare.table import advise_springs, make_columns
from stiction.inputs.control_schedule import ControlSchedule, find_control_schedule
from stiction.runs.controls import ControlsName
from stiction.scene import load_scene

PINCH = Path(__file__).parents[3] / "scenes" / "pinch.xml"
MUJOCO_LABELS = [
    "mujoco", "mujoco impratio 10", "mujoco impratio 100",
    "mujoco noslip", "mujoco impratio 100 noslip",
]  # fmt: skip

BALL = """
<mujoco model="ball">
  <option timestep="0.002"/>{custom}
  <worldbody>
    <geom type="plane" size="2 2 .1"/>
    <body name="ball" pos="0 0 {height}"><freejoint/><geom size=".05" mass="1"/></body>
    <body name="arm" pos="0 1 1">
      <joint name="arm" axis="0 1 0"/><geom size=".02" pos=".2 0 0"/>
    </body>
    <body name="shelf" pos="1 1 1"><geom size=".1"/></body>
  </worldbody>
  <actuator><motor joint="arm"/></actuator>
  <keyframe>
    <key name="a" time="0" ctrl="0"/><key name="b" time="0.1" ctrl="1"/><key name="c" time="0.1"/>
  </keyframe>
</mujoco>
"""

MakeScene = Callable[..., Path]
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def make_scene(tmp_path: Path) -> MakeScene:
    """Writes a scene of a ball above a floor, with texts of a <custom> element."""

    def make(height: float = 0.051, name: str = "ball.xml", **texts: str) -> Path:
        custom = "".join(f'<text name="{k}" data="{v}"/>' for k, v in texts.items())
        path = tmp_path / name
        path.write_text(
            BALL.format(height=height, custom=f"<custom>{custom}</custom>" if texts else "")
        )
        return path

    return make


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs `stiction compare` in tmp_path. Its output is not a terminal."""

    def run_command(*arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [Path(sys.executable).parent / "stiction", "compare", *map(str, arguments)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
        )

    return run_command


@pytest.mark.slow
def test_command_prints_table_and_writes_report(run: Run, tmp_path: Path) -> None:
    result = run(PINCH, "--duration", "2.2s")
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    labels = [*stiction.contact_models(), *MUJOCO_LABELS[1:]]
    artifacts = [x.startswith("Artifacts: ") for x in lines].index(True)
    for label in labels:
        (line,) = [x for x in lines[:artifacts] if re.match(rf"{label}  ", x)]
        cells = line[max(map(len, labels)) :].split()
        assert len(cells) == 8
        assert all(re.fullmatch(r"[\d.e+-]+|none|dropped", cell) for cell in cells)
        assert (cells[1] == "-") == (label.endswith("noslip") or cells[0] == "dropped")
        # Models without an error bound; mujoco has no residual, either.
        traits = contact_model_traits(label.split()[0])
        assert (cells[3] == "none") == (not traits.has_error_bound)
    assert lines[-1] == "report: out/pinch.html"
    assert (tmp_path / "out" / "pinch.html").stat().st_size > 20_000
    assert result.stderr.splitlines() == [
        *(
            f"warning: {name}: dropped cube before 1.8 s"
            for name in ("viscous", "drumwright_shell")
        ),
        "warning: lagged, lagged_regularized: friction creeps while it holds, by the "
        "regularization of friction_law 'soft'; --friction-law elastic holds 'cube' on springs that do "
        "not creep",
    ]


@pytest.mark.slow
def test_json_has_the_rows(run: Run, tmp_path: Path) -> None:
    models = ["--contact-model", "lagged", "--contact-model", "mujoco"]
    times = ["--duration", "2.2", "--time-step", "4ms"]
    result = run(PINCH, "--json", *models, *times, "--html", "a/b.html")
    assert result.returncode == 0, result.stderr
    figures = json.loads(result.stdout)
    assert figures["held"] == "cube"
    assert figures["time_step"] == 0.004
    assert figures["report"] == "a/b.html"
    assert (tmp_path / "a" / "b.html").exists()
    assert [row["label"] for row in figures["rows"]] == [
        "lagged", *MUJOCO_LABELS,
    ]  # fmt: skip
    assert [row["noslip_iterations"] for row in figures["rows"]] == [None, 0, 0, 0, 10, 10]
    lagged = figures["rows"][0]
    assert lagged["num_steps"] == 550
    assert lagged["creep_measured"] == pytest.approx(lagged["creep_predicted"], rel=0.2)
    assert lagged["us_per_step"] > 0


@pytest.mark.slow
def test_runs_under_error_control_creep_by_the_slip_tolerance_alone() -> None:
    comparison = compare_models(
        load_scene(PINCH),
        ["coulomb", "no_slip"],
        friction_law="soft",
        duration=2.5,
        accuracy=1e-4,
    )
    # A simulator cannot advance under a rigid model.
    assert [row.label for row in comparison.rows] == ["coulomb", "coulomb 0.0001 m", "no_slip"]
    fixed, controlled, _ = comparison.rows
    assert fixed.accuracy is None
    assert fixed.advanced_steps is None
    assert controlled.accuracy == 1e-4
    assert controlled.num_steps == 125  # calls of 10 time steps
    assert controlled.advanced_steps is not None
    assert controlled.advanced_steps >= 125
    assert controlled.creep_measured == pytest.approx(1.577e-6, rel=0.01)
    assert controlled.creep_predicted == pytest.approx(1.577e-6, rel=0.01)
    assert make_columns(comparison)[-1].format(controlled) != "-"
    assert make_columns(comparison)[-1].format(fixed) == "-"


@pytest.mark.slow
def test_scene_without_held_body_has_no_creep(make_scene: MakeScene) -> None:
    scene = load_scene(make_scene())
    comparison = compare_models(scene, ["sap", "lagged"], duration=1)
    assert comparison.held is None
    for row in comparison.rows:
        assert row.creep_measured is None
        assert row.penetration is not None
        assert 0 < row.penetration < 1e-3
        assert row.contacts == 1
        # The ball falls by 1 mm and the arm swings down. The bound is their potential energy.
        assert row.energy_change is not None
        assert -1.1 * 9.81 * 1e-3 - 0.1 < row.energy_change < 0
    page = make_report(comparison)
    assert "slip speed by theory" not in page
    assert "energy" in page


def test_equal_runs_are_equal(make_scene: MakeScene) -> None:
    scene = load_scene(make_scene(height=0.3))
    first, second = (
        compare_models(scene, ["lagged"], duration=0.5, controls=ControlsName.random, seed=3)
        for _ in range(2)
    )
    assert first.rows[0].energy_change == second.rows[0].energy_change
    assert (first.traces[0]["depth"] == second.traces[0]["depth"]).all()


def test_the_scenes_impratio_is_not_changed() -> None:
    scene = load_scene(PINCH)
    scene.model.opt.impratio = 5
    rows = compare_models(scene, ["mujoco"], duration=0.01).rows
    assert [row.impratio for row in rows] == [5, 50, 500, 5, 500]
    assert [row.noslip_iterations for row in rows] == [0, 0, 0, 10, 10]
    assert scene.model.opt.impratio == 5
    assert scene.model.opt.noslip_iterations == 0


def test_a_scene_with_its_own_noslip_solver_has_it_in_all_rows() -> None:
    scene = load_scene(PINCH)
    scene.model.opt.noslip_iterations = 3
    rows = compare_models(scene, ["mujoco"], duration=0.01).rows
    assert [row.label for row in rows] == MUJOCO_LABELS[:3]
    assert [row.noslip_iterations for row in rows] == [3, 3, 3]


@pytest.mark.slow
def test_the_remedies_of_mujoco_add_up() -> None:
    rows = compare_models(load_scene(PINCH), ["mujoco"], duration=4).rows
    creep = {row.label: row.creep_measured or 0.0 for row in rows}
    assert list(creep) == MUJOCO_LABELS
    # Each remedy alone takes most of the creep, and both together more than each.
    both = abs(creep["mujoco impratio 100 noslip"])
    for one in ("mujoco impratio 100", "mujoco noslip"):
        assert both < abs(creep[one]) / 5 < creep["mujoco"] / 50
    assert [row.creep_predicted is None for row in rows] == [False, False, False, True, True]


def test_the_schedule_is_read_once_for_all_models(monkeypatch: pytest.MonkeyPatch) -> None:
    read = []

    def find(*arguments: object) -> ControlSchedule | None:
        read.append(arguments)
        return find_control_schedule(*arguments)

    monkeypatch.setattr(stiction.scene, "find_control_schedule", find)
    comparison = compare_models(load_scene(PINCH), ["sap", "lagged"], duration=0.01)
    assert comparison.controls == "schedule"
    assert len(read) == 1


def test_a_replay_shows_the_default_mj_step_and_models_that_differ() -> None:
    scene = load_scene(PINCH)
    assert choose_filmed(make_cases(scene)) == {
        "sap", "coulomb", "no_slip", "viscous", "stewart_trinkle", "mujoco",
    }  # fmt: skip
    few = ["lagged", "lagged_regularized", "mujoco"]
    labels = [case.label for case in make_cases(scene, few)]
    assert choose_filmed(make_cases(scene, few)) == {*labels[:6]}
    # Frames are those of steps, so runs under error control are in no replay.
    accurate = choose_filmed(make_cases(scene, ["coulomb", "lagged"], accuracy=1e-3))
    assert accurate == {"coulomb", "lagged"}


def test_a_comparison_in_which_a_body_creeps_advises_springs() -> None:
    scene = load_scene(PINCH)
    models = ["coulomb", "sap", "no_slip"]
    soft = compare_models(scene, models, friction_law="soft", duration=2.2)
    advice = advise_springs(soft)
    assert advice.startswith("coulomb: friction creeps") and "--friction-law elastic" in advice
    assert "--friction-law elastic" in make_report(soft)
    elastic = compare_models(scene, ["coulomb"], duration=2.2)
    assert advise_springs(elastic) == "" and "--friction-law elastic" not in make_report(elastic)


@pytest.mark.slow
def test_a_report_has_one_legend_and_no_column_is_cut_off() -> None:
    """The widest table, with all models and a window of 1280 pixels, needs no scrolling."""
    chromium = shutil.which("chromium")
    if chromium is None or importlib.util.find_spec("playwright") is None:
        pytest.skip("chromium or playwright is not installed")
    from playwright.sync_api import sync_playwright

    page_text = make_report(compare_models(load_scene(PINCH), duration=2.2))
    assert page_text.count('class="legend"') == 1
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--headless", "--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_content(page_text)
        widths = page.evaluate(
            "[...document.querySelectorAll('.wide')].map(e => [e.scrollWidth, e.clientWidth])"
        )
        assert len(widths) == 3
        assert all(needed <= shown for needed, shown in widths)
        assert page.evaluate("document.documentElement.scrollWidth") == 1280
        browser.close()


@pytest.mark.slow
def test_the_report_is_self_contained_and_escaped(make_scene: MakeScene) -> None:
    path = make_scene(name="a <b>&amp; 'c'.xml", stiction_held="ball")
    page = make_report(compare_models(load_scene(path), duration=0.1))
    assert "<b>" not in page
    assert "a &lt;b&gt;&amp;amp;" in page
    # Namespaces are only names; browsers do not fetch them.
    rest = re.sub(r'xmlns(:\w+)?="[^"]*"', "", page)
    assert "://" not in rest
    for tag in ("<script", "<link", "<img", "<iframe", "@import", "<!DOCTYPE svg"):
        assert tag not in rest
    ids = re.findall(r'\bid="([^"]*)"', page)
    assert len(ids) == len(set(ids))
    used = re.findall(r'(?:href="#|url\(#)([^")]*)', page)
    assert set(used) <= set(ids)
    assert len(used) == len(re.findall(r"href=|url\(", rest))


def test_a_body_that_lies_on_the_floor_has_no_prediction(make_scene: MakeScene) -> None:
    comparison = compare_models(load_scene(make_scene(stiction_held="ball")), ["sap"], duration=0.5)
    row = comparison.rows[0]
    assert row.creep_predicted is None


@pytest.mark.slow
def test_notes_give_the_reason_for_missing_creep(make_scene: MakeScene) -> None:
    falling = load_scene(make_scene(height=1, stiction_held="ball"))
    assert compare_models(falling, ["sap"], duration=0.1).rows[0].notes == [
        "nothing touched ball during the hold"
    ]
    short = compare_models(load_scene(PINCH), ["lagged"], duration=0.5).rows[0]
    assert short.notes == ["the run ended before the hold, which begins at 1.8 s"]
    # 900 steps of 2 ms sum up to a rounding above 1.8 s.
    (row,) = compare_models(load_scene(PINCH), ["coulomb"], duration=1.8).rows
    assert row.notes == short.notes
    assert short.creep_measured is None
    page = make_report(compare_models(load_scene(PINCH), ["lagged"], duration=0.5))
    assert "the run ended before the hold" in page
    assert "out of the grip [" not in page  # the label of the plot


@pytest.mark.slow
def test_a_body_too_slippery_to_hold_has_no_prediction(tmp_path: Path) -> None:
    path = tmp_path / "slippery.xml"
    path.write_text(PINCH.read_text().replace('friction="0.7"', 'friction="0.005"'))
    for row in compare_models(load_scene(path), ["sap", "lagged"], duration=3).rows:
        assert row.creep_predicted is None  # 40 N can carry 0.2 N, but the cube weighs 0.44 N


def test_a_dropped_body_gives_a_note(tmp_path: Path) -> None:
    # The ball slides off its shelf: the edge is 2 cm away, its speed is 1 m/s, without friction.
    path = tmp_path / "shelf.xml"
    path.write_text("""
    <mujoco>
      <custom><text name="stiction_held" data="ball"/></custom>
      <worldbody>
        <geom type="box" size=".02 .1 .1" condim="1" priority="1"/>
        <body name="ball" pos="0 0 .15"><freejoint/><geom size=".05"/></body>
      </worldbody>
      <keyframe><key qpos="0 0 .15 1 0 0 0" qvel="1 0 0 0 0 0"/></keyframe>
    </mujoco>""")
    (row,) = compare_models(load_scene(path), ["lagged"], duration=0.3).rows
    (note,) = row.notes
    # After 0.02 s the edge is under the center of the ball, which then rolls over the edge.
    time = float(re.fullmatch(r"dropped ball at (.*) s", note)[1])  # type: ignore[index]
    assert 0.02 <= time < 0.1
    assert row.creep_measured is None


@pytest.mark.slow
@pytest.mark.parametrize("contact_model", ["viscous", "drumwright_shell"])
def test_a_body_that_is_dropped_before_the_hold_is_not_held(contact_model: str) -> None:
    comparison = compare_models(load_scene(PINCH), [contact_model], duration=2.2)
    (row,) = comparison.rows
    assert row.notes == ["dropped cube before 1.8 s"]
    assert row.dropped and row.creep_measured is None
    assert make_columns(comparison)[0].format(row) == "dropped"
    assert "dropped" in make_report(comparison)


@pytest.mark.slow
def test_failed_models_have_rows_and_exit_codes(run: Run, make_scene: MakeScene) -> None:
    # From the second step on, the torque of the arm's motor overflows.
    path = make_scene(stiction_controls="a b")
    path.write_text(
        path.read_text().replace('<motor joint="arm"', '<motor joint="arm" gear="1e49"')
    )
    result = run(path, "--json")
    assert result.returncode == 1
    figures = json.loads(result.stdout)
    assert [row["label"] for row in figures["rows"]][:4] == stiction.contact_models()[:4]
    for row in figures["rows"]:
        assert row["status"] != "ok"
        assert row["message"]
        steps = row["num_steps"]
        assert steps in (1, 2)
        assert row["end_time"] == pytest.approx(0.002 * steps)
        assert f"error: {row['label']}: step {steps + 1} at {0.002 * steps:g} s" in result.stderr
    assert Path(path.parent / "out" / "ball.html").exists()


@pytest.mark.slow
def test_a_failed_certificate_exits_with_3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def compare(*args: object, **options: object) -> Comparison:
        comparison = compare_models(*args, **{**options, "duration": 0.01})  # type: ignore[arg-type]
        comparison.rows[0].status = "not_converged"
        comparison.rows[1].status = "certificate_failed"
        comparison.rows[2].status = "not_converged"
        return comparison

    monkeypatch.setattr(command, "compare_models", compare)
    groups = {"laws": options.Laws(), "how": options.RunOptions(), "errors": options.ErrorControl()}
    code = command.compare_command(PINCH, **groups, html=tmp_path / "a.html")
    assert code == 3
    assert "certificate_failed" in (tmp_path / "a.html").read_text()


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({"stiction_held": "bal"}, "no body 'bal' (did you mean 'ball'?)"),
        ({"stiction_held": "shelf"}, "body 'shelf' is fixed to the world"),
        ({"stiction_hold": "ball"}, "(did you mean 'stiction_held'?)"),
        ({"stiction_controls": " "}, "is empty"),
        ({"stiction_controls": "a d"}, "no keyframe 'd'"),
        ({"stiction_controls": "a b c"}, "has time 0.1 s, which is not after 'b' at 0.1 s"),
        ({"stiction_controls": "b a"}, "<key name='a'>: has time 0 s, which is not after 'b'"),
    ],
)
def test_wrong_declarations_are_refused(
    make_scene: MakeScene, texts: dict[str, str], message: str
) -> None:
    path = make_scene(**texts)
    scene = load_scene(path)
    with pytest.raises(stiction.Error) as caught:
        compare_models(scene, ["sap"], duration=0.01)
    assert message in str(caught.value)
    assert str(path) in caught.value.where


@pytest.mark.slow
def test_wrong_arguments_are_refused(run: Run, make_scene: MakeScene, tmp_path: Path) -> None:
    path = make_scene()
    result = run(path, "--contact-model", "lagget")
    assert result.returncode == 2
    assert "did you mean 'lagged'" in result.stderr
    result = run(path, "--controls", "schedule")
    assert result.returncode == 1
    assert "declares no schedule of controls" in result.stderr
    (tmp_path / "file").touch()
    result = run(path, "--out", "file/deep")
    assert result.returncode == 1
    assert "cannot be written: 'file' is a file, not a folder" in result.stderr
    assert result.stdout == ""
    assert run("absent.xml").returncode == 2
    with pytest.raises(stiction.Error, match="did you mean 'similar'"):
        compare_models(load_scene(path), ["simmilar"])


@pytest.mark.slow
def test_only_reports_are_overwritten(run: Run, make_scene: MakeScene, tmp_path: Path) -> None:
    scene, notes = make_scene(), tmp_path / "notes.html"
    (tmp_path / "out").mkdir()
    (tmp_path / "link.html").symlink_to(scene)
    # The mark alone does not make a scene a report.
    marked = make_scene(name="marked.html")
    marked.write_text('<!--<meta name="generator" content="stiction compare">-->' + BALL.format(
        height=0.06, custom=""))  # fmt: skip
    for path in (notes, tmp_path / "out" / "ball.html"):
        path.write_text("<!DOCTYPE html><title>mine</title>")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    for name, arguments, message in (
        (scene, ("--html", scene), "is the scene itself"),
        (scene, ("--html", "link.html"), "is the scene itself"),
        (marked, ("--out", "."), "is the scene itself"),
        (scene, ("--html", "notes.html"), "exists and is not a report"),
        (scene, (), "exists and is not a report; give another name"),
    ):
        result = run(name, *arguments, "--duration", "0.01s", "--contact-model", "sap")
        assert (result.returncode, result.stdout) == (1, "")
        assert message in result.stderr
    assert {path: path.read_bytes() for path in before} == before
    (tmp_path / "new.html").touch()  # an empty file may be overwritten
    for _ in range(2):
        result = run(scene, "--html", "new.html", "--duration", "0.01s", "--contact-model", "sap")
        assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.slow
def test_a_scene_without_contacts_has_plots_without_warnings(make_scene: MakeScene) -> None:
    comparison = compare_models(load_scene(make_scene(height=9)), ["sap"], duration=0.02)
    assert comparison.rows[0].velocity_bound == 0
    assert make_report(comparison).count("<figure>") == 5  # a warning would be raised


@pytest.mark.slow
def test_ctrl_c_prints_the_rows_so_far(make_scene: MakeScene, tmp_path: Path) -> None:
    process = subprocess.Popen(
        [Path(sys.executable).parent / "stiction", "compare", make_scene(), "--duration", "1h"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not (tmp_path / "out").exists():  # the folder is made just before the first step
        assert process.poll() is None
        time.sleep(0.05)
    time.sleep(0.5)
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    table = [line for line in out.splitlines() if not line.startswith(("report:", "replay:"))]
    assert table[-1].startswith("sap")
    assert "interrupted" in err and "no replay" in err
    assert not list((tmp_path / "out").glob("*_replay.html"))
    assert "Traceback" not in err
    report = tmp_path / "out" / "ball.html"  # with the rows so far
    assert "sap" in report.read_text()


@pytest.mark.slow
def test_models_that_refuse_a_friction_law_run_with_their_own(
    run: Run, make_scene: MakeScene
) -> None:
    """Their labels say so, in all rows alike, and the exit code is that of success."""
    scene = make_scene()
    result = run(scene, "--friction-law", "elastic", "--duration", "0.02", "--json")
    assert result.returncode == 0, result.stderr
    rows = json.loads(result.stdout)["rows"]
    assert {row["status"] for row in rows} == {"ok"}
    assert {row["contact_model"] for row in rows} == set(stiction.contact_models())
    for row in rows:
        takes = row["contact_model"] in ("lagged", "lagged_regularized", "coulomb")
        assert row["label"].startswith(row["contact_model"] + ("" if takes else ", own friction"))
        assert ("own friction" in row["label"]) != takes
        for budget in row["artifacts"]:
            if takes:
                assert budget["predicted"]["creep"] == 0
    # Other laws are refused by none.
    soft = compare_models(load_scene(scene), ["sap", "similar"], duration=0.02)
    assert [row.label for row in soft.rows] == ["sap", "similar"]


@pytest.mark.slow
def test_settings_reach_the_models_that_use_them(run: Run, make_scene: MakeScene) -> None:
    arguments = ("--json", "--contact-model", "stewart_trinkle", "--duration", "10ms")
    result = run(make_scene(), *arguments, "--set", "friction_directions=8")
    figures = json.loads(result.stdout)
    assert figures["settings"] == {"friction_directions": 8}
    assert figures["rows"][0]["status"] == "ok"
    result = run(make_scene(), *arguments, "--set", "friction_directions=7")
    assert json.loads(result.stdout)["rows"][0]["status"] == "refused"


@pytest.mark.slow
def test_contact_properties_are_used(run: Run, make_scene: MakeScene, tmp_path: Path) -> None:
    # A ball of 1 kg sinks by g / k on a contact of stiffness k.
    (tmp_path / "soft.yaml").write_text(
        "materials: {soft: {stiffness: 4e4, dissipation: 5, relaxation_time: 0.01}}\n"
        'geoms: {"*": soft}\n'
    )
    result = run(make_scene(), "--properties", "soft.yaml", "--json", "--contact-model", "lagged",
                 "--duration", "4s")  # fmt: skip
    (row,) = json.loads(result.stdout)["rows"]
    assert row["penetration"] == pytest.approx(9.81 / 2e4, rel=1e-2)


def test_the_rows_of_a_refused_scene_have_the_reason(make_scene: MakeScene) -> None:
    scene = load_scene(make_scene())
    scene.model.body_mass[1] = float("nan")
    rows = compare_models(scene, duration=0.1).rows
    for row in rows:
        assert row.status == "refused"
        assert "mass" in row.message
        assert row.num_steps == 0
