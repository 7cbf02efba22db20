#pragma once

#include <array>
#include <span>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/math/vec3.hpp"
#include "stiction/plant/repairs/convex_pair.hpp"

namespace stiction::plant {

/// A contact as two material points, which touched when MuJoCo listed them.
struct ManifoldPoint {
  std::array<math::Vec3, 2> place{};   // of geom A and B, in their frames [m]
  std::array<math::Vec3, 2> normal{};  // from A into B, in their frames
};

/// The contacts of two geoms.
struct Manifold {
  std::array<int, 2> geoms{};
  int first_point = 0;
  int num_points = 0;
  /// The sizes of both geoms, and their extents, or the elevations of a height field near the
  /// points. If the caller changes the shape of a geom, its points are no longer on it.
  std::array<double, 8> shapes{};
};

/// The contacts of a step.
struct ManifoldList {
  std::vector<Manifold> manifolds;
  std::vector<ManifoldPoint> points;

  void clear();
  void reserve_as(const ManifoldList& other);
  /// Sorts the manifolds by their geoms.
  void sort();
  /// Returns the manifold of two geoms, or null. The manifolds must be sorted.
  const Manifold* find(const std::array<int, 2>& geoms) const;
  std::span<const ManifoldPoint> points_of(const Manifold& manifold) const {
    return std::span(points).subspan(manifold.first_point, manifold.num_points);
  }
  /// Appends a manifold of another list.
  void copy(const Manifold& manifold, const ManifoldList& from);
};

/// Lets the contact points of two geoms stay from step to step.
///
/// MuJoCo lists other points of the same contact in each step if a face, an edge or a rim lies on a
/// face. Forces then flicker, bodies tremble, and springs are lost. Here a point that is no longer
/// listed goes on as two material points, while they nearly touch or overlap, have hardly moved on
/// each other and have the normal of a listed point. A point that is listed anew is left out while
/// the others support it: it lies among them, and is no deeper than their plane. Nothing changes if
/// MuJoCo lists the same points as before.
class ContactManifolds {
 public:
  ContactManifolds();

  /// Sets the contacts of the last step, which are sorted, and where those of this one are kept.
  void set_memory(const ManifoldList* before, ManifoldList* now);

  /// Completes the contacts in data.
  /// @param data after mj_collision; contacts of two geoms follow each other
  void keep(const mjModel* model, mjData* data);

 private:
  /// A point in the world.
  struct Placed {
    math::Vec3 position, normal;
    double gap = 0;    // along the normal [m]
    double drift = 0;  // of the two material points along the surface [m]
    double tilt = 0;   // of the bodies on each other [rad]
  };

  int keep_pair(const mjModel* m, mjData* d, const PairContacts& pair);
  bool find_again(std::span<const ManifoldPoint> before, std::span<const ManifoldPoint> listed,
                  const PairContacts& pair);
  void complete(const mjModel* m, mjData* d, const PairContacts& pair,
                std::span<const ManifoldPoint> before);
  void find_moved(const PairContacts& pair);
  void add_support(const mjContact& con);
  void find_support(const PairContacts& pair);
  void add_listed(const PairContacts& pair);
  void add_kept(const PairContacts& pair, std::span<const ManifoldPoint> before);
  ManifoldPoint make_point(const mjContact& con) const;
  Placed place(const ManifoldPoint& point) const;
  bool goes_on(const Placed& point, const PairContacts& pair) const;
  bool is_supported(const mjContact& con, double margin) const;

  const ManifoldList* before_ = nullptr;
  ManifoldList* now_ = nullptr;
  // Scratch for two geoms.
  std::array<math::RigidTransform, 2> poses_;  // of the geoms
  std::vector<ManifoldPoint> listed_;          // the points that MuJoCo lists
  std::vector<Placed> placed_;                 // the points of the last step
  std::vector<int> match_;       // for each listed point its index in the last step, or -1
  std::vector<bool> is_taken_;   // for each point of the last step
  std::vector<Placed> support_;  // the points that go on, and those that enter
  std::vector<mjContact> contacts_;
};

}  // namespace stiction::plant
