#include "stiction/plant/materials.hpp"

#include <cmath>

#include "stiction/plant/material_properties.hpp"

namespace stiction::plant {

Material make_default_material() {
  Material material;
  for (const MaterialProperty& property : law_properties())
    property.value(material) = property.default_value;
  return material;
}

MaterialTable make_default_materials(const mjModel* model) {
  return {std::vector<Material>(model->ngeom, kDefaultMaterial),
          std::vector<MaterialSource>(model->ngeom),
          std::vector<std::shared_ptr<const geometry::PressureField>>(model->ngeom)};
}

PairProperties combine_materials(const mjModel* model, const MaterialTable& table, int geom1,
                                 int geom2, double mujoco_friction, contact::NormalLawKind law) {
  const Material& a = table.geoms[geom1];
  const Material& b = table.geoms[geom2];
  PairProperties pair;
  const MaterialProperty& stiffness = find_stiffness(law);
  pair.share_of_first = stiffness.find_share(stiffness.value(a), stiffness.value(b));
  pair.law = combine_law_data(a, b, law, pair.share_of_first);

  pair.friction = mujoco_friction;
  if (!std::isnan(a.friction) || !std::isnan(b.friction)) {
    const double mu_a = std::isnan(a.friction) ? model->geom_friction[3 * geom1] : a.friction;
    const double mu_b = std::isnan(b.friction) ? model->geom_friction[3 * geom2] : b.friction;
    pair.friction = combine_friction(mu_a, mu_b);
    pair.friction_is_ours = true;
  }
  return pair;
}

double combine_by_modulus(double modulus1, double x1, double modulus2, double x2) {
  const auto find_share = find_stiffness(contact::NormalLawKind::hunt_crossley).find_share;
  const double share = find_share(modulus1, modulus2);
  return share * x1 + (1 - share) * x2;
}

}  // namespace stiction::plant
