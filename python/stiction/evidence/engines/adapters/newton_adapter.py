"""Newton on the CPU: its MuJoCo Warp solver and its solver Steel."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import newton
import numpy as np
import warp

from stiction.evidence.engines.drive import State, StoppedError
from stiction.evidence.engines.mjcf import make_contact, make_mjcf
from stiction.evidence.engines.world import Vector, World


def describe_version() -> str:
    """Returns the engine's name and version."""
    parts = f"MuJoCo Warp {version('mujoco-warp')}, Warp {version('warp-lang')}"
    return f"Newton {version('newton')} ({parts})"


class NewtonAdapter:
    """A Newton solver on the CPU as an Adapter.

    Settings: `solver`, 'mujoco' or 'steel'; `options`, arguments of its constructor; and optionally
    `has_pressure_fields`, whether all shapes touch with pressure fields, which Newton computes on
    CUDA devices alone, so that it refuses them here.
    """

    def __init__(self, world: World, time_step: float, settings: dict[str, Any]) -> None:
        warp.config.quiet = True
        warp.set_device("cpu")
        self._world, self._time_step = world, time_step
        is_mujoco = settings["solver"] == "mujoco"
        builder = newton.ModelBuilder(gravity=world.gravity)
        if is_mujoco:
            newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
        contact = make_contact(world, time_step) if is_mujoco else ""
        builder.add_mjcf(make_mjcf(world, time_step, contact=contact), parse_sites=False)
        if world.surface.kind == "elastic":
            builder.shape_material_restitution[:] = [1.0] * builder.shape_count
        if settings.get("has_pressure_fields", False):
            for shape in range(builder.shape_count):
                builder.shape_flags[shape] |= int(newton.ShapeFlags.HYDROELASTIC)
        model = builder.finalize(device="cpu")
        self._model = model
        options = dict(settings.get("options", {}))
        kind = newton.solvers.SolverMuJoCo if is_mujoco else newton.solvers.SolverSteel
        self._solver = kind(model, **options)
        self._pipeline = None if is_mujoco else newton.CollisionPipeline(model)
        self._contacts = None if self._pipeline is None else self._pipeline.contacts()
        self._states = [model.state(), model.state()]
        self._control = model.control()
        self._order = self._find_order()
        self._set_start()
        self._wrench = np.zeros((model.body_count, 6), dtype=np.float32)

    def step(self, forces: Vector) -> None:
        before, after = self._states
        self._wrench[self._order, :3] = forces
        before.clear_forces()
        before.body_f.assign(self._wrench)
        try:
            if self._pipeline is not None:
                self._pipeline.collide(before, self._contacts)
            self._solver.step(before, after, self._control, self._contacts, self._time_step)
        except (RuntimeError, ValueError, NotImplementedError) as e:
            raise StoppedError(" ".join(str(e).split())[:300]) from e
        self._states.reverse()

    def read(self) -> State:
        """Returns the state. Newton's numbers are single."""
        poses = self._states[0].body_q.numpy()[self._order].astype(np.float64)
        rates = self._states[0].body_qd.numpy()[self._order].astype(np.float64)
        return poses[:, :3], np.roll(poses[:, 3:], 1, axis=1), rates[:, :3], rates[:, 3:]

    def take_messages(self) -> list[str]:
        """Returns what the solver reports about the last step."""
        overflow = getattr(self._solver, "constraint_overflow", None)
        return ["constraint_overflow"] if overflow is not None and overflow.numpy().any() else []

    def _find_order(self) -> list[int]:
        """Returns Newton's indices of the world's bodies."""
        names = [label.rsplit("/", 1)[-1] for label in self._model.body_label]
        return [names.index(body.name) for body in self._world.bodies]

    def _set_start(self) -> None:
        """Sets the velocities at the start."""
        model = self._model
        rates = np.zeros(model.joint_dof_count, dtype=np.float32)
        first_dof = model.joint_qd_start.numpy()
        children = list(model.joint_child.numpy())
        for index, body in zip(self._order, self._world.bodies, strict=True):
            dof = first_dof[children.index(index)]
            if body.joint is None:
                rates[dof : dof + 6] = (*body.velocity, *body.spin)
            else:
                rates[dof] = body.joint.velocity
        for state in self._states:
            state.joint_qd.assign(rates)
            newton.eval_fk(model, state.joint_q, state.joint_qd, state)
