#pragma once

#include <span>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/plant/mujoco/shadow_model.hpp"
#include "stiction/plant/repairs/terrain_contacts.hpp"

namespace stiction::plant {

/// An error of a distance up to this share of the smaller geom's radius may be that of faces.
/// MuJoCo makes several contacts of two faces, or of a face and an edge, that are nearly parallel,
/// and takes round faces as polygons. If this explains the error of the nearest contact, the others
/// stay. Half a degree times the radius is almost twice as much.
inline constexpr double kLargestErrorOfFaces = 5e-3;

/// Corrects data->contact where MuJoCo's collision gives wrong distances, wrong normals or no
/// contact at all, for planes and convex geoms.
///
/// MuJoCo computes the distance of most convex geoms by GJK and EPA, and then replaces this one
/// contact by several if two faces, or a face and an edge, seem to lie on each other. These may not
/// be the faces that touch, and less so in wide gaps, because MuJoCo adds the gap to the geoms.
/// Geoms that overlap then seem to be apart, and those that are apart seem to overlap. A single
/// contact is inaccurate where GJK or EPA stop at the largest number of iterations.
///
/// The error of a distance may be up to e, the smaller one of MuJoCo's option ccd_tolerance and
/// kLargestErrorOfSmallGeoms. The separation s(n) along the normal of the contacts
/// (calc_separation) never exceeds the true distance. A distance d is accepted if
///
///     |d - s(n)| <= e,   and d <= 0 or s(n) > 0, so that both have the same sign,
///
/// up to the rounding e / 100, and if d is an upper bound of the distance. For a single contact it
/// is: its two points have this distance, or EPA has found that the geoms overlap at least so much.
/// The points of several contacts that overlap give no such bound. Two boxes have a formula, which
/// is exact if they overlap; in a gap it may take a face's or two edges' normal where a corner is
/// nearer, so that the contact's points must be in the boxes. For all pairs that are not accepted,
/// the distance and the normal of find_nearest decide. If the nearest contact has others, then
///
/// - a single contact is replaced, and so are several with an error above kLargestErrorOfFaces;
/// - several contacts along another normal, whose s(n) is below the exact distance by more than e,
///   are turned to the exact normal, if their points are on the faces that touch;
/// - the exact contact is added if several are less deep;
/// - several contacts that are deeper get the exact distance.
///
/// Planes have correct_plane_contacts. A cylinder within the gap of a plane, which MuJoCo's formula
/// lifts out of reach, gets its contacts. All other pairs of types have right formulas.
class CollisionRepair {
 public:
  /// Corrects the contacts. Call this inside a MuJoCoGuard.
  /// @param collided the model with which mj_collision was called, for these data
  /// @param begin the first contact; those before it stay
  /// @return the number of pairs that were corrected
  int run(const mjModel* collided, mjData* data, int begin = 0);
  /// True if the contacts of two convex geoms have the right normal. Other pairs are not checked.
  /// @param contacts at least one; they need not be in data->contact
  bool have_right_normal(const mjModel* collided, mjData* data, std::span<mjContact> contacts);

 private:
  void add_missed_cylinders(const mjModel* m, mjData* d);

  TerrainContacts terrain_;
  ShadowModel exact_;  // the model with finer convex collision
  // Copies of the data's arrays. They are members so that a step allocates no memory for them.
  std::vector<mjContact> contacts_;
  std::vector<mjtNum> geom_xmat_;
};

/// Returns the distance of a convex geom from a plane, that of the geom's point which is farthest
/// against the plane's normal [m].
/// @param geom sphere, capsule, ellipsoid, cylinder, box or mesh
/// @param data after mj_kinematics
/// @param point out: this point, world frame; or null
double calc_plane_distance(const mjModel* model, const mjData* data, int plane, int geom,
                           double point[3]);

}  // namespace stiction::plant
