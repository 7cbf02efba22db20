"""Sentences about the results. Each has its numbers from the rows, and appears only if these say so."""

from __future__ import annotations

import math
import operator
import re

from stiction.evidence.scorecard.picture import format_error
from stiction.evidence.scorecard.results import Cell

# Paragraphs. A number is {SCENE/ENGINE/STEP/COLUMN}: STEP is 0, 1 or 2 for the largest to the smallest
# step, and COLUMN a column of the rows. A line `if NUMBER < VALUE` or `if NUMBER > VALUE` is a claim of
# the paragraph that its text does not give as a number. The paragraph appears only if all its numbers
# exist and all its claims hold.
_TEXT = """
if {held_cube/stiction coulomb soft/2/creep} > 5e-5
**Regularized friction creeps more than MuJoCo with its remedies.** At half of its friction bound the
held cube creeps at {held_cube/stiction coulomb soft/0/creep} under `friction_law="soft"`, at
{held_cube/mujoco elliptic/0/creep} under MuJoCo with impratio 100, and at {held_cube/mujoco
noslip/0/creep} with noslip, at {held_cube/stiction coulomb/0/time_step}.

if {held_cube/stiction rigid_coulomb/0/creep} < 1e-9
if {held_cube/stiction coulomb elastic/0/creep} < 1e-9
**Springs hold without creep.** The same cube creeps at {held_cube/stiction coulomb
elastic/0/creep} under our default, at {held_cube/newton steel/0/creep}
with Newton's anchors, and not at all under `rigid_coulomb`.

if {grip_threshold/stiction coulomb elastic/0/creep} < 1e-9
if {grip_threshold/stiction coulomb soft/0/creep} > 1e-4
**Springs hold at 1.001 times the friction that a grip needs.** What is held there creeps at
{grip_threshold/stiction coulomb elastic/0/creep} with them, at {grip_threshold/stiction coulomb
soft/0/creep} with regularized friction, at {grip_threshold/mujoco elliptic/0/creep} under MuJoCo with
impratio 100, and at {grip_threshold/pybullet/0/creep} under Bullet, at
{grip_threshold/stiction coulomb/0/time_step}.

if {grip_threshold/genesis/2/error} < 0.01
if {grip_threshold/motrixsim/2/error} < 0.01
if {held_cube/pinocchio admm/0/creep} < 1e-9
if {grip_threshold/pinocchio admm/2/error} > 1
**Peers with Coulomb's law hold the grips too.** All six grips err by at most
{grip_threshold/genesis/2/error} under Genesis and {grip_threshold/motrixsim/2/error} under MotrixSim,
which creep at {held_cube/genesis/0/creep} and {held_cube/motrixsim/0/creep} in the held cube.
Pinocchio's ADMM solver holds that cube at {held_cube/pinocchio admm/0/creep}, and errs by
{grip_threshold/pinocchio admm/2/error} in the six grips.

if {friction_angle/stiction coulomb soft/2/error} > 0.02
if {friction_angle/stiction coulomb/2/error} < 0.01
**Near its bound regularized friction creeps at seven times v_s.** The block 1 % below the friction angle
creeps at {friction_angle/stiction coulomb soft/2/creep}, so `coulomb` with it errs by
{friction_angle/stiction coulomb soft/2/error} there, by {capstan/stiction coulomb
soft/2/error} at the capstan and by {wedge/stiction coulomb soft/2/error} at the wedge.

if {held_cube/stiction stewart_trinkle/0/error} > 0.1
if {held_cube/stiction anitescu_potra/0/error} > 0.1
if {held_cube/stiction rigid_coulomb/0/error} < 0.01
if {held_cube/stiction drumwright_shell/0/error} < 0.01
**Two of our rigid models drop the held cube.** Lemke's method loads one corner of each face under
`stewart_trinkle` and `anitescu_potra`; `rigid_coulomb` and `drumwright_shell` hold the cube.

if {friction_angle/stiction sap/0/error} < 0.01
if {friction_angle/mujoco elliptic/0/error} > 0.05
if {friction_angle/drake sap/0/error} > 0.05
**Convex models need contacts before they touch.** At {friction_angle/mujoco elliptic/0/time_step} a
block that begins to slide loses its contact for a step and errs by {friction_angle/mujoco
elliptic/0/error} under MuJoCo and by {friction_angle/drake sap/0/error} under Drake's SAP, and by
{friction_angle/stiction sap/0/error} under Stiction's `sap`, which has speculative contacts.

if {fast_slide/mujoco elliptic/2/error} > 0.05
if {fast_slide/stiction sap/2/error} > 0.05
if {fast_slide/stiction coulomb/2/error} < 1e-3
**Convex friction lifts what slides fast.** The cube at 6 m/s errs by {fast_slide/mujoco
elliptic/2/error} under MuJoCo, by {fast_slide/drake sap/2/error} under Drake's SAP and by
{fast_slide/stiction sap/2/error} under our `sap`, which lift it, and by {fast_slide/stiction
coulomb/2/error} under `coulomb`, which does not.

if {fast_slide/genesis/2/error} < 1e-3
if {fast_slide/pinocchio admm/2/error} < 1e-3
if {mass_ratio/pinocchio admm/0/error} < 1e-6
if {mass_ratio/motrixsim/0/error} > 0.5
**Coulomb's law has company.** Genesis errs by {fast_slide/genesis/2/error} in the fast slide and
Pinocchio by {fast_slide/pinocchio admm/2/error}. Under a mass ratio of 1000 Pinocchio, whose contact is
rigid, errs by {mass_ratio/pinocchio admm/0/error}, Genesis by {mass_ratio/genesis/0/error} and MotrixSim
by {mass_ratio/motrixsim/0/error}, at {mass_ratio/genesis/0/time_step}.

if {rod_jam/stiction sap/2/error} > 0.5
if {rod_jam/mujoco elliptic/2/error} > 0.5
**Painleve's rod separates the laws.** At {rod_jam/stiction coulomb/2/time_step} `coulomb` errs by
{rod_jam/stiction coulomb/2/error}, Newton's Steel by {rod_jam/newton steel/2/error}, `lagged` by
{rod_jam/stiction lagged/2/error}, our `sap` by {rod_jam/stiction sap/2/error} and MuJoCo by
{rod_jam/mujoco elliptic/2/error}.

if {rod_jam/pybullet/2/energy_gain} > 0.01
**A jam can make energy.** Under Bullet the rod gains {rod_jam/pybullet/2/energy_gain} of its energy.

if {spinning_disk/stiction coulomb/2/error} < 0.02
if {spinning_disk/mujoco elliptic/2/error} > 0.1
**Pressure fields stop the disk rightly.** With them the error is {spinning_disk/stiction
coulomb/2/error} under `coulomb` and {spinning_disk/drake hydroelastic/2/error} under Drake; with
contact points MuJoCo errs by {spinning_disk/mujoco elliptic/2/error}.

**Coarse spheres roll on facets.** Drake's hydroelastic sphere, with edges of a tenth of its radius,
errs by {rolling_sphere/drake hydroelastic/2/error} at {rolling_sphere/drake
hydroelastic/2/time_step}.

if {cradle/stiction rigid_coulomb/2/error} < 1e-6
if {cradle/newton steel/2/error} < 1e-3
**Rebound without loss is for rigid models and explicit springs.** `rigid_coulomb` and Newton's Steel
exchange the velocities of the cradle exactly, MuJoCo errs by {cradle/mujoco elliptic/2/error}, and
implicit springs lose energy: `coulomb` errs by {cradle/stiction coulomb/2/error} and Drake by
{cradle/drake lagged/2/error}.

if {hertz/stiction coulomb/2/error} < 0.05
if {hertz/drake lagged/2/error} > 0.5
if {hertz/mujoco elliptic/2/error} > 0.5
**Stiction has Hertz's law.** `coulomb` errs by {hertz/stiction coulomb/2/error}, Drake's linear spring
by {hertz/drake lagged/2/error}, and MuJoCo, whose depth does not depend on the load, by
{hertz/mujoco elliptic/2/error}.

**A mass ratio of 1000.** At {mass_ratio/mujoco elliptic/0/time_step} the light box is squeezed by
{mass_ratio/mujoco elliptic/0/error} of its side under MuJoCo, {mass_ratio/drake sap/0/error} under
Drake's SAP, {mass_ratio/pybullet/0/error} under Bullet, {mass_ratio/stiction sap/0/error} under
our `sap`, and {mass_ratio/stiction coulomb/0/error} under `coulomb`.

if {stopping_distance/stiction no_slip/2/error} > 0.1
if {stopping_distance/stiction viscous/2/error} > 0.1
**`no_slip` and `viscous` have no Coulomb friction**, and err by {stopping_distance/stiction
no_slip/2/error} and {stopping_distance/stiction viscous/2/error} in the stopping distance.
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
