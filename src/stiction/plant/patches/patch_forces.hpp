#pragma once

#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/patch_contact.hpp"
#include "stiction/plant/materials/materials.hpp"
#include "stiction/plant/model/model.hpp"
#include "stiction/plant/mujoco/shadow_model.hpp"
#include "stiction/plant/patches/contact_patches.hpp"

namespace stiction::plant {

/// Computes pressure-field contact in its continuous form: forces that depend only on the present
/// positions and velocities. The contact models of the step approximate these forces over a step.
/// Use this class with integrators that have error control. At a point with pressure p, normal
/// velocity v_n (positive when bodies separate) and slip velocity v_t, the tractions are
///
///     t_n = p (1 - d v_n)_+ ,     t_t = -(2/pi) mu t_n atan(|v_t| / v_s) v_t / |v_t| ,
///
/// with d and mu as in the step. Source: [masterjohn2022] section IV; friction as in Drake's
/// continuous mode. The same state always gives the same forces.
class PatchForces {
 public:
  /// Makes the bodies of all geoms.
  /// @param model     kept by pointer; must outlive this
  /// @param materials one per geom
  /// @param stiction_tolerance v_s > 0 [m/s]
  /// @throws Error of ContactPatches, if no two geoms can touch in patches, or if v_s is out of
  /// range
  PatchForces(const mjModel* model, const MaterialTable& materials,
              const contact::SurfaceOptions& options, double stiction_tolerance);
  PatchForces(const PatchForces&) = delete;
  PatchForces& operator=(const PatchForces&) = delete;

  /// Computes the generalized forces of all patches.
  /// @param data its qpos and qvel are read; kinematics, velocities and contacts are computed
  /// @param qfrc [N, N m], size (nv), overwritten
  /// @throws Error if geoms touch in points, which have no continuous form here; MuJoCo's errors
  void calc(mjData* data, double* qfrc);

  /// Computes data->qacc from these forces, the actuators, qfrc_applied, passive forces, and
  /// MuJoCo's own constraints except contacts.
  /// @throws Error like calc
  void calc_acceleration(mjData* data);

  const mjModel* model() const { return model_; }

 private:
  void calc_points(mjData* d);
  void add_patch(const PatchPair& pair, const mjData* d, double* qfrc) const;

  const mjModel* model_;
  ShadowModel without_contact_;
  MaterialTable materials_;
  Model plant_;
  ContactPatches patches_;
  contact::ContactProblem problem_;
  double stiction_tolerance_;
  std::vector<double> qfrc_;
};

}  // namespace stiction::plant
