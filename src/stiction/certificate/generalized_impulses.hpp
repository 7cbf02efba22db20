#pragma once

#include <vector>

namespace stiction::certificate {

/// J^T gamma of a step, size num_dofs each [N s, N m s].
struct GeneralizedImpulses {
  std::vector<double> by_law;      // of the impulses that the laws prescribe at v
  std::vector<double> constraint;  // of the impulses reported, without springs
  std::vector<double> spring;  // of the impulses reported of springs, forces of the caller's own

  void clear(int num_dofs) {
    for (auto* impulse : {&by_law, &constraint, &spring}) impulse->assign(num_dofs, 0.0);
  }
};

}  // namespace stiction::certificate
