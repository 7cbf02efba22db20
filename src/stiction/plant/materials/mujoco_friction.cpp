#include "stiction/plant/materials/mujoco_friction.hpp"

#include <algorithm>

namespace stiction::plant {

MujocoFriction find_mujoco_friction(const mjModel* m, const std::array<int, 2>& geoms, int pair,
                                    FrictionKind kind) {
  // <pair> and <option> have five numbers: two sliding, torsional, two rolling.
  constexpr int kFirst[] = {0, 2, 3};
  const int k = static_cast<int>(kind);
  if (m->opt.enableflags & mjENBL_OVERRIDE)
    return {m->opt.o_friction[kFirst[k]], FrictionSource::kOption};
  if (pair >= 0) return {m->pair_friction[5 * pair + kFirst[k]], FrictionSource::kPair};
  const auto [A, B] = geoms;
  const double mu_A = m->geom_friction[3 * A + k], mu_B = m->geom_friction[3 * B + k];
  if (m->geom_priority[A] != m->geom_priority[B])
    return {m->geom_priority[A] > m->geom_priority[B] ? mu_A : mu_B, FrictionSource::kPriority};
  return {std::max(mu_A, mu_B), FrictionSource::kLarger};
}

}  // namespace stiction::plant
