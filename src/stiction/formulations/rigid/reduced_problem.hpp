#pragma once

#include <span>
#include <vector>

namespace stiction::formulations {

/// The problem that a model's law solves, after the bilateral constraints are eliminated, in
/// coordinates y = L^T v with A = L L^T. All rows are projected on the null space of the
/// constraints, and u_hat satisfies them: impulses x move the island to u = u_hat + rows^T x.
/// Source: [theory:projection].
struct ReducedProblem {
  int num_columns = 0;                     // n
  int num_contacts = 0;                    // contacts come first among the unilateral rows,
  int num_unilateral = 0;                  // limits after them
  std::span<const double> N;               // unilateral rows, num_unilateral x n, row-major
  std::span<const double> b_n;             // num_unilateral [m/s, rad/s]; velocities N u + b_n
  std::span<const double> T;               // tangents, 2 num_contacts x n; empty without friction
  std::span<const double> b_t;             // 2 num_contacts [m/s]
  std::span<const double> F;               // rows of dry joints, dry_bounds.size() x n
  std::span<const double> b_f;             // dry_bounds.size() [m/s, rad/s]
  std::span<const double> dry_bounds;      // of the impulses of dry joints, >= 0 [N s, N m s]
  std::span<const double> dry_compliance;  // dry_bounds.size() [1/kg, 1/(kg m^2)], 0 under models
                                           // whose law has friction
  std::span<const double> mu;              // friction coefficients, num_contacts [-]
  std::span<const double> nu;              // dt times viscous friction, num_contacts [N s^2/m]
  std::span<const double> slip0;           // slip speeds when the step starts, num_contacts [m/s]
  std::span<const double> u_hat;           // n [sqrt(J)]
  std::span<const int> guess;              // unilateral rows that may be active
  double accepted_residual = 0;            // of an unsolved problem that counts as solved [m/s]
};

/// Impulses along the rows of a reduced problem.
struct RigidImpulses {
  std::vector<double> unilateral;  // size num_unilateral [N s, N m s]
  std::vector<double> tangents;    // size 2 num_contacts, empty without friction [N s]
  std::vector<double> dry;         // size dry_bounds.size() [N s, N m s]
};

/// The solution of a reduced problem.
struct ReducedSolution {
  RigidImpulses impulses;
  std::vector<double> u;    // u_hat + rows^T impulses, size n [sqrt(J)]
  std::vector<int> active;  // unilateral rows in the active set: a guess for the next problem
};

}  // namespace stiction::formulations
