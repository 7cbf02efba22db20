"""Sentences about the results. Each has its numbers from the rows, and appears only if these say so."""

from __future__ import annotations

import math
import operator
import re

from stiction.evidence.scorecard.picture import format_error
from stiction.evidence.scorecard.summary import Cell

# Paragraphs. A number is {SCENE/ENGINE/STEP/COLUMN}: STEP is 0, 1 or 2 for the largest to the smallest
# step, and COLUMN a column of the rows. A line `if NUMBER < VALUE` or `if NUMBER > VALUE` is a claim of
# the paragraph that its text does not give as a number. The paragraph appears only if all its numbers
# exist and all its claims hold.
_TEXT = """
if {held_cube/stiction rigid_coulomb/0/creep} < 1e-9
if {held_cube/stiction coulomb defaults/2/creep} > 5e-5
if {held_cube/stiction coulomb/0/creep} > 1e-5
if {held_cube/stiction coulomb elastic/0/creep} < 1e-9
**Our default creeps more than MuJoCo with its remedies.** With Stiction's defaults, v_s = 1e-4 m/s,
the held cube creeps at {held_cube/stiction coulomb defaults/0/creep} under `coulomb`, and at
{held_cube/stiction lagged defaults/0/creep} under `lagged`, at every time step. At
{held_cube/stiction coulomb/0/time_step} MuJoCo creeps at {held_cube/mujoco elliptic/0/creep} with
elliptic cones and impratio 100, and at {held_cube/mujoco noslip/0/creep} with noslip. With v_s =
1e-6 m/s `lagged` creeps at {held_cube/stiction lagged/0/creep}, but `coulomb` still at
{held_cube/stiction coulomb/0/creep}: its slip tolerance is at least 0.001 w mu times the normal
impulse, which grows with the step. Springs that remember hold without it: `coulomb` with
`friction_law="elastic"` creeps at {held_cube/stiction coulomb elastic/0/creep}, and Newton's anchors
at {held_cube/newton steel/0/creep}. `rigid_coulomb` does not creep.

if {friction_angle/stiction coulomb defaults/2/error} > 0.02
if {friction_angle/stiction coulomb/2/error} < 0.01
**Near its bound the default creeps at seven times v_s.** With our defaults the block 1 % below the
friction angle creeps at {friction_angle/stiction coulomb defaults/2/creep}, at any time step, and the
error of the scene is {friction_angle/stiction coulomb defaults/2/error}. With v_s = 1e-6 m/s and
{friction_angle/stiction coulomb/2/time_step} the block creeps at {friction_angle/stiction
coulomb/2/creep}, and the error is {friction_angle/stiction coulomb/2/error}. Creep is also why the
capstan errs by {capstan/stiction coulomb defaults/2/error} and the wedge by {wedge/stiction coulomb
defaults/2/error} with our defaults.

if {held_cube/stiction stewart_trinkle/0/error} > 0.1
if {held_cube/stiction anitescu_potra/0/error} > 0.1
if {held_cube/stiction rigid_coulomb/0/error} < 0.01
if {held_cube/stiction drumwright_shell/0/error} < 0.01
**Two of our rigid models drop the held cube.** `stewart_trinkle` and `anitescu_potra` have several
solutions where contact is redundant. We checked the first step: the impulses that Lemke's method
finds satisfy the law, with over 90 % of the grip on one corner of each face; the cube turns and
slides. `rigid_coulomb` and `drumwright_shell` hold it.

if {friction_angle/stiction sap/0/error} < 0.01
if {friction_angle/mujoco elliptic/0/error} > 0.05
if {friction_angle/drake sap/0/error} > 0.05
**Convex models need contacts before they touch.** Under a convex model a sliding body is lifted by
a gap in proportion to its speed and the step. By default MuJoCo and Drake find a contact only while
bodies overlap, so a block that begins to slide loses it for a step, falls, and is thrown forward. At
{friction_angle/mujoco elliptic/0/time_step} the block above the friction angle errs by
{friction_angle/mujoco elliptic/0/error} under MuJoCo and by {friction_angle/drake sap/0/error}
under Drake's SAP. Stiction's `sap` is the same law with speculative contacts, and errs by
{friction_angle/stiction sap/0/error}.

**Pyramids and the friction angle.** With MuJoCo's pyramidal cones the block 1 % below the friction
angle creeps at {friction_angle/mujoco pyramidal/0/creep} at {friction_angle/mujoco
pyramidal/0/time_step}, with elliptic ones at {friction_angle/mujoco elliptic/0/creep}.

if {rod_jam/stiction sap/2/error} > 0.5
if {rod_jam/mujoco elliptic/2/error} > 0.5
**Painleve's rod separates the laws.** At {rod_jam/stiction coulomb/2/time_step}, `coulomb` errs by
{rod_jam/stiction coulomb/2/error} and Newton's Steel by {rod_jam/newton steel/2/error}. Models that
couple friction with separation jam at another angle or not at all: our `sap` errs by
{rod_jam/stiction sap/2/error} and MuJoCo by {rod_jam/mujoco elliptic/2/error}, and by
{rod_jam/stiction sap/0/error} and {rod_jam/mujoco elliptic/0/error} at {rod_jam/stiction
sap/0/time_step}. `lagged`, whose friction is one step late, errs by {rod_jam/stiction
lagged/2/error}.

**Rigid friction has several solutions near the jam.** At {rod_jam/stiction
rigid_coulomb/0/time_step}, {rod_jam/stiction rigid_coulomb/1/time_step} and {rod_jam/stiction
rigid_coulomb/2/time_step}, `rigid_coulomb` errs by {rod_jam/stiction rigid_coulomb/0/error},
{rod_jam/stiction rigid_coulomb/1/error} and {rod_jam/stiction rigid_coulomb/2/error}.

if {rod_jam/pybullet/2/energy_gain} > 0.01
**A jam can make energy.** Under Bullet the rod errs by {rod_jam/pybullet/2/error} at
{rod_jam/pybullet/2/time_step}, and gains {rod_jam/pybullet/2/energy_gain} of its energy.

if {spinning_disk/stiction coulomb/2/error} < 0.02
if {spinning_disk/mujoco elliptic/2/error} > 0.1
if {spinning_disk/pybullet/2/error} > 0.1
**Pressure fields stop the disk rightly.** With them the error is {spinning_disk/stiction
coulomb/2/error} under `coulomb` and {spinning_disk/drake hydroelastic/2/error} under Drake. Contact
points are at the rim: MuJoCo errs by {spinning_disk/mujoco elliptic/2/error}, Newton's Steel by
{spinning_disk/newton steel/2/error} and Bullet by {spinning_disk/pybullet/2/error}. Our `sap` and
`similar` lift the sliding disk, and err by {spinning_disk/stiction sap/2/error} and
{spinning_disk/stiction similar/2/error}.

**Coarse spheres roll on facets.** Drake's hydroelastic sphere, with edges of a tenth of its radius,
errs by {rolling_sphere/drake hydroelastic/0/error} on the slope at {rolling_sphere/drake
hydroelastic/0/time_step} and by {rolling_sphere/drake hydroelastic/2/error} at
{rolling_sphere/drake hydroelastic/2/time_step}.

if {cradle/stiction rigid_coulomb/2/error} < 1e-6
if {cradle/newton steel/2/error} < 1e-3
**Rebound without loss is for rigid models and explicit springs.** `rigid_coulomb` with restitution
1 and Newton's Steel exchange the velocities of the cradle with errors of {cradle/stiction
rigid_coulomb/2/error} and {cradle/newton steel/2/error}. On a spring, MuJoCo errs by {cradle/mujoco
elliptic/2/error} with 35 steps in a collision. Our compliant models and Drake integrate the spring
implicitly, which takes energy: `coulomb` errs by {cradle/stiction coulomb/2/error} and Drake by
{cradle/drake lagged/2/error} at the same step.

if {hertz/stiction coulomb/2/error} < 0.05
if {hertz/drake lagged/2/error} > 0.5
if {hertz/mujoco elliptic/2/error} > 0.5
**Stiction has Hertz's law.** `coulomb` errs by {hertz/stiction coulomb/2/error}. Drake's linear
spring, right for 1 kg, errs by {hertz/drake lagged/2/error} for 0.1 and 10 kg. MuJoCo's depth does
not depend on the load, and errs by {hertz/mujoco elliptic/2/error}. Our `sap` reads no normal law,
and errs by {hertz/stiction sap/2/error}. Rigid models have no depth, which counts as an error of
100 %.

**A mass ratio of 1000.** At {mass_ratio/mujoco elliptic/0/time_step} the light box is squeezed by
{mass_ratio/mujoco elliptic/0/error} of its side under MuJoCo, {mass_ratio/drake sap/0/error} under
Drake's SAP, {mass_ratio/pybullet/0/error} under Bullet and {mass_ratio/stiction sap/0/error} under
our `sap`, and by {mass_ratio/stiction coulomb/0/error} under `coulomb`.

if {stopping_distance/stiction no_slip/2/error} > 0.1
if {stopping_distance/stiction viscous/2/error} > 0.1
`no_slip` and `viscous` have no Coulomb friction, so their errors in sliding are those of their law:
{stopping_distance/stiction no_slip/2/error} and {stopping_distance/stiction viscous/2/error} in the
stopping distance.
"""
FINDINGS = tuple(paragraph.strip() for paragraph in _TEXT.split("\n\n"))

