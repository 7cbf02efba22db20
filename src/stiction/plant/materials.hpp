#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/contact/contact_problem.hpp"

namespace stiction::plant {

/// Contact properties of one geom. SI units; absent values are NaN and filled from the defaults.
struct Material {
  double stiffness = std::numeric_limits<double>::quiet_NaN();    // k > 0 [N/m], may be infinite
  double dissipation = std::numeric_limits<double>::quiet_NaN();  // d >= 0 [s/m]
  double relaxation_time = std::numeric_limits<double>::quiet_NaN();  // tau >= 0 [s]
  double friction = std::numeric_limits<double>::quiet_NaN();         // mu >= 0 [-]
};

/// What a geom without properties gets: near-rigid, hardly bouncing. Friction comes from the MJCF.
inline constexpr Material kDefaultMaterial = {
    .stiffness = contact::kInfinity, .dissipation = 50, .relaxation_time = 0.01};

/// Where the value of a property comes from, for people: "pads.contact.yaml:3, material 'bubble'".
struct MaterialSource {
  static constexpr const char* kDefault = "default";
  std::string stiffness = kDefault, dissipation = kDefault, relaxation_time = kDefault;
  std::string friction = "MJCF";
  std::string material;  // its name; empty where no material was assigned
  std::string selector;  // what assigned it, and where
};

/// The properties of every geom of a model.
struct MaterialTable {
  std::vector<Material> geoms;          // size ngeom; stiffness, dissipation and time never NaN
  std::vector<MaterialSource> sources;  // size ngeom
};

MaterialTable make_default_materials(const mjModel* model);

/// Properties of a contact between two geoms.
struct PairProperties {
  double stiffness = contact::kInfinity;
  double dissipation = 0;
  double relaxation_time = 0;
  double friction = 0;            // sliding
  bool friction_is_ours = false;  // combined here, not by MuJoCo
  double share_of_first = 0.5;    // of the compression that the first geom takes, k2 / (k1 + k2)
};

/// Series springs, stiffness-weighted dissipation, added relaxation times, harmonic friction:
///
///     k = k1 k2 / (k1 + k2),            d = (k2 d1 + k1 d2) / (k1 + k2),
///     tau = tau1 + tau2,                mu = 2 mu1 mu2 / (mu1 + mu2).
///
/// Friction is combined so if either geom has a coefficient of its own here, the other's then being
/// its MJCF coefficient; otherwise MuJoCo's value for the contact stands, which knows priorities
/// and <pair> elements. Source: theory section 6.5.
/// @param mujoco_friction sliding friction of the contact as MuJoCo combines it [-]
PairProperties combine_materials(const mjModel* model, const MaterialTable& table, int geom1,
                                 int geom2, double mujoco_friction);

}  // namespace stiction::plant
