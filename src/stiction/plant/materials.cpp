#include "stiction/plant/materials.hpp"

#include <cmath>

namespace stiction::plant {

MaterialTable make_default_materials(const mjModel* model) {
  return {std::vector<Material>(model->ngeom, kDefaultMaterial),
          std::vector<MaterialSource>(model->ngeom),
          std::vector<std::shared_ptr<const geometry::PressureField>>(model->ngeom)};
}

namespace {

/// Two springs in series, infinite stiffness allowed, and the share of the first in what they give.
struct Series {
  double stiffness = contact::kInfinity;
  double share_of_first = 0.5;
};

Series combine_in_series(double k1, double k2) {
  if (std::isinf(k1) && std::isinf(k2)) return {};
  if (std::isinf(k1)) return {k2, 0};
  if (std::isinf(k2)) return {k1, 1};
  const double share = k2 / (k1 + k2);
  return {k1 * share, share};
}

/// Hertz's x = (f / k_h)^(2/3) is linear in k_h^(-2/3).
Series combine_hertz(double k1, double k2) {
  if (std::isinf(k1) || std::isinf(k2)) return combine_in_series(k1, k2);
  Series series = combine_in_series(std::pow(k1, 2.0 / 3), std::pow(k2, 2.0 / 3));
  series.stiffness = std::pow(series.stiffness, 1.5);
  return series;
}

}  // namespace

PairProperties combine_materials(const mjModel* model, const MaterialTable& table, int geom1,
                                 int geom2, double mujoco_friction, contact::NormalLawKind law) {
  const Material& a = table.geoms[geom1];
  const Material& b = table.geoms[geom2];
  PairProperties pair;

  const Series spring = combine_in_series(a.law.stiffness, b.law.stiffness);
  const Series hertz = combine_hertz(a.law.hertz_stiffness, b.law.hertz_stiffness);
  const Series barrier = combine_in_series(a.law.barrier_stiffness, b.law.barrier_stiffness);
  pair.law.stiffness = spring.stiffness;
  pair.law.hertz_stiffness = hertz.stiffness;
  pair.law.barrier_stiffness = barrier.stiffness;
  pair.law.barrier_thickness = find_barrier_thickness(a, law) + find_barrier_thickness(b, law);
  const contact::PropertyUse use = contact::traits(law).uses;
  const double share_a = (use.hertz_stiffness     ? hertz
                          : use.barrier_stiffness ? barrier
                                                  : spring)
                             .share_of_first;
  pair.law.dissipation = share_a * a.law.dissipation + (1 - share_a) * b.law.dissipation;
  pair.law.relaxation_time = a.law.relaxation_time + b.law.relaxation_time;
  pair.share_of_first = share_a;
  const double nu_a = a.law.viscous_friction, nu_b = b.law.viscous_friction;
  pair.law.viscous_friction = nu_a + nu_b > 0 ? 2 * nu_a * nu_b / (nu_a + nu_b) : 0;
  pair.law.restitution = std::fmax(0, std::fmax(a.law.restitution, b.law.restitution));

  pair.friction = mujoco_friction;
  if (!std::isnan(a.friction) || !std::isnan(b.friction)) {
    const double mu_a = std::isnan(a.friction) ? model->geom_friction[3 * geom1] : a.friction;
    const double mu_b = std::isnan(b.friction) ? model->geom_friction[3 * geom2] : b.friction;
    pair.friction = mu_a + mu_b > 0 ? 2 * mu_a * mu_b / (mu_a + mu_b) : 0;
    pair.friction_is_ours = true;
  }
  return pair;
}

double combine_by_modulus(double modulus1, double x1, double modulus2, double x2) {
  const double share = combine_in_series(modulus1, modulus2).share_of_first;
  return share * x1 + (1 - share) * x2;
}

}  // namespace stiction::plant
