#pragma once

#include <mujoco/mujoco.h>

#include "stiction/plant/collision/pair_contacts.hpp"

namespace stiction::plant {

/// The tolerance of an exact distance, relative to the largest error that is accepted.
inline constexpr double kExactShare = 0.01;

/// A contact at the nearest points of two geoms.
struct NearestContact {
  mjContact contact;      // distance, position and normal
  double separation = 0;  // along the normal, `calc_separation` [m]
  bool is_apart = false;  // the distance exceeds the reach; the normal has no meaning
};

/// Finds the nearest points of two convex geoms and their normal.
///
/// MuJoCo's distance of two geoms (mj_geomDistance) is computed without gaps and with a tolerance
/// of kExactShare of the pair's. It is proved if the separation s(n) along its normal agrees with
/// it up to the pair's tolerance. In an overlap of round geoms EPA may end at its largest number of
/// iterations. Its distance is then an upper bound, and s(n) is a lower one. A normal that is a
/// local maximum of s is accepted, with s(n) as the distance, if the two bounds differ by at most
/// ten tolerances. At distances near 0 the two nearest points coincide, and the
/// normal is not known; it may also be wrong where EPA stops early. Then of all normals that are
/// known (that of the contact, those of MuJoCo's distances, and from center to center) the one with
/// the largest s(n) decides, and it is improved: geom B is moved by a vector t n that parts the
/// geoms, and the normal n' of their nearest points there maximizes s(n') + t n' . n. Therefore
/// s(n') >= s(n), and the search ends at a local maximum of s. If no normal proves MuJoCo's
/// distance, the distance is the largest s(n) that was found: the geoms part if one of them moves
/// by so much.
/// @param model its options are changed and restored
/// @param reach the distance from which on nothing but `is_apart` is wanted [m]
NearestContact find_nearest(mjModel* model, mjData* data, const PairContacts& pair, double reach);

}  // namespace stiction::plant
