#pragma once

#include <mujoco/mujoco.h>

/// The fields of MuJoCo's contacts that a step reads and marks.
namespace stiction::plant {

/// Values of mjContact::exclude. MuJoCo sets 0, 1, and other values for contacts that it excludes
/// in every case. The values 16 and 32 are ours; they are set from collision until the step returns
/// the contacts to the user.
inline constexpr int kTakesPart = 0;     // within the margin
inline constexpr int kInGap = 1;         // beyond the margin, within the MJCF's gap
inline constexpr int kSpeculative = 16;  // beyond the MJCF's gap, within the widened one
inline constexpr int kPatch = 32;        // a contact surface of pressure fields

/// Returns the distance between the surfaces minus the margin, at which a contact begins to act
/// [m]. Negative values are penetrations.
inline double calc_gap(const mjContact& con) { return con.dist - con.includemargin; }

/// True for a contact beyond the margin: it acts only if it closes within the step.
inline bool is_in_gap(const mjContact& con) {
  return con.exclude == kInGap || con.exclude == kSpeculative;
}

/// A range [begin, end) of rows in data->efc_*.
struct RowRange {
  int begin, end;
};
/// Returns the rows of joint and tendon limits.
inline RowRange limit_rows(const mjData* d) { return {d->ne + d->nf, d->ne + d->nf + d->nl}; }

}  // namespace stiction::plant
