"""Tests what differs between the supported versions of MuJoCo.

`./dev test-mujoco VERSION` runs these tests with another version than that of the requirements.
"""

from __future__ import annotations

import warnings

import mujoco
import numpy as np
import pytest

import stiction
from stiction.binding import _load

IS_FIRST_RELEASE = mujoco.__version__ == "4.0.0"
SPARSE, DENSE = mujoco.mjtJacobian.mjJAC_SPARSE, mujoco.mjtJacobian.mjJAC_DENSE


def make_branch(place: str, axis: str, *branches: str) -> str:
    return (
        f'<body pos="{place}"><joint axis="{axis}" range="-30 30" damping=".1" frictionloss=".1"/>'
        f'<geom type="capsule" size=".04" fromto="0 0 0 .1 0 .1"/>{"".join(branches)}</body>'
    )


# Dofs with different descendants, whose rows MuJoCo 4.0.0 merges in its factor.
TREE = f"""<mujoco><worldbody><geom type="plane" size="9 9 1"/>
<body pos="0 0 .3"><freejoint/><geom size=".1"/>{
    make_branch("-.2 .15 .05", ".5 .6 -.2", make_branch(
        ".16 .01 .19", ".6 .5 -.1",
        make_branch("-.13 .15 .2", ".5 -1 .3"),
        make_branch(".17 -.16 .06", ".7 0 -.6"),
        make_branch(".09 -.2 .17", "1.1 .5 -.5")))}{
    make_branch("-.04 .04 .09", ".5 -.2 -.5",
        make_branch("0 .18 0", "-2 -.4 .2", make_branch("-.07 .02 .03", ".7 .8 .4")),
        make_branch(
            ".17 -.06 .13", ".5 -1 -.7",
            make_branch("-.05 -.08 .2", "-1.4 -.3 .8"),
            make_branch("-.08 .03 .05", "-1.7 -2.6 -.3"),
            make_branch(".18 .17 .17", "-1.6 .6 -.2")))}
</body></worldbody></mujoco>"""  # fmt: skip
# A cylinder and a corner of a box, along the edges of the cylinder.
CYLINDER_AND_BOX = """<mujoco><worldbody><geom type="cylinder" size=".1 .1"/>
<body pos=".12 .12 0"><freejoint/><geom type="box" size=".1 .1 .1"/></body></worldbody></mujoco>"""


def make_tree(jacobian: mujoco.mjtJacobian = SPARSE) -> mujoco.MjModel:
    model = mujoco.MjModel.from_xml_string(TREE)
    model.opt.jacobian = jacobian
    return model


def calc_difference(contact_model: str) -> float:
    """Returns the difference of two runs of the tree, with a sparse and with a dense Jacobian."""
    states = []
    for jacobian in (SPARSE, DENSE):
        model = make_tree(jacobian)
        data = mujoco.MjData(model)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", stiction.StepWarning)
            stiction.Simulator(model, contact_model).step(data, 20)
        states.append(data.qpos.copy())
    return float(np.abs(states[0] - states[1]).max())


def test_only_the_first_release_solves_sparse_models_wrongly() -> None:
    difference = calc_difference("mujoco")
    assert difference > 0.03 if IS_FIRST_RELEASE else difference < 1e-12  # measured 0.0375, 1e-16


@pytest.mark.parametrize("contact_model", ["sap", "lagged", "tamsi", "no_slip"])
def test_no_release_solves_sparse_models_wrongly_under_other_contact_models(
    contact_model: str,
) -> None:
    assert calc_difference(contact_model) < 1e-12


def test_cylinders_have_other_contacts_in_the_first_release() -> None:
    model = mujoco.MjModel.from_xml_string(CYLINDER_AND_BOX)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert data.ncon == (2 if IS_FIRST_RELEASE else 1)


def find_warnings(model: mujoco.MjModel, contact_model: str) -> list[warnings.WarningMessage]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        simulator = stiction.Simulator(model, contact_model)
        simulator.step(mujoco.MjData(model), 2)
    return [warning for warning in caught if "Hessian" in str(warning.message)]


def test_the_wrong_solver_is_warned_of_once_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(mujoco, "__version__", "4.0.0")
    (warning,) = find_warnings(make_tree(), "mujoco")
    assert isinstance(warning.message, stiction.StepWarning)
    assert warning.message.kind == "mujoco"
    assert warning.filename == __file__
    assert 'pip install "mujoco-core>=4.0.1,<4.1"' in str(warning.message)


def test_no_other_model_solver_or_version_is_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mujoco, "__version__", "4.0.1")
    assert find_warnings(make_tree(), "mujoco") == []
    monkeypatch.setattr(mujoco, "__version__", _load.WRONG_HESSIAN)
    assert find_warnings(make_tree(DENSE), "mujoco") == []
    assert find_warnings(make_tree(), "sap") == []
    with_cg = make_tree()
    with_cg.opt.solver = mujoco.mjtSolver.mjSOL_CG
    assert find_warnings(with_cg, "mujoco") == []
