#pragma once

namespace stiction::contact {

/// Parameters of the convex contact models, beyond those of each contact.
struct ModelParameters {
  /// v_s > 0 [m/s]: below this slip speed friction is stiction. [castro2023] section V.
  double stiction_tolerance = 1e-4;
  /// sigma >= 0 [-]: friction regularization relative to the contact's mobility w.
  double friction_regularization = 1e-3;
  /// beta >= 0 [-]: SAP softens contacts whose period is shorter than beta time steps; 0: never.
  double near_rigid_factor = 1;
};

}  // namespace stiction::contact
