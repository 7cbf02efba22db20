#pragma once

#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/surface_options.hpp"
#include "stiction/plant/contact_patches.hpp"
#include "stiction/plant/materials.hpp"
#include "stiction/plant/model.hpp"

namespace stiction::plant {

/// Pressure-field contact in its continuous form, as forces of the present positions and
/// velocities: what the models of the step approximate over a step, for integrators with error
/// control. At a point with pressure p, normal velocity v_n > 0 where bodies part, and slip v_t,
///
///     t_n = p (1 - d v_n)_+ ,     t_t = -(2/pi) mu t_n atan(|v_t| / v_s) v_t / |v_t| ,
///
/// d and mu as in the step. Source: [masterjohn2022] section IV; friction as Drake's continuous
/// mode. It needs no memory but its own: the same state gives the same forces.
class PatchForces {
 public:
  /// @param model     kept by pointer; must outlive this
  /// @param materials one per geom
  /// @param stiction_tolerance v_s > 0 [m/s]
  /// @throws Error as ContactPatches; if nothing can touch in patches; for v_s out of range
  PatchForces(const mjModel* model, const MaterialTable& materials,
              const contact::SurfaceOptions& options, double stiction_tolerance);
  PatchForces(const PatchForces&) = delete;
  PatchForces& operator=(const PatchForces&) = delete;

  /// Generalized forces of all patches.
  /// @param data whose qpos and qvel are read; its kinematics, velocities and contacts are computed
  /// @param qfrc [N, N m], size (nv), overwritten
  /// @throws Error if geoms touch in points, which have no continuous form here; of MuJoCo
  void calc(mjData* data, double* qfrc);

  /// qacc of `data` with these forces, its actuators, qfrc_applied and passive forces, and MuJoCo's
  /// own constraints but contacts. Same errors.
  void calc_acceleration(mjData* data);

  const mjModel* model() const { return model_; }

 private:
  void calc_points(mjData* d);
  void add_patch(const PatchPair& pair, const mjData* d, double* qfrc) const;

  const mjModel* model_;
  mjModel without_contact_;  // shares the model's arrays
  MaterialTable materials_;
  Model plant_;
  ContactPatches patches_;
  contact::ContactProblem problem_;
  double stiction_tolerance_;
  std::vector<double> qfrc_;
};

}  // namespace stiction::plant
