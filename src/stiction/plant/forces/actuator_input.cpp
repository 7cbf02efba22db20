#include "stiction/plant/forces/actuator_input.hpp"

#include <algorithm>

#include "stiction/base/assert.hpp"
#include "stiction/math/scalar_functions.hpp"

namespace stiction::plant {
namespace {

/// Returns the control of an actuator, as its gain or its dynamics read it.
double read_control(const mjModel* m, const mjData* d, int actuator) {
  const int c = m->actuator_ctrladr[actuator];
  double control = d->ctrl[c];
  if (m->actuator_delay[actuator] > 0 && m->actuator_ctrlnum[actuator] == 1) {
    const mjtNum* stored =
        mj_readCtrl(m, d, actuator, d->time, &control, m->actuator_history[2 * actuator + 1]);
    if (stored) control = *stored;
  }
  if (!m->actuator_ctrllimited[c] || (m->opt.disableflags & mjDSBL_CLAMPCTRL)) return control;
  return std::clamp(control, m->actuator_ctrlrange[2 * c], m->actuator_ctrlrange[2 * c + 1]);
}

}  // namespace

bool is_disabled_actuator(const mjModel* m, int actuator) {
  const int group = m->actuator_group[actuator];
  return group >= 0 && group < 31 && (m->opt.disableactuator & (1 << group));
}

double calc_next_activation(const mjModel* m, const mjData* d, int actuator, int address) {
  const double rate = d->act_dot[address];
  double act = d->act[address];
  if (m->actuator_dyntype[actuator] == mjDYN_FILTEREXACT) {
    const double tau = std::max(mjMINVAL, m->actuator_dynprm[mjNDYN * actuator]);
    act += rate * tau * (1 - math::exp(-m->opt.timestep / tau));
  } else {
    act += rate * m->opt.timestep;
  }
  if (!m->actuator_actlimited[actuator]) return act;
  return std::clamp(act, m->actuator_actrange[2 * actuator],
                    m->actuator_actrange[2 * actuator + 1]);
}

double calc_actuator_input(const mjModel* m, const mjData* d, int actuator) {
  if (m->actuator_actadr[actuator] < 0) return read_control(m, d, actuator);
  const int last = m->actuator_actadr[actuator] + m->actuator_actnum[actuator] - 1;
  return m->actuator_actearly[actuator] ? calc_next_activation(m, d, actuator, last) : d->act[last];
}

bool is_affine_actuator(const mjModel* m, int actuator) {
  const int gain = m->actuator_gaintype[actuator], bias = m->actuator_biastype[actuator];
  return m->actuator_plugin[actuator] < 0 && m->actuator_outnum[actuator] == 1 &&
         m->actuator_ctrlnum[actuator] == 1 && (gain == mjGAIN_FIXED || gain == mjGAIN_AFFINE) &&
         (bias == mjBIAS_NONE || bias == mjBIAS_AFFINE);
}

double calc_affine_force(const mjModel* m, const mjData* d, int actuator) {
  STICTION_ASSERT(is_affine_actuator(m, actuator));
  const int out = m->actuator_outadr[actuator];
  const double length = d->actuator_length[out], velocity = d->actuator_velocity[out];
  const auto calc = [&](const mjtNum* c) { return c[0] + c[1] * length + c[2] * velocity; };
  const mjtNum* prm = m->actuator_gainprm + mjNGAIN * actuator;
  const double gain = m->actuator_gaintype[actuator] == mjGAIN_AFFINE ? calc(prm) : prm[0];
  const double bias = m->actuator_biastype[actuator] == mjBIAS_AFFINE
                          ? calc(m->actuator_biasprm + mjNBIAS * actuator)
                          : 0;
  return gain * calc_actuator_input(m, d, actuator) + bias;
}

}  // namespace stiction::plant
