"""The multi-block grasp of [drumwright2015]: cubes in a row, held by friction between two grippers.

The grippers press along x and have no weight; the blocks have weight. Nothing supports the row. If
friction holds, the row falls as one body with a fraction of gravity. A square face consists of two
triangles, and a corner on their common edge hits both. A side therefore has six hits, and a pair of
faces twelve.

Source: the parameters of the published script, with the signs of its tangential rows corrected.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from stiction import lcp

Vector = NDArray[np.float64]

EDGE = 0.1  # edge of a block [m]
MASS = 1.0  # mass of each body [kg]
BLOCK_INERTIA = 0.02 / 12  # [kg m^2]
GRIPPER_INERTIA = 1 / 6  # as published: the inertia of a cube of 1 m [kg m^2]
GRAVITY = 9.81  # [m/s^2]
FORCE_PER_BLOCK = 100.0  # force of each gripper per block [N]
TIME_STEP = 1e-3  # [s]

# Limits of the hits that count. The published limit of the gap is 0.1 m, which is the gap between
# every second body of the row.
LARGEST_GAP, LARGEST_OVERLAP = 0.05, 0.005  # [m]
LARGEST_EDGE = 0.15  # longest edge of a triangle that can be hit [m]
INSIDE = 1e-9  # tolerance for a corner inside a triangle, relative to the edge of the face [-]

GRIPPER_1, GRIPPER_2, FIRST_BLOCK = 0, 1, 2


@dataclass(frozen=True)
class GraspCase:
    """A variant of the grasp."""

    name: str  # name in tables
    num_blocks: int = 2  # number of blocks
    # Edge of a gripper [m].
    gripper_edge: float = EDGE  # [m]
    # Pairs of bodies connected by a slide joint along x; they do not collide.
    joints: tuple[tuple[int, int], ...] = ((GRIPPER_1, GRIPPER_2),)

    @property
    def num_bodies(self) -> int:
        """The number of bodies."""
        return FIRST_BLOCK + self.num_blocks

    def edge(self, body: int) -> float:
        """Returns the edge of a body [m]."""
        return EDGE if body >= FIRST_BLOCK else self.gripper_edge


CANONICAL = GraspCase("gripper joint")
CASES = (
    CANONICAL,
    GraspCase("published joints", joints=((GRIPPER_1, GRIPPER_2), (GRIPPER_1, FIRST_BLOCK))),
    GraspCase("no joint", joints=()),
    GraspCase("three blocks", num_blocks=3),
)
# The grippers as published, with edges of 1 m. Their triangles are too large to be hit. With four
# blocks there are 36 contacts, too, but only between blocks, so nothing holds the row.
PUBLISHED = GraspCase("published grippers", num_blocks=4, gripper_edge=1.0)


@dataclass
class GraspState:
    """The state of n bodies in the world frame."""

    x: Vector  # centers, (n, 3) [m]
    R: Vector  # orientations, (n, 3, 3)
    v: Vector  # velocity [m/s] and angular velocity [rad/s] of each body, (6 n)

    def advance(self, time_step: float) -> None:
        """Moves all bodies with their velocities v for one time step [s]."""
        for i, twist in enumerate(self.v.reshape(-1, 6)):
            self.x[i] += time_step * twist[:3]
            self.R[i] = calc_rotation(time_step * twist[3:]) @ self.R[i]


def make_start(case: GraspCase) -> GraspState:
    """Makes the initial state: the row at rest with touching faces."""
    n = case.num_blocks
    x = np.zeros((case.num_bodies, 3))
    x[GRIPPER_1, 0], x[GRIPPER_2, 0] = (n / 2 + 0.5) * EDGE, -(n / 2 + 0.5) * EDGE
    x[FIRST_BLOCK:, 0] = (np.arange(1, n + 1) - n / 2 - 0.5) * EDGE
    return GraspState(x, np.tile(np.eye(3), (case.num_bodies, 1, 1)), np.zeros(6 * case.num_bodies))


def calc_rotation(angle: Vector) -> Vector:
    """Returns the rotation matrix of a rotation vector [rad], by Rodrigues' formula."""
    size = float(np.linalg.norm(angle))
    K = np.cross(np.eye(3), angle)  # K x = angle x x
    if size < 1e-8:
        first, second = 1.0, 0.5
    else:
        first, second = np.sin(size) / size, (1 - np.cos(size)) / size**2
    R: Vector = np.eye(3) + first * K + second * K @ K
    return R


def calc_masses(case: GraspCase) -> Vector:
    """Returns the diagonal of M, (6 n) [kg, kg m^2]. Cubes have it in every orientation."""
    inertia = np.full(case.num_bodies, BLOCK_INERTIA)
    inertia[:FIRST_BLOCK] = GRIPPER_INERTIA
    return np.column_stack([np.full((len(inertia), 3), MASS), np.tile(inertia, (3, 1)).T]).ravel()


