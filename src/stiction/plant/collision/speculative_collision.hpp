#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/contact/gaps.hpp"
#include "stiction/plant/collision/contact_manifolds.hpp"
#include "stiction/plant/collision/touch_prediction.hpp"
#include "stiction/plant/materials/materials.hpp"
#include "stiction/plant/mocap/body_velocities.hpp"
#include "stiction/plant/mocap/mocap_motion.hpp"
#include "stiction/plant/mujoco/shadow_model.hpp"
#include "stiction/plant/repairs/collision_repair.hpp"

namespace stiction::plant {

/// True if the normal of two geoms may change with their positions.
bool has_varying_normal(const mjModel* model, const mjContact& contact);

/// Runs MuJoCo's collision with gaps that are wide enough for the step. MuJoCo lists a contact of
/// two geoms that overlap or are within their gap. Here the gap of every geom is at least the
/// distance that it may move within the step, plus the distance at which the contact model acts.
class SpeculativeCollision {
 public:
  /// The acceleration that smooth forces are assumed to give at most, ten times gravity [m/s^2].
  /// These forces are not known yet when bodies are collided.
  static constexpr double kUnknownAcceleration = 100;

  /// @param parameters only the normal law is read
  SpeculativeCollision(const mjModel* model, contact::ContactModel contact_model,
                       const contact::ModelParameters& parameters, const MaterialTable& materials);

  /// Runs mj_collision with the widened gaps, corrects its contacts (CollisionRepair), lets them
  /// stay (ContactManifolds), and marks contacts beyond the MJCF's own gap as kSpeculative. Only
  /// mj_collision runs if the user has set a contact filter, because the filter may identify the
  /// model by its address. If <option> overrides contact parameters, MuJoCo's broadphase ignores
  /// gaps, so speculative contacts beyond the margin may be missing. Call this inside a
  /// MuJoCoGuard.
  /// @param data after mj_fwdKinematics and mj_factorM
  /// @param start velocities of the bodies at the start of the step
  /// @param mocap velocities of mocap bodies
  /// @param left_out one flag per geom: 1 if the geom is collided only for a <pair>
  /// @param manifolds null: the contacts of the step before do not matter
  void collide(const mjModel* model, mjData* data, const BodyVelocities& start,
               const MocapMotion& mocap, std::span<const std::uint8_t> left_out,
               ContactManifolds* manifolds);

  /// The largest reach of all contacts of the model, in this step.
  const contact::Reach& largest_reach() const { return reach_; }

  /// Two geoms that touch, of which MuJoCo has found as many contacts as it keeps of a pair, so
  /// that others may be missing; of the last call of collide, if there were any. A convex geom on
  /// flat terrain is none: all its contacts are known.
  std::optional<std::array<int, 2>> full_pair() const { return full_pair_; }

  /// True if two geoms meet at these velocities with the normals of their contacts.
  /// @param listed the consecutive contacts of the geoms in data->contact
  bool meet(const mjModel* model, mjData* data, std::span<const mjContact> listed,
            const BodyVelocities& velocities);

 private:
  void widen_gaps(const mjModel* m, mjData* d, const BodyVelocities& start,
                  const MocapMotion& mocap);
  void leave_out(const mjModel* m, std::span<const std::uint8_t> left_out);
  bool calc_applied_acceleration(const mjModel* m, mjData* d);
  contact::Reach find_largest_reach(const mjModel* m) const;
  void find_meetings(const mjModel* m, mjData* d, const BodyVelocities& start, double horizon);
  void mark_speculative(const mjModel* m, mjData* d) const;
  void find_full_pair(const mjModel* m, const mjData* d, bool is_repaired);

  contact::ContactModel contact_model_;
  contact::ModelParameters parameters_;
  contact::Reach reach_;  // the largest in this step
  // The largest value of each property over all materials.
  double max_friction_ = 0;
  contact::ContactLawData<double> largest_ = {};
  bool has_few_geoms_ = false;  // every body has so few geoms that the midphase costs more
  ShadowModel wide_;            // the model with the widened gaps
  std::vector<double> force_, acceleration_, qvel_;  // with the applied forces, size nv
  BodyVelocities forced_;                            // velocities of the bodies at qvel_
  std::optional<std::array<int, 2>> full_pair_;
  CollisionRepair repair_;
  TouchPrediction prediction_;
};

}  // namespace stiction::plant
