#include "stiction/plant/materials/materials.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/base/error.hpp"
#include "stiction/contact/hertz_ellipse.hpp"
#include "stiction/plant/materials/material_properties.hpp"

namespace stiction::plant {
namespace {

/// The stiffness of two surfaces under Hertz's law, and the first surface's share of the
/// compression.
struct HertzPair {
  double stiffness, share_of_first;
};

/// Combines two surfaces, of which at least one has its stiffness from its elasticity.
HertzPair combine_elastic(const Material& a, const Material& b, double factor) {
  const auto find_stiffness_of = [&](const Material& surface) {
    return has_elastic_stiffness(surface) ? find_contact_modulus(surface) * factor
                                          : surface.law.hertz_stiffness;
  };
  const double k_a = find_stiffness_of(a), k_b = find_stiffness_of(b);
  const bool are_elastic = has_elastic_stiffness(a) && has_elastic_stiffness(b);
  const MaterialProperty& rule =
      find_stiffness(are_elastic ? contact::NormalLawKind::linear : contact::NormalLawKind::hertz);
  const double share = rule.find_share(k_a, k_b);
  return {rule.combine(k_a, k_b, share), share};
}

/// Returns the friction of a geom, its material's or that of the MJCF [-].
double find_friction(const mjModel* m, const MaterialTable& table, int geom) {
  const double mu = table.geoms[geom].friction;
  return std::isnan(mu) ? m->geom_friction[3 * geom] : mu;
}

}  // namespace

double find_contact_modulus(const Material& material) {
  const double nu = material.poissons_ratio;
  return contact::calc_contact_modulus(material.youngs_modulus,
                                       std::isnan(nu) ? kDefaultPoissonsRatio : nu);
}

double find_hydroelastic_modulus(const Material& material) {
  const bool is_derived = std::isnan(material.hydroelastic_modulus) && material.compliant;
  return is_derived ? find_contact_modulus(material) : material.hydroelastic_modulus;
}

bool has_elastic_stiffness(const Material& material) {
  return !std::isnan(material.youngs_modulus) && std::isinf(material.law.hertz_stiffness);
}

bool has_elastic_stiffness(const Material& a, const Material& b, contact::NormalLawKind law) {
  return law == contact::NormalLawKind::hertz &&
         (has_elastic_stiffness(a) || has_elastic_stiffness(b));
}

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
                                 int geom2, double mujoco_friction, contact::NormalLawKind law,
                                 double hertz_factor) {
  const Material& a = table.geoms[geom1];
  const Material& b = table.geoms[geom2];
  PairProperties pair;
  const MaterialProperty& stiffness = find_stiffness(law);
  pair.share_of_first = stiffness.find_share(stiffness.value(a), stiffness.value(b));
  const bool is_elastic = !std::isnan(hertz_factor) && has_elastic_stiffness(a, b, law);
  const HertzPair elastic = is_elastic ? combine_elastic(a, b, hertz_factor) : HertzPair{};
  if (is_elastic) pair.share_of_first = elastic.share_of_first;
  pair.law = combine_law_data(a, b, law, pair.share_of_first);
  if (is_elastic) pair.law.hertz_stiffness = elastic.stiffness;

  pair.friction = mujoco_friction;
  if (!std::isnan(a.friction) || !std::isnan(b.friction)) {
    pair.friction =
        combine_friction(find_friction(model, table, geom1), find_friction(model, table, geom2));
    pair.friction_is_ours = true;
  }
  return pair;
}

double combine_static_friction(const mjModel* model, const MaterialTable& table, int geom1,
                               int geom2) {
  const double mu1 = table.geoms[geom1].static_friction, mu2 = table.geoms[geom2].static_friction;
  if (std::isnan(mu1) && std::isnan(mu2)) return kNaN;
  return combine_friction(std::isnan(mu1) ? find_friction(model, table, geom1) : mu1,
                          std::isnan(mu2) ? find_friction(model, table, geom2) : mu2);
}

std::string find_static_friction_fault(const Material& material) {
  const double mu_s = material.static_friction, mu_d = material.friction;
  if (std::isnan(mu_s) || mu_s == mu_d) return "";
  const std::string text = "static_friction is " + base::to_text(mu_s);
  if (std::isnan(mu_d))
    return text + ", but there is no friction, the coefficient of what slides; give both";
  if (mu_s < mu_d)
    return text + ", but must be at least friction, which is " + base::to_text(mu_d) +
           "; raise it, or leave it out if what sticks has no more friction than what slides";
  if (mu_d == 0) return text + ", but friction is 0; give a friction above 0";
  return "";
}

double combine_by_modulus(double modulus1, double x1, double modulus2, double x2) {
  const auto find_share = find_stiffness(contact::NormalLawKind::hunt_crossley).find_share;
  const double share = find_share(modulus1, modulus2);
  return share * x1 + (1 - share) * x2;
}

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