def calc_forces(case: GraspCase, state: GraspState) -> Vector:
    """Returns weights of blocks and forces of grippers along x of gripper 1, (6 n) [N, N m]."""
    force = np.zeros((case.num_bodies, 6))
    force[FIRST_BLOCK:, 2] = -MASS * GRAVITY
    squeeze = FORCE_PER_BLOCK * case.num_blocks * state.R[GRIPPER_1][:, 0]
    force[GRIPPER_1, :3] = -squeeze
    force[GRIPPER_2, :3] = squeeze
    return force.ravel()


@dataclass
class GraspContacts:
    """The c contacts of a state."""

    bodies: list[tuple[int, int]] = field(default_factory=list)  # bodies A and B, (c, 2)
    point: list[Vector] = field(default_factory=list)  # positions, (c, 3) [m]
    normal: list[Vector] = field(default_factory=list)  # unit normals from A into B, (c, 3)
    gap: list[float] = field(default_factory=list)  # distances, (c,) [m]

    def __len__(self) -> int:
        return len(self.gap)

    def make_tangents(self) -> tuple[list[Vector], list[Vector]]:
        """Returns two unit tangents of each contact. The first is horizontal."""
        first = []
        for n in self.normal:
            t = np.cross(n, [0.0, 0.0, 1.0])
            first.append(t / np.linalg.norm(t))
        return first, [np.cross(n, t) for n, t in zip(self.normal, first, strict=True)]


def find_contacts(case: GraspCase, state: GraspState) -> GraspContacts:
    """Finds the contacts: hits of one body's corners on triangles of the other body's nearest face."""
    out = GraspContacts()
    for a, b in itertools.combinations(range(case.num_bodies), 2):
        if (a, b) in case.joints or (b, a) in case.joints:
            continue
        for face_body, corner_body in ((a, b), (b, a)):
            _add_hits(case, state, face_body, corner_body, out)
    return out


def _add_hits(
    case: GraspCase, state: GraspState, face_body: int, corner_body: int, out: GraspContacts
) -> None:
    edge = case.edge(face_body)
    if edge * np.sqrt(2) > LARGEST_EDGE:
        return
    R, center = state.R[face_body], state.x[face_body]
    toward = R.T @ (state.x[corner_body] - center)
    axis = int(np.argmax(np.abs(toward)))
    sign = 1.0 if toward[axis] > 0 else -1.0
    s, t = (k for k in range(3) if k != axis)
    half = 0.5 * case.edge(corner_body)
    for corner in itertools.product((-half, half), repeat=3):
        point = state.x[corner_body] + state.R[corner_body] @ np.array(corner)
        local = R.T @ (point - center)
        gap = sign * local[axis] - 0.5 * edge
        if not -LARGEST_OVERLAP < gap < LARGEST_GAP:
            continue
        # One triangle of the face is above its diagonal, and the other is below.
        u, w = local[s] / edge + 0.5, local[t] / edge + 0.5
        if min(u, w, 1 - u, 1 - w) < -INSIDE:
            continue
        for above in (u + w - 1, 1 - u - w) if sign > 0 else (u - w, w - u):
            if above < -INSIDE:
                continue
            out.bodies.append((face_body, corner_body))
            out.point.append(point)
            out.normal.append(sign * R[:, axis])
            out.gap.append(float(gap))


def make_rows(
    case: GraspCase, state: GraspState, contacts: GraspContacts, directions: list[Vector]
) -> Vector:
    """Returns the Jacobian of the velocities of B relative to A in given directions, (c, 6 n)."""
    rows = np.zeros((len(contacts), 6 * case.num_bodies))
    for i, (a, b) in enumerate(contacts.bodies):
        rows[i] = make_row(case, state, a, b, contacts.point[i], directions[i])
    return rows


def make_row(
    case: GraspCase, state: GraspState, a: int, b: int, point: Vector, direction: Vector
) -> Vector:
    """Returns the Jacobian of the velocity of b relative to a at a point in a direction, (6 n)."""
    row = np.zeros((case.num_bodies, 6))
    row[a] = -np.concatenate([direction, np.cross(point - state.x[a], direction)])
    row[b] = np.concatenate([direction, np.cross(point - state.x[b], direction)])
    return row.ravel()


def make_joint_rows(case: GraspCase, state: GraspState) -> Vector:
    """Returns the Jacobian, (5 num_joints, 6 n), of joints that slide along x of their first body."""
    rows = []
    for a, b in case.joints:
        anchor = 0.5 * (state.x[a] + state.x[b])
        for k in (1, 2):
            rows.append(make_row(case, state, a, b, anchor, state.R[a][:, k]))
        for k in range(3):
            turn = np.zeros((case.num_bodies, 6))
            turn[a, 3 + k], turn[b, 3 + k] = -1.0, 1.0
            rows.append(turn.ravel())
    return np.array(rows).reshape(-1, 6 * case.num_bodies)


