#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stiction/base/assert.hpp"
#include "stiction/contact/law_data.hpp"

/// The contact problem of one time step, as plain data. A caller assembles it, and every contact
/// model reads it. It uses no type of another library.
///
///     min_v  1/2 (v - v*)^T A (v - v*) + sum_i l_i(J_i v + b_i)
///
/// Source: [castro2023] eqs. (2)-(4); [theory:convex-problem]. SI units; impulses in N s.
namespace stiction::contact {

/// The contribution of one block of dofs to the motion of one body pair. The motion of a pair is a
/// spatial velocity V = [w; v]: the angular velocity of body B relative to A, and the velocity of
/// B's material at the pair's origin relative to A's, both in the world frame. V is the sum over
/// the pair's segments.
struct Segment {
  int block = -1;
  /// True if the block is one free rigid body with velocities [w_W; v_P] at a point P. The Jacobian
  /// of such a segment is sign [I 0; -[offset]x I] and needs no columns.
  bool is_rigid_body = false;
  double sign = 1;                 // +1 for body B, -1 for body A; rigid bodies only
  std::array<double, 3> offset{};  // from P to the pair's origin, world frame [m]
  int first_column = 0;            // index into ContactProblem::column_dof and columns
  int num_columns = 0;
};

/// Two bodies in contact. Their contacts are contiguous in ContactProblem::contacts.
struct BodyPair {
  std::array<double, 3> origin{};  // point at which V is measured, world frame [m]
  /// The contacts act at surface points of both bodies that are apart at the start of the step: on
  /// A at their point minus this, on B at their point plus this [m].
  std::array<double, 3> half_gap{};
  int first_segment = 0;
  int num_segments = 0;  // >= 1, each with a different block
  int first_contact = 0;
  int num_contacts = 0;
  /// The masses that a contact feels at most on body A and on body B [kg], > 0. A body that no dof
  /// moves has an infinite one. They limit near-rigid stiffness, see MomentumFactor::calc_derived,
  /// and the energy of a step. Infinite masses of both bodies are no limit.
  std::array<double, 2> masses = {kInfinity, kInfinity};
  /// The largest mass that may rest on the pair [kg], >= 0, see set_pair_loads; stiffens light
  /// ones.
  double load = 0;
  /// The mass with which the bodies resist a contact at most, m_A m_B / (m_A + m_B) [kg].
  double reduced_mass() const { return 1 / (1 / masses[0] + 1 / masses[1]); }
};

/// One contact point, of two shapes or of a pressure-field face.
struct Contact {
  // The convex solver loads four numbers at a time, so the order of the first 24 matters.
  /// Orientation of the contact frame C in the world, with columns t1, t2, n: entry (r, c) is at
  /// [3 c + r]. The unit normal n points from body A into body B, so v_n > 0 separates them.
  std::array<double, 9> R_WC{};
  std::array<double, 3> offset{};  // from the pair's origin to the point, world frame [m]
  /// Prescribed surface velocity b of B relative to A in C: v_c = J v + b [m/s].
  std::array<double, 3> bias{};
  double spin_bias = 0;  // prescribed angular velocity about the normal [rad/s]
  double fn0 = 0;        // elastic force at the start of the step, k x0 with x0 = -phi0 [N]
  double phi0 = 0;       // signed distance at the start of the step [m], < 0 if bodies overlap
  /// Physical properties. MomentumFactor::calc_derived makes infinite stiffnesses finite.
  ContactLawData<double> law = {.stiffness = kInfinity,
                                .hertz_stiffness = kInfinity,
                                .barrier_stiffness = kInfinity,
                                .barrier_thickness = 1e-3};
  /// Friction coefficients: two tangential [-], torsional [m], two rolling [m]; all >= 0.
  std::array<double, 5> friction{};
  /// Number of components: 1 (frictionless), 3 (sliding), 4 (and torsion) or 6 (and rolling).
  int dim = 3;
  /// Radius at which a turn counts as a slip, that of the smaller shape's bounding ball, see
  /// calc_slip_scale [m]; 0: unknown.
  double rim_radius = 0;
  /// Mobility of the rim as the contact turns, relative to that of a slip, at most 1 [-].
  /// MomentumFactor::calc_derived sets it if the size is known.
  double rim_mobility = 1;
  bool limits_stiffness = false;  // a given stiffness is at most the near-rigid one
  int source = -1;                // the caller's index of this contact
  int face = -1;         // index of a face of the contact surface `source`; -1: a point contact
  std::uint64_t id = 0;  // identifies the contact in the next step, for warm starts; 0: unknown

