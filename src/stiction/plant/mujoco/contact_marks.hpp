#pragma once

#include <algorithm>
#include <limits>

#include <mujoco/mujoco.h>

/// The marks of contacts between collision and the end of a step.
///
/// MuJoCo's own values of mjContact::exclude are 0 for a contact within its margin, 1 for one in
/// the gap beyond, and others for contacts that it excludes in every case. A step adds the values
/// 16 and
/// 32. Only the functions of this file read or write the field. Before the step returns, it removes
/// the contacts with the first mark or clears it, and the second one stays only in patches without
/// rows.
namespace stiction::plant {

enum ContactMark : int {
  kTakesPart = 0,     // within the margin
  kInGap = 1,         // beyond the margin, within the MJCF's gap
  kSpeculative = 16,  // ours: beyond the MJCF's gap, within the widened one
  kPatch = 32,        // ours: a contact surface of pressure fields
};

inline ContactMark get_mark(const mjContact& con) { return static_cast<ContactMark>(con.exclude); }
inline void mark(ContactMark mark, mjContact* con) { con->exclude = mark; }
inline bool takes_part(const mjContact& con) { return con.exclude == kTakesPart; }
inline bool is_speculative(const mjContact& con) { return con.exclude == kSpeculative; }
inline bool is_patch(const mjContact& con) { return con.exclude == kPatch; }
/// True for a contact beyond the margin: it acts only if it closes within the step.
inline bool is_in_gap(const mjContact& con) {
  return con.exclude == kInGap || con.exclude == kSpeculative;
}
/// True for a contact that MuJoCo would list and does not exclude.
inline bool is_listed(const mjContact& con) { return con.exclude <= kInGap; }

/// Marks a contact that is_listed by its distance.
inline void mark_by_distance(mjContact* con) {
  if (is_listed(*con)) mark(con->dist >= con->includemargin ? kInGap : kTakesPart, con);
}

/// How a contact was carried back from the pose at which the bodies meet: the half of the vector
/// from the point of body A to that of body B, both material, at the start of the step [m]. The
/// contact's position is halfway between them. It lies in mjContact::H, which only MuJoCo's solver
/// uses otherwise.
inline const double* get_carried(const mjContact& con) { return con.H; }
inline void set_carried(const double half[3], mjContact* con) {
  for (int i = 0; i < 3; ++i) con->H[i] = half[i];
  con->H[4] = 1;
}
inline bool is_carried(const mjContact& con) { return con.H[4] != 0; }
/// A contact whose bodies pass each other at the velocities of the start of the step.
inline bool is_missed(const mjContact& con) { return con.H[3] != 0; }
inline void set_missed(bool is_missed, mjContact* con) { con->H[3] = is_missed ? 1 : 0; }
/// Clears what the functions above read, in a new contact.
inline void clear_carried(mjContact* con) { std::fill_n(con->H, 5, 0.0); }

/// Returns the distance between the surfaces minus the margin, at which a contact begins to act
/// [m]. Negative values are penetrations.
inline double calc_gap(const mjContact& con) { return con.dist - con.includemargin; }

/// Returns the radius of the smaller bounding ball of a contact's geoms [m]; infinite if both are
/// planes.
inline double find_smaller_radius(const mjModel* m, const mjContact& con) {
  double radius = std::numeric_limits<double>::infinity();
  for (const int geom : con.geom)
    if (m->geom_rbound[geom] > 0) radius = std::min<double>(radius, m->geom_rbound[geom]);
  return radius;
}

}  // namespace stiction::plant
