#pragma once

#include <span>
#include <string_view>

/// The contact models by name: one spelling in C++, Python, files and plots.
namespace stiction::contact {

enum class ContactModel {
  sap,
  lagged,
  lagged_regularized,
  similar,
  tamsi,
  coulomb,
  no_slip,
  viscous,
  stewart_trinkle,
  anitescu_potra,
  drumwright_shell,
  mujoco
};

/// How a rigid model treats the tangents of a contact.
enum class TangentPolicy {
  kNone,             // not a rigid model
  kBilateral,        // contacts stick: v_t + b_t = 0
  kViscous,          // gamma_t = -dt nu v_t
  kFrictionPolygon,  // the law of friction polygons, [theory:stewart-trinkle]
  kLeastEnergy,      // the law of least kinetic energy, [theory:least-energy]
};

/// How a rigid model treats the gap of a contact.
enum class GapPolicy {
  kSpeculative,  // b_n = phi0 / dt: a contact with a gap closes within the step at most
  kTouching,     // contacts that do not touch when the step begins take no part; others have no gap
};

/// Parameters of a contact that a model may or may not use.
struct ContactModelTraits {
  ContactModel model;
  std::string_view name;
  bool uses_stiffness = false;
  bool uses_dissipation = false;         // Hunt-Crossley d
  bool uses_relaxation_time = false;     // SAP's tau_d
  bool uses_stiction_tolerance = false;  // v_s
  bool uses_regularization = false;      // sigma
  bool takes_torsion = false;            // condim 4 and 6
  bool has_error_bound = false;          // convex, so that a certificate bounds the solver's error
  bool takes_laws = false;               // normal_law and friction_law; then these say what it uses
  bool is_rigid = false;                 // surfaces do not give way: solved as an LCP
  bool uses_friction = true;             // sliding coefficients
  bool uses_viscous_friction = false;    // nu
  bool uses_restitution = false;         // of impacts
  bool uses_friction_directions = false;          // edges of a friction polygon
  bool takes_patches = true;                      // contact surfaces of pressure fields
  TangentPolicy tangents = TangentPolicy::kNone;  // rigid models
  GapPolicy gaps = GapPolicy::kSpeculative;       // rigid models
};

/// All models, in the order of tables and reports.
std::span<const ContactModelTraits> contact_models();
const ContactModelTraits& traits(ContactModel model);
/// @throws Error with the nearest name if no model has this one
ContactModel parse_contact_model(std::string_view name);

}  // namespace stiction::contact
