"""The studies by name."""

from __future__ import annotations

from stiction.studies.clutter.study import CLUTTER
from stiction.studies.conveyor.study import CONVEYOR
from stiction.studies.disk.study import DISK
from stiction.studies.falling_sphere.study import FALLING_SPHERE
from stiction.studies.grasp.study import GRASP
from stiction.studies.gripper.study import GRIPPER
from stiction.studies.pancake.study import PANCAKE
from stiction.studies.quadruped.study import QUADRUPED
from stiction.studies.sliding_rod.study import SLIDING_ROD
from stiction.studies.spatula.study import SPATULA
from stiction.studies.study import Study

STUDIES: dict[str, Study] = {
    study.name: study
    for study in (
        CONVEYOR,
        FALLING_SPHERE,
        SLIDING_ROD,
        CLUTTER,
        DISK,
        SPATULA,
        GRIPPER,
        PANCAKE,
        GRASP,
        QUADRUPED,
    )
}
