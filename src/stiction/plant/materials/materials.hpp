#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/normal_laws.hpp"
#include "stiction/geometry/tet_mesh.hpp"

namespace stiction::plant {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// The contact properties of one geom, see material_properties(). Values are in SI units; absent
/// values are NaN.
struct Material {
  contact::ContactLawData<double> law = contact::make_uniform_law_data(kNaN);
  double friction = kNaN;  // mu >= 0 [-]
  /// The friction of a contact that has not yielded, >= friction [-]; NaN: equal to friction. It
  /// has an effect under friction_law elastic alone.
  double static_friction = kNaN;
  // Elasticity, from which Hertz's law and compliant surfaces have their stiffness.
  double youngs_modulus = kNaN;  // E > 0 [Pa]
  double poissons_ratio = kNaN;  // nu, in [0, 1/2] [-]
  // Pressure-field contact. A geom that has no modulus, no pressure field and no `rigid` touches in
  // points.
  double hydroelastic_modulus = kNaN;  // E_h > 0 [Pa]
  double resolution_hint = kNaN;       // length of the mesh's edges, > 0 [m]
  /// Depth below a compliant plane at which its pressure is the modulus, > 0 [m].
  double slab_thickness = kNaN;
  bool rigid = false;            // a rigid surface
  bool compliant = false;        // a compliant surface, see find_hydroelastic_modulus
  std::string pressure_field{};  // absolute path of a tet mesh, empty if none
};

/// Returns the properties of a geom without a material: it is near-rigid, hardly bounces, and has
/// the friction of the MJCF.
Material make_default_material();
inline const Material kDefaultMaterial = make_default_material();

/// The sources of a geom's property values as texts for the user, such as "pads.contact.yaml:3,
/// material 'bubble'".
struct MaterialSource {
  static constexpr const char* kDefault = "default";
  contact::ContactLawData<std::string> law = contact::make_uniform_law_data<std::string>(kDefault);
  std::string friction = "MJCF", static_friction = kDefault;
  std::string youngs_modulus = kDefault, poissons_ratio = kDefault;
  std::string material;  // name of the material; empty if the geom has none
  std::string selector;  // the selector that assigned the material, and its place
  std::string hydroelastic_modulus = kDefault, resolution_hint = kDefault;
  std::string slab_thickness = kDefault, rigid = kDefault, pressure_field = kDefault;
  std::string compliant = kDefault;
};

/// The properties of every geom of a model.
struct MaterialTable {
  std::vector<Material> geoms;          // size ngeom; values without a default may be NaN
  std::vector<MaterialSource> sources;  // size ngeom
  /// The content of each geom's pressure_field, or null. Geoms of the same material share it.
  std::vector<std::shared_ptr<const geometry::PressureField>> pressure_fields;  // size ngeom
};

/// Returns a table in which every geom has the default properties.
MaterialTable make_default_materials(const mjModel* model);

/// Poisson's ratio of a material that gives none [-].
inline constexpr double kDefaultPoissonsRatio = 0.3;

/// Returns E / (1 - nu^2) of a material [Pa]; NaN if it gives no Young's modulus.
double find_contact_modulus(const Material& material);

/// Returns the hydroelastic modulus of a material [Pa], NaN if it has none: the modulus that it
/// gives, or that of its elasticity, E / (1 - nu^2), if it is `compliant`. Source:
/// [theory:elastic-modulus].
double find_hydroelastic_modulus(const Material& material);

/// True if Hertz's law takes the stiffness of this surface from its elasticity: the material gives
/// a Young's modulus and no hertz_stiffness.
bool has_elastic_stiffness(const Material& material);

/// True if the stiffness of a contact of two surfaces follows from the elasticity of at least one.
bool has_elastic_stiffness(const Material& a, const Material& b, contact::NormalLawKind law);

/// The properties of a contact between two geoms.
struct PairProperties {
  contact::ContactLawData<double> law;
  double friction = 0;            // sliding friction [-]
  bool friction_is_ours = false;  // true if combined here, false if by MuJoCo
  /// The first geom's share of the compression, or of a barrier's gap, under the normal law [-].
  double share_of_first = 0.5;
};

/// Combines the materials of two geoms. Both surfaces carry the same force and their compressions
/// add, like springs in series. Dissipation is weighted by compression, relaxation times add, and
/// friction is a harmonic mean:
///
///     k = k1 k2 / (k1 + k2),            d = s1 d1 + s2 d2,
///     tau = tau1 + tau2,                mu = 2 mu1 mu2 / (mu1 + mu2),
///     k_h^(-2/3) = k_h1^(-2/3) + k_h2^(-2/3).
///
/// The first surface's share of the compression is s1 = k2 / (k1 + k2). Under Hertz's law k_h^(2/3)
/// takes the place of k, and under a barrier law the barrier stiffness does. Barriers are layers:
/// their thicknesses add and their stiffnesses are in series. This is exact if
/// k1 thickness1 = k2 thickness2.
///
/// A surface with a Young's modulus and without a hertz_stiffness has k_h = G E / (1 - nu^2), where
/// G depends on the shape of both surfaces. If both surfaces have one, they press with the same
/// pressure on the same area, so that their stiffnesses are in series as such,
/// k_h^(-1) = k_h1^(-1) + k_h2^(-1). This is Hertz's 1/E* = (1 - nu1^2)/E1 + (1 - nu2^2)/E2.
///
/// Rigid models combine viscous friction like friction, and take the larger restitution:
///
///     nu = 2 nu1 nu2 / (nu1 + nu2),     restitution = max(e1, e2).
///
/// Friction is combined like this if either geom's material has a coefficient; a geom whose
/// material has none then has its MJCF coefficient. Otherwise the contact has MuJoCo's value, which
/// respects priorities and <pair> elements. The rules are columns of material_properties(). Source:
/// [theory:material-combination].
/// @param mujoco_friction sliding friction of the contact as MuJoCo combines it [-]
/// @param law the normal law, which defines the compressions
/// @param hertz_factor G of the place of the contact [m^(1/2)], see calc_hertz_factor; it has an
///        effect under `hertz` alone. NaN: Young's moduli have no effect
PairProperties combine_materials(const mjModel* model, const MaterialTable& table, int geom1,
                                 int geom2, double mujoco_friction,
                                 contact::NormalLawKind law = contact::NormalLawKind::hunt_crossley,
                                 double hertz_factor = kNaN);

/// Returns the static friction of two geoms [-], by the rule of friction: a geom whose material has
/// no static friction has its friction. NaN if no material has one.
double combine_static_friction(const mjModel* model, const MaterialTable& table, int geom1,
                               int geom2);

/// Returns what is wrong with the static friction of a material, and the way out; empty: nothing.
std::string find_static_friction_fault(const Material& material);

/// Returns the mean of two properties, weighted by the deformation of each body:
/// (E2 x1 + E1 x2) / (E1 + E2). The softer body has more weight. An infinite modulus means rigid.
double combine_by_modulus(double modulus1, double x1, double modulus2, double x2);

/// The places from which MuJoCo takes a friction coefficient of two geoms.
enum class FrictionSource {
  kOption,    // o_friction of <option>, with the flag `override`
  kPair,      // their <pair> element
  kPriority,  // the geom of higher priority
  kLarger,    // the larger one of both geoms
};

struct MujocoFriction {
  double value = 0;
  FrictionSource source = FrictionSource::kLarger;
};

/// The kinds of friction that a geom has in MuJoCo, in the order of geom_friction.
enum class FrictionKind { kSliding, kTorsional, kRolling };

/// Finds the friction of two geoms by MuJoCo's rule, from the model's present values: the first
/// coefficient of the kind, before MuJoCo raises values below mjMINMU.
/// @param pair their <pair> element; -1: none
MujocoFriction find_mujoco_friction(const mjModel* model, const std::array<int, 2>& geoms, int pair,
                                    FrictionKind kind = FrictionKind::kSliding);

}  // namespace stiction::plant
