#include "stiction/sim/sleep/tree_states.hpp"

#include <algorithm>
#include <array>
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

}  // namespace

std::pair<int, int> find_positions(const mjModel* m, int tree) {
  const auto find_first = [m](int i) {
    return i < m->ntree ? m->jnt_qposadr[m->body_jntadr[m->tree_bodyadr[i]]]
                        : static_cast<int>(m->nq);
  };
  return {find_first(tree), find_first(tree + 1)};
}

void TreeStates::restart_count(const mjModel* m, const mjData* d, int tree) {
  trees[tree].num_steps = 0;
  begin_window(m, d, tree);
}

void TreeStates::begin_window(const mjModel* m, const mjData* d, int tree) {
  const int first = m->tree_dofadr[tree], size = m->tree_dofnum[tree];
  trees[tree].earlier_time = std::exchange(trees[tree].start_time, d->time);
  std::copy_n(start_v.begin() + first, size, earlier_v.begin() + first);
  std::copy_n(d->qvel + first, size, start_v.begin() + first);
  trees[tree].window = 0;
}

void TreeStates::keep_motion(const mjModel* m, const mjData* d) {
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

void TreeStates::read(const mjModel* m, base::WordReader* words) {
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

}  // namespace stiction::sim
