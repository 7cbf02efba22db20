#pragma once

#include <algorithm>

#include <mujoco/mujoco.h>

namespace stiction::plant {

/// True if the group of an actuator is disabled.
inline bool is_disabled_actuator(const mjModel* m, int actuator) {
  const int group = m->actuator_group[actuator];
  return group >= 0 && group < 31 && (m->opt.disableactuator & (1 << group));
}

/// Returns the input that an actuator's gain multiplies: the clamped control, or the activation.
inline double calc_actuator_input(const mjModel* m, const mjData* d, int actuator) {
  if (m->actuator_actadr[actuator] >= 0)
    return d->act[m->actuator_actadr[actuator] + m->actuator_actnum[actuator] - 1];
  const int c = m->actuator_ctrladr[actuator];
  if (m->actuator_ctrllimited[c] && !(m->opt.disableflags & mjDSBL_CLAMPCTRL))
    return std::clamp(d->ctrl[c], m->actuator_ctrlrange[2 * c], m->actuator_ctrlrange[2 * c + 1]);
  return d->ctrl[c];
}

}  // namespace stiction::plant
