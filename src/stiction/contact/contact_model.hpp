#pragma once

#include <iterator>
#include <span>
#include <string_view>

#include "stiction/base/error.hpp"
#include "stiction/contact/law_data.hpp"

/// The contact models: their names and everything in which they differ except their laws. Only two
/// other files ask for a model by its name: formulations/make_contact_solver.cpp makes its solver,
/// and certificate/reference_laws.cpp computes its law a second time.
namespace stiction::contact {

/// The contact models. Each has one name in C++, Python, files and plots.
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
  rigid_coulomb,
  mujoco
};

/// How a rigid model treats the tangents of a contact.
enum class TangentPolicy {
  kNone,             // not a rigid model
  kBilateral,        // contacts stick: v_t + b_t = 0
  kViscous,          // gamma_t = -dt nu v_t
  kFrictionPolygon,  // the law of friction polygons, [theory:stewart-trinkle]
  kLeastEnergy,      // the law of least kinetic energy, [theory:least-energy]
  kFrictionCone,     // Coulomb's law with the circular cone, [theory:friction-cone]
};

/// How a rigid model treats the gap of a contact.
enum class GapPolicy {
  kSpeculative,  // b_n = phi0 / dt: a contact may close its gap in the step, but not overlap
  kTouching,     // only contacts that touch at the start of the step take part, with b_n <= 0
};

/// The options that a model reads, see ModelParameters.
struct OptionUse {
  bool stiction_tolerance = false;
  bool friction_regularization = false;
  bool near_rigid_factor = false;
  bool lcp_solver = false;
  bool friction_directions = false;
  bool drop_separating = false;
  bool max_memory_gb = false;  // solves islands with dense matrices
};

/// The properties of a model: its kind, the contacts that it accepts, and the data that it reads.
struct ContactModelTraits {
  ContactModel model;
  std::string_view name;
  /// The color in plots, "#rrggbb"; empty: gray. Colors have a contrast of at least 2.3 with
  /// light and dark pages. Most people who are color-blind can tell them apart.
  std::string_view color = {};

  /// The model solves a convex problem, so that a certificate bounds the solver's error.
  bool has_error_bound = false;
  bool is_rigid = false;    // surfaces do not give way; solved as a complementarity problem
  bool is_mj_step = false;  // MuJoCo's mj_step computes the step; it has no certificate
  /// Between impacts, forces are smooth functions of the state. `rk4` requires this.
  bool has_smooth_forces = false;

  // Rigid models.
  TangentPolicy tangents = TangentPolicy::kNone;
  GapPolicy gaps = GapPolicy::kSpeculative;

  // Contacts that the model accepts.
  /// Friction is bounded by the normal impulse of the step before.
  bool lags_friction = false;
  bool takes_laws = false;       // the options normal_law and friction_law
  bool takes_anchors = false;    // friction_law elastic
  bool prefers_anchors = false;  // friction_law elastic, unless another one is given
  bool takes_torsion = false;    // condim 4 and 6
  bool takes_patches = true;     // contact surfaces of pressure fields

  // The distance from which a contact acts, see Reach.
  bool lifts_sliding = false;  // friction lifts a sliding body, by mu times the slip of a step
  bool acts_ahead = false;     // contacts act earlier by the relaxation time

  /// The properties of a contact that the model reads, besides those that its normal law reads.
  PropertyUse uses = {};
  bool uses_friction = true;  // sliding friction coefficients

  OptionUse options = {};

  /// A text that is added to the message of a step that did not converge; may be empty.
  std::string_view failure_note = {};

  /// Errors of the model by design: a sentence for `explain` and reports; empty if none.
  std::string_view limitation = {};
};

