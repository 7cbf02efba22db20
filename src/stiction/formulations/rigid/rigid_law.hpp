#pragma once

#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "stiction/math/scalar_functions.hpp"
#include "stiction/numerics/lcp.hpp"

namespace stiction::numerics {
enum class LcpSolver;
}  // namespace stiction::numerics

namespace stiction::formulations {

/// A unit tangent of a contact in its frame, cos t1 + sin t2.
struct FrictionDirection {
  double cos = 1, sin = 0;
};

/// Returns the direction at an angle from t1 [rad], exact along axes.
inline FrictionDirection make_friction_direction(double angle) {
  constexpr double kRoundOff = 1e-15;  // cos(pi / 2) is 6e-17, cos(3 pi / 2) is 2e-16
  const auto clear = [](double x) { return std::abs(x) < kRoundOff ? 0 : x; };
  return {.cos = clear(math::cos(angle)), .sin = clear(math::sin(angle))};
}

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

/// The law of a rigid model, which computes the impulses of a reduced problem. Keeps its memory.
class RigidLaw {
 public:
  virtual ~RigidLaw() = default;

  /// Solves a reduced problem.
  /// @param out the solution, or after a failure the best point found
  /// @return status, pivots and residual; `row` is the unilateral row at fault, -1: not known
  virtual numerics::LcpReport solve(const ReducedProblem& problem, ReducedSolution* out) = 0;
};

/// Makes the law without friction, which solves for unilateral impulses by an LCP solver.
std::unique_ptr<RigidLaw> make_frictionless_law(numerics::LcpSolver solver);

/// Makes the law of friction polygons.
/// @param num_directions k, the corners of a polygon, even, >= 4
std::unique_ptr<RigidLaw> make_friction_polygon_law(int num_directions);

/// Makes the law of least kinetic energy.
/// @param num_directions k, twice the half-planes that bound friction in a quadrant, even, >= 4
std::unique_ptr<RigidLaw> make_least_energy_law(int num_directions);

/// Makes the law of circular friction cones.
std::unique_ptr<RigidLaw> make_friction_cone_law();

}  // namespace stiction::formulations
