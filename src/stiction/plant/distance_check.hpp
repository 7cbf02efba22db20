#pragma once

#include <array>
#include <vector>

#include <mujoco/mujoco.h>

namespace stiction::plant {

/// Finds the pairs of geoms whose distance MuJoCo's convex collision gives wrongly, and collides
/// them again.
///
/// MuJoCo computes the distance of most convex geoms by GJK and EPA, and then replaces this one
/// contact by several if two faces, or a face and an edge, seem to lie on each other. Now and then
/// these are not the faces that touch: distances that are wrong by the thickness of a geom result.
/// GJK itself stops early at its default tolerance, with an error up to 1 % of a geom's size.
///
/// The separation s(n) along the normal of the contacts (`calc_separation`) never exceeds the true
/// distance. If one contact has the distance d, its error is therefore at most d - s(n) if d > 0.
/// If several contacts do not agree with s(n), or are deep, MuJoCo's distance for one contact
/// decides (mj_geomDistance).
class DistanceCheck {
 public:
  /// Errors that are corrected, relative to the radius of the smaller geom: of a single contact,
  /// and of the nearest one of several. MuJoCo accepts faces that are a few degrees from parallel,
  /// and their contacts are less accurate by design.
  static constexpr double kLargestError = 1e-3;
  static constexpr double kLargestErrorOfSeveral = 5e-3;
  /// The depth, relative to the radius of the smaller geom, at which several contacts are compared
  /// with one although they agree with s(n).
  static constexpr double kDeep = 0.01;

  /// Corrects data->contact. Nothing is allocated if there is nothing to correct. Call this inside
  /// a MuJoCoGuard.
  /// @param collided the model with which mj_collision was called, for these data. Its options and
  ///     pointers to filters are changed and restored; its arrays are not changed.
  void correct(mjModel* collided, mjData* data);

  /// Returns the number of pairs that the last call corrected.
  int num_corrected() const { return static_cast<int>(wrong_.size()); }

 private:
  /// The contacts [begin, end) of two geoms in a list.
  struct Run {
    int begin = 0, end = 0;
    std::array<int, 2> geoms = {-1, -1};
  };

  static Run find_run(const mjContact* contacts, int num_contacts, int begin);
  void find_wrong(const mjModel* m, mjData* d);
  static bool is_wrong(const mjModel* m, mjData* d, const Run& run);
  void collide_alone(mjModel* m, mjData* d);
  void merge();
  void write(const mjModel* m, mjData* d) const;

  std::vector<Run> wrong_;  // in the list of the first collision
  std::vector<mjContact> first_, again_, merged_;
  std::vector<int> contype_, conaffinity_;
};

}  // namespace stiction::plant
