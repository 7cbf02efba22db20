#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/contact/gaps.hpp"
#include "stiction/plant/collision/speculative_collision.hpp"
#include "stiction/plant/materials/materials.hpp"
#include "stiction/plant/mocap/body_velocities.hpp"
#include "stiction/plant/model/model.hpp"

namespace stiction::plant {

/// Speculative contacts: contacts that are open when the step begins and may close within it.
/// Without them a contact that closes within the step would first be seen as a penetration.
/// SpeculativeCollision finds the candidates; this class chooses those that take part in the step,
/// and after the step removes those that stayed open.
///
/// The choice depends only on the state, the inputs and the velocities of mocap bodies at the start
/// of the step. It does not include accelerations by actuators beyond
/// SpeculativeCollision::kUnknownAcceleration.
class SpeculativeContacts {
 public:
  /// Steps that end at a touch treat geoms that are nearer than this as touching [m].
  static constexpr double kNearlyTouching = 10 * contact::kTouchDistance;
  /// Velocity changes by impulses are not known when contacts are chosen. A contact takes part if
  /// this acceleration, twice gravity, would close it within the step [m/s^2].
  static constexpr double kImpulsiveAcceleration = 20;

  /// @param parameters only the normal law is read
  SpeculativeContacts(const mjModel* model, contact::ContactModel contact_model,
                      const contact::ModelParameters& parameters, const MaterialTable& materials);

  /// Fills data->contact with the contacts that are closed and those that may close within the
  /// step, see SpeculativeCollision::collide.
  /// @param mocap velocities of mocap bodies in the step; kept by pointer until the next call
  void collide(const mjModel* model, mjData* data, const MocapMotion& mocap,
               std::span<const std::uint8_t> left_out, ContactManifolds* manifolds = nullptr);

  /// See SpeculativeCollision::full_pair.
  std::optional<std::array<int, 2>> full_pair() const { return collision_.full_pair(); }

  /// True if `choose` will choose a contact, whatever the forces: it is closed, or within reach at
  /// the initial velocities. Call it after collide.
  bool acts_at_start(const mjModel* model, const mjData* data, const mjContact& con) const;

  /// Chooses the contacts that take part. Closed contacts always take part. An open contact takes
  /// part if it is within the contact model's reach at the initial velocities of the step, or if it
  /// would close at the velocities by smooth forces alone.
  /// @param data after mj_fwdAcceleration
  /// @param only_of_touching skips open contacts between geoms that touch nowhere; for steps that
  ///     end when such geoms touch
  void choose(const mjModel* model, const mjData* data, bool only_of_touching = false);

  /// Adds the contacts that are within reach at the velocities of a solution, of geoms that really
  /// meet at these. Call it inside a MuJoCoGuard.
  /// @param qvel size nv
  /// @return true if there are any
  bool add_reached(const mjModel* model, mjData* data, const double* qvel);

  /// One flag per contact in data->contact: 1 if it takes part.
  std::span<const std::uint8_t> acts() const { return acts_; }

  /// Removes speculative contacts without an impulse from data->contact. The list then holds the
  /// contacts that MuJoCo would list, and those that closed within the step.
  /// @param data after write_back
  /// @return the new index of each contact that stays
  std::span<const int> remove_idle(mjData* data);

 private:
  void find_touching(const mjData* d);
  contact::Reach calc_reach(const mjModel* m, const mjContact& con) const;
  bool is_reached(const mjModel* m, const mjData* d, const mjContact& con,
                  const BodyVelocities& velocities) const;
  bool is_lifted(const mjModel* m, const mjData* d, const mjContact& con,
                 const contact::Reach& reach, const BodyVelocities::AtContact& v) const;
  bool is_closed(const mjModel* m, const mjData* d, const mjContact& con,
                 const BodyVelocities& velocities) const;

  SpeculativeCollision collision_;
  contact::ContactModel contact_model_;
  contact::ModelParameters parameters_;
  contact::NormalLawKind law_;  // normal law of the contact model
  const MaterialTable& materials_;
  const MocapMotion* mocap_ = nullptr;  // in this step
  std::vector<double> qvel_;            // velocities after the step by smooth forces alone, size nv
  // Velocities at the start of the step, after it by smooth forces alone, and of a solution.
  BodyVelocities start_, smooth_, solution_;
  std::vector<std::uint8_t> acts_;
  std::vector<std::uint8_t> may_act_;  // contacts between geoms that touch; empty: all may
  std::vector<int> index_;             // new index of each contact after remove_idle
};

}  // namespace stiction::plant
