#pragma once

#include <span>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/plant/forces/adhesion.hpp"
#include "stiction/plant/mocap/mocap_motion.hpp"
#include "stiction/plant/model/model.hpp"
#include "stiction/plant/mujoco/contact_marks.hpp"
#include "stiction/plant/mujoco/shadow_model.hpp"
#include "stiction/plant/rows/limit_rows.hpp"
#include "stiction/plant/rows/row_mobility.hpp"

namespace stiction::plant {

/// Parameters of rows that MuJoCo does not have.
struct RowParameters {
  /// Equalities and limits have at most their exact mobility. False: MuJoCo's estimate.
  bool exact_mobility = false;
  // Of dry friction.
  double stiction_tolerance = 1e-4;       // slip speed in stiction [m/s or rad/s]
  double friction_regularization = 1e-3;  // sigma [-]
};

/// Builds all constraint rows except contacts: equalities, dry friction, and limits.
class ConstraintRows {
 public:
  /// Calls MuJoCo to make its rows without contacts, and then the transmissions, because actuators
  /// on a body read the contacts. Contacts keep their place in data->contact. Call reserve first,
  /// and call this function inside a MuJoCoGuard.
  /// @param data   after mj_collision
  /// @param limits speculative limits that get rows, or null
  /// @param adhesion names speculative contacts on which actuators act, or null
  /// @param qvel     velocities that limits of ball joints expect, see turn_ball_limits; null:
  ///                 those of data
  void make_constraints(const mjModel* model, mjData* data,
                        const SpeculativeLimits* limits = nullptr,
                        const Adhesion* adhesion = nullptr, const mjtNum* qvel = nullptr);
  /// Allocates the memory of make_constraints, which must not allocate inside a MuJoCoGuard.
  void reserve(const mjData* data) { marks_.resize(data->ncon); }

  /// Appends MuJoCo's rows to the problem; Row::source is the row in data->efc_*.
  ///
  /// Equality and limit rows keep the meaning of solref and solimp, but the spring and damper are
  /// evaluated at the end of the step. With stiffness K, damping B, impedance I and mass D of
  /// MuJoCo's row,
  ///
  ///     f = -D [ (v_r - v_r0) / dt + B v_r + K I (r + dt v_r) ].
  ///
  /// Dry friction has MuJoCo's force bound and our regularization, so a joint or tendon in stiction
  /// creeps slower than the tolerance for every solref. Under `elastic` JointAnchors replaces it.
  ///
  /// D = I / (w (1 - I)) with the mobility w of the row. MuJoCo estimates w by the mobilities of
  /// the bodies or joints in the pose qpos0, and adds those of both: it is J M^-1 J^T for a limit
  /// there, but 2000 times as large for a joint equality that makes a screw. A row would be as many
  /// times too soft. With RowParameters::exact_mobility the mean of J M^-1 J^T over the components
  /// of a vector replaces a larger estimate in efc_diagA, efc_R and efc_D. It does not replace a
  /// smaller one: no row gets softer. The flag diagexact of a model asks for MuJoCo's own
  /// computation, by components. Bodies of a moving mocap body give a row of a connect, weld or
  /// spatial tendon a bias, see calc_mocap_row_velocity.
  /// @param data  after mj_factorM and mj_fwdVelocity
  /// @param mocap velocities of mocap bodies
  void add_rows(const mjModel* model, mjData* data, const Model& plant,
                const RowParameters& parameters, const MocapMotion& mocap,
                contact::ContactProblem* problem);

 private:
  void find_nonzeros(int nv, const mjtNum* J);

  ShadowModel wide_;                // the model with the wider margins of speculative limits
  std::vector<ContactMark> marks_;  // saved, per contact
  RowMobility mobility_;
  std::vector<int> dofs_;  // nonzeros of a dense row
  std::vector<double> values_;
};

/// Returns true if a row of an equality is only round-off.
///
/// MuJoCo computes a row of a connect or a weld as the difference of the Jacobians of two bodies.
/// If no motion moves the bodies apart in its direction, as for a connect at the center of their
/// ball joint, the positions in the row cancel, and entries of the order 1e-17 may be left. A rigid
/// model would satisfy such a row by the motion of the whole tree, which the row does not concern.
/// @param equality of the model
/// @param J        entries of the row
bool is_round_off(const mjModel* m, const mjData* d, int equality, std::span<const double> J);

}  // namespace stiction::plant