# ---- The step as an LCP: without slip, or with Coulomb friction by Stewart and Trinkle -----------

# Velocities are whitened, y = sqrt(M) v, so that equality constraints are orthogonal projections. The
# rows of the no-slip and joint constraints span a space. Its complement contains y and the projected
# rows of the normals, which make the LCP.
#
# Source: [drumwright2015], eqs. (45)-(50); [stewart1996]. M is diagonal here.

NUM_DIRECTIONS = 4  # directions of the friction polygon of a contact, closed under negation


@dataclass(frozen=True)
class GraspLcp:
    """The LCP of a step with c contacts and n bodies, in factors."""

    N: Vector  # projected rows of the normals, (c, 6 n) [kg^-1/2]
    u_hat: Vector  # whitened velocity without normal impulses, (6 n) [kg^1/2 m/s]
    rank: int  # rank of the equality constraints, which u_hat satisfies


def calc_free_velocity(case: GraspCase, state: GraspState) -> Vector:
    """Returns the velocity without constraints, v + h M^-1 f, (6 n)."""
    return state.v + TIME_STEP * calc_forces(case, state) / calc_masses(case)


def make_no_slip_lcp(case: GraspCase, state: GraspState, contacts: GraspContacts) -> GraspLcp:
    """Makes the LCP of the normal impulses, with joints and all tangents as equality constraints."""
    first, second = contacts.make_tangents()
    joints = make_joint_rows(case, state)
    equalities = [
        joints,
        make_rows(case, state, contacts, first),
        make_rows(case, state, contacts, second),
    ]
    return _project(case, state, contacts, np.vstack(equalities), len(joints))


def _project(
    case: GraspCase, state: GraspState, contacts: GraspContacts, equalities: Vector, num_first: int
) -> GraspLcp:
    """Projects normals and free velocity off the constraints. The first num_first have priority."""
    root = np.sqrt(calc_masses(case))
    basis: Vector = lcp.select_rows(equalities / root, num_first=num_first).basis

    def remove(y: Vector) -> Vector:
        return np.asarray(y - (y @ basis.T) @ basis)

    N = make_rows(case, state, contacts, contacts.normal) / root
    return GraspLcp(remove(N), remove(root * calc_free_velocity(case, state)), len(basis))


@dataclass(frozen=True)
class CoulombLcp:
    """The LCP of Stewart and Trinkle for c contacts and n bodies."""

    # Q, r: matrix and vector, (6 c, 6 c) and (6 c). The unknowns are the normal impulses, the
    # impulses along four tangents per contact, and the slip speeds.
    Q: Vector
    r: Vector
    G: Vector  # projected rows of the impulses, (5 c, 6 n) [kg^-1/2]
    u_hat: Vector  # as in GraspLcp


def make_coulomb_lcp(
    case: GraspCase, state: GraspState, contacts: GraspContacts, friction: float
) -> CoulombLcp:
    """Makes the LCP with a friction polygon of four directions and one friction coefficient [-]."""
    root = np.sqrt(calc_masses(case))
    joints = make_joint_rows(case, state)
    frictionless = _project(case, state, contacts, joints, len(joints))
    basis = lcp.select_rows(joints / root, num_first=len(joints)).basis
    first, second = contacts.make_tangents()
    c = len(contacts)
    S = make_rows(case, state, contacts, first) / root
    T = make_rows(case, state, contacts, second) / root
    # The directions of a contact are t1, t2, -t1, -t2.
    D = np.stack([S, T, -S, -T], axis=1).reshape(NUM_DIRECTIONS * c, len(root))
    D = D - (D @ basis.T) @ basis
    G = np.vstack([frictionless.N, D])
    E = np.kron(np.eye(c), np.ones((NUM_DIRECTIONS, 1)))
    size = c * (NUM_DIRECTIONS + 2)
    Q = np.zeros((size, size))
    Q[: len(G), : len(G)] = G @ G.T
    Q[c : len(G), len(G) :] = E
    Q[len(G) :, :c] = friction * np.eye(c)
    Q[len(G) :, c : len(G)] = -E.T
    r = np.concatenate([G @ frictionless.u_hat, np.zeros(c)])
    return CoulombLcp(Q, r, G, frictionless.u_hat)


def to_velocity(case: GraspCase, u: Vector) -> Vector:
    """Returns the velocity v of a whitened velocity, (6 n)."""
    return u / np.sqrt(calc_masses(case))
