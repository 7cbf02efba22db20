"""Tests that a recorded model with an index that leads nowhere is refused before MuJoCo follows it."""

from __future__ import annotations

import copy

import mujoco
import numpy as np
import pytest

import stiction
from stiction.inputs.package_scenes import find_scene_file, list_scenes
from stiction.recording import format as fmt

# A model with entries in as many arrays as one text can give it.
RICH = """
<mujoco>
  <asset>
    <texture name="t" type="2d" builtin="checker" width="8" height="8"/>
    <material name="m" texture="t"/>
    <mesh name="tet" vertex="0 0 0 .1 0 0 0 .1 0 0 0 .1"/>
    <mesh name="cube" vertex="0 0 0 .1 0 0 0 .1 0 0 0 .1 .1 .1 0 .1 0 .1 0 .1 .1 .1 .1 .1"/>
    <hfield name="field" nrow="2" ncol="2" size="1 1 .1 .1" elevation="0 1 0 1"/>
  </asset>
  <custom>
    <numeric name="n" data="1 2"/><text name="x" data="hello"/>
    <tuple name="u"><element objtype="body" objname="a" prm="1"/></tuple>
  </custom>
  <worldbody>
    <light mode="targetbody" target="a"/><camera name="eye" mode="targetbody" target="a"/>
    <geom name="floor" type="plane" size="5 5 .1" material="m"/>
    <geom type="hfield" hfield="field" pos="3 0 0"/>
    <body mocap="true"><geom size=".02"/></body>
    <body name="a" pos="0 0 .1">
      <freejoint/><geom name="tet" type="mesh" mesh="tet"/><site name="s" size=".2"/>
    </body>
    <body name="b" pos=".6 0 .1"><freejoint/><geom name="cube" type="mesh" mesh="cube"/></body>
    <body name="c" pos="1 0 .3">
      <joint name="slide" type="slide" stiffness="3" springyield=".1"/>
      <geom name="wrap" type="cylinder" size=".05 .1"/><site name="s2" pos="0 .1 .1"/>
      <body pos="0 0 .3">
        <joint name="hinge"/><geom type="capsule" size=".05 .1"/><site name="s3" pos="0 .1 0"/>
        <body pos="0 0 .3"><joint name="ball" type="ball"/><geom size=".05"/></body>
      </body>
    </body>
    <flexcomp name="soft" type="grid" count="3 3 3" spacing=".05 .05 .05" pos="0 3 1" radius=".005"
              dim="3" mass=".1"><edge equality="true"/></flexcomp>
  </worldbody>
  <contact><pair geom1="tet" geom2="cube"/><exclude body1="a" body2="c"/></contact>
  <tendon>
    <spatial name="rope"><site site="s2"/><geom geom="wrap"/><site site="s3"/></spatial>
    <fixed name="both"><joint joint="slide" coef="1"/><joint joint="hinge" coef="-1"/></fixed>
  </tendon>
  <equality><joint joint1="slide" joint2="hinge"/><weld body1="a" body2="b"/></equality>
  <actuator>
    <motor joint="slide" nsample="8" delay=".012" interp="linear"/>
    <general tendon="both" dyntype="filter" dynprm=".1"/>
  </actuator>
  <sensor>
    <touch site="s"/><jointpos joint="slide" nsample="5" delay=".006" interval=".005"/>
    <framepos objtype="body" objname="a" reftype="body" refname="b"/>
  </sensor>
  <keyframe><key name="k"/></keyframe>
</mujoco>
"""
# Arrays of numbers that lead nowhere: flags, groups, sizes, and what only a picture needs.
NO_INDEX = """
    actuator_ctrlspec actuator_group actuator_history sensor_history sensor_intprm bvh_depth
    body_conaffinity body_contype geom_conaffinity geom_contype geom_group geom_priority jnt_group
    site_group site_dataid tendon_group tendon_treenum tendon_type cam_output cam_projection
    cam_resolution light_type tex_colorspace tex_type flex_activelayers flex_cellnum
    flex_conaffinity flex_contype flex_edgeequality flex_elemlayer flex_elemtexcoord flex_group
    flex_interp flex_passive flex_plasticmode flex_priority flex_selfcollide mesh_facetexcoord
    mesh_texcoordadr mesh_octadr
"""
# Arrays of indices whose last entry in this model is that of an element that has none.
NO_ELEMENT = {
    *("actuator_actadr", "actuator_trnid", "body_bvhadr", "body_geomadr"),
    *("eq_objtype", "flex_nodeadr", "geom_dataid"),
}


@pytest.fixture(scope="module")
def rich() -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(RICH)


def list_integers(model: mujoco.MjModel) -> list[str]:
    arrays = {name: getattr(model, name) for name in dir(model) if not name.startswith("_")}
    return [
        name
        for name, array in arrays.items()
        if isinstance(array, np.ndarray) and array.size and array.dtype == np.int32
    ]


@pytest.mark.parametrize("value", [2**31 - 1, -(2**31)])
def test_every_array_of_indices_is_checked(rich, value):
    """An array that a later version of MuJoCo adds is found here, too."""
    read = set()
    for name in list_integers(rich):
        model = copy.copy(rich)
        getattr(model, name).flat[-1] = value
        try:
            fmt.load_model(fmt.save_model(model))
        except ValueError:
            continue
        read.add(name)
    assert read - set(NO_INDEX.split()) - NO_ELEMENT == set()


@pytest.mark.parametrize(
    ("name", "place", "value", "message"),
    [
        ("dof_jntid", 29, 2, r"dof_jntid\[\d+\] is 2, must be \d+"),  # an index of another joint
        ("body_treeid", 1, 1000, r"body_treeid\[1\] is 1000, must be in -1..\d+"),
        ("body_geomnum", 1, 7, "body_geomnum.* is .*, must be such that the sum is"),
        (
            "actuator_outadr",
            1,
            0,
            r"actuator_outadr\[1\] is 0, must be the end of the block before",
        ),
        ("geom_type", 0, 77, r"geom_type\[0\] is 77, must be in 0..8"),
        ("mesh_polyvert", 0, 5, r"mesh_polyvert\[0\] is 5, must be in 0..3"),
        ("bvh_child", -1, 0, r"bvh_child\[\d+\] is 0, must be a later node of the same tree"),
        ("sensor_history", 2, 3, "must be such that the sum is"),
        ("M_colind", 4, 0, r"M_colind\[\d\] is 0, must be the dofs before its own"),
    ],
)
def test_a_wrong_index_is_named(rich, name, place, value, message):
    model = copy.copy(rich)
    getattr(model, name).flat[place] = value
    with pytest.raises(ValueError, match=message):
        fmt.load_model(fmt.save_model(model))


def test_a_content_of_another_length_is_refused(rich):
    content = fmt.save_model(rich)
    for wrong in (b"", content[:30], content[:-1], content + b"0", content[:60] + b"\xff" * 8):
        with pytest.raises(ValueError, match="it is not as long as its sizes say"):
            fmt.load_model(wrong)


def test_honest_models_are_read(rich, scenes):
    models = [rich, *(stiction.load_scene(find_scene_file(name)).model for name in list_scenes())]
    models += [mujoco.MjModel.from_xml_string(text) for text in scenes.values()]
    for model in models:
        content = fmt.save_model(model)
        assert fmt.save_model(fmt.load_model(content)) == content
