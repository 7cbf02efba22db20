#include "stiction/sim/memory/limit_memory.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "stiction/base/error.hpp"
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

void LimitMemory::start(const mjModel* m, const mjData* d, bool goes_on) {
  now_ = before_;
  if (goes_on && !before_.empty()) return;
  now_.assign(m->njnt + m->ntendon, 0);
  for_each_limit(m, [&](int index, bool is_tendon, int id) {
    now_[index] = kUnknown;
    if (is_tendon) return;
    const double level = calc_excess(m, d, is_tendon, id) / calc_limit_tolerance(m, is_tendon, id);
    now_[index] = static_cast<int>(std::clamp(level, 0.0, 1.0 * kLargestLevel));
  });
}

std::span<const LimitViolation> LimitMemory::find_new(const mjModel* m, const mjData* d) {
  new_.clear();
  for_each_limit(m, [&](int index, bool is_tendon, int id) {
    const double excess = calc_excess(m, d, is_tendon, id);
    const double tolerance = calc_limit_tolerance(m, is_tendon, id);
    const int level = static_cast<int>(std::clamp(excess / tolerance, 0.0, 1.0 * kLargestLevel));
    int& known = now_[index];
    if (known != kUnknown && level > known)
      new_.push_back({.is_tendon = is_tendon, .id = id, .excess = excess, .tolerance = tolerance});
    known = excess <= 0 ? 0 : std::max(known, level);
  });
  return new_;
}

void LimitMemory::write_memory(std::vector<std::uint64_t>* words) const {
  words->push_back(before_.size());
  for (const int level : before_) words->push_back(static_cast<std::uint64_t>(level + 1));
}

void LimitMemory::read_memory(const mjModel* m, std::span<const std::uint64_t>* words) {
  const auto check = [](bool is_right) {
    if (!is_right)
      throw Error(ErrorCode::kWrongShape, "state",
                  "has wrong numbers for the limits of joints and tendons; it belongs to another "
                  "model");
  };
  check(!words->empty());
  const std::uint64_t size = words->front();
  check((size == 0 || size == static_cast<std::uint64_t>(m->njnt + m->ntendon)) &&
        size < words->size());
  before_.clear();
  for (const std::uint64_t word : words->subspan(1, size)) {
    check(word <= kLargestLevel + 1);
    before_.push_back(static_cast<int>(word) - 1);
  }
  *words = words->subspan(1 + size);
}

}  // namespace stiction::sim
