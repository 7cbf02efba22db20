#pragma once

#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/plant/model.hpp"
#include "stiction/plant/speculative_limits.hpp"

namespace stiction::plant {

/// Parameters of rows that MuJoCo has no counterpart for.
struct RowParameters {
  double stiction_tolerance = 1e-4;       // of dry friction [m/s or rad/s]
  double friction_regularization = 1e-3;  // [-]
};

/// Constraint rows of all kinds but contact: equality, dry friction, limits.
class ConstraintRows {
 public:
  /// Has MuJoCo build its rows without contacts, and transmissions, which for actuators on a body
  /// look at the contacts. Contacts keep their place in data->contact.
  /// @param data after mj_collision; see MuJoCoGuard for errors. Call reserve first.
  /// @param limits that are to be seen early; or null
  void make_constraints(const mjModel* model, mjData* data,
                        const SpeculativeLimits* limits = nullptr);
  void reserve(const mjData* data) { exclude_.resize(data->ncon); }

  /// Appends MuJoCo's rows to the problem; Row::source is the row in data->efc_*.
  ///
  /// Equality and limit rows keep the meaning of solref and solimp, but their spring and damper act
  /// at the end of the step: with stiffness K, damping B, impedance I and mass D of MuJoCo's row,
  ///
  ///     f = -D [ (v_r - v_r0) / dt + B v_r + K I (r + dt v_r) ].
  ///
  /// Dry friction has MuJoCo's force bound and our regularization: a joint or tendon in stiction
  /// creeps slower than the tolerance, whatever its solref.
  /// @param data after mj_fwdVelocity
  void add_rows(const mjModel* model, const mjData* data, const Model& plant,
                const RowParameters& parameters, contact::ContactProblem* problem);

 private:
  mjModel wide_;              // with the margins of limits that are seen early
  std::vector<int> exclude_;  // of each contact, while MuJoCo makes rows without them
  std::vector<int> dofs_;     // nonzeros of a dense row
  std::vector<double> values_;
};

}  // namespace stiction::plant
