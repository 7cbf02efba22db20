"""Compares the installed MuJoCo with the headers that _core was built with.

_core reads MuJoCo's structs by their addresses. Where the headers say that a field is, the installed
MuJoCo must have it. The package `mujoco` tells where its arrays are, and these addresses do not come
from the headers of _core. So a small model is made in Python, and each field of it is compared.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator, Mapping
from operator import attrgetter
from typing import Any, NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray


def _repeat(count: int, element: str) -> str:
    """Returns the element `count` times, numbered from 0."""
    return "".join(element.format(i) for i in range(count))


_TETRAHEDRON = "-.1 -.1 -.1  .1 -.1 -.1  -.1 .1 -.1  0 0 .1"
# A model with at least one of everything that Stiction reads. Sizes that Stiction reads differ from
# all other sizes, so that a size cannot be taken for another one. Cameras and the like only make
# arrays that are not empty, because an empty array may have the same address as the next one.
_SCENE = f"""<mujoco>
<option integrator="implicitfast"><flag energy="enable"/></option>
<size nuserdata="3" nuser_body="3" nuser_jnt="3" nuser_geom="3" nuser_site="3" nuser_cam="3"
  nuser_tendon="3" nuser_actuator="3" nuser_sensor="3"/>
<asset>
  <texture name="t" type="2d" builtin="flat" width="1" height="1"/><material name="t" texture="t"/>
  {_repeat(11, f'<mesh name="m{{}}" vertex="{_TETRAHEDRON}" texcoord="0 0 1 0 0 1 1 1"/>')}
  {_repeat(2, '<hfield name="h{}" nrow="2" ncol="3" size="1 1 1 .1" elevation="1 1 1 0 0 0"/>')}
</asset>
<worldbody>
  <camera/><light/>
  <geom name="floor" type="plane" size="9 9 1" surfacevel="1 0 0 0 0 0"/>
  <geom type="hfield" hfield="h0" pos="3 0 -2"/>
  <body pos="0 0 .09"><freejoint/><geom name="box" type="box" size=".1 .1 .1"/></body>
  <body pos="2 0 .09"><freejoint/><geom name="mesh" type="mesh" mesh="m0" condim="6"/></body>
  <body pos="9 9 9"><freejoint/><geom size=".1" contype="0" conaffinity="0"/></body>
  {_repeat(9, '<body name="p{}" mocap="true"/>')}
  {_repeat(17, '<geom name="g{}" size=".1" contype="0" conaffinity="0"/>')}
  <body name="weight" pos="1 0 .5"><freejoint/>
    <geom type="ellipsoid" size=".05 .06 .07" fluidshape="ellipsoid"/></body>
  <body name="arm" pos="0 -1 .5" gravcomp=".5">
    <joint name="a" axis="0 1 0" range="1 2" limited="true" stiffness="2" springyield=".01"
      frictionloss=".1" damping=".1"/>
    <geom type="capsule" size=".03" fromto="0 0 0 .3 0 0"/><site name="s" pos=".3 0 0"/>
    <body pos=".3 0 0"><joint name="b" type="ball" range="0 20"/>
      <geom type="cylinder" size=".03 .1"/><site name="t" pos=".1 0 0"/>
      {_repeat(25, '<site pos=".2 0 0"/>')}</body>
  </body>
</worldbody>
<contact>
  <pair geom1="floor" geom2="mesh" friction=".5 .6 .01 .001 .001"/>
  {_repeat(12, '<pair geom1="floor" geom2="g{}"/>')}
  {_repeat(8, '<exclude body1="arm" body2="p{}"/>')}
</contact>
<equality>{_repeat(21, '<connect body1="weight" anchor="0 0 .5"/>')}</equality>
<tendon>
  <fixed name="x" stiffness="3" springyield=".01" frictionloss=".1"><joint joint="a" coef="1"/></fixed>
  <spatial name="y" limited="true" range="0 .05"><site site="s"/><site site="t"/></spatial>
  {_repeat(21, '<fixed><joint joint="a" coef="1"/></fixed>')}