  /// The friction coefficient of models that have only one [-]: the mean of both tangential ones.
  double sliding_friction() const { return dim > 1 ? 0.5 * (friction[0] + friction[1]) : 0; }
};

/// The tangential spring of a contact under the friction law `elastic`. It carries friction while
/// the contact sticks. With the slip v_t and the arc velocity s, the spring's trial impulse at the
/// end of the step is
///
///     y = p + a (v_t + s),   a = dt (dt k_t + c),   p = dt k_t u,
///
/// and friction is -y, cut at its bound. Source: [theory:anchors].
struct Anchor {
  /// The stretch u at the start of the step: two tangential [m], torsion and two rolling [rad].
  std::array<double, 5> stretch{};
  /// The tangential velocity that the arcs of the bodies add to v_t over the step [m/s]; the spring
  /// sees the sum of both.
  std::array<double, 2> arc_velocity{};
  double stiffness = 0;  // k_t >= 0, of the tangential components [N/m]
  double damping = 0;    // c >= 0 [N s/m]
};

/// Kinds of scalar constraint rows. Each has a convex cost in v_r = J v + b.
enum class RowKind {
  kEquality,   // acts in both directions: gamma = (target - v_r) / R
  kLimit,      // acts in one direction:   gamma = max(0, (target - v_r) / R)
  kFriction,   // has a bounded impulse:   gamma = -bound v_r / sqrt(v_r^2 + slip_tolerance^2);
               // rigid models: -bound clamp(v_r / slip_tolerance, -1, 1), see calc_dry_compliance
  kSpring,     // has the impulse of kEquality, clamped to impulse_range, but is a force of the
               // caller and not a constraint: an implicit spring or damper that does not fit the
               // blocks of A, or whose force is limited
  kDrySpring,  // has the impulse of kSpring, but is a constraint: dry friction under `elastic`
};

/// A scalar constraint row: a joint limit, a component of an equality, a joint's dry friction.
struct Row {
  RowKind kind = RowKind::kEquality;
  double regularization = 0;  // R > 0 [velocity unit / impulse unit]; all kinds except kFriction
  double target = 0;          // v_hat [m/s or rad/s]; all kinds except kFriction
  double bound = 0;           // dt times the dry friction force [N s or N m s]; of dry friction
  double slip_tolerance = 0;  // > 0 [m/s or rad/s]; only kFriction
  double bias = 0;            // prescribed velocity b of the row: v_r = J v + b [m/s or rad/s]
  /// Smallest and largest impulse, <= 0 and >= 0 [N s, N m s]; of springs, infinite if rigid.
  std::array<double, 2> impulse_range = {-kInfinity, kInfinity};
  int first_column = 0;  // index into row_dof and row_columns; one entry per dof
  int num_columns = 0;
  int source = -1;  // the caller's index of this row, or -1
  /// The constraint's position at the start of the step [m or rad], which only rigid models read.
  /// An equality keeps it at 0, and a limit keeps it at or above 0. The stretch of a kDrySpring.
  double position = 0;
  double stiffness = 0;  // k [N/m or N m/rad]; only kDrySpring, for its energy
  /// The norm of the error of an equality of several rows, of which `position` is a component [m or
  /// rad]; 0: |position|. Limits corrections whatever the axes.
  double error_norm = 0;
  /// The mobility of an equality in a usual pose [1/kg, 1/(kg m^2)]; 0: unknown. Rigid models limit
  /// by it the speed of bodies in a nearly singular pose.
  double usual_mobility = 0;
};

/// True if the impulse of a row is that of a spring and damper, clamped to impulse_range.
inline bool is_spring(const Row& row) {
  return row.kind == RowKind::kSpring || row.kind == RowKind::kDrySpring;
}

/// Returns the creep of a dry joint that sticks under a rigid model, per impulse: slip_tolerance /
/// bound, or 0 for a bound of 0 [1/kg, 1/(kg m^2)].
inline double calc_dry_compliance(const Row& row) {
  return row.bound > 0 ? row.slip_tolerance / row.bound : 0;
}

/// A symmetric pair of off-diagonal blocks of A, between two blocks of one kinematic tree.
struct Coupling {
  int row_block = 0;
  int column_block = 0;
  int start = 0;  // index into ContactProblem::A, column-major
};

/// The arrays of a contact problem. They keep their memory from step to step: call clear, then fill
/// them again.
///
/// A is block-sparse. A block is a set of dofs that move together in most Jacobians: a free body,
/// or an unbranched chain of joints. Two blocks of one kinematic tree are coupled if one is an
/// ancestor of the other. The simplest caller makes each tree one dense block without couplings.
struct ContactProblem {
  double time_step = 0;  // [s], > 0

