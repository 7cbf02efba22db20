"""The help texts of commands: paragraphs that the terminal breaks, and examples."""

from __future__ import annotations

import inspect

# Lines to type for each command. The scenes are those of the package; a test reads all of the lines.
EXAMPLES: dict[str, tuple[str, ...]] = {
    "run": (
        "stiction run pinch --friction-law soft",
        "stiction run my_scene.xml --duration 5s --record out.mcap",
    ),
    "replay": ("stiction replay out.mcap --verify",),
    "compare": (
        "stiction compare pinch",
        "stiction compare my_scene.xml --contact-model coulomb --contact-model mujoco",
    ),
    "check": ("stiction check my_scene.xml", "stiction check out.mcap"),
    "explain": ("stiction explain pinch left_pad cube",),
    "grasp": (
        "stiction grasp pinch cube --contact-model coulomb",
        "stiction grasp my_gripper.xml bottle --friction-law soft",
    ),
    "converge": (
        "stiction converge spatula --contact-model coulomb --accuracy 1e-4",
        "stiction converge my_scene.xml --time-step 4ms --period 20ms",
    ),
    "view": (
        "stiction view pinch --contact-model coulomb --contact-model mujoco",
        "stiction view out.mcap",
    ),
    "sweep": ("stiction sweep sweep.yaml --out results",),
    "contacts": ("stiction contacts out.mcap --out contacts.csv",),
    "convert": ("stiction convert out.mcap --out foxglove.mcap",),
    "mesh": ("stiction mesh part.obj -o part.vtk",),
    "study": ("stiction study conveyor --quick",),
    "scorecard": ("stiction scorecard --scene stack --engine 'stiction coulomb'",),
    "doctor": ("stiction doctor",),
    "clutter": ("stiction bench clutter --bodies 40 --repeats 3",),
    "heap": ("stiction bench heap --bodies 100 --duration 1",),
    "scenes": ("stiction bench scenes my_scene.xml",),
    "batch": ("stiction bench batch my_scene.xml --sims 16",),
    "corpus": ("stiction bench corpus my_models",),
    "patches": ("stiction bench patches",),
    "lcp": ("stiction bench lcp",),
    "rigid": ("stiction bench rigid",),
    "error_control": ("stiction bench error_control",),
    "work_precision": ("stiction bench work_precision",),
}


def make_help(name: str, doc: str | None) -> str:
    """Returns the help of a command from its docstring, with its examples before the exit codes."""
    paragraphs = [" ".join(part.split()) for part in inspect.cleandoc(doc or "").split("\n\n")]
    if lines := EXAMPLES.get(name):
        text = "\n".join(
            ("Examples:" if len(lines) > 1 else "Example:", *(f"    {x}" for x in lines))
        )
        is_last = paragraphs[-1].startswith("Exit codes")
        paragraphs.insert(len(paragraphs) - is_last, text)
    return "\n\n".join(paragraphs)
