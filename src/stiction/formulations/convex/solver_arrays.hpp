#pragma once

#include <vector>

#include "stiction/formulations/convex/contact_batch.hpp"
#include "stiction/formulations/convex/solver_layout.hpp"

namespace stiction::formulations {

template <class F>
concept TakesTorsion = requires {
  typename F::Torsion;
};

/// Stands in for the batches of torsional friction where a model has no law for them.
struct NoTorsionBatch {};

template <class F>
struct TorsionBatchOf {
  using type = NoTorsionBatch;
};
template <TakesTorsion F>
struct TorsionBatchOf<F> {
  using type = TorsionBatch<typename F::Torsion>;
};

/// Per-dof arrays, in solver order.
struct DofArrays {
  std::vector<double> v, v_star;
  std::vector<double> v_rest;                   // of fine velocities, see fine_velocity.hpp
  std::vector<double> dp, force;                // A (v - v*), J^T gamma
  std::vector<double> direction, dp_direction;  // d, A d
  std::vector<double> inv_diagonal;             // of A, D^2

  void resize(int n) {
    for (auto* array :
         {&v, &v_rest, &v_star, &dp, &force, &direction, &dp_direction, &inv_diagonal})
      array->resize(n);
  }
};

/// What ConvexSolver prepares once per step and IslandProblem works on.
template <ConvexFormulation F>
struct SolverArrays {
  SolverLayout layout;
  DofArrays dofs;
  std::vector<ContactBatch<F>> batches;
  std::vector<typename TorsionBatchOf<F>::type> torsion_batches;
};

}  // namespace stiction::formulations
