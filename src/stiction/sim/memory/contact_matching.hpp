#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/plant/shapes/surface_motion.hpp"
#include "stiction/sim/memory/anchor_springs.hpp"

/// Contacts of two geoms are found again in the next step by the geoms and by their places, because
/// MuJoCo may list them in another order, or other ones.
namespace stiction::sim {

/// The contacts of a problem between the same two geoms, which follow each other.
struct GeomContacts {
  std::array<int, 2> geoms{};
  int first = 0;  // contact of the problem
  int count = 0;
  bool is_patch = false;  // the points of a patch, otherwise contact points
};

/// Calls f(contacts of two geoms) for all contacts of a problem, in their order.
/// @param data the contacts to which the problem's refer
template <class F>
void for_each_geom_contacts(const mjData* data, const contact::ContactProblem& problem, F&& f) {
  const auto find_geoms = [data](const contact::Contact& c) {
    const mjContact& con = data->contact[c.source];
    return std::array<int, 2>{con.geom[0], con.geom[1]};
  };
  const std::vector<contact::Contact>& contacts = problem.contacts;
  const int num_contacts = problem.num_contacts();
  for (int i = 0; i < num_contacts;) {
    GeomContacts group{
        .geoms = find_geoms(contacts[i]), .first = i, .is_patch = contacts[i].face >= 0};
    const int source = contacts[i].source;
    const auto belongs = [&](const contact::Contact& c) {
      return group.is_patch ? c.face >= 0 && c.source == source
                            : c.face < 0 && find_geoms(c) == group.geoms;
    };
    do {
      ++i;
    } while (i < num_contacts && belongs(contacts[i]));
    group.count = i - group.first;
    f(group);
  }
}

/// Calls f(index now, index before) for each point of this step and the nearest point of the last
/// one that no point before it has taken.
/// @param before, now points with a member `position`; of `before`, the first 64 count
template <class Point, class F>
void match_nearest(std::span<const Point> before, std::span<const Point> now, F&& f) {
  constexpr std::size_t kMaxPoints = 64;  // of two geoms; MuJoCo makes at most 50
  const std::size_t num_before = std::min(before.size(), kMaxPoints);
  std::uint64_t is_free = ~std::uint64_t{0};  // bit b: no point has taken b
  for (std::size_t n = 0; n < now.size(); ++n) {
    std::size_t nearest = num_before;
    double least = 0;
    for (std::size_t b = 0; b < num_before; ++b) {
      if (!(is_free >> b & 1)) continue;
      const math::Vec3 way = now[n].position - before[b].position;
      const double distance = dot(way, way);
      if (nearest < num_before && distance >= least) continue;
      nearest = b;
      least = distance;
    }
    if (nearest == num_before) continue;
    is_free &= ~(std::uint64_t{1} << nearest);
    f(n, nearest);
  }
}

/// Finds the contacts of two geoms again whose springs are stretched: points that have moved with
/// either body, or faces of a patch. Source: [theory:anchors].
class AnchorMatching {
 public:
  /// Makes room for this many contacts in a step.
  void reserve(int num_contacts);
  /// Makes room for two geoms with this many points.
  void reserve_points(int num_points);

  /// @param motion that of the geoms' bodies since the last step
  /// @return for each contact before its index now, or -1; valid until the next call
  std::span<const int> match(const plant::SurfaceMotion& motion,
                             std::span<const AnchorPoint> before, std::span<const AnchorPoint> now);

 private:
  /// Two points of the last step and of this one that may be the same contact.
  struct Candidate {
    double distance = 0;  // [m]
    int before = 0, now = 0;
  };
  void match_points(const plant::SurfaceMotion& motion, std::span<const AnchorPoint> before,
                    std::span<const AnchorPoint> now);
  void match_faces(std::span<const AnchorPoint> before, std::span<const AnchorPoint> now);

  std::vector<int> match_;
  std::vector<bool> is_taken_;  // for each point of this step
  std::vector<Candidate> candidates_;
};

}  // namespace stiction::sim