inline constexpr ContactModelTraits kContactModels[] = {
    {.model = ContactModel::sap,
     .name = "sap",
     .color = "#e08a00",
     .has_error_bound = true,
     .lifts_sliding = true,
     .acts_ahead = true,
     .uses = {.stiffness = true, .relaxation_time = true},
     .options = {.friction_regularization = true, .near_rigid_factor = true},
     .limitation = "sliding bodies glide on a gap of mu (dt + tau) times the slip speed, also in "
                   "impacts, tau being the relaxation time"},
    {.model = ContactModel::lagged,
     .name = "lagged",
     .color = "#2f7fd0",
     .has_error_bound = true,
     .lags_friction = true,
     .takes_laws = true,
     .takes_anchors = true,
     .takes_torsion = true,
     .options = {.stiction_tolerance = true},
     .limitation = "a new contact has no friction in its first step, so impacts of sliding bodies "
                   "are wrong at any time step"},
    {.model = ContactModel::lagged_regularized,
     .name = "lagged_regularized",
     .color = "#12a58c",
     .has_error_bound = true,
     .lags_friction = true,
     .takes_laws = true,
     .takes_anchors = true,
     .takes_torsion = true,
     .options = {.stiction_tolerance = true, .friction_regularization = true},
     .limitation = "a new contact has no friction in its first step, so impacts of sliding bodies "
                   "are wrong at any time step"},
    {.model = ContactModel::similar,
     .name = "similar",
     .color = "#c05bb0",
     .has_error_bound = true,
     .takes_laws = true,
     .lifts_sliding = true,
     .options = {.stiction_tolerance = true, .friction_regularization = true},
     .limitation = "sliding bodies glide on a gap of mu dt times the slip speed, and slip makes "
                   "contacts stiffer by the factor 1 + mu d |v_t|"},
    {.model = ContactModel::tamsi,
     .name = "tamsi",
     .color = "#8a6a4a",
     .uses = {.stiffness = true, .dissipation = true},
     .options = {.stiction_tolerance = true, .max_memory_gb = true},
     .failure_note = "tamsi found no solution with up to 20 sub-steps; its law may have no "
                     "solution or several; use another contact model or a smaller time step",
     .limitation = "a step may have several solutions or none; a step without a solution fails"},
    {.model = ContactModel::coulomb,
     .name = "coulomb",
     .color = "#6a5cf0",
     .has_error_bound = true,
     .takes_laws = true,
     .takes_anchors = true,
     .prefers_anchors = true,
     .takes_torsion = true,
     .options = {.stiction_tolerance = true, .friction_regularization = true}},
    {.model = ContactModel::no_slip,
     .name = "no_slip",
     .color = "#10b8e8",
     .has_error_bound = true,
     .is_rigid = true,
     .tangents = TangentPolicy::kBilateral,
     .takes_patches = false,
     .uses = {.restitution = true},
     .uses_friction = false,
     .options = {.lcp_solver = true, .drop_separating = true, .max_memory_gb = true},
     .limitation =
         "contacts never slip; friction coefficients have no effect; tangential impulses may "
         "carry a body whose normal impulses, which touch sensors read, are 0"},
    {.model = ContactModel::viscous,
     .name = "viscous",
     .color = "#8a7592",
     .has_error_bound = true,
     .is_rigid = true,
     .has_smooth_forces = true,
     .tangents = TangentPolicy::kViscous,
     .takes_patches = false,
     .uses = {.viscous_friction = true, .restitution = true},
     .uses_friction = false,
     .options = {.lcp_solver = true, .max_memory_gb = true},
     .limitation = "friction is viscous, so nothing rests on a slope"},
    {.model = ContactModel::stewart_trinkle,
     .name = "stewart_trinkle",
     .color = "#e88888",
     .is_rigid = true,
     .tangents = TangentPolicy::kFrictionPolygon,
     .takes_patches = false,
     .uses = {.restitution = true},
     .options = {.friction_directions = true, .max_memory_gb = true},
     .limitation = "the friction cone is a polygon, so friction is up to 1 - cos(pi / "
                   "friction_directions) too small, depending on the direction of slip"},
    {.model = ContactModel::anitescu_potra,
     .name = "anitescu_potra",
     .color = "#4f8a1c",
     .is_rigid = true,
     .tangents = TangentPolicy::kFrictionPolygon,
     .gaps = GapPolicy::kTouching,
     .takes_patches = false,
     .uses = {.restitution = true},
     .options = {.friction_directions = true, .max_memory_gb = true},
     .limitation = "the friction cone is a polygon, and contacts with a gap take no part, so held "
                   "bodies creep where overlaps are corrected"},
    {.model = ContactModel::drumwright_shell,
     .name = "drumwright_shell",
     .color = "#a8b400",
     .is_rigid = true,
     .tangents = TangentPolicy::kLeastEnergy,
     .takes_patches = false,
     .uses = {.viscous_friction = true, .restitution = true},
     .options = {.friction_directions = true, .max_memory_gb = true},
     .limitation = "friction cannot lift a body off a surface, because this would separate it "
                   "faster than frictionless impulses do"},
    {.model = ContactModel::rigid_coulomb,
     .name = "rigid_coulomb",
     .color = "#d6409f",
     .is_rigid = true,
     .tangents = TangentPolicy::kFrictionCone,
     .takes_patches = false,
     .uses = {.restitution = true},
     .options = {.max_memory_gb = true},
     .failure_note = "rigid_coulomb found no velocities and impulses that satisfy Coulomb's law; "
                     "use a smaller time step, or a compliant contact model such as coulomb",
     .limitation = "Coulomb's law of rigid bodies may have several motions, of which one is found, "
                   "and it does not determine how redundant contacts share a load"},
    {.model = ContactModel::mujoco,
     .name = "mujoco",
     .color = "#d8492f",
     .is_mj_step = true,
     .takes_torsion = true,
     .takes_patches = false,
     .limitation = "contacts are springs without a unit, and friction creeps under any load"},
};

/// Returns all models, in the order of tables and reports.
constexpr std::span<const ContactModelTraits> contact_models() { return kContactModels; }

constexpr const ContactModelTraits& traits(ContactModel model) {
  return kContactModels[static_cast<int>(model)];
}

static_assert(
    [] {
      for (int i = 0; i < static_cast<int>(std::size(kContactModels)); ++i)
        if (static_cast<int>(kContactModels[i].model) != i) return false;
      return true;
    }(),
    "rows are in the order of the enum");

/// Returns the model with a name.
/// @throws Error that suggests the nearest name if there is no such model
inline ContactModel parse_contact_model(std::string_view name) {
  return static_cast<ContactModel>(parse_name("contact_model", name, list_names(contact_models())));
}

}  // namespace stiction::contact
