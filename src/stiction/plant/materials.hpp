#pragma once

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/normal_laws.hpp"
#include "stiction/geometry/meshes.hpp"

namespace stiction::plant {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Contact properties of one geom, see material_properties(). SI units; absent values are NaN.
struct Material {
  contact::ContactLawData<double> law = contact::make_uniform_law_data(kNaN);
  double friction = kNaN;  // mu >= 0 [-]
  // Pressure-field contact. A geom without modulus, pressure field and `rigid` touches in points.
  double hydroelastic_modulus = kNaN;  // E_h > 0 [Pa]
  double resolution_hint = kNaN;       // edges of its mesh, > 0 [m]
  /// Depth below a compliant plane at which its pressure is the modulus, > 0 [m].
  double slab_thickness = kNaN;
  bool rigid = false;            // a rigid surface
  std::string pressure_field{};  // absolute path of a tet mesh, empty if none
};

/// The properties of a geom that gives none: near-rigid, hardly bouncing, friction of the MJCF.
Material make_default_material();
inline const Material kDefaultMaterial = make_default_material();

/// Where the value of a property comes from, for people: "pads.contact.yaml:3, material 'bubble'".
struct MaterialSource {
  static constexpr const char* kDefault = "default";
  contact::ContactLawData<std::string> law = contact::make_uniform_law_data<std::string>(kDefault);
  std::string friction = "MJCF";
  std::string material;  // its name; empty where no material was assigned
  std::string selector;  // what assigned it, and where
  std::string hydroelastic_modulus = kDefault, resolution_hint = kDefault;
  std::string slab_thickness = kDefault, rigid = kDefault, pressure_field = kDefault;
};

/// The properties of every geom of a model.
struct MaterialTable {
  std::vector<Material> geoms;          // size ngeom; values without a default may be NaN
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
/// The first surface's share of the compression is s1 = k2 / (k1 + k2); Hertz's law takes k_h^(2/3)
/// in place of k, barriers take the barrier stiffnesses. Barriers are layers: their thicknesses
/// add, and their stiffnesses are in series, which is exact for k1 thickness1 = k2 thickness2.
///
/// Rigid models shear the film between two surfaces as friction does, and let the livelier of two
/// surfaces decide how they rebound:
///
///     nu = 2 nu1 nu2 / (nu1 + nu2),     restitution = max(e1, e2).
///
/// Friction is combined like this if the properties give either geom a coefficient; the other geom
/// then has its MJCF coefficient. Otherwise MuJoCo's value for the contact stands, which knows
/// priorities and <pair> elements. The rules are columns of material_properties(). Source:
/// [theory:material-combination].
/// @param mujoco_friction sliding friction of the contact as MuJoCo combines it [-]
/// @param law the normal law, whose compressions weigh dissipation and place the contact
PairProperties combine_materials(
    const mjModel* model, const MaterialTable& table, int geom1, int geom2, double mujoco_friction,
    contact::NormalLawKind law = contact::NormalLawKind::hunt_crossley);

/// The mean of two properties, weighted by how far each body gives way: the softer one counts more,
/// (E2 x1 + E1 x2) / (E1 + E2). An infinite modulus is rigid.
double combine_by_modulus(double modulus1, double x1, double modulus2, double x2);

}  // namespace stiction::plant
