#include "stiction/sim/memory/penetration_memory.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

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
  goes_on_ = start.has_positions;
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
    const bool goes_on = goes_on_ || pair.is_moved;
    const Pair* known = goes_on ? find(before_, pair.geoms) : nullptr;
    if (known) {
      pair.is_warned = known->is_warned;
      pair.has_turned = known->has_turned && pair.start >= pair.h;
      pair.reference = std::min(known->reference, std::max(pair.start, 0.0));
    } else if (pair.start >= pair.h && !pair.is_moved) {
      pair.has_turned = goes_on_;
      pair.reference = goes_on_ ? 0 : pair.start;
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
    if (goes_on_ && !pair.has_gap && !find(now_, pair.geoms) && !is_apart(model_, end.data, a, b) &&
        !is_apart(model_, end.data, b, a))
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
    for (int& geom : pair.geoms) geom = words->take_below(model_->ngeom);
    pair.reference = words->take_double();
    const int flags = words->take_below(4);
    pair.is_warned = flags & 1;
    pair.has_turned = flags & 2;
  }
}

}  // namespace stiction::sim
