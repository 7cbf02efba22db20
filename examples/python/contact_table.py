"""Reads the contacts of a step as one table, and adds the forces on each body.

Usage: python examples/python/contact_table.py [--out FILE.csv]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import stiction
from stiction.inputs.package_scenes import find_scene_file


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, help="file for the table")
    out = parser.parse_args().out

    scene = stiction.load_scene(find_scene_file("quadruped"))
    data, simulator = scene.make_data(), scene.make_simulator()
    report = simulator.step(data, nstep=500)

    # A structured array with a row for each contact point and patch, in SI units.
    table = report.table()
    print(f"{len(table)} contacts with the columns {', '.join(table.dtype.names)}")

    force = np.zeros((scene.model.nbody, 3))
    np.add.at(force, table["bodies"][:, 1], table["force"])
    np.subtract.at(force, table["bodies"][:, 0], table["force"])
    for body in np.flatnonzero(np.linalg.norm(force, axis=1) > 1e-9):
        print(f"{scene.model.body(body).name:>12}: {np.round(force[body], 3)} N")
    weight = scene.model.body_mass.sum() * 9.81
    print(f"the floor carries {-force[0, 2]:.3f} N, the weight is {weight:.3f} N")

    if out is not None:
        rows = np.column_stack([table["geoms"], table["position"], table["force"]])
        np.savetxt(out, rows, delimiter=",", header="geom1,geom2,x,y,z,fx,fy,fz", comments="")


if __name__ == "__main__":
    main()
