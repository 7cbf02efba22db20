#include "stiction/sim/memory/anchor_memory.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "stiction/sim/memory/anchor_report.hpp"

namespace stiction::sim {

namespace {

constexpr std::size_t kWordsOfPair = 19, kWordsOfPoint = 25;
constexpr std::uint64_t kSlips = 1, kSurfaceMoves = 2;  // bits of the last word of a point

// Bits of a feature: 13 number the points of a face, 25 each are for the two elements.
constexpr int kShift_A = 38, kShift_B = 13;
constexpr std::uint64_t kElementMask = 0x1ffffff, kPointMask = 0x1fff;

/// Calls f(number) for all numbers of a point.
void for_each_number(auto& point, auto&& f) {
  for (auto* vector : {&point.position, &point.normal, &point.tangent, &point.stretch, &point.twist,
                       &point.force, &point.displacement}) {
    f(vector->x);
    f(vector->y);
    f(vector->z);
  }
  f(point.stiffness);
  f(point.area);
}

/// Calls f(number) for all numbers of a pair.
void for_each_number_of_pair(auto& pair, auto&& f) {
  for (auto& pose : pair.poses) {
    for (auto& x : pose.position) f(x);
    for (auto& x : pose.quaternion) f(x);
  }
  f(pair.energy);
  f(pair.spare);
}

}  // namespace

std::uint64_t make_feature(int element_A, int element_B) {
  const auto bits = [](int element) {
    return static_cast<std::uint64_t>(element + 1) & kElementMask;
  };
  return bits(element_A) << kShift_A | bits(element_B) << kShift_B;
}

bool is_same_face(std::uint64_t feature1, std::uint64_t feature2) {
  return (feature1 & ~kPointMask) == (feature2 & ~kPointMask);
}

std::array<int, 2> find_elements(std::uint64_t feature) {
  const auto element = [feature](int shift) {
    return static_cast<int>(feature >> shift & kElementMask) - 1;
  };
  return {element(kShift_A), element(kShift_B)};
}

bool LossCounter::add(bool has_losses) {
  count = std::clamp(count + (has_losses ? kUp : -1), 0, kMany);
  if (count == 0) is_warned = false;
  return count == kMany && !std::exchange(is_warned, true);
}

void AnchorStep::clear() {
  pairs.clear();
  points.clear();
}

void AnchorStep::copy(const AnchorPair& pair, const AnchorStep& from) {
  pairs.push_back(pair);
  pairs.back().first_point = static_cast<int>(points.size());
  const auto first = from.points.begin() + pair.first_point;
  points.insert(points.end(), first, first + pair.num_points);
}

void AnchorStep::reserve(int num_points) {
  pairs.reserve(num_points);
  points.reserve(num_points);
}

void AnchorMemory::write(base::WordWriter* words) const {
  const auto put = [words](double x) { words->put(x); };
  words->put(end);
  words->put(losses.count << 1 | (losses.is_warned ? 1 : 0));
  words->put(step.pairs.size());
  for (const AnchorPair& pair : step.pairs) {
    words->put_all(pair.geoms);
    words->put(pair.num_points);
    for_each_number_of_pair(pair, put);
    for (const AnchorPoint& point : step.points_of(pair)) {
      for_each_number(point, put);
      words->put(point.feature);
      words->put((point.slips ? kSlips : 0) | (point.surface_moves ? kSurfaceMoves : 0));
    }
  }
}

void AnchorMemory::read(const mjModel* m, base::WordReader* words) {
  const auto take = [words](double& x) { x = words->take_finite(); };
  step.clear();
  end = words->take();
  const int counted = words->take_below(2 * LossCounter::kMany + 2);
  losses = {.count = counted >> 1, .is_warned = (counted & 1) != 0};
  step.pairs.resize(words->take_count(kWordsOfPair));
  for (AnchorPair& pair : step.pairs) {
    for (int& geom : pair.geoms) geom = words->take_below(m->ngeom);
    pair.first_point = static_cast<int>(step.points.size());
    pair.num_points = words->take_count(kWordsOfPoint);
    for_each_number_of_pair(pair, take);
    words->check(pair.energy >= 0 && pair.spare >= 0);
    for (int p = 0; p < pair.num_points; ++p) {
      AnchorPoint& point = step.points.emplace_back();
      for_each_number(point, take);
      words->check(point.stiffness >= 0 && point.area >= 0);
      point.feature = words->take();
      const int flags = words->take_below((kSlips | kSurfaceMoves) + 1);
      point.slips = flags & kSlips;
      point.surface_moves = flags & kSurfaceMoves;
    }
  }
  words->check(std::ranges::is_sorted(step.pairs, {}, &AnchorPair::geoms));
}

std::vector<AnchorReport> list_anchors(const AnchorStep& step) {
  std::vector<AnchorReport> out;
  out.reserve(step.points.size());
  for (const AnchorPair& pair : step.pairs)
    for (const AnchorPoint& point : step.points_of(pair)) {
      out.push_back({.geoms = pair.geoms,
                     .elements = find_elements(point.feature),
                     .position = point.position,
                     .normal = point.normal,
                     .stretch = point.stretch,
                     .twist = point.twist,
                     .force = point.force,
                     .stiffness = point.stiffness * point.area,
                     .slips = point.slips});
    }
  return out;
}

}  // namespace stiction::sim
