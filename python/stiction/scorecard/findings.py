"""Sentences about the results. Each names the cells from which it takes its numbers, and appears
only if they exist."""

from __future__ import annotations

import math
import re

from stiction.scorecard.picture import format_error
from stiction.scorecard.summary import Cell

# Paragraphs. A number is {SCENE/ENGINE/STEP/COLUMN}: STEP is 0, 1 or 2 for the largest to the smallest
# step, and COLUMN a column of the rows.
_TEXT = """
**Our default creeps more than MuJoCo with its remedies.** At 10 ms the held cube creeps at
{held_cube/stiction coulomb/0/creep} under `coulomb`, at {held_cube/mujoco elliptic/0/creep} under
MuJoCo's elliptic cones with impratio 100, and at {held_cube/mujoco noslip/0/creep} with noslip.
The slip tolerance of `coulomb` is at least 0.001 w mu times the normal impulse, which grows with
the step; `lagged`, which has no such floor, creeps at {held_cube/stiction lagged/0/creep}. Rigid
models, Newton's anchors ({held_cube/newton steel/0/creep}) and Bullet do not creep.

**Two of our rigid models drop the held cube.** `stewart_trinkle` and `anitescu_potra` have
several solutions where contact is redundant. We checked the first step: the impulses that Lemke's
method finds satisfy the law, with over 90 % of the grip on one corner of each face; the cube turns
and slides. `rigid_coulomb` and `drumwright_shell` hold it. `stewart_trinkle` gives no warning.

**Convex models need contacts before they touch.** Under a convex model a sliding body is lifted
by a gap in proportion to its speed and the step. MuJoCo and Drake find a contact only while
bodies overlap, so a block that begins to slide loses it for a step, falls, and is thrown forward.
At 10 ms the block above the friction angle errs by {friction_angle/mujoco elliptic/0/error} under
MuJoCo and by {friction_angle/drake sap/0/error} under Drake's SAP. Stiction's `sap` is the same
law with speculative contacts, and errs by {friction_angle/stiction sap/0/error}.

**Pyramids and the friction angle.** With MuJoCo's pyramidal cones the block 1 % below the
friction angle creeps at {friction_angle/mujoco pyramidal/0/creep} at 10 ms, with elliptic ones at
{friction_angle/mujoco elliptic/0/creep}.

**Painleve's rod separates the laws.** At 20 us, `coulomb` errs by {rod_jam/stiction
coulomb/2/error} and Newton's Steel by {rod_jam/newton steel/2/error}. Models that couple friction
with separation jam at another angle or not at all: our `sap` errs by {rod_jam/stiction
sap/2/error} and MuJoCo by {rod_jam/mujoco elliptic/2/error}, and smaller steps do not help.
`lagged`, whose friction is one step late, errs by {rod_jam/stiction lagged/2/error}. Rigid
Coulomb friction has several solutions near the jam: `rigid_coulomb` misses it at 50 us and has it
at the other steps, without a message. Bullet finds the angle, but at 20 us the jam multiplies the
rod's energy by nine.

**Only pressure fields stop the disk rightly.** With them the error is {spinning_disk/stiction
coulomb/2/error} under `coulomb` and {spinning_disk/drake hydroelastic/2/error} under Drake. All
engines with contact points err by more than 30 %, because the points are at the rim; so do our
`sap` and `similar`, which lift the sliding disk.

**Coarse spheres roll on facets.** Drake's hydroelastic sphere, with edges of a tenth of its
radius, errs by {rolling_sphere/drake hydroelastic/2/error} on the slope, at every step.

**Rebound without loss is for rigid models and explicit springs.** Rigid models with restitution
1, and Newton's Steel, exchange the velocities of the cradle exactly. On a spring, MuJoCo errs by
{cradle/mujoco elliptic/2/error} with 35 steps in a collision. Our compliant models and Drake
integrate the spring implicitly, which takes energy: `coulomb` errs by {cradle/stiction
coulomb/2/error} at the same step.

**Hertz's law exists only in Stiction.** Engines with a linear spring, right for 1 kg, err by
{hertz/drake lagged/2/error} for 0.1 and 10 kg. MuJoCo's depth does not depend on the load, and
errs by {hertz/mujoco elliptic/2/error}. `sap` and `tamsi` read no normal law. Rigid models, and
Steel, have no depth, which counts as an error of 100 %.

**A mass ratio of 1000.** At 10 ms the light box is squeezed by {mass_ratio/mujoco
elliptic/0/error} of its side under MuJoCo, {mass_ratio/drake sap/0/error} under Drake's SAP,
{mass_ratio/pybullet/0/error} under Bullet and {mass_ratio/stiction sap/0/error} under our `sap`,
and by {mass_ratio/stiction coulomb/0/error} under `coulomb`. Of these only our `sap` warns.

**Nobody says much.** Most wrong runs come without a word, ours too: a certificate bounds the
error of the solver, and not that of the law. The totals count it.

`no_slip` and `viscous` have no Coulomb friction, so their errors in sliding are those of their
law.
"""
FINDINGS = tuple(" ".join(paragraph.split()) for paragraph in _TEXT.split("\n\n"))

_NUMBER = re.compile(r"\{(\w+)/([\w ]+)/(\d)/(\w+)\}")


def list_findings(cells: dict[tuple[str, str], Cell]) -> list[str]:
    """Returns the findings whose numbers exist."""
    found = []
    for finding in FINDINGS:
        try:
            found.append(_NUMBER.sub(lambda match: _find_number(cells, match), finding))
        except KeyError:
            continue
    return found


def _find_number(cells: dict[tuple[str, str], Cell], match: re.Match[str]) -> str:
    scene, engine, step, column = match.groups()
    value = getattr(cells[scene, engine].rows[int(step)], column)
    if column == "error":
        return format_error(value) if value < math.inf else "no result"
    if column == "creep":
        return f"{1e6 * value:.2g} µm/s"
    return f"{value:.3g}"
