#pragma once

#include <memory>

#include "stiction/contact/law_kinds.hpp"

namespace stiction::contact {

class CustomLaw;

/// Parameters of the convex contact models, beyond those of each contact.
struct ModelParameters {
  /// v_s > 0 [m/s]: below this slip speed friction is stiction. [castro2023] section V.
  double stiction_tolerance = 1e-4;
  /// sigma >= 0 [-]: friction regularization relative to the contact's mobility w.
  double friction_regularization = 1e-3;
  /// beta >= 0 [-]: SAP softens contacts whose period is shorter than beta time steps; 0: never.
  double near_rigid_factor = 1;
  /// Of models that take laws.
  NormalLawKind normal_law = NormalLawKind::hunt_crossley;
  FrictionRegularizationKind friction_law = FrictionRegularizationKind::soft;
  /// For NormalLawKind::custom, see make_custom_law; else null.
  std::shared_ptr<const CustomLaw> custom_law = nullptr;
};

}  // namespace stiction::contact
