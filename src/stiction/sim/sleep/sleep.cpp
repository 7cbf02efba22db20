#include "stiction/sim/sleep/sleep.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "stiction/plant/mujoco/data_arrays.hpp"

namespace stiction::sim {

Sleep::Sleep(const mjModel* m, const plant::MocapMotion* mocap, plant::Model* plant)
    : Memory(m, "the sleep of trees", Scope::call),
      mocap_(*mocap),
      plant_(plant),
      ties_(m),
      inputs_(m) {}

/// Keeps the state before it changes for the first time in a step.
void Sleep::keep_before_change() {
  if (is_kept_) return;
  kept_ = state_;
  kept_inputs_ = inputs_.values();
  is_kept_ = true;
}

/// Makes all trees awake.
void Sleep::clear(const mjData* d) {
  keep_before_change();
  state_.trees.assign(m_->ntree, {});
  state_.is_resumed = false;
  state_.start_v.assign(d->qvel, d->qvel + m_->nv);
  state_.earlier_v = state_.start_v;
  state_.keep_motion(d);
  for (Tree& tree : state_.trees) tree.start_time = d->time;
  for (auto* numbers : {&kept_.start_v, &kept_.earlier_v, &kept_.qvel}) numbers->reserve(m_->nv);
  kept_.qpos.reserve(m_->nq);
}

void Sleep::begin(const StepStart& start) {
  if (start.is_again || start.is_mj_step) return;
  mjData* const d = start.data;
  is_kept_ = false;
  bound_ = 0;
  if (!start.has_sleep && !state_.is_on) return;
  if (!start.has_sleep) {
    clear(d);
    needs_all_ = false;
  } else if (!state_.is_on || !start.goes_on) {
    adopt(d);
    find_moved_mocap_bodies(d);
  } else {
    if (state_.is_resumed || inputs_.has_changed(d)) keep_before_change();
    find_moved_mocap_bodies(d);
    follow_last_step(d, start.may_have_changed_model);
  }
  state_.is_on = start.has_sleep;
  update(d);
}

/// Begins with data that another stepper may have left. The reason why their trees sleep is not
/// known, so only those stay asleep that mj_resetData has put to sleep.
void Sleep::adopt(const mjData* d) {
  clear(d);
  needs_all_ = true;
  flags_.assign(m_->ntree, 0);
  for (int i = 0; i < m_->ntree; ++i) flags_[i] = may_be_initialized(d, i);
  for (int i = 0; i < m_->ntree; ++i) {
    // The trees of an island must form a cycle, and none may have changed.
    int count = 0, tree = i;
    do {
      if (!flags_[tree]) break;
      tree = d->tree_asleep[tree];
    } while (tree != i && ++count < m_->ntree);
    if (!flags_[tree] || tree != i) continue;
    state_.trees[i].next = d->tree_asleep[i];
    state_.trees[i].is_initialized = true;
  }
  inputs_.keep(d);
  inputs_.keep_model();
}

/// True if a tree may be asleep since mj_resetData.
bool Sleep::may_be_initialized(const mjData* d, int tree) const {
  const auto [first, last] = find_positions(m_, tree);
  return m_->tree_sleep_policy[tree] == mjSLEEP_INIT && 0 <= d->tree_asleep[tree] &&
         d->tree_asleep[tree] < m_->ntree && !is_applied(m_, d, tree) &&
         are_zero(d->qvel + m_->tree_dofadr[tree], m_->tree_dofnum[tree]) &&
         std::equal(d->qpos + first, d->qpos + last, m_->qpos0 + first);
}

/// Begins with what the last step left, and wakes what has changed since.
void Sleep::follow_last_step(const mjData* d, bool may_have_changed_model) {
  if (has_changing_callback()) wake_all(d);
  if ((may_have_changed_model || state_.is_resumed) && state_.is_any_quiet() &&
      inputs_.has_changed_model()) {
    keep_before_change();
    wake_all(d);
    inputs_.keep_model();
    needs_all_ = true;
  }
  wake_changed(d);
  inputs_.keep(d);
  state_.is_resumed = false;
  repeat_steps_from_rest();
}

void Sleep::find_moved_mocap_bodies(const mjData* d) {
  is_mocap_moved_.assign(m_->nmocap, 0);
  for (int body = 0; body < m_->nbody; ++body)
    if (const int i = m_->body_mocapid[body]; i >= 0)
      is_mocap_moved_[i] = mocap_.of_body(m_, body) || inputs_.has_moved(d, i);
}

/// Wakes the trees that the caller has changed, or on which a changed input acts.
void Sleep::wake_changed(const mjData* d) {
  is_changed_.assign(m_->ntree, 0);
  inputs_.find_changes(d, ties_, is_changed_);
  find_moved_trees(d);
  for (int i = 0; i < m_->ntree; ++i)
    if (is_changed_[i]) wake(d, i);
}

/// Marks the quiet trees that the caller has moved or woken.
void Sleep::find_moved_trees(const mjData* d) {
  const bool has_mocap_moved = std::ranges::find(is_mocap_moved_, 1) != is_mocap_moved_.end();
  for (int i = 0; i < m_->ntree; ++i) {
    if (has_mocap_moved && state_.trees[i].touches_mocap) is_changed_[i] = 1;
    if (!state_.trees[i].is_quiet()) continue;
    // MuJoCo's functions wake trees, too.
    const bool is_woken = state_.trees[i].sleeps() && !state_.is_resumed && d->tree_asleep[i] < 0;
    if (is_woken || is_moved(d, i)) is_changed_[i] = 1;
  }
}

/// True if a quiet tree has another position or velocity, or an applied force. As in MuJoCo, -0 is
/// another velocity than 0.
bool Sleep::is_moved(const mjData* d, int tree) const {
  const auto [first, last] = find_positions(m_, tree);
  const int dof = m_->tree_dofadr[tree];
  const auto are_same = [](mjtNum x, mjtNum y) {
    return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
  };
  return is_applied(m_, d, tree) ||
         !std::equal(d->qvel + dof, d->qvel + dof + m_->tree_dofnum[tree],
                     state_.qvel.begin() + dof, are_same) ||
         !std::equal(d->qpos + first, d->qpos + last, state_.qpos.begin() + first);
}

/// Wakes all trees except those that are asleep by the caller's decision.
void Sleep::wake_all(const mjData* d) {
  for (int i = 0; i < m_->ntree; ++i)
    if (!state_.trees[i].is_initialized) wake(d, i);
}

/// Wakes a tree and those that sleep with it. They count their steps from 0 again, also if the tree
/// is awake.
void Sleep::wake(const mjData* d, int first) {
  keep_before_change();
  for (int tree = first; tree >= 0;) {
    Tree& woken = state_.trees[tree];
    const int next = std::exchange(woken.next, -1);
    woken.rests = woken.is_initialized = woken.is_stale = false;
    state_.restart_count(d, tree);
    tree = next == first ? -1 : next;
  }
}

/// Lets trees take their step from rest again whose results the data lacks.
void Sleep::repeat_steps_from_rest() {
  for (Tree& tree : state_.trees) {
    if (!tree.is_stale || tree.is_initialized) continue;
    keep_before_change();
    tree.next = -1;
    tree.is_stale = false;
    tree.rests = true;
  }
}

void Sleep::update(mjData* d) {
  tree_asleep_.resize(m_->ntree);
  flags_.resize(m_->ntree);
  num_asleep_ = 0;
  for (int i = 0; i < m_->ntree; ++i) {
    const Tree& tree = state_.trees[i];
    tree_asleep_[i] = tree.sleeps() ? tree.next : plant::kFullyAwake + tree.num_steps;
    flags_[i] = !tree.sleeps();
    num_asleep_ += tree.sleeps();
  }
  if (!std::equal(tree_asleep_.begin(), tree_asleep_.end(), d->tree_asleep) ||
      d->ntree_awake != m_->ntree - num_asleep_)
    plant::write_sleep_arrays(m_, tree_asleep_, d);
  if (flags_ == tree_awake_) return;
  tree_awake_ = flags_;
  plant_->set_awake(m_, tree_awake_);
  asleep_bound2_ = state_.calc_bound2(&flags_);
}

void Sleep::write_arrays(mjData* d) const { plant::write_sleep_arrays(m_, tree_asleep_, d); }

void Sleep::hide_counts(mjData* d) const {
  if (!state_.is_on) return;
  for (int i = 0; i < m_->ntree; ++i)
    if (d->tree_asleep[i] < 0) d->tree_asleep[i] = plant::kFullyAwake;
}

void Sleep::restore(mjData* d) {
  if (!state_.is_on) return;
  if (is_kept_) {
    for (int i = 0; i < m_->ntree; ++i)
      if (kept_.trees[i].sleeps() && !state_.trees[i].sleeps()) kept_.trees[i].is_stale = true;
    std::swap(state_, kept_);
    inputs_.set_values(kept_inputs_);
    is_kept_ = false;
  }
  update(d);
}

bool Sleep::wake_within_step(mjData* d) {
  if (num_asleep_ == 0) return false;
  const int num_before = num_asleep_;
  wake_changed(d);
  update(d);
  return num_asleep_ < num_before;
}

bool Sleep::wake_touched(const mjData* d, const std::array<int, 2>& bodies) {
  for (const auto [body, other] : {bodies, {bodies[1], bodies[0]}}) {
    if (!sleeps(body) || !may_move(other)) continue;
    wake(d, m_->body_treeid[body]);
    return true;
  }
  return false;
}

void Sleep::remove_contacts(mjData* d) const {
  const auto end = std::remove_if(d->contact, d->contact + d->ncon, [&](const mjContact& con) {
    return leaves_out(m_->geom_bodyid[con.geom[0]], m_->geom_bodyid[con.geom[1]]);
  });
  d->ncon = static_cast<int>(end - d->contact);
}

void Sleep::finish(mjData* d, const RestDetector::Step& step) {
  if (!state_.is_on) return;
  needs_all_ = false;
  bound_ = std::sqrt(asleep_bound2_);
  if (num_asleep_ == m_->ntree) return;
  keep_before_change();
  const bool was_any_quiet = state_.is_any_quiet();
  const double removed2 = detector_.finish(d, *plant_, step, is_mocap_moved_, &state_);
  update(d);
  if (!was_any_quiet && state_.is_any_quiet()) inputs_.keep_model();
  bound_ = std::sqrt(asleep_bound2_ + removed2);
}

void Sleep::write(base::WordWriter* words) const {
  state_.write(words);
  if (state_.is_on) inputs_.write(words);
}

void Sleep::read(base::WordReader* words) {
  state_.read(words);
  if (state_.is_on) inputs_.read(words);
  needs_all_ = state_.is_on;
}

}  // namespace stiction::sim
