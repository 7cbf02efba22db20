#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "stiction/contact/normal_laws.hpp"

namespace stiction::numerics {
enum class LcpSolver;
}  // namespace stiction::numerics

namespace stiction::contact {

/// The friction laws. The friction regularizations give friction as a function of slip below the
/// slip tolerance. Under `elastic` a contact sticks by a tangential spring instead, see Anchor.
/// `automatic` stands for the law that choose_friction_law returns. Each law has one name in C++,
/// Python and files, except `custom`, which has no name in files. This is a regularization by a
/// table of the caller, see law_tables.hpp.
enum class FrictionRegularizationKind { soft, quadratic, arctan, elastic, automatic, custom };

/// Returns the names of the regularizations but `custom`, in the order of the enum.
std::span<const std::string_view> friction_regularization_names();
/// Returns the names of all laws but `automatic` and `custom`, in the order of the enum.
std::span<const std::string_view> friction_law_names();
/// Returns these names and `automatic`.
std::span<const std::string_view> friction_law_choices();
std::string_view name_of(FrictionRegularizationKind kind);
/// Returns the law with a name.
/// @throws Error that suggests the nearest name if there is no such law
FrictionRegularizationKind parse_friction_regularization(std::string_view name);

enum class ContactModel;
class CustomLaw;
class TabulatedFriction;

/// Parameters of the contact models, beyond those of each contact.
struct ModelParameters {
  /// v_s > 0 [m/s]: below this slip speed a contact sticks, see [castro2023] section V.
  double stiction_tolerance = 1e-4;
  /// sigma >= 0 [-]: friction regularization relative to the contact's mobility w.
  double friction_regularization = 1e-3;
  /// beta >= 0 [-]: SAP softens contacts whose period is shorter than beta time steps; 0: never.
  double near_rigid_factor = 1;
  /// The laws of contacts under models that take laws.
  NormalLawKind normal_law = NormalLawKind::hunt_crossley;
  FrictionRegularizationKind friction_law = FrictionRegularizationKind::soft;
  /// The law of NormalLawKind::custom, see make_custom_law; null for other laws.
  std::shared_ptr<const CustomLaw> custom_law = nullptr;
  /// The law of FrictionRegularizationKind::custom; null for other laws.
  std::shared_ptr<const TabulatedFriction> custom_friction = nullptr;
  /// The LCP solver of `no_slip` and `viscous`; the default 0 is `ppm_ratio`.
  numerics::LcpSolver lcp_solver{};
  /// k, even, >= 4: number of edges of the friction polygon of `stewart_trinkle` and
  /// `anitescu_potra`. `drumwright_shell` bounds friction by k / 2 half-planes in each quadrant.
  int friction_directions = 4;
  /// Share of an overlap, of a violated limit or of an open equality that rigid models correct in
  /// one step, in [0, 1] [-]; 0: errors of positions stay. Compliant models: see correct_overlaps.
  double gap_correction = 0.1;
  /// The largest speed of such a correction, >= 0 [m/s, rad/s].
  double max_correction_speed = 0.1;
  /// The largest memory that the islands of a step take under `tamsi` and rigid models, in (0, 16]
  /// [GB]. They have matrices with a number for each dof in each row. An island that would exceed
  /// the limit is refused before any of its memory is allocated.
  double max_memory_gb = 4;
  /// Under `no_slip`. True: a contact sticks only if it presses, or would press without friction.
  /// False: every contact that touches at the start of the step sticks, as published. Two contacts
  /// of one foot with different normals then hold the foot down.
  bool drop_separating = true;
};

/// Checks that the laws which the parameters name exist.
/// @throws Error if a law is `custom` and there is no custom law
void check_custom_laws(const ModelParameters& parameters);
/// Returns the law that a model has under a law: `automatic` is `elastic` where
/// ContactModelTraits::prefers_anchors, otherwise `soft`.
FrictionRegularizationKind choose_friction_law(ContactModel model, FrictionRegularizationKind law);
/// Checks that a model supports the friction law.
/// @throws Error if the law is `elastic` and the model has no tangential springs
void check_friction_law(ContactModel model, const ModelParameters& parameters);
/// True if contacts stick by the springs of ContactProblem::anchors.
inline bool has_anchors(const ModelParameters& parameters) {
  return parameters.friction_law == FrictionRegularizationKind::elastic;
}
/// Returns the properties that a model reads under its laws.
PropertyUse calc_property_use(ContactModel model, const ModelParameters& parameters);

}  // namespace stiction::contact