_NUMBER = re.compile(r"\{(\w+)/([\w ]+)/(\d)/(\w+)\}")
_CLAIM = re.compile(rf"if {_NUMBER.pattern} ([<>]) (\S+)\n")
_COMPARE = {"<": operator.lt, ">": operator.gt}


def list_findings(cells: dict[tuple[str, str], Cell]) -> list[str]:
    """Returns the findings whose numbers exist and whose claims hold."""
    found = []
    for finding in FINDINGS:
        claims, text = _CLAIM.findall(finding), " ".join(_CLAIM.sub("", finding).split())
        try:
            if all(_COMPARE[c[4]](_find_value(cells, *c[:4]), float(c[5])) for c in claims):
                found.append(_NUMBER.sub(lambda m: _format(cells, *m.groups()), text))
        except (KeyError, IndexError):
            continue
    return found


def _find_value(
    cells: dict[tuple[str, str], Cell], scene: str, engine: str, step: str, column: str
) -> float:
    return float(getattr(cells[scene, engine].rows[int(step)], column))


def _format(
    cells: dict[tuple[str, str], Cell], scene: str, engine: str, step: str, column: str
) -> str:
    value = _find_value(cells, scene, engine, step, column)
    if column in ("error", "energy_gain"):
        return format_error(value) if value < math.inf else "no result"
    if column == "time_step":
        return f"{1e3 * value:g} ms" if value >= 1e-3 else f"{1e6 * value:g} µs"
    if not math.isfinite(value):
        raise KeyError(column)
    speed = float(f"{1e6 * value:.2g}")
    return f"{speed:g} µm/s"
