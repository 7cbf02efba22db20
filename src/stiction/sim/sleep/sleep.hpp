#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/plant/mocap/mocap_motion.hpp"
#include "stiction/plant/model/model.hpp"
#include "stiction/plant/model/tree_ties.hpp"
#include "stiction/sim/memory/memory.hpp"
#include "stiction/sim/sleep/rest_detector.hpp"
#include "stiction/sim/sleep/sleep_state.hpp"

namespace stiction::sim {

/// The sleep of kinematic trees, by the rules of MuJoCo 4: trees that contacts, equalities, tendons
/// or actuators join fall asleep together, after mjMINAWAKE steps in which none moves faster than
/// mjOption::sleep_tolerance, and any of them wakes all. For the step, a sleeping tree is a fixed
/// body: it has no dofs, and no contacts with sleeping or fixed bodies.
///
/// Three rules are added, so that the certificate can stand for sleeping trees; docs/sleep.md
/// derives them.
///
/// - The last of these steps starts from rest: the velocities are set to 0 before it. All following
///   steps would repeat it as long as nothing changes. With its solution v and the error bound e of
///   its island, |v|_A + e bounds the error of taking 0 for the velocities in each of them.
/// - Velocities that change by more than the tolerance per second keep a tree awake, since its body
///   may have just begun to fall or to roll. All steps are counted anew when an input or a contact
///   that carries the tree changes.
/// - Whatever changes the problem of that step wakes the trees that it acts on; see SleepInputs.
class Sleep final : public Memory {
 public:
  /// @param mocap the motion of mocap bodies in a step
  /// @param plant lists the dofs of awake trees
  Sleep(const mjModel* model, const plant::MocapMotion* mocap, plant::Model* plant);

  /// Begins a step: wakes what the caller has changed, and writes the arrays by which MuJoCo skips
  /// sleeping trees.
  void begin(const StepStart& start) override;
  void restore(mjData* data) override;
  void write(base::WordWriter* words) const override;
  void read(base::WordReader* words) override;

  /// True if the step must compute the kinematics of all bodies, as if none slept.
  bool needs_all_kinematics() const { return needs_all_; }
  /// Writes the arrays of the data again.
  void write_arrays(mjData* data) const;
  /// Hides from MuJoCo's integrator how long trees have been at rest, so that it puts none to
  /// sleep.
  void hide_counts(mjData* data) const;

  /// Wakes the trees that a callback has changed within the step.
  /// @return true if there were any; then the step must begin again
  bool wake_within_step(mjData* data);
  /// Wakes the sleeping tree of a contact, and those that sleep with it, if its other body may
  /// move. Call update afterwards.
  /// @return true if a tree woke
  bool wake_touched(const mjData* data, const std::array<int, 2>& bodies);
  /// Tells the data and the plant which trees sleep.
  void update(mjData* data);
  /// Removes the contacts of sleeping trees with bodies that do not move.
  void remove_contacts(mjData* data) const;

  bool tree_sleeps(int tree) const { return state_.trees[tree].sleeps(); }
  /// True if the body's tree sleeps.
  bool sleeps(int body) const {
    const int tree = m_->body_treeid[body];
    return tree >= 0 && tree_sleeps(tree);
  }
  /// True if the tree of a geom's body sleeps.
  bool geom_sleeps(int geom) const { return sleeps(m_->geom_bodyid[geom]); }
  /// True if the body is part of an awake tree, or of a mocap body that moves in this step or has
  /// been moved before it.
  bool may_move(int body) const {
    if (m_->body_treeid[body] >= 0) return !sleeps(body);
    const int mocap = m_->body_mocapid[m_->body_rootid[body]];
    return mocap >= 0 && is_mocap_moved_[mocap];
  }
  /// True if a contact of two bodies is left out, because one sleeps and the other does not move.
  bool leaves_out(int body_A, int body_B) const {
    return (sleeps(body_A) && !may_move(body_B)) || (sleeps(body_B) && !may_move(body_A));
  }

  /// Ends a step: counts the steps at rest and puts trees to sleep; see RestDetector.
  /// @param data the state at the end of the step
  void finish(mjData* data, const RestDetector::Step& step);

  /// The number of trees that sleep.
  int num_asleep() const { return num_asleep_; }
  /// Bound on |v - v_exact|_A of the trees whose velocities this step took for 0, with the velocity
  /// v_exact of the exact step from the same state [sqrt(J)]. Trees that are asleep since
  /// mj_resetData are left out: their sleep is the caller's decision.
  double bound() const { return bound_; }

 private:
  using Tree = TreeStates::Tree;
  void keep_before_change();
  void clear(const mjData* d);
  void adopt(const mjData* d);
  bool may_be_initialized(const mjData* d, int tree) const;
  void follow_last_step(const mjData* d, bool may_have_changed_model);
  void find_moved_mocap_bodies(const mjData* d);
  void wake_changed(const mjData* d);
  void wake(const mjData* d, int tree);
  void wake_all(const mjData* d);
  void find_moved_trees(const mjData* d);
  void repeat_steps_from_rest();
  bool is_moved(const mjData* d, int tree) const;

  const plant::MocapMotion& mocap_;
  plant::Model* plant_;
  plant::TreeTies ties_;
  SleepInputs inputs_;
  TreeStates state_{m_}, kept_{m_};  // now, and at the start of the step if it has changed since
  SleepInputs::Values kept_inputs_;
  bool is_kept_ = false;
  bool needs_all_ = false;
  int num_asleep_ = 0;
  double asleep_bound2_ = 0, bound_ = 0;

  // The present step.
  std::vector<std::uint8_t> is_mocap_moved_;  // per mocap body
  RestDetector detector_{ties_, inputs_};
  std::vector<int> tree_asleep_;
  std::vector<std::uint8_t> tree_awake_, is_changed_, flags_;
};

}  // namespace stiction::sim
