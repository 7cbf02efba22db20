#include "stiction/plant/model/moved_mass.hpp"

#include <algorithm>
#include <limits>

namespace stiction::plant {

double calc_moved_mass(const mjModel* m, const mjData* d, std::span<const int> dofs) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (dofs.empty()) return kInfinity;
  double largest = 0;
  for (const int dof : dofs) {
    const double mass = d->crb[10 * m->dof_bodyid[dof] + 9];  // of the body and its descendants
    const double armature = m->dof_armature[dof];
    const double inertia = d->M[m->M_rowadr[dof] + m->M_rownnz[dof] - 1] - armature;
    // Bodies without inertia behind an armature have no radius of gyration.
    largest = std::max(largest, inertia > 0 ? mass * (1 + armature / inertia) : kInfinity);
  }
  return largest;
}

}  // namespace stiction::plant
