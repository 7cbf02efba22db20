#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/contact/reach.hpp"
#include "stiction/contact/rigid_touch.hpp"
#include "stiction/plant/body_velocities.hpp"
#include "stiction/plant/materials.hpp"
#include "stiction/plant/model.hpp"

namespace stiction::plant {

/// Contacts before they close. MuJoCo reports two geoms where they overlap or are within their gap;
/// a contact that closes within the step would first be seen as a penetration. Here every geom's
/// gap is at least the way that it may go within the step, and as far as the contact model acts,
/// and of what MuJoCo then reports a contact takes part in the step if it may act.
///
/// All of it follows from the state and the inputs at the start of the step. Not foreseen are
/// bodies that the caller moves by mocap, and what an actuator does beyond kUnknownAcceleration.
class LookAhead {
 public:
  /// Value of mjContact::exclude for a contact beyond the MJCF's own gap, until remove_idle.
  static constexpr int kCandidate = 16;
  /// Of geoms that take part in a step which ends where others touch [m].
  static constexpr double kNearlyTouching = 10 * contact::kTouchDistance;
  /// Of smooth forces that are not known when bodies are collided, ten times gravity [m/s^2].
  static constexpr double kUnknownAcceleration = 100;
  /// Of impulses that are taken for granted, twice gravity [m/s^2]: what is so near takes part.
  static constexpr double kImpulsiveAcceleration = 20;

  /// @param parameters of which the normal law is read
  LookAhead(const mjModel* model, contact::ContactModel contact_model,
            const contact::ModelParameters& parameters, const MaterialTable& materials);

  /// mj_collision with wider gaps; plain under a user's own filter of contacts, which knows the
  /// caller's model by its address. With contacts overridden in <option> MuJoCo's broadphase does
  /// not see gaps, so candidates beyond the margin may be missing.
  /// @param data after mj_fwdKinematics and mj_factorM; see MuJoCoGuard for errors
  /// @param left_out of each geom, 1 if it need not be collided but by a <pair>
  void collide(const mjModel* model, mjData* data, const Model& plant,
               std::span<const std::uint8_t> left_out);

  /// Chooses the contacts that take part: those that touch, and of those within a gap the ones that
  /// are within the model's reach at the velocities that the step begins with, or would close at
  /// those that the smooth forces alone give.
  /// @param data after mj_fwdAcceleration
  /// @param only_of_touching leaves out gaps between geoms that do not touch anywhere: for steps
  ///     that end where these do
  void choose(const mjModel* model, const mjData* data, bool only_of_touching = false);

  /// Adds what is within reach at the velocities of a solution, where impulses made it so.
  /// @param qvel size nv
  /// @return true if there is any
  bool add_reached(const mjModel* model, const mjData* data, const double* qvel);

  /// Of each contact in data->contact, 1 if it takes part.
  std::span<const std::uint8_t> acts() const { return acts_; }

  /// Takes candidates without an impulse out of data->contact, so that what is listed there is what
  /// MuJoCo would list and what touched within the step.
  /// @param data after write_back
  /// @return the new index of each contact, for those that stay
  std::span<const int> remove_idle(mjData* data);

 private:
  void calc_gaps(const mjModel* m, mjData* d, const Model& plant);
  bool calc_applied_acceleration(const mjModel* m, mjData* d);
  contact::Reach find_largest_reach(const mjModel* m) const;
  void mark_candidates(const mjModel* m, mjData* d) const;
  void find_touching(const mjData* d);
  bool is_reached(const mjModel* m, const mjData* d, const mjContact& con,
                  const BodyVelocities& velocities) const;
  static bool is_closed(const mjModel* m, const mjData* d, const mjContact& con,
                        const BodyVelocities& velocities);

  contact::ContactModel contact_model_;
  contact::ModelParameters parameters_;
  contact::NormalLawKind law_;  // that the model has
  const MaterialTable& materials_;
  // Of the materials.
  double max_friction_ = 0;                       // of all materials
  contact::ContactLawData<double> largest_ = {};  // the same of each property
  bool has_few_geoms_ = false;                    // on every body: MuJoCo's midphase does not pay
  mjModel wide_;                                  // the model with these gaps, shares the rest
  std::vector<mjtNum> geom_gap_, pair_gap_, body_margin_;
  std::vector<int> contype_, conaffinity_;
  std::vector<double> force_, qvel_;  // size nv
  BodyVelocities start_, end_;
  std::vector<std::uint8_t> acts_;
  std::vector<std::uint8_t> may_act_;  // empty: all
  std::vector<int> index_;             // of each contact in the list without what is removed
};

}  // namespace stiction::plant
