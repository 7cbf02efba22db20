#pragma once

#include <algorithm>
#include <span>

#include <mujoco/mujoco.h>

/// The parts of CollisionRepair: support functions of convex geoms, the contacts of a pair, and
/// their nearest points.
namespace stiction::plant {

/// True for spheres, capsules, ellipsoids, cylinders, boxes and meshes. A mesh stands for its
/// convex hull.
bool has_support_function(const mjModel* model, int geom);

/// Returns the largest coordinate of a geom along a direction, h(n) = max_x n . x [m].
/// @param geom a geom that has_support_function
/// @param n unit vector, world frame
/// @param data after mj_kinematics
double calc_support(const mjModel* model, const mjData* data, int geom, const double n[3]);

/// Finds a point of a geom whose coordinate along a direction is the largest, world frame.
void find_support_point(const mjModel* model, const mjData* data, int geom, const double n[3],
                        double point[3]);

/// Returns the separation of two geoms along a direction from A to B [m]: the gap between their
/// supporting planes, negative if they overlap along n. No direction gives more than the signed
/// distance of two convex geoms, and the normal at their nearest points gives just that.
double calc_separation(const mjModel* model, const mjData* data, int geom_A, int geom_B,
                       const double n[3]);

/// An error of a distance up to this share of the smaller geom's radius is accepted, if it is
/// smaller than the option ccd_tolerance.
inline constexpr double kLargestErrorOfSmallGeoms = 1e-3;
/// The tolerance of an exact distance, relative to the largest error that is accepted.
inline constexpr double kExactShare = 0.01;

/// The contacts of two geoms, mostly consecutive ones in data->contact.
struct PairContacts {
  mjContact* contacts;
  int size;
  double radius;     // of the smaller geom
  double tolerance;  // the largest error that is accepted [m]
  double cutoff;     // the margin and the gap: the distance from which on there is no contact [m]

  mjContact* end() const { return contacts + size; }
  mjContact& nearest() const {
    return *std::min_element(
        contacts, end(), [](const mjContact& a, const mjContact& b) { return a.dist < b.dist; });
  }
};

/// Returns contacts of one pair, at least one.
PairContacts make_pair_contacts(const mjModel* model, std::span<mjContact> contacts);

/// Returns the contacts of a pair, of which the first one is data->contact[begin].
PairContacts find_contacts_at(const mjModel* model, const mjData* data, int begin);

/// Sets the distance of a contact, and marks whether it is within the margin.
void set_distance(double distance, mjContact* con);

/// Sets the normal of a contact, a unit vector, and its tangents as MuJoCo chooses them.
void set_normal(const double n[3], mjContact* con);

/// Removes the contacts [begin, end) from data->contact.
void erase(mjData* data, mjContact* begin, mjContact* end);

/// Inserts a contact before another one of data->contact. If MuJoCo's arena is full, it warns.
void insert(const mjModel* model, mjData* data, mjContact* at, const mjContact& contact);

/// Replaces the contacts of a pair. If MuJoCo's arena is full, it warns.
/// @param contacts not in data->contact
void replace(const mjModel* model, mjData* data, const PairContacts& pair,
             std::span<const mjContact> contacts);

/// True if two unit normals differ by less than an angle [rad].
inline bool have_same_normal(const double a[3], const double b[3], double angle) {
  return mju_dot3(a, b) > 1 - 0.5 * angle * angle;
}

/// A contact at the nearest points of two geoms.
struct NearestContact {
  mjContact contact;      // distance, position and normal
  double separation = 0;  // along the normal, `calc_separation` [m]
  bool is_apart = false;  // the distance exceeds the reach; the normal has no meaning
};

/// Finds the nearest points of two convex geoms and their normal.
///
/// The normal n that is found has the largest separation s(n) of all normals that were tried, and
/// s(n) proves the distance if it agrees with MuJoCo's (mj_geomDistance, without gaps and with a
/// tolerance of kExactShare of the pair's) up to the pair's tolerance.
///
/// - In an overlap of round geoms EPA may end at its largest number of iterations. Its distance is
///   then an upper bound, and s(n) is a lower one. A normal that is a local maximum of s is
///   accepted, with s(n) as the distance, if the two bounds differ by at most ten tolerances.
/// - At distances near 0 the nearest points coincide and give no normal, and EPA may stop early.
///   Then the best of all normals that are known (that of the contact, those of MuJoCo's distances,
///   and from center to center) is improved: geom B is moved by a vector t n that parts the geoms,
///   and the normal n' of their nearest points there maximizes s(n') + t n' . n. Therefore
///   s(n') >= s(n), and the search ends at a local maximum of s.
/// @param exact a shadow of the model; its options are changed
/// @param reach the distance from which on nothing but `is_apart` is wanted [m]
NearestContact find_nearest(mjModel* exact, mjData* data, const PairContacts& pair, double reach);

/// Corrects the contacts of a plane and a convex geom if they are wrong.
///
/// MuJoCo's formula for a plane and a cylinder takes the direction in which the cylinder leans from
/// the difference of two unit vectors, its axis and the plane's normal. For a cylinder that stands
/// upright up to an angle a, their rounding errors are a share of about 2e-16 / a of this
/// difference: at 1e-15 the points leave the rim by up to the radius. If the nearest contact is
/// wrong or a point is not on a rim, all contacts of the pair are computed anew in the cylinder's
/// frame: the lowest point of the lower rim, the point above it on the upper rim, and the two
/// points of the lower rim 120 degrees beside it, as far as they are within the gap.
///
/// MuJoCo's other formulas for planes are right. If a contact of another geom should be deeper than
/// the exact distance, it gets this one; if all are less deep, the exact contact is added.
/// @param pair of a plane and a geom that has_support_function
/// @return true if they were wrong
bool correct_plane_contacts(const mjModel* model, mjData* data, const PairContacts& pair);

/// Gives two boxes whose faces lie on each other a contact at each corner of the faces' common
/// area, if MuJoCo lists fewer than four and fewer than there are corners within the gap. Where
/// edges of the faces are parallel up to rounding, MuJoCo may take the edges for what touches, and
/// give one contact, so that half of a sliding box has no support for a step.
/// @return true if some were missing
bool complete_box_faces(const mjModel* model, mjData* data, const PairContacts& pair);

}  // namespace stiction::plant
