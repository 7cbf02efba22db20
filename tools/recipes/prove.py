"""Proves that the dummies of tools/count_places.py work in the package that this program imports.

    prove.py PACKAGE_FOLDER

Fails if `stiction` is imported from elsewhere.
"""

from __future__ import annotations

import inspect
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import mujoco

import stiction
from stiction.evidence.studies.registry import STUDIES
from stiction.inputs.names import find_compliant_models

SCENE = """
<mujoco>
  <option gravity="1.7 0 -9.66"/>
  <worldbody>
    <geom type="plane" size="5 5 1"/>
    <body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
  </worldbody>
</mujoco>
"""


def settle(contact_model: str, **options: Any) -> mujoco.MjData:
    """Step a box on a plane with gravity tilted by 10 degrees; every step passes its certificate."""
    model = mujoco.MjModel.from_xml_string(SCENE)
    data = mujoco.MjData(model)
    properties = {"materials": {"soft": {"stiffness": 1e5}}, "geoms": {"*": "soft"}}
    simulator = stiction.Simulator(model, contact_model, properties=properties, **options)
    for _ in range(200):
        simulator.step(data)
    return data


def run(*command: str) -> str:
    """Runs the command line in a temporary folder and returns its output."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-m", "stiction", *command],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def prove_law() -> None:
    """The law is listed, holds a box up, and passes its certificates under a model that takes it."""
    assert "dummy_law" in stiction.normal_laws()
    assert abs(settle("lagged", normal_law="dummy_law").qpos[2] - 0.1) < 0.02


def prove_option() -> None:
    """The option is an argument with documentation and a range, and a setting of the commands."""
    parameter = inspect.signature(stiction.Simulator).parameters["dummy_option"]
    assert parameter.default == 0.5
    assert "dummy_option: The dummy. Must be in [0, 1]" in (stiction.Simulator.__doc__ or "")
    model = mujoco.MjModel.from_xml_string(SCENE)
    assert stiction.Simulator(model, dummy_option=0.25).options["dummy_option"] == 0.25
    message = ""
    try:
        stiction.Simulator(model, dummy_option=2)
    except stiction.Error as e:
        message = str(e)
    assert message == "dummy_option: is 2, must be in [0, 1]", message
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        stiction.Simulator(model, "sap", dummy_option=0.25)
    assert any("dummy_option has no effect" in str(w.message) for w in caught), caught
    with tempfile.NamedTemporaryFile("w", suffix=".xml") as scene:
        scene.write(SCENE)
        scene.flush()
        run("run", scene.name, "--duration", "10ms", "--set", "dummy_option=0.25")


def prove_model() -> None:
    """The model is listed, takes part in studies, and slides without friction."""
    assert "dummy_model" in stiction.contact_models()
    assert "dummy_model" in find_compliant_models()
    assert settle("dummy_model").qpos[0] > 0.1 > abs(settle("lagged").qpos[0])


def prove_study() -> None:
    """The study is listed and runs from the command line."""
    assert "dummy_study" in STUDIES
    run("study", "dummy_study", "--quick")


def main(package: str) -> None:
    """Runs all proofs."""
    assert Path(stiction.__file__ or "").parent == Path(package).resolve(), stiction.__file__
    for prove in (prove_law, prove_option, prove_model, prove_study):
        prove()
        print(f"{prove.__name__}: ok")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1])
