#include "stiction/plant/forces/actuators.hpp"

#include <algorithm>
#include <cmath>

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

/// Returns the derivative of a muscle's force-velocity curve, which consists of parabolas and
/// constants.
/// @param V velocity in units of the largest one
/// @param largest the curve's value at high velocities of lengthening
double calc_curve_slope(double V, double largest) {
  const double end = largest - 1;
  if (V <= -1 || V > end) return 0;
  return V <= 0 ? 2 * (V + 1) : 2 * (end - V) / std::max(mjMINVAL, end);
}

/// Returns the damping of a muscle's gain -F_0 F_L(l) F_V(v).
double calc_muscle_damping(const mjModel* m, const mjData* d, int actuator) {
  const int out = m->actuator_outadr[actuator];
  const mjtNum* prm = m->actuator_gainprm + mjNGAIN * actuator;
  const mjtNum* range = m->actuator_lengthrange + 2 * out;
  const double length0 = (range[1] - range[0]) / std::max(mjMINVAL, prm[1] - prm[0]);
  const double unit = std::max(mjMINVAL, length0 * prm[6]);
  const double slope = calc_curve_slope(d->actuator_velocity[out] / unit, prm[8]);
  // F_V(0) is 1.
  const double gain0 =
      mju_muscleGain(d->actuator_length[out], 0, range, m->actuator_acc0[out], prm);
  return -gain0 * slope / unit;
}

/// Returns the share of the change of a motor's current that happens within a step. The force of a
/// motor with inductance depends on the velocity through the current at the end of the step, if the
/// actuator uses it.
double calc_current_share(const mjModel* m, int actuator) {
  const double time_constant = m->actuator_dynprm[mjNDYN * actuator];
  if (time_constant <= 0) return 1;
  return m->actuator_actearly[actuator] ? 1 - math::exp(-m->opt.timestep / time_constant) : 0;
}

/// True if the voltage that a motor's controller needs is at its limit. It follows from the
/// current, V = R i + K v. Motors with cogging or friction have other torques too, so it is not
/// known there.
bool is_voltage_limited(const mjModel* m, const mjData* d, int actuator, double share) {
  const mjtNum *dyn = m->actuator_dynprm + mjNDYN * actuator,
               *gain = m->actuator_gainprm + mjNGAIN * actuator;
  const double R = std::max(mjMINVAL, gain[0]), K = gain[1], limit = gain[7];
  const bool has_friction = dyn[5] > 0, has_cogging = m->actuator_biasprm[mjNBIAS * actuator] != 0;
  if (limit <= 0 || K == 0 || share == 0 || has_friction || has_cogging) return false;
  const int out = m->actuator_outadr[actuator];
  double current = d->actuator_force[out] / K;  // the one at the end of a long time
  if (share < 1) {
    const double start = d->act[m->actuator_actadr[actuator] + m->actuator_actnum[actuator] - 1];
    current = start + (current - start) / share;
  }
  const double voltage = R * current + K * d->actuator_velocity[out];
  return std::abs(voltage) >= (1 - 1e-9) * limit;
}

/// Returns the damping of a DC motor. A motor that is given a voltage has that of its back-EMF,
/// K^2/R. A controller of position or velocity compensates the back-EMF and has a velocity gain,
/// until its voltage is limited. The friction has its micro-damping.
double calc_motor_damping(const mjModel* m, const mjData* d, int actuator) {
  constexpr int kControllers = mjINPUT_POS | mjINPUT_VEL | mjINPUT_FF;
  const mjtNum *dyn = m->actuator_dynprm + mjNDYN * actuator,
               *gain = m->actuator_gainprm + mjNGAIN * actuator;
  const double R = std::max(mjMINVAL, gain[0]), K = gain[1];
  const double share = calc_current_share(m, actuator);
  const bool has_controller = m->actuator_ctrlspec[actuator] & kControllers;
  const double damping = has_controller && !is_voltage_limited(m, d, actuator, share)
                             ? std::max(0.0, gain[6])
                             : K * K / R;
  return share * damping + std::max(0.0, dyn[6]);
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

double calc_special_damping(const mjModel* m, const mjData* d, int actuator, double input) {
  switch (m->actuator_gaintype[actuator]) {
    case mjGAIN_MUSCLE: return input * calc_muscle_damping(m, d, actuator);
    case mjGAIN_DCMOTOR: return calc_motor_damping(m, d, actuator);
    default: return 0;
  }
}

}  // namespace stiction::plant
