#pragma once

#include <memory>

#include "stiction/contact/friction_regularizations.hpp"
#include "stiction/contact/normal_laws.hpp"

namespace stiction::numerics {
enum class LcpSolver;
}  // namespace stiction::numerics

namespace stiction::contact {

class CustomLaw;

/// Parameters of the contact models, beyond those of each contact.
struct ModelParameters {
  /// v_s > 0 [m/s]: below this slip speed friction is stiction. [castro2023] section V.
  double stiction_tolerance = 1e-4;
  /// sigma >= 0 [-]: friction regularization relative to the contact's mobility w.
  double friction_regularization = 1e-3;
  /// beta >= 0 [-]: SAP softens contacts whose period is shorter than beta time steps; 0: never.
  double near_rigid_factor = 1;
  /// The laws of models that take laws.
  NormalLawKind normal_law = NormalLawKind::hunt_crossley;
  FrictionRegularizationKind friction_law = FrictionRegularizationKind::soft;
  /// For NormalLawKind::custom, see make_custom_law; else null.
  std::shared_ptr<const CustomLaw> custom_law = nullptr;
  /// The LCP solver of `no_slip` and `viscous`; 0 is `ppm_ratio`. Other rigid models use Lemke's.
  numerics::LcpSolver lcp_solver{};
  /// k, even, >= 4: edges of the friction polygon of `stewart_trinkle` and `anitescu_potra`, and
  /// half-planes that `drumwright_shell` bounds friction with. See traits.
  int friction_directions = 4;
  /// Share of an overlap, of a violated limit or of an open equality that rigid models correct in
  /// one step, in [0, 1] [-]; 0: drift stays.
  double gap_correction = 0.1;
  /// The largest speed of such a correction, >= 0 [m/s, rad/s].
  double max_correction_speed = 0.1;
  /// True: under `no_slip`, only contacts stick that press, or would without friction. False: every
  /// contact sticks that touches when the step begins, as published; two contacts of a foot whose
  /// normals differ then hold it down.
  bool drop_separating = true;
};

}  // namespace stiction::contact
