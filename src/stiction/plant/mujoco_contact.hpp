#pragma once

#include <mujoco/mujoco.h>

/// What a step reads from and marks in MuJoCo's contacts.
namespace stiction::plant {

/// Values of mjContact::exclude. MuJoCo sets 0 and 1, and others for contacts that it excludes for
/// good; the rest are ours, from collision until the contacts are handed back.
inline constexpr int kTakesPart = 0;     // within the margin
inline constexpr int kInGap = 1;         // beyond the margin, within the MJCF's gap
inline constexpr int kSpeculative = 16;  // beyond the MJCF's gap, within the widened one
inline constexpr int kPatch = 32;        // a contact surface of pressure fields

/// The distance between the surfaces, less the margin, at which a contact begins to act [m]; < 0
/// overlaps.
inline double calc_gap(const mjContact& con) { return con.dist - con.includemargin; }

/// True for a contact beyond the margin: it acts only if it closes within the step.
inline bool is_in_gap(const mjContact& con) {
  return con.exclude == kInGap || con.exclude == kSpeculative;
}

/// The rows of data->efc_* that hold joint and tendon limits: [begin, end).
struct RowRange {
  int begin, end;
};
inline RowRange limit_rows(const mjData* d) { return {d->ne + d->nf, d->ne + d->nf + d->nl}; }

}  // namespace stiction::plant
