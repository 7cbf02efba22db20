#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "stiction/base/assert.hpp"
#include "stiction/contact/law_data.hpp"

/// The contact problem of one time step, as data: what a caller assembles and every contact model
/// reads. No type of any other library appears here.
///
///     min_v  1/2 (v - v*)^T A (v - v*) + sum_i l_i(J_i v + b_i)
///
/// Source: [castro2023] eqs. (2)-(4); [theory:convex-problem]. SI units; impulses in N s.
namespace stiction::contact {

/// How one block of dofs moves one body pair. The pair's motion is a spatial velocity V = [w; v]:
/// the angular velocity of body B relative to A, and the velocity of B's material at the pair's
/// origin relative to A's, both in the world frame. V is the sum over the pair's segments.
struct Segment {
  int block = -1;
  /// True if the block is one free rigid body with velocities [w_W; v_P] at a point P. Its Jacobian
  /// is then sign [I 0; -[offset]x I] and needs no columns.
  bool is_rigid_body = false;
  double sign = 1;                 // +1 for body B, -1 for body A; rigid bodies only
  std::array<double, 3> offset{};  // from P to the pair's origin, world frame [m]
  int first_column = 0;            // into ContactProblem::column_dof and columns
  int num_columns = 0;
};

/// Two bodies in contact. Their contacts are contiguous.
struct BodyPair {
  std::array<double, 3> origin{};  // where V is measured, world frame [m]
  int first_segment = 0;
  int num_segments = 0;  // >= 1, each of another block
  int first_contact = 0;
  int num_contacts = 0;
};

/// One contact point, of two shapes or of a pressure-field face.
struct Contact {
  // The solver reads four numbers at a time: the order of the first 24 matters.
  /// Contact frame C in the world, columns t1, t2, n: entry (r, c) at [3 c + r]. The unit normal n
  /// points from body A into body B, so that v_n > 0 separates.
  std::array<double, 9> R_WC{};
  std::array<double, 3> offset{};  // from the pair's origin to the point, world frame [m]
  /// Prescribed surface velocity b of B relative to A in C: v_c = J v + b [m/s].
  std::array<double, 3> bias{};
  double spin_bias = 0;  // same about the normal [rad/s]
  double fn0 = 0;        // elastic force at the start, k x0 with x0 = -phi0 [N]
  double phi0 = 0;       // signed distance at the start of the step [m], < 0 overlaps
  /// Infinite stiffnesses are made finite by MomentumFactor::calc_derived.
  ContactLawData<double> law = {.stiffness = kInfinity,
                                .hertz_stiffness = kInfinity,
                                .barrier_stiffness = kInfinity,
                                .barrier_thickness = 1e-3};
  /// Friction coefficients: two tangential [-], torsional [m], two rolling [m]; all >= 0.
  std::array<double, 5> friction{};
  /// Components: 1 (frictionless), 3, 4 (and torsional) or 6 (and rolling).
  int dim = 3;
  int source = -1;       // the caller's index of this contact
  int face = -1;         // of the contact surface `source`; -1: a point contact
  std::uint64_t id = 0;  // the same contact in the next step, for warm starts; 0: unknown

  /// For models with one coefficient [-]: the mean of both tangents'.
  double sliding_friction() const { return dim > 1 ? 0.5 * (friction[0] + friction[1]) : 0; }
};

/// Kinds of scalar constraint rows, each a convex function of v_r = J v.
enum class RowKind {
  kEquality,  // both directions: gamma = (target - v_r) / R
  kLimit,     // one direction:   gamma = max(0, (target - v_r) / R)
  kFriction,  // bounded:         gamma = -bound v_r / sqrt(v_r^2 + slip_tolerance^2)
  kSpring,    // as kEquality, but a force of the caller's own and not a constraint: an implicit
              // spring or damper that does not fit the blocks of A
};

struct Row {
  RowKind kind = RowKind::kEquality;
  double regularization = 0;  // R > 0 [velocity unit / impulse unit]; all but friction
  double target = 0;          // v_hat [m/s or rad/s]; all but friction
  double bound = 0;           // dt times the dry friction force [N s or N m s]; friction
  double slip_tolerance = 0;  // > 0 [m/s or rad/s]; friction
  int first_column = 0;       // into row_dof and row_columns; one entry per dof moved
  int num_columns = 0;
  int source = -1;  // the caller's index of this row; -1: none
  /// Of rigid models: the constraint's value at the start of the step, which an equality holds at
  /// 0 and a limit at no less [m or rad].
  double position = 0;
};

/// A symmetric pair of off-diagonal blocks of A, between blocks of one kinematic tree.
struct Coupling {
  int row_block = 0;
  int column_block = 0;
  int start = 0;  // into ContactProblem::A, column-major
};

/// Arrays keep their memory from step to step: clear, then fill again.
///
/// A is block-sparse. A block is a set of dofs that move together in most Jacobians: a free body,
/// or an unbranched chain of joints. Blocks of one kinematic tree are coupled where one is the
/// other's ancestor. The simplest caller makes each tree one dense block and has no couplings.
struct ContactProblem {
  double time_step = 0;  // [s], > 0

  std::vector<int> dof_start{0};            // block b has dofs [dof_start[b], dof_start[b + 1])
  std::vector<std::uint8_t> is_rigid_body;  // of a block: one free body, which no columns move
  std::vector<int> diagonal_start;          // of the block's diagonal block in A, column-major
  std::vector<Coupling> couplings;
  std::vector<double> A;             // momentum matrix M + dt D + dt^2 K [kg, kg m^2, ...]
  std::vector<double> v0;            // velocities at the start of the step
  std::vector<double> free_impulse;  // A (v* - v0), the impulse of all forces but contact's

  std::vector<BodyPair> pairs;
  std::vector<Segment> segments;
  std::vector<int> column_dof;  // dof within the block of each Jacobian column
  std::vector<double> columns;  // 6 per column: [w; v] per unit of the dof
  std::vector<Contact> contacts;
  /// Normal impulses that `coulomb` starts from [N s], one per contact; below 0, or all left out:
  /// that of the state at the start of the step.
  std::vector<double> normal_guess;

  std::vector<Row> rows;
  std::vector<int> row_dof;  // dof in the whole problem
  std::vector<double> row_columns;

  // Filled by MomentumFactor::calc_derived.
  std::vector<double> v_star;    // free-motion velocities
  std::vector<double> delassus;  // w of each contact [1/kg]

  int num_blocks() const { return static_cast<int>(dof_start.size()) - 1; }
  int num_dofs() const { return dof_start.back(); }
  int num_contacts() const { return static_cast<int>(contacts.size()); }
  int num_rows() const { return static_cast<int>(rows.size()); }
  int block_size(int block) const {
    STICTION_ASSERT(0 <= block && block < num_blocks());
    return dof_start[block + 1] - dof_start[block];
  }

  void clear(double dt);
  /// Adds a block of n dofs with A, v0 and free_impulse zero; the caller fills the entries.
  /// @return its index
  int add_block(int n);
  /// A block of a free body's [w; v]: segments on it have no columns.
  int add_rigid_body();
  /// Adds an off-diagonal block of zeros. @return its index in couplings
  int add_coupling(int row_block, int column_block);
  double* diagonal(int block) {
    STICTION_ASSERT(0 <= block && block < num_blocks());
    return A.data() + diagonal_start[block];
  }
  const double* diagonal(int block) const {
    STICTION_ASSERT(0 <= block && block < num_blocks());
    return A.data() + diagonal_start[block];
  }
};

}  // namespace stiction::contact
