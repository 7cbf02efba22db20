#pragma once

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/law_kinds.hpp"
#include "stiction/geometry/meshes.hpp"

namespace stiction::plant {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr contact::ContactLawData<double> kNotGiven = {.stiffness = kNaN,
                                                              .dissipation = kNaN,
                                                              .relaxation_time = kNaN,
                                                              .hertz_stiffness = kNaN,
                                                              .barrier_stiffness = kNaN,
                                                              .barrier_thickness = kNaN,
                                                              .viscous_friction = kNaN,
                                                              .restitution = kNaN};

/// Contact properties of one geom. SI units; absent values are NaN and filled from the defaults.
struct Material {
  contact::ContactLawData<double> law = kNotGiven;
  double friction = kNaN;  // mu >= 0 [-]
  /// Of pressure-field contact. A geom with none of modulus, field and rigid touches in points.
  double hydroelastic_modulus = kNaN;  // E_h > 0 [Pa]
  double resolution_hint = kNaN;       // edges of its mesh, > 0 [m]
  /// Depth below a compliant plane at which its pressure is the modulus, > 0 [m].
  double slab_thickness = kNaN;
  bool rigid = false;            // a rigid surface
  std::string pressure_field{};  // absolute path of a tet mesh, empty if none
};

/// What a geom without properties gets: near-rigid, hardly bouncing. Friction comes from the MJCF.
inline const Material kDefaultMaterial = {.law = {.stiffness = contact::kInfinity,
                                                  .dissipation = 50,
                                                  .relaxation_time = 0.01,
                                                  .hertz_stiffness = contact::kInfinity,
                                                  .barrier_stiffness = contact::kInfinity,
                                                  .barrier_thickness = kNaN,  // depends on the law
                                                  .viscous_friction = 0,
                                                  .restitution = 0}};

/// A surface's barrier thickness, or the law's default [m]. That of a logarithmic barrier is the
/// distance at which it is as stiff as its k: it pushes from afar with k d^2 / distance.
inline double find_barrier_thickness(const Material& material, contact::NormalLawKind law) {
  if (!std::isnan(material.law.barrier_thickness)) return material.law.barrier_thickness;
  return law == contact::NormalLawKind::log_barrier ? 5e-7 : 5e-4;
}

/// Where the value of a property comes from, for people: "pads.contact.yaml:3, material 'bubble'".
struct MaterialSource {
  static constexpr const char* kDefault = "default";
  contact::ContactLawData<std::string> law = {kDefault, kDefault, kDefault, kDefault,
                                              kDefault, kDefault, kDefault, kDefault};
  std::string friction = "MJCF";
  std::string material;  // its name; empty where no material was assigned
  std::string selector;  // what assigned it, and where
  std::string hydroelastic_modulus = kDefault, resolution_hint = kDefault;
  std::string slab_thickness = kDefault, rigid = kDefault, pressure_field = kDefault;
};

/// The properties of every geom of a model.
struct MaterialTable {
  std::vector<Material> geoms;          // size ngeom; what has no default may be NaN
  std::vector<MaterialSource> sources;  // size ngeom
  /// The content of each geom's pressure_field, null where it has none. Geoms of a material share
  /// it.
  std::vector<std::shared_ptr<const geometry::PressureField>> pressure_fields;  // size ngeom
};

MaterialTable make_default_materials(const mjModel* model);

/// Properties of a contact between two geoms.
struct PairProperties {
  contact::ContactLawData<double> law;
  double friction = 0;            // sliding
  bool friction_is_ours = false;  // combined here, not by MuJoCo
  /// Of the compression, or of a barrier's gap, that the first geom takes under the normal law.
  double share_of_first = 0.5;
};

/// Two surfaces carry one force, and their compressions add: springs in series, dissipation
/// weighted by compression, added relaxation times, harmonic friction:
///
///     k = k1 k2 / (k1 + k2),            d = s1 d1 + s2 d2,
///     tau = tau1 + tau2,                mu = 2 mu1 mu2 / (mu1 + mu2),
///     k_h^(-2/3) = k_h1^(-2/3) + k_h2^(-2/3).
///
/// s1 = k2 / (k1 + k2) is the first one's share of the compression; under Hertz's law that of the
/// k_h^(2/3), under barriers that of the barrier stiffnesses. Barriers are layers: thicknesses add,
/// stiffnesses are in series; exact for forces of one size, k1 thickness1 = k2 thickness2.
///
/// Of rigid models, the film between two surfaces is sheared by both, as friction is, and the
/// livelier of two surfaces decides how they rebound:
///
///     nu = 2 nu1 nu2 / (nu1 + nu2),     restitution = max(e1, e2).
///
/// Friction is combined so if either geom has a coefficient of its own here, the other's then being
/// its MJCF coefficient; otherwise MuJoCo's value for the contact stands, which knows priorities
/// and <pair> elements. Source: [theory:material-combination].
/// @param mujoco_friction sliding friction of the contact as MuJoCo combines it [-]
/// @param law whose compressions weigh dissipation and place the contact
PairProperties combine_materials(
    const mjModel* model, const MaterialTable& table, int geom1, int geom2, double mujoco_friction,
    contact::NormalLawKind law = contact::NormalLawKind::hunt_crossley);

/// Of two properties, weighted by what each body gives: the softer one counts more,
/// (E2 x1 + E1 x2) / (E1 + E2). An infinite modulus is rigid.
double combine_by_modulus(double modulus1, double x1, double modulus2, double x2);

}  // namespace stiction::plant
