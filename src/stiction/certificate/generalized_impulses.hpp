#pragma once

#include <vector>

namespace stiction::certificate {

/// Sums J^T gamma over a step's contacts and rows, size num_dofs each [N s, N m s].
struct GeneralizedImpulses {
  std::vector<double> by_law;      // impulses that the laws prescribe at v
  std::vector<double> constraint;  // impulses reported, without springs
  std::vector<double> spring;      // impulses reported of springs, the caller's own forces

  void clear(int num_dofs) {
    for (auto* impulse : {&by_law, &constraint, &spring}) impulse->assign(num_dofs, 0.0);
  }
};

}  // namespace stiction::certificate
