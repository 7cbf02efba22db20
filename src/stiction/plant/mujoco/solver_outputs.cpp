#include "stiction/plant/mujoco/solver_outputs.hpp"

#include <algorithm>
#include <iterator>

namespace stiction::plant {

void write_solver_outputs(const mjModel* m, mjData* d, int num_iterations) {
  std::fill(std::begin(d->solver_niter), std::end(d->solver_niter), 0);
  std::fill(std::begin(d->solver_nnz), std::end(d->solver_nnz), 0);
  std::fill(std::begin(d->solver_fwdinv), std::end(d->solver_fwdinv), 0.0);
  d->solver_niter[0] = num_iterations;
  std::fill_n(d->solver, std::min(num_iterations, static_cast<int>(mjNSOLVER)), mjSolverStat{});

  std::fill_n(d->qH, m->nC, 0.0);
  std::fill_n(d->qHDiagInv, m->nv, 0.0);
  std::fill_n(d->qDeriv, m->nD, 0.0);
  std::fill_n(d->qLU, m->nD, 0.0);
}

}  // namespace stiction::plant
