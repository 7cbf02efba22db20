#include "stiction/sim/memory/contact_matching.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>

namespace stiction::sim {

using math::Vec3;

void AnchorMatching::reserve(int num_contacts) {
  match_.reserve(num_contacts);
  is_taken_.reserve(num_contacts);
}

void AnchorMatching::reserve_points(int num_points) {
  candidates_.reserve(static_cast<std::size_t>(num_points) * num_points);
}

std::span<const int> AnchorMatching::match(const plant::SurfaceMotion& motion,
                                           std::span<const AnchorPoint> before,
                                           std::span<const AnchorPoint> now) {
  match_.assign(before.size(), -1);
  if (now.front().feature != 0)
    match_faces(before, now);
  else
    match_points(motion, before, now);
  return match_;
}

/// Matches points by their distance on either body: a corner of a box stays on its body, while it
/// slides on the other.
void AnchorMatching::match_points(const plant::SurfaceMotion& motion,
                                  std::span<const AnchorPoint> before,
                                  std::span<const AnchorPoint> now) {
  const int num_before = static_cast<int>(before.size()), num_now = static_cast<int>(now.size());
  is_taken_.assign(num_now, false);
  if (num_before == 1 && num_now == 1) {
    match_[0] = 0;
    return;
  }
  candidates_.clear();
  for (int b = 0; b < num_before; ++b) {
    const Vec3& x = before[b].position;
    const Vec3 x_A = motion.move_point(0, x), x_B = motion.move_point(1, x);
    const double farthest = motion.calc_farthest(x);
    for (int n = 0; n < num_now; ++n) {
      const Vec3& y = now[n].position;
      const double distance = std::min(norm(y - x_A), norm(y - x_B));
      if (distance <= farthest) candidates_.push_back({distance, b, n});
    }
  }
  std::ranges::sort(candidates_, {},
                    [](const Candidate& c) { return std::tuple(c.distance, c.before, c.now); });
  for (const Candidate& c : candidates_) {
    if (match_[c.before] >= 0 || is_taken_[c.now]) continue;
    match_[c.before] = c.now;
    is_taken_[c.now] = true;
  }
}

/// Matches faces by the elements that meet in them, by which both lists are sorted.
void AnchorMatching::match_faces(std::span<const AnchorPoint> before,
                                 std::span<const AnchorPoint> now) {
  for (std::size_t b = 0, n = 0; b < before.size() && n < now.size();) {
    const std::uint64_t old = before[b].feature, present = now[n].feature;
    if (old == present) match_[b] = static_cast<int>(n);
    b += old <= present;
    n += present <= old;
  }
}

}  // namespace stiction::sim