  std::vector<int> dof_start{0};            // block b has dofs [dof_start[b], dof_start[b + 1])
  std::vector<std::uint8_t> is_rigid_body;  // 1 if the block is one free body without columns
  std::vector<int> diagonal_start;          // start of each diagonal block in A, column-major
  std::vector<Coupling> couplings;
  std::vector<double> A;  // momentum matrix M + dt D + dt^2 K [kg, kg m^2, ...]
  /// The diagonal of M, one entry per dof [kg, kg m^2, ...]. Dampers and springs in A hold bodies
  /// but have no kinetic energy, so this tells how much energy a motion has. Empty: A = M.
  std::vector<double> inertia;
  std::vector<double> v0;            // velocities at the start of the step
  std::vector<double> free_impulse;  // A (v* - v0), the impulse of all forces except constraints

  std::vector<BodyPair> pairs;
  std::vector<Segment> segments;
  std::vector<int> column_dof;  // dof within the block of each Jacobian column
  std::vector<double> columns;  // 6 per column: [w; v] per unit velocity of the dof
  std::vector<Contact> contacts;
  /// Initial guess of the normal impulses for `coulomb`, >= 0 [N s], one per contact or empty. A
  /// contact without a guess starts from the normal impulse of the state at the start of the step.
  std::vector<std::optional<double>> normal_guess;
  /// The normal impulses that bound the friction of the lagged models, >= 0 [N s], one per contact
  /// or empty. They are those of the last step; see [theory:lagged]. A contact without one, which
  /// is new, takes the normal impulse of the state at the start of the step.
  std::vector<std::optional<double>> lagged_impulse;
  /// The tangential springs of the friction law `elastic`, one per contact. Empty under other laws.
  std::vector<Anchor> anchors;

  std::vector<Row> rows;
  std::vector<int> row_dof;  // dof in the whole problem
  std::vector<double> row_columns;

  // Filled by MomentumFactor::calc_derived.
  std::vector<double> v_star;    // free-motion velocities
  std::vector<double> delassus;  // mobility w of each contact [1/kg]

  std::optional<double> find_lagged_impulse(int contact) const {
    return lagged_impulse.empty() ? std::nullopt : lagged_impulse[contact];
  }
  int num_blocks() const { return static_cast<int>(dof_start.size()) - 1; }
  int num_dofs() const { return dof_start.back(); }
  int num_contacts() const { return static_cast<int>(contacts.size()); }
  int num_rows() const { return static_cast<int>(rows.size()); }
  int block_size(int block) const {
    STICTION_ASSERT(0 <= block && block < num_blocks());
    return dof_start[block + 1] - dof_start[block];
  }

  /// Removes everything and sets the time step [s].
  void clear(double dt);
  /// Adds a block of n dofs. Its entries of A, v0 and free_impulse are 0 until the caller fills
  /// them.
  /// @return the block's index
  int add_block(int n);
  /// Adds the block of a free body, with the six velocities [w; v]. Segments on it have no columns.
  /// @return the block's index
  int add_rigid_body();
  /// Adds an off-diagonal block of zeros to A.
  /// @return its index in couplings
  int add_coupling(int row_block, int column_block);
  /// Returns the diagonal block of A that belongs to a block of dofs, column-major.
  double* diagonal(int block) {
    STICTION_ASSERT(0 <= block && block < num_blocks());
    return A.data() + diagonal_start[block];
  }
  const double* diagonal(int block) const {
    STICTION_ASSERT(0 <= block && block < num_blocks());
    return A.data() + diagonal_start[block];
  }
};

/// Checks all requirements of ContactProblem: sizes, indices, contiguous contacts, orthonormal
/// frames, and numbers that are finite and in range. Solvers do not check their input, so a wrong
/// index is undefined behaviour. Call this function in tests, and while you connect an engine.
/// It reads the whole problem once and allocates only if it finds a fault.
/// @throws Error for the first fault, with the array, the index, the value and the requirement
void validate(const ContactProblem& problem);

/// Returns the first fault in sizes and indices, or an empty text. Does not check numbers.
std::string find_index_fault(const ContactProblem& problem);

/// Returns the two bodies of a contact.
inline const BodyPair& find_body_pair(const ContactProblem& problem, int contact) {
  return *std::prev(std::ranges::upper_bound(problem.pairs, contact, {}, &BodyPair::first_contact));
}

}  // namespace stiction::contact
