#include "stiction/sim/sleep/sleep_state.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

namespace stiction::sim {
namespace {

/// True if sleeping trees, and only they, have a successor each, so that they form cycles.
bool are_cycles(const std::vector<TreeStates::Tree>& trees) {
  std::vector<bool> is_next(trees.size(), false);
  for (const TreeStates::Tree& tree : trees) {
    if (!tree.sleeps()) continue;
    if (is_next[tree.next] || !trees[tree.next].sleeps()) return false;
    is_next[tree.next] = true;
  }
  return true;
}

constexpr int kInputs =
    mjSTATE_ACT | mjSTATE_CTRL | mjSTATE_EQ_ACTIVE | mjSTATE_MOCAP_POS | mjSTATE_MOCAP_QUAT;

}  // namespace

std::pair<int, int> find_positions(const mjModel* m, int tree) {
  const auto find_first = [m](int i) {
    return i < m->ntree ? m->jnt_qposadr[m->body_jntadr[m->tree_bodyadr[i]]]
                        : static_cast<int>(m->nq);
  };
  return {find_first(tree), find_first(tree + 1)};
}

bool has_changing_callback() {
  return mjcb_passive || mjcb_contactfilter || mjcb_act_dyn || mjcb_act_gain || mjcb_act_bias;
}

bool are_zero(const mjtNum* values, int size) {
  return std::all_of(values, values + size,
                     [](mjtNum x) { return std::bit_cast<std::uint64_t>(x) == 0; });
}

bool is_applied(const mjModel* m, const mjData* d, int tree) {
  return !are_zero(d->xfrc_applied + 6 * m->tree_bodyadr[tree], 6 * m->tree_bodynum[tree]) ||
         !are_zero(d->qfrc_applied + m->tree_dofadr[tree], m->tree_dofnum[tree]);
}

void TreeStates::restart_count(const mjData* d, int tree) {
  trees[tree].num_steps = 0;
  begin_window(d, tree);
}

void TreeStates::begin_window(const mjData* d, int tree) {
  const int first = m->tree_dofadr[tree], size = m->tree_dofnum[tree];
  trees[tree].earlier_time = std::exchange(trees[tree].start_time, d->time);
  std::copy_n(start_v.begin() + first, size, earlier_v.begin() + first);
  std::copy_n(d->qvel + first, size, start_v.begin() + first);
  trees[tree].window = 0;
}

void TreeStates::keep_motion(const mjData* d) {
  qpos.assign(d->qpos, d->qpos + m->nq);
  qvel.assign(d->qvel, d->qvel + m->nv);
}

bool TreeStates::is_any_quiet() const {
  return std::ranges::any_of(trees, [](const Tree& tree) { return tree.is_quiet(); });
}

double TreeStates::calc_bound2(std::vector<std::uint8_t>* scratch) const {
  std::vector<std::uint8_t>& is_counted = *scratch;
  is_counted.assign(trees.size(), 0);
  double sum = 0;
  for (int i = 0; i < static_cast<int>(trees.size()); ++i) {
    if (!trees[i].sleeps() || trees[i].is_initialized || is_counted[i]) continue;
    double speed2 = 0;
    for (int tree = i; !is_counted[tree]; tree = trees[tree].next) {
      speed2 += trees[tree].speed2;
      is_counted[tree] = 1;
    }
    const double bound = std::sqrt(speed2) + trees[i].error;
    sum += bound * bound;
  }
  return sum;
}

void TreeStates::write(base::WordWriter* words) const {
  words->put(is_on);
  if (!is_on) return;
  for (const Tree& tree : trees) {
    words->put_all(std::array{tree.next + 1, tree.num_steps, tree.window});
    words->put_all(std::array{tree.start_time, tree.earlier_time, tree.speed2, tree.error});
    words->put(tree.contacts);
    words->put((tree.rests ? 1 : 0) | (tree.is_initialized ? 2 : 0) | (tree.touches_mocap ? 4 : 0));
  }
  for (const auto* numbers : {&start_v, &earlier_v, &qpos, &qvel}) words->put_all(*numbers);
}

void TreeStates::read(base::WordReader* words) {
  is_on = is_resumed = words->take_flag();
  trees.assign(m->ntree, {});
  if (!is_on) return;
  for (Tree& tree : trees) {
    tree.next = words->take_below(m->ntree + 1) - 1;
    for (int* steps : {&tree.num_steps, &tree.window}) *steps = words->take_below(kMostSteps + 1);
    for (double* x : {&tree.start_time, &tree.earlier_time, &tree.speed2, &tree.error})
      *x = words->take_double();
    tree.contacts = words->take();
    const int flags = words->take_below(8);
    tree.rests = flags & 1;
    tree.is_initialized = flags & 2;
    tree.touches_mocap = flags & 4;
    tree.is_stale = tree.sleeps();
  }
  words->check(are_cycles(trees));
  for (auto* numbers : {&start_v, &earlier_v, &qpos, &qvel})
    words->take_all(numbers == &qpos ? m->nq : m->nv, numbers);
}

SleepInputs::SleepInputs(const mjModel* m)
    : m_(m),
      digest_(m),
      now_(mj_stateSize(m, kInputs)),
      ctrl_(static_cast<int>(m->na)),
      eq_active_(ctrl_ + static_cast<int>(m->nu)),
      mocap_pos_(eq_active_ + static_cast<int>(m->neq)),
      mocap_quat_(mocap_pos_ + 3 * static_cast<int>(m->nmocap)),
      end_(mocap_quat_ + 4 * static_cast<int>(m->nmocap)) {
  values_.numbers.resize(end_);
}

void SleepInputs::keep(const mjData* d) { mj_getState(m_, d, values_.numbers.data(), kInputs); }

bool SleepInputs::has_changed(const mjData* d) {
  mj_getState(m_, d, now_.data(), kInputs);
  return now_ != values_.numbers;
}

void SleepInputs::find_changes(const mjData* d, const plant::TreeTies& ties,
                               std::span<std::uint8_t> is_changed) const {
  const auto mark = [&](const plant::TreeTies::Tie& tie) {
    for (const int tree : tie.trees) is_changed[tree] = 1;
  };
  const mjtNum* ctrl = values_.numbers.data() + ctrl_;
  const mjtNum* eq_active = values_.numbers.data() + eq_active_;
  for (int i = 0; i < m_->nactuator; ++i) {
    const int first = m_->actuator_ctrladr[i], last = first + m_->actuator_ctrlnum[i];
    if (std::equal(d->ctrl + first, d->ctrl + last, ctrl + first) && !has_changed_activation(d, i))
      continue;
    mark(ties.of_actuator(i));
    if (ties.of_actuator(i).trees.empty()) std::ranges::fill(is_changed, 1);
  }
  for (int i = 0; i < m_->neq; ++i)
    if (d->eq_active[i] != eq_active[i]) mark(ties.of_equality(i));
}

bool SleepInputs::has_changed_activation(const mjData* d, int actuator) const {
  const int first = m_->actuator_actadr[actuator], last = first + m_->actuator_actnum[actuator];
  return first >= 0 && !std::equal(d->act + first, d->act + last, values_.numbers.data() + first);
}

bool SleepInputs::has_moved(const mjData* d, int mocap) const {
  const mjtNum *pos = d->mocap_pos + 3 * mocap, *quat = d->mocap_quat + 4 * mocap;
  const mjtNum* numbers = values_.numbers.data();
  return !std::equal(pos, pos + 3, numbers + mocap_pos_ + 3 * mocap) ||
         !std::equal(quat, quat + 4, numbers + mocap_quat_ + 4 * mocap);
}

void SleepInputs::write(base::WordWriter* words) const {
  words->put(values_.model);
  const std::span<const mjtNum> numbers = values_.numbers;
  words->put_all(numbers.subspan(ctrl_, eq_active_ - ctrl_));
  words->put_all(numbers.first(ctrl_));
  words->put_all(numbers.subspan(mocap_pos_));
  for (int i = eq_active_; i < mocap_pos_; ++i) words->put(numbers[i] != 0);
}

void SleepInputs::read(base::WordReader* words) {
  values_.model = words->take();
  const auto take = [&](int first, int last) {
    for (int i = first; i < last; ++i) values_.numbers[i] = words->take_double();
  };
  take(ctrl_, eq_active_);
  take(0, ctrl_);
  take(mocap_pos_, end_);
  for (int i = eq_active_; i < mocap_pos_; ++i) values_.numbers[i] = words->take() != 0;
}

}  // namespace stiction::sim
