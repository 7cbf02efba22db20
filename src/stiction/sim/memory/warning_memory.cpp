#include "stiction/sim/memory/warning_memory.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "stiction/math/scalar_functions.hpp"

namespace stiction::sim {
namespace {

/// Returns true if the bounding box of geom a, and the bounding sphere of geom b, are apart.
bool is_apart(const mjModel* m, const mjData* d, int a, int b) {
  // MuJoCo lists all contacts of a plane, which has no bounding sphere.
  if (m->geom_rbound[a] == 0 || m->geom_rbound[b] == 0) return true;
  mjtNum offset[3], x[3];
  mju_sub3(offset, d->geom_xpos + 3 * b, d->geom_xpos + 3 * a);
  mju_mulMatTVec3(x, d->geom_xmat + 9 * a, offset);
  const mjtNum* box = m->geom_aabb + 6 * a;
  for (int i = 0; i < 3; ++i)
    if (std::abs(x[i] - box[i]) > box[3 + i] + m->geom_rbound[b]) return true;
  return false;
}

using Pair = PenetrationMemory::Pair;

Pair* find(std::vector<Pair>& pairs, const std::array<int, 2>& geoms) {
  const auto found = std::find_if(pairs.begin(), pairs.end(),
                                  [&](const Pair& pair) { return pair.geoms == geoms; });
  return found == pairs.end() ? nullptr : &*found;
}

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

bool is_through(const PenetrationMemory::Pair& pair) {
  return pair.start >= kThrough / kTooDeep * pair.h;
}

double calc_thickness(const mjModel* m, int geom) {
  const int type = m->geom_type[geom];
  if (type == mjGEOM_PLANE || type == mjGEOM_HFIELD) return std::numeric_limits<double>::infinity();
  const mjtNum* half_sides = m->geom_aabb + 6 * geom + 3;
  return 2 * std::min({half_sides[0], half_sides[1], half_sides[2]});
}

void PenetrationMemory::begin(const StepStart& start) {
  now_.clear();
  kept_ = *start.kept;
  for (Pair& pair : before_) pair.has_gap = false;
}

void PenetrationMemory::record(const std::array<int, 2>& geoms, double start, double end, double h,
                               bool is_moved) {
  const double depth = std::max(start, end);
  Pair* known = depth < h ? find(before_, geoms) : nullptr;
  if (depth <= 0) {
    if (known) known->has_gap = true;
  } else if (Pair* pair = find(now_, geoms)) {
    pair->start = std::max(pair->start, start);
    pair->depth = std::max(pair->depth, depth);
  } else if (depth >= h || known) {
    now_.push_back({.geoms = geoms, .start = start, .depth = depth, .h = h, .is_moved = is_moved});
  }
}

std::span<const Pair> PenetrationMemory::find_new() {
  new_.clear();
  for (Pair& pair : now_) {
    const bool is_kept = kept_.has_geoms(m_, pair.geoms);
    const Pair* known = is_kept || pair.is_moved ? find(before_, pair.geoms) : nullptr;
    if (known) {
      pair.is_warned = known->is_warned;
      pair.has_turned = known->has_turned && pair.start >= pair.h;
      pair.reference = std::min(known->reference, std::max(pair.start, 0.0));
    } else if (pair.start >= pair.h && !pair.is_moved) {
      pair.has_turned = is_kept;
      pair.reference = is_kept ? 0 : pair.start;
    }
    const double limit = pair.has_turned ? kThrough / kTooDeep * pair.h : pair.reference + pair.h;
    if (pair.is_warned || pair.depth < limit) continue;
    pair.is_warned = true;
    new_.push_back(pair);
  }
  return new_;
}

void PenetrationMemory::end(const StepEnd& end) {
  // MuJoCo may miss the contacts of geoms that are deep in each other.
  for (const Pair& pair : before_) {
    const auto [a, b] = pair.geoms;
    if (kept_.has_geoms(m_, pair.geoms) && !pair.has_gap && !find(now_, pair.geoms) &&
        !is_apart(m_, end.data, a, b) && !is_apart(m_, end.data, b, a))
      now_.push_back(pair);
  }
  std::swap(before_, now_);
}

void PenetrationMemory::write(base::WordWriter* words) const {
  words->put(before_.size());
  for (const Pair& pair : before_) {
    words->put_all(pair.geoms);
    words->put(pair.reference);
    words->put((pair.is_warned ? 1 : 0) | (pair.has_turned ? 2 : 0));
  }
}

void PenetrationMemory::read(base::WordReader* words) {
  constexpr std::size_t kWordsOfPair = 4;
  before_.assign(words->take_count(kWordsOfPair), Pair());
  for (Pair& pair : before_) {
    for (int& geom : pair.geoms) geom = words->take_below(m_->ngeom);
    pair.reference = words->take_double();
    const int flags = words->take_below(4);
    pair.is_warned = flags & 1;
    pair.has_turned = flags & 2;
  }
}

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
  if (start.kept->has_all() && !before_.empty()) return;
  now_.resize(m_->njnt + m_->ntendon);
  for_each_limit(m_, [&](int index, bool is_tendon, int id) {
    const bool is_kept =
        is_tendon ? start.kept->has_tendon(m_, id) : start.kept->has_body(m_, m_->jnt_bodyid[id]);
    if (is_kept && !before_.empty()) return;
    now_[index] = kUnknown;
    if (is_tendon) return;
    const double level =
        calc_excess(m_, start.data, is_tendon, id) / calc_limit_tolerance(m_, is_tendon, id);
    now_[index] = static_cast<int>(std::clamp(level, 0.0, 1.0 * kLargestLevel));
  });
}

std::span<const LimitViolation> LimitMemory::find_new(const mjData* d) {
  new_.clear();
  for_each_limit(m_, [&](int index, bool is_tendon, int id) {
    const double excess = calc_excess(m_, d, is_tendon, id);
    const double tolerance = calc_limit_tolerance(m_, is_tendon, id);
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
  words->check(size == 0 || size == m_->njnt + m_->ntendon);
  before_.resize(size);
  for (int& level : before_) level = words->take_below(kLargestLevel + 2) - 1;
}

}  // namespace stiction::sim
