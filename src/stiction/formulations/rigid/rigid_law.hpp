#pragma once

#include <memory>

#include "stiction/formulations/rigid/reduced_problem.hpp"
#include "stiction/numerics/lcp.hpp"

namespace stiction::numerics {
enum class LcpSolver;
}  // namespace stiction::numerics

namespace stiction::formulations {

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
