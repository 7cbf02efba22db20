#pragma once

#include <algorithm>

#include <mujoco/mujoco.h>

namespace stiction::plant {

/// An error of a distance up to this share of the smaller geom's radius is accepted, if it is
/// smaller than the option ccd_tolerance.
inline constexpr double kLargestErrorOfSmallGeoms = 1e-3;

/// The consecutive contacts of two geoms in data->contact.
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

/// Returns the contacts of a pair, of which the first one is data->contact[begin].
PairContacts find_contacts_at(const mjModel* model, const mjData* data, int begin);

/// Returns the gap of two geoms, which MuJoCo adds to the margin of their contacts [m].
double find_gap(const mjModel* model, int geom_A, int geom_B);

/// Sets the distance of a contact, and marks whether it is within the margin.
void set_distance(double distance, mjContact* con);

/// Sets the normal of a contact, and its tangents as MuJoCo chooses them.
/// @param n unit vector
void set_normal(const double n[3], mjContact* con);

/// Removes the contacts [begin, end) from data->contact.
void erase(mjData* data, mjContact* begin, mjContact* end);

/// Inserts a contact before another one of data->contact. If MuJoCo's arena is full, it warns.
void insert(const mjModel* model, mjData* data, mjContact* at, const mjContact& contact);

}  // namespace stiction::plant
