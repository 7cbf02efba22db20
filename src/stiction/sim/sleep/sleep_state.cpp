#include "stiction/sim/sleep/sleep_state.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "stiction/base/error.hpp"

namespace stiction::sim {
namespace {

constexpr std::size_t kWordsOfTree = 9;

/// True if sleeping trees, and only they, have a successor each, so that they form cycles.
bool are_cycles(const std::vector<SleepState::Tree>& trees) {
  std::vector<bool> is_next(trees.size(), false);
  for (const SleepState::Tree& tree : trees) {
    if (!tree.sleeps()) continue;
    if (is_next[tree.next] || !trees[tree.next].sleeps()) return false;
    is_next[tree.next] = true;
  }
  return true;
}

std::uint64_t to_word(double x) { return std::bit_cast<std::uint64_t>(x); }
double to_number(std::uint64_t word) { return std::bit_cast<double>(word); }

}  // namespace

std::pair<int, int> find_positions(const mjModel* m, int tree) {
  const auto find_first = [m](int i) {
    return i < m->ntree ? m->jnt_qposadr[m->body_jntadr[m->tree_bodyadr[i]]]
                        : static_cast<int>(m->nq);
  };
  return {find_first(tree), find_first(tree + 1)};
}

void SleepState::restart_count(const mjModel* m, const mjData* d, int tree) {
  trees[tree].num_steps = 0;
  begin_window(m, d, tree);
}

void SleepState::begin_window(const mjModel* m, const mjData* d, int tree) {
  const int first = m->tree_dofadr[tree], size = m->tree_dofnum[tree];
  trees[tree].earlier_time = std::exchange(trees[tree].start_time, d->time);
  std::copy_n(start_v.begin() + first, size, earlier_v.begin() + first);
  std::copy_n(d->qvel + first, size, start_v.begin() + first);
  trees[tree].window = 0;
}

void SleepState::keep_motion(const mjModel* m, const mjData* d) {
  qpos.assign(d->qpos, d->qpos + m->nq);
  qvel.assign(d->qvel, d->qvel + m->nv);
}

bool SleepState::is_any_quiet() const {
  return std::ranges::any_of(trees, [](const Tree& tree) { return tree.is_quiet(); });
}

double SleepState::calc_bound2(std::vector<std::uint8_t>* scratch) const {
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

void SleepState::write(std::vector<std::uint64_t>* words) const {
  words->push_back(is_on);
  if (!is_on) return;
  for (const Tree& tree : trees) {
    words->push_back(static_cast<std::uint64_t>(tree.next + 1));
    words->push_back(tree.num_steps);
    words->push_back(tree.window);
    words->push_back(to_word(tree.start_time));
    words->push_back(to_word(tree.earlier_time));
    words->push_back(to_word(tree.speed2));
    words->push_back(to_word(tree.error));
    words->push_back(tree.contacts);
    words->push_back((tree.rests ? 1 : 0) | (tree.is_initialized ? 2 : 0) |
                     (tree.touches_mocap ? 4 : 0));
  }
  for (const auto* numbers : {&start_v, &earlier_v, &qpos, &qvel})
    for (const double x : *numbers) words->push_back(to_word(x));
}

void SleepState::read(const mjModel* m, std::span<const std::uint64_t>* words) {
  const auto check = [](bool is_right) {
    if (!is_right)
      throw Error(ErrorCode::kWrongShape, "state",
                  "has wrong numbers for the sleep of trees; it belongs to another model");
  };
  check(!words->empty() && words->front() <= 1);
  is_on = is_resumed = words->front() == 1;
  *words = words->subspan(1);
  trees.assign(m->ntree, {});
  if (!is_on) return;
  const std::size_t size = kWordsOfTree * m->ntree + 3 * m->nv + m->nq;
  check(words->size() >= size);
  const std::uint64_t* next = words->data();
  for (Tree& tree : trees) {
    check(next[0] <= static_cast<std::uint64_t>(m->ntree) && next[1] <= kMostSteps &&
          next[2] <= kMostSteps && next[8] < 8);
    tree = {.next = static_cast<int>(next[0]) - 1,
            .num_steps = static_cast<int>(next[1]),
            .window = static_cast<int>(next[2]),
            .start_time = to_number(next[3]),
            .earlier_time = to_number(next[4]),
            .speed2 = to_number(next[5]),
            .error = to_number(next[6]),
            .contacts = next[7],
            .rests = (next[8] & 1) != 0,
            .is_initialized = (next[8] & 2) != 0,
            .is_stale = next[0] > 0,
            .touches_mocap = (next[8] & 4) != 0};
    next += kWordsOfTree;
  }
  check(are_cycles(trees));
  for (auto* numbers : {&start_v, &earlier_v, &qpos, &qvel}) {
    numbers->resize(numbers == &qpos ? m->nq : m->nv);
    for (double& x : *numbers) x = to_number(*next++);
  }
  *words = words->subspan(size);
}

}  // namespace stiction::sim