</tendon>
<actuator>
  {_repeat(13, '<position joint="a" kp="5" timeconst=".1"/>')}
  <motor tendon="x" ctrlrange="-1 1" ctrllimited="true"/>
  <muscle tendon="y" lengthrange=".01 .2"/><motor site="s" delay=".01" nsample="16"/>
  <orientation joint="b" kp="20" kv="1" input="quat"/>
</actuator>
<sensor>
  {_repeat(27, '<jointpos joint="a"/>')}<accelerometer site="s"/><touch site="t"/></sensor>
<keyframe>{_repeat(10, "<key/>")}</keyframe>
</mujoco>"""


class Field(NamedTuple):
    """A field of a struct in the headers of _core. LayoutRows in mujoco_layout.cpp describes it."""

    struct: str
    name: str
    kind: str
    offset: int
    dtype: str


class Structs:
    """MuJoCo's structs in memory, and what the package `mujoco` says of the same structs."""

    def __init__(self) -> None:
        model = mujoco.MjModel.from_xml_string(_SCENE)
        # Each number has a value that no other number of the same struct has.
        for i, name in enumerate(model.opt._float_fields):
            setattr(model.opt, name, model.opt.timestep * (1 + 1e-3 * i))
        for i, name in enumerate(("meaninertia", "meanmass", "meansize", "extent")):
            setattr(model.stat, name, 1 + 1e-3 * i)
        data = mujoco.MjData(model)
        mujoco.mj_step(model, data, 2)
        for i, name in enumerate(model.opt._int_fields):
            setattr(model.opt, name, 1000 + i)
        self.views: dict[str, Any] = {"model": model, "data": data, "contact": data.contact}
        self.addresses: dict[str, int] = {
            "model": model._address,
            "data": data._address,
            "contact": find_address(data.contact.dist),
        }

    def view(self, field: Field) -> Any:
        """Returns the field as the package `mujoco` shows it."""
        return attrgetter(field.name)(self.views[field.struct])

    def read(self, struct: str, offset: int, dtype: str) -> int | float:
        """Reads a number of the struct from memory."""
        size = np.dtype(dtype).itemsize
        memory = ctypes.string_at(self.addresses[struct] + offset, size)
        number: int | float = np.frombuffer(memory, dtype)[0].item()
        return number

    def has_address(self, field: Field) -> bool:
        """Returns False for empty arrays, and for characters, which the package `mujoco` copies."""
        view = self.view(field)
        return field.kind == "value" or (not isinstance(view, bytes) and len(view) > 0)

    def is_at(self, field: Field, offset: int) -> bool:
        """Returns True if the installed MuJoCo has the field at the offset [bytes]."""
        view = self.view(field)
        if field.kind == "value":
            return bool(self.read(field.struct, offset, field.dtype) == view)
        if field.kind == "pointer":
            return self.read(field.struct, offset, "u8") == find_address(view)
        if field.kind == "member":
            return self.addresses[field.struct] + offset == find_address(view)
        return find_stride(view) == offset


def find_address(array: NDArray[Any]) -> int:
    """Returns the address of the first element."""
    address: int = array.__array_interface__["data"][0]
    return address


def find_stride(array: NDArray[Any]) -> int:
    """Returns the distance of two elements [bytes]."""
    return array.strides[0]


def find_differences(
    structs: Structs, fields: Iterable[Field], constants: Mapping[str, float]
) -> Iterator[str]:
    """Names each field and constant in which the installed MuJoCo differs from the headers of _core."""
    known: dict[str, set[str]] = {"model": set(), "data": set(), "contact": set()}
    for field in fields:
        known[field.struct].add(field.name.partition(".")[0])
        try:
            if structs.has_address(field) and not structs.is_at(field, field.offset):
                yield f"{field.struct}.{field.name}"
        except AttributeError:
            yield f"{field.struct}.{field.name}"
    # A field that the headers do not have makes a struct larger than _core knows.
    for name in ("model", "data"):
        for new in set(structs.views[name]._all_fields) - known[name]:
            yield f"{name}.{new}"
    for name, value in constants.items():
        try:
            if float(attrgetter(name)(mujoco)) != value:
                yield name
        except AttributeError:
            yield name
