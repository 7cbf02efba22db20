#include "stiction/plant/materials.hpp"

namespace stiction::plant {

MaterialTable make_default_materials(const mjModel* model) {
  return {std::vector<Material>(model->ngeom, kDefaultMaterial),
          std::vector<MaterialSource>(model->ngeom)};
}

PairProperties combine_materials(const mjModel* model, const MaterialTable& table, int geom1,
                                 int geom2, double mujoco_friction) {
  const Material& a = table.geoms[geom1];
  const Material& b = table.geoms[geom2];
  PairProperties pair;

  // The share of the compression that is in a, k2 / (k1 + k2), taken to its limits.
  double share_a = 0.5;
  const bool a_rigid = std::isinf(a.stiffness), b_rigid = std::isinf(b.stiffness);
  if (a_rigid && b_rigid) {
    pair.stiffness = contact::kInfinity;
  } else if (a_rigid) {
    share_a = 0;
    pair.stiffness = b.stiffness;
  } else if (b_rigid) {
    share_a = 1;
    pair.stiffness = a.stiffness;
  } else {
    share_a = b.stiffness / (a.stiffness + b.stiffness);
    pair.stiffness = a.stiffness * share_a;
  }
  pair.dissipation = share_a * a.dissipation + (1 - share_a) * b.dissipation;
  pair.relaxation_time = a.relaxation_time + b.relaxation_time;
  pair.share_of_first = share_a;

  pair.friction = mujoco_friction;
  if (!std::isnan(a.friction) || !std::isnan(b.friction)) {
    const double mu_a = std::isnan(a.friction) ? model->geom_friction[3 * geom1] : a.friction;
    const double mu_b = std::isnan(b.friction) ? model->geom_friction[3 * geom2] : b.friction;
    pair.friction = mu_a + mu_b > 0 ? 2 * mu_a * mu_b / (mu_a + mu_b) : 0;
    pair.friction_is_ours = true;
  }
  return pair;
}

}  // namespace stiction::plant
