#include "stiction/sim/memory/limit_memory.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/math/scalar_functions.hpp"

namespace stiction::sim {
namespace {

constexpr int kUnknown = -1, kLargestLevel = 1 << 20;

const mjtNum* range_of(const mjModel* m, bool is_tendon, int id) {
  return (is_tendon ? m->tendon_range : m->jnt_range) + 2 * static_cast<std::size_t>(id);
}

/// Returns the distance of a joint or tendon beyond its range [m or rad]; <= 0 within it.
double calc_excess(const mjModel* m, const mjData* d, bool is_tendon, int id) {
  const mjtNum* const range = range_of(m, is_tendon, id);
  if (is_tendon) return std::max(range[0] - d->ten_length[id], d->ten_length[id] - range[1]);
  const mjtNum* const q = d->qpos + m->jnt_qposadr[id];
  if (m->jnt_type[id] != mjJNT_BALL) return std::max(range[0] - q[0], q[0] - range[1]);
  return 2 * math::atan2(mju_norm3(q + 1), std::abs(q[0])) - std::max(range[0], range[1]);
}

/// Calls f(index, is_tendon, id) for all limits.
template <class F>
void for_each_limit(const mjModel* m, F&& f) {
  for (int i = 0; i < m->njnt; ++i)
    if (m->jnt_limited[i]) f(i, false, i);
  for (int i = 0; i < m->ntendon; ++i)
    if (m->tendon_limited[i]) f(static_cast<int>(m->njnt) + i, true, i);
}

}  // namespace

double calc_limit_tolerance(const mjModel* m, bool is_tendon, int id) {
  const mjtNum* const range = range_of(m, is_tendon, id);
  const int type = is_tendon ? mjJNT_SLIDE : m->jnt_type[id];
  const double width =
      type == mjJNT_BALL ? std::max(range[0], range[1]) : std::abs(range[1] - range[0]);
  const double largest = type == mjJNT_SLIDE ? 0.01 * m->stat.extent : 0.1;
  return std::clamp(0.1 * width, 0.1 * largest, largest);
}

void LimitMemory::begin(const StepStart& start) {
  now_ = before_;
  if (start.has_positions && !before_.empty()) return;
  const mjModel* m = model_;
  now_.assign(m->njnt + m->ntendon, 0);
  for_each_limit(m, [&](int index, bool is_tendon, int id) {
    now_[index] = kUnknown;
    if (is_tendon) return;
    const double level =
        calc_excess(m, start.data, is_tendon, id) / calc_limit_tolerance(m, is_tendon, id);
    now_[index] = static_cast<int>(std::clamp(level, 0.0, 1.0 * kLargestLevel));
  });
}

std::span<const LimitViolation> LimitMemory::find_new(const mjData* d) {
  new_.clear();
  for_each_limit(model_, [&](int index, bool is_tendon, int id) {
    const double excess = calc_excess(model_, d, is_tendon, id);
    const double tolerance = calc_limit_tolerance(model_, is_tendon, id);
    const int level = static_cast<int>(std::clamp(excess / tolerance, 0.0, 1.0 * kLargestLevel));
    int& known = now_[index];
    if (known != kUnknown && level > known)
      new_.push_back({.is_tendon = is_tendon, .id = id, .excess = excess, .tolerance = tolerance});
    known = excess <= 0 ? 0 : std::max(known, level);
  });
  return new_;
}

void LimitMemory::write(base::WordWriter* words) const {
  words->put(before_.size());
  for (const int level : before_) words->put(level + 1);
}

void LimitMemory::read(base::WordReader* words) {
  const int size = words->take_count(1);
  words->check(size == 0 || size == model_->njnt + model_->ntendon);
  before_.resize(size);
  for (int& level : before_) level = words->take_below(kLargestLevel + 2) - 1;
}

}  // namespace stiction::sim
