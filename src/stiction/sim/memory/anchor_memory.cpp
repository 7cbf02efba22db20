#include "stiction/sim/memory/anchor_memory.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <utility>

#include "stiction/base/error.hpp"

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

void AnchorMemory::write(std::vector<std::uint64_t>* words) const {
  const auto push = [words](double x) { words->push_back(std::bit_cast<std::uint64_t>(x)); };
  words->push_back(end);
  words->push_back(static_cast<std::uint64_t>(losses.count) << 1 | (losses.is_warned ? 1 : 0));
  words->push_back(step.pairs.size());
  for (const AnchorPair& pair : step.pairs) {
    for (const int geom : pair.geoms) words->push_back(geom);
    words->push_back(pair.num_points);
    for_each_number_of_pair(pair, push);
    for (int p = pair.first_point; p < pair.first_point + pair.num_points; ++p) {
      const AnchorPoint& point = step.points[p];
      for_each_number(point, push);
      words->push_back(point.feature);
      words->push_back((point.slips ? kSlips : 0) | (point.surface_moves ? kSurfaceMoves : 0));
    }
  }
}

void AnchorMemory::read(const mjModel* m, std::span<const std::uint64_t>* words) {
  const auto check = [](bool is_right) {
    if (!is_right)
      throw Error(ErrorCode::kWrongShape, "state",
                  "has wrong numbers for the anchors of contacts; it belongs to another model");
  };
  std::span<const std::uint64_t> rest = *words;
  const auto take = [&] {
    const std::uint64_t word = rest.front();
    rest = rest.subspan(1);
    return word;
  };
  const auto read = [&](double& x) {
    x = std::bit_cast<double>(take());
    check(std::isfinite(x));
  };
  check(rest.size() >= 3);
  step.clear();
  end = take();
  const std::uint64_t counted = take();
  check(counted <= (2 * LossCounter::kMany | 1));
  losses = {.count = static_cast<int>(counted >> 1), .is_warned = (counted & 1) != 0};
  const std::uint64_t num_pairs = take();
  for (std::uint64_t i = 0; i < num_pairs; ++i) {
    check(rest.size() >= kWordsOfPair);
    AnchorPair pair;
    for (int& geom : pair.geoms) {
      check(rest.front() < static_cast<std::uint64_t>(m->ngeom));
      geom = static_cast<int>(take());
    }
    check(rest.front() <= (rest.size() - (kWordsOfPair - 2)) / kWordsOfPoint);
    pair.first_point = static_cast<int>(step.points.size());
    pair.num_points = static_cast<int>(take());
    for_each_number_of_pair(pair, read);
    check(pair.energy >= 0 && pair.spare >= 0);
    for (int p = 0; p < pair.num_points; ++p) {
      AnchorPoint point;
      for_each_number(point, read);
      check(point.stiffness >= 0 && point.area >= 0);
      point.feature = take();
      const std::uint64_t flags = take();
      check(flags <= (kSlips | kSurfaceMoves));
      point.slips = flags & kSlips;
      point.surface_moves = flags & kSurfaceMoves;
      step.points.push_back(point);
    }
    step.pairs.push_back(pair);
  }
  check(std::ranges::is_sorted(step.pairs, {}, &AnchorPair::geoms));
  *words = rest;
}

}  // namespace stiction::sim
