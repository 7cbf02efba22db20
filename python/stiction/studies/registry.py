"""The studies by name."""

from __future__ import annotations

from stiction.studies.clutter import CLUTTER
from stiction.studies.conveyor import CONVEYOR
from stiction.studies.disk import DISK
from stiction.studies.falling_sphere import FALLING_SPHERE
from stiction.studies.grasp import GRASP
from stiction.studies.gripper import GRIPPER
from stiction.studies.pancake import PANCAKE
from stiction.studies.quadruped import QUADRUPED
from stiction.studies.sliding_rod import SLIDING_ROD
from stiction.studies.spatula import SPATULA
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
