#include "stiction/formulations/rigid/island_memory.hpp"

#include <algorithm>

#include "stiction/base/assert.hpp"
#include "stiction/formulations/rigid/rigid_terms.hpp"
#include "stiction/formulations/rigid/rigid_tolerances.hpp"
#include "stiction/numerics/lcp_solvers.hpp"

namespace stiction::formulations {
namespace {

using contact::ContactModelTraits;
using contact::ContactProblem;
using contact::ModelParameters;
using contact::RowKind;
using contact::TangentPolicy;

/// The numbers of things in an island, as doubles, because their products may be large.
struct IslandSize {
  double dofs = 0, pairs = 0, contacts = 0;
  double limits = 0, equalities = 0, springs = 0, dry_joints = 0;

  double num_unilateral() const { return contacts + limits; }
};

IslandSize count(const ContactProblem& problem, const contact::Islands& islands, int island) {
  IslandSize out;
  for (const int block : islands.blocks(island)) out.dofs += problem.block_size(block);
  for (const int pair : islands.pairs(island)) {
    ++out.pairs;
    out.contacts += problem.pairs[pair].num_contacts;
  }
  for (const int r : islands.rows(island)) switch (problem.rows[r].kind) {
      case RowKind::kLimit: ++out.limits; break;
      case RowKind::kEquality: ++out.equalities; break;
      case RowKind::kSpring: ++out.springs; break;
      case RowKind::kFriction: ++out.dry_joints; break;
    }
  return out;
}

double square(double x) { return x * x; }

/// Returns the numbers of WhitenedProblem and ProjectedProblem.
double count_rows(const IslandSize& size, TangentPolicy tangents) {
  const bool has_friction = law_has_friction(tangents);
  const bool sticks = tangents == TangentPolicy::kBilateral;
  const double tangent_rows = has_friction || sticks ? 2 * size.contacts : 0;
  const double bilateral = size.equalities + (sticks ? tangent_rows : 0);
  const double rank = std::min(bilateral, size.dofs);
  // N and F twice, T with its projection or its copy in X, E with its copy in X, the basis, and
  // the spins of pairs.
  const double rows = 2 * (size.num_unilateral() + size.dry_joints + tangent_rows) +
                      2 * size.equalities + rank + (has_friction ? 0 : 3 * size.pairs);
  // Both forms of the factor of the basis.
  double numbers = rows * size.dofs + 2 * square(rank);
  // The matrix and the Gram matrix of ImpulseSpreading.
  if (sticks) numbers += tangent_rows * rank + square(rank);
  return numbers;
}

/// Returns the numbers of the envelope of A.
double count_envelope(const IslandSize& size, TangentPolicy tangents) {
  // Springs and viscous contacts couple any two bodies, and equalities do so where they are
  // relaxed.
  const bool is_wide =
      size.springs > 0 || size.equalities > 0 || tangents == TangentPolicy::kViscous;
  return is_wide ? 0.5 * square(size.dofs) : 0;
}

/// Returns the numbers of a law that solves a dense problem with this many unknowns.
double count_dense_law(double num_unknowns, const IslandSize& size) {
  // The matrix, the tableau, and as much for the fallback of least energy; the rows; frictionless
  // pivoting, which starts the search for the least energy.
  const double dense = std::min<double>(num_unknowns, kMaxDenseSize);
  return 4 * square(dense) + dense * size.dofs +
         0.5 * square(std::min(size.num_unilateral(), size.dofs));
}

double count_law(const IslandSize& size, TangentPolicy tangents,
                 const ModelParameters& parameters) {
  const double k = parameters.friction_directions;
  switch (tangents) {
    case TangentPolicy::kFrictionPolygon:
      return count_dense_law(size.num_unilateral() + (k + 1) * size.contacts + 3 * size.dry_joints,
                             size);
    case TangentPolicy::kLeastEnergy:
      return count_dense_law(
          2 * size.num_unilateral() + (4 + 0.5 * k) * size.contacts + 3 * size.dry_joints + 1,
          size);
    // The rows as blocks with their columns, which are full after a projection; L and U.
    case TangentPolicy::kFrictionCone:
      return (size.equalities > 0 ? 3.5 * size.contacts + 1.5 * size.limits : 0) * size.dofs +
             square(size.dofs);
    case TangentPolicy::kBilateral:
    case TangentPolicy::kViscous:
    case TangentPolicy::kNone: break;
  }
  const double num_rows = size.num_unilateral() + size.dry_joints;
  const double copy = size.dry_joints > 0 ? num_rows * size.dofs : 0;
  return copy +
         numerics::count_workspace(parameters.lcp_solver, num_rows, size.dofs, size.dry_joints);
}

}  // namespace

double calc_island_memory(const ContactProblem& problem, const contact::Islands& islands,
                          int island, const ContactModelTraits& traits,
                          const ModelParameters& parameters) {
  STICTION_ASSERT(traits.is_rigid);
  const IslandSize size = count(problem, islands, island);
  const double rows = count_rows(size, traits.tangents);
  // ConflictFallbacks has a second problem in which equalities are springs.
  const double numbers = (size.equalities > 0 ? 2 : 1) * rows +
                         count_envelope(size, traits.tangents) +
                         count_law(size, traits.tangents, parameters);
  return sizeof(double) * numbers;
}

}  // namespace stiction::formulations
