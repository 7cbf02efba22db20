#pragma once

#include <vector>

#include "stiction/formulations/convex/contact_batch.hpp"
#include "stiction/formulations/convex/solver_layout.hpp"

namespace stiction::formulations {

/// A formulation that has a law of six components for torsional, rolling and unequal friction.
template <class F>
concept TakesTorsion = requires {
  typename F::Torsion;
};

/// Stands for the batch type of models without a law of six components. No object of it is made.
struct NoTorsionBatch {};

/// The type of the batches with a law of six components.
template <class F>
struct TorsionBatchOf {
  using type = NoTorsionBatch;
};
template <TakesTorsion F>
struct TorsionBatchOf<F> {
  using type = TorsionBatch<typename F::Torsion>;
};

/// Arrays with one entry per dof, in solver order.
struct DofArrays {
  std::vector<double> v, v_star;
  std::vector<double> v_low;                    // low-order part, see compensated_velocity.hpp
  std::vector<double> p_star, dv;               // A v*, and v - v* where the solve starts
  std::vector<double> dp, force;                // A (v - v*), J^T gamma
  std::vector<double> direction, dp_direction;  // d, A d
  std::vector<double> inv_diagonal;             // D^2 = diag(A)^-1

  void resize(int n) {
    for (auto* array :
         {&v, &v_star, &v_low, &p_star, &dv, &dp, &force, &direction, &dp_direction, &inv_diagonal})
      array->resize(n);
  }
};

/// The arrays of all islands. ConvexSolver fills them once per step, and each IslandProblem works
/// on its slices.
template <ConvexFormulation F>
struct SolverArrays {
  SolverLayout layout;
  DofArrays dofs;
  std::vector<ContactBatch<F>> batches;
  std::vector<typename TorsionBatchOf<F>::type> torsion_batches;
};

}  // namespace stiction::formulations
