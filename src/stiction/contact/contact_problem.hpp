#pragma once

#include <array>
#include <limits>
#include <span>
#include <vector>

/// The contact problem of one time step, as data: what a caller assembles and every contact model
/// reads. No type of any other library appears here.
///
///     min_v  1/2 (v - v*)^T A (v - v*) + sum_i l_i(J_i v + b_i)
///
/// Source: [castro2023] eqs. (2)-(4). SI units; impulses in N s.
namespace stiction::contact {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// How one kinematic tree moves one body pair. The pair's motion is a spatial velocity V = [w; v]:
/// the angular velocity of body B relative to A, and the velocity of B's material at the pair's
/// origin relative to A's, both in the world frame. V is the sum over the pair's segments.
struct Segment {
  int tree = -1;
  /// True if the tree is one rigid body with velocities [w_W; v_P] at a point P. Its Jacobian is
  /// then sign [I 0; -[offset]x I] and needs no columns.
  bool is_rigid_body = false;
  double sign = 1;                      // +1 for body B, -1 for body A; rigid bodies only
  std::array<double, 3> offset{};       // from P to the pair's origin, world frame [m]
  int first_column = 0;                 // into ContactProblem::column_dof and columns
  int num_columns = 0;
};

/// Two bodies in contact. Their contacts are contiguous.
struct BodyPair {
  std::array<double, 3> origin{};       // where V is measured, world frame [m]
  int first_segment = 0;
  int num_segments = 0;                 // 1 (one side fixed, or both in one tree) or 2
  int first_contact = 0;
  int num_contacts = 0;
};

/// One contact point or pressure-field face.
struct Contact {
  /// Contact frame C in the world, columns t1, t2, n: entry (r, c) at [3 c + r]. The unit normal n
  /// points from body A into body B, so that v_n > 0 separates.
  std::array<double, 9> R_WC{};
  std::array<double, 3> offset{};       // from the pair's origin to the point, world frame [m]
  double phi0 = 0;                      // signed distance at the start of the step [m], < 0 overlaps
  double fn0 = 0;                       // elastic force at the start, k x0 with x0 = -phi0 [N]
  double stiffness = kInfinity;         // k [N/m], > 0; infinite: near-rigid, see calc_derived
  double dissipation = 0;               // Hunt-Crossley d >= 0 [s/m]
  double relaxation_time = 0;           // tau_d >= 0 of SAP's linear dissipation [s]
  /// Friction coefficients: two tangential [-], torsional [m], two rolling [m]; all >= 0.
  std::array<double, 5> friction{};
  /// Components: 1 (frictionless), 3, 4 (and torsional) or 6 (and rolling).
  int dim = 3;
  /// Prescribed surface velocity b of B relative to A in C: v_c = J v + b [m/s].
  std::array<double, 3> bias{};
  double spin_bias = 0;                 // same about the normal [rad/s]
  int source = -1;                      // the caller's index of this contact
};

/// Kinds of scalar constraint rows, each a convex function of v_r = J v.
enum class RowKind {
  kSpring,    // both directions: gamma = (target - v_r) / R. Equality constraints, implicit springs
  kLimit,     // one direction:   gamma = max(0, (target - v_r) / R)
  kFriction,  // bounded:         gamma = -bound v_r / sqrt(v_r^2 + slip_tolerance^2)
};

struct Row {
  RowKind kind = RowKind::kSpring;
  double regularization = 0;            // R > 0 [velocity unit / impulse unit]; springs and limits
  double target = 0;                    // v_hat [m/s or rad/s]; springs and limits
  double bound = 0;                     // dt times the dry friction force [N s or N m s]; friction
  double slip_tolerance = 0;            // > 0 [m/s or rad/s]; friction
  int first_column = 0;                 // into row_dof and row_columns; one entry per dof moved
  int num_columns = 0;
  int source = -1;                      // the caller's index of this row
};

/// Arrays keep their memory from step to step: clear, then fill again.
struct ContactProblem {
  double time_step = 0;                 // [s], > 0

  // Trees: dofs [dof_start[t], dof_start[t + 1]), dense symmetric blocks of A, column-major.
  std::vector<int> dof_start{0};        // num_trees + 1
  std::vector<int> block_start{0};      // of A, num_trees + 1
  std::vector<double> A;                // momentum matrix M + dt D + dt^2 K [kg, kg m^2, ...]
  std::vector<double> v0;               // velocities at the start of the step
  std::vector<double> free_impulse;     // A (v* - v0), the impulse of all forces but contact's

  std::vector<BodyPair> pairs;
  std::vector<Segment> segments;
  std::vector<int> column_dof;          // dof within the tree of each Jacobian column
  std::vector<double> columns;          // 6 per column: [w; v] per unit of the dof
  std::vector<Contact> contacts;

  std::vector<Row> rows;
  std::vector<int> row_dof;             // dof in the whole problem
  std::vector<double> row_columns;

  // Filled by calc_derived.
  std::vector<double> A_factor;         // lower Cholesky factors of the blocks of A, as A
  std::vector<double> inv_diagonal;     // 1 / L_jj, per dof
  std::vector<double> v_star;           // free-motion velocities
  std::vector<double> delassus;         // w of each contact [1/kg]
  std::vector<double> scratch;          // of calc_derived

  int num_trees() const { return static_cast<int>(dof_start.size()) - 1; }
  int num_dofs() const { return dof_start.back(); }
  int num_contacts() const { return static_cast<int>(contacts.size()); }
  int num_rows() const { return static_cast<int>(rows.size()); }
  int tree_size(int tree) const { return dof_start[tree + 1] - dof_start[tree]; }

  void clear(double dt);
  /// Adds a tree of n dofs with A, v0 and free_impulse zero; the caller fills the entries.
  /// @return its index
  int add_tree(int n);
  double* tree_matrix(int tree) { return A.data() + block_start[tree]; }
};

/// Factors A, solves A (v* - v0) = free_impulse, and estimates the Delassus size of every contact,
///
///   w_i = |W_i|_F / 3,   W_i = J_i A^-1 J_i^T  (3 x 3)          [castro2022] section V.B,
///
/// then replaces infinite stiffnesses by the near-rigid value
///
///   k = (2 pi / (beta dt))^2 / w,   fn0 = -k phi0,
///
/// the stiffest spring whose period is beta times the step. A, not M, is used in W: at rest they
/// agree, and under stiff servos A is what resists.
/// @param near_rigid_factor beta > 0 [-]
/// @return the first tree whose A is not positive definite, or -1
int calc_derived(double near_rigid_factor, ContactProblem* problem);

}  // namespace stiction::contact
